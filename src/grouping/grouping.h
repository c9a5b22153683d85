/*
 * grouping.h: the grouping rule.  No pages, no SQL: the index and the batch join
 * feed it from wherever their bytes are.
 *
 * The k symbols of a signature are cut into m disjoint groups.  A document at
 * distance <= h differs by more than t symbols in at most floor(h / (t + 1))
 * of them.  So of |S| groups that are looked up within radius t, at least
 * c = |S| - floor(h / (t + 1)) hit it, and documents hit less often need no
 * look.  t = 0 over all groups is the merging of Yuan et al. (2012), c = 1 is
 * multi-index hashing (Norouzi et al., CVPR 2012), a radius of its own for
 * each group is GPH (Qin et al., ICDE 2018), S empty is a packed scan.
 */
#ifndef NEARDUP_GROUPING_GROUPING_H
#define NEARDUP_GROUPING_GROUPING_H

#include "sketch/sketch.h"

/* ---- Groups (groups.c) -------------------------------------------------- */

#define GROUPS_MAX 4096
#define BUCKET_BITS_MAX 22

/*
 * How the documents of a segment are grouped.  The first `wide` groups have
 * width + 1 symbols, the others width.  A group's value is its bucket, or is
 * hashed to bucket_bits where it is longer.
 */
typedef struct Grouping
{
	int k;
	int b;
	int groups; /* m; 0: too few documents to be worth it */
	int width;
	int wide;
	int bucket_bits; /* longest */
} Grouping;

/* The grouping that suits a segment of n documents best, by the prices of plans. */
extern Grouping grouping_for(int k, int b, uint32_t n);

/* The one of so many groups. */
extern Grouping grouping_with(int k, int b, uint32_t n, int groups);

static inline int
group_width(const Grouping *g, int group)
{
	return g->width + (group < g->wide);
}

static inline int
group_first_symbol(const Grouping *g, int group)
{
	return group * g->width + (group < g->wide ? group : g->wide);
}

/* Buckets of a group are numbered below 1 << this. */
static inline int
group_bucket_bits(const Grouping *g, int group)
{
	int bits = group_width(g, group) * g->b;

	return bits < g->bucket_bits ? bits : g->bucket_bits;
}

/*
 * Of a directory: the offsets of all groups before this one, where one group has an
 * offset for each bucket and one for the end.
 */
extern uint64_t group_first_offset(const Grouping *g, int group);

/* Is each value its own bucket, so that neighbours can be enumerated? */
static inline bool
group_is_exact(const Grouping *g, int group)
{
	return group_width(g, group) * g->b <= g->bucket_bits;
}

/* The bucket of a packed signature in a group. */
extern uint32_t group_bucket(const Grouping *g, int group, const uint8_t *packed);

#define RADIUS_MAX 3

/* How many buckets lie within a radius; INT32_MAX where too many. */
extern int probe_count(int symbols, int b, int radius);

/*
 * The masks that turn a bucket into those within a radius, ascending, so that
 * buckets that are neighbours on disk come one after the other.  They live as
 * long as the process.
 */
extern const uint32_t *probe_masks(int symbols, int b, int radius, int *count);

/* ---- Plans (plan.c) ----------------------------------------------------- */

typedef enum SearchMethod
{
	SEARCH_AUTO,   /* whatever is cheapest */
	SEARCH_MERGE,  /* t = 0, all groups (Alg.H) */
	SEARCH_CHOOSE, /* for each choice of m - h groups, what is equal in all (Alg.G) */
	SEARCH_PROBE,  /* c = 1 (multi-index hashing) */
	SEARCH_SCAN    /* every document */
} SearchMethod;

/* What a segment is, as far as a plan depends on it. */
typedef struct SegmentStats
{
	uint32_t documents; /* that have postings */
	uint32_t postings_per_page;
	uint32_t documents_per_page;
	const float *bucket_length; /* of each group: expected for a document's own value */
} SegmentStats;

/* Nanoseconds, measured: they only ever change the plan, never the answer. */
typedef struct SearchPlan
{
	SearchMethod method; /* SCAN, CHOOSE, MERGE where all radii are 0, else PROBE */
	int groups;          /* |S| */
	int count;           /* c */
	int radius;          /* t of each group in S; with c = 1 ... */
	int one_more;        /* ... these many of them have t + 1 */
	double usual_length; /* mean postings of a bucket */
	double lookups;
	double postings;
	double candidates;
	double pages; /* of postings and documents */
	double cost;
} SearchPlan;

/* More choices of groups than this are not made: merging has the same candidates. */
#define CHOICES_MAX 100000

/* The cheapest plan that a method allows; falls back to a scan, or from choosing to merging. */
extern SearchPlan search_plan(const Grouping *g, const SegmentStats *stats, int h,
							  SearchMethod method);

/* ---- Counting (count.c) ------------------------------------------------- */

/*
 * Counts how often documents are hit.  Where documents outnumber the counters
 * several share one, which can only make more candidates.
 */
typedef struct HitCounter
{
	uint8_t *hits;
	size_t size; /* of hits, a power of two */
	uint32_t mask;
	int count; /* c */
	uint32_t *candidate;
	size_t candidates;
	size_t room;
} HitCounter;

/* How many counters so many postings get. */
extern size_t counters_for(uint32_t documents, double postings, int c);

extern void counter_begin(HitCounter *counter, uint32_t documents, double postings, int c);

/* Postings of one bucket: n document numbers of `bytes` (2, 3 or 4) bytes each, little-endian. */
extern void counter_add(HitCounter *counter, const uint8_t *postings, size_t n, int bytes);

/* Make a document a candidate whatever was counted. */
extern void counter_take(HitCounter *counter, uint32_t document);

/* Ascending, each once; the memory is the counter's. */
extern const uint32_t *counter_candidates(HitCounter *counter, size_t *count);
extern void counter_end(HitCounter *counter);

/* Document numbers below this fit into 2, 3 or 4 bytes. */
static inline int
posting_bytes(uint32_t documents)
{
	return documents <= UINT32_C(1) << 16 ? 2 : documents <= UINT32_C(1) << 24 ? 3 : 4;
}

static inline uint32_t
posting_at(const uint8_t *postings, size_t i, int bytes)
{
	const uint8_t *at = postings + i * bytes;

	if (bytes == 2)
		return at[0] | (uint32_t) at[1] << 8;
	if (bytes == 3)
		return at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16;
	return at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16 | (uint32_t) at[3] << 24;
}

/* ---- Choosing (choose.c) ------------------------------------------------ */

/* The query's buckets in some groups, one after the other. */
typedef struct Chooser
{
	int groups;
	int count;          /* c: how many must be equal */
	uint32_t *document; /* ascending within a group */
	size_t *end;        /* end[g] .. end[g + 1]: those of group g */
	size_t used;
	size_t room;
	uint32_t documents;
	uint8_t *taken; /* a bit for each document that is a candidate already */
} Chooser;

extern double choices_of(int m, int c);
extern void chooser_begin(Chooser *chooser, uint32_t documents, int groups, int count);

/* Postings of the present group's bucket, as counter_add has them. */
extern void chooser_add(Chooser *chooser, const uint8_t *postings, size_t n, int bytes);
extern void chooser_end_group(Chooser *chooser);

/* Intersect the groups of each choice. */
extern void chooser_candidates(const Chooser *chooser, HitCounter *candidates);
extern void chooser_end(Chooser *chooser);

#endif
