/*
 * join.h: all pairs of signatures within a distance, in memory.
 *
 * By the grouping rule (grouping/grouping.h), if the groups have radii t_g, and the sum of
 * all t_g + 1 exceeds the distance, then every pair is within the radius in at least one
 * group (c = 1).  For each group both sides are sorted by bucket, and buckets within the
 * radius of each other are compared.  A pair is emitted by the first group that finds it,
 * so no pair needs to be remembered.
 *
 * If groups would find most pairs, all pairs are compared instead.
 */
#ifndef NEARDUP_JOIN_JOIN_H
#define NEARDUP_JOIN_JOIN_H

#include "grouping/grouping.h"
#include "join/forecast.h"
#include "join/labels.h"
#include "join/stats.h"

/* The least bytes from one document to the next: the symbols, and zeros up to a whole word. */
#define JOIN_STRIDE(k, b) ((SYMBOL_BYTES(k, b) + 7) / 8 * 8)

/* What a join needs of a document for one group. */
typedef struct JoinEntry
{
	uint32_t bucket;
	uint32_t position; /* the caller's number of the document */
	uint64_t prefix[]; /* the prefix, of join_words() words */
} JoinEntry;

typedef struct JoinSide
{
	const uint8_t *packed; /* symbols, or entries; aligned to 8 bytes */
	uint32_t documents;
	uint32_t held; /* the documents of packed, evenly chosen for a plan; 0: all documents */
} JoinSide;

/*
 * Takes a pair: a is a document of left; b is one of right, or one of left with b > a if
 * there is no right.  Returns false to end the join.  If documents are given as entries, each
 * group passes on all pairs whose prefixes are near enough, and their distance is not known.
 */
typedef bool (*JoinEmit)(void *state, uint32_t a, uint32_t b, int distance);

/* Is called when `done` of all groups or parts are done. */
typedef void (*JoinProgress)(void *state, int done, int groups);

/* Returns the group or part to join next, or -1.  Then the one that it returned before is done. */
typedef int (*JoinNext)(void *next_state);

/*
 * The part of a group that a join looks at: on each side, documents whose buckets begin with the
 * same high bits.  `next` changes it, and puts other documents on the right or on both sides.
 */
typedef struct JoinSlice
{
	int bits;        /* the number of these bits */
	uint32_t change; /* the bits by which buckets of the right differ from buckets of the left */
	uint32_t most;   /* the most documents of a side */
	bool new_left;   /* the left has other documents than before */
} JoinSlice;

typedef struct SymbolJoin
{
	int k;
	int b;
	int h;         /* the greatest distance, in symbols */
	size_t stride; /* bytes from one document to the next, a multiple of 8 */
	bool entries;  /* documents are given as entries of the group that next returns */
	bool files;    /* documents are in files, from which a pair is read to be compared as a whole */
	double recall; /* the probability of finding a pair at distance h; 1: all are found */
	JoinSide left;
	JoinSide right; /* packed is NULL: join left with itself */
	JoinEmit emit;
	JoinProgress progress; /* the function that is told the progress; NULL: none */
	Forecast *forecast;    /* what is known of the time that it takes; NULL: nobody wants to know */
	void *state;           /* the state of both functions */
	JoinNext next;         /* NULL: all groups or parts in turn */
	void *next_state;
	JoinSlice slice;   /* the slice of the group that next returns; bits is 0: all of it */
	JoinStats *stats;  /* the figures that each group or part adds to; NULL: none */
	JoinLabels labels; /* the labels of the documents of left; label is NULL if there are none */
} SymbolJoin;

/*
 * A side is sifted where it has this many times the documents of the other.  To join 4,000 signatures
 * of 512 bits with 400,000 at 0.8 then takes two fifths less time, reading and signing included.
 */
#define JOIN_SIFTED 8

/*
 * Returns whether a join in memory sifts the larger side: of each group it sorts only the documents
 * whose buckets are within the radius of a bucket of the smaller side.
 */
static inline bool
join_is_sifted(const SymbolJoin *join)
{
	uint64_t left = join->left.documents;
	uint64_t right = join->right.documents;

	return join->right.packed != NULL && !join->files && !join->entries && join->slice.bits == 0 &&
		(left > right * JOIN_SIFTED || right > left * JOIN_SIFTED);
}

/* ---- Plans (join_plan.c) ------------------------------------------------ */

/* The most words of a document's prefix, which is sorted along with it and compared first. */
#define JOIN_PREFIX_WORDS 8

/* Symbols for a prefix, those that tell most documents apart first. */
typedef struct Arrangement
{
	int symbols; /* symbols that fill a prefix, or all; 0: prefixes begin as documents do */
	uint16_t symbol[JOIN_PREFIX_WORDS * 64];
} Arrangement;

typedef struct JoinPlan
{
	Grouping grouping;
	int groups;   /* groups of the grouping that are used; 0: all pairs are compared */
	int radius;   /* t of each group, except for one_more of them */
	int one_more; /* the number of the first groups whose radius is t + 1 */
	int parts;    /* parts of the right side, joined one after the other, if there are no groups */
	int words;    /* words of the prefix that are compared first; 0: all */
	double recall;
	double cost;             /* nanoseconds, estimated */
	Arrangement arrangement; /* the arrangement, if there are no groups */
} JoinPlan;

/* Returns how many groups or parts a plan joins one after the other. */
static inline int
join_parts(const JoinPlan *plan)
{
	return plan->groups > 0 ? plan->groups : Max(plan->parts, 1);
}

/* Returns the radius of a group. */
static inline int
join_radius(const JoinPlan *plan, int group)
{
	return plan->radius + (group < plan->one_more);
}

extern JoinPlan join_plan(const SymbolJoin *join);
extern const uint32_t *join_changes(const JoinPlan *plan, int group, int bits, uint32_t change,
									int *count);

/* ---- The prefixes of a group (join_prefix.c) ---------------------------- */

/* The symbols of a group and of the groups after it.  After the last group, the first one follows. */
typedef struct JoinPrefix
{
	int b;
	int first;   /* the first symbol */
	int symbols; /* the number of symbols */
	int ring;    /* the number of symbols after which the first ones follow */
	int h;       /* the number of these symbols in which a pair may differ */
} JoinPrefix;

extern JoinPrefix *join_prefixes(const SymbolJoin *join, const JoinPlan *plan);
extern bool join_found_before(const JoinPlan *plan, const JoinPrefix *prefixes, int group,
							  const uint8_t *x, const uint8_t *y);
extern void prefix_make(const JoinPrefix *part, const uint8_t *packed, int words, uint64_t *prefix);

/* ---- The join ----------------------------------------------------------- */

extern int join_words(const SymbolJoin *join, const JoinPlan *plan);
extern bool join_run(const SymbolJoin *join, const JoinPlan *plan);
extern size_t join_bytes(int k, int b);

#endif
