/*
 * sort.h: the documents of a segment in the order of their buckets, group by
 * group.
 */
#ifndef NEARDUP_SORT_H
#define NEARDUP_SORT_H

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
} SortSource;

typedef struct GroupSort
{
	SortSource source;
	int at_once;    /* groups that the memory suffices for, at least one */
	int first;      /* the groups whose buckets are read */
	uint32 *bucket; /* a column of documents for each of them */
	uint32 *cursor;
	uint32 *sorted;
} GroupSort;

extern GroupSort *sort_begin(const SortSource *source, Size memory);

/* Read the buckets of groups first ..., at most at_once. */
extern void sort_read(GroupSort *sort, int first, int count);

/*
 * Sort one of those groups: sets the offset of each bucket, and one more at the
 * end, and returns the postings as pages have them.  They stay until the next.
 */
extern const char *sort_group(GroupSort *sort, int group, uint32 *offset);

extern void sort_end(GroupSort *sort);

/* Offsets of all groups before this one: of each bucket one, and one end. */
extern uint32 directory_offsets(const Grouping *grouping, int group);

#endif
