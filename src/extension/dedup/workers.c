/*
 * workers.c: a join of documents by parallel workers.
 *
 * The parts of a join do not depend on each other.  Each process takes one part after the
 * other and writes the pairs of a part to a file.  The leader then reads the
 * files in the order of the parts and joins the parts that nobody finished.
 * So the pairs do not depend on the number or speed of workers, nor does their order, unless the
 * join is one by way of files.
 *
 * Arrays of the join are copied to shared memory, and files of the join to files that all
 * processes read.  Each process has its share of the memory, and files of its own.
 */
#include "dedup/dedup.h"

#include <fcntl.h>
#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"

#include "host_file.h"
#include "shared_memory.h"

#define KEY_SHARED UINT64CONST(0x6E64000000000011)
#define KEY_ARRAYS UINT64CONST(0x6E64000000000012) /* the first array's key */

/* The cost of a join, in nanoseconds, for each worker. */
#define COST_OF_WORKER 2e7

/* Bytes of shared memory beyond the arrays: queues, state of the transaction, SharedJoin. */
#define SHARED_OVERHEAD (1024 * 1024)

/* Pairs that are counted, and read, at a time. */
#define PAIRS_STEP 1024

PGDLLEXPORT void neardup_join_main(dsm_segment *segment, shm_toc *toc);

/* A pair in the file of a part. */
typedef struct FoundPair
{
	uint32 a;
	uint32 b;
	double similarity;
} FoundPair;

typedef struct SharedPart
{
	bool done; /* its file is complete */
	JoinStats stats;
} SharedPart;

typedef struct SharedJoin
{
	PairArray array[PAIR_ARRAYS]; /* the arrays; the pointers are the leader's */
	size_t memory;                /* bytes that each process may take */
	int processes;
	pg_atomic_uint32 next;  /* first part that nobody has taken */
	pg_atomic_uint64 pairs; /* pairs written, in steps */
	uint64 most;            /* pairs beyond which no further part is taken */
	SharedFileSet files;
	int parts;
	SharedPart part[FLEXIBLE_ARRAY_MEMBER];
} SharedJoin;

/* What one process does. */
typedef struct WorkerProcess
{
	SharedJoin *shared;
	bool leads; /* the process reports progress */
	int part;
	BufFile *file; /* the file of the part under way; NULL: none */
	JoinStats stats;
	uint32 pairs;
} WorkerProcess;

/* ---- Joining parts, in all processes ------------------------------------- */

static void
name_file(char *name, const char *what, int number)
{
	snprintf(name, MAXPGPATH, "%s%d", what, number);
}

/* A PairNext: completes the file of the last part and takes the next one. */
static int
take_part(void *state)
{
	WorkerProcess *worker = state;
	SharedJoin *shared = worker->shared;
	char name[MAXPGPATH];

	if (worker->file != NULL)
	{
		BufFileClose(worker->file);
		worker->file = NULL;
		shared->part[worker->part].stats = worker->stats;
		shared->part[worker->part].done = true;
		memset(&worker->stats, 0, sizeof(worker->stats));
	}
	if (pg_atomic_read_u64(&shared->pairs) > shared->most)
		return -1;
	worker->part = (int) pg_atomic_fetch_add_u32(&shared->next, 1);
	if (worker->leads)
		progress_parts(Min(worker->part, shared->parts), shared->parts);
	if (worker->part >= shared->parts)
		return -1;
	name_file(name, "part", worker->part);
	worker->file = compat_create_shared_file(&shared->files, name);
	return worker->part;
}

/* A PairSink: writes a pair, and ends the part if there are too many. */
static bool
write_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	WorkerProcess *worker = state;
	FoundPair pair = {a, b, similarity};

	BufFileWrite(worker->file, &pair, sizeof(pair));
	return ++worker->pairs % PAIRS_STEP != 0 ||
		pg_atomic_add_fetch_u64(&worker->shared->pairs, PAIRS_STEP) <= worker->shared->most;
}

