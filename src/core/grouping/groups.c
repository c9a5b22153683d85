/*
 * groups.c: cutting signatures into groups, and the buckets within a radius of a value.
 */
#include "grouping/grouping.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "sketch/symbols.h"

/* Of fewer documents a scan costs less than any other search. */
#define DOCUMENTS_MIN 512

/* A bucket should hold 1 << FEWEST to 1 << MOST documents. */
#define FEWEST_DOCUMENTS_LOG 3
#define MOST_DOCUMENTS_LOG 8

/* Numbers of groups that grouping_for tries. */
#define TRIALS_MAX 16

/* A group has at least this many bits, if possible. */
#define GROUP_BITS_MIN 6

/* A value of at most this many bits is not hashed. */
#define HASHED_BITS_MIN 10

#define PAGE_BYTES 8192

/* Nanoseconds that the executor takes for a search. */
#define COST_OF_CALL 3000.0

/*
 * Nanoseconds until a session has mapped a page that it meets for the first time.  Half of the
 * pages that searches meet are new to their sessions if the segment has this many bytes.
 */
#define COST_NEW_PAGE 1000.0
#define MAPPED_BYTES 1e9

/* Bytes of a bucket beside its code. */
#define BUCKET_BYTES 2

/* The buckets of all groups have 31-bit numbers. */
#define BUCKETS_MAX ((UINT64_C(1) << 31) - 1)

/* The value of a group is a number of this many bits at most. */
#define VALUE_BITS_MAX 64

static int
clamp(int x, int low, int high)
{
	return Max(low, Min(x, high));
}

static int
log_of(uint32_t n)
{
	return 31 - __builtin_clz(n);
}

/* Returns how many groups of about this many bits there are. */
static int
groups_of_bits(int k, int b, int bits)
{
	return clamp(k * b / clamp(bits, GROUP_BITS_MIN, BUCKET_BITS_MAX), 1, GROUPS_MAX);
}

/* Returns how many bits number the buckets of n documents. */
static int
bits_for(uint32_t n)
{
	return clamp(log_of(n) - FEWEST_DOCUMENTS_LOG + 1, HASHED_BITS_MIN, BUCKET_BITS_MAX);
}

/*
 * Returns the grouping that has this number of groups, as far as limits allow.  Every symbol is
 * in a group.  Symbols of many bits make groups of one symbol, hashed.
 */
Grouping
grouping_with(int k, int b, uint32_t n, int groups)
{
	Grouping g = {.k = k, .b = b};

	if (n < DOCUMENTS_MIN)
		return g;
	g.groups = clamp(groups, 1, Min(k, GROUPS_MAX));
	g.width = clamp(k / g.groups, 1, Max((VALUE_BITS_MAX - b) / b, 1));
	if (g.width < VALUE_BITS_MAX / b)
		g.wide = clamp(k - g.groups * g.width, 0, g.groups);
	g.bucket_bits = bits_for(n);
	while ((uint64_t) g.groups << g.bucket_bits > BUCKETS_MAX)
		g.bucket_bits--;
	return g;
}

/* Adds the keys of n documents, those without a signature included, to a grouping. */
Grouping
grouping_with_keys(Grouping g, int keys, uint32_t n)
{
	if (n < DOCUMENTS_MIN || keys == 0)
		return g;
	g.keys = keys;
	g.key_bits = bits_for(n);
	while (((uint64_t) g.groups << g.bucket_bits) + ((uint64_t) keys << g.key_bits) > BUCKETS_MAX)
	{
		g.bucket_bits = Min(g.bucket_bits, g.key_bits);
		g.key_bits--;
	}
	return g;
}

/*
 * Returns how many buckets the groups and keys before `group` have, less than 2^31: the number
 * of its first bucket.
 */
uint64_t
group_first_bucket(const Grouping *g, int group)
{
	int narrow = Min(group, g->groups);
	int wide = Min(narrow, g->wide);
	uint64_t buckets = (uint64_t) (group - narrow) << g->key_bits;

	if (wide > 0)
		buckets += (uint64_t) wide << group_bucket_bits(g, 0);
	if (narrow > wide)
		buckets += (uint64_t) (narrow - wide) << group_bucket_bits(g, wide);
	return buckets;
}

