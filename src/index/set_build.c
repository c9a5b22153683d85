/*
 * set_build.c: build an index of sets: scan the table, sort the sets by size, and write them as
 * a merge does.
 */
#include "index/sets.h"

#include "access/tableam.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

typedef struct SetBuild
{
	SizeSort *sort;
	SignatureHeader shape; /* k = 0 until the first set */
	double documents;
	MemoryContext row_context;
} SetBuild;

/* An IndexBuildCallback: adds a row to those that are sorted. */
static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *state)
{
	SetBuild *build = state;
	MemoryContext before = MemoryContextSwitchTo(build->row_context);
	RowDocument row;

	index_document(index, tid, values, isnull, &row);
	if (row.shape.k != 0 && build->shape.k == 0)
	{
		build->shape = index_shape(index, &row.shape);
		index_fix_shape(index, &row.shape);
	}
	if (row.shape.k != 0)
		index_check_shape(index, &build->shape, &row.shape, true);
	size_sort_put(build->sort, &row.document, row.element,
				  tid_flags(&row.document.tid) ? 0 : row.record.count);
	build->documents++;
	MemoryContextSwitchTo(before);
	MemoryContextReset(build->row_context);
}

/* Builds an index of sets, whose metapage is written. */
void
set_build(Relation heap, Relation index, IndexInfo *info, IndexBuildResult *result)
{
	Upkeep upkeep = upkeep_of(index, UPKEEP_BY_INSERT);
	MergeSources none = {.closed = false};
	SetBuild build = {.sort = size_sort_begin(upkeep.memory)};

	build.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup build", ALLOCSET_SMALL_SIZES);
	result->heap_tuples =
		table_index_build_scan(heap, index, info, true, true, add_row, &build, NULL);
	result->index_tuples = build.documents;
	MemoryContextDelete(build.row_context);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_GROUPS);
	merge_sources(&upkeep, &none, build.sort);
}
