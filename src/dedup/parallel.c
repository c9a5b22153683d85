/*
 * parallel.c: a join of signatures by several processes.
 *
 * Groups do not depend on each other, so everybody takes one after the other,
 * and writes its pairs to a file of the group's own.  The leader then reads
 * the files in the order of the groups, and joins those that nobody finished.
 * So it does not matter how many workers come, nor who was faster.
 */
#include "dedup/parallel.h"

#include <fcntl.h>
#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/buffile.h"
#include "storage/dsm_impl.h"
#include "storage/sharedfileset.h"

#include "shared_memory.h"

#define KEY_SHARED UINT64CONST(0x6E64000000000011)
#define KEY_LEFT UINT64CONST(0x6E64000000000012)
#define KEY_RIGHT UINT64CONST(0x6E64000000000013)

/* A worker is worth its start for so much of the plan's cost. */
#define COST_OF_WORKER 1e8

/* Shared memory that is taken beside the signatures, at the most. */
#define SHARED_BESIDES (1024 * 1024)

/* Pairs that are counted, and read, at a time. */
#define PAIRS_STEP 1024

PGDLLEXPORT void neardup_join_main(dsm_segment *segment, shm_toc *toc);

typedef struct FoundPair
{
	uint32 a;
	uint32 b;
	int32 distance;
} FoundPair;

typedef struct SharedGroup
{
	bool done;
	JoinStats stats;
} SharedGroup;

typedef struct SharedJoin
{
	SymbolJoin join; /* its pointers are the leader's own */
	JoinPlan plan;
	bool self;
	pg_atomic_uint32 next;  /* group that nobody has taken */
	pg_atomic_uint64 pairs; /* written, roughly */
	uint64 most;            /* no more are written */
	SharedFileSet files;
	SharedGroup group[FLEXIBLE_ARRAY_MEMBER];
} SharedJoin;

/* What one process does. */
typedef struct Part
{
	SharedJoin *shared;
	const SymbolJoin *told; /* of progress; NULL in a worker */
	int group;
	BufFile *file; /* of the group; NULL: none is under way */
	JoinStats stats;
	uint32 pairs;
} Part;

/* ---- Taking part -------------------------------------------------------- */

static void
name_file(char *name, int group)
{
	snprintf(name, MAXPGPATH, "group%d", group);
}

static void
finish_group(Part *part)
{
	SharedGroup *group = part->shared->group + part->group;

	BufFileClose(part->file);
	part->file = NULL;
	group->stats = part->stats;
	group->done = true;
	memset(&part->stats, 0, sizeof(part->stats));
}

static int
take_group(void *next_state)
{
	Part *part = next_state;
	SharedJoin *shared = part->shared;
	char name[MAXPGPATH];

	if (part->file != NULL)
		finish_group(part);
	if (pg_atomic_read_u64(&shared->pairs) > shared->most)
		return -1;
	part->group = (int) pg_atomic_fetch_add_u32(&shared->next, 1);
	if (part->told != NULL && part->told->progress != NULL)
		part->told->progress(part->told->state, Min(part->group, shared->plan.groups),
							 shared->plan.groups);
	if (part->group >= shared->plan.groups)
		return -1;
	name_file(name, part->group);
	part->file = compat_create_shared_file(&shared->files, name);
	return part->group;
}

static bool
write_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Part *part = state;
	FoundPair pair = {a, b, distance};

	BufFileWrite(part->file, &pair, sizeof(pair));
	return ++part->pairs % PAIRS_STEP != 0 ||
		pg_atomic_add_fetch_u64(&part->shared->pairs, PAIRS_STEP) <= part->shared->most;
}

static void
take_part(SharedJoin *shared, JoinSide left, JoinSide right, const SymbolJoin *told)
{
	Part part = {.shared = shared, .told = told};
	SymbolJoin join = shared->join;

	join.left = left;
	join.right = right;
	join.emit = write_pair;
	join.progress = NULL;
	join.state = &part;
	join.next = take_group;
	join.next_state = &part;
	join.stats = &part.stats;
	join_run(&join, &shared->plan);
	if (part.file != NULL)
		BufFileClose(part.file);
}

void
neardup_join_main(dsm_segment *segment, shm_toc *toc)
{
	SharedJoin *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	JoinSide left = shared->join.left;
	JoinSide right = shared->join.right;

	left.packed = shm_toc_lookup(toc, KEY_LEFT, false);
	right.packed = shared->self ? NULL : shm_toc_lookup(toc, KEY_RIGHT, false);
	SharedFileSetAttach(&shared->files, segment);
	take_part(shared, left, right, NULL);
}

/* ---- What was found ----------------------------------------------------- */

typedef struct Reading
{
	const SymbolJoin *join;
	SharedJoin *shared;
	int group; /* read or joined last */
} Reading;

