/*
 * test_bag.c: bags against a slow and simple model.
 */
#include <math.h>
#include <stdlib.h>

#include "sketch/bag.h"
#include "random.h"
#include "unit.h"

static Bag
make_bag(const uint64_t *hash, size_t count)
{
	BagBuilder builder;
	Bag bag;
	size_t done = 0;

	bag_begin(&builder);
	while (done < count)
	{
		size_t step = count - done < 100 ? count - done : 100;

		bag_add(&builder, hash + done, step);
		done += step;
	}
	CHECK(bag_finish(&builder, &bag));
	return bag;
}

static uint32_t
count_of(const uint64_t *hash, size_t count, int64_t element)
{
	uint32_t found = 0;
	size_t i;

	for (i = 0; i < count; i++)
		found += (int64_t) hash[i] == element;
	return found;
}

static int
compare_signed(const void *x, const void *y)
{
	int64_t a = *(const int64_t *) x;
	int64_t b = *(const int64_t *) y;

	return (a > b) - (a < b);
}

/* A bag equals the sorted and counted source. */
static void
check_bag(const Bag *bag, const uint64_t *hash, size_t count)
{
	int64_t *sorted = malloc((count + 1) * sizeof(int64_t));
	uint32_t at = 0;
	bool repeated = false;
	size_t i;

	for (i = 0; i < count; i++)
		sorted[i] = (int64_t) hash[i];
	qsort(sorted, count, sizeof(int64_t), compare_signed);
	for (i = 0; i < count;)
	{
		size_t run = 1;

		while (i + run < count && sorted[i + run] == sorted[i])
			run++;
		CHECK(at < bag->count);
		if (at >= bag->count)
			break;
		CHECK(bag->element[at] == sorted[i]);
		CHECK(bag_frequency(bag, at) == run);
		repeated |= run > 1;
		at++;
		i += run;
	}
	CHECK(at == bag->count);
	CHECK(repeated == (bag->frequency != NULL));
	CHECK(bag_total(bag) == count);
	free(sorted);
}

/* All sizes around the limits of the sort, few and many values, both signs. */
static void
test_build(void)
{
	static const size_t size[] = {0, 1, 2, 95, 96, 97, 98, 255, 256, 257, 1000, 50000};
	static const uint64_t mask[] = {0, 1, 0xFF, 0xFF00000000000000, 0x8000000000000001, UINT64_MAX};
	uint64_t seed = 42;
	size_t i, j, n;

	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++)
	{
		for (j = 0; j < sizeof(mask) / sizeof(mask[0]); j++)
		{
			uint64_t *hash = malloc((size[i] + 1) * sizeof(uint64_t));
			Bag bag;

			for (n = 0; n < size[i]; n++)
				hash[n] = next_random(&seed) & mask[j];
			bag = make_bag(hash, size[i]);
			check_bag(&bag, hash, size[i]);
			bag_free(&bag);
			free(hash);
		}
	}
}

/* Three results and four sums agree with count_of. */
static void
check_pair(const uint64_t *x, size_t n_x, const uint64_t *y, size_t n_y)
{
	Bag a = make_bag(x, n_x);
	Bag b = make_bag(y, n_y);
	Bag result[3] = {bag_intersection(&a, &b), bag_union(&a, &b), bag_difference(&a, &b)};
	uint32_t both = 0;
	uint64_t least = 0;
	uint64_t most = 0;
	double product = 0;
	double square_a = 0;
	double square_b = 0;
	uint32_t at[3] = {0, 0, 0};
	uint32_t i;
	int r;

	for (i = 0; i < result[1].count; i++)
	{
		int64_t element = result[1].element[i];
		uint32_t f = count_of(x, n_x, element);
		uint32_t g = count_of(y, n_y, element);
		uint32_t expected[3] = {f < g ? f : g, f > g ? f : g, g > 0 ? 0 : f};

		CHECK(f + g > 0);
		for (r = 0; r < 3; r++)
		{
			if (expected[r] == 0)
				continue;
			CHECK(at[r] < result[r].count);
			CHECK(result[r].element[at[r]] == element);
			CHECK(bag_frequency(&result[r], at[r]) == expected[r]);
			at[r]++;
		}
		both += f > 0 && g > 0;
		least += expected[0];
		most += expected[1];
		product += (double) f * g;
		square_a += (double) f * f;
		square_b += (double) g * g;
	}
	for (r = 0; r < 3; r++)
		CHECK(at[r] == result[r].count);
	CHECK(bag_total(&result[0]) == least && bag_total(&result[1]) == most);
	CHECK(bag_shared(&a, &b, false) == both);
	CHECK(bag_similarity(&a, &b, MEASURE_RESEMBLANCE, false) ==
		  (both ? (double) both / result[1].count : 0));
	CHECK(bag_similarity(&a, &b, MEASURE_CONTAINED, false) == (both ? (double) both / a.count : 0));
	CHECK(bag_similarity(&a, &b, MEASURE_RESEMBLANCE, true) == (least ? (double) least / most : 0));
	CHECK(fabs(bag_cosine(&a, &b) - (both ? product / sqrt(square_a * square_b) : 0)) < 1e-12);
	for (r = 0; r < 3; r++)
		bag_free(&result[r]);
	bag_free(&a);
	bag_free(&b);
}

