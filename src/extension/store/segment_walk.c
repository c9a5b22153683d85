/*
 * segment_walk.c: walks over a segment's pages in little memory.
 */
#include "store/segment_read.h"

/* Begins a walk; reads the root. */
bool
walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	memset(&walk->segment, 0, sizeof(Segment));
	walk->index = index;
	walk->loaded = 0;
	return segment_load_root(index, meta, entry, &walk->segment);
}

/* Frees what walk_begin has allocated. */
void
walk_end(SegmentWalk *walk)
{
	pfree(walk->segment.list);
	pfree(walk->segment.root_page);
}

/* Loads a map, by its number in the root's list. */
bool
walk_load(SegmentWalk *walk, uint32 map)
{
	Buffer buffer;

	if (walk->loaded == map + 1)
		return true;
	walk->loaded = 0;
	buffer = segment_read_map(walk->index, &walk->segment, map);
	if (!BufferIsValid(buffer))
		return false;
	walk->count = page_info(BufferGetPage(buffer))->count;
	memcpy(walk->entry, page_map(BufferGetPage(buffer)), walk->count * sizeof(MapEntry));
	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	walk->loaded = map + 1;
	return true;
}

/* Pins, share-locks and checks a page of documents, or of elements, whose numbers come next. */
Buffer
walk_documents(SegmentWalk *walk, uint32 page)
{
	const Segment *segment = &walk->segment;
	PageKind kind = page < segment->root.document_pages ? PAGE_DOCUMENTS : PAGE_ELEMENTS;
	Buffer recent = InvalidBuffer;
	Buffer buffer;
	MapEntry entry;

	if (!walk_load(walk, page / ENTRIES_PER_MAP))
		return InvalidBuffer;
	entry = walk->entry[page % ENTRIES_PER_MAP];
	buffer =
		page_read_recent(walk->index, entry.block, kind,
						 segment->sets ? segment->stamp : entry.number, segment->stamp, &recent);
	if (BufferIsValid(buffer))
		page_check_documents(walk->index, buffer, segment->root.stride);
	return buffer;
}

/* Pins, share-locks and checks a page of elements of sets. */
Buffer
walk_elements(SegmentWalk *walk, uint32 page)
{
	const Segment *segment = &walk->segment;

	if (page >= segment->root.element_pages)
		page_corrupt(walk->index, segment->root_block, "set on a page that does not exist");
	return walk_documents(walk, segment->root.document_pages + page);
}
