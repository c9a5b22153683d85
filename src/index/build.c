/*
 * build.c: an index of what a table holds, in segments as large as memory
 * allows.
 */
#include "index/index.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

typedef struct Build
{
	Relation index;
	PGAlignedBlock meta_page;
	IndexMeta *meta; /* within it */
	SegmentWriter *writer;
	uint32 documents_max; /* of a segment */
	double tuples;
	MemoryContext each; /* reset after each tuple */
} Build;

/* ---- Segments ----------------------------------------------------------- */

static void
finish_segment(Build *build)
{
	Size memory = (Size) maintenance_work_mem * 1024;

	if (build->writer == NULL)
		return;
	if (build->meta->segments >= SEGMENTS_MAX - 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("maintenance_work_mem (%d kB) is too small for an index of this table",
						maintenance_work_mem),
				 errhint("Raise maintenance_work_mem: a segment holds as many documents as fit into it at 12 bytes each.")));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_GROUPS);
	build->meta->segment[build->meta->segments++] = segment_finish(build->writer, memory);
	build->writer = NULL;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_DOCUMENTS);
}

static void
add_document(Build *build, const ItemPointerData *tid, const uint8_t *symbols)
{
	if (build->writer != NULL && segment_documents(build->writer) >= build->documents_max)
		finish_segment(build);
	if (build->writer == NULL)
		build->writer = segment_begin(build->index, NULL, build->meta->next_owner++,
									  &build->meta->shape, false);
	segment_add(build->writer, tid, symbols);
}

/* The first signature fixes the shape; NULLs before it get a segment of theirs. */
static void
check_shape(Build *build, const SignatureHeader *header)
{
	if (build->meta->shape.k != 0)
	{
		index_check_shape(build->index, &build->meta->shape, header);
		return;
	}
	finish_segment(build);
	build->meta->shape = index_shape(build->index, header);
}

static void
build_callback(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive,
			   void *state)
{
	Build *build = state;
	ItemPointerData entry = *tid;
	MemoryContext before = MemoryContextSwitchTo(build->each);
	Signature signature = {{0}};

	if (isnull[0])
		tid_add_flags(&entry, TID_NULL);
	else
	{
		signature = index_signature(index, values[0]);
		if (signature.header.flags & SIGNATURE_EMPTY)
			tid_add_flags(&entry, TID_EMPTY);
	}
	MemoryContextSwitchTo(before);
	if (!isnull[0])
		check_shape(build, &signature.header);
	add_document(build, &entry, signature.symbols);
	build->tuples++;
	MemoryContextReset(build->each);
}

/* ---- The whole ---------------------------------------------------------- */

/* Eight bytes a document while it is grouped, four more for each column. */
static uint32
documents_for_memory(void)
{
	Size documents = (Size) maintenance_work_mem * 1024 / (3 * sizeof(uint32));

	return (uint32) Max(1 << 16, Min(documents, SEGMENT_DOCUMENTS_MAX));
}

static void
claim_meta_block(Relation index)
{
	Buffer buffer = compat_extend(index);

	if (BufferGetBlockNumber(buffer) != META_BLOCK)
		elog(ERROR, "index \"%s\" is not empty", RelationGetRelationName(index));
	UnlockReleaseBuffer(buffer);
}

static void
write_meta(Build *build)
{
	Buffer buffer = ReadBuffer(build->index, META_BLOCK);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), build->meta_page.data, BLCKSZ);
	MarkBufferDirty(buffer);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

IndexBuildResult *
neardup_build(Relation heap, Relation index, IndexInfo *info)
{
	Build build = {.index = index, .documents_max = documents_for_memory()};
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));

	meta_init(build.meta_page.data);
	build.meta = page_meta(build.meta_page.data);
	build.each = AllocSetContextCreate(CurrentMemoryContext, "neardup build", ALLOCSET_SMALL_SIZES);
	claim_meta_block(index);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_DOCUMENTS);
	result->heap_tuples =
		table_index_build_scan(heap, index, info, true, true, build_callback, &build, NULL);
	finish_segment(&build);
	write_meta(&build);
	if (RelationNeedsWAL(index))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_WAL);
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
	}
	result->index_tuples = build.tuples;
	MemoryContextDelete(build.each);
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
