/*
 * plan.c: the cheapest search of a segment for a distance: (S, t, c) of grouping.h.
 */
#include "grouping/grouping.h"

#include <math.h>

/*
 * Nanoseconds, measured on a server of 2023 with the index in shared buffers
 * (test/bench/index-plans.sql).  _FAR is added if the processor's caches hold nothing of
 * the segment.
 */
#define COST_LOOKUP 60.0 /* find a bucket's page, and the bucket on it; begin its code */
#define COST_LOOKUP_FAR 40.0
#define COST_PAGE 60.0 /* a buffer: pin, lock, first touch */
#define COST_PAGE_FAR 60.0
#define COST_POSTING 1.3 /* decode and count */
#define COST_POSTING_FAR 0.7
#define COST_CANDIDATE 8.0 /* sort, find its page, compare */
#define COST_CANDIDATE_FAR 4.0
#define COST_SCANNED 0.1            /* compare a document of a scan, without its symbols */
#define COST_SCANNED_BYTE 0.036     /* compare a byte of its symbols */
#define COST_SCANNED_PAGE_FAR 150.0 /* a page of a scan */
#define COST_COUNTER 0.05           /* clear a byte of counters */
#define COST_CHOICE 30.0            /* intersect two buckets */

/* The most that it takes to read in and verify a page of a scan, which the kernel reads ahead. */
#define COST_READ_AHEAD 10000.0

/* Half of the accesses to this many bytes find them in a cache. */
#define CACHE_BYTES (16.0 * 1024 * 1024)
#define PAGE_BYTES 8192.0

#define COUNT_MAX 255

/* What plans are made for. */
typedef struct SearchTrial
{
	const Grouping *g;
	const SegmentStats *stats;
	int h;
	double mean; /* documents in a bucket */
	double own;  /* postings in the query's bucket of a group, on average */
	double near; /* mean postings in a bucket that differs from it in a symbol */
	double postings_per_page;
	double pages; /* pages of the postings of a group */
	double far;   /* share of the memory accesses that find nothing in a cache */

	/* For each radius: buckets within it, and pages that they are on if each has a page. */
	double probes[RADIUS_MAX + 2];
	double positions[RADIUS_MAX + 2];
} SearchTrial;

static double
far_share(double pages)
{
	double bytes = pages * PAGE_BYTES;

	return bytes / (bytes + CACHE_BYTES);
}

static double
documents_stored(const SegmentStats *stats)
{
	return Max(stats->documents, stats->stored);
}

static double
document_pages(const SegmentStats *stats)
{
	return documents_stored(stats) / stats->documents_per_page;
}

/* A scan compares all documents on the pages, also those that have no signature. */
static double
scan_cost(const Grouping *g, const SegmentStats *stats)
{
	double pages = document_pages(stats);

	return pages *
		(COST_PAGE + COST_SCANNED_PAGE_FAR * far_share(pages) +
		 Min(stats->page_ns, COST_READ_AHEAD)) +
		documents_stored(stats) * (COST_SCANNED + COST_SCANNED_BYTE * SYMBOL_BYTES(g->k, g->b));
}

/* Returns how many pages hold the buckets within a radius in a group, of a mean length. */
static double
pages_of_group(const SearchTrial *trial, int radius, double lookups, double length)
{
	/* Buckets that differ only in low bits are neighbours on a page. */
	double touched = trial->positions[radius] + lookups * length / trial->postings_per_page;

	return Min(touched, trial->pages);
}

/* Returns the probability that a document far from the query is hit c times or more. */
static double
chance_of_hits(double expected, int c)
{
	double term = exp(-expected);
	double below = 0;

	if (expected > 0.7 * c && c > 20)
		return 1;
	for (int i = 0; i < c; i++)
	{
		below += term;
		term *= expected / (i + 1);
	}
	/* Rare events take the first terms of the tail, since 1 - below has no digits left. */
	return expected < 0.5 ? term * (1 + expected / (c + 1)) : 1 - below;
}

/*
 * Returns the postings of the buckets within a radius in a group where the query's bucket
 * has `own`.  If that is more than usual, those near it have more, too; if it is less, they
 * have as many as usual.  Each further step changes the length as the first one usually does.
 */
static double
postings_of_group(const SearchTrial *trial, int radius, double own)
{
	double step = Min(1, trial->near / trial->own);
	double postings = own;
	double length = trial->near * Max(1, own / trial->own);

	for (int t = 1; t <= radius; t++)
	{
		postings += (trial->probes[t] - trial->probes[t - 1]) * length;
		length = Max(length * step, trial->mean);
	}
	return postings;
}

