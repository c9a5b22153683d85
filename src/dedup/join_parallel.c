/*
 * join_parallel.c: a join of signatures by parallel workers.
 *
 * Groups do not depend on each other, nor do the parts of a plan without groups,
 * which this file calls groups too.  Each process takes one group after the
 * other and writes the pairs of a group to a file.  The leader then reads the
 * files in the order of the groups and joins the groups that nobody finished.
 * So the pairs and their order do not depend on the number or speed of workers.
 */
#include "dedup/dedup.h"

#include <fcntl.h>
#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"

#include "shared_memory.h"

#define KEY_SHARED UINT64CONST(0x6E64000000000011)
#define KEY_LEFT UINT64CONST(0x6E64000000000012)
#define KEY_RIGHT UINT64CONST(0x6E64000000000013)

/* One worker for each such share of the plan's cost, in nanoseconds. */
#define COST_OF_WORKER 2e7

/* Bytes of shared memory beyond the signatures: queues, state of the transaction, SharedJoin. */
#define SHARED_OVERHEAD (1024 * 1024)

/* Pairs that are counted, and read, at a time. */
#define PAIRS_STEP 1024

PGDLLEXPORT void neardup_join_main(dsm_segment *segment, shm_toc *toc);

/* A pair in the file of a group. */
typedef struct FoundPair
{
	uint32 a;
	uint32 b;
	int32 distance;
} FoundPair;

typedef struct SharedGroup
{
	bool done; /* is its file complete? */
	JoinStats stats;
} SharedGroup;

typedef struct SharedJoin
{
	SymbolJoin join; /* its pointers are the leader's */
	JoinPlan plan;
	bool self;
	pg_atomic_uint32 next;  /* first group that nobody has taken */
	pg_atomic_uint64 pairs; /* pairs written, in steps */
	uint64 most;            /* beyond this number of pairs no further group is taken */
	SharedFileSet files;
	SharedGroup group[FLEXIBLE_ARRAY_MEMBER];
} SharedJoin;

/* What one process does. */
typedef struct Part
{
	SharedJoin *shared;
	const SymbolJoin *leader; /* whose progress is reported; NULL in a worker */
	int group;
	BufFile *file; /* of the group under way, or NULL */
	JoinStats stats;
	uint32 pairs;
} Part;

/* ---- Joining groups, in all processes ----------------------------------- */

static void
name_file(char *name, int group)
{
	snprintf(name, MAXPGPATH, "group%d", group);
}

/* A JoinNext: completes the file of the last group and takes the next one. */
static int
take_group(void *next_state)
{
	Part *part = next_state;
	SharedJoin *shared = part->shared;
	const SymbolJoin *leader = part->leader;
	int parts = join_parts(&shared->plan);
	char name[MAXPGPATH];

	if (part->file != NULL)
	{
		BufFileClose(part->file);
		part->file = NULL;
		shared->group[part->group].stats = part->stats;
		shared->group[part->group].done = true;
		memset(&part->stats, 0, sizeof(part->stats));
	}
	if (pg_atomic_read_u64(&shared->pairs) > shared->most)
		return -1;
	part->group = (int) pg_atomic_fetch_add_u32(&shared->next, 1);
	if (leader != NULL && leader->progress != NULL)
		leader->progress(leader->state, Min(part->group, parts), parts);
	if (part->group >= parts)
		return -1;
	name_file(name, part->group);
	part->file = compat_create_shared_file(&shared->files, name);
	return part->group;
}

/* A JoinEmit: writes a pair, and ends the group if there are too many. */
static bool
write_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Part *part = state;
	FoundPair pair = {a, b, distance};

	BufFileWrite(part->file, &pair, sizeof(pair));
	return ++part->pairs % PAIRS_STEP != 0 ||
		pg_atomic_add_fetch_u64(&part->shared->pairs, PAIRS_STEP) <= part->shared->most;
}

