/*
 * maintenance_merge.c: write new segments, and list them in the place of a tail or of others.
 *
 * Nothing is changed in place.  New segments are written; they take over pages of documents
 * from the sources, or copy live documents to new pages.  One WAL record of the metapage
 * replaces the sources by the new segments.  Then the sources' other pages go to the free
 * space map.
 */
#include "index/index.h"

#include "access/xloginsert.h"
#include "storage/indexfsm.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "store/sets.h"

/* A segment that is being written, on whatever pages are free. */
typedef struct NewSegment
{
	SegmentWriter writer; /* first, so that its functions find the rest */
	Maintenance *maintenance;
	const IndexMeta *meta;
	SegmentRoot root;
	Size room;          /* bytes that writer.documents has room for */
	BlockNumber *block; /* all pages that were written */
	uint32 blocks;
	Size block_room;
	int groups_claimed;
	BlockNumber last_map;
	BucketLengths lengths;
	uint32 first_stamp; /* the first stamp of its pages of documents */
	uint32 last_stamp;
	uint32 dead;         /* documents that were dead when their page was taken */
	PGAlignedBlock page; /* the page of documents */

	/* Of sets. */
	PGAlignedBlock elements; /* the page of elements at hand */
	Size elements_room;      /* bytes that writer.elements has room for */
} NewSegment;

typedef struct Merge
{
	Maintenance *maintenance;
	Relation index;
	IndexMeta *meta;      /* the metapage with the sources */
	uint32 documents_max; /* the most documents of a segment */
	NewSegment *segment;  /* being written, or NULL */
	SegmentEntry *written;
	uint32 written_count;
	bool abandoned;      /* free all that was written, although maintenance has given way */
	uint32 stride;       /* the stride of the source that is being read */
	bool take;           /* the pages of the source become part of the new segment */
	BlockNumber to_free; /* page of a tail that has been walked over */

	/* Of sets, which are copied in the order of their sizes. */
	SizeSort *sort;   /* NULL: documents are signatures */
	uint64 *part;     /* elements that are added to it */
	SetRecord record; /* the record of the document that is written */
	ElementSource source;
	SegmentWalk elements;       /* over the pages of elements of a source */
	BlockNumber *tail_elements; /* pages of the closed tail, to be freed */
	Size tail_elements_count;
	Size tail_elements_room;
} Merge;

/* ---- New segments: pages ------------------------------------------------ */

