/*
 * join_compare.h: the state of a join of signatures, and comparisons of the documents of a group.
 */
#ifndef NEARDUP_JOIN_JOIN_COMPARE_H
#define NEARDUP_JOIN_JOIN_COMPARE_H

#include "join/join.h"
#include "join/prefixes.h"

/* Pairs that are collected before they are compared as a whole. */
#define HITS 256

/* A side, sorted by the buckets of a group. */
typedef struct Sorted
{
	const JoinSide *side;
	uint32_t count;     /* of the documents that are sorted */
	bool sifted;        /* these are not all */
	uint32_t *document; /* their numbers, ascending, if the side may be sifted; else NULL */
	uint32_t *bucket;   /* the bucket of each; if lone ones come last, twice that, and 1 for them */
	uint32_t *order;    /* document numbers in bucket order; NULL: all in turn */
	uint32_t *offset;   /* of each bucket in order, or half a bucket, and of the end */
	uint32_t *used;     /* buckets that hold documents, ascending */
	uint32_t *tile;     /* where each tile starts in used, and the end */
	uint64_t *prefix;   /* shape.words of each document, in bucket order */
} Sorted;

/* The state of a join, which goes from group to group. */
typedef struct JoinPass
{
	const SymbolJoin *join;
	JoinPlan plan;
	PrefixShape shape;
	JoinPrefix *group_prefix; /* the prefixes of each group */
	int group;                /* or part, if the plan has no groups */
	Sorted left;
	Sorted right;
	const Sorted *other; /* right, or left itself */
	int bits;            /* of a bucket's number, without the bits of a slice */
	int tile_bits;       /* low bits of a bucket's number, which differ within a tile */
	int halves;          /* 1 if buckets have halves, the second of lone documents; else 0 */
	size_t steps;        /* comparisons since the last check for interrupts */
	JoinStats stats;     /* of this group */
	uint64_t *met; /* a bit for each bucket near one of the smaller side; NULL: none is sifted */
	bool stopped;  /* by the caller */
	int hits;
	uint32_t hit[HITS][2]; /* places in bucket order */
} JoinPass;

/* Documents [first, end) of each side, in bucket order. */
typedef struct Range
{
	uint32_t first;
	uint32_t end;
} Range;

extern void compare_tiles(JoinPass *pass, const uint32_t *masks, int count);
extern void compare_ranges(JoinPass *pass, Range left, Range right, bool same);
extern void flush_hits(JoinPass *pass);

#endif
