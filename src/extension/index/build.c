/*
 * build.c: build an index, in segments as large as memory allows, alone or with parallel
 * workers.
 *
 * The leader and the workers go through the same steps.  The build does not depend on how
 * many of the workers start.
 */
#include "index/build.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"
#include "utils/snapmgr.h"

#include "shared_memory.h"

#define KEY_SHARED UINT64CONST(0x6E64000000000001)
#define KEY_SCAN UINT64CONST(0x6E64000000000002)
#define KEY_QUERY UINT64CONST(0x6E64000000000003)
#define KEY_SORT UINT64CONST(0x6E64000000000004)

PGDLLEXPORT void neardup_build_main(dsm_segment *segment, shm_toc *toc);

/* ---- Steps --------------------------------------------------------------- */

/* Returns the size of what `participants` share. */
static Size
build_shared_size(int participants)
{
	return add_size(offsetof(BuildShared, participant),
					mul_size(participants, sizeof(BuildParticipant)));
}

/* Fills in what `participants` share. */
static void
build_shared_init(BuildShared *shared, const Build *build, int participants)
{
	memset(shared, 0, build_shared_size(participants));
	shared->heap = RelationGetRelid(build->heap);
	shared->index = RelationGetRelid(build->index);
	shared->concurrent = build->info->ii_Concurrent;
	shared->logged = RelationNeedsWAL(build->index);
	shared->participants = participants;
	shared->memory = (Size) maintenance_work_mem * 1024;
	shared->documents_max = segment_documents_max(build->index, &shared->shape, shared->memory);
	/* The leader attaches before there are workers: some steps are its alone. */
	BarrierInit(&shared->barrier, 0);
	BarrierAttach(&shared->barrier);
	SpinLockInit(&shared->mutex);
	/* The metapage is there. */
	pg_atomic_init_u32(&shared->blocks, META_BLOCK + 1);
	pg_atomic_init_u32(&shared->file, META_BLOCK + 1);
}

/* Blocks that a participant logs at once. */
#define BLOCKS_LOGGED 256

static BlockNumber
claim_blocks(BuildShared *shared)
{
	BlockNumber blocks = pg_atomic_read_u32(&shared->blocks);
	BlockNumber first;

	SpinLockAcquire(&shared->mutex);
	first = shared->blocks_logged;
	shared->blocks_logged += Min(BLOCKS_LOGGED, blocks - first);
	SpinLockRelease(&shared->mutex);
	return first;
}

/* Logs all blocks: what the steps before have written is not logged. */
static void
build_log(Build *build)
{
	BuildShared *shared = build->shared;
	BlockNumber blocks = pg_atomic_read_u32(&shared->blocks);
	BlockNumber first;

	if (!shared->logged)
		return;
	if (is_leader(build))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_WAL);
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, blocks);
	}
	while ((first = claim_blocks(shared)) < blocks)
	{
		log_newpage_range(build->index, MAIN_FORKNUM, first, Min(first + BLOCKS_LOGGED, blocks),
						  true);
		if (is_leader(build))
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, shared->blocks_logged);
	}
}