/* Returns the mean length of the query's buckets in some groups, from a first one on. */
static double
own_length(const SearchTrial *trial, int first, int groups)
{
	const double *sum = trial->stats->length_sum;

	return sum == NULL ? trial->own : (sum[first + groups] - sum[first]) / groups;
}

/* Adds to a plan the lookups in `groups` groups with a radius, from a first group on. */
static void
add_groups(const SearchTrial *trial, int first, int groups, int radius, SearchPlan *plan)
{
	double probes = trial->probes[radius];
	double postings;

	if (groups == 0)
		return;
	postings = postings_of_group(trial, radius, own_length(trial, first, groups));
	plan->lookups += groups * probes;
	plan->postings += groups * postings;
	plan->pages += groups * pages_of_group(trial, radius, probes, postings / probes);
}

/*
 * Sets the cost of a plan whose lookups, postings, candidates and pages of postings are set,
 * and adds the pages of documents.  Returns what the cost would be without candidates.
 */
static double
set_cost(const SearchTrial *trial, SearchPlan *plan)
{
	const SegmentStats *stats = trial->stats;
	double doc_pages = document_pages(stats) + 1;
	double far = trial->far;
	double page_cost = COST_PAGE + COST_PAGE_FAR * far + stats->page_ns;
	double visited;
	double cost;

	cost = plan->lookups * (COST_LOOKUP + COST_LOOKUP_FAR * far) +
		plan->postings * (COST_POSTING + COST_POSTING_FAR * far) + plan->pages * page_cost;
	if (plan->count > 1)
		cost += counter_bytes(stats->documents, plan->postings, plan->count) * COST_COUNTER;
	visited = doc_pages * (1 - exp(-plan->candidates / doc_pages));
	plan->pages += visited;
	plan->cost =
		cost + visited * page_cost + plan->candidates * (COST_CANDIDATE + COST_CANDIDATE_FAR * far);
	return cost;
}

/* Estimates the cost of a plan.  Returns what it would be without candidates. */
static double
estimate(const SearchTrial *trial, SearchPlan *plan)
{
	const SegmentStats *stats = trial->stats;

	plan->lookups = plan->postings = plan->pages = 0;
	add_groups(trial, 0, plan->one_more, plan->radius + 1, plan);
	add_groups(trial, plan->one_more, plan->groups - plan->one_more, plan->radius, plan);
	plan->candidates =
		stats->documents * chance_of_hits(plan->postings / stats->documents, plan->count);
	return set_cost(trial, plan);
}

/* Returns whether plans with more lookups may be cheaper. */
static bool
plan_keep_cheaper(const SearchTrial *trial, SearchPlan plan, SearchPlan *best)
{
	double least = estimate(trial, &plan);

	if (plan.cost < best->cost)
		*best = plan;
	return least < best->cost;
}

/* Returns how many values are within a radius of one; INT32_MAX if they are too many to list. */
int
probe_count(int symbols, int b, int radius)
{
	double count = 0;
	double term = 1;

	for (int t = 0; t <= radius && t <= symbols; t++)
	{
		count += term;
		term *= (double) (symbols - t) / (t + 1) * ((UINT64_C(1) << b) - 1);
	}
	return count < 65536 ? (int) count : INT32_MAX;
}

/* Returns whether the values within a radius can be listed. */
static bool
radius_is_possible(const Grouping *g, int radius)
{
	if (radius == 0)
		return true;
	return radius <= RADIUS_MAX && group_is_exact(g, 0) &&
		probe_count(group_width(g, 0), g->b, radius) < INT32_MAX;
}

/*
 * Makes the plan that counts to c within a radius t.  A document that only c - 1 of the
 * groups find differs in at least t + 1 symbols in each other group, and the sum of these
 * must exceed h.  If it does not, even with all groups, some groups get radius t + 1.
 * Returns false if there is no such plan.
 */
static bool
counting_plan(const SearchTrial *trial, int radius, int c, SearchPlan *plan)
{
	int m = trial->g->groups;
	int missing = trial->h + 1 - (m - c + 1) * (radius + 1);

	*plan = (SearchPlan){.method = radius == 0 ? SEARCH_MERGE : SEARCH_PROBE,
						 .groups = trial->h / (radius + 1) + c,
						 .count = c,
						 .radius = radius};
	if (missing <= 0)
		return true;
	plan->method = SEARCH_PROBE;
	plan->groups = m;
	plan->one_more = missing + c - 1;
	return plan->one_more < m && radius_is_possible(trial->g, radius + 1);
}

/* Tries all counts c within all radii. */
static void
try_counting(const SearchTrial *trial, SearchPlan *best)
{
	SearchPlan plan;

	for (int radius = 0; radius_is_possible(trial->g, radius); radius++)
		for (int c = 1; c <= trial->g->groups && c <= COUNT_MAX; c++)
			if (!counting_plan(trial, radius, c, &plan) || !plan_keep_cheaper(trial, plan, best))
				break;
}