/* Returns the mean length of the buckets of all groups if n documents spread evenly. */
double
even_length(const Grouping *g, uint32_t n)
{
	double wide = ldexp(g->wide, -group_bucket_bits(g, 0));
	double others = ldexp(g->groups - g->wide, -group_bucket_bits(g, g->groups - 1));

	return n * (wide + others) / g->groups;
}

/* Returns about how many bytes the postings of n documents take. */
double
postings_estimate(const Grouping *g, uint32_t n)
{
	double bytes = 0;

	for (int i = 0; i < grouping_lists(g); i++)
	{
		double buckets = ldexp(1, group_bucket_bits(g, i));

		bytes += n * posting_usual_bytes(n, n / buckets) + buckets * BUCKET_BYTES;
	}
	return bytes;
}

/*
 * Returns a measure of the cost of searches at usual thresholds: the sum of the logarithms,
 * since a grouping that doubles the cost at a high threshold is as bad as one that doubles it
 * at a low one.
 */
static double
cost_of_grouping(const Grouping *g, uint32_t n)
{
	static const double threshold[] = {0.9, 0.8, 0.7};
	SegmentStats stats = {.documents = n,
						  .documents_per_page = PAGE_BYTES / SYMBOL_BYTES(g->k, g->b) + 1,
						  .posting_pages = postings_estimate(g, n) / PAGE_BYTES + 1};
	double bytes = (n / stats.documents_per_page + stats.posting_pages) * PAGE_BYTES;
	double cost = 0;

	stats.page_ns = COST_NEW_PAGE * bytes / (bytes + MAPPED_BYTES);
	for (int i = 0; i < 3; i++)
	{
		double h = g->k * (1 - threshold[i]) * (1 - 1 / (double) (UINT64_C(1) << g->b));

		/* Rounds, since h may be a whole number less a rounding error. */
		cost += log(COST_OF_CALL + search_plan(g, &stats, (int) (h + 1e-6), SEARCH_AUTO).cost);
	}
	return cost;
}

/* Keeps a grouping if its searches cost less. */
static void
keep_cheaper(uint32_t n, Grouping g, Grouping *best, double *least)
{
	double cost = cost_of_grouping(&g, n);

	if (cost < *least)
	{
		*best = g;
		*least = cost;
	}
}

/* Returns the grouping with which searches of a segment of n documents cost least. */
Grouping
grouping_for(int k, int b, uint32_t n)
{
	Grouping best = {.k = k, .b = b};
	double least = INFINITY;
	int fewest;
	int most;

	if (n < DOCUMENTS_MIN)
		return best;
	fewest = groups_of_bits(k, b, log_of(n) - FEWEST_DOCUMENTS_LOG);
	most = groups_of_bits(k, b, log_of(n) - MOST_DOCUMENTS_LOG);
	for (int m = most; m >= fewest; m -= (most - fewest) / TRIALS_MAX + 1)
		keep_cheaper(n, grouping_with(k, b, n, m), &best, &least);
	/* Groups of equal width, the widest perhaps hashed. */
	for (int width = k / most + 1; width <= k / fewest + 1; width++)
		keep_cheaper(n, grouping_with(k, b, n, k / width), &best, &least);
	return best;
}

/* Returns symbols [first, first + width) as one number; width * b <= 64. */
static inline uint64_t
value_of(const uint8_t *packed, int b, int first, int width)
{
	size_t bit = (size_t) first * b;
	int bits = width * b;
	const uint8_t *at = packed + bit / 8;
	int last = ((int) (bit % 8) + bits - 1) / 8;
	int behind = 8 * (last + 1) - (int) (bit % 8) - bits;
	uint64_t value = 0;

	for (int i = 0; i < last; i++)
		value = value << 8 | at[i];
	value = value << (8 - behind) | at[last] >> behind;
	return value & UINT64_MAX >> (64 - bits);
}

/* Returns the bucket of a value in a group. */
static inline uint32_t
bucket_of_value(const Grouping *g, int group, uint64_t value)
{
	return (uint32_t) (group_is_exact(g, group) ? value : mix64(value) >> (64 - g->bucket_bits));
}

