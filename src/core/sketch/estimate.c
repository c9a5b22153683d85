/*
 * estimate.c: estimates of similarity from the number of symbols that differ.
 *
 * Both similarities have the form (full - d * step) / full with whole numbers below 2^53,
 * so only the division rounds.  The radius of a threshold comes from the same expression,
 * so functions, operators and indexes never disagree at the threshold.
 */
#include "sketch/sketch.h"

#include <math.h>

#include "base/hash.h"

static inline double
estimate_share(double full, double step, int d)
{
	return (full - d * step) / full;
}

/* Returns the largest d <= most with estimate(full, step, d) >= t: a guess, corrected. */
static int
radius(double full, double step, int most, double t)
{
	double guess = full * (1 - t) / step;
	int d = (int) Min(guess, most);

	while (d > 0 && estimate_share(full, step, d) < t)
		d--;
	while (d < most && estimate_share(full, step, d + 1) >= t)
		d++;
	return d;
}

/*
 * Returns the estimated resemblance of two sets if d of k symbols differ:
 * (k (2^b - 1) - d 2^b) / (k (2^b - 1)), which is (E - 2^-b) / (1 - 2^-b) for
 * E = 1 - d / k (Li and Konig, WWW 2010, section 3), rounded once.  It may be negative.
 */
double
minhash_resemblance(int k, int b, int d)
{
	double values = (double) (UINT64_C(1) << b);

	return estimate_share(k * (values - 1), values, d);
}

/* Returns the largest d whose minhash_resemblance is at least t, in (0, 1]. */
int
minhash_radius(int k, int b, double t)
{
	double values = (double) (UINT64_C(1) << b);

	return radius(k * (values - 1), values, k, t);
}

/* Returns (f - d) / f. */
double
simhash_similarity(int f, int d)
{
	return estimate_share(f, 1, d);
}

/* Returns the largest d for which (f - d) / f is at least t, in (0, 1]. */
int
simhash_radius(int f, double t)
{
	return radius(f, 1, f, t);
}

/*
 * Returns the probability r + (1 - r) 2^-b that a symbol of b bits agrees if the resemblance is
 * r.
 */
double
symbol_agreement(int b, double r)
{
	return r + (1 - r) * ldexp(1, -b);
}

/* Returns the standard error of minhash_resemblance if the resemblance is r. */
double
minhash_standard_error(int k, int b, double r)
{
	double agree = symbol_agreement(b, r);

	return sqrt(agree * (1 - agree) / k) / (1 - ldexp(1, -b));
}

/*
 * Returns the probability that at most m < n of n trials succeed, each with probability
 * p = 1 - q.  Sums the terms from the last one down, so m should be below the mean.
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
	return Min(sum, 1);
}

/*
 * Returns the probability that the signatures of two sets of resemblance r differ in at
 * most h of k symbols of b bits, each of which agrees with probability symbol_agreement(b, r).
 */
double
chance_within(int k, int b, double r, int h)
{
	double differ = (1 - r) * (1 - ldexp(1, -b));
	double agree = 1 - differ;

	if (h < 0)
		return 0;
	if (h >= k)
		return 1;
	if (h < k * differ)
		return binomial_below(k, differ, agree, h);
	return 1 - binomial_below(k, agree, differ, k - h - 1);
}

/*
 * Returns the containment of a set of n_a elements in one of n_b, if their resemblance is
 * r: r (n_a + n_b) / ((1 + r) n_a), at most 1.
 */
double
containment_of_resemblance(double r, double n_a, double n_b)
{
	double share = r * (n_a + n_b) / ((1 + r) * n_a);

	return Min(share, 1);
}

/*
 * Returns the probability that two sets of similarity s agree in a band:
 * 1 - (1 - s^rows)^bands.
 */
double
lsh_collision_probability(double s, int bands, int rows)
{
	/* 1 - (1 - s^rows)^bands, exact for small s^rows, too. */
	return -expm1(bands * log1p(-pow(s, rows)));
}

/*
 * Chooses the most rows (hence the fewest candidates), and then the fewest bands, with
 * bands * rows <= k, that find a pair whose symbols agree with probability `agree` with
 * probability `recall` or more.  Returns false if bands of one row do not.
 */
bool
lsh_choose(double agree, int k, double recall, int *bands, int *rows)
{
	for (*rows = k; *rows > 0; --*rows)
	{
		if (lsh_collision_probability(agree, k / *rows, *rows) < recall)
			continue;
		/* For a number of rows, the fewest bands give the fewest candidates. */
		*bands = 1;
		while (lsh_collision_probability(agree, *bands, *rows) < recall)
			++*bands;
		return true;
	}
	return false;
}

/* Computes a key for each band of `rows` symbols; returns their number, floor(k / rows). */
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
