/*
 * test_overlap.c: sizes and overlaps that reach a threshold, against all sizes and overlaps; and what
 * ascending arrays share, against a search for each number.
 */
#include "sketch/overlap.h"

#include <math.h>

#include "random.h"
#include "unit.h"

/* ---- Sizes -------------------------------------------------------------------------- */

/* Thresholds that rounding may miss, and others. */
static double
threshold(int i)
{
	return i % 2 == 0 ? (i / 2 + 1) / 10.0 : (double) (i / 2 + 1) / (i / 2 + 3);
}

/* Returns the similarity as the comment of Measure says. */
static double
expected(Measure measure, double shared, double x, double y)
{
	switch (measure)
	{
		case MEASURE_CONTAINED:
			return shared / x;
		case MEASURE_CONTAINS:
			return shared / y;
		case MEASURE_CONTAINMENT:
			return fmax(shared / x, shared / y);
		default:
			return shared / (x + y - shared);
	}
}

/* Every bound is the first number that reaches the threshold. */
static void
test_bounds(Measure measure, double t, uint64_t x)
{
	bool similarities = overlap_similarity(measure, 0, x, 0) == 0;
	bool sizes = true;
	bool overlaps = true;
	uint64_t least;
	uint64_t most;

	overlap_sizes(measure, x, t, &least, &most);
	for (uint64_t y = 1; y <= 200; y++)
	{
		uint64_t can = Min(x, y);
		uint64_t needed = overlap_needed(measure, x, y, t);

		sizes &= (overlap_similarity(measure, can, x, y) >= t) == (y >= least && y <= most);
		for (uint64_t shared = 1; shared <= can; shared++)
		{
			double similarity = overlap_similarity(measure, shared, x, y);

			similarities &= similarity == expected(measure, shared, x, y);
			overlaps &= (similarity >= t) == (shared >= needed);
		}
	}
	CHECK_MSG(similarities && sizes && overlaps, "measure %d, %.17g, %d", measure, t, (int) x);
}

/* Sizes that no set has, and thresholds that let all pass. */
static void
test_extremes(void)
{
	uint64_t least;
	uint64_t most;

	overlap_sizes(MEASURE_CONTAINMENT, 10, 0.9, &least, &most);
	CHECK(least == 1 && most == UINT64_MAX);
	overlap_sizes(MEASURE_CONTAINED, 10, 0.9, &least, &most);
	CHECK(least == 9 && most == UINT64_MAX);
	overlap_sizes(MEASURE_CONTAINS, 9, 0.9, &least, &most);
	CHECK(least == 1 && most == 10);
	overlap_sizes(MEASURE_RESEMBLANCE, 10, 0.1, &least, &most);
	CHECK(least == 1 && most == 100);
	overlap_sizes(MEASURE_RESEMBLANCE, 1, 1e-300, &least, &most);
	CHECK(least == 1 && most == UINT64_MAX);
	overlap_sizes(MEASURE_RESEMBLANCE, 0, 0.5, &least, &most);
	CHECK(least > most);
	overlap_sizes(MEASURE_RESEMBLANCE, 10, 0, &least, &most);
	CHECK(least == 1 && most == UINT64_MAX);
	CHECK(overlap_needed(MEASURE_RESEMBLANCE, 10, 20, 0) == 0);
	CHECK(overlap_needed(MEASURE_RESEMBLANCE, 10, 20, 0.6) == 11);
	CHECK(overlap_needed(MEASURE_RESEMBLANCE, UINT64_C(1) << 40, UINT64_C(1) << 40, 1) ==
		  UINT64_C(1) << 40);
}

/* ---- Arrays ------------------------------------------------------------------------- */

#define NUMBERS 3000

/* Sets `count` ascending numbers, each about `gap` greater than the one before. */
static void
fill(uint32_t *number, size_t count, uint32_t gap)
{
	uint32_t last = random_below(gap);

	for (size_t i = 0; i < count; i++)
	{
		number[i] = last;
		last += 1 + random_below(gap);
	}
}

/* Returns how many numbers of one array are in the other. */
static uint64_t
count_by_search(const Overlap *o)
{
	const uint32_t *x = o->x;
	const uint32_t *y = o->y;
	uint64_t shared = 0;

	for (size_t i = o->i; i < o->end_x; i++)
		for (size_t j = o->j; j < o->end_y; j++)
			shared += x[i] == y[j];
	return shared;
}

/* An OverlapPart: checks that the positions are of one number, and adds it. */
static uint64_t
add_number(void *state, size_t i, size_t j)
{
	const Overlap *o = state;
	const uint32_t *x = o->x;
	const uint32_t *y = o->y;

	CHECK(x[i] == y[j]);
	return x[i] + UINT64_C(1);
}

