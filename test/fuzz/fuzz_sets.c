/*
 * fuzz_sets.c: bags of any elements and frequencies, functions of them, and their join
 * against comparing all pairs.
 */
#include "fuzz.h"
#include "join/set_join.h"
#include "sketch/bag.h"

#define BAGS_MAX 24

/* ---- Bags ---------------------------------------------------------------- */

/* Takes an element, mostly one of few, so that bags share elements. */
static uint64_t
take_element(Input *in)
{
	uint8_t byte = take_byte(in);

	return byte < 240 ? (uint64_t) byte - 4 : take_number(in, byte & 8 ? 8 : 2);
}

/* Takes a bag of elements in any order, with repeated ones. */
static Bag
take_gathered(Input *in, size_t count)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t element = take_element(in);

		bag_add(&builder, &element, 1);
	}
	REQUIRE(bag_finish(&builder, &bag));
	return bag;
}

/* Sets frequencies of any size. */
static void
raise_frequencies(Input *in, Bag *bag)
{
	if (bag->frequency == NULL)
	{
		bag->frequency = host_alloc(bag->count * sizeof(uint32_t) + 1);
		for (uint32_t i = 0; i < bag->count; i++)
			bag->frequency[i] = 1;
	}
	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint8_t byte = take_byte(in);

		bag->frequency[i] = byte < 200 ? 1 + byte % 5 : UINT32_MAX >> (byte % 32);
	}
}

static Bag
take_bag(Input *in)
{
	uint8_t option = take_byte(in);
	Bag bag = take_gathered(in, option & 31);

	if (option >= 192)
		raise_frequencies(in, &bag);
	return bag;
}

static void
require_sound(const Bag *bag)
{
	for (uint32_t i = 0; i < bag->count; i++)
	{
		REQUIRE(i == 0 || bag->element[i] > bag->element[i - 1]);
		REQUIRE(bag_frequency(bag, i) > 0);
	}
}

/* ---- Algebra ------------------------------------------------------------- */

static void
require_share(double share)
{
	REQUIRE(share >= 0 && share <= 1);
}

static void
check_algebra(const Bag *x, const Bag *y, double threshold)
{
	Bag both = bag_intersection(x, y);
	Bag either = bag_union(x, y);
	Bag rest = bag_difference(x, y);
	Bag kept = bag_keep(x, y);

	require_sound(&both);
	require_sound(&either);
	require_sound(&rest);
	require_sound(&kept);
	REQUIRE(both.count == bag_shared(x, y, false) && kept.count == both.count);
	REQUIRE(either.count + both.count == x->count + y->count);
	REQUIRE(bag_total(&both) + bag_total(&either) == bag_total(x) + bag_total(y));
	REQUIRE(rest.count + both.count == x->count);
	require_share(bag_similarity(x, y, MEASURE_RESEMBLANCE, false));
	require_share(bag_similarity(x, y, MEASURE_CONTAINED, false));
	require_share(bag_similarity(x, y, MEASURE_RESEMBLANCE, true));
	require_share(bag_cosine(x, y));
	REQUIRE(bag_similarity(x, y, MEASURE_RESEMBLANCE, false) ==
			bag_similarity(y, x, MEASURE_RESEMBLANCE, false));
	REQUIRE(bag_similarity(x, y, MEASURE_RESEMBLANCE, true) ==
			bag_similarity(y, x, MEASURE_RESEMBLANCE, true));
	REQUIRE(bag_is_similar(x, y, MEASURE_RESEMBLANCE, threshold) ==
			(bag_similarity(x, y, MEASURE_RESEMBLANCE, false) >= threshold));
	bag_free(&both);
	bag_free(&either);
	bag_free(&rest);
	bag_free(&kept);
}

/* ---- Samples ------------------------------------------------------------- */

