/*
 * test_set_query.c: sizes and overlaps that match a query, against all sizes and overlaps; and
 * bitmaps.
 */
#include "sketch/set_query.h"

#include "random.h"
#include "unit.h"

/* Thresholds that rounding may miss, and others. */
static double
threshold(int i)
{
	return i % 2 == 0 ? (i / 2 + 1) / 10.0 : (double) (i / 2 + 1) / (i / 2 + 3);
}

/* Returns whether a set of `count` elements that shares `shared` matches. */
static bool
matches(const SetQuery *query, uint32_t shared, uint32_t count)
{
	return set_measure(query, shared, count) >= query->threshold;
}

static void
test_bounds(void)
{
	bool sizes = true;
	bool overlaps = true;

	for (int i = 0; i < 20; i++)
		for (uint32_t n = 1; n <= 60; n++)
			for (int measure = QUERY_RESEMBLANCE; measure <= QUERY_HOLDS; measure++)
			{
				SetQuery query = {measure, threshold(i), n};
				uint32_t least;
				uint32_t most;

				set_sizes(&query, &least, &most);
				for (uint32_t m = 1; m <= 200; m++)
				{
					uint32_t can = Min(n, m);
					uint32_t overlap = set_overlap(&query, m);

					sizes &= matches(&query, can, m) == (m >= least && m <= most);
					for (uint32_t shared = 0; shared <= can; shared++)
						overlaps &= matches(&query, shared, m) == (shared >= overlap);
				}
			}
	CHECK(sizes);
	CHECK(overlaps);
}

/* Random sets: the elements that they share, also in parts, and the bound by bitmaps. */
static void
test_shared(void)
{
	uint64_t state = 11;

	for (int round = 0; round < unit_rounds(500); round++)
	{
		int64_t element[2][300];
		uint64_t mixed[2][300];
		/* Every other one is much smaller. */
		uint32_t n[2] = {1 + next_random(&state) % 300,
						 1 + next_random(&state) % (round % 2 == 0 ? 150 : 9)};
		uint32_t common = (uint32_t) (next_random(&state) % (Min(n[0], n[1]) + 1));
		uint32_t left = n[0];
		const uint64_t *at = mixed[0];
		uint32_t part = n[1] / 3;
		SetBitmap bitmap[2];
		uint32_t shared;

		for (int s = 0; s < 2; s++)
		{
			for (uint32_t i = 0; i < n[s]; i++)
				element[s][i] = i < common ? i : (int64_t) i + 1000 * (s + 1);
			set_mix(element[s], n[s], mixed[s]);
			bitmap[s] = set_bitmap(mixed[s], n[s]);
			for (uint32_t i = 1; i < n[s]; i++)
				if (mixed[s][i - 1] >= mixed[s][i])
					CHECK(!"ascending");
		}
		shared = set_shared(&at, &left, mixed[1], part);
		shared += set_shared(&at, &left, mixed[1] + part, n[1] - part);
		CHECK(shared == common);
		CHECK(bitmap_shared_most(&bitmap[0], n[0], &bitmap[1], n[1]) >= common);
	}
}

int
main(void)
{
	test_bounds();
	test_shared();
	return unit_report();
}
