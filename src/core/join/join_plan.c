/*
 * join_plan.c: the groups and radii that join two sides at the least cost.
 */
#include "join/join.h"

#include <math.h>

#include "join/join_sample.h"
#include "join/prefixes.h"
#include "sketch/symbols.h"

/*
 * Nanoseconds, measured on a server of 2023 with AVX-512.  Plans, and so the order of
 * pairs, should not depend on the processor, so these prices do not either.
 */
#define COST_SORTED 20.0     /* sort a document */
#define COST_SORTED_FAR 15.0 /* more for each bit by which buckets outgrow a cache */
#define COST_SORTED_WORD 6.0 /* more for each word of its prefix */
#define COST_SIFTED 4.0      /* see that a document need not be sorted */
#define COST_LOOKUP 4.0      /* find the other bucket for a mask */
#define COST_ONE 1.0         /* compare a pair, one document with one */
#define COST_ONE_WORD 0.4    /* more for each word of their prefixes */
#define COST_MANY 0.05       /* compare a pair, many documents with many */
#define COST_MANY_WORD 0.07
#define COST_WHOLE 25.0   /* compare a pair as a whole, after its prefixes */
#define COST_READ 2000.0  /* more if both documents are read from a file */
#define COST_ARRANGED 4.0 /* put a symbol into a prefix */

/* A document is compared with fewer others one by one (RIGHTS_TO_LOAD). */
#define MANY 8.0

/* To load many others costs as much as to compare this number one by one. */
#define MANY_START 4.0

/* Joins that cost more are cut into parts, so that workers share them. */
#define COST_OF_PART 1e7
#define PARTS_MAX 256

/* Where comparing all pairs costs less, a plan is not worth a look at the symbols. */
#define COST_LOOKED_AT 1e7

/* Symbols that differ less than this many times as often as random ones are not random. */
#define RANDOM_ENOUGH 0.95

/* Texts share common shingles, so wider symbols of unrelated texts are equal as often as these. */
#define SYMBOL_BITS 12

/* Sampled pairs that may be similar by chance. */
#define BY_CHANCE 4

/*
 * Groups must be cheaper than all pairs by this factor.  A sample may not show families of
 * similar documents, whose pairs meet in many groups.
 */
#define GROUPS_GAIN 1.5

/* Groups of a plan whose probability to match is computed. */
#define GROUPS_PRICED 8

/* Buckets of this number of bits stay in a cache. */
#define NEAR_BUCKET_BITS 16

/* Groups may be this many symbols narrower than possible. */
#define NARROWER_MAX 4

/* At most about 4 buckets for each document. */
#define BUCKETS_PER_DOCUMENT_LOG 2
#define BUCKET_BITS_MIN 4
#define VALUE_BITS_MAX 64

/* What plans are made for, and the best one so far. */
typedef struct JoinTrial
{
	const SymbolJoin *join;
	JoinSample sample;
	double left;
	double right;
	double pairs;
	int bits;      /* the most bits of a bucket */
	double differ; /* probability that a symbol of a pair differs */
	float *chance; /* the probability for each symbol; NULL: all are equal */
	JoinPlan best;
} JoinTrial;

/* Sets the numbers of documents and pairs, and the number of buckets that suits them. */
static void
set_sizes(JoinTrial *trial, const SymbolJoin *join)
{
	bool self = join->right.packed == NULL;
	double most;

	trial->join = join;
	trial->left = join->left.documents;
	trial->right = self ? 0 : join->right.documents;
	trial->pairs = self ? trial->left * trial->left / 2 : trial->left * trial->right;
	most = fmax(trial->left, trial->right);
	trial->bits =
		(int) ceil(log2(most + 1)) + BUCKETS_PER_DOCUMENT_LOG - (join_is_sifted(join) ? 1 : 0);
	trial->bits = Max(BUCKET_BITS_MIN, Min(trial->bits, BUCKET_BITS_MAX));
}

