/*
 * upkeep_merge.c: write new segments, and list them in the place of a tail or of others.
 *
 * Nothing is changed in place.  The live documents of the sources are written to new
 * segments, and one WAL record of the metapage replaces the sources by these.  Then the
 * sources' pages go to the free space map.
 */
#include "index/index.h"

#include "access/xloginsert.h"
#include "storage/indexfsm.h"
#include "utils/memutils.h"

/* A segment that is being written, on whatever pages are free. */
typedef struct NewSegment
{
	SegmentWriter writer; /* first, so that its functions find the rest */
	Upkeep *upkeep;
	const IndexMeta *meta;
	SegmentRoot root;
	BlockNumber *block; /* of each page; InvalidBlockNumber until it is written */
	uint32 room;        /* of block */
	int groups_claimed;
	PGAlignedBlock page; /* of documents */
} NewSegment;

typedef struct Merge
{
	Upkeep *upkeep;
	Relation index;
	IndexMeta *meta;      /* the metapage with the sources */
	uint32 documents_max; /* of a segment */
	NewSegment *segment;  /* being written, or NULL */
	SegmentEntry *written;
	uint32 written_count;
	uint32 stride;       /* of the source that is being read */
	BlockNumber to_free; /* page of a tail that has been walked over */
} Merge;

/* ---- New segments: pages ------------------------------------------------ */

/* Writes a page to a new or free block, unless upkeep has given way. */
static void
put_new_page(SegmentWriter *writer, uint32 number, Page page)
{
	NewSegment *segment = (NewSegment *) writer;
	Buffer buffer;

	if (segment->upkeep->gave_way)
		return;
	buffer = page_allocate(writer->index, segment->meta);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(writer->index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	segment->block[number] = BufferGetBlockNumber(buffer);
	UnlockReleaseBuffer(buffer);
	upkeep_goes_on(segment->upkeep);
}

static BlockNumber
block_of_new_page(const SegmentWriter *writer, uint32 number)
{
	return ((const NewSegment *) writer)->block[number];
}

/* Makes room for the blocks of so many pages. */
static void
reserve_blocks(NewSegment *segment, uint32 room)
{
	segment->block = segment->block == NULL ?
		palloc(room * sizeof(BlockNumber)) :
		repalloc_huge(segment->block, room * sizeof(BlockNumber));
	for (uint32 p = segment->room; p < room; p++)
		segment->block[p] = InvalidBlockNumber;
	segment->room = room;
}

/* All groups, in order. */
static int
claim_next_groups(SegmentWriter *writer, int most, int *first)
{
	NewSegment *segment = (NewSegment *) writer;
	int count = Min(most, segment->root.groups - segment->groups_claimed);

	*first = segment->groups_claimed;
	segment->groups_claimed += count;
	return count;
}

static bool
writer_goes_on(SegmentWriter *writer)
{
	return upkeep_goes_on(((NewSegment *) writer)->upkeep);
}

/* ---- New segments: documents -------------------------------------------- */

/*
 * Returns the number of a segment to be written.  Until all segments of a merge are written,
 * the pages of the first number and of all after it are not free.
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

/* Makes the pages of segments being written free. */
static void
disown_written(Relation index)
{
	MetaChange change = meta_begin(index);

	change.meta->writing = 0;
	meta_commit(&change);
}

/* Begins a segment with a number of its own. */
static NewSegment *
begin_segment(const Merge *merge)
{
	NewSegment *segment = palloc0(sizeof(NewSegment));

	segment->upkeep = merge->upkeep;
	segment->meta = merge->meta;
	segment->root.stride = document_stride(&merge->meta->shape);
	segment->writer = (SegmentWriter){.index = merge->index,
									  .shape = &merge->meta->shape,
									  .root = &segment->root,
									  .owner = claim_owner(merge->index),
									  .put_page = put_new_page,
									  .block_of = block_of_new_page,
									  .claim_groups = claim_next_groups,
									  .goes_on = writer_goes_on};
	reserve_blocks(segment, 64);
	page_init(segment->page.data, PAGE_DOCUMENTS, segment->writer.owner);
	return segment;
}

/* Writes the page of documents at hand. */
static void
write_documents(NewSegment *segment)
{
	if (segment->root.document_pages == segment->room)
		reserve_blocks(segment, 2 * segment->room);
	put_new_page(&segment->writer, segment->root.document_pages++, segment->page.data);
	page_init(segment->page.data, PAGE_DOCUMENTS, segment->writer.owner);
}

/* Completes the segment that is being written, unless upkeep gives way. */
static void
finish_segment(Merge *merge)
{
	NewSegment *segment = merge->segment;
	SegmentWriter *writer = &segment->writer;
	Size map_bytes;

	if (page_trailer(segment->page.data)->count > 0)
		write_documents(segment);
	segment_lay_out(merge->index, writer->shape, &segment->root);
	reserve_blocks(segment, segment_root_page(&segment->root) + 1);
	map_bytes = segment->room * sizeof(BlockNumber);
	writer->memory = merge->upkeep->memory - Min(map_bytes, merge->upkeep->memory);
	if (segment->root.groups > 0)
		segment_write_groups(writer);
	segment_write_root(writer);
	if (merge->upkeep->gave_way)
		return;
	if (merge->written_count == SEGMENTS_MAX)
		segments_too_many(merge->index, &merge->meta->shape, merge->upkeep->memory);
	merge->written[merge->written_count++] = segment_entry(writer);
	pfree(segment->block);
	pfree(segment);
	merge->segment = NULL;
}

/* Adds a document to the segment being written; begins another if that is full. */
static void
add_document(Merge *merge, const ItemPointerData *tid, const uint8_t *symbols)
{
	NewSegment *segment;

	if (merge->segment != NULL && merge->segment->root.documents >= merge->documents_max)
		finish_segment(merge);
	if (merge->upkeep->gave_way)
		return;
	if (merge->segment == NULL)
		merge->segment = begin_segment(merge);
	segment = merge->segment;
	page_put_document(segment->page.data, segment->root.stride, tid, symbols,
					  signature_symbol_bytes(&merge->meta->shape));
	segment->root.grouped += !tid_flags(tid);
	segment->root.documents++;
	if (page_trailer(segment->page.data)->count == documents_per_page(segment->root.stride))
		write_documents(segment);
}

/* ---- Sources ------------------------------------------------------------ */

/*
 * Adds the live documents of a share-locked page to the new segment.  Works on a copy of the
 * page, and holds no lock meanwhile.
 */
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

/* Closes a page of the frozen tail: backends that remember it must not append to it any more. */
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
	copy_documents(merge, buffer);
}

