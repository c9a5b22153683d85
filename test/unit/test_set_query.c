/*
 * test_set_query.c: what sets share, also in parts, and bitmaps.
 */
#include "sketch/set_query.h"

#include <math.h>

#include "random.h"
#include "unit.h"

/* Random sets: the elements that they share, also in parts, and the bound by bitmaps. */
static void
test_shared(void)
{
	uint64_t state = 11;

	for (int round = 0; round < unit_rounds(500); round++)
	{
		int64_t element[2][1000];
		uint64_t mixed[2][1000];
		/* One of them is much smaller, or neither. */
		uint32_t n[2] = {1 + next_random(&state) % (round % 3 == 0 ? 9 : 999),
						 1 + next_random(&state) % (round % 3 == 1 ? 9 : 999)};
		uint32_t common = (uint32_t) (next_random(&state) % (Min(n[0], n[1]) + 1));
		uint32_t left = n[0];
		const uint64_t *at = mixed[0];
		uint32_t part = n[1] / 3;
		SetBitmap bitmap[2];
		uint32_t shared;

		for (int s = 0; s < 2; s++)
		{
			for (uint32_t i = 0; i < n[s]; i++)
				element[s][i] = i < common ? i : (int64_t) i + 10000 * (s + 1);
			set_mix(element[s], n[s], mixed[s]);
			bitmap[s] = set_bitmap(mixed[s], n[s]);
			for (uint32_t i = 1; i < n[s]; i++)
				if (mixed[s][i - 1] >= mixed[s][i])
					CHECK(!"ascending");
		}
		shared = set_shared(&at, &left, mixed[1], part, 0);
		shared += set_shared(&at, &left, mixed[1] + part, n[1] - part, 0);
		CHECK(shared == common);
		CHECK(bitmap_shared_most(&bitmap[0], n[0], &bitmap[1], n[1]) >= common);
	}
}

/* Bitmaps let about the expected part of pairs pass. */
static void
test_passes(uint32_t nx, uint32_t ny, uint32_t needed)
{
	uint64_t state = 5;
	double expected = bitmap_passes(nx, ny, needed);
	int passed = 0;

	for (int round = 0; round < 1000; round++)
	{
		uint64_t element[2][400];
		SetBitmap x;
		SetBitmap y;

		for (int i = 0; i < 400; i++)
		{
			element[0][i] = next_random(&state);
			element[1][i] = next_random(&state);
		}
		x = set_bitmap(element[0], nx);
		y = set_bitmap(element[1], ny);
		passed += bitmap_shared_most(&x, nx, &y, ny) >= needed;
	}
	CHECK_MSG(fabs(passed / 1000.0 - expected) < 0.08, "%d, %d, %d: %d of 1000, %.3f expected",
			  (int) nx, (int) ny, (int) needed, passed, expected);
}

int
main(void)
{
	for (uint32_t needed = 1; needed <= 100; needed += 3)
	{
		test_passes(20, 20, Min(needed, 20));
		test_passes(100, 100, needed);
		test_passes(100, 150, needed);
		test_passes(100, 400, needed);
	}
	test_shared();
	return unit_report();
}
