/*
 * sets.h: all pairs of similar bags, exactly.  No pages, no SQL.
 *
 * The matcher of SpotSigs (Theobald, Siddharth, Paepcke, SIGIR 2008): bags
 * are partitioned by length so that only neighbouring partitions can hold a
 * pair, met through inverted lists, the rarest first, and given up by
 * the difference of their lengths and by the frequency already passed.  The
 * lists hold only the rarest elements of each bag, and the frequency passed
 * counts on both sides, as in PPJoin (Xiao et al., WWW 2008).  No pair is lost.
 */
#ifndef NEARDUP_JOIN_SETS_H
#define NEARDUP_JOIN_SETS_H

#include "sketch/bag.h"

/*
 * A pair: a is the number of a bag in left; b of one in right, or in left with
 * b > a where pairs are sought within it.
 */
typedef void (*SetPairSink)(void *state, uint32_t a, uint32_t b, double similarity);

typedef struct SetJoin
{
	const Bag *left;
	uint32_t left_count;
	const Bag *right; /* NULL: pairs within left */
	uint32_t right_count;
	double threshold; /* above 0, at most 1 */
	bool weighted;    /* bag_weighted_resemblance; or else bag_resemblance */
	SetPairSink sink;
	void *state; /* of sink */
} SetJoin;

/*
 * What is being done; true of the past at any time while the join runs.  Of
 * all pairs of bags done so far, length + frequency + compared met in a list;
 * the others were never looked at.
 */
typedef struct SetJoinStats
{
	uint64_t bags;       /* done, of left_count + right_count */
	uint64_t partitions; /* that hold bags */
	uint64_t hits;       /* entries read from lists */
	uint64_t length;     /* pairs given up by the difference of their lengths */
	uint64_t frequency;  /* pairs given up by the frequency already passed */
	uint64_t compared;   /* pairs of which elements were compared */
	uint64_t pairs;      /* handed to sink */
} SetJoinStats;

/*
 * Hand every pair whose similarity (the very number that the function of
 * bag.h gives) is at least the threshold to sink, once, in an order that
 * depends on the bags alone.  An empty bag is in no pair.  All bags must stay
 * in memory; about 80 bytes for each of their elements are taken besides.
 *
 * n equal bags are n (n - 1) / 2 pairs: whoever wants fewer collapses them
 * first.  False, and nothing done, where the bags have more than UINT32_MAX
 * elements that occur in two of them, or there are as many bags.
 */
extern bool set_join(const SetJoin *join, SetJoinStats *stats);

/*
 * Where the partition ends that starts at a length: the least length above it
 * such that no bag of that length is similar to one of start (definition 3 of
 * the paper).  UINT64_MAX where there is none.
 */
extern uint64_t set_partition_end(uint64_t start, double threshold);

/* The least that bags of these lengths must share to reach the threshold; 0 for none. */
extern uint64_t set_overlap_needed(uint64_t length_x, uint64_t length_y, double threshold);

#endif