/* Copies the live documents of the frozen tail. */
static void
copy_tail(Merge *merge, const TailEntry *tail)
{
	merge->stride = tail->stride;
	if (!tail_walk(merge->index, tail, copy_tail_page, merge))
		upkeep_replaced(merge->index, tail->owner);
}

/* Copies the live documents of a segment. */
static void
copy_segment(Merge *merge, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, merge->index, merge->meta, entry))
		upkeep_replaced(merge->index, entry->owner);
	merge->stride = walk.segment.root.stride;
	for (uint32 p = 0; p < walk.segment.root.document_pages && segment_live(entry) > 0; p++)
	{
		Buffer buffer = walk_documents(&walk, p);

		if (!BufferIsValid(buffer))
			upkeep_replaced(merge->index, entry->owner);
		copy_documents(merge, buffer);
		UnlockReleaseBuffer(buffer);
		if (!upkeep_goes_on(merge->upkeep))
			break;
	}
	walk_end(&walk);
}

/* ---- Free pages --------------------------------------------------------- */

/* Where a page of the map is in use again already, the other pages are left to vacuum. */
static void
free_segment(Merge *merge, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, merge->index, merge->meta, entry))
		return;
	for (uint32 p = 0; p < segment_logical_pages(&walk.segment.root); p++)
	{
		BlockNumber block;

		if (!upkeep_goes_on(merge->upkeep))
			break;
		block = walk_block(&walk, p);
		if (block == InvalidBlockNumber)
			break;
		RecordFreeIndexPage(merge->index, block);
	}
	for (uint32 p = 0; p < walk.segment.root.map_pages; p++)
		RecordFreeIndexPage(merge->index, walk.segment.map_block[p]);
	RecordFreeIndexPage(merge->index, entry->root);
	walk_end(&walk);
}

