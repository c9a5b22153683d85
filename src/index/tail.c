/*
 * tail.c: the chain of pages that takes the inserts.
 *
 * Usually an insert locks one page, the last of the tail, which the backend
 * remembers.  Only a new page needs the metapage.  Lock order: metapage, last
 * page, new page.
 */
#include "index/index.h"

#include "miscadmin.h"
#include "storage/smgr.h"

/* Documents that a tail may gather before it wants to be sealed. */
#define TAIL_DOCUMENTS 4096

uint32
tail_limit(const SignatureHeader *shape)
{
	return TAIL_DOCUMENTS / documents_per_page(document_stride(shape)) + 1;
}

/* ---- The page that a backend appends to --------------------------------- */

typedef struct TailHint
{
	uint32 owner;
	BlockNumber block;
	SignatureHeader shape;
} TailHint;

static void
remember(Relation index, const IndexMeta *meta)
{
	TailHint *hint = index->rd_amcache;

	if (hint == NULL)
		hint = index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(TailHint));
	hint->owner = meta->tail.owner;
	hint->block = meta->tail.last;
	hint->shape = meta->shape;
	/* Forgotten where the file shrinks, as the block then may not be there. */
	RelationSetTargetBlock(index, hint->block);
}

/* How long the tail is, in pages, and when it wants to be sealed. */
typedef struct TailLength
{
	uint32 pages;
	uint32 limit;
} TailLength;

/* ---- Appending ---------------------------------------------------------- */

typedef struct NewDocument
{
	const SignatureHeader *shape; /* NULL for a NULL */
	const ItemPointerData *tid;
	const uint8_t *symbols;
} NewDocument;

static bool
is_of_tail(Page page, uint32 owner)
{
	const PageTrailer *trailer = page_trailer(page);

	return page_is_ours(page) && trailer->owner == owner && trailer->kind == PAGE_DOCUMENTS;
}

static bool
has_room(Page page, uint32 owner, uint32 stride)
{
	const PageTrailer *trailer = page_trailer(page);

	return is_of_tail(page, owner) && !(trailer->flags & PAGE_CLOSED) &&
		trailer->count < documents_per_page(stride);
}

static void
put_document(Page page, uint32 stride, const NewDocument *doc)
{
	page_put_document(page, stride, doc->tid, doc->symbols,
					  doc->shape == NULL ? 0 : signature_symbol_bytes(doc->shape));
}