/* Tries c = 1, with radii as equal as possible: the sum of t + 1 is h + 1. */
static void
try_probing(const SearchTrial *trial, SearchPlan *best)
{
	for (int radius = 0; radius_is_possible(trial->g, radius); radius++)
	{
		SearchPlan plan;

		if (counting_plan(trial, radius, 1, &plan))
		{
			plan.method = SEARCH_PROBE;
			plan_keep_cheaper(trial, plan, best);
			return;
		}
	}
}

/* Tries all groups with radius 0. */
static void
try_merging(const SearchTrial *trial, SearchPlan *best)
{
	int m = trial->g->groups;
	SearchPlan plan = {.method = SEARCH_MERGE, .groups = m, .count = Min(m - trial->h, COUNT_MAX)};

	if (plan.count >= 1)
		plan_keep_cheaper(trial, plan, best);
}

/* Tries every choice of m - h groups with radius 0. */
static void
try_choosing(const SearchTrial *trial, SearchPlan *best)
{
	int m = trial->g->groups;
	int c = m - trial->h;
	double choices = c >= 1 ? choices_of(m, c) : 0;

	try_merging(trial, best);
	if (c < 1 || choices > CHOICES_MAX)
		return;
	best->method = SEARCH_CHOOSE;
	best->count = c;
	best->cost += choices * (COST_CHOICE + trial->own);
}

/* Computes what all plans for a segment have in common, those by keys included. */
static void
begin_keys_trial(SearchTrial *trial)
{
	const Grouping *g = trial->g;
	const SegmentStats *stats = trial->stats;
	double postings = (double) stats->documents * g->groups + documents_stored(stats) * g->keys;

	trial->postings_per_page = postings / Max(stats->posting_pages, 1);
	trial->far = far_share(document_pages(stats) + stats->posting_pages);
}

/* Computes what all plans that use groups have in common. */
static void
begin_trial(SearchTrial *trial)
{
	const Grouping *g = trial->g;
	const SegmentStats *stats = trial->stats;
	double buckets;
	int page_bits;

	begin_keys_trial(trial);

	trial->mean = even_length(g, stats->documents);
	buckets = stats->documents / trial->mean;
	trial->own = Max(stats->own_length, trial->mean);
	trial->near = Max(stats->near_length, trial->mean);
	trial->pages = stats->documents / trial->postings_per_page + 1;
	page_bits = (int) ceil(log2(Min(trial->pages, buckets)));
	for (int t = 0; t <= RADIUS_MAX + 1; t++)
	{
		trial->probes[t] = probe_count(g->width + (g->wide > g->groups / 2), g->b, t);
		trial->positions[t] = probe_count(page_bits, 1, t);
	}
}

/*
 * Returns the cheapest plan that a method allows for distance h.  A method that is not
 * possible becomes a scan, and choosing becomes merging.
 */
SearchPlan
search_plan(const Grouping *g, const SegmentStats *stats, int h, SearchMethod method)
{
	SearchPlan scan = {.method = SEARCH_SCAN,
					   .candidates = documents_stored(stats),
					   .pages = document_pages(stats),
					   .cost = scan_cost(g, stats)};
	SearchPlan best = scan;
	SearchTrial trial = {.g = g, .stats = stats, .h = h};

	if (method == SEARCH_SCAN || g->groups == 0 || stats->documents == 0)
		return scan;
	begin_trial(&trial);
	if (method != SEARCH_AUTO)
		best.cost = INFINITY;
	if (method == SEARCH_AUTO)
		try_counting(&trial, &best);
	else if (method == SEARCH_MERGE)
		try_merging(&trial, &best);
	else if (method == SEARCH_CHOOSE)
		try_choosing(&trial, &best);
	else if (method == SEARCH_PROBE)
		try_probing(&trial, &best);
	return isinf(best.cost) ? scan : best;
}

/*
 * Returns the plan that reads `lists` lists of keys and compares all documents that are in
 * them.
 */
SearchPlan
keys_plan(const Grouping *g, const SegmentStats *stats, int lists, double postings)
{
	SearchPlan plan = {.method = SEARCH_KEYS,
					   .groups = lists,
					   .count = 1,
					   .lookups = lists,
					   .postings = postings,
					   .candidates = postings};
	SearchTrial trial = {.g = g, .stats = stats};

	begin_keys_trial(&trial);
	plan.pages = lists + postings / trial.postings_per_page;
	set_cost(&trial, &plan);
	return plan;
}