/* Returns the bucket of a packed signature in a group. */
uint32_t
group_bucket(const Grouping *g, int group, const uint8_t *packed)
{
	return bucket_of_value(g, group,
						   value_of(packed, g->b, group_first_symbol(g, group),
									group_width(g, group)));
}

/*
 * Computes the buckets of n packed signatures in a group, one every `stride` bytes.  Words of the
 * signatures are loaded as long as that reads nothing after the last one.
 */
void
group_buckets(const Grouping *g, int group, const uint8_t *packed, size_t stride, size_t n,
			  uint32_t *bucket)
{
	size_t bit = (size_t) group_first_symbol(g, group) * g->b;
	int bits = group_width(g, group) * g->b;
	int before = (int) (bit % 8);
	size_t words = before + bits <= 64 ? n - Min(n, sizeof(uint64_t) / stride + 1) : 0;
	size_t i = 0;

	for (; i < words; i++)
	{
		uint64_t word = packed_word(packed + i * stride + bit / 8);

		bucket[i] = bucket_of_value(g, group, word << before >> (64 - bits));
	}
	for (; i < n; i++)
		bucket[i] = group_bucket(g, group, packed + i * stride);
}

/* ---- Sets --------------------------------------------------------------- */

/* A range of buckets that is sorted at a time has at most this many bits. */
#define RANGE_BITS 16

/* Returns the grouping of `documents` sets, which have `elements` elements together. */
Grouping
set_grouping(int k, uint32_t documents, uint64_t elements)
{
	Grouping g = {.k = k, .b = 1};
	int bits = 63 - __builtin_clzll(elements | 1);

	if (documents < DOCUMENTS_MIN)
		return g;
	bits = Max(HASHED_BITS_MIN, Min(bits, BUCKET_BITS_MAX));
	g.width = g.bucket_bits = Min(bits, RANGE_BITS);
	g.groups = 1 << (bits - g.bucket_bits);
	return g;
}

/* Returns whether a grouping is one that set_grouping() could return. */
bool
set_grouping_is_valid(const Grouping *g)
{
	return g->groups > 0 && (g->groups & (g->groups - 1)) == 0 &&
		g->bucket_bits >= HASHED_BITS_MIN && g->bucket_bits <= RANGE_BITS &&
		g->width == g->bucket_bits && g->wide == 0 &&
		g->groups <= 1 << (BUCKET_BITS_MAX - g->bucket_bits);
}

/* ---- Probes ------------------------------------------------------------- */

/* The masks within a radius of one value. */
typedef struct ProbeMasks
{
	int count;
	uint32_t mask[];
} ProbeMasks;

/* Adds the masks that change at most `left` more symbols, all below `symbol`. */
static void
enumerate(ProbeMasks *masks, int b, uint32_t mask, int symbol, int left)
{
	masks->mask[masks->count++] = mask;
	if (left == 0)
		return;
	for (int s = 0; s < symbol; s++)
		for (uint32_t change = 1; change < UINT32_C(1) << b; change++)
			enumerate(masks, b, mask | change << (s * b), s, left - 1);
}

static int
compare_masks(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *) x;
	uint32_t b = *(const uint32_t *) y;

	return a < b ? -1 : a > b;
}

/*
 * Returns the masks that turn (by XOR) a bucket into those within a radius, ascending, so
 * that buckets that are neighbours on disk follow each other.  They are never freed.  If
 * several threads make them at once, one copy is kept.
 */
const uint32_t *
probe_masks(int symbols, int b, int radius, int *count)
{
	static ProbeMasks *store[BUCKET_BITS_MAX + 1][6][RADIUS_MAX + 1];
	ProbeMasks **kept = &store[symbols * b][__builtin_ctz(b)][radius];
	ProbeMasks *masks = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	if (masks == NULL)
	{
		masks = host_alloc_forever(sizeof(ProbeMasks) +
								   probe_count(symbols, b, radius) * sizeof(uint32_t));
		masks->count = 0;
		enumerate(masks, b, 0, symbols, radius);
		qsort(masks->mask, masks->count, sizeof(uint32_t), compare_masks);
		__atomic_store_n(kept, masks, __ATOMIC_RELEASE);
	}
	*count = masks->count;
	return masks->mask;
}
