/*
 * grouping.h: the grouping rule, which finds all signatures within a distance without
 * comparing every one.  The index and the join of signatures use it.
 *
 * The k symbols of a signature are cut into m disjoint groups.  If two signatures differ
 * in at most h symbols, then at most floor(h / (t + 1)) of the groups differ in more than t
 * symbols.  So if |S| groups are searched for values within radius t, at least
 * c = |S| - floor(h / (t + 1)) of them find a document within distance h, and a document
 * that fewer of them find is not within it.  The plans are:
 *
 *   - t = 0, all groups: merging (Yuan et al. 2012, Alg.H);
 *   - c = 1: multi-index hashing (Norouzi et al., CVPR 2012);
 *   - a radius for each group: GPH (Qin et al., ICDE 2018);
 *   - no group: a scan of all signatures.
 */
#ifndef NEARDUP_GROUPING_GROUPING_H
#define NEARDUP_GROUPING_GROUPING_H

#include "sketch/sketch.h"

/* ---- Groups (groups.c) -------------------------------------------------- */

#define GROUPS_MAX 4096
#define BUCKET_BITS_MAX 26

/*
 * How the documents of a segment are grouped.  The first `wide` groups have width + 1
 * symbols, the others `width`.  The value of a group is the number of its bucket, or is
 * hashed to bucket_bits bits if it has more.
 *
 * Documents may have keys beside the signature, numbers of 32 bits.  Each key has buckets of
 * its own, of the documents with equal first bits; their lists come after the groups'.  These
 * hold also documents that are in no group.
 */
typedef struct Grouping
{
	int k;
	int b;
	int groups; /* m; 0: there are too few documents */
	int width;
	int wide;
	int bucket_bits; /* the most bits of a bucket */
	int keys;        /* 0 if there are too few documents */
	int key_bits;    /* bits of a key's bucket */
} Grouping;

extern Grouping grouping_for(int k, int b, uint32_t n);
extern Grouping grouping_with(int k, int b, uint32_t n, int groups);
extern Grouping grouping_with_keys(Grouping g, int keys, uint32_t n);

/* Returns in how many lists each document is: one of each group and of each key. */
static inline int
grouping_lists(const Grouping *g)
{
	return g->groups + g->keys;
}

/* Returns how many symbols a group has. */
static inline int
group_width(const Grouping *g, int group)
{
	return g->width + (group < g->wide);
}

/* Returns the number of a group's first symbol. */
static inline int
group_first_symbol(const Grouping *g, int group)
{
	return group * g->width + Min(group, g->wide);
}

/* Returns the number of bits of a bucket's number, in a group or, after the groups, of a key. */
static inline int
group_bucket_bits(const Grouping *g, int group)
{
	return group < g->groups ? Min(group_width(g, group) * g->b, g->bucket_bits) : g->key_bits;
}

extern uint64_t group_first_bucket(const Grouping *g, int group);
extern double even_length(const Grouping *g, uint32_t n);
extern double postings_estimate(const Grouping *g, uint32_t n);

/* Returns whether each value has its own bucket, so that values within a radius can be listed. */
static inline bool
group_is_exact(const Grouping *g, int group)
{
	return group_width(g, group) * g->b <= g->bucket_bits;
}

extern void group_buckets(const Grouping *g, int group, const uint8_t *packed, size_t stride,
						  size_t n, uint32_t *bucket);
extern uint32_t group_bucket(const Grouping *g, int group, const uint8_t *packed);

/* Returns the bucket of a key. */
static inline uint32_t
key_bucket(const Grouping *g, uint32_t key)
{
	return key >> (32 - g->key_bits);
}

/* ---- Sets (groups.c) ------------------------------------------------------ */

/*
 * The bucket of an element is its first bits.  A "group" is a range of buckets, so a document
 * may be in none or in many buckets of a group.
 */
extern Grouping set_grouping(int k, uint32_t documents, uint64_t elements);
extern bool set_grouping_is_valid(const Grouping *g);

/* Returns how many bits number the buckets of all groups. */
static inline int
set_bucket_bits(const Grouping *g)
{
	return g->bucket_bits + __builtin_ctz(g->groups);
}

/* Returns the number of an element's bucket among the buckets of all groups. */
static inline uint32_t
set_bucket(const Grouping *g, uint64_t element)
{
	return (uint32_t) (element >> (64 - set_bucket_bits(g)));
}

#define RADIUS_MAX 3

extern int probe_count(int symbols, int b, int radius);
extern const uint32_t *probe_masks(int symbols, int b, int radius, int *count);

/* ---- Plans (plan.c) ----------------------------------------------------- */

typedef enum SearchMethod
{
	SEARCH_AUTO,   /* the cheapest */
	SEARCH_MERGE,  /* t = 0, all groups (Yuan et al. 2012, Alg.H) */
	SEARCH_CHOOSE, /* what all groups of any choice of m - h find (Alg.G) */
	SEARCH_PROBE,  /* c = 1 (multi-index hashing) */
	SEARCH_KEYS,   /* the documents that have a key; only where the query has one */
	SEARCH_SCAN    /* every document */
} SearchMethod;

