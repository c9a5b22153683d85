/*
 * tail.c: the chain of pages that takes the inserts.
 *
 * Usually an insert locks one page, one of those that the tail has open, which
 * the backend remembers.  Only to open another it needs the metapage.  Who
 * meets somebody on a page goes to the next, so that many can insert at once.
 */
#include "index/index.h"

#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "storage/smgr.h"

/* Documents that a tail may gather before it wants to be sealed. */
#define TAIL_DOCUMENTS 4096

/* Of the pages open all but one may be as good as empty. */
static uint32
full_pages(const IndexMeta *meta)
{
	uint32 open = 0;

	for (int slot = 0; slot < TAIL_SLOTS; slot++)
		open += meta->open[slot] != InvalidBlockNumber;
	return open > 1 ? meta->tail.pages - (open - 1) : meta->tail.pages;
}

static uint32
limit_of(const SignatureHeader *shape)
{
	return TAIL_DOCUMENTS / documents_per_page(document_stride(shape)) + 1;
}

bool
tail_is_due(const IndexMeta *meta)
{
	return meta->tail.owner != 0 && full_pages(meta) >= limit_of(&meta->shape);
}

/* ---- The pages that a backend appends to -------------------------------- */

typedef struct TailHint
{
	uint32 owner;
	int slot; /* the page of those open that we use */
	BlockNumber open[TAIL_SLOTS];
	SignatureHeader shape;
} TailHint;

/* What we remember, unless the file may have been cut off since. */
static TailHint *
hint_of(Relation index)
{
	TailHint *hint = index->rd_amcache;

	return RelationGetTargetBlock(index) == META_BLOCK ? hint : NULL;
}

static void
remember(Relation index, const IndexMeta *meta)
{
	TailHint *hint = index->rd_amcache;

	if (hint == NULL)
		hint = index->rd_amcache = MemoryContextAllocZero(index->rd_indexcxt, sizeof(TailHint));
	hint->owner = meta->tail.owner;
	memcpy(hint->open, meta->open, sizeof(hint->open));
	hint->shape = meta->shape;
	/* Forgotten when the file is made shorter. */
	RelationSetTargetBlock(index, META_BLOCK);
}

/* ---- Appending ---------------------------------------------------------- */

typedef struct NewDocument
{
	const SignatureHeader *shape; /* NULL for a NULL */
	const ItemPointerData *tid;
	const uint8_t *symbols;
} NewDocument;

/* How long the tail has become, and when it wants to be sealed; 0 where nothing was added. */
typedef struct TailLength
{
	uint32 pages;
	uint32 limit;
} TailLength;

static bool
has_room(Page page, uint32 owner, uint32 stride)
{
	const PageTrailer *trailer = page_trailer(page);

	return page_is_ours(page) && trailer->owner == owner && trailer->kind == PAGE_DOCUMENTS &&
		!(trailer->flags & PAGE_CLOSED) && trailer->count < documents_per_page(stride);
}

