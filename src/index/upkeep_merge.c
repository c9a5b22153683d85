/*
 * upkeep_merge.c: new segments in the place of a tail or of others.
 *
 * Nothing is changed in place: what lives in the sources is written beside them, and
 * one metapage record puts it in their stead.  Then their pages go to the free space
 * map.
 */
#include "index/index.h"

#include "storage/indexfsm.h"
#include "utils/memutils.h"

#include "index/segment_walk.h"

/* What goes into new segments. */
typedef struct Merge
{
	Upkeep *upkeep;
	Relation index;
	IndexMeta *live;
	uint32 documents_max;  /* of a segment */
	SegmentWriter *writer; /* NULL where none is begun */
	SegmentEntry *written;
	uint32 count;       /* of those written */
	uint32 stride;      /* of the page at hand */
	BlockNumber behind; /* page of a tail that has been walked over */
} Merge;

/* ---- New segments ------------------------------------------------------- */

/*
 * A number for a segment to be written.  Until all of a merge's are there, the pages
 * of the first and of those numbered after it are taken.
 */
static uint32
claim_owner(Relation index)
{
	MetaChange change = meta_begin(index);
	uint32 owner = change.meta->next_owner++;

	if (change.meta->writing == 0)
		change.meta->writing = owner;
	meta_commit(&change);
	return owner;
}

/* What was being written is not to be: its pages are free. */
static void
disown(Relation index)
{
	MetaChange change = meta_begin(index);

	change.meta->writing = 0;
	meta_commit(&change);
}

/* Complete the segment that is being written; where upkeep gives way, it stays as it is. */
static void
finish_segment(Merge *merge)
{
	SegmentEntry entry;

	if (merge->upkeep->gave_way || !segment_finish(merge->writer, &entry))
		return;
	merge->writer = NULL;
	if (merge->count == SEGMENTS_MAX)
		upkeep_too_many_segments(merge->upkeep, merge->live);
	merge->written[merge->count++] = entry;
}

static void
add_document(Merge *merge, const ItemPointerData *tid, const uint8_t *symbols)
{
	if (merge->writer != NULL && segment_length(merge->writer) >= merge->documents_max)
		finish_segment(merge);
	if (merge->upkeep->gave_way)
		return;
	if (merge->writer == NULL)
		merge->writer = segment_begin(merge->upkeep, merge->live, claim_owner(merge->index));
	segment_add(merge->writer, tid, symbols);
}

/* ---- Sources ------------------------------------------------------------ */

/* Copy the living documents of a page; from a copy, to hold no lock meanwhile. */
static void
copy_documents(Merge *merge, Buffer buffer)
{
	PGAlignedBlock page;

	memcpy(page.data, BufferGetPage(buffer), BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	for (uint32 i = 0; i < page_trailer(page.data)->count; i++)
		if (!(tid_flags(page_tid(page.data, i)) & TID_DEAD))
			add_document(merge, page_tid(page.data, i), page_symbols(page.data, merge->stride, i));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Inserts may still have the page in mind: from now on it takes none. */
static void
close_page(Relation index, Buffer buffer)
{
	GenericXLogState *state;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	page_trailer(GenericXLogRegisterBuffer(state, buffer, 0))->flags |= PAGE_CLOSED;
	GenericXLogFinish(state);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

static void
copy_tail_page(void *state, Buffer buffer)
{
	Merge *merge = state;

	if (merge->upkeep->gave_way)
		return;
	if (page_trailer(BufferGetPage(buffer))->count < documents_per_page(merge->stride))
		close_page(merge->index, buffer);
	page_verify(merge->index, buffer, merge->stride);
	copy_documents(state, buffer);
}

static void
source_gone(Merge *merge, BlockNumber block)
{
	page_corrupt(merge->index, block, "page of a listed segment belongs to another");
}

static void
copy_tail(Merge *merge, const TailEntry *tail)
{
	merge->stride = tail->stride;
	if (!tail_walk(merge->index, tail, copy_tail_page, merge))
		source_gone(merge, tail->first);
}

static void
copy_segment(Merge *merge, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, merge->index, merge->live, entry))
		source_gone(merge, entry->root);
	merge->stride = walk.segment.root.stride;
	for (uint32 p = 0; p < walk.segment.root.document_pages && segment_living(entry) > 0; p++)
	{
		Buffer buffer = walk_documents(&walk, p);

		if (!BufferIsValid(buffer))
			source_gone(merge, page_refused());
		copy_documents(merge, buffer);
		UnlockReleaseBuffer(buffer);
		if (!upkeep_goes_on(merge->upkeep))
			break;
	}
	walk_end(&walk);
}

/* ---- Free pages --------------------------------------------------------- */

/* A hint only: where a page has been used anew already, the rest is left to vacuum. */
static void
free_segment(Merge *merge, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, merge->index, merge->live, entry))
		return;
	for (uint32 p = 0; p < walk.pages && upkeep_goes_on(merge->upkeep); p++)
	{
		BlockNumber block = walk_block(&walk, p);

		if (block == InvalidBlockNumber)
			break;
		RecordFreeIndexPage(merge->index, block);
	}
	for (uint32 p = 0; p < walk.segment.root.map_pages; p++)
		RecordFreeIndexPage(merge->index, walk.segment.map_block[p]);
	RecordFreeIndexPage(merge->index, entry->root);
	walk_end(&walk);
}

