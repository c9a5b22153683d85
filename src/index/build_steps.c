/*
 * build_steps.c: the steps of a build, and what its participants share.
 */
#include "index/build.h"

#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

/* Returns the size of what `participants` share. */
Size
build_shared_size(int participants)
{
	return add_size(offsetof(BuildShared, last_page), mul_size(participants, BLCKSZ));
}

/* Fills in what `participants` share. */
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
	if (is_leader(build))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_WAL);
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, shared->blocks);
	}
	while ((first = claim_blocks(shared)) < shared->blocks)
	{
		log_newpage_range(build->index, MAIN_FORKNUM, first,
						  Min(first + BLOCKS_LOGGED, shared->blocks), true);
		if (is_leader(build))
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, shared->blocks_logged);
	}
}

/* Goes through the steps of a build; each is done by all participants before the next begins. */
void
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
