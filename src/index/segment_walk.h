/*
 * segment_walk.h: a segment's pages one after the other, in little memory: upkeep and vacuum
 * read each once, and have no use for what searches keep of a segment.
 */
#ifndef NEARDUP_INDEX_SEGMENT_WALK_H
#define NEARDUP_INDEX_SEGMENT_WALK_H

#include "index/segment.h"

typedef struct SegmentWalk
{
	Relation index;
	Segment segment; /* without map and directory */
	uint32 pages;    /* that the map lists */
	uint32 loaded;   /* 1 + the page of the map that is at hand, 0 for none */
	BlockNumber map[BLOCKS_PER_MAP_PAGE];
} SegmentWalk;

/* False where the root belongs to another by now. */
extern bool walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta,
					   const SegmentEntry *entry);

/* The block of a logical page; InvalidBlockNumber where the map's belongs to another. */
extern BlockNumber walk_block(SegmentWalk *walk, uint32 logical);

/* Pin, share-lock and verify a page of documents; InvalidBuffer as page_read. */
extern Buffer walk_documents(SegmentWalk *walk, uint32 logical);

extern void walk_end(SegmentWalk *walk);

#endif
