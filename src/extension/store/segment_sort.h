/*
 * segment_sort.h: a counting sort of a segment's documents by their buckets.
 */
#ifndef NEARDUP_STORE_SEGMENT_SORT_H
#define NEARDUP_STORE_SEGMENT_SORT_H

#include "store/segment_write.h"

/* The documents of a segment in the order of their buckets, group by group. */
typedef struct GroupSort
{
	SegmentWriter *writer;
	Grouping grouping;
	uint32 numbers;   /* documents have numbers below this */
	int at_once;      /* groups that memory suffices for, at least one */
	int first;        /* the first of the groups whose buckets are read */
	int count;        /* the number of these groups */
	uint32 from;      /* the first bucket of the first group that is read */
	uint32 end;       /* the bucket behind the first group's last; others are read whole */
	uint32 *bucket;   /* the buckets of each document in these groups */
	uint32 *offset;   /* the position of each bucket of the group sorted last, and the end */
	uint32 *document; /* the documents of the group sorted last, in the order of buckets */
	struct SetPostings *sets; /* the postings of each of these groups of sets; else NULL */
	Size room; /* postings that memory suffices for; of sets, in each of these groups */
} GroupSort;

/* Returns the first bucket of a group that is read. */
static inline uint32
group_sort_from(const GroupSort *sort, int group)
{
	return group == sort->first ? sort->from : 0;
}

/* Returns the first bucket of a group that is not read. */
static inline uint32
group_sort_end_of(const GroupSort *sort, int group)
{
	return group == sort->first ? sort->end :
								  UINT32_C(1) << group_bucket_bits(&sort->grouping, group);
}

/* The bucket of a document without postings. */
#define NO_BUCKET PG_UINT32_MAX

extern bool document_has_posting(const Grouping *g, int group, uint16 flags);
extern uint32 document_bucket(const Grouping *g, int group, const uint8_t *symbols, uint32 stride);
extern Size group_sort_memory(uint32 numbers, const Grouping *grouping, int at_once);
extern GroupSort *group_sort_begin(SegmentWriter *writer);
extern Buffer group_sort_page(SegmentWriter *writer, uint32 number);
extern bool group_sort_read(GroupSort *sort, int first, int count, uint32 from);
extern bool group_sort_counting(GroupSort *sort, int group, const uint32 *bucket,
								const uint32 *document, Size n);
extern bool group_sort_run(GroupSort *sort, int group);
extern void group_sort_lengths(const GroupSort *sort, int group, BucketLengths *lengths);
extern void group_sort_end(GroupSort *sort);

#endif
