/*
 * plan.c: the cheapest of the family (S, t, c) for a segment and a distance.
 */
#include <math.h>

#include "grouping/grouping.h"

/*
 * Nanoseconds, as measured on a server of 2023 with everything in shared
 * buffers (test/bench/index-plans.sql).  They choose the plan, never the
 * answer.  _FAR comes on top where the processor's caches hold nothing of the
 * segment.
 */
#define COST_LOOKUP 6.0 /* a bucket's bounds, from a directory in memory */
#define COST_LOOKUP_FAR 50.0
#define COST_PAGE 100.0 /* a buffer: pin, lock, first touch */
#define COST_PAGE_FAR 170.0
#define COST_POSTING 1.0 /* decode and count */
#define COST_POSTING_FAR 1.3
#define COST_CANDIDATE 25.0 /* order, find its place, compare */
#define COST_CANDIDATE_FAR 80.0
#define COST_SCANNED 0.2             /* a document of a packed scan ... */
#define COST_SCANNED_BYTE 0.055      /* ... and each byte of its symbols ... */
#define COST_SCANNED_PAGE_FAR 1200.0 /* ... from memory */
#define COST_COUNTER 0.05            /* clear one */
#define COST_CHOICE 30.0             /* intersect two buckets */

/* Of so many bytes half are found in a cache. */
#define CACHE_BYTES (16.0 * 1024 * 1024)
#define PAGE_BYTES 8192.0

#define COUNT_MAX 255

/* What one plan is tried with. */
typedef struct Trial
{
	const Grouping *g;
	const SegmentStats *stats;
	int h;
	double mean; /* documents in a bucket */
	double own;  /* postings of all groups' own buckets, per group */
	double far;  /* share of memory accesses that no cache serves */
} Trial;

static double
far_share(double pages)
{
	double bytes = pages * PAGE_BYTES;

	return bytes / (bytes + CACHE_BYTES);
}

static double
document_pages(const SegmentStats *stats)
{
	return (double) stats->documents / stats->documents_per_page;
}

static double
scan_cost(const Grouping *g, const SegmentStats *stats)
{
	double pages = document_pages(stats);

	return pages * (COST_PAGE + COST_SCANNED_PAGE_FAR * far_share(pages)) +
		stats->documents * (COST_SCANNED + COST_SCANNED_BYTE * SYMBOL_BYTES(g->k, g->b));
}

/* Pages that the buckets within radius t of a group lie on. */
static double
pages_of_group(const Trial *trial, int radius, double lookups)
{
	double pages = (double) trial->stats->documents / trial->stats->postings_per_page + 1;
	double buckets = trial->stats->documents / trial->mean;
	int far = (int) ceil(log2(pages < buckets ? pages : buckets));
	double touched = probe_count(far, 1, radius);

	/* Buckets that differ in low bits only are neighbours on one page. */
	touched += lookups * trial->mean / trial->stats->postings_per_page;
	return touched < pages ? touched : pages;
}

/* Chance that a document which is nowhere near is hit c times or more. */
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
	/* Of rare events the first terms of the tail: 1 - below has no digits left. */
	return expected < 0.5 ? term * (1 + expected / (c + 1)) : 1 - below;
}

static void
add_groups(const Trial *trial, int groups, int radius, SearchPlan *plan)
{
	const Grouping *g = trial->g;
	double probes = probe_count(g->width + (g->wide > g->groups / 2), g->b, radius);

	plan->lookups += groups * probes;
	plan->postings += groups * (trial->own + (probes - 1) * trial->mean);
	plan->pages += groups * pages_of_group(trial, radius, probes);
}

static void
price(const Trial *trial, SearchPlan *plan)
{
	const SegmentStats *stats = trial->stats;
	double doc_pages = document_pages(stats) + 1;
	double far = trial->far;

	plan->usual_length = trial->mean;
	plan->lookups = plan->postings = plan->pages = 0;
	add_groups(trial, plan->groups - plan->one_more, plan->radius, plan);
	add_groups(trial, plan->one_more, plan->radius + 1, plan);
	plan->candidates =
		stats->documents * chance_of_hits(plan->postings / stats->documents, plan->count);
	plan->pages += doc_pages * (1 - exp(-plan->candidates / doc_pages));
	plan->cost = plan->lookups * (COST_LOOKUP + COST_LOOKUP_FAR * far) +
		plan->postings * (COST_POSTING + COST_POSTING_FAR * far) +
		plan->candidates * (COST_CANDIDATE + COST_CANDIDATE_FAR * far) +
		plan->pages * (COST_PAGE + COST_PAGE_FAR * far);
	if (plan->count > 1)
		plan->cost += counters_for(stats->documents, plan->postings, plan->count) * COST_COUNTER;
}

