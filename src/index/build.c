/*
 * build.c: an index of what a table holds, in segments as large as memory
 * allows, alone or in parallel.
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

/* Nothing has been logged so far; now everything is. */
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
	static void (*const step[])(Build *) = {build_scan,   build_flush,    build_layout,
											build_groups, build_describe, build_log};
	Barrier *barrier = &build->shared->barrier;
	int phase = build_leads(build) ? 0 : BarrierAttach(barrier);

	/* Who comes late has missed what the others have done without them. */
	for (; phase < lengthof(step); phase++)
	{
		step[phase](build);
		BarrierArriveAndWait(barrier, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	BarrierDetach(barrier);
}

/* ---- The whole ---------------------------------------------------------- */

Size
build_shared_size(int participants)
{
	return add_size(offsetof(BuildShared, rest), mul_size(participants, BLCKSZ));
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
	/* The leader takes part before there are workers: a phase without it would do nothing. */
	BarrierInit(&shared->barrier, 0);
	BarrierAttach(&shared->barrier);
	SpinLockInit(&shared->mutex);
}

static void
build_alone(Build *build)
{
	build->shared = palloc(build_shared_size(1));
	build_shared_init(build->shared, build, 1);
	build_steps(build);
}

static void
claim_meta_block(Relation index)
{
	Buffer buffer = compat_extend(index);

	if (BufferGetBlockNumber(buffer) != META_BLOCK)
		elog(ERROR, "index \"%s\" is not empty", RelationGetRelationName(index));
	UnlockReleaseBuffer(buffer);
}

IndexBuildResult *
neardup_build(Relation heap, Relation index, IndexInfo *info)
{
	Build build = {.heap = heap, .index = index, .info = info};
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	int workers = RelationGetNumberOfBlocks(heap) > 0 ? compat_build_workers(heap, index, info) : 0;

	claim_meta_block(index);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_DOCUMENTS);
	if (workers > 0)
		build_in_parallel(&build, workers, result);
	else
	{
		build_alone(&build);
		result->heap_tuples = build.shared->heap_tuples;
		result->index_tuples = build.shared->documents;
	}
	return result;
}

/*
 * An unlogged index after a crash.  The fork is logged whatever the table is:
 * it must be there when the rest is not.
 */
void
neardup_buildempty(Relation index)
{
	Buffer buffer = compat_extend_fork(index, INIT_FORKNUM);

	START_CRIT_SECTION();
	meta_init(BufferGetPage(buffer));
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

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