/* Arrays of like and of unlike lengths, from any positions on, to the end and for any need. */
static void
test_arrays(void)
{
	static uint32_t x[NUMBERS];
	static uint32_t y[NUMBERS];

	for (int round = 0; round < unit_rounds(2000); round++)
	{
		size_t n = random_below(round % 3 == 0 ? 20 : 300);
		size_t m = random_below(round % 3 == 1 ? 20 : round % 5 == 0 ? NUMBERS : 300);
		uint32_t gap = 1 + random_below(5);
		Overlap o = {.x = x,
					 .y = y,
					 .i = random_below((uint32_t) n / 4 + 1),
					 .j = random_below((uint32_t) m / 4 + 1),
					 .end_x = n,
					 .end_y = m};
		Overlap walk = o;
		uint64_t shared;
		uint64_t sum = 0;

		fill(x, n, n < m ? (uint32_t) (gap * (m / (n + 1) + 1)) : gap);
		fill(y, m, m < n ? (uint32_t) (gap * (n / (m + 1) + 1)) : gap);
		shared = count_by_search(&o);
		CHECK(overlap_count(&walk, 0, overlap_key_32) == shared && !overlap_goes_on(&walk));
		for (uint64_t needed = 0; needed < shared + 40; needed += 1 + random_below(9))
		{
			walk = o;
			if (needed <= shared)
				CHECK(overlap_count(&walk, needed, overlap_key_32) == shared);
			else
				CHECK(overlap_count(&walk, needed, overlap_key_32) < needed);
		}
		walk = o;
		for (size_t i = o.i; i < n; i++)
			for (size_t j = o.j; j < m; j++)
				sum += x[i] == y[j] ? x[i] + UINT64_C(1) : 0;
		CHECK(overlap_sum(&walk, overlap_key_32, add_number, &o) == sum);
	}
}

/* ---- Steps -------------------------------------------------------------------------- */

static double keys;

/* An OverlapKey that counts its calls. */
static uint64_t
counting_key(const void *array, size_t position)
{
	keys++;
	return ((const uint32_t *) array)[position];
}

/* Returns how many numbers are looked at to compare arrays that share nothing. */
static double
count_keys(size_t n, size_t m, uint64_t needed)
{
	static uint32_t x[200000];
	static uint32_t y[200000];
	Overlap o = {.x = x, .y = y, .end_x = n, .end_y = m};

	for (size_t i = 0; i < n; i++)
		x[i] = 2 * (uint32_t) (i * (1000000000 / n) + random_below((uint32_t) (1000000000 / n)));
	for (size_t j = 0; j < m; j++)
		y[j] =
			2 * (uint32_t) (j * (1000000000 / m) + random_below((uint32_t) (1000000000 / m))) + 1;
	keys = 0;
	CHECK(overlap_count(&o, needed, counting_key) == 0);
	return keys;
}

/* Ten numbers among 100,000 take ten searches, and sets that cannot reach a threshold a part of a walk. */
static void
test_steps(void)
{
	static const struct
	{
		size_t x;
		size_t y;
		double threshold;
	} cases[] = {{300, 300, 0},     {300, 300, 0.2},     {300, 300, 0.8},
				 {3000, 3000, 0.5}, {100, 700, 0},       {10, 100000, 0},
				 {100000, 10, 0},   {100, 10000, 0.005}, {1000, 16000, 0}};

	CHECK(count_keys(10, 100000, 0) < 10 * 2 * 17);
	CHECK(count_keys(100000, 10, 0) < 10 * 2 * 17);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		size_t x = cases[c].x;
		size_t y = cases[c].y;
		uint64_t needed = overlap_needed(MEASURE_RESEMBLANCE, x, y, cases[c].threshold);
		double steps = overlap_steps((double) x, (double) y, (double) needed);
		double counted = count_keys(x, y, needed) / 2;

		CHECK_MSG(counted < 1.5 * steps + 20 && counted > steps / 3,
				  "%d, %d, %.2f: %.0f steps, %.0f expected", (int) x, (int) y, cases[c].threshold,
				  counted, steps);
	}
}

/* Signed numbers ascend as signed ones do. */
static void
test_order(void)
{
	int64_t x[] = {INT64_MIN, -5, 0, 7, INT64_MAX};
	int64_t y[] = {-5, -1, 7, INT64_MAX};
	Overlap o = {.x = x, .y = y, .end_x = 5, .end_y = 4};

	CHECK(overlap_count(&o, 0, overlap_key_signed) == 3);
	o = (Overlap){.x = x + 2, .y = y + 2, .end_x = 3, .end_y = 2};
	CHECK(overlap_count(&o, 0, overlap_key_unsigned) == 2);
}

int
main(void)
{
	for (int measure = 0; measure < MEASURES; measure++)
		for (int i = 0; i < 20; i++)
			for (uint64_t x = 1; x <= 60; x++)
				test_bounds(measure, threshold(i), x);
	test_extremes();
	test_arrays();
	test_steps();
	test_order();
	return unit_report();
}
