/*
 * segment_walk.c: a segment's pages one after the other, in little memory.
 */
#include "index/segment_walk.h"

bool
walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	memset(&walk->segment, 0, sizeof(Segment));
	walk->index = index;
	walk->loaded = 0;
	if (!segment_load_root(index, meta, entry, &walk->segment))
		return false;
	walk->pages = entry->pages - 1 - walk->segment.root.map_pages;
	return true;
}

void
walk_end(SegmentWalk *walk)
{
	pfree(walk->segment.map_block);
}

/* Copy a page of the map. */
static bool
load_map_page(SegmentWalk *walk, uint32 page)
{
	uint32 before = page * BLOCKS_PER_MAP_PAGE;
	uint32 count = Min(BLOCKS_PER_MAP_PAGE, walk->pages - before);

	walk->loaded = 0;
	if (!segment_load_array(walk->index, walk->segment.owner, &walk->segment.map_block[page], 1,
							PAGE_MAP, walk->map, count))
		return false;
	walk->loaded = page + 1;
	return true;
}

BlockNumber
walk_block(SegmentWalk *walk, uint32 logical)
{
	uint32 page = logical / BLOCKS_PER_MAP_PAGE;

	if (walk->loaded != page + 1 && !load_map_page(walk, page))
		return InvalidBlockNumber;
	return walk->map[logical % BLOCKS_PER_MAP_PAGE];
}

/* Documents that a logical page must have. */
static uint32
documents_on(const Segment *segment, uint32 logical)
{
	uint32 before = logical * segment->documents_per_page;

	return Min(segment->documents_per_page, segment->root.documents - before);
}

Buffer
walk_documents(SegmentWalk *walk, uint32 logical)
{
	const Segment *segment = &walk->segment;
	BlockNumber block = walk_block(walk, logical);
	Buffer buffer;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = page_read(walk->index, block, PAGE_DOCUMENTS, segment->owner);
	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	page_verify(walk->index, buffer, segment->root.stride);
	if (page_trailer(BufferGetPage(buffer))->count != documents_on(segment, logical))
		page_corrupt(walk->index, block, "wrong number of documents");
	return buffer;
}