static void
check_samples(Input *in, const Bag *x, const Bag *y)
{
	uint32_t n = 1 + take_byte(in) % 40;
	Bag some = bag_mod(x, n);
	Bag least_x = bag_bottom(x, n);
	Bag least_y = bag_bottom(y, n);
	int64_t *number = malloc((40 + x->count) * sizeof(int64_t));
	uint8_t digest[BAG_DIGEST_BYTES];

	require_sound(&some);
	require_sound(&least_x);
	REQUIRE(least_x.count == (x->count < n ? x->count : n));
	REQUIRE(bottom_resemblance(x, y, n) == bottom_resemblance(&least_x, &least_y, n));
	require_share(bottom_resemblance(x, y, n));
	REQUIRE(bag_runs(x, n, number) <= x->count);
	REQUIRE(bag_buckets(x, n, number) <= n);
	if (x->count > 0)
		bag_minima(x, n, number);
	bag_digest(x, digest);
	free(number);
	bag_free(&some);
	bag_free(&least_x);
	bag_free(&least_y);
}

static void
check_lexicon(Input *in, const Bag *x, const Bag *y)
{
	Bag words = take_bag(in);
	double *weight = malloc((words.count + 1) * sizeof(double));
	Lexicon lexicon = {words.count, words.element, weight};
	double cosine;

	for (uint32_t i = 0; i < words.count; i++)
	{
		uint8_t byte = take_byte(in);

		weight[i] = byte < 250 ? byte / 250.0 : 1e50;
	}
	cosine = bag_lexicon_cosine(x, y, &lexicon);
	REQUIRE(cosine >= 0 && cosine <= 1);
	REQUIRE(cosine == bag_lexicon_cosine(y, x, &lexicon));
	free(weight);
	bag_free(&words);
}

/* ---- The join ------------------------------------------------------------ */

/* The similarity of each pair that was given; -1 for the others. */
typedef struct Found
{
	double similarity[BAGS_MAX][BAGS_MAX];
} Found;

static bool
note_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Found *found = state;

	REQUIRE(found->similarity[a][b] == -1);
	found->similarity[a][b] = similarity;
	return true;
}

static void
check_join(const Bag *left, uint32_t left_count, const Bag *right, uint32_t right_count,
		   double threshold, bool weighted, Measure measure)
{
	Found found;
	SetJoin join = {left,     left_count, right,     right_count, threshold,
					weighted, measure,    note_pair, &found};
	const Bag *other = right ? right : left;
	uint32_t others = right ? right_count : left_count;
	JoinStats stats;
	uint64_t pairs = 0;

	for (int a = 0; a < BAGS_MAX; a++)
		for (int b = 0; b < BAGS_MAX; b++)
			found.similarity[a][b] = -1;
	REQUIRE(set_join(&join, &stats));
	for (uint32_t a = 0; a < left_count; a++)
		for (uint32_t b = 0; b < others; b++)
		{
			double similarity = bag_similarity(left + a, other + b, measure, weighted);
			bool expected = (right || a < b) && similarity >= threshold;

			REQUIRE(found.similarity[a][b] == (expected ? similarity : -1));
			pairs += expected;
		}
	REQUIRE(stats.pairs == pairs);
}

static double
take_threshold(Input *in)
{
	static const double odd[] = {1e-300, 0.1, 1 / 3.0, 0.5, 2 / 3.0, 0.999999999999, 1.0, 0.8};
	uint8_t byte = take_byte(in);

	return byte < 200 ? (byte + 1) / 200.0 : odd[byte % 8];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint8_t option = take_byte(&in);
	Measure measure = option & 2 ? MEASURE_CONTAINMENT : MEASURE_RESEMBLANCE;
	double threshold = take_threshold(&in);
	uint32_t count = 2 + take_byte(&in) % (BAGS_MAX - 1);
	uint32_t cut = take_byte(&in) % count;
	Bag bags[BAGS_MAX];

	limit_lists(size);
	for (uint32_t i = 0; i < count; i++)
		bags[i] = take_bag(&in);
	check_algebra(&bags[0], &bags[1], threshold);
	check_samples(&in, &bags[0], &bags[1]);
	check_lexicon(&in, &bags[0], &bags[1]);
	check_join(bags, count, NULL, 0, threshold, (option & 1) != 0, measure);
	check_join(bags, cut, bags + cut, count - cut, threshold, (option & 1) == 0, measure);
	for (uint32_t i = 0; i < count; i++)
		bag_free(&bags[i]);
	return 0;
}