static void
keep_cheaper(const Trial *trial, SearchPlan plan, SearchPlan *best)
{
	price(trial, &plan);
	if (plan.cost < best->cost)
		*best = plan;
}

/* May groups be looked up within a radius? */
static bool
radius_is_possible(const Grouping *g, int radius)
{
	if (radius == 0)
		return true;
	return radius <= RADIUS_MAX && group_is_exact(g, 0) &&
		probe_count(group_width(g, 0), g->b, radius) < INT32_MAX;
}

/*
 * Count c within radius t.  What misses all but c - 1 of the groups differs in at
 * least the sum of their t + 1, the least first: that must exceed h.  Where all
 * groups within t fall short of it, as many as needed have t + 1.
 */
static bool
counting_plan(const Trial *trial, int radius, int c, SearchPlan *plan)
{
	int m = trial->g->groups;
	int short_of = trial->h + 1 - (m - c + 1) * (radius + 1);

	*plan = (SearchPlan){.method = radius == 0 ? SEARCH_MERGE : SEARCH_PROBE,
						 .groups = trial->h / (radius + 1) + c,
						 .count = c,
						 .radius = radius};
	if (short_of <= 0)
		return true;
	plan->method = SEARCH_PROBE;
	plan->groups = m;
	plan->one_more = short_of + c - 1;
	return plan->one_more < m && radius_is_possible(trial->g, radius + 1);
}

static void
try_counting(const Trial *trial, int radius, SearchPlan *best)
{
	for (int c = 1; c <= trial->g->groups && c <= COUNT_MAX; c++)
	{
		SearchPlan plan;
		double before = best->cost;

		if (!counting_plan(trial, radius, c, &plan))
			break;
		keep_cheaper(trial, plan, best);
		if (c > 8 && best->cost == before)
			break;
	}
}

/* c = 1, radii as equal as the sum of t + 1 = h + 1 allows. */
static void
try_probing(const Trial *trial, SearchPlan *best)
{
	for (int radius = 0; radius_is_possible(trial->g, radius); radius++)
	{
		SearchPlan plan;

		if (counting_plan(trial, radius, 1, &plan))
		{
			plan.method = SEARCH_PROBE;
			keep_cheaper(trial, plan, best);
			return;
		}
	}
}

/* Alg.H: all groups, radius 0. */
static void
try_merging(const Trial *trial, SearchPlan *best)
{
	int m = trial->g->groups;
	SearchPlan plan = {.method = SEARCH_MERGE, .groups = m, .count = m - trial->h};

	if (plan.count > COUNT_MAX)
		plan.count = COUNT_MAX;
	if (plan.count >= 1)
		keep_cheaper(trial, plan, best);
}

/* Alg.G: all groups, radius 0, every choice of m - h of them. */
static void
try_choosing(const Trial *trial, SearchPlan *best)
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

static double
mean_own_length(const Grouping *g, const SegmentStats *stats, double mean)
{
	double sum = 0;

	if (stats->bucket_length == NULL)
		return mean;
	for (int i = 0; i < g->groups; i++)
		sum += stats->bucket_length[i];
	return sum / g->groups;
}

SearchPlan
search_plan(const Grouping *g, const SegmentStats *stats, int h, SearchMethod method)
{
	SearchPlan scan = {.method = SEARCH_SCAN,
					   .candidates = stats->documents,
					   .pages = document_pages(stats),
					   .cost = scan_cost(g, stats)};
	SearchPlan best = scan;
	Trial trial = {g, stats, h, 0, 0, 0};

	if (method == SEARCH_SCAN || g->groups == 0 || stats->documents == 0)
		return scan;
	trial.mean = (double) stats->documents / (UINT64_C(1) << group_bucket_bits(g, g->groups - 1));
	trial.own = mean_own_length(g, stats, trial.mean);
	trial.far = far_share(document_pages(stats) +
						  (double) stats->documents * g->groups / stats->postings_per_page);
	if (method != SEARCH_AUTO)
		best.cost = INFINITY;
	if (method == SEARCH_MERGE)
		try_merging(&trial, &best);
	if (method == SEARCH_CHOOSE)
		try_choosing(&trial, &best);
	if (method == SEARCH_PROBE)
		try_probing(&trial, &best);
	for (int t = 0; method == SEARCH_AUTO && radius_is_possible(g, t); t++)
		try_counting(&trial, t, &best);
	return isinf(best.cost) ? scan : best;
}
