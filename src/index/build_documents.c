/*
 * build_documents.c: the first half of a build: scan the table, write pages of documents.
 *
 * Each participant adds its full pages to the end of the index.  A page's block number says
 * which segment it belongs to.  Only the last page of a participant is not full; the leader
 * makes full pages of these.
 */
#include "index/build.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* ---- Pages -------------------------------------------------------------- */

/* Counts the documents of the page at hand in its segment; returns the segment's owner. */
static uint32
count_documents(Build *build, BlockNumber block)
{
	/* The blocks of a segment's documents follow each other, and there are so many of them. */
	uint32 pages = Max(1, build->shared->documents_max / documents_per_page(build->stride));
	uint32 number = (block - META_BLOCK - 1) / pages;
	uint32 count = page_info(build->page.data)->count;
	uint32 grouped = 0;
	BuildSegment *segment = &build->shared->segment[number];

	if (number >= SEGMENTS_MAX - 1)
		segments_too_many(build->index, &build->shape, build->shared->memory);
	for (uint32 i = 0; i < count; i++)
		grouped += !tid_flags(page_tid(build->page.data, i));
	SpinLockAcquire(&build->shared->mutex);
	segment->root.documents += count;
	segment->root.grouped += grouped;
	segment->root.document_pages++;
	build->shared->segments = Max(build->shared->segments, number + 1);
	SpinLockRelease(&build->shared->mutex);
	return number + 1;
}

/* Writes the page at hand to the end of the index. */
static void
write_page(Build *build)
{
	Buffer buffer = compat_extend(build->index);

	page_info(build->page.data)->owner = count_documents(build, BufferGetBlockNumber(buffer));
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), build->page.data, BLCKSZ);
	MarkBufferDirty(buffer);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	page_init(build->page.data, PAGE_DOCUMENTS, 0);
	CHECK_FOR_INTERRUPTS();
}

/* Adds a document to the page at hand, and writes the page when it is full. */
static void
put_document(Build *build, const ItemPointerData *tid, const uint8_t *symbols)
{
	page_put_document(build->page.data, build->stride, tid, symbols,
					  signature_symbol_bytes(&build->shape));
	if (page_info(build->page.data)->count == documents_per_page(build->stride))
		write_page(build);
}

/* ---- Shape -------------------------------------------------------------- */

static void
adopt_shape(Build *build, const SignatureHeader *shape)
{
	build->shape = *shape;
	build->stride = document_stride(shape);
}

/* Returns whether any participant has met a signature; if so, adopts the shape. */
static bool
shape_is_known(Build *build)
{
	SignatureHeader shape;

	if (build->shape.k != 0)
		return true;
	SpinLockAcquire(&build->shared->mutex);
	shape = build->shared->shape;
	SpinLockRelease(&build->shared->mutex);
	adopt_shape(build, &shape);
	return shape.k != 0;
}

/* Compares a signature's shape with the index's, which the first signature fixes. */
static void
check_shape(Build *build, const SignatureHeader *header)
{
	if (!shape_is_known(build))
	{
		SignatureHeader shape = index_shape(build->index, header);
		uint32 most = segment_documents_max(build->index, &shape, build->shared->memory);

		SpinLockAcquire(&build->shared->mutex);
		if (build->shared->shape.k == 0)
		{
			build->shared->shape = shape;
			build->shared->documents_max = most;
		}
		shape = build->shared->shape;
		SpinLockRelease(&build->shared->mutex);
		adopt_shape(build, &shape);
	}
	index_check_shape(build->index, &build->shape, header);
}

/* ---- Scanning ----------------------------------------------------------- */

/*
 * Adds a NULL.  Before the first signature the size of a document is not known; until then
 * the TIDs of NULLs go to a temporary file.
 */
static void
add_null(Build *build, ItemPointerData *tid)
{
	tid_add_flags(tid, TID_NULL);
	if (shape_is_known(build))
	{
		put_document(build, tid, NULL);
		return;
	}
	if (build->nulls == NULL)
		build->nulls = BufFileCreateTemp(false);
	BufFileWrite(build->nulls, tid, sizeof(ItemPointerData));
}

static void
add_signature(Build *build, ItemPointerData *tid, Datum value)
{
	MemoryContext before = MemoryContextSwitchTo(build->row_context);
	Signature signature = index_signature(build->index, value);

	if (signature.header.flags & SIGNATURE_EMPTY)
		tid_add_flags(tid, TID_EMPTY);
	MemoryContextSwitchTo(before);
	check_shape(build, &signature.header);
	put_document(build, tid, signature.symbols);
	MemoryContextReset(build->row_context);
}

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *state)
{
	Build *build = state;
	ItemPointerData entry = *tid;

	if (isnull[0])
		add_null(build, &entry);
	else
		add_signature(build, &entry, values[0]);
	build->documents++;
}

void
build_scan(Build *build)
{
	BuildShared *shared = build->shared;
	TableScanDesc scan = NULL;
	double tuples;

	if (build->scan != NULL)
		scan = table_beginscan_parallel(build->heap, build->scan);
	build->row_context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup build", ALLOCSET_SMALL_SIZES);
	page_init(build->page.data, PAGE_DOCUMENTS, 0);
	tuples = table_index_build_scan(build->heap, build->index, build->info, true,
									build_leads(build), add_row, build, scan);
	SpinLockAcquire(&shared->mutex);
	shared->heap_tuples += tuples;
	shared->documents += build->documents;
	shared->broken_hot_chain |= build->info->ii_BrokenHotChain;
	SpinLockRelease(&shared->mutex);
	MemoryContextDelete(build->row_context);
}

/* ---- Last pages --------------------------------------------------------- */

void
build_finish_scan(Build *build)
{
	ItemPointerData tid;

	adopt_shape(build, &build->shared->shape);
	if (build->nulls != NULL)
	{
		if (BufFileSeek(build->nulls, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
		while (BufFileRead(build->nulls, &tid, sizeof(tid)) == sizeof(tid))
			put_document(build, &tid, NULL);
		BufFileClose(build->nulls);
	}
	memcpy(build->shared->last_page[build->number].data, build->page.data, BLCKSZ);
}

void
build_write_last_pages(Build *build)
{
	for (int i = 1; i < build->shared->participants; i++)
	{
		Page page = build->shared->last_page[i].data;

		for (uint32 d = 0; d < page_info(page)->count; d++)
			put_document(build, page_tid(page, d), page_symbols(page, build->stride, d));
	}
	if (page_info(build->page.data)->count > 0)
		write_page(build);
}
