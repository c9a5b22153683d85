/*
 * build.c: build an index, in segments as large as memory allows.
 */
#include "index/build.h"

#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

/* ---- Steps -------------------------------------------------------------- */

/* Blocks that a participant logs at once. */
#define BLOCKS_LOGGED 256

static BlockNumber
claim_blocks(BuildShared *shared)
{
	BlockNumber first;

	SpinLockAcquire(&shared->mutex);
	first = shared->blocks_logged;
	shared->blocks_logged += Min(BLOCKS_LOGGED, shared->blocks - first);
	SpinLockRelease(&shared->mutex);
	return first;
}

/* Logs all blocks: what the steps before have written is not logged. */
static void
build_log(Build *build)
{
	BuildShared *shared = build->shared;
	BlockNumber first;

	if (!shared->logged)
		return;
	if (build_leads(build))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_WAL);
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, shared->blocks);
	}
	while ((first = claim_blocks(shared)) < shared->blocks)
	{
		log_newpage_range(build->index, MAIN_FORKNUM, first,
						  Min(first + BLOCKS_LOGGED, shared->blocks), true);
		if (build_leads(build))
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, shared->blocks_logged);
	}
}

void
build_steps(Build *build)
{
	static void (*const step[])(Build *) = {build_scan,   build_finish_scan, build_layout,
											build_groups, build_describe,    build_log};
	Barrier *barrier = &build->shared->barrier;
	int phase = build_leads(build) ? 0 : BarrierAttach(barrier);

	/* A worker that starts late takes part in the steps that are left. */
	for (; phase < lengthof(step); phase++)
	{
		step[phase](build);
		BarrierArriveAndWait(barrier, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	BarrierDetach(barrier);
}

/* ---- Building ----------------------------------------------------------- */

Size
build_shared_size(int participants)
{
	return add_size(offsetof(BuildShared, last_page), mul_size(participants, BLCKSZ));
}

void
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
}

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
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
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