/* Frees the page before: another process may overwrite a free page's link to the next. */
static void
free_tail_page(void *state, Buffer buffer)
{
	Merge *merge = state;

	if (merge->to_free != InvalidBlockNumber)
		RecordFreeIndexPage(merge->index, merge->to_free);
	merge->to_free = BufferGetBlockNumber(buffer);
}

static void
free_tail(Merge *merge, const TailEntry *tail)
{
	merge->to_free = InvalidBlockNumber;
	if (tail_walk(merge->index, tail, free_tail_page, merge))
		RecordFreeIndexPage(merge->index, tail->last);
}

/* ---- Merging ------------------------------------------------------------ */

/* Writes the live documents of the sources; false if upkeep has given way. */
static bool
write_segments(Merge *merge, const MergeSources *sources)
{
	if (sources->frozen)
		copy_tail(merge, &merge->meta->frozen);
	for (int i = 0; i < sources->count && !merge->upkeep->gave_way; i++)
		copy_segment(merge, meta_segment(merge->meta, sources->owner[i]));
	if (merge->segment != NULL && !merge->upkeep->gave_way)
		finish_segment(merge);
	return !merge->upkeep->gave_way;
}

/* Replaces the sources by the new segments in the metapage, in one WAL record. */
static void
publish(Merge *merge, const MergeSources *sources)
{
	MetaChange change;
	IndexMeta *meta;

	if (merge->meta->segments - sources->count + merge->written_count > SEGMENTS_MAX)
		segments_too_many(merge->index, &merge->meta->shape, merge->upkeep->memory);
	change = meta_begin(merge->index);
	meta = change.meta;
	for (int i = 0; i < sources->count; i++)
	{
		SegmentEntry *entry = meta_segment(meta, sources->owner[i]);

		if (entry != NULL)
			*entry = meta->segment[--meta->segments];
	}
	if (sources->frozen)
		meta_clear_frozen(meta);
	meta->writing = 0;
	for (uint32 i = 0; i < merge->written_count; i++)
		meta->segment[meta->segments++] = merge->written[i];
	meta_commit(&change);
}

/* Leaves the index as it was, and frees the pages that were written. */
static void
abandon(Merge *merge)
{
	NewSegment *segment = merge->segment;

	disown_written(merge->index);
	for (uint32 p = 0; segment != NULL && p < segment->room; p++)
		if (segment->block[p] != InvalidBlockNumber)
			RecordFreeIndexPage(merge->index, segment->block[p]);
	for (uint32 i = 0; i < merge->written_count; i++)
		free_segment(merge, &merge->written[i]);
}

IndexMeta *
upkeep_meta_read(Relation index)
{
	IndexMeta *meta = meta_read(index);

	if (meta->writing == 0)
		return meta;
	pfree(meta);
	disown_written(index);
	return meta_read(index);
}

bool
merge_sources(Upkeep *upkeep, const MergeSources *sources)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	Merge merge = {.upkeep = upkeep,
				   .index = upkeep->index,
				   .meta = upkeep_meta_read(upkeep->index)};
	bool complete;

	merge.documents_max = merged_documents_max(upkeep, merge.meta);
	merge.written = palloc(SEGMENTS_MAX * sizeof(SegmentEntry));
	complete = write_segments(&merge, sources);
	if (complete)
	{
		publish(&merge, sources);
		if (sources->frozen)
			free_tail(&merge, &merge.meta->frozen);
		for (int i = 0; i < sources->count; i++)
			free_segment(&merge, meta_segment(merge.meta, sources->owner[i]));
	}
	else
		abandon(&merge);
	IndexFreeSpaceMapVacuum(upkeep->index);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return complete;
}