/* Goes through the steps of a build; each is done by all participants before the next begins. */
static void
build_steps(Build *build)
{
	static void (*const step[])(Build *) = {build_scan,   build_finish_scan, build_layout,
											build_groups, build_describe,    build_log};
	Barrier *barrier = &build->shared->barrier;
	int phase = is_leader(build) ? 0 : BarrierAttach(barrier);

	/* A worker that starts late takes part in the steps that are left. */
	for (; phase < lengthof(step); phase++)
	{
		step[phase](build);
		BarrierArriveAndWait(barrier, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	BarrierDetach(barrier);
}

/* ---- Parallel workers ---------------------------------------------------- */

/* Puts what a worker needs into shared memory. */
static void
share_build(Build *build, ParallelContext *context, Snapshot snapshot)
{
	int participants = context->nworkers + 1;
	Size shared_size = build_shared_size(participants);
	Size scan_size = table_parallelscan_estimate(build->heap, snapshot);
	/* Workers show the leader's statement in pg_stat_activity, as workers of B-tree builds do. */
	const char *query = debug_query_string == NULL ? "" : debug_query_string;
	Size sort_size = tuplesort_estimate_shared(participants);

	shared_reserve(context, shared_size);
	shared_reserve(context, scan_size);
	shared_reserve(context, strlen(query) + 1);
	if (index_cache(build->index)->sets)
		shared_reserve(context, sort_size);
	InitializeParallelDSM(context);
	/* If there is no shared memory, there are no workers, and this is private memory. */
	build->shared = shared_put(context, KEY_SHARED, shared_size);
	build_shared_init(build->shared, build, participants);
	build->scan = shared_put(context, KEY_SCAN, scan_size);
	table_parallelscan_initialize(build->heap, build->scan, snapshot);
	strcpy(shared_put(context, KEY_QUERY, strlen(query) + 1), query);
	if (index_cache(build->index)->sets && context->seg != NULL)
	{
		build->shared_sort = shared_put(context, KEY_SORT, sort_size);
		tuplesort_initialize_shared(build->shared_sort, participants, context->seg);
	}
}

/* Builds with at most `workers` workers. */
static void
build_in_parallel(Build *build, int workers, IndexBuildResult *result)
{
	Snapshot snapshot;
	ParallelContext *context;

	EnterParallelMode();
	context = CreateParallelContext(NEARDUP_LIBRARY, "neardup_build_main", workers);
	snapshot =
		build->info->ii_Concurrent ? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	share_build(build, context, snapshot);
	LaunchParallelWorkers(context);
	ereport(DEBUG1,
			(errmsg_internal("building index \"%s\" with %d parallel workers",
							 RelationGetRelationName(build->index), context->nworkers_launched)));
	build_steps(build);
	WaitForParallelWorkersToFinish(context);
	result->heap_tuples = build->shared->heap_tuples;
	result->index_tuples = build->shared->documents;
	build->info->ii_BrokenHotChain |= build->shared->broken_hot_chain;
	if (IsMVCCSnapshot(snapshot))
		UnregisterSnapshot(snapshot);
	DestroyParallelContext(context);
	ExitParallelMode();
}

/* The entry point of a parallel worker: attaches to the shared build and does its steps. */
void
neardup_build_main(dsm_segment *segment, shm_toc *toc)
{
	Build build = {.number = ParallelWorkerNumber + 1};
	LOCKMODE heap_lock;
	LOCKMODE index_lock;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, false);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	build.shared = shm_toc_lookup(toc, KEY_SHARED, false);
	build.scan = shm_toc_lookup(toc, KEY_SCAN, false);
	build.shared_sort = shm_toc_lookup(toc, KEY_SORT, true);
	if (build.shared_sort != NULL)
		tuplesort_attach_shared(build.shared_sort, segment);
	/* The modes of the leader's locks, which do not conflict within its lock group. */
	heap_lock = build.shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	index_lock = build.shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	build.heap = table_open(build.shared->heap, heap_lock);
	build.index = index_open(build.shared->index, index_lock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = build.shared->concurrent;
	build_steps(&build);
	index_close(build.index, index_lock);
	table_close(build.heap, heap_lock);
}

/* ---- The callbacks -------------------------------------------------------- */

/* Extends an empty fork by the metapage of an empty index; returns it exclusively locked. */
static Buffer
new_metapage(Relation index, ForkNumber fork)
{
	Buffer buffer;

	/* Before anything else: reports an error if the columns make no index. */
	index_check_keys(index);
	buffer = compat_extend_fork(index, fork);
	if (BufferGetBlockNumber(buffer) != META_BLOCK)
		elog(ERROR, "index \"%s\" is not empty", RelationGetRelationName(index));
	START_CRIT_SECTION();
	meta_init(BufferGetPage(buffer), index_keys(index));
	MarkBufferDirty(buffer);
	/* A build logs all pages at its end. */
	if (fork == INIT_FORKNUM)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	return buffer;
}

/* ambuild: builds an index of a table that may have rows, alone or with parallel workers. */
IndexBuildResult *
neardup_build(Relation heap, Relation index, IndexInfo *info)
{
	Build build = {.heap = heap, .index = index, .info = info};
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	int workers = RelationGetNumberOfBlocks(heap) > 0 ? compat_build_workers(heap, index, info) : 0;

	UnlockReleaseBuffer(new_metapage(index, MAIN_FORKNUM));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_DOCUMENTS);
	if (workers > 0)
		build_in_parallel(&build, workers, result);
	else
	{
		build.shared = palloc(build_shared_size(1));
		build_shared_init(build.shared, &build, 1);
		build_steps(&build);
		result->heap_tuples = build.shared->heap_tuples;
		result->index_tuples = build.shared->documents;
	}
	return result;
}

/* Returns true if a relation is an index of this access method. */
bool
index_is_ours(Relation relation)
{
	return relation->rd_rel->relkind == RELKIND_INDEX &&
		relation->rd_indam->ambuild == neardup_build;
}

/*
 * Writes the init fork, which an unlogged index is reset to after a crash.  The fork is
 * logged although the index is not.
 */
void
neardup_buildempty(Relation index)
{
	UnlockReleaseBuffer(new_metapage(index, INIT_FORKNUM));
}

/* ambuildphasename: the name of a phase for pg_stat_progress_create_index. */
char *
neardup_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PHASE_DOCUMENTS:
			return "packing documents";
		case PHASE_GROUPS:
			return "grouping documents";
		case PHASE_WAL:
			return "writing WAL";
		default:
			return NULL;
	}
}