/* Our open page, exclusively locked, or the next one where somebody is on it. */
static Buffer
lock_open_page(Relation index, TailHint *hint)
{
	Buffer buffer;

	if (hint->open[hint->slot] == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = page_pin_documents(index, hint->open[hint->slot]);
	if (ConditionalLockBuffer(buffer))
		return buffer;
	ReleaseBuffer(buffer);
	hint->slot = (hint->slot + 1) % TAIL_SLOTS;
	if (hint->open[hint->slot] == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = page_pin_documents(index, hint->open[hint->slot]);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

/* Without the metapage, on a page that was open when we last looked. */
static bool
append_by_hint(Relation index, const NewDocument *doc)
{
	TailHint *hint = hint_of(index);
	Buffer buffer;
	uint32 stride;
	bool room;

	if (hint == NULL || hint->owner == 0 || (doc->shape != NULL && hint->shape.k == 0))
		return false;
	if (doc->shape != NULL)
		index_check_shape(index, &hint->shape, doc->shape);
	buffer = lock_open_page(index, hint);
	if (!BufferIsValid(buffer))
		return false;
	stride = document_stride(&hint->shape);
	room = has_room(BufferGetPage(buffer), hint->owner, stride);
	if (room)
	{
		page_verify_documents(index, buffer, stride);
		page_append_document(index, buffer, stride, doc->tid, doc->symbols,
							 doc->shape == NULL ? 0 : signature_symbol_bytes(doc->shape));
	}
	UnlockReleaseBuffer(buffer);
	return room;
}

/* ---- Opening pages ------------------------------------------------------ */

/*
 * Is nothing about our slot's page new since the copy was read?  Nor has the
 * shape become known: then a tail of NULLs takes no more.
 */
static bool
unchanged(const IndexMeta *copy, const IndexMeta *live, int slot)
{
	return live->tail.owner == copy->tail.owner && live->open[slot] == copy->open[slot] &&
		live->shape.k == copy->shape.k;
}

/* Put an empty page, which is locked, before all others of the tail. */
static void
link_page(MetaChange *change, Buffer added, int slot)
{
	BlockNumber block = BufferGetBlockNumber(added);
	IndexMeta *meta = change->meta;
	Page page = GenericXLogRegisterBuffer(change->state, added, GENERIC_XLOG_FULL_IMAGE);

	if (meta->tail.owner == 0)
	{
		meta->tail.owner = meta->next_owner++;
		meta->tail.last = block;
		meta->tail.stride = document_stride(&meta->shape);
	}
	page_init(page, PAGE_DOCUMENTS, meta->tail.owner);
	page_trailer(page)->next = meta->tail.first;
	meta->tail.first = meta->open[slot] = block;
	meta->tail.pages++;
}

/*
 * Make the tail a page longer, or begin a tail.  Who walks along the chain as it
 * was does not notice.  The page is found before the metapage is locked, for that
 * may take a while; then somebody else may have been faster.
 */
static void
add_page(Relation index, const IndexMeta *copy, int slot, TailLength *length)
{
	Buffer added = page_allocate(index, copy);
	BlockNumber block = BufferGetBlockNumber(added);
	MetaChange change = meta_begin(index);
	bool needed = unchanged(copy, change.meta, slot);

	if (needed)
	{
		uint32 before = full_pages(change.meta);

		link_page(&change, added, slot);
		/* Who opens one page more beside others has not made the tail longer. */
		length->pages = full_pages(change.meta) > before ? full_pages(change.meta) : 0;
		length->limit = limit_of(&change.meta->shape);
		remember(index, change.meta);
		meta_commit(&change);
	}
	else
		meta_abort(&change);
	UnlockReleaseBuffer(added);
	if (!needed)
		RecordFreeIndexPage(index, block);
}

/* The first signature fixes the shape of all. */
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

/* Have we seen that the page open in our slot is full? */
static bool
is_used_up(Relation index, const IndexMeta *meta, int slot)
{
	const TailHint *hint = hint_of(index);

	return hint != NULL && hint->owner == meta->tail.owner && hint->open[slot] == meta->open[slot];
}

/*
 * Learn of a page that is open, or open one; then try again.  False where the
 * tail has another stride than the document needs (it holds NULLs from before
 * the first signature) and must be sealed first.
 */
static bool
open_page(Relation index, const NewDocument *doc, TailLength *length)
{
	int slot = index->rd_amcache == NULL ? 0 : ((TailHint *) index->rd_amcache)->slot;
	IndexMeta *meta = meta_read(index);
	bool fits;

	if (doc->shape != NULL && meta->shape.k == 0)
	{
		pfree(meta);
		fix_shape(index, doc->shape);
		meta = meta_read(index);
	}
	if (doc->shape != NULL)
		index_check_shape(index, &meta->shape, doc->shape);
	fits = meta->tail.owner == 0 || meta->tail.stride == document_stride(&meta->shape);
	if (fits && (meta->open[slot] == InvalidBlockNumber || is_used_up(index, meta, slot)))
		add_page(index, meta, slot, length);
	else if (fits)
		remember(index, meta);
	pfree(meta);
	return fits;
}

/* A tail so many times over its limit is sealed by whoever makes it longer. */
#define FAR_OVER 4

/*
 * It then even waits for who is at upkeep, such as a slow vacuum: a tail of half as
 * many documents as a segment may hold.
 */
#define TOO_FAR_OVER (SEGMENT_DOCUMENTS_MAX / TAIL_DOCUMENTS / 2)

/*
 * The tail has a new page: at its limit, and at every limit's length beyond, a
 * worker is asked to seal it and to merge.  While workers can be had, no insert
 * merges.
 */
static void
keep_up(Relation index, const TailLength *length)
{
	bool alone = !neardup_background || RELATION_IS_LOCAL(index);
	Upkeep upkeep = upkeep_of(index, UPKEEP_BY_INSERT);

	if (!alone && length->pages % length->limit == 0 && worker_start(index, false))
		return;
	if (!alone && length->pages < FAR_OVER * length->limit)
		return;
	if (length->pages >= TOO_FAR_OVER * length->limit)
		upkeep_lock(index);
	else if (!upkeep_lock_conditionally(index))
		return;
	if (alone)
		upkeep_run(&upkeep, false);
	else
		upkeep_seal(&upkeep);
	upkeep_unlock(index);
}

void
tail_append(Relation index, const SignatureHeader *shape, const ItemPointerData *tid,
			const uint8_t *symbols)
{
	NewDocument doc = {shape, tid, symbols};
	TailLength length = {0, 1};

	while (!append_by_hint(index, &doc))
	{
		Upkeep upkeep = upkeep_of(index, UPKEEP_BY_INSERT);

		if (open_page(index, &doc, &length))
			continue;
		upkeep_lock(index);
		upkeep_run(&upkeep, true);
		upkeep_unlock(index);
	}
	if (length.pages >= length.limit)
		keep_up(index, &length);
}

/* ---- Reading ------------------------------------------------------------ */

/* No chain is longer than its file; in one that is long, a loop would take long. */
#define PAGES_TAKEN_ON_TRUST 1024

static void
check_length(Relation index, const TailEntry *tail)
{
	if (tail->pages > RelationGetNumberOfBlocks(index))
		page_corrupt(index, META_BLOCK, "tail longer than the index");
}

/* Pages begun since the metapage was read come before those listed. */
bool
tail_walk(Relation index, const TailEntry *tail, TailVisitor visit, void *state)
{
	BlockNumber block = tail->first;

	for (uint32 p = 0; tail->owner != 0 && p < tail->pages; p++)
	{
		Buffer buffer = page_read_documents(index, block, tail->owner);

		if (!BufferIsValid(buffer))
			return false;
		page_verify_documents(index, buffer, tail->stride);
		if ((p == tail->pages - 1) != (block == tail->last))
			page_corrupt(index, block, "chain of pages of another length than the metapage says");
		visit(state, buffer);
		block = page_trailer(BufferGetPage(buffer))->next;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		if (p == PAGES_TAKEN_ON_TRUST)
			check_length(index, tail);
	}
	return true;
}
