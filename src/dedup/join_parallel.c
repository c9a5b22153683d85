/*
 * join_parallel.c: a join of signatures or sets by parallel workers.
 *
 * Groups do not depend on each other, nor do the parts of a plan without groups, or of
 * sets, which this file calls groups too.  Each process takes one group after the
 * other and writes the pairs of a group to a file.  The leader then reads the
 * files in the order of the groups and joins the groups that nobody finished.
 * So the pairs and their order do not depend on the number or speed of workers.
 *
 * Signatures that memory does not hold are copied to a file that all processes read.
 * Each process has its share of the memory, and files of its own.  On that share the
 * order of the pairs of a group depends.
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
#define KEY_ARRAYS UINT64CONST(0x6E64000000000012) /* and the numbers that follow it */

/* One worker for each such share of the plan's cost, in nanoseconds. */
#define COST_OF_WORKER 2e7

/* Bytes of shared memory beyond the signatures: queues, state of the transaction, SharedJoin. */
#define SHARED_OVERHEAD (1024 * 1024)

/* Bytes that a process must have to join by way of files, as when PostgreSQL builds an index. */
#define FILES_MEMORY_MIN (32.0 * 1024 * 1024)

/* Pairs that are counted, and read, at a time. */
#define PAIRS_STEP 1024

PGDLLEXPORT void neardup_join_main(dsm_segment *segment, shm_toc *toc);

/* A pair in the file of a group. */
typedef struct FoundPair
{
	uint32 a;
	uint32 b;
	double value; /* distance of signatures, similarity of sets */
} FoundPair;

typedef struct SharedGroup
{
	bool done; /* is its file complete? */
	JoinStats stats;
	SetJoinStats set_stats;
} SharedGroup;

typedef struct SharedJoin
{
	AnyJoin join;           /* its pointers are the leader's */
	pg_atomic_uint32 next;  /* first group that nobody has taken */
	pg_atomic_uint64 pairs; /* pairs written, in steps */
	uint64 most;            /* beyond this number of pairs no further group is taken */
	uint32 count[2];        /* documents of the lists in files */
	SharedFileSet files;
	SharedGroup group[FLEXIBLE_ARRAY_MEMBER];
} SharedJoin;

/* What one process does. */
typedef struct Part
{
	SharedJoin *shared;
	const AnyJoin *leader; /* whose progress is reported; NULL in a worker */
	int group;
	BufFile *file; /* of the group under way, or NULL */
	JoinStats stats;
	SetJoinStats set_stats;
	uint32 pairs;
} Part;

/* ---- Joins of both kinds ------------------------------------------------ */

/* Returns how many groups a join has. */
static int
group_count(const AnyJoin *join)
{
	if (join->files)
		return Max(join->plan.groups, 1);
	return join->sets ? SET_PARTS : join_parts(&join->plan);
}

/* Lists the arrays that a join reads, of which there are at most SET_ARRAYS.  Returns their number. */
static int
list_arrays(AnyJoin *join, SetArray *array)
{
	SymbolJoin *symbols = &join->symbols;
	JoinSide *side[] = {&symbols->left, &symbols->right};

	if (join->files)
		return 0;
	if (join->sets)
	{
		set_plan_arrays(&join->set_plan, array);
		return SET_ARRAYS;
	}
	for (int s = 0; s < 2; s++)
		array[s] = (SetArray){(void **) &side[s]->packed,
							  side[s]->packed ? side[s]->documents * symbols->stride : 0};
	return 2;
}

/* Joins the groups that a function returns. */
static void
run(const AnyJoin *join, JoinNext next, void *next_state)
{
	AnyJoin copy = *join;

	copy.symbols.next = copy.set_join.next = next;
	copy.symbols.next_state = copy.set_join.next_state = next_state;
	if (join->files)
		(void) join_spread(&copy);
	else if (join->sets)
		(void) set_run(&copy.set_join, &copy.set_plan, copy.set_stats);
	else
		(void) join_run(&copy.symbols, &copy.plan);
}

/* ---- Lists of documents in files ---------------------------------------- */

static void
name_list(char *name, int l)
{
	snprintf(name, MAXPGPATH, "list%d", l);
}

/* Returns how many lists in files a join has. */
static int
list_count(const AnyJoin *join)
{
	if (!join->files)
		return 0;
	return join->list[0] == join->list[1] ? 1 : 2;
}

/* Copies the documents of a list to a file for all processes. */
static void
write_list(SharedJoin *shared, int l)
{
	const Documents *list = shared->join.list[l];
	Records *records = list->source->records;
	uint8 *buffer = palloc(records->stride);
	char name[MAXPGPATH];
	BufFile *file;

	name_list(name, l);
	file = compat_create_shared_file(&shared->files, name);
	for (uint32 i = 0; i < list->count; i++)
	{
		const uint8 *record = records_get(records, document_at(list, i), buffer);

		BufFileWrite(file, (void *) record, records->stride);
		host_check_interrupts_at(i);
	}
	BufFileClose(file);
	pfree(buffer);
	shared->count[l] = list->count;
}

