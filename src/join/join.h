/*
 * join.h: all pairs of signatures within a distance, in memory, by the grouping
 * rule of grouping.h: groups with radii t_g, the sum of t_g + 1 above the distance,
 * so that every pair is within the radius of one group at least (c = 1).
 *
 * Group by group, both sides are sorted by bucket, and buckets that lie within
 * the radius of each other are compared, run against run.  A pair is handed out
 * in the first group that finds it, so nothing needs to be remembered.
 */
#ifndef NEARDUP_JOIN_JOIN_H
#define NEARDUP_JOIN_JOIN_H

#include "grouping/grouping.h"

/* Bytes from one document to the next, at the least: symbols, and zeroes up to a whole word. */
#define JOIN_STRIDE(k, b) ((SYMBOL_BYTES(k, b) + 7) / 8 * 8)

typedef struct JoinSide
{
	const uint8_t *packed; /* aligned to 8 bytes */
	uint32_t documents;
} JoinSide;

/*
 * A pair: a is a document of left; b one of right, or of left with b > a where
 * pairs are sought within it.  False ends the join.
 */
typedef bool (*JoinEmit)(void *state, uint32_t a, uint32_t b, int distance);

/* Another of so many groups is done. */
typedef void (*JoinProgress)(void *state, int done, int groups);

/* The group to join next, -1 for none; that which was given before is done. */
typedef int (*JoinNext)(void *next_state);

/* Pairs that were looked at; those of every group that met them. */
typedef struct JoinStats
{
	uint64_t met;      /* in buckets within the radius: their first words were compared */
	uint64_t compared; /* as a whole, since their first words are near enough */
} JoinStats;

typedef struct SymbolJoin
{
	int k;
	int b;
	int h;         /* largest distance */
	size_t stride; /* bytes, a multiple of 8 */
	double recall; /* 1: every pair */
	JoinSide left;
	JoinSide right; /* packed NULL: pairs within left */
	JoinEmit emit;
	JoinProgress progress; /* or NULL */
	void *state;           /* of both */
	JoinNext next;         /* NULL: all groups, one after the other */
	void *next_state;
	JoinStats *stats; /* added to after each group; or NULL */
} SymbolJoin;

/* ---- Plans (join_plan.c) ------------------------------------------------ */

typedef struct JoinPlan
{
	Grouping grouping;
	int groups;   /* of them that are used; 0: everything is compared */
	int radius;   /* t of each ... */
	int one_more; /* ... the first so many t + 1 */
	double recall;
	double cost; /* nanoseconds, roughly */
} JoinPlan;

static inline int
join_radius(const JoinPlan *plan, int group)
{
	return plan->radius + (group < plan->one_more);
}

/* Words of a document that are sorted along with it, and compared first. */
#define JOIN_LEAD_WORDS 8

static inline int
join_lead_words(int k, int b)
{
	size_t words = JOIN_STRIDE(k, b) / 8;

	if (words > JOIN_LEAD_WORDS)
		return JOIN_LEAD_WORDS;
	return (int) (words == 1 ? 1 : (words + 1) / 2 * 2);
}

/*
 * The cheapest plan.  A recall below 1 allows for plans whose groups are too
 * few or too narrow: where the symbols that differ are placed at random, a
 * pair at distance h is found with that probability at least, a nearer one
 * more likely.  (The numbers of differing symbols in disjoint groups are
 * negatively associated, so the chance that all exceed their radii is at most
 * the product of the chances; Joag-Dev and Proschan 1983.)
 */
extern JoinPlan join_plan(const SymbolJoin *join);

/* ---- The join ----------------------------------------------------------- */

/* Hand out every pair once, by its plan.  Was it done to the end? */
extern bool join_run(const SymbolJoin *join, const JoinPlan *plan);

/* Bytes that a join takes for each document besides its own. */
extern size_t join_bytes(int k, int b);

#endif
