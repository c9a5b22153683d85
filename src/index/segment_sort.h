/*
 * segment_sort.h: the documents of a segment in the order of their buckets, group by
 * group.
 */
#ifndef NEARDUP_INDEX_SEGMENT_SORT_H
#define NEARDUP_INDEX_SEGMENT_SORT_H

#include "index/segment.h"

/* Where the documents to be sorted lie. */
typedef struct SortSource
{
	Relation index;
	const SegmentRoot *root;
	uint32 owner;
	Grouping grouping;
	BlockNumber first;      /* of consecutive blocks, ... */
	const BlockNumber *map; /* ... unless they are listed here */
	Upkeep *upkeep;         /* that it is part of, or NULL */
} SortSource;

typedef struct GroupSort
{
	SortSource source;
	int at_once;     /* groups that the memory suffices for, at least one */
	int first;       /* the groups whose buckets are read */
	uint32 *bucket;  /* a column of documents for each of them */
	uint32 *offset;  /* of the group sorted last: of each bucket, and the end */
	uint8 *postings; /* its documents, as pages have them */
} GroupSort;

/* Bytes that it takes to sort so many groups at once. */
extern Size sort_memory(const SegmentRoot *root, const Grouping *grouping, int at_once);

extern GroupSort *sort_begin(const SortSource *source, Size memory);

/*
 * Read the buckets of groups first ..., at most at_once.  False where upkeep is to
 * give way.
 */
extern bool sort_read(GroupSort *sort, int first, int count);

/* Sort one of those groups: sets offset and postings.  False as sort_read. */
extern bool sort_group(GroupSort *sort, int group);

extern void sort_end(GroupSort *sort);

#endif