/* Returns a list that the leader has copied to a file, in a worker. */
static Documents *
open_list(SharedJoin *shared, int l)
{
	Documents *list = palloc0(sizeof(Documents));
	Records *records = palloc0(sizeof(Records));
	char name[MAXPGPATH];

	name_list(name, l);
	records->stride = shared->join.symbols.stride;
	records->count = records->flushed = list->count = shared->count[l];
	records->file = compat_open_shared_file(&shared->files, name);
	list->source = palloc0(sizeof(Source));
	list->source->records = records;
	return list;
}

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
	const AnyJoin *leader = part->leader;
	int parts = group_count(&shared->join);
	char name[MAXPGPATH];

	if (part->file != NULL)
	{
		BufFileClose(part->file);
		part->file = NULL;
		shared->group[part->group].stats = part->stats;
		shared->group[part->group].set_stats = part->set_stats;
		shared->group[part->group].done = true;
		memset(&part->stats, 0, sizeof(part->stats));
		memset(&part->set_stats, 0, sizeof(part->set_stats));
	}
	if (pg_atomic_read_u64(&shared->pairs) > shared->most)
		return -1;
	part->group = (int) pg_atomic_fetch_add_u32(&shared->next, 1);
	if (leader != NULL && !leader->files)
		leader->progress(leader->state, Min(part->group, parts), parts);
	if (part->group >= parts)
		return -1;
	name_file(name, part->group);
	part->file = compat_create_shared_file(&shared->files, name);
	return part->group;
}

/* A SetPairSink: writes a pair, and ends the group if there are too many. */
static bool
write_pair(void *state, uint32_t a, uint32_t b, double value)
{
	Part *part = state;
	FoundPair pair = {a, b, value};

	BufFileWrite(part->file, &pair, sizeof(pair));
	return ++part->pairs % PAIRS_STEP != 0 ||
		pg_atomic_add_fetch_u64(&part->shared->pairs, PAIRS_STEP) <= part->shared->most;
}

/* A JoinEmit. */
static bool
write_signatures(void *state, uint32_t a, uint32_t b, int distance)
{
	return write_pair(state, a, b, distance);
}

/*
 * Joins groups until none is left.  join has the pointers of this process; leader is NULL
 * in a worker.
 */
static void
join_groups(SharedJoin *shared, AnyJoin join, const AnyJoin *leader)
{
	Part part = {.shared = shared, .leader = leader};

	join.symbols.emit = write_signatures;
	if (leader == NULL || !join.files)
		join.symbols.progress = NULL;
	join.symbols.stats = &part.stats;
	join.set_join.sink = write_pair;
	join.set_stats = &part.set_stats;
	join.symbols.state = join.set_join.state = &part;
	run(&join, take_group, &part);
	if (part.file != NULL)
		BufFileClose(part.file);
}

/* The main function of a worker. */
void
neardup_join_main(dsm_segment *segment, shm_toc *toc)
{
	SharedJoin *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	AnyJoin join = shared->join;
	SetArray array[SET_ARRAYS];
	int arrays = list_arrays(&join, array);

	for (int i = 0; i < arrays; i++)
		if (array[i].bytes > 0)
			*array[i].place = shm_toc_lookup(toc, KEY_ARRAYS + i, false);
	SharedFileSetAttach(&shared->files, segment);
	for (int l = 0; l < list_count(&shared->join); l++)
		join.list[l] = open_list(shared, l);
	if (list_count(&shared->join) == 1)
		join.list[1] = join.list[0];
	join_groups(shared, join, NULL);
	for (int l = 0; l < list_count(&shared->join); l++)
		records_end(join.list[l]->source->records);
}

/* ---- Reading what was found, in the leader ------------------------------ */

typedef struct Reading
{
	const AnyJoin *join;
	SharedJoin *shared; /* NULL without workers */
	int group;          /* read or joined last */
} Reading;

/* Passes a pair on.  Returns false if no more are wanted. */
static bool
pass_pair(const AnyJoin *join, const FoundPair *pair)
{
	if (join->sets)
		return join->set_join.sink(join->set_join.state, pair->a, pair->b, pair->value);
	return join->symbols.emit(join->symbols.state, pair->a, pair->b, (int) pair->value);
}

/* Passes the pairs of a group on.  Returns false if no more are wanted. */
static bool
read_group(const Reading *reading)
{
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
			wanted = pass_pair(reading->join, pair + i);
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
	const AnyJoin *join = reading->join;

	while (++reading->group < group_count(join))
	{
		const SharedGroup *group = reading->shared->group + reading->group;

		if (!group->done)
			return reading->group;
		if (!read_group(reading))
			break;
		if (join->sets)
			set_stats_add(join->set_stats, &group->set_stats);
		else
		{
			join->symbols.stats->candidates += group->stats.candidates;
			join->symbols.stats->compared += group->stats.compared;
		}
	}
	return -1;
}