/* Writes a page to a new or free block; returns InvalidBlockNumber if maintenance has given way. */
static BlockNumber
put_new_page(SegmentWriter *writer, Page page)
{
	NewSegment *segment = (NewSegment *) writer;
	BlockNumber block;
	Buffer buffer;

	if (segment->maintenance->gave_way)
		return InvalidBlockNumber;
	buffer = page_allocate(writer->index, segment->meta);
	block = BufferGetBlockNumber(buffer);
	if (page_info(page)->kind == PAGE_MAP)
	{
		page_info(page)->next = segment->last_map;
		segment->last_map = block;
	}
	page_info(page)->block = block;
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(writer->index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	segment->block =
		host_grow(segment->block, &segment->block_room, segment->blocks + 1, sizeof(BlockNumber));
	segment->block[segment->blocks++] = block;
	maintenance_goes_on(segment->maintenance);
	return block;
}

/* All groups, in order. */
static int
claim_next_groups(SegmentWriter *writer, int most, int *first)
{
	NewSegment *segment = (NewSegment *) writer;
	int count = Min(most, root_lists(&segment->root) - segment->groups_claimed);

	*first = segment->groups_claimed;
	segment->groups_claimed += count;
	return count;
}

static bool
writer_goes_on(SegmentWriter *writer)
{
	return maintenance_goes_on(((NewSegment *) writer)->maintenance);
}

/* ---- New segments: documents -------------------------------------------- */

/*
 * Returns the number of a segment to be written.  Until all segments of a merge are written,
 * the pages of the first number and of all after it are not free.
 */
static uint32
claim_stamp(Relation index)
{
	MetaChange change = meta_begin(index);
	uint32 stamp = change.meta->next_stamp++;

	if (change.meta->writing == 0)
		change.meta->writing = stamp;
	meta_commit(&change);
	return stamp;
}

/* Makes the pages of segments being written free. */
static void
forget_written(Relation index)
{
	MetaChange change = meta_begin(index);

	change.meta->writing = 0;
	meta_commit(&change);
}

/* Begins a segment with a number of its own. */
static NewSegment *
merge_begin_segment(const Merge *merge)
{
	NewSegment *segment = palloc0(sizeof(NewSegment));

	segment->maintenance = merge->maintenance;
	segment->meta = merge->meta;
	segment->root.stride = meta_stride(merge->meta);
	segment->writer = (SegmentWriter){.index = merge->index,
									  .shape = &merge->meta->shape,
									  .root = &segment->root,
									  .stamp = claim_stamp(merge->index),
									  .put_page = put_new_page,
									  .claim_groups = claim_next_groups,
									  .goes_on = writer_goes_on};
	segment->last_map = InvalidBlockNumber;
	segment->first_stamp = PG_UINT32_MAX;
	page_init(segment->page.data, PAGE_DOCUMENTS, segment->writer.stamp);
	page_init(segment->elements.data, PAGE_ELEMENTS, segment->writer.stamp);
	return segment;
}

/*
 * Adds a page of this stamp to the pages of the segment's documents.  The entry has the stamp, or
 * the size of the page's first set.
 */
static void
list_documents(NewSegment *segment, MapEntry entry, uint32 stamp)
{
	SegmentWriter *writer = &segment->writer;

	writer->documents = host_grow(writer->documents, &segment->room,
								  segment->root.document_pages + 1, sizeof(MapEntry));
	writer->documents[segment->root.document_pages++] = entry;
	segment->first_stamp = Min(segment->first_stamp, stamp);
	segment->last_stamp = Max(segment->last_stamp, stamp);
}

/* Writes the page of documents at hand. */
static void
write_documents(NewSegment *segment)
{
	uint32 stamp = segment->writer.stamp;
	MapEntry entry =
		documents_entry(segment->writer.shape, segment->page.data, segment->root.stride);

	entry.block = put_new_page(&segment->writer, segment->page.data);
	if (entry.block != InvalidBlockNumber)
		list_documents(segment, entry, stamp);
	page_init(segment->page.data, PAGE_DOCUMENTS, stamp);
}

/* Writes the page of elements at hand of a NewSegment. */
static void
merge_write_elements(void *state)
{
	NewSegment *segment = state;
	SegmentWriter *writer = &segment->writer;
	BlockNumber block = put_new_page(writer, segment->elements.data);

	writer->elements = host_grow(writer->elements, &segment->elements_room,
								 segment->root.element_pages + 1, sizeof(MapEntry));
	if (block != InvalidBlockNumber)
		writer->elements[segment->root.element_pages++] = (MapEntry){.block = block};
	page_init(segment->elements.data, PAGE_ELEMENTS, writer->stamp);
}

/* Completes the segment that is being written, unless maintenance gives way. */
static void
merge_finish_segment(Merge *merge)
{
	NewSegment *segment = merge->segment;
	SegmentWriter *writer = &segment->writer;
	SegmentEntry entry;

	if (page_info(segment->page.data)->count > 0)
		write_documents(segment);
	if (page_info(segment->elements.data)->count > 0)
		merge_write_elements(segment);
	if (merge->maintenance->gave_way)
		return;
	segment_lay_out(merge->index, writer->shape, &segment->root);
	writer->memory =
		merge->sort != NULL ? merge->maintenance->memory / 2 : merge->maintenance->memory;
	if (root_lists(&segment->root) > 0 && !segment_write_groups(writer, &segment->lengths))
		return;
	entry = segment_write_root(writer, segment->last_map, &segment->lengths);
	if (merge->maintenance->gave_way)
		return;
	if (merge->written_count == SEGMENTS_MAX)
		segments_too_many(merge->index, &merge->meta->shape, merge->maintenance->memory);
	entry.first_stamp = segment->first_stamp;
	entry.last_stamp = segment->last_stamp;
	entry.dead = segment->dead;
	merge->written[merge->written_count++] = entry;
	pfree(writer->documents);
	pfree(segment->block);
	pfree(segment);
	merge->segment = NULL;
}

/*
 * Returns the segment being written, with room for another page of documents besides the one at
 * hand.  Completes the one before if that is full; returns NULL if maintenance has given way.
 */
static NewSegment *
segment_with_room(Merge *merge)
{
	NewSegment *segment = merge->segment;

	if (segment != NULL &&
		root_numbers(&segment->root) + UINT64_C(2) * documents_per_page(segment->root.stride) >
			merge->documents_max &&
		segment->root.document_pages > 0)
		merge_finish_segment(merge);
	if (merge->maintenance->gave_way)
		return NULL;
	if (merge->segment == NULL)
		merge->segment = merge_begin_segment(merge);
	return merge->segment;
}

/* Copies a document to the segment being written. */
static void
add_document(Merge *merge, const Document *document)
{
	NewSegment *segment = merge->segment;

	if (segment == NULL || page_info(segment->page.data)->count == 0)
		segment = segment_with_room(merge);
	if (segment == NULL)
		return;
	page_put_document(segment->page.data, segment->root.stride, document);
	root_count(&segment->root, tid_flags(&document->tid));
	if (page_info(segment->page.data)->count == documents_per_page(segment->root.stride))
		write_documents(segment);
}

/* Adds a part of a document of an index of sets, larger than those before it or as large. */
static void
add_part(Merge *merge, const SortedPart *part)
{
	Document document = part->document;

	if (part->from == 0)
	{
		if (merge->segment == NULL || page_info(merge->segment->page.data)->count == 0)
			segment_with_room(merge);
		if (merge->maintenance->gave_way)
			return;
	}
	if (!elements_put(&merge->segment->root, merge->segment->elements.data, part, &merge->record,
					  merge_write_elements, merge->segment))
		return;
	document.symbols = (const uint8_t *) &merge->record;
	add_document(merge, &document);
}

/* Adds the documents that were sorted. */
static void
merge_add_sorted(Merge *merge)
{
	SortedPart part;

	size_sort_perform(merge->sort);
	while (size_sort_get(merge->sort, &part) && !merge->maintenance->gave_way)
	{
		add_part(merge, &part);
		CHECK_FOR_INTERRUPTS();
	}
	size_sort_end(merge->sort);
}

/* ---- Sources ------------------------------------------------------------ */

/* Returns whether the tail's pages become part of the new segment. */
static bool
takes_tail(const Merge *merge)
{
	return merge->sort == NULL && merge->meta->closed.stride == meta_stride(merge->meta);
}

/* Returns whether pages of a segment are taken over; those of NULLs alone may have another stride. */
static bool
takes_segment(const Merge *merge, const SegmentEntry *entry)
{
	return merge->sort == NULL && entry->grouped > 0;
}

/*
 * Notes the page of a tail where the elements of a set begin, to be freed.  Further pages of a
 * large set are left to vacuum.
 */
static void
note_tail_elements(Merge *merge, BlockNumber block)
{
	Size count = merge->tail_elements_count;

	if (count > 0 && merge->tail_elements[count - 1] == block)
		return;
	merge->tail_elements =
		host_grow(merge->tail_elements, &merge->tail_elements_room, count + 1, sizeof(BlockNumber));
	merge->tail_elements[merge->tail_elements_count++] = block;
}

/* Adds a document of an index of sets to those that are sorted. */
static void
sort_document(Merge *merge, const Document *document)
{
	SortedPart part = {.document = *document, .element = merge->part};
	SetRecord rest = {.count = 0};

	if (tid_flags(&document->tid) != 0)
	{
		size_sort_put(merge->sort, &part);
		return;
	}
	memcpy(&rest, document->symbols, sizeof(rest));
	if (merge->source.walk == NULL)
		note_tail_elements(merge, rest.page);
	while (rest.count > 0)
	{
		part.count = elements_part(&merge->source, &rest, merge->part);
		if (part.count == 0)
			maintenance_replaced(merge->index, merge->source.stamp);
		size_sort_put(merge->sort, &part);
		part.from += part.count;
	}
}

/*
 * Adds the live documents of a share-locked page to the new segment.  Works on a copy of the
 * page, and holds no lock meanwhile.
 */
static void
copy_documents(Merge *merge, Buffer buffer)
{
	PGAlignedBlock page;
	size_t bytes = signature_symbol_bytes(&merge->meta->shape);

	memcpy(page.data, BufferGetPage(buffer), BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	for (uint32 i = 0; i < page_info(page.data)->count; i++)
	{
		Document document = page_document(page.data, merge->stride, merge->meta->keys, bytes, i);

		if (tid_flags(&document.tid) & TID_DEAD)
			continue;
		if (merge->sort != NULL)
			sort_document(merge, &document);
		else
			add_document(merge, &document);
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Closes a page of the closed tail: backends that remember it must not append to it any more. */
static void
close_page(Relation index, Buffer buffer)
{
	GenericXLogState *state;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	page_info(GenericXLogRegisterBuffer(state, buffer, 0))->flags |= PAGE_CLOSED;
	GenericXLogFinish(state);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Makes a share-locked page with these documents part of the segment being written. */
static void
take_page(Merge *merge, Buffer buffer, const SegmentRoot *counted)
{
	uint32 stamp = page_info(BufferGetPage(buffer))->stamp;
	MapEntry entry = {.number = stamp, .block = BufferGetBlockNumber(buffer)};
	NewSegment *segment;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	segment = segment_with_room(merge);
	if (segment != NULL)
	{
		root_add(&segment->root, counted);
		segment->dead += counted->documents - root_keyed(counted);
		list_documents(segment, entry, stamp);
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/*
 * Adds the documents of a share-locked page to the new segment.  The page becomes part of it,
 * unless more than a third of the page is dead or empty.  Then at most two documents are copied for
 * each that is dead or missing.  So a merge writes no segment that is dead (see segment_is_dead).
 */
static void
add_page(Merge *merge, Buffer buffer)
{
	Page page = BufferGetPage(buffer);
	SegmentRoot counted = {.documents = 0};

	for (uint32 i = 0; i < page_info(page)->count; i++)
		root_count(&counted, tid_flags(page_tid(page, i)));
	if (merge->take && root_keyed(&counted) * 3 >= documents_per_page(merge->stride) * 2)
		take_page(merge, buffer, &counted);
	else
		copy_documents(merge, buffer);
}

static void
add_tail_page(void *state, Buffer buffer)
{
	Merge *merge = state;

	if (merge->maintenance->gave_way)
		return;
	if (page_info(BufferGetPage(buffer))->count < documents_per_page(merge->stride))
		close_page(merge->index, buffer);
	add_page(merge, buffer);
}

/* Adds the documents of the closed tail. */
static void
add_tail(Merge *merge, const TailEntry *tail)
{
	merge->stride = tail->stride;
	merge->take = takes_tail(merge);
	merge->source = (ElementSource){.index = merge->index, .stamp = tail->stamp};
	if (!tail_walk(merge->index, tail, add_tail_page, merge))
		maintenance_replaced(merge->index, tail->stamp);
}

/* Adds the documents of a segment. */
static void
add_segment(Merge *merge, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, merge->index, merge->meta, entry))
		maintenance_replaced(merge->index, entry->stamp);
	merge->stride = walk.segment.root.stride;
	merge->take = takes_segment(merge, entry);
	if (merge->sort != NULL)
	{
		merge->source = (ElementSource){.index = merge->index, .stamp = entry->stamp};
		merge->source.walk = &merge->elements;
		if (!walk_begin(&merge->elements, merge->index, merge->meta, entry))
			maintenance_replaced(merge->index, entry->stamp);
	}
	for (uint32 p = 0; p < walk.segment.root.document_pages && segment_live(entry) > 0; p++)
	{
		Buffer buffer = walk_documents(&walk, p);

		if (!BufferIsValid(buffer))
			maintenance_replaced(merge->index, entry->stamp);
		add_page(merge, buffer);
		UnlockReleaseBuffer(buffer);
		if (!maintenance_goes_on(merge->maintenance))
			break;
	}
	walk_end(&walk);
	if (merge->sort != NULL)
		walk_end(&merge->elements);
}

/* ---- Free pages --------------------------------------------------------- */

/*
 * Frees the pages of a segment, but not pages of documents that were taken.  Where a map is
 * in use again already, the other pages are left to vacuum.
 */
static void
free_segment(Merge *merge, const SegmentEntry *entry, bool taken)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, merge->index, merge->meta, entry))
		return;
	for (uint32 map = 0; map < root_maps(&walk.segment.root); map++)
	{
		bool keeps_pages = taken && map < walk.segment.root.document_maps;

		if ((!maintenance_goes_on(merge->maintenance) && !merge->abandoned) ||
			!walk_load(&walk, map))
			break;
		for (uint32 i = 0; i < walk.count && !keeps_pages; i++)
			RecordFreeIndexPage(merge->index, walk.entry[i].block);
		RecordFreeIndexPage(merge->index, walk.segment.list[map].block);
	}
	for (uint32 p = 0; p < root_pages(&walk.segment.root); p++)
		RecordFreeIndexPage(merge->index, walk.segment.root_page[p]);
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
free_sources(Merge *merge, const MergeSources *sources)
{
	const TailEntry *tail = &merge->meta->closed;

	merge->to_free = InvalidBlockNumber;
	if (sources->closed && !takes_tail(merge) &&
		tail_walk(merge->index, tail, free_tail_page, merge))
		RecordFreeIndexPage(merge->index, tail->last);
	for (Size i = 0; i < merge->tail_elements_count; i++)
		RecordFreeIndexPage(merge->index, merge->tail_elements[i]);
	for (int i = 0; i < sources->count; i++)
	{
		const SegmentEntry *entry = meta_segment(merge->meta, sources->stamp[i]);

		free_segment(merge, entry, takes_segment(merge, entry));
	}
}

/* ---- Merging ------------------------------------------------------------ */

/* Replaces the sources by the new segments in the metapage, in one WAL record. */
static void
publish(Merge *merge, const MergeSources *sources)
{
	MetaChange change;
	IndexMeta *meta;

	if (merge->meta->segments - sources->count + merge->written_count > SEGMENTS_MAX)
		segments_too_many(merge->index, &merge->meta->shape, merge->maintenance->memory);
	change = meta_begin(merge->index);
	meta = change.meta;
	for (int i = 0; i < sources->count; i++)
	{
		SegmentEntry *entry = meta_segment(meta, sources->stamp[i]);

		if (entry != NULL)
			*entry = meta->segment[--meta->segments];
	}
	if (sources->closed)
		tail_entry_clear(&meta->closed);
	meta->writing = 0;
	meta->changed = GetCurrentTimestamp();
	for (uint32 i = 0; i < merge->written_count; i++)
		meta->segment[meta->segments++] = merge->written[i];
	meta_commit(&change);
}

/* Leaves the index as it was, and frees the pages that were written. */
static void
abandon(Merge *merge)
{
	NewSegment *segment = merge->segment;

	merge->abandoned = true;
	forget_written(merge->index);
	for (uint32 p = 0; segment != NULL && p < segment->blocks; p++)
		RecordFreeIndexPage(merge->index, segment->block[p]);
	for (uint32 i = 0; i < merge->written_count; i++)
	{
		const SegmentEntry *entry = &merge->written[i];

		free_segment(merge, entry, entry->first_stamp != entry->stamp);
	}
}

/*
 * Returns a copy of the metapage.  Segments whose writing an error has interrupted are no
 * longer listed as being written.
 */
IndexMeta *
maintenance_meta_read(Relation index)
{
	IndexMeta *meta = meta_read(index);

	if (meta->writing == 0)
		return meta;
	pfree(meta);
	forget_written(index);
	return meta_read(index);
}

/*
 * Replaces the sources by one segment with their live documents, or as few as possible.
 * Pages of documents become part of the new segment as they are, unless a third of a page is
 * dead (see add_page).  Sets are always copied.  Returns false if maintenance gives way; then nothing
 * has changed.
 */
bool
merge_sources(Maintenance *maintenance, const MergeSources *sources)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	Merge merge = {.maintenance = maintenance,
				   .index = maintenance->index,
				   .meta = maintenance_meta_read(maintenance->index)};
	bool complete;

	merge.documents_max = merged_documents_max(maintenance, merge.meta);
	merge.written = palloc(SEGMENTS_MAX * sizeof(SegmentEntry));
	if (shape_is_set(&merge.meta->shape))
	{
		/* The other half is for the postings of segments that are written meanwhile. */
		merge.sort = size_sort_begin(maintenance->memory / 2, NULL);
		merge.part = palloc(PART_ELEMENTS * sizeof(uint64));
	}
	if (sources->closed)
		add_tail(&merge, &merge.meta->closed);
	for (int i = 0; i < sources->count && !maintenance->gave_way; i++)
		add_segment(&merge, meta_segment(merge.meta, sources->stamp[i]));
	if (merge.sort != NULL && !maintenance->gave_way)
		merge_add_sorted(&merge);
	if (merge.segment != NULL && !maintenance->gave_way)
		merge_finish_segment(&merge);
	complete = !maintenance->gave_way;
	if (complete)
	{
		publish(&merge, sources);
		free_sources(&merge, sources);
	}
	else
		abandon(&merge);
	IndexFreeSpaceMapVacuum(maintenance->index);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return complete;
}
