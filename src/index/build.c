/*
 * build.c: build an index, in segments as large as memory allows.
 */
#include "index/build.h"

#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

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
