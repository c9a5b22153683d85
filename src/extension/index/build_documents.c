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
#include "storage/lmgr.h"
#include "utils/memutils.h"

#include "store/sets.h"

/* ---- Pages -------------------------------------------------------------- */

/* Blocks that the file has beyond those that are taken: at most, and a part of it. */
#define BLOCKS_AHEAD 64
#define PART_AHEAD 512

/*
 * Makes sure that the file has a block that was taken.  With several participants, one of them
 * extends it ahead, while the others take the blocks that are left.
 */
static void
extend_file(const Build *build, BlockNumber block)
{
	BuildShared *shared = build->shared;
	BlockNumber ahead = shared->participants == 1 ? 0 : Min(BLOCKS_AHEAD, block / PART_AHEAD);

	if (block + ahead / 2 < pg_atomic_read_u32(&shared->file))
		return;
	if (block >= pg_atomic_read_u32(&shared->file))
		LockRelationForExtension(build->index, ExclusiveLock);
	else if (!ConditionalLockRelationForExtension(build->index, ExclusiveLock))
		return;
	if (block + ahead / 2 >= pg_atomic_read_u32(&shared->file))
	{
		compat_extend_to(build->index, block + 1 + ahead);
		pg_atomic_write_u32(&shared->file, block + 1 + ahead);
	}
	UnlockRelationForExtension(build->index, ExclusiveLock);
}

/*
 * Returns the next page of the index, exclusively locked.  Participants take blocks from a counter,
 * since the lock for extending a relation is too slow to be taken for each block.
 */
Buffer
build_extend(const Build *build)
{
	BlockNumber block = pg_atomic_fetch_add_u32(&build->shared->blocks, 1);

	extend_file(build, block);
	return ReadBufferExtended(build->index, MAIN_FORKNUM, block, RBM_ZERO_AND_LOCK, NULL);
}

/* Fills a new page of the index, and returns its block. */
BlockNumber
build_fill(Buffer buffer, Page page)
{
	BlockNumber block = BufferGetBlockNumber(buffer);

	page_info(page)->block = block;
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	return block;
}

/* Counts the documents of the page at hand in its segment; returns the segment's stamp. */
static uint32
count_documents(Build *build, BlockNumber block)
{
	/* The blocks of a segment's documents follow each other. */
	uint32 pages = Max(1, build->shared->documents_max / documents_per_page(build->stride));
	uint32 number = (block - META_BLOCK - 1) / pages;
	uint32 count = page_info(build->page.data)->count;
	SegmentRoot counted = {.documents = 0};
	BuildSegment *segment = &build->shared->segment[number];

	if (number >= SEGMENTS_MAX - 1)
		segments_too_many(build->index, &build->shape, build->shared->memory);
	for (uint32 i = 0; i < count; i++)
		root_count(&counted, tid_flags(page_tid(build->page.data, i)));
	SpinLockAcquire(&build->shared->mutex);
	root_add(&segment->root, &counted);
	segment->root.document_pages++;
	build->shared->segments = Max(build->shared->segments, number + 1);
	SpinLockRelease(&build->shared->mutex);
	return number + 1;
}

/* Writes the page at hand to the end of the index. */
static void
write_page(Build *build)
{
	Buffer buffer = build_extend(build);

	page_info(build->page.data)->stamp = count_documents(build, BufferGetBlockNumber(buffer));
	build_fill(buffer, build->page.data);
	page_init(build->page.data, PAGE_DOCUMENTS, 0);
}

/* Adds a document to the page at hand, and writes the page when it is full. */
static void
put_document(Build *build, const Document *document)
{
	page_put_document(build->page.data, build->stride, document);
	if (page_info(build->page.data)->count == documents_per_page(build->stride))
		write_page(build);
}

/* ---- Shape -------------------------------------------------------------- */

static void
adopt_shape(Build *build, const SignatureHeader *shape)
{
	build->shape = *shape;
	build->stride = document_stride(shape, index_keys(build->index));
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
build_check_shape(Build *build, const SignatureHeader *header)
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
	index_check_shape(build->index, &build->shape, header, true);
}