/* Joins parts until none is left.  join has the pointers of this process. */
static void
worker_join_parts(SharedJoin *shared, PairJoin *join, bool leads)
{
	WorkerProcess worker = {.shared = shared, .leads = leads};
	PairRun run = {.sink = write_pair,
				   .state = &worker,
				   .next = take_part,
				   .next_state = &worker,
				   .by_part = true,
				   .stats = &worker.stats,
				   .reports = leads};

	join->memory = shared->memory;
	join->processes = shared->processes;
	(void) pairs_run(join, &run);
	if (worker.file != NULL)
		BufFileClose(worker.file);
}

/* The main function of a worker. */
void
neardup_join_main(dsm_segment *segment, shm_toc *toc)
{
	SharedJoin *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	PairArray array[PAIR_ARRAYS];
	char name[MAXPGPATH];

	SharedFileSetAttach(&shared->files, segment);
	for (int i = 0; i < PAIR_ARRAYS; i++)
	{
		array[i] = shared->array[i];
		name_file(name, "list", i);
		if (array[i].file != NULL)
			array[i].file = host_file_wrap(compat_open_shared_file(&shared->files, name));
		else if (array[i].bytes > 0)
			array[i].memory = shm_toc_lookup(toc, KEY_ARRAYS + i, false);
	}
	worker_join_parts(shared, pairs_attach(array), false);
	for (int i = 0; i < PAIR_ARRAYS; i++)
		if (array[i].file != NULL)
			host_file_close(array[i].file);
}

/* ---- Reading what was found, in the leader -------------------------------- */

typedef struct PartReader
{
	PairCallOptions *options;
	SharedJoin *shared; /* NULL without workers */
	const PairJoin *join;
	PairSink sink;
	void *state;
	int part; /* the part that was read or joined last */
} PartReader;

/* A PairSink: passes a pair on.  Returns false if no more are wanted. */
static bool
pass_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	const PartReader *reading = state;

	progress_pair();
	return reading->sink(reading->state, a, b, similarity);
}

/* Passes the pairs of a part on.  Returns false if no more are wanted. */
static bool
worker_read_part(PartReader *reading)
{
	FoundPair pair[PAIRS_STEP];
	char name[MAXPGPATH];
	bool wanted = true;
	BufFile *file;
	size_t pairs;

	name_file(name, "part", reading->part);
	file = compat_open_shared_file(&reading->shared->files, name);
	do
	{
		pairs = BufFileRead(file, pair, sizeof(pair)) / sizeof(FoundPair);
		for (size_t i = 0; i < pairs && wanted; i++)
			wanted = pass_pair(reading, pair[i].a, pair[i].b, pair[i].similarity);
		CHECK_FOR_INTERRUPTS();
	} while (wanted && pairs == PAIRS_STEP);
	BufFileClose(file);
	return wanted;
}

/* A PairNext: reads the parts up to the next one that nobody finished. */
static int
unfinished_part(void *state)
{
	PartReader *reading = state;

	while (++reading->part < reading->join->parts)
	{
		const SharedPart *part = reading->shared->part + reading->part;

		if (!part->done)
			return reading->part;
		if (!worker_read_part(reading))
			break;
		stats_add(&reading->options->stats.join, &part->stats);
	}
	return -1;
}

/* ---- The leader ------------------------------------------------------------- */

/* Returns how many bytes of memory a join shares, beside itself. */
static Size
shared_bytes(const PairArray array[PAIR_ARRAYS])
{
	Size bytes = 0;

	for (int i = 1; i < PAIR_ARRAYS; i++)
		bytes += array[i].file != NULL ? 0 : array[i].bytes;
	return bytes;
}

/* Copies a file of the join to one that all processes read. */
static void
share_file(SharedJoin *shared, int i)
{
	const PairArray *array = shared->array + i;
	char name[MAXPGPATH];
	char block[BLCKSZ];
	BufFile *file;

	name_file(name, "list", i);
	file = compat_create_shared_file(&shared->files, name);
	for (uint64 done = 0; done < array->bytes; done += BLCKSZ)
	{
		Size some = Min(array->bytes - done, BLCKSZ);

		host_file_read(array->file, done, block, some);
		BufFileWrite(file, block, some);
		CHECK_FOR_INTERRUPTS();
	}
	BufFileClose(file);
}

