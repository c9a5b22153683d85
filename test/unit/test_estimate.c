/*
 * test_estimate.c: resemblance, radius, bands.
 */
#include <math.h>
#include "sketch/sketch.h"
#include "unit.h"

/* Returns the largest d with (full - d * step) / full >= hundredths / 100, exactly. */
static int
exact_radius(__int128 full, __int128 step, int most, int hundredths)
{
	int d = 0;

	while (d < most && (full - (d + 1) * step) * 100 >= hundredths * full)
		d++;
	return d;
}

static void
radius_is_exact(void)
{
	static const int ks[] = {64, 100, 400, 512};
	static const int bs[] = {1, 2, 8, 32};

	for (int i = 0; i < 4; i++)
		for (int hundredths = 1; hundredths <= 100; hundredths++)
		{
			double t = hundredths / 100.0;
			int k = ks[i];

			for (int j = 0; j < 4; j++)
			{
				__int128 values = (__int128) 1 << bs[j];

				CHECK(minhash_radius(k, bs[j], t) ==
					  exact_radius(k * (values - 1), values, k, hundredths));
			}
			CHECK(simhash_radius(k, t) == exact_radius(k, 1, k, hundredths));
		}
}

/* The radius of the resemblance at distance d is d, for every d. */
static void
radius_inverts_resemblance(void)
{
	for (int b = 1; b <= 32; b *= 2)
		for (int d = 0; d <= 512; d++)
		{
			double r = minhash_resemblance(512, b, d);

			if (r > 0)
				CHECK(minhash_radius(512, b, r) == d);
			if (r > 0)
				CHECK(minhash_radius(512, b, nextafter(r, 2)) == d - 1 || d == 0);
		}
	CHECK(minhash_radius(16384, 4, 5e-324) == 15359);
	CHECK(minhash_radius(512, 1, 1) == 0);
	CHECK(simhash_radius(64, 5e-324) == 63);
}

static void
estimates(void)
{
	CHECK(minhash_resemblance(512, 1, 0) == 1);
	CHECK(minhash_resemblance(512, 1, 256) == 0);
	CHECK(minhash_resemblance(512, 1, 512) == -1);
	CHECK(minhash_resemblance(100, 32, 100) < 0);
	CHECK(simhash_similarity(64, 16) == 0.75);
	CHECK(minhash_standard_error(512, 1, 1) == 0);
	CHECK(fabs(minhash_standard_error(512, 1, 0) - 1 / sqrt(512)) < 1e-15);
	CHECK(fabs(minhash_standard_error(400, 32, 0.5) - 0.025) < 1e-9);
	CHECK(containment_of_resemblance(0.5, 100, 200) == 1);
	CHECK(fabs(containment_of_resemblance(0.5, 200, 100) - 0.5) < 1e-15);
	CHECK(containment_of_resemblance(0, 200, 100) == 0);
	CHECK(containment_of_resemblance(0.9, 10, 1000) == 1);
}

static bool
is_about(double x, double expected)
{
	return fabs(x - expected) <= 1e-9 * expected;
}

static void
chances(void)
{
	CHECK(is_about(chance_within(64, 1, 0, 3), (1 + 64 + 2016 + 41664) / ldexp(1, 64)));
	CHECK(is_about(chance_within(64, 1, 0, 60), 1));
	CHECK(is_about(1 - chance_within(16, 1, 0, 13), (1 + 16 + 120) / ldexp(1, 16)));
	CHECK(is_about(chance_within(511, 1, 0, 255), 0.5));
	CHECK(is_about(chance_within(16, 2, 0, 1), (1 + 16 * 3) / ldexp(1, 32)));
	CHECK(is_about(chance_within(128, 32, 0, 127), -expm1(128 * log1p(-ldexp(1, -32)))));
	CHECK(chance_within(64, 1, 0, -1) == 0);
	CHECK(chance_within(64, 8, 0, 64) == 1);
	CHECK(chance_within(16384, 4, 0, 16384 / 2) == 0);
	CHECK(chance_within(16384, 4, 0, 16383) == 1);
	/* With half of the elements in common, a symbol of one bit agrees three times of four. */
	CHECK(is_about(chance_within(16, 1, 0.5, 1), pow(0.75, 15) * (0.75 + 16 * 0.25)));
	CHECK(fabs(chance_within(511, 32, 0.5, 255) - 0.5) < 1e-6);
	CHECK(chance_within(512, 1, 1, 0) == 1);

	for (int b = 1; b <= 32; b *= 2)
		for (int h = 0; h <= 400; h++)
		{
			double chance = chance_within(400, b, 0, h);

			CHECK(chance >= 0 && chance <= 1 && chance >= chance_within(400, b, 0, h - 1));
		}
}

static void
bands(void)
{
	static const double curve[] = {.006, .047, .186, .470, .802, .975, .9996};
	uint8_t packed[64];
	uint64_t keys[512];
	uint64_t other[512];
	int bands;
	int rows;

	for (int i = 0; i < 7; i++)
		CHECK(fabs(lsh_collision_probability((i + 2) / 10.0, 20, 5) - curve[i]) < 5e-4);
	CHECK(lsh_collision_probability(0, 20, 5) == 0);
	CHECK(lsh_collision_probability(1, 20, 5) == 1);

	CHECK(lsh_choose(0.8, 128, 0.95, &bands, &rows) && bands == 13 && rows == 7);
	CHECK(lsh_choose(1, 128, 0.99, &bands, &rows) && bands == 1 && rows == 128);
	CHECK(!lsh_choose(0.001, 16, 0.99, &bands, &rows));

	for (int i = 0; i < 64; i++)
		packed[i] = (uint8_t) (i * 37);
	CHECK(minhash_band_keys(packed, 512, 1, 5, keys) == 102);
	packed[1] ^= 0x10; /* symbol 11, in band 2 */
	CHECK(minhash_band_keys(packed, 512, 1, 5, other) == 102);
	for (int i = 0; i < 102; i++)
		CHECK((keys[i] == other[i]) == (i != 2));
	CHECK(minhash_band_keys(packed, 128, 4, 128, keys) == 1);
}

int
main(void)
{
	radius_is_exact();
	radius_inverts_resemblance();
	estimates();
	chances();
	bands();
	return unit_report();
}