/* Hand out a group's pairs; false if no more are wanted. */
static bool
read_group(const Reading *reading)
{
	const SymbolJoin *join = reading->join;
	FoundPair pair[PAIRS_STEP];
	char name[MAXPGPATH];
	bool wanted = true;
	BufFile *file;
	size_t pairs;

	name_file(name, reading->group);
	file = compat_open_shared_file(&reading->shared->files, name);
	do
	{
		pairs = BufFileRead(file, pair, sizeof(pair)) / sizeof(FoundPair);
		for (size_t i = 0; i < pairs && wanted; i++)
			wanted = join->emit(join->state, pair[i].a, pair[i].b, pair[i].distance);
		CHECK_FOR_INTERRUPTS();
	} while (wanted && pairs == PAIRS_STEP);
	BufFileClose(file);
	return wanted;
}

/* Read on to the next group that nobody finished. */
static int
unfinished_group(void *next_state)
{
	Reading *reading = next_state;
	SharedJoin *shared = reading->shared;

	while (++reading->group < shared->plan.groups)
	{
		const SharedGroup *group = shared->group + reading->group;

		if (!group->done)
			return reading->group;
		if (!read_group(reading))
			break;
		reading->join->stats->met += group->stats.met;
		reading->join->stats->compared += group->stats.compared;
	}
	return -1;
}

static void
hand_out(const SymbolJoin *join, SharedJoin *shared)
{
	Reading reading = {join, shared, -1};
	SymbolJoin rest = *join;

	rest.next = unfinished_group;
	rest.next_state = &reading;
	join_run(&rest, &shared->plan);
}

/* ---- The leader --------------------------------------------------------- */

static Size
side_bytes(const SymbolJoin *join, JoinSide side)
{
	return side.packed == NULL ? 0 : side.documents * join->stride;
}

static void
share_side(ParallelContext *context, uint64 key, const SymbolJoin *join, JoinSide side)
{
	Size size = side_bytes(join, side);

	memcpy(shared_put(context, key, size), side.packed, size);
}

static SharedJoin *
share(const SymbolJoin *join, const JoinPlan *plan, ParallelContext *context)
{
	Size size = offsetof(SharedJoin, group) + plan->groups * sizeof(SharedGroup);
	SharedJoin *shared;

	shared_reserve(context, size);
	shared_reserve(context, side_bytes(join, join->left));
	shared_reserve(context, side_bytes(join, join->right));
	InitializeParallelDSM(context);
	shared = shared_put(context, KEY_SHARED, size);
	memset(shared, 0, size);
	shared->join = *join;
	shared->plan = *plan;
	shared->self = join->right.packed == NULL;
	shared->most = (uint64) maintenance_work_mem * 1024 / sizeof(FoundPair);
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u64(&shared->pairs, 0);
	/* Without shared memory there are no workers. */
	if (context->seg == NULL)
		return shared;
	SharedFileSetInit(&shared->files, context->seg);
	share_side(context, KEY_LEFT, join, join->left);
	if (!shared->self)
		share_side(context, KEY_RIGHT, join, join->right);
	return shared;
}

/*
 * Is there so much shared memory?  A container may have very little, and what
 * PostgreSQL asks for in vain is an error.
 */
static bool
can_share(Size size)
{
	/* Like those that PostgreSQL draws, an even number; a taken one is a no. */
	dsm_handle handle = (dsm_handle) MyProcPid * 2;
	void *private = NULL;
	void *address = NULL;
	Size mapped = 0;

	if (!dsm_impl_op(DSM_OP_CREATE, handle, size, &private, &address, &mapped, DEBUG1))
		return false;
	return dsm_impl_op(DSM_OP_DESTROY, handle, 0, &private, &address, &mapped, DEBUG1);
}

/* As many as find work, and memory to sort in; all have one copy of the signatures. */
static int
workers_for(const SymbolJoin *join, const JoinPlan *plan)
{
	bool self = join->right.packed == NULL;
	double documents = (double) join->left.documents + (self ? 0 : join->right.documents);
	double memory = (double) maintenance_work_mem * 1024 / documents - 2.0 * join->stride;
	double sorting = floor(memory / join_bytes(join->k, join->b)) - 1;
	double workers = Min(max_parallel_maintenance_workers, plan->groups - 1);

	if (IsInParallelMode())
		return 0;
	workers = Min(workers, floor(plan->cost / COST_OF_WORKER));
	workers = Min(workers, sorting);
	if (workers < 1 ||
		!can_share(side_bytes(join, join->left) + side_bytes(join, join->right) + SHARED_BESIDES))
		return 0;
	return (int) workers;
}

static int
run_with_workers(const SymbolJoin *join, const JoinPlan *plan, int workers)
{
	ParallelContext *context;
	SharedJoin *shared;

	EnterParallelMode();
	context = CreateParallelContext("neardup", "neardup_join_main", workers);
	shared = share(join, plan, context);
	LaunchParallelWorkers(context);
	workers = context->nworkers_launched;
	if (workers > 0 && parallel_leader_participation)
		take_part(shared, join->left, join->right, join);
	WaitForParallelWorkersToFinish(context);
	hand_out(join, shared);
	DestroyParallelContext(context);
	ExitParallelMode();
	return workers;
}

void
join_in_parallel(const SymbolJoin *join, const JoinPlan *plan, int *workers)
{
	int asked = workers_for(join, plan);
	int came = asked > 0 ? run_with_workers(join, plan, asked) : 0;

	if (asked == 0)
		join_run(join, plan);
	*workers = Max(*workers, came);
}