/* Of a chain the page before: whoever finds a free page changes where it leads. */
static void
free_tail_page(void *state, Buffer buffer)
{
	Merge *merge = state;

	if (merge->behind != InvalidBlockNumber)
		RecordFreeIndexPage(merge->index, merge->behind);
	merge->behind = BufferGetBlockNumber(buffer);
}

static void
free_tail(Merge *merge, const TailEntry *tail)
{
	merge->behind = InvalidBlockNumber;
	if (tail_walk(merge->index, tail, free_tail_page, merge))
		RecordFreeIndexPage(merge->index, tail->last);
}

/* ---- Replacing ---------------------------------------------------------- */

static void
remove_segment(IndexMeta *meta, uint32 owner)
{
	SegmentEntry *entry = meta_segment(meta, owner);

	if (entry != NULL)
		*entry = meta->segment[--meta->segments];
}

/* One record: the sources are out, the new segments are in. */
static void
publish(Merge *merge, const MergeSources *sources)
{
	MetaChange change;

	if (merge->live->segments - sources->count + merge->count > SEGMENTS_MAX)
		upkeep_too_many_segments(merge->upkeep, merge->live);
	change = meta_begin(merge->index);
	for (int i = 0; i < sources->count; i++)
		remove_segment(change.meta, sources->owner[i]);
	if (sources->frozen)
	{
		memset(&change.meta->frozen, 0, sizeof(TailEntry));
		change.meta->frozen.first = change.meta->frozen.last = InvalidBlockNumber;
	}
	change.meta->writing = 0;
	for (uint32 i = 0; i < merge->count; i++)
		change.meta->segment[change.meta->segments++] = merge->written[i];
	meta_commit(&change);
}

static void
free_sources(Merge *merge, const MergeSources *sources)
{
	if (sources->frozen)
		free_tail(merge, &merge->live->frozen);
	for (int i = 0; i < sources->count; i++)
		free_segment(merge, meta_segment(merge->live, sources->owner[i]));
}

/* Leave everything as it was. */
static void
abandon(Merge *merge)
{
	disown(merge->index);
	if (merge->writer != NULL)
		segment_abandon(merge->writer);
	for (uint32 i = 0; i < merge->count; i++)
		free_segment(merge, &merge->written[i]);
	ereport(DEBUG1,
			(errmsg_internal("upkeep of index \"%s\" gives way",
							 RelationGetRelationName(merge->index))));
}

IndexMeta *
upkeep_meta_read(Relation index)
{
	IndexMeta *meta = meta_read(index);

	if (meta->writing == 0)
		return meta;
	pfree(meta);
	disown(index);
	return meta_read(index);
}

static bool
write_merged(Merge *merge, const MergeSources *sources)
{
	if (sources->frozen)
		copy_tail(merge, &merge->live->frozen);
	for (int i = 0; i < sources->count && !merge->upkeep->gave_way; i++)
		copy_segment(merge, meta_segment(merge->live, sources->owner[i]));
	if (merge->writer != NULL)
		finish_segment(merge);
	return merge->writer == NULL && !merge->upkeep->gave_way;
}

bool
merge_sources(Upkeep *upkeep, const MergeSources *sources)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	Merge merge = {.upkeep = upkeep,
				   .index = upkeep->index,
				   .live = upkeep_meta_read(upkeep->index)};
	bool whole;

	merge.documents_max = merged_documents_max(upkeep, merge.live);
	merge.written = palloc(SEGMENTS_MAX * sizeof(SegmentEntry));
	whole = write_merged(&merge, sources);
	if (whole)
	{
		publish(&merge, sources);
		free_sources(&merge, sources);
	}
	else
		abandon(&merge);
	IndexFreeSpaceMapVacuum(upkeep->index);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return whole;
}
