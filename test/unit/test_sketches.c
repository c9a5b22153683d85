/*
 * test_sketches.c: samples and sketches of bags compared with their definitions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sketch/bag.h"
#include "unit.h"

/* Returns a bag of count elements from first on, every third of which occurs twice. */
static Bag
make_bag(int64_t first, uint32_t count)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t hash = mix64((uint64_t) (first + i));

		bag_add(&builder, &hash, 1);
		if ((first + i) % 3 == 0)
			bag_add(&builder, &hash, 1);
	}
	CHECK(bag_finish(&builder, &bag));
	return bag;
}

static int64_t
mixed(int64_t element)
{
	return (int64_t) mix64((uint64_t) element);
}

static bool
has(const Bag *bag, int64_t element)
{
	for (uint32_t i = 0; i < bag->count; i++)
		if (bag->element[i] == element)
			return true;
	return false;
}

/* Returns how many elements of the bag have a lesser mixed value. */
static uint32_t
rank_of(const Bag *bag, int64_t element)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < bag->count; i++)
		rank += mixed(bag->element[i]) < mixed(element);
	return rank;
}

static void
test_samples(const Bag *bag)
{
	for (uint32_t m = 1; m < 40; m += 3)
	{
		Bag sample = bag_mod(bag, m);
		Bag bottom = bag_bottom(bag, m);
		uint32_t in_sample = 0;

		for (uint32_t i = 0; i < bag->count; i++)
		{
			bool kept = (uint64_t) mixed(bag->element[i]) % m == 0;

			CHECK(has(&sample, bag->element[i]) == kept);
			CHECK(has(&bottom, bag->element[i]) == (rank_of(bag, bag->element[i]) < m));
			if (kept)
				CHECK(bag_frequency(&sample, in_sample++) == bag_frequency(bag, i));
		}
		CHECK(sample.count == in_sample && bottom.count == (bag->count < m ? bag->count : m));
		bag_free(&sample);
		bag_free(&bottom);
	}
}

static void
test_buckets(const Bag *bag)
{
	for (uint32_t n = 1; n < 50; n += 6)
	{
		int64_t *kept = malloc(n * sizeof(int64_t));
		uint32_t count = bag_buckets(bag, n, kept);
		uint32_t at = 0;

		for (uint32_t bucket = 0; bucket < n; bucket++)
		{
			const int64_t *least = NULL;

			for (uint32_t i = 0; i < bag->count; i++)
				if ((uint64_t) mixed(bag->element[i]) % n == bucket &&
					(!least || mixed(bag->element[i]) < mixed(*least)))
					least = &bag->element[i];
			if (least)
				CHECK(at < count && kept[at++] == *least);
		}
		CHECK(at == count);
		free(kept);
	}
}

static void
test_runs(const Bag *bag)
{
	int64_t *run = malloc(bag->count * sizeof(int64_t) + 1);

	CHECK(bag_runs(bag, 1, run) == bag->count);
	CHECK(bag_runs(bag, bag->count + 5, run) == (bag->count > 0));
	if (bag->count >= 7)
		CHECK(bag_runs(bag, 7, run) == bag->count - 6);
	free(run);
}

/* Estimates of a resemblance of 1/3, within four standard errors. */
static void
test_estimates(void)
{
	enum
	{
		M = 400
	};
	Bag x = make_bag(0, 2000);
	Bag y = make_bag(1000, 2000);
	int64_t least_x[M];
	int64_t least_y[M];
	int equal = 0;
	double error = sqrt(2.0 / 9 / M);

	bag_minima(&x, M, least_x);
	bag_minima(&y, M, least_y);
	for (int i = 0; i < M; i++)
		equal += least_x[i] == least_y[i];
	CHECK_MSG(fabs((double) equal / M - 1.0 / 3) < 4 * error, "%d equal", equal);
	CHECK(fabs(bottom_resemblance(&x, &y, M) - 1.0 / 3) < 4 * error);
	CHECK(bottom_resemblance(&x, &y, 1000000) ==
		  bag_similarity(&x, &y, MEASURE_RESEMBLANCE, false));
	bag_free(&x);
	bag_free(&y);
}

static void
test_lexicon(const Bag *bag)
{
	Bag odd = bag_mod(bag, 2);
	Bag kept = bag_keep(bag, &odd);
	double *weight = malloc(bag->count * sizeof(double) + 1);
	Lexicon lexicon = {bag->count, bag->element, weight};
	uint8_t digest[BAG_DIGEST_BYTES];
	uint8_t other[BAG_DIGEST_BYTES];

	CHECK(kept.count == odd.count &&
		  memcmp(kept.element, odd.element, kept.count * sizeof(int64_t)) == 0);
	CHECK(bag_total(&kept) == bag_total(&odd));
	for (uint32_t i = 0; i < bag->count; i++)
		weight[i] = 0.5;
	CHECK(fabs(bag_lexicon_cosine(bag, &odd, &lexicon) - bag_cosine(bag, &odd)) < 1e-12);
	bag_digest(bag, digest);
	bag_digest(&odd, other);
	CHECK((memcmp(digest, other, BAG_DIGEST_BYTES) == 0) == (bag->count == odd.count));
	free(weight);
	bag_free(&odd);
	bag_free(&kept);
}

/*
 * Weights of any size give the same cosine as weights of 1 to 4; to the last bit, if they are
 * powers of two.
 */
static void
test_lexicon_extremes(void)
{
	static const double sizes[] = {0x1p-1074, 0x1p-1000, 0x1p-600, 0x1p-300, 1, 0x1p100};
	static int64_t element[] = {1, 2, 3, 4};
	static uint32_t often[] = {UINT32_MAX, 1, 7, UINT32_MAX};
	Bag x = {2, element, NULL};
	Bag y = {2, element + 2, NULL};
	Bag z = {3, element + 1, NULL};
	Bag many = {4, element, often};
	double expected = -1;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
		{
			double weight[4] = {sizes[i], 2 * sizes[i], 2 * sizes[j], 4 * sizes[j]};
			Lexicon lexicon = {4, element, weight};

			CHECK(bag_lexicon_cosine(&x, &y, &lexicon) == 0);
			CHECK(bag_lexicon_cosine(&x, &x, &lexicon) == 1);
			CHECK(bag_lexicon_cosine(&y, &y, &lexicon) == 1);
			CHECK(fabs(bag_lexicon_cosine(&many, &many, &lexicon) - 1) < 1e-15);
			if (i != j)
				continue;
			if (expected < 0)
				expected = bag_lexicon_cosine(&x, &z, &lexicon);
			CHECK(bag_lexicon_cosine(&x, &z, &lexicon) == expected);
			CHECK(fabs(expected - 4 / sqrt(5 * 24)) < 1e-15);
		}
}

int
main(void)
{
	static const uint32_t counts[] = {0, 1, 2, 7, 100, 511, 512, 513};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		Bag bag = make_bag(1, counts[i]);

		test_samples(&bag);
		test_buckets(&bag);
		test_runs(&bag);
		test_lexicon(&bag);
		bag_free(&bag);
	}
	test_lexicon_extremes();
	test_estimates();
	return unit_report();
}
