/*
 * join_plan.c: the groups and radii that join two sides at the least cost.
 */
#include "join/join.h"

#include <math.h>

#include "sketch/symbols.h"

/* Nanoseconds, measured on a server of 2023. */
#define COST_SORTED 20.0     /* sort a document ... */
#define COST_SORTED_FAR 15.0 /* ... each bit by which buckets outgrow a cache ... */
#define COST_SORTED_WORD 6.0 /* ... and each word of its lead */
#define COST_LOOKUP 8.0      /* find the other bucket for a mask */
#define COST_COMPARED 1.0    /* compare a pair ... */
#define COST_COMPARED_WORD 0.7

/* Buckets of so many bits stay in a cache. */
#define NEAR_BUCKET_BITS 16

/* Groups may be this many symbols narrower than possible. */
#define NARROWER_MAX 4

/* At most about 4 buckets for each document. */
#define BUCKETS_PER_DOCUMENT_LOG 2
#define BUCKET_BITS_MIN 4
#define VALUE_BITS_MAX 64

/* Documents of a side that are sampled to see whether all are similar. */
#define SAMPLE 64

/* What plans are made for, and the best one so far. */
typedef struct Trial
{
	const SymbolJoin *join;
	double left;
	double right;
	double pairs;
	int bits;        /* of a bucket, at most */
	double compared; /* cost of comparing a pair */
	JoinPlan best;
} Trial;

/* Sets the numbers of documents and pairs, and the number of buckets that suits them. */
static void
set_sizes(Trial *trial, const SymbolJoin *join)
{
	bool self = join->right.packed == NULL;
	double most;

	trial->join = join;
	trial->left = join->left.documents;
	trial->right = self ? 0 : join->right.documents;
	trial->pairs = self ? trial->left * trial->left / 2 : trial->left * trial->right;
	most = fmax(trial->left, trial->right);
	trial->bits = (int) ceil(log2(most + 1)) + BUCKETS_PER_DOCUMENT_LOG;
	trial->bits = Max(BUCKET_BITS_MIN, Min(trial->bits, BUCKET_BITS_MAX));
}

/* Returns the cost of comparing a pair: words are compared until more than h symbols differ. */
static double
cost_of_comparing(const SymbolJoin *join)
{
	double differ = 64.0 / join->b * (1 - ldexp(1, -join->b));
	double words = fmin(JOIN_STRIDE(join->k, join->b) / 8, join->h / differ + 1);

	return COST_COMPARED + words * COST_COMPARED_WORD;
}

/* ---- Prices ------------------------------------------------------------- */

/* Returns the cost of joining so many groups with a radius. */
static double
cost_of_groups(const Trial *trial, const Grouping *g, int groups, int radius)
{
	double words = join_lead_words(g->k, g->b);
	double buckets = ldexp(1, Min(g->width * g->b, g->bucket_bits));
	double masks = radius == 0 ? 1 : probe_count(g->width, g->b, radius);
	double used = buckets * -expm1(-trial->left / buckets);
	double far = fmax(0, log2(buckets) - NEAR_BUCKET_BITS);

	return groups *
		((trial->left + trial->right) *
			 (COST_SORTED + far * COST_SORTED_FAR + words * COST_SORTED_WORD) +
		 used * masks * COST_LOOKUP + trial->pairs * masks / buckets * trial->compared);
}

static void
keep_cheaper(Trial *trial, JoinPlan plan)
{
	plan.cost = cost_of_groups(trial, &plan.grouping, plan.groups - plan.one_more, plan.radius);
	if (plan.one_more > 0)
		plan.cost += cost_of_groups(trial, &plan.grouping, plan.one_more, plan.radius + 1);
	if (plan.cost < trial->best.cost)
		trial->best = plan;
}

/*
 * Makes m groups, `narrower` symbols less wide than possible.  Returns false if their
 * values within the radius cannot be listed.
 */
static bool
cut_into(const Trial *trial, int m, int radius, int narrower, Grouping *g)
{
	const SymbolJoin *join = trial->join;
	int most = (radius > 0 ? trial->bits : VALUE_BITS_MAX) / join->b;

	g->k = join->k;
	g->b = join->b;
	g->groups = m;
	g->width = Min(join->k / m, most) - narrower;
	g->wide = narrower == 0 && g->width < most ? join->k - m * g->width : 0;
	g->bucket_bits = trial->bits;
	return g->width > radius && radius <= RADIUS_MAX &&
		(radius == 0 || probe_count(g->width + (g->wide > 0), g->b, radius) < INT32_MAX);
}

