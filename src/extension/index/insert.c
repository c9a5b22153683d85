/*
 * insert.c: insert a row.
 *
 * An insert appends its document to a page that the tail has open.  A backend remembers
 * these pages, so that it usually locks one page and writes one WAL record; only to open
 * another page does it need the metapage.
 */
#include "index/index.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

/* ---- WAL ---------------------------------------------------------------- */

/*
 * The WAL record of an insert is put together here, in the format of generic WAL, which
 * replays it.  GenericXLogFinish would compare the page with a copy, byte by byte, under the
 * page's lock; an insert knows what it changes.  So an insert of a 64-bit signature takes
 * 2.1 us of CPU in the index instead of 6.4 us (PostgreSQL 15, single rows in a loop on the server).
 *
 * This relies on the format of generic WAL's records, which has not changed since 9.6.  For
 * a version whose format is not known, COMPAT_GENERIC_FRAGMENTS is off.
 */
#if COMPAT_GENERIC_FRAGMENTS

/* What a generic WAL record has before each run of bytes. */
typedef struct FragmentHeader
{
	OffsetNumber offset;
	OffsetNumber length;
} FragmentHeader;

/* Adds a run of bytes of the page to the record; the header must outlive XLogInsert. */
static void
register_fragment(uint8 block, FragmentHeader *header, Page page, const void *from, Size length)
{
	header->offset = (const char *) from - (const char *) page;
	header->length = length;
	XLogRegisterBufData(block, (char *) header, sizeof(FragmentHeader));
	XLogRegisterBufData(block, (char *) from, length);
}

/* Adds the number of entries of a page, which an insert changes. */
static void
register_count(uint8 block, FragmentHeader *header, Page page)
{
	register_fragment(block, header, page, &page_info(page)->count, sizeof(uint16));
}

/*
 * Logs what page_put_document has changed, and, if there is a page of elements, what
 * page_put_elements has: the last elements.
 */
static void
log_document(Buffer buffer, uint32 stride, Buffer elements, const RowDocument *doc)
{
	Page page = BufferGetPage(buffer);
	uint32 i = page_info(page)->count - 1;
	FragmentHeader header[6];
	XLogRecPtr record;

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	register_fragment(0, &header[0], page, &((PageHeader) page)->pd_lower,
					  2 * sizeof(LocationIndex));
	register_fragment(0, &header[1], page, page_symbols(page, stride, i), stride);
	register_fragment(0, &header[2], page, page_tid(page, i), sizeof(ItemPointerData));
	register_count(0, &header[3], page);
	if (BufferIsValid(elements))
	{
		uint32 count = doc->record.count;

		page = BufferGetPage(elements);
		XLogRegisterBuffer(1, elements, REGBUF_STANDARD);
		register_fragment(1, &header[4], page, page_elements(page) + page_info(page)->count - count,
						  count * sizeof(uint64));
		register_count(1, &header[5], page);
	}
	record = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(BufferGetPage(buffer), record);
	if (BufferIsValid(elements))
		PageSetLSN(BufferGetPage(elements), record);
}

/*
 * Appends a document to an exclusively locked page that has room for it, and the elements of a set to
 * another page, unless that is invalid.
 */
void
insert_append(Relation index, Buffer buffer, uint32 stride, Buffer elements, const RowDocument *doc)
{
	START_CRIT_SECTION();
	if (BufferIsValid(elements))
	{
		page_put_elements(BufferGetPage(elements), doc->element, doc->record.count);
		MarkBufferDirty(elements);
	}
	page_put_document(BufferGetPage(buffer), stride, &doc->document);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_document(buffer, stride, elements, doc);
	END_CRIT_SECTION();
}

#else

/* Does the same, and has the pages compared. */
void
insert_append(Relation index, Buffer buffer, uint32 stride, Buffer elements, const RowDocument *doc)
{
	GenericXLogState *state = GenericXLogStart(index);

	if (BufferIsValid(elements))
		page_put_elements(GenericXLogRegisterBuffer(state, elements, 0), doc->element,
						  doc->record.count);
	page_put_document(GenericXLogRegisterBuffer(state, buffer, 0), stride, &doc->document);
	GenericXLogFinish(state);
}

#endif

/* ---- The pages that a backend remembers --------------------------------- */

/* Remembers a tail, and the page in a slot as the one to append to. */
static void
remember_tail(Relation index, const IndexMeta *meta, int slot)
{
	TailHint *hint = &index_cache(index)->tail;

	hint->stamp = meta->tail.stamp;
	hint->slot = slot;
	memcpy(hint->open, meta->open, sizeof(hint->open));
	hint->shape = meta->shape;
	RelationSetTargetBlock(index, hint->open[slot]);
}