/* ---- Prefixes -------------------------------------------------------------- */

/* Returns the share of random pairs that differ in at most h of this many symbols, about. */
static double
random_share(const JoinTrial *trial, double symbols, int h)
{
	double mean = symbols * trial->differ;
	double deviation = sqrt(mean * (1 - trial->differ)) + 1e-9;

	return erfc((mean - h - 0.5) / deviation * M_SQRT1_2) / 2;
}

/* Returns how many words a prefix has at most. */
static int
words_most(const SymbolJoin *join)
{
	return (int) Min(JOIN_STRIDE(join->k, join->b) / 8, JOIN_PREFIX_WORDS);
}

/* Finds the shares of pairs whose first words differ in at most h symbols.  To sample all pairs costs as
   much as to join them. */
static void
find_shares(const JoinTrial *trial, const Arrangement *arrangement,
			double share[JOIN_PREFIX_WORDS + 1])
{
	const SymbolJoin *join = trial->join;

	if (sample_pairs(&trial->sample) > 0 && fmax(trial->left, trial->right) > SAMPLE)
		sample_shares(join, &trial->sample, arrangement, join->h, share);
	else
		for (int words = 0; words <= JOIN_PREFIX_WORDS; words++)
			share[words] = random_share(trial, fmin(words * 64.0 / join->b, join->k), join->h);
}

/*
 * Returns how many words of a prefix to compare at the least cost: each costs time, and a
 * pair that they do not tell apart is compared as a whole.  *cost is that of a pair.
 */
static int
choose_words(const JoinTrial *trial, const double share[JOIN_PREFIX_WORDS + 1], double cost_of_word,
			 double cost_of_whole, double *cost)
{
	int best = 1;

	*cost = INFINITY;
	for (int words = 1; words <= words_most(trial->join); words++)
	{
		double this_cost = words * cost_of_word + share[words] * cost_of_whole;

		if (this_cost < *cost)
		{
			best = words;
			*cost = this_cost;
		}
	}
	return best;
}

/*
 * Chooses how many words the prefixes of a plan's groups have, at the least cost.  Pairs that meet
 * in a group are taken to differ there by its radius, and in the other symbols as any pair does.
 * Returns what comparing documents as a whole costs then, for each pair that meets.
 */
static double
choose_words_in_groups(const JoinTrial *trial, JoinPlan *plan)
{
	double share[JOIN_PREFIX_WORDS + 1];
	double whole = trial->join->files ? COST_READ : COST_WHOLE;
	double cost;

	for (int words = 1; words <= words_most(trial->join); words++)
	{
		JoinPrefix part = prefix_of_group(plan, 0, words, trial->join->h);
		int others = part.symbols - group_width(&plan->grouping, 0);

		share[words] = random_share(trial, Max(others, 0), part.h - join_radius(plan, 0));
	}
	plan->words = choose_words(trial, share, COST_ONE_WORD, whole, &cost);
	return share[plan->words] * whole;
}

/* Returns the plan that compares all pairs. */
static JoinPlan
plan_all_pairs(const JoinTrial *trial)
{
	const SymbolJoin *join = trial->join;
	JoinPlan plan = {.grouping = {.k = join->k, .b = join->b}, .recall = 1};
	double share[JOIN_PREFIX_WORDS + 1];
	Arrangement arrangement;
	double pair;
	double arranged;
	int words;

	find_shares(trial, NULL, share);
	plan.words = choose_words(trial, share, COST_MANY_WORD, COST_WHOLE, &pair);
	plan.cost = trial->pairs * (COST_MANY + pair);
	if (trial->chance != NULL)
	{
		arrangement = arrange_symbols(join, trial->chance);
		sample_shares(join, &trial->sample, &arrangement, join->h, share);
		words = choose_words(trial, share, COST_MANY_WORD, COST_WHOLE, &arranged);
		arranged = trial->pairs * (COST_MANY + arranged) +
			(trial->left + trial->right) * words * 64 / join->b * COST_ARRANGED;
		if (arranged < plan.cost)
		{
			plan.words = words;
			plan.arrangement = arrangement;
			plan.cost = arranged;
		}
	}
	plan.parts = (int) fmax(1, fmin(PARTS_MAX, plan.cost / COST_OF_PART));
	return plan;
}