/* ---- Scanning ----------------------------------------------------------- */

/* The keys of NULLs, in the temporary file, follow their TIDs. */
static Size
bytes_of_keys(const Build *build)
{
	return index_keys(build->index) * sizeof(uint32);
}

/*
 * Adds a NULL.  Before the first signature the size of a document is not known; until then
 * NULLs go to a temporary file.
 */
static void
add_null(Build *build, const Document *document)
{
	if (shape_is_known(build))
	{
		put_document(build, document);
		return;
	}
	if (build->nulls == NULL)
	{
		MemoryContext before = MemoryContextSwitchTo(build->context);

		build->nulls = BufFileCreateTemp(false);
		MemoryContextSwitchTo(before);
	}
	BufFileWrite(build->nulls, unconstify(ItemPointerData *, &document->tid),
				 sizeof(ItemPointerData));
	BufFileWrite(build->nulls, unconstify(uint32 *, document->key), bytes_of_keys(build));
}

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *state)
{
	Build *build = state;
	MemoryContext before = MemoryContextSwitchTo(build->row_context);
	RowDocument row;

	index_document(index, tid, values, isnull, &row);
	if (row.shape.k != 0)
		build_check_shape(build, &row.shape);
	if (build->sort != NULL)
		size_sort_put_all(build->sort, &row.document, row.element);
	else if (row.shape.k == 0)
		add_null(build, &row.document);
	else
		put_document(build, &row.document);
	build->documents++;
	MemoryContextSwitchTo(before);
	MemoryContextReset(build->row_context);
}

/* Scans this participant's share of the table, and writes full pages of documents. */
void
build_scan(Build *build)
{
	BuildShared *shared = build->shared;
	TableScanDesc scan = NULL;
	double tuples;

	if (build->scan != NULL)
		scan = compat_begin_parallel_scan(build->heap, build->scan);
	build->context = CurrentMemoryContext;
	build->row_context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup build", ALLOCSET_SMALL_SIZES);
	page_init(build->page.data, PAGE_DOCUMENTS, 0);
	if (index_cache(build->index)->sets)
		set_build_begin(build);
	tuples = table_index_build_scan(build->heap, build->index, build->info, true, is_leader(build),
									add_row, build, scan);
	SpinLockAcquire(&shared->mutex);
	shared->heap_tuples += tuples;
	shared->documents += build->documents;
	shared->broken_hot_chain |= build->info->ii_BrokenHotChain;
	SpinLockRelease(&shared->mutex);
	MemoryContextDelete(build->row_context);
}

/* ---- Last pages --------------------------------------------------------- */

/*
 * Writes the NULLs that waited for the shape, and leaves the last page to the leader.  If documents
 * are sets, sorts the sets of this participant instead.
 */
void
build_finish_scan(Build *build)
{
	uint32 key[INDEX_MAX_KEYS];
	Document document = {.key = key, .keys = index_keys(build->index)};

	adopt_shape(build, &build->shared->shape);
	if (build->sort != NULL)
	{
		set_build_sort(build);
		return;
	}
	if (build->nulls != NULL)
	{
		if (BufFileSeek(build->nulls, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
		while (BufFileRead(build->nulls, &document.tid, sizeof(document.tid)) ==
				   sizeof(document.tid) &&
			   BufFileRead(build->nulls, key, bytes_of_keys(build)) == bytes_of_keys(build))
			put_document(build, &document);
		BufFileClose(build->nulls);
	}
	memcpy(build->shared->participant[build->number].last_page.data, build->page.data, BLCKSZ);
}

/* The leader writes the documents of all participants' last pages. */
void
build_write_last_pages(Build *build)
{
	size_t bytes = signature_symbol_bytes(&build->shape);

	for (int i = 1; i < build->shared->participants; i++)
	{
		Page page = build->shared->participant[i].last_page.data;

		for (uint32 d = 0; d < page_info(page)->count; d++)
		{
			Document document =
				page_document(page, build->stride, index_keys(build->index), bytes, d);

			put_document(build, &document);
		}
	}
	if (page_info(build->page.data)->count > 0)
		write_page(build);
}