/* Append to a page where it is the tail's and has room. */
static bool
append_to_page(Relation index, BlockNumber block, uint32 owner, uint32 stride,
			   const NewDocument *doc)
{
	Buffer buffer = ReadBuffer(index, block);
	bool room;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	room = has_room(BufferGetPage(buffer), owner, stride);
	if (room)
		page_check_documents(index, buffer, stride);
	if (room)
	{
		GenericXLogState *state = GenericXLogStart(index);

		put_document(GenericXLogRegisterBuffer(state, buffer, 0), stride, doc);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(buffer);
	return room;
}

/* Without the metapage, on the page that was last when we last looked. */
static bool
append_by_hint(Relation index, const NewDocument *doc)
{
	const TailHint *hint = index->rd_amcache;

	if (hint == NULL || hint->owner == 0 || RelationGetTargetBlock(index) != hint->block ||
		(doc->shape != NULL && hint->shape.k == 0))
		return false;
	if (doc->shape != NULL)
		index_check_shape(index, &hint->shape, doc->shape);
	return append_to_page(index, hint->block, hint->owner, document_stride(&hint->shape), doc);
}

/* Put the document on a new page at the end of the tail; all is locked. */
static void
append_page(Relation index, Buffer meta_buffer, const NewDocument *doc)
{
	IndexMeta *live = page_meta(BufferGetPage(meta_buffer));
	Buffer last = InvalidBuffer;
	Buffer added;
	GenericXLogState *state;
	IndexMeta *meta;
	Page page;

	if (live->tail.owner != 0)
	{
		last = ReadBuffer(index, live->tail.last);
		LockBuffer(last, BUFFER_LOCK_EXCLUSIVE);
		if (!is_of_tail(BufferGetPage(last), live->tail.owner))
			page_corrupt(index, live->tail.last, "the tail's last page belongs to another");
	}
	added = page_allocate(index, live);
	state = GenericXLogStart(index);
	meta = page_meta(GenericXLogRegisterBuffer(state, meta_buffer, 0));
	if (meta->tail.owner == 0)
	{
		meta->tail.owner = meta->next_owner++;
		meta->tail.first = BufferGetBlockNumber(added);
		meta->tail.stride = document_stride(&meta->shape);
	}
	else
		page_trailer(GenericXLogRegisterBuffer(state, last, 0))->next = BufferGetBlockNumber(added);
	meta->tail.last = BufferGetBlockNumber(added);
	meta->tail.pages++;
	meta_seal(meta);
	page = GenericXLogRegisterBuffer(state, added, GENERIC_XLOG_FULL_IMAGE);
	page_init(page, PAGE_DOCUMENTS, meta->tail.owner);
	put_document(page, meta->tail.stride, doc);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(added);
	if (BufferIsValid(last))
		UnlockReleaseBuffer(last);
}

/* The first signature fixes the shape of all; later ones must be like it. */
static void
fix_shape(Relation index, Buffer meta_buffer, const SignatureHeader *header)
{
	IndexMeta *meta = page_meta(BufferGetPage(meta_buffer));
	SignatureHeader shape;
	GenericXLogState *state;

	if (meta->shape.k != 0)
	{
		index_check_shape(index, &meta->shape, header);
		return;
	}
	shape = index_shape(index, header);
	state = GenericXLogStart(index);
	meta = page_meta(GenericXLogRegisterBuffer(state, meta_buffer, 0));
	meta->shape = shape;
	meta_seal(meta);
	GenericXLogFinish(state);
}

/*
 * Append with the metapage locked.  False where the tail has another stride
 * than the document needs (it holds NULLs from before the first signature) and
 * must be sealed first.  *length is the tail's afterwards.
 */
static bool
append_with_meta(Relation index, const NewDocument *doc, TailLength *length)
{
	Buffer buffer = ReadBuffer(index, META_BLOCK);
	IndexMeta *meta;
	bool fits;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	meta_check(index, BufferGetPage(buffer));
	meta = page_meta(BufferGetPage(buffer));
	if (doc->shape != NULL)
		fix_shape(index, buffer, doc->shape);
	fits = meta->tail.owner == 0 || meta->tail.stride == document_stride(&meta->shape);
	if (fits &&
		(meta->tail.owner == 0 ||
		 !append_to_page(index, meta->tail.last, meta->tail.owner, meta->tail.stride, doc)))
		append_page(index, buffer, doc);
	if (fits)
		remember(index, meta);
	length->pages = meta->tail.pages;
	length->limit = tail_limit(&meta->shape);
	UnlockReleaseBuffer(buffer);
	return fits;
}

/* A tail so many times over its limit is sealed by whoever makes it longer. */
#define FAR_OVER 4

/*
 * The tail has a new page: at its limit, and at every limit's length beyond, a
 * worker is asked to seal it.
 */
static void
keep_up(Relation index, const TailLength *length)
{
	if (neardup_background && !RELATION_IS_LOCAL(index) && length->pages < FAR_OVER * length->limit)
	{
		if (length->pages % length->limit == 0)
			worker_start(index, false);
		return;
	}
	if (upkeep_lock_conditionally(index))
	{
		upkeep_run(index, false);
		upkeep_unlock(index);
	}
}

void
tail_append(Relation index, const SignatureHeader *shape, const ItemPointerData *tid,
			const uint8_t *symbols)
{
	NewDocument doc = {shape, tid, symbols};
	TailLength length = {0, 1};

	if (append_by_hint(index, &doc))
		return;
	while (!append_with_meta(index, &doc, &length))
	{
		upkeep_lock(index);
		upkeep_run(index, true);
		upkeep_unlock(index);
	}
	if (length.pages >= length.limit)
		keep_up(index, &length);
}

/* ---- Reading ------------------------------------------------------------ */

/* Pages that follow those listed were begun since the metapage was read. */
bool
tail_walk(Relation index, const TailEntry *tail, TailVisitor visit, void *state)
{
	BlockNumber block = tail->first;

	for (uint32 p = 0; tail->owner != 0 && p < tail->pages; p++)
	{
		Buffer buffer = page_read(index, block, PAGE_DOCUMENTS, tail->owner);

		if (!BufferIsValid(buffer))
			return false;
		page_check_documents(index, buffer, tail->stride);
		if ((p == tail->pages - 1) != (block == tail->last))
			page_corrupt(index, block, "chain of pages of another length than the metapage says");
		visit(state, buffer);
		block = page_trailer(BufferGetPage(buffer))->next;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}