/* A JoinNext: takes one group after the other. */
static int
next_group(void *next_state)
{
	Reading *reading = next_state;
	const AnyJoin *join = reading->join;

	join->progress(join->state, ++reading->group, group_count(join));
	return reading->group < group_count(join) ? reading->group : -1;
}

/* ---- The leader --------------------------------------------------------- */

/* Returns how many bytes the arrays of a join have. */
static Size
shared_bytes(const AnyJoin *join)
{
	AnyJoin copy = *join;
	SetArray array[SET_ARRAYS];
	Size bytes = 0;

	for (int i = list_arrays(&copy, array); i-- > 0;)
		bytes += array[i].bytes;
	return bytes;
}

/* Puts the join and its arrays into shared memory. */
static SharedJoin *
share(const AnyJoin *join, ParallelContext *context)
{
	Size size = offsetof(SharedJoin, group) + group_count(join) * sizeof(SharedGroup);
	AnyJoin copy = *join;
	SetArray array[SET_ARRAYS];
	int arrays = list_arrays(&copy, array);
	SharedJoin *shared;

	shared_reserve(context, size);
	for (int i = 0; i < arrays; i++)
		shared_reserve(context, array[i].bytes);
	InitializeParallelDSM(context);
	shared = shared_put(context, KEY_SHARED, size);
	memset(shared, 0, size);
	shared->join = *join;
	shared->most = (uint64) maintenance_work_mem * 1024 / sizeof(FoundPair);
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u64(&shared->pairs, 0);
	/* Without a segment, for want of a slot, there are no workers. */
	if (context->seg == NULL)
		return shared;
	SharedFileSetInit(&shared->files, context->seg);
	for (int i = 0; i < arrays; i++)
		if (array[i].bytes > 0)
			memcpy(shared_put(context, KEY_ARRAYS + i, array[i].bytes), *array[i].place,
				   array[i].bytes);
	for (int l = 0; l < list_count(join); l++)
		write_list(shared, l);
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

/* Returns how many bytes each process needs to join groups. */
static double
working_bytes(const AnyJoin *join)
{
	const SymbolJoin *symbols = &join->symbols;
	double documents = (double) symbols->left.documents;

	if (join->sets)
		return (double) set_run_bytes(&join->set_plan);
	documents += symbols->right.packed == NULL ? 0 : symbols->right.documents;
	return documents * join_bytes(symbols->k, symbols->b);
}

/* Returns how many processes have memory to join groups. */
static double
processes_for(const AnyJoin *join)
{
	double memory = (double) maintenance_work_mem * 1024 - 2.0 * shared_bytes(join) - join->held;

	return floor(memory / (join->files ? FILES_MEMORY_MIN : working_bytes(join)));
}

/* Returns for how many workers there is work, memory to work in, and shared memory. */
static int
workers_for(const AnyJoin *join)
{
	double cost = join->sets ? join->set_plan.cost : join->plan.cost;
	double workers = Min(max_parallel_maintenance_workers, group_count(join) - 1);

	if (IsInParallelMode())
		return 0;
	workers = Min(workers, floor(cost / COST_OF_WORKER));
	workers = Min(workers, processes_for(join) - 1);
	if (workers < 1 || !can_share(shared_bytes(join) + SHARED_OVERHEAD))
		return 0;
	return (int) workers;
}

/*
 * Runs a join with parallel workers if the work is worth their start and
 * memory and shared memory suffice.  Pairs come in the same order as without, except
 * within a group of a join in files.  Sets *workers to the number of workers if that is
 * greater.
 */
void
join_in_parallel(const AnyJoin *join, int *workers)
{
	int wanted = workers_for(join);
	AnyJoin alone = *join;
	AnyJoin shared = *join;
	Reading reading = {.join = &alone, .group = -1};
	ParallelContext *context;

	alone.memory = (size_t) maintenance_work_mem * 1024;
	shared.memory = alone.memory / (wanted + 1);
	if (wanted == 0)
	{
		run(&alone, join->sets ? next_group : NULL, &reading);
		return;
	}
	EnterParallelMode();
	context = CreateParallelContext(NEARDUP_LIBRARY, "neardup_join_main", wanted);
	reading.shared = share(&shared, context);
	LaunchParallelWorkers(context);
	if (context->nworkers_launched > 0 && parallel_leader_participation)
		join_groups(reading.shared, shared, &shared);
	WaitForParallelWorkersToFinish(context);
	*workers = Max(*workers, context->nworkers_launched);
	run(&alone, unfinished_group, &reading);
	DestroyParallelContext(context);
	ExitParallelMode();
}
