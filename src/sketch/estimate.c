/*
 * estimate.c: what a number of differing symbols says of two sets.
 *
 * Both resemblances have the form (full - d * step) / full with whole numbers
 * below 2^53, so the division is the only rounding.  The radius of a threshold
 * is found with the same expression: function, operator and index can never
 * disagree at the edge.
 */
#include <math.h>

#include "base/hash.h"
#include "sketch/sketch.h"

static inline double
estimate(double full, double step, int d)
{
	return (full - d * step) / full;
}

/* The largest d <= most with estimate(full, step, d) >= t: a guess, then set right. */
static int
radius(double full, double step, int most, double t)
{
	double guess = full * (1 - t) / step;
	int d = guess < most ? (int) guess : most;

	while (d > 0 && estimate(full, step, d) < t)
		d--;
	while (d < most && estimate(full, step, d + 1) >= t)
		d++;
	return d;
}

double
minhash_resemblance(int k, int b, int d)
{
	double values = (double) (UINT64_C(1) << b);

	return estimate(k * (values - 1), values, d);
}

int
minhash_radius(int k, int b, double t)
{
	double values = (double) (UINT64_C(1) << b);

	return radius(k * (values - 1), values, k, t);
}

double
simhash_similarity(int f, int d)
{
	return estimate(f, 1, d);
}

int
simhash_radius(int f, double t)
{
	return radius(f, 1, f, t);
}

double
minhash_standard_error(int k, int b, double r)
{
	double chance = ldexp(1, -b);
	double agree = r + (1 - r) * chance;

	return sqrt(agree * (1 - agree) / k) / (1 - chance);
}

/*
 * Chance that a binomial variable, n trials that succeed with chance p and
 * fail with chance q, is at most m < n.  Terms are summed from the last
 * downwards, so m should lie below the mean.
 */
static double
binomial_below(int n, double p, double q, int m)
{
	double term =
		exp(lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1) + m * log(p) + (n - m) * log(q));
	double sum = 0;

	for (int i = m; i >= 0 && term > sum * 1e-17; i--)
	{
		sum += term;
		term *= i / (n - i + 1.0) * (q / p);
	}
	return sum < 1 ? sum : 1;
}

double
chance_within(int k, int b, int h)
{
	double agree = ldexp(1, -b);
	double differ = 1 - agree;

	if (h < 0)
		return 0;
	if (h >= k)
		return 1;
	if (h < k * differ)
		return binomial_below(k, differ, agree, h);
	return 1 - binomial_below(k, agree, differ, k - h - 1);
}

double
containment_of_resemblance(double r, double n_a, double n_b)
{
	double share = r * (n_a + n_b) / ((1 + r) * n_a);

	return share < 1 ? share : 1;
}

double
lsh_collision_probability(double s, int bands, int rows)
{
	/* 1 - (1 - s^rows)^bands without losing a small s^rows. */
	return -expm1(bands * log1p(-pow(s, rows)));
}

bool
lsh_choose(double threshold, int k, double recall, int *bands, int *rows)
{
	for (*rows = k; *rows > 0; --*rows)
	{
		if (lsh_collision_probability(threshold, k / *rows, *rows) < recall)
			continue;
		/* Among equal rows the fewest bands let the fewest strangers in. */
		*bands = 1;
		while (lsh_collision_probability(threshold, *bands, *rows) < recall)
			++*bands;
		return true;
	}
	return false;
}

int
minhash_band_keys(const uint8_t *packed, int k, int b, int rows, uint64_t *keys)
{
	int bands = k / rows;

	for (int band = 0; band < bands; band++)
	{
		uint64_t key = mix64((uint64_t) rows << 32 | (uint32_t) band);

		for (int i = band * rows; i < (band + 1) * rows; i++)
			key = mix64(key ^ symbol_at(packed, b, i));
		keys[band] = key;
	}
	return bands;
}