/* What a plan needs to know of a segment. */
typedef struct SegmentStats
{
	uint32_t documents; /* documents that have postings in the groups */
	uint32_t stored;    /* documents on its pages, if these are more */
	uint32_t documents_per_page;
	double posting_pages;
	double own_length;  /* mean length of a document's own bucket; 0: as if spread evenly */
	double near_length; /* mean length of the buckets that differ from it in a symbol */

	/*
	 * The lengths of the query's buckets, the shortest first: length_sum[i] is the sum of the
	 * first i.  A plan takes the shortest.  NULL: not known.
	 */
	const double *length_sum;
	double page_ns; /* nanoseconds of reading pages in, per page that is visited */
} SegmentStats;

/* How a segment is searched.  The estimates choose the plan, and never change the result. */
typedef struct SearchPlan
{
	SearchMethod method; /* SCAN, CHOOSE, MERGE if all radii are 0, else PROBE */
	int groups;          /* |S| */
	int count;           /* c */
	int radius;          /* t of each group in S, except for one_more of them */
	int one_more;        /* the number of groups in S whose radius is t + 1, with c = 1 */
	uint32_t from;       /* the first document that is searched */
	uint32_t end;        /* the document behind the last that is searched; 0: all are */
	double lookups;
	double postings;
	double candidates;
	double pages; /* pages of postings and documents */
	double cost;  /* nanoseconds */
} SearchPlan;

/* If there are more choices of groups, merging is cheaper and has the same candidates. */
#define CHOICES_MAX 100000

extern SearchPlan search_plan(const Grouping *g, const SegmentStats *stats, int h,
							  SearchMethod method);
extern SearchPlan keys_plan(const Grouping *g, const SegmentStats *stats, int lists,
							double postings);

/* ---- Postings (postings.c) ---------------------------------------------- */

/*
 * The postings of a bucket are a list of ascending distinct document numbers below
 * `numbers`, at most 2^31.  A list is stored as a code, the same on every machine.  The
 * code of no documents has no bytes.
 */

/* This many bytes after a code may be read. */
#define POSTINGS_OVERREAD 16

extern double posting_usual_bytes(uint32_t numbers, double length);
extern size_t postings_size(const uint32_t *document, size_t n, uint32_t numbers);
extern size_t postings_put(const uint32_t *document, size_t n, uint32_t numbers, uint8_t *to);
extern size_t postings_fit(const uint32_t *document, size_t n, uint32_t numbers, size_t room);
extern size_t postings_count(const uint8_t *code, size_t bytes);
extern bool postings_get(const uint8_t *code, size_t bytes, uint32_t numbers, uint32_t *document);

/* A kernel of postings_get, for tests and benchmarks. */
typedef struct PostingsKernel
{
	const char *name; /* the name of the kernel, as in base/cpu.h */
	bool (*available)(void);
	bool (*get)(const uint8_t *code, size_t bytes, uint32_t numbers, uint32_t *document);
} PostingsKernel;

/* All kernels of this build, the plain one first; the last has a NULL name. */
extern const PostingsKernel postings_kernels[];

/* ---- Candidates (candidates.c) ------------------------------------------ */

/*
 * Counts in how many buckets documents are.  If document numbers exceed the counters,
 * several share one, which adds candidates but loses none.
 */
typedef struct HitCounter
{
	uint8_t *hits;       /* the counters, aligned to 8 bytes */
	size_t bytes;        /* bytes of `hits`, a power of two */
	int count;           /* c */
	uint32_t second_bit; /* the factor of a document's second bit, with c = 2 */
	uint32_t *candidate;
	size_t candidates;
	size_t room;

	/* If it is set: returns whether a document that is in some number of buckets is a candidate. */
	bool (*keeps)(void *state, uint32_t document, uint32_t hits);
	void *keeps_state;
	uint32_t from;     /* the first document that is counted */
	uint32_t end;      /* the document behind the last that is counted */
	uint32_t *pending; /* postings that are not counted yet */
	size_t pendings;
	size_t pending_room;
} HitCounter;

extern size_t counter_bytes(uint32_t numbers, double postings, int c);
extern void counter_begin(HitCounter *counter, uint32_t numbers, double postings, int c);
extern bool counter_add(HitCounter *counter, const uint8_t *code, size_t bytes, uint32_t numbers);
extern const uint32_t *counter_candidates(HitCounter *counter, size_t *count);
extern const uint8_t *counter_hits(HitCounter *counter, uint32_t *mask);
extern void counter_end(HitCounter *counter);

/* Finds the documents that are in all buckets of a choice of groups. */
typedef struct Chooser
{
	int groups;
	int count;          /* c: groups of a choice */
	uint32_t *document; /* the documents of the buckets of all groups; ascending within a group */
	size_t *end;        /* end[g] .. end[g + 1]: of group g */
	size_t used;
	size_t room;
} Chooser;

extern double choices_of(int m, int c);
extern void chooser_begin(Chooser *chooser, int groups, int count);
extern bool chooser_add(Chooser *chooser, const uint8_t *code, size_t bytes, uint32_t numbers);
extern void chooser_end_group(Chooser *chooser);
extern void chooser_candidates(const Chooser *chooser, HitCounter *candidates);
extern void chooser_end(Chooser *chooser);

#endif
