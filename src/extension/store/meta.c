/*
 * meta.c: the metapage: read it, change it.
 *
 * A change locks the page, checks it, and works on the copy in a WAL record.
 */
#include "store/segment.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/hash.h"

/* ---- Checks ------------------------------------------------------------- */

/* Returns whether signatures of a shape fit on a page. */
static bool
shape_is_valid(const IndexMeta *meta)
{
	const SignatureHeader *shape = &meta->shape;

	if (shape_is_set(shape) && (shape->k != SET_SYMBOLS || signature_bits(shape) != 1))
		return false;
	return shape->version == RECIPE_VERSION &&
		minhash_shape_is_valid(shape->k, signature_bits(shape)) &&
		documents_per_page(meta_stride(meta)) > 0;
}

/* Returns whether a tail has the index's stride, or that of NULLs before the first signature. */
static bool
tail_is_valid(const IndexMeta *meta, const TailEntry *tail)
{
	if (tail->stamp == 0)
		return tail->pages == 0;
	return tail->stamp < meta->next_stamp && tail->pages > 0 &&
		(tail->stride == stride_of_nulls(meta->keys) || tail->stride == meta_stride(meta));
}

/* Returns whether a mean length of buckets is a number that documents allow. */
static bool
length_is_valid(float length, uint32 documents)
{
	return length >= 0 && length <= (float) documents;
}

static bool
entry_is_valid(const IndexMeta *meta, const SegmentEntry *entry)
{
	return entry->stamp != 0 && entry->stamp < meta->next_stamp &&
		entry->documents <= SEGMENT_NUMBERS_MAX &&
		(uint64) entry->grouped + entry->empty + entry->nulls <= entry->documents &&
		entry->dead <= entry->documents && entry->groups <= GROUPS_MAX &&
		entry->first_stamp <= entry->last_stamp && entry->last_stamp < meta->next_stamp &&
		length_is_valid(entry->own_length, entry->grouped) &&
		length_is_valid(entry->near_length,
						shape_is_set(&meta->shape) ? PG_UINT32_MAX : entry->grouped);
}

/* Checks the numbers that are used as bounds. */
static void
check_contents(Relation index, const IndexMeta *meta)
{
	if (meta->keys != index_keys(index))
		page_corrupt(index, META_BLOCK, "another number of columns than the index has");
	if (meta->shape.k != 0 && !shape_is_valid(meta))
		page_corrupt(index, META_BLOCK, "impossible shape of signatures");
	if (!tail_is_valid(meta, &meta->tail) || !tail_is_valid(meta, &meta->closed))
		page_corrupt(index, META_BLOCK, "impossible tail");
	for (uint32 i = 0; i < meta->segments; i++)
		if (!entry_is_valid(meta, &meta->segment[i]))
			page_corrupt(index, META_BLOCK, "impossible segment");
}

/* Reports an error unless a page is a sound metapage. */
static void
meta_check(Relation index, Page page)
{
	IndexMeta *meta = page_meta(page);
	PageInfo *info = page_info(page);

	if (info->stamp == INDEX_MAGIC && info->next != INDEX_LAYOUT)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has layout %u, but this version of neardup reads layout %u",
						RelationGetRelationName(index), info->next, INDEX_LAYOUT),
				 errhint("Rebuild the index with REINDEX.")));
	if (info->stamp != INDEX_MAGIC || !page_is_ours(page) || info->kind != PAGE_META)
		page_corrupt(index, META_BLOCK, "not the metapage of a neardup index");
	if (meta->segments > SEGMENTS_MAX)
		page_corrupt(index, META_BLOCK, "more segments than fit");
	if (((PageHeader) page)->pd_lower != BLCKSZ || ((PageHeader) page)->pd_upper != BLCKSZ)
		page_corrupt(index, META_BLOCK, "header of another length");
	check_contents(index, meta);
}

/* ---- Reading ------------------------------------------------------------ */

/*
 * Reads the metapage for a search: reports an error if it has changed and the snapshot
 * (which may be NULL) is too old.
 */
IndexMeta *
meta_read_as_of(Relation index, Snapshot snapshot)
{
	Buffer buffer = ReadBuffer(index, META_BLOCK);
	Page page;
	IndexMeta *copy;
	Size size;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	compat_test_old_snapshot(snapshot, index, page);
	meta_check(index, page);
	size = offsetof(IndexMeta, segment) + page_meta(page)->segments * sizeof(SegmentEntry);
	copy = palloc(size);
	memcpy(copy, page_meta(page), size);
	UnlockReleaseBuffer(buffer);
	return copy;
}