/* ---- Symbols that are not random ---------------------------------------- */

/*
 * Prices take the symbols of a group as independent, each with its own probability to
 * differ.  Groups themselves do not follow the data.  Symbols dealt to groups by how much
 * they tell apart (Qin et al., ICDE 2018) were tried on 50,000 signatures of 512 bits, of
 * which 70 % of the sets were common: at 0.9 groups joined them in 0.18 s in place of
 * 0.25 s, but to rearrange every signature took 0.05 s and as much memory again.  At 0.8
 * dealt groups took 1.0 s in place of 1.5 s, and all pairs took 0.5 s.
 */

/*
 * Finds how often symbols differ.  Plans look at each symbol only if they differ less often
 * than random ones.
 */
static void
look_at_symbols(JoinTrial *trial)
{
	const SymbolJoin *join = trial->join;
	double random = 1 - ldexp(1, -join->b);
	double sum = 0;

	trial->differ = random;
	trial->chance = NULL;
	if (sample_pairs(&trial->sample) == 0 || trial->pairs * COST_MANY_WORD < COST_LOOKED_AT)
		return;
	trial->chance = host_alloc(join->k * sizeof(float));
	sample_chances(join, &trial->sample, trial->chance);
	for (int s = 0; s < join->k; s++)
		sum += trial->chance[s];
	if (sum < random * join->k * RANDOM_ENOUGH)
		trial->differ = sum / join->k;
	else
	{
		host_free(trial->chance);
		trial->chance = NULL;
	}
}

/* Returns the probability that at most `radius` symbols of a group differ, independently. */
static double
chance_in_group(const JoinTrial *trial, const Grouping *g, int group, int radius)
{
	const float *differ = trial->chance + group_first_symbol(g, group);
	double exactly[RADIUS_MAX + 1] = {1};
	double sum = 0;

	for (int s = 0; s < group_width(g, group); s++)
		for (int t = radius; t >= 0; t--)
			exactly[t] = exactly[t] * (1 - differ[s]) + (t > 0 ? exactly[t - 1] * differ[s] : 0);
	for (int t = 0; t <= radius; t++)
		sum += exactly[t];
	return sum;
}

/* Returns the share of pairs that are within the radius in a group, on average. */
static double
share_in_groups(const JoinTrial *trial, const Grouping *g, int groups, int radius, double masks)
{
	double random = masks * ldexp(1, -Min(g->width * Min(g->b, SYMBOL_BITS), g->bucket_bits));
	int priced = Min(groups, GROUPS_PRICED);
	double sum = 0;

	if (trial->chance == NULL)
		return random;
	for (int i = 0; i < priced; i++)
		sum += chance_in_group(trial, g, (int) ((int64_t) i * groups / priced), radius);
	return fmax(random, sum / priced);
}

/* ---- Prices ------------------------------------------------------------- */

/*
 * Returns the cost of comparing a pair of prefixes, if a document is compared with `others` at a
 * time.
 */
static double
cost_of_prefixes(int words, double others)
{
	double one = COST_ONE + words * COST_ONE_WORD;
	double many = COST_MANY + words * COST_MANY_WORD;

	return others < MANY ? one : many + (one - many) * MANY_START / others;
}

/* Returns the cost of sorting both sides by a group that has some buckets, and masks for each. */
static double
cost_of_sorting(const JoinTrial *trial, int words, double buckets, double masks)
{
	double far = fmax(0, log2(buckets) - NEAR_BUCKET_BITS);
	double each = COST_SORTED + far * COST_SORTED_FAR + words * COST_SORTED_WORD;
	double smaller = fmin(trial->left, trial->right);

	if (!join_is_sifted(trial->join))
		return (trial->left + trial->right) * each;
	return smaller * (each + masks) +
		(trial->left + trial->right - smaller) *
		(COST_SIFTED + each * -expm1(-smaller * masks / buckets));
}