static void
test_pairs(void)
{
	static const size_t size[] = {0, 1, 3, 50, 300};
	static const uint64_t values[] = {2, 20, 1000};
	uint64_t x[300];
	uint64_t y[300];
	uint64_t seed = 7;
	size_t i, j, v, n;

	for (i = 0; i < 5; i++)
		for (j = 0; j < 5; j++)
			for (v = 0; v < 3; v++)
			{
				for (n = 0; n < size[i]; n++)
					x[n] = next_random(&seed) % values[v] - values[v] / 2;
				for (n = 0; n < size[j]; n++)
					y[n] = next_random(&seed) % values[v] - values[v] / 2;
				check_pair(x, size[i], y, size[j]);
			}
}

/*
 * For sets of every size up to 60 and every overlap, the result is true at the decimal
 * threshold that equals the similarity, and false just above it.
 */
static void
test_edge(void)
{
	uint64_t hash[120];
	uint32_t whole, shared, i;

	for (i = 0; i < 120; i++)
		hash[i] = i;
	for (whole = 1; whole <= 60; whole++)
		for (shared = 0; shared <= whole; shared++)
		{
			Bag a = make_bag(hash, whole);
			Bag b = make_bag(hash, shared);
			double t = (double) shared / whole;

			CHECK(bag_similarity(&a, &b, MEASURE_RESEMBLANCE, false) == t);
			if (shared > 0)
				CHECK(bag_is_similar(&a, &b, MEASURE_RESEMBLANCE, t) &&
					  bag_is_similar(&b, &a, MEASURE_RESEMBLANCE, t));
			CHECK(!bag_is_similar(&a, &b, MEASURE_RESEMBLANCE, nextafter(t, 2)));
			bag_free(&a);
			bag_free(&b);
		}
}

/* The sum of the squares of the frequencies exceeds 64 bits. */
static void
test_large_frequencies(void)
{
	int64_t element[4] = {INT64_MIN, -1, 0, INT64_MAX};
	uint32_t frequency[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	Bag a = {4, element, frequency};
	Bag b = {2, element, frequency};

	CHECK(bag_total(&a) == 4 * (uint64_t) UINT32_MAX);
	CHECK(bag_cosine(&a, &a) == 1);
	CHECK(fabs(bag_cosine(&a, &b) - sqrt(0.5)) < 1e-15);
	CHECK(bag_similarity(&a, &b, MEASURE_RESEMBLANCE, true) == 0.5);
}

/* The length of the text format, compared with printf(). */
static void
test_text_length(void)
{
	int64_t element[] = {INT64_MIN, -1000, -999, -10, -9, -1, 0, 9, 10, 99, 100, INT64_MAX};
	uint32_t frequency[] = {1, 2, 9, 10, 99, 100, UINT32_MAX, 1, 1, 4294967, 1, UINT32_MAX};

	for (uint32_t count = 0; count <= 12; count++)
		for (int with = 0; with < 2; with++)
		{
			Bag bag = {count, element, with ? frequency : NULL};
			char text[500];
			size_t length = 0;

			for (uint32_t i = 0; i < count; i++)
			{
				length +=
					sprintf(text + length, "%s%lld", i > 0 ? "," : "", (long long) element[i]);
				if (with && frequency[i] > 1)
					length += sprintf(text + length, ":%u", frequency[i]);
			}
			CHECK(bag_text_length(&bag) == length);
			CHECK(bag_text_most(&bag) >= length);
		}
}

/* All loops check for interrupts, however different the lengths are. */
static void
test_interrupts(void)
{
	const uint32_t count = 1 << 20;
	int64_t *element = malloc(count * sizeof(int64_t));
	int64_t *next = malloc(count * sizeof(int64_t));
	int64_t last[] = {5, INT64_MAX};
	Bag large = {count, element, NULL};
	Bag other = {count, next, NULL};
	Bag small = {2, last, NULL};
	Bag made;
	unsigned long before;

	for (uint32_t i = 0; i < count; i++)
	{
		element[i] = (int64_t) i * 3;
		next[i] = element[i] + 1;
	}
	before = host_interrupt_checks;
	CHECK(bag_shared(&large, &other, false) == 0);
	CHECK(host_interrupt_checks - before >= 2 * count / 8192);
	CHECK(host_interrupt_checks - before < 100 + 2 * count / 1024);
	before = host_interrupt_checks;
	made = bag_union(&small, &large);
	CHECK(made.count == count + 2);
	CHECK(host_interrupt_checks - before >= count / 8192);
	CHECK(host_interrupt_checks - before < 100 + count / 1024);
	bag_free(&made);
	free(next);
	free(element);
}

int
main(void)
{
	test_build();
	test_pairs();
	test_edge();
	test_large_frequencies();
	test_text_length();
	test_interrupts();
	return unit_report();
}