/* Returns what this backend remembers, or NULL if that is nothing or out of date. */
static TailHint *
recall_tail(Relation index)
{
	TailHint *hint = &index_cache(index)->tail;

	return RelationGetTargetBlock(index) == InvalidBlockNumber || hint->stamp == 0 ? NULL : hint;
}

/*
 * Locks the page to append to.  If another backend has locked it, goes on to the next slot,
 * so that concurrent inserts come to use different pages; returns InvalidBuffer if no page
 * is known to be open there.
 */
static Buffer
lock_open_page(Relation index, TailHint *hint)
{
	Buffer buffer = ReadBuffer(index, hint->open[hint->slot]);

	if (ConditionalLockBuffer(buffer))
		return buffer;
	ReleaseBuffer(buffer);
	hint->slot = (hint->slot + 1) % TAIL_SLOTS;
	RelationSetTargetBlock(index, hint->open[hint->slot]);
	if (hint->open[hint->slot] == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = ReadBuffer(index, hint->open[hint->slot]);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

static bool
has_room(Page page, uint32 stamp, uint32 stride)
{
	const PageInfo *info = page_info(page);

	return page_is_ours(page) && info->stamp == stamp && info->kind == PAGE_DOCUMENTS &&
		!(info->flags & PAGE_CLOSED) && info->count < documents_per_page(stride);
}

/* Appends to a page that this backend remembers; false if it knows of none with room. */
static bool
append_to_open_page(Relation index, RowDocument *doc, TailGrowth *growth)
{
	TailHint *hint = recall_tail(index);
	Buffer buffer;
	uint32 stride;
	bool room;
	bool done = false;

	if (hint == NULL || (doc->shape.k != 0 && hint->shape.k == 0))
		return false;
	if (doc->shape.k != 0)
		index_check_shape(index, &hint->shape, &doc->shape, false);
	buffer = lock_open_page(index, hint);
	if (!BufferIsValid(buffer))
		return false;
	stride = document_stride(&hint->shape, index_keys(index));
	room = has_room(BufferGetPage(buffer), hint->stamp, stride);
	if (room)
	{
		page_check_documents(index, buffer, stride);
		done = !shape_is_set(&doc->shape) || tid_flags(&doc->document.tid) ||
			doc->placed == hint->stamp;
		if (done)
			insert_append(index, buffer, stride, InvalidBuffer, doc);
		else
			done = set_append(index, buffer, stride, doc);
	}
	UnlockReleaseBuffer(buffer);
	/* The elements need a page of their own. */
	if (room && !done)
		return set_position(index, hint->stamp, doc, growth) &&
			append_to_open_page(index, doc, growth);
	return room;
}

/* ---- Opening pages ------------------------------------------------------ */

/*
 * Extends the tail by a page, or begins a tail.  A new page becomes the first of the chain,
 * so a walk that has begun does not meet it.
 *
 * The page is allocated before the metapage is locked, since that may take a while.  If
 * meanwhile another insert has filled the slot, or the shape has become known (a tail of
 * NULLs takes no more documents then), the page is freed again.
 */
static void
extend_tail(Relation index, const IndexMeta *copy, int slot, TailGrowth *growth)
{
	Buffer added = page_allocate(index, copy);
	BlockNumber block = BufferGetBlockNumber(added);
	MetaChange change = meta_begin(index);
	IndexMeta *meta = change.meta;
	uint32 length = tail_length(meta);
	uint32 before = tail_times(meta, length, meta->elements);
	Page page;

	if (meta->tail.stamp != copy->tail.stamp || meta->open[slot] != copy->open[slot] ||
		meta->shape.k != copy->shape.k)
	{
		meta_abort(&change);
		UnlockReleaseBuffer(added);
		RecordFreeIndexPage(index, block);
		return;
	}
	if (meta->tail.stamp == 0)
	{
		meta->tail.stamp = meta->next_stamp++;
		meta->tail.last = block;
		meta->tail.stride = meta_stride(meta);
	}
	page = GenericXLogRegisterBuffer(change.state, added, GENERIC_XLOG_FULL_IMAGE);
	page_init(page, PAGE_DOCUMENTS, meta->tail.stamp);
	page_info(page)->block = block;
	page_info(page)->next = meta->tail.first;
	meta->tail.first = meta->open[slot] = block;
	meta->tail.pages++;
	if (tail_length(meta) > length)
		tail_grew(growth, before, meta);
	remember_tail(index, meta, slot);
	meta_commit(&change);
	UnlockReleaseBuffer(added);
}

/* Fixes the shape of all signatures, unless another insert has done so. */
static void
fix_shape(Relation index, const SignatureHeader *header)
{
	SignatureHeader shape = index_shape(index, header);
	MetaChange change = meta_begin(index);

	if (change.meta->shape.k != 0)
	{
		meta_abort(&change);
		return;
	}
	change.meta->shape = shape;
	meta_commit(&change);
}

/*
 * Finds an open page in the metapage, or opens one; the caller then tries again.  Returns
 * false if the tail's stride is not the document's: it holds NULLs from before the first
 * signature, and must be sealed first.
 */
static bool
find_open_page(Relation index, const RowDocument *doc, TailGrowth *growth)
{
	int slot = index_cache(index)->tail.slot;
	IndexMeta *meta = meta_read(index);
	bool fits;

	if (doc->shape.k != 0 && meta->shape.k == 0)
	{
		pfree(meta);
		fix_shape(index, &doc->shape);
		meta = meta_read(index);
	}
	if (doc->shape.k != 0)
		index_check_shape(index, &meta->shape, &doc->shape, false);
	fits = meta->tail.stamp == 0 || meta->tail.stride == meta_stride(meta);
	if (fits)
	{
		const TailHint *hint = recall_tail(index);
		/* This backend has just found that the page it remembers has no room. */
		bool is_full =
			hint != NULL && hint->stamp == meta->tail.stamp && hint->open[slot] == meta->open[slot];

		if (meta->open[slot] == InvalidBlockNumber || is_full)
			extend_tail(index, meta, slot, growth);
		else
			remember_tail(index, meta, slot);
	}
	pfree(meta);
	return fits;
}

/* An insert that extends a tail of this many times its limit seals it itself. */
#define FAR_OVER 4

/*
 * An insert that extends a tail of this many times its limit waits for the maintenance lock, which
 * a slow vacuum may hold: searches scan the tail, which then takes them milliseconds.
 */
#define TOO_FAR_OVER 256

/*
 * Has the tail sealed after it was extended.  At its limit, and each time it has grown by as
 * much again, a worker is asked to seal the tail and to merge segments.  Only where there
 * are no workers does an insert merge.
 */
static void
seal_long_tail(Relation index, const TailGrowth *growth)
{
	bool background = neardup_background && !RELATION_IS_LOCAL(index);
	Maintenance maintenance = maintenance_of(index, MAINTENANCE_BY_INSERT);

	if (background)
	{
		if (growth->after > growth->before && worker_start(index))
			return;
		if (growth->after < FAR_OVER)
			return;
	}
	if (growth->after >= TOO_FAR_OVER)
		maintenance_lock(index);
	else if (!maintenance_lock_conditionally(index))
		return;
	if (background)
		maintenance_seal(&maintenance);
	else
		maintenance_run(&maintenance, false);
	maintenance_unlock(index);
}

/* Appends a document to the tail, and seals the tail if that has made it too long. */
static void
insert_document(Relation index, RowDocument *doc)
{
	TailGrowth growth = {.after = 0};

	while (!append_to_open_page(index, doc, &growth))
	{
		Maintenance maintenance = maintenance_of(index, MAINTENANCE_BY_INSERT);

		if (find_open_page(index, doc, &growth))
			continue;
		maintenance_lock(index);
		maintenance_run(&maintenance, true);
		maintenance_unlock(index);
	}
	if (growth.after > 0)
		seal_long_tail(index, &growth);
}

/*
 * aminsert: appends a row to the tail.  Returns false, since uniqueness is not checked.
 *
 * A row has a memory context, since the caller's lives as long as the statement.  An index without
 * keys uses one context for all rows, since many statements insert only one row.  A hash function
 * of a key may insert rows itself, so with keys each row has its own.
 */
bool
neardup_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid, Relation heap,
			   IndexUniqueCheck check_unique, bool index_unchanged, IndexInfo *info)
{
	static MemoryContext kept = NULL;
	bool keyed = index_keys(index) > 0;
	MemoryContext row_context = kept;
	MemoryContext before;
	RowDocument doc;

	if (keyed || kept == NULL)
		row_context = AllocSetContextCreate(keyed ? CurrentMemoryContext : TopMemoryContext,
											"neardup insert", ALLOCSET_SMALL_SIZES);
	if (!keyed)
		kept = row_context;
	before = MemoryContextSwitchTo(row_context);
	index_document(index, heap_tid, values, isnull, &doc);
	MemoryContextSwitchTo(before);
	insert_document(index, &doc);
	if (keyed)
		MemoryContextDelete(row_context);
	else
		MemoryContextReset(row_context);
	return false;
}