/* Returns the cost of joining `groups` groups with a radius. */
static double
cost_of_groups(const JoinTrial *trial, const JoinPlan *plan, double whole, int groups, int radius)
{
	const Grouping *g = &plan->grouping;
	int words = plan->words;
	double buckets = ldexp(1, Min(g->width * g->b, g->bucket_bits));
	double masks = radius == 0 ? 1 : probe_count(g->width, g->b, radius);
	double used = buckets * -expm1(-trial->left / buckets);
	double share = share_in_groups(trial, g, groups, radius, masks);
	double others = share * fmax(trial->left, trial->right) / masks;

	return groups *
		(cost_of_sorting(trial, words, buckets, masks) + used * masks * COST_LOOKUP +
		 trial->pairs * share * (cost_of_prefixes(words, others) + whole));
}

static void
join_plan_keep_cheaper(JoinTrial *trial, JoinPlan plan)
{
	double whole = choose_words_in_groups(trial, &plan);

	plan.cost = cost_of_groups(trial, &plan, whole, plan.groups - plan.one_more, plan.radius);
	if (plan.one_more > 0)
		plan.cost += cost_of_groups(trial, &plan, whole, plan.one_more, plan.radius + 1);
	if (plan.cost < trial->best.cost)
		trial->best = plan;
}

/*
 * Makes m groups, `narrower` symbols less wide than possible.  Returns false if their
 * values within the radius cannot be listed.
 */
static bool
cut_into(const JoinTrial *trial, int m, int radius, int narrower, Grouping *g)
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
try_exact(JoinTrial *trial, int m)
{
	int sum = trial->join->h + 1;
	JoinPlan plan = {.groups = m, .radius = sum / m - 1, .one_more = sum % m, .recall = 1};
	int most = plan.radius + (plan.one_more > 0);

	for (int narrower = 0; narrower <= NARROWER_MAX; narrower++)
		if (cut_into(trial, m, most, narrower, &plan.grouping))
			join_plan_keep_cheaper(trial, plan);
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
try_probable(JoinTrial *trial, int m, int radius)
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
	join_plan_keep_cheaper(trial, plan);
}

/* ---- Documents that are similar ----------------------------------------- */

static void
plan_find_buckets(const JoinPlan *plan, int group, const uint8_t *const *document, int count,
				  uint32_t *bucket)
{
	for (int i = 0; i < count; i++)
		bucket[i] = group_bucket(&plan->grouping, group, document[i]);
}

/* Adds what each sampled pair costs that is within the radius in a group. */
static void
add_meetings(const JoinTrial *trial, int group, double cost[SAMPLE][SAMPLE])
{
	const JoinSample *sample = &trial->sample;
	const JoinPlan *plan = &trial->best;
	JoinPrefix part = prefix_of_group(plan, group, plan->words, trial->join->h);
	double prefixes = cost_of_prefixes(plan->words, INFINITY);
	int radius = join_radius(plan, group);
	uint32_t left[SAMPLE];
	uint32_t right[SAMPLE];

	plan_find_buckets(plan, group, sample->left, sample->lefts, left);
	plan_find_buckets(plan, group, sample->right, sample->rights, right);
	for (int i = 0; i < sample->lefts; i++)
		for (int j = sample_first(sample, i); j < sample->rights; j++)
			if (count_symbols(left[i] ^ right[j], trial->join->b) <= radius)
				cost[i][j] += prefixes +
					(prefix_within(&part, sample->left[i], sample->right[j]) ? COST_WHOLE : 0);
}

