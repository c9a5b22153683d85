/*
 * join_compare.h: the state of a join of signatures, and comparisons of the documents of a group.
 */
#ifndef NEARDUP_JOIN_JOIN_COMPARE_H
#define NEARDUP_JOIN_JOIN_COMPARE_H

#include "join/join.h"
#include "join/prefixes.h"

/* The pairs that are collected before they are compared as a whole. */
#define HITS 256

/* A side, sorted by the buckets of a group. */
typedef struct Sorted
{
	const JoinSide *side;
	uint32_t count;     /* the number of documents that are sorted */
	bool sifted;        /* some documents are not sorted */
	uint32_t *document; /* the numbers of sorted documents, ascending; NULL: no side is sifted */
	uint32_t *bucket;   /* the bucket of each, and later its number */
	uint32_t *order;    /* document numbers in bucket order; NULL: all in turn */
	uint32_t *offset;   /* the position of each bucket, and the end */
	uint32_t *used;     /* buckets that hold documents, ascending */
	uint32_t *tile;     /* the start of each tile in used, and the end */
	uint64_t *prefix;   /* shape.words of each document, in bucket order */
} Sorted;

/* The state of a join, which goes from group to group. */
typedef struct JoinPass
{
	const SymbolJoin *join;
	JoinPlan plan;
	PrefixShape shape;
	JoinPrefix *group_prefix; /* the prefixes of each group */
	int group;                /* the group, or the part if the plan has no groups */
	Sorted left;
	Sorted right;
	const Sorted *other; /* right, or left itself */
	int bits;            /* bits of a bucket's number, without the bits of a slice */
	int tile_bits;       /* low bits of a bucket's number, which differ within a tile */
	size_t steps;        /* comparisons since the last check for interrupts */
	JoinStats stats;     /* the figures of this group */
	uint64_t skipped;    /* pairs of documents that are known to be connected */
	uint64_t *met; /* a bit for each bucket near one of the smaller side; NULL: none is sifted */
	uint32_t *met_before; /* the number of bits set before each word of met */
	uint32_t mets;        /* the number of bits set in met */
	bool stopped;         /* the caller has stopped the join */
	int hits;
	uint32_t hit[HITS][2]; /* positions in bucket order */
} JoinPass;

/* Documents [first, end) of each side, in bucket order. */
typedef struct Range
{
	uint32_t first;
	uint32_t end;
} Range;

/* Returns whether a bucket is met. */
static inline bool
bucket_is_met(const JoinPass *pass, size_t bucket)
{
	return (pass->met[bucket / 64] >> bucket % 64 & 1) != 0;
}

/* Returns the position of a bucket among those that are met, or the number of these if it is not met. */
static inline uint32_t
bucket_number(const JoinPass *pass, uint32_t bucket)
{
	if (pass->met == NULL)
		return bucket;
	return !bucket_is_met(pass, bucket) ? pass->mets :
										  pass->met_before[bucket / 64] +
			__builtin_popcountll(pass->met[bucket / 64] & ((UINT64_C(1) << bucket % 64) - 1));
}

extern void compare_tiles(JoinPass *pass, const uint32_t *masks, int count);
extern void compare_ranges(JoinPass *pass, Range left, Range right, bool same);
extern void flush_hits(JoinPass *pass);

#endif