/* Returns a checked copy of the metapage, in the caller's memory context. */
IndexMeta *
meta_read(Relation index)
{
	return meta_read_as_of(index, NULL);
}

/* Returns the entry of a segment, or NULL if it is not listed. */
SegmentEntry *
meta_segment(const IndexMeta *meta, uint32 stamp)
{
	for (uint32 i = 0; i < meta->segments; i++)
		if (meta->segment[i].stamp == stamp)
			return (SegmentEntry *) &meta->segment[i];
	return NULL;
}

/* Returns whether a metapage lists a segment or tail, or it is being written. */
bool
meta_lists(const IndexMeta *meta, uint32 stamp)
{
	if (stamp == meta->tail.stamp || stamp == meta->closed.stamp)
		return stamp != 0;
	/* While segments are being written, all numbers from the first of them on are taken. */
	if (meta->writing != 0 && stamp >= meta->writing)
		return true;
	return meta_segment(meta, stamp) != NULL;
}

/*
 * Returns whether a page of documents with this stamp may be part of what a metapage lists:
 * of a tail, or of a segment, which may hold pages of former tails and segments.
 */
bool
meta_may_hold(const IndexMeta *meta, uint32 stamp)
{
	for (uint32 i = 0; i < meta->segments; i++)
		if (stamp >= meta->segment[i].first_stamp && stamp <= meta->segment[i].last_stamp)
			return true;
	return meta_lists(meta, stamp);
}

/* ---- Changing ----------------------------------------------------------- */

/* Locks the metapage exclusively and checks it. */
MetaChange
meta_begin(Relation index)
{
	MetaChange change;

	change.buffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(change.buffer, BUFFER_LOCK_EXCLUSIVE);
	meta_check(index, BufferGetPage(change.buffer));
	change.state = GenericXLogStart(index);
	change.meta = page_meta(GenericXLogRegisterBuffer(change.state, change.buffer, 0));
	return change;
}

/* Writes the change, and releases the metapage. */
void
meta_commit(MetaChange *change)
{
	GenericXLogFinish(change->state);
	UnlockReleaseBuffer(change->buffer);
}

/* Drops the change, and releases the metapage. */
void
meta_abort(MetaChange *change)
{
	GenericXLogAbort(change->state);
	UnlockReleaseBuffer(change->buffer);
}

/* Sets an entry of a tail to none. */
void
tail_entry_clear(TailEntry *tail)
{
	memset(tail, 0, sizeof(TailEntry));
	tail->first = tail->last = InvalidBlockNumber;
}

/* Sets the tail that takes the inserts to none. */
void
meta_clear_tail(IndexMeta *meta)
{
	tail_entry_clear(&meta->tail);
	meta->elements = 0;
	for (int slot = 0; slot < TAIL_SLOTS; slot++)
		meta->open[slot] = InvalidBlockNumber;
}

/* ---- New metapages ------------------------------------------------------ */

/* Returns a random number; if there is none, a number that no other index is likely to have. */
static uint64
new_identity(void)
{
	uint64 identity = mix64((uint64) GetCurrentTimestamp() ^ (uint64) MyProcPid << 48);
	uint64 random = 0;

	if (pg_strong_random(&random, sizeof(random)))
		identity ^= random;
	return identity;
}

/* Initializes a page as the metapage of an empty index, with `keys` keys. */
void
meta_init(Page page, uint32 keys)
{
	IndexMeta *meta = page_meta(page);

	page_init(page, PAGE_META, INDEX_MAGIC);
	page_info(page)->next = INDEX_LAYOUT;
	meta->identity = new_identity();
	meta->keys = keys;
	meta->next_stamp = 1;
	meta_clear_tail(meta);
	tail_entry_clear(&meta->closed);
}

/* Writes the metapage of an index that has just been built; does not log it. */
void
meta_write_built(Relation index, const SignatureHeader *shape, const SegmentEntry *segments,
				 uint32 count)
{
	Buffer buffer = ReadBuffer(index, META_BLOCK);
	IndexMeta *meta = page_meta(BufferGetPage(buffer));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	meta->shape = *shape;
	meta->next_stamp = count + 1;
	meta->changed = GetCurrentTimestamp();
	meta->segments = count;
	memcpy(meta->segment, segments, count * sizeof(SegmentEntry));
	MarkBufferDirty(buffer);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}