/* Tries m groups that find every pair. */
static void
try_exact(Trial *trial, int m)
{
	int sum = trial->join->h + 1;
	JoinPlan plan = {.groups = m, .radius = sum / m - 1, .one_more = sum % m, .recall = 1};
	int most = plan.radius + (plan.one_more > 0);

	for (int narrower = 0; narrower <= NARROWER_MAX; narrower++)
		if (cut_into(trial, m, most, narrower, &plan.grouping))
			keep_cheaper(trial, plan);
}

/* ---- Recall below 1 ----------------------------------------------------- */

/* Returns the logarithm of n over k. */
static double
log_choose(int n, int k)
{
	return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/*
 * Returns the probability that at most `radius` of h differing symbols, at random among k,
 * are in a group of `width` symbols.
 */
static double
chance_in_radius(int k, int h, int width, int radius)
{
	double chance = 0;

	for (int i = 0; i <= radius && i <= h; i++)
		if (i <= width && h - i <= k - width)
			chance += exp(log_choose(width, i) + log_choose(k - width, h - i) - log_choose(k, h));
	return fmin(chance, 1);
}

/* Tries the fewest of m groups that find a pair at distance h with the recall required. */
static void
try_probable(Trial *trial, int m, int radius)
{
	const SymbolJoin *join = trial->join;
	JoinPlan plan = {.radius = radius};
	double missed;
	double groups;

	if (!cut_into(trial, m, radius, 0, &plan.grouping))
		return;
	missed = 1 -
		chance_in_radius(join->k, join->h, plan.grouping.width + (plan.grouping.wide > 0), radius);
	groups = missed > 0 ? ceil(log1p(-join->recall) / log(missed)) : 1;
	if (!(groups <= m))
		return;
	plan.groups = groups < 1 ? 1 : (int) groups;
	plan.recall = 1 - pow(missed, plan.groups);
	keep_cheaper(trial, plan);
}

/* ---- Documents that are all similar ------------------------------------- */

/* Finds the buckets of a sample of documents; returns how many they are. */
static uint32_t
sample_buckets(const Trial *trial, int group, JoinSide side, uint32_t *bucket)
{
	uint32_t count = Min(side.documents, SAMPLE);

	for (uint32_t i = 0; i < count; i++)
	{
		size_t document = (size_t) i * side.documents / count;

		bucket[i] = group_bucket(&trial->best.grouping, group,
								 side.packed + document * trial->join->stride);
	}
	return count;
}

/* Returns the share of sampled pairs that are within the radius in a group. */
static double
share_that_meets(const Trial *trial, int group)
{
	const SymbolJoin *join = trial->join;
	bool self = join->right.packed == NULL;
	int radius = join_radius(&trial->best, group);
	uint32_t left[SAMPLE];
	uint32_t right[SAMPLE];
	uint32_t n = sample_buckets(trial, group, join->left, left);
	uint32_t others = self ? n : sample_buckets(trial, group, join->right, right);
	const uint32_t *other = self ? left : right;
	uint32_t pairs = 0;
	uint32_t met = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = self ? i + 1 : 0; j < others; j++)
		{
			pairs++;
			met += count_symbols(left[i] ^ other[j], join->b) <= radius;
		}
	return pairs == 0 ? 0 : (double) met / pairs;
}

/*
 * Returns whether pairs meet in more than one group on average.  Costs assume that symbols
 * are random.  If all documents are similar, their pairs meet in many groups, and then it
 * costs less to compare every pair once.
 */
static bool
all_are_similar(const Trial *trial)
{
	double meetings = 0;

	if (trial->join->left.packed == NULL)
		return false;
	for (int group = 0; group < trial->best.groups && meetings <= 1; group++)
		meetings += share_that_meets(trial, group);
	return meetings > 1;
}

JoinPlan
join_plan(const SymbolJoin *join)
{
	JoinPlan every_pair;
	int most = Min(join->k, GROUPS_MAX);
	Trial trial;

	set_sizes(&trial, join);
	trial.compared = cost_of_comparing(join);
	every_pair = (JoinPlan){.grouping = {.k = join->k, .b = join->b},
							.recall = 1,
							.cost = trial.pairs * trial.compared};
	trial.best = every_pair;
	for (int m = 1; m <= most && m <= join->h + 1; m++)
		try_exact(&trial, m);
	for (int m = 1; m <= most && join->recall < 1; m++)
		for (int radius = 0; radius <= RADIUS_MAX; radius++)
			try_probable(&trial, m, radius);
	return all_are_similar(&trial) ? every_pair : trial.best;
}