/* Joins groups until none is left; leader is NULL in a worker. */
static void
join_groups(SharedJoin *shared, JoinSide left, JoinSide right, const SymbolJoin *leader)
{
	Part part = {.shared = shared, .leader = leader};
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

/* The main function of a worker. */
void
neardup_join_main(dsm_segment *segment, shm_toc *toc)
{
	SharedJoin *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	JoinSide left = shared->join.left;
	JoinSide right = shared->join.right;

	left.packed = shm_toc_lookup(toc, KEY_LEFT, false);
	right.packed = shared->self ? NULL : shm_toc_lookup(toc, KEY_RIGHT, false);
	SharedFileSetAttach(&shared->files, segment);
	join_groups(shared, left, right, NULL);
}

/* ---- Reading what was found, in the leader ------------------------------ */

typedef struct Reading
{
	const SymbolJoin *join;
	SharedJoin *shared;
	int group; /* read or joined last */
} Reading;

/* Passes the pairs of a group on.  Returns false if no more are wanted. */
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

/* A JoinNext: reads the groups up to the next one that nobody finished. */
static int
unfinished_group(void *next_state)
{
	Reading *reading = next_state;
	SharedJoin *shared = reading->shared;

	while (++reading->group < join_parts(&shared->plan))
	{
		const SharedGroup *group = shared->group + reading->group;

		if (!group->done)
			return reading->group;
		if (!read_group(reading))
			break;
		reading->join->stats->candidates += group->stats.candidates;
		reading->join->stats->compared += group->stats.compared;
	}
	return -1;
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

/* Puts the join and its signatures into shared memory. */
static SharedJoin *
share(const SymbolJoin *join, const JoinPlan *plan, ParallelContext *context)
{
	Size size = offsetof(SharedJoin, group) + join_parts(plan) * sizeof(SharedGroup);
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
	/* Without a segment, for want of a slot, there are no workers. */
	if (context->seg == NULL)
		return shared;
	SharedFileSetInit(&shared->files, context->seg);
	share_side(context, KEY_LEFT, join, join->left);
	if (!shared->self)
		share_side(context, KEY_RIGHT, join, join->right);
	return shared;
}

typedef struct Sharing
{
	Size size;
	bool possible;
} Sharing;

static void
try_to_share(void *state)
{
	Sharing *sharing = state;
	dsm_segment *segment = dsm_create(sharing->size, DSM_CREATE_NULL_IF_MAXSEGMENTS);

	sharing->possible = segment != NULL;
	if (sharing->possible)
		dsm_detach(segment);
}

/*
 * Returns whether there is so much shared memory.
 *
 * InitializeParallelDSM() raises an error if there is not, and containers often
 * have only 64 MB of it.  So a segment of that size is created first, in a
 * subtransaction, and dropped again.  That takes 3 ms for the 20 MB of 300,000
 * signatures, whose join takes 10 s alone and 4 s with two workers.
 */
static bool
can_share(Size size)
{
	Sharing sharing = {.size = size, .possible = false};
	ErrorData *error = catch_error(try_to_share, &sharing);

	if (error == NULL)
		return sharing.possible;
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES)
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

/* Returns for how many workers there is work, memory to sort in, and shared memory. */
static int
workers_for(const SymbolJoin *join, const JoinPlan *plan)
{
	bool self = join->right.packed == NULL;
	double documents = (double) join->left.documents + (self ? 0 : join->right.documents);
	double memory = (double) maintenance_work_mem * 1024 / documents - 2.0 * join->stride;
	double sorting = floor(memory / join_bytes(join->k, join->b)) - 1;
	double workers = Min(max_parallel_maintenance_workers, join_parts(plan) - 1);

	if (IsInParallelMode())
		return 0;
	workers = Min(workers, floor(plan->cost / COST_OF_WORKER));
	workers = Min(workers, sorting);
	if (workers < 1 ||
		!can_share(side_bytes(join, join->left) + side_bytes(join, join->right) + SHARED_OVERHEAD))
		return 0;
	return (int) workers;
}

/*
 * Runs join_run() with parallel workers if the work is worth their start and
 * memory and shared memory suffice.  Pairs come in the same order as without.
 * Sets *workers to the number of workers if that is greater.
 */
void
join_in_parallel(const SymbolJoin *join, const JoinPlan *plan, int *workers)
{
	int wanted = workers_for(join, plan);
	SymbolJoin unfinished = *join;
	Reading reading = {.join = join, .group = -1};
	ParallelContext *context;

	if (wanted == 0)
	{
		join_run(join, plan);
		return;
	}
	EnterParallelMode();
	context = CreateParallelContext(NEARDUP_LIBRARY, "neardup_join_main", wanted);
	reading.shared = share(join, plan, context);
	LaunchParallelWorkers(context);
	if (context->nworkers_launched > 0 && parallel_leader_participation)
		join_groups(reading.shared, join->left, join->right, join);
	WaitForParallelWorkersToFinish(context);
	*workers = Max(*workers, context->nworkers_launched);
	unfinished.next = unfinished_group;
	unfinished.next_state = &reading;
	join_run(&unfinished, &reading.shared->plan);
	DestroyParallelContext(context);
	ExitParallelMode();
}
