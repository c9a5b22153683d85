/*
 * build_parallel.c: build an index with parallel workers.
 *
 * The leader and the workers go through the same steps.  The build does not depend on how
 * many of the workers start.
 */
#include "index/build.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"

#include "shared_memory.h"

#define KEY_SHARED UINT64CONST(0x6E64000000000001)
#define KEY_SCAN UINT64CONST(0x6E64000000000002)
#define KEY_QUERY UINT64CONST(0x6E64000000000003)

PGDLLEXPORT void neardup_build_main(dsm_segment *segment, shm_toc *toc);

/* ---- The leader --------------------------------------------------------- */

/* Puts what a worker needs into shared memory. */
static void
share_build(Build *build, ParallelContext *context, Snapshot snapshot)
{
	int participants = context->nworkers + 1;
	Size shared_size = build_shared_size(participants);
	Size scan_size = table_parallelscan_estimate(build->heap, snapshot);
	/* Workers show the leader's statement in pg_stat_activity, as those of B-tree builds do. */
	const char *query = debug_query_string == NULL ? "" : debug_query_string;

	shared_reserve(context, shared_size);
	shared_reserve(context, scan_size);
	shared_reserve(context, strlen(query) + 1);
	InitializeParallelDSM(context);
	/* If there is no shared memory, there are no workers, and this is private memory. */
	build->shared = shared_put(context, KEY_SHARED, shared_size);
	build_shared_init(build->shared, build, participants);
	build->scan = shared_put(context, KEY_SCAN, scan_size);
	table_parallelscan_initialize(build->heap, build->scan, snapshot);
	strcpy(shared_put(context, KEY_QUERY, strlen(query) + 1), query);
}

/* Builds with at most `workers` workers. */
void
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

/* ---- A worker ----------------------------------------------------------- */

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