/* Returns the sum without the largest values, which it sets to zero. */
static double
sum_of_most(double *value, int count, int without)
{
	double sum = 0;

	for (; without > 0; without--)
	{
		int largest = 0;

		for (int i = 1; i < count; i++)
			if (value[i] > value[largest])
				largest = i;
		value[largest] = 0;
	}
	for (int i = 0; i < count; i++)
		sum += value[i];
	return sum;
}

/*
 * Returns what comparing the pairs that meet in groups costs if pairs are as in the sample.
 * Other prices assume that symbols are independent.  If they are not, as in documents that
 * are all similar, pairs meet in many groups, and then it costs less to compare every pair
 * once.  A few similar pairs may be in a sample by chance.
 */
static double
cost_of_meetings(const JoinTrial *trial)
{
	double cost[SAMPLE][SAMPLE] = {{0}};

	for (int group = 0; group < trial->best.groups; group++)
		add_meetings(trial, group, cost);
	return trial->pairs * sum_of_most(cost[0], SAMPLE * SAMPLE, BY_CHANCE) /
		Max(sample_pairs(&trial->sample), 1);
}

/* ---- The best plan ------------------------------------------------------ */

static void
try_groups(JoinTrial *trial)
{
	int most = Min(trial->join->k, GROUPS_MAX);

	for (int m = 1; m <= most && m <= trial->join->h + 1; m++)
		try_exact(trial, m);
	for (int m = 1; m <= most && trial->join->recall < 1; m++)
		for (int radius = 0; radius <= RADIUS_MAX; radius++)
			try_probable(trial, m, radius);
}

/* Returns what any plan with groups costs at least: to sort the documents by each of the fewest groups. */
static double
least_cost_of_groups(const JoinTrial *trial)
{
	double groups = trial->join->recall < 1 ? 1 : ceil((trial->join->h + 1.0) / (RADIUS_MAX + 1));

	return groups * (trial->left + trial->right) *
		(join_is_sifted(trial->join) ? COST_SIFTED : COST_SORTED + COST_SORTED_WORD);
}

/*
 * Returns the cheapest plan.  With a recall below 1 groups may be too few or too narrow
 * for all pairs: if the differing symbols are placed at random, a pair at distance h is
 * found with at least that probability, and a nearer one is more likely.  (The numbers of
 * differing symbols in disjoint groups are negatively associated, so the probability that
 * all exceed their radii is at most the product of the probabilities; Joag-Dev and
 * Proschan, Annals of Statistics 1983.)
 */
JoinPlan
join_plan(const SymbolJoin *join)
{
	JoinPlan every_pair;
	JoinTrial trial;

	set_sizes(&trial, join);
	sample_take(join, &trial.sample);
	look_at_symbols(&trial);
	every_pair = plan_all_pairs(&trial);
	trial.best = every_pair;
	if (least_cost_of_groups(&trial) * GROUPS_GAIN < every_pair.cost)
		try_groups(&trial);
	if (trial.chance != NULL)
		host_free(trial.chance);
	if (trial.best.groups == 0 || trial.best.cost * GROUPS_GAIN > every_pair.cost ||
		cost_of_meetings(&trial) > every_pair.cost)
		return every_pair;
	return trial.best;
}

/*
 * Returns the changes of a bucket, ascending, that are within the radius of a group and change the
 * first `bits` bits by `change`.  Sets *count to their number.
 */
const uint32_t *
join_changes(const JoinPlan *plan, int group, int bits, uint32_t change, int *count)
{
	static const uint32_t none = 0;
	const Grouping *g = &plan->grouping;
	int low_bits = group_bucket_bits(g, group) - bits;
	int radius = join_radius(plan, group);
	int all = 1;
	const uint32_t *masks =
		radius > 0 ? probe_masks(group_width(g, group), g->b, radius, &all) : &none;
	int first = 0;

	*count = 0;
	while (first < all && masks[first] >> low_bits < change)
		first++;
	while (first + *count < all && masks[first + *count] >> low_bits == change)
		(*count)++;
	return masks + first;
}