/* Puts a join and its arrays into shared memory, for a number of processes. */
static SharedJoin *
share(const PairJoin *join, int processes, ParallelContext *context)
{
	Size size = offsetof(SharedJoin, part) + join->parts * sizeof(SharedPart);
	PairArray array[PAIR_ARRAYS];
	SharedJoin *shared;

	pairs_arrays(join, array);
	shared_reserve(context, size);
	for (int i = 0; i < PAIR_ARRAYS; i++)
		shared_reserve(context, array[i].file != NULL ? 0 : array[i].bytes);
	InitializeParallelDSM(context);
	shared = shared_put(context, KEY_SHARED, size);
	memset(shared, 0, size);
	memcpy(shared->array, array, sizeof(array));
	shared->parts = join->parts;
	shared->processes = processes;
	shared->memory = (size_t) maintenance_work_mem * 1024 / processes;
	shared->most = (uint64) maintenance_work_mem * 1024 / sizeof(FoundPair);
	shared->most = Min(shared->most, join->most);
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u64(&shared->pairs, 0);
	/* Without a segment, for want of a slot, there are no workers. */
	if (context->seg == NULL)
		return shared;
	SharedFileSetInit(&shared->files, context->seg);
	for (int i = 0; i < PAIR_ARRAYS; i++)
		if (array[i].file != NULL)
			share_file(shared, i);
		else if (array[i].bytes > 0)
			memcpy(shared_put(context, KEY_ARRAYS + i, array[i].bytes), array[i].memory,
				   array[i].bytes);
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
 * Returns whether there is enough shared memory.
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

/* Returns for how many workers there is work, memory to work in, and shared memory. */
static int
workers_for(const PairJoin *join)
{
	double memory = (double) maintenance_work_mem * 1024;
	double workers = Min(max_parallel_maintenance_workers, join->parts - 1);
	PairArray array[PAIR_ARRAYS];
	Size shared;

	if (IsInParallelMode())
		return 0;
	workers = Min(workers, floor(join->cost / COST_OF_WORKER));
	if (workers < 1)
		return 0;
	pairs_arrays(join, array);
	shared = shared_bytes(array);
	memory -= 2.0 * shared + join->held;
	workers = Min(workers, floor(memory / Max(join->process_bytes, 1)) - 1);
	if (workers < 1 || !can_share(shared + SHARED_OVERHEAD))
		return 0;
	return (int) workers;
}

/* Runs a join with a number of workers. */
static void
run_with(int workers, PairJoin *join, PartReader *reading, const PairRun *run)
{
	ParallelContext *context;
	size_t memory = join->memory;

	EnterParallelMode();
	context = CreateParallelContext(NEARDUP_LIBRARY, "neardup_join_main", workers);
	reading->shared = share(join, workers + 1, context);
	LaunchParallelWorkers(context);
	if (context->nworkers_launched > 0 && parallel_leader_participation)
		worker_join_parts(reading->shared, join, true);
	WaitForParallelWorkersToFinish(context);
	reading->options->workers = Max(reading->options->workers, context->nworkers_launched);
	join->memory = memory;
	(void) pairs_run(join, run);
	DestroyParallelContext(context);
	ExitParallelMode();
}

/*
 * Runs a join with parallel workers if the work is worth their start and memory and shared memory
 * suffice.  Workers do not change the order of pairs, except in a join by way of files.
 */
void
workers_run(void *options, PairJoin *join, PairSink sink, void *state)
{
	PartReader reading = {.options = options,
						  .join = join,
						  .sink = sink,
						  .state = state,
						  .part = -1};
	int workers = workers_for(join);
	PairRun run = {.sink = pass_pair,
				   .state = &reading,
				   .next = workers == 0 ? NULL : unfinished_part,
				   .next_state = &reading,
				   .by_part = workers > 0,
				   .stats = &reading.options->stats.join,
				   .reports = workers == 0 || join->files};

	if (workers > 0)
		run_with(workers, join, &reading, &run);
	else
		(void) pairs_run(join, &run);
}
