/*
 * test_minhash.c: the sketch as an estimator and as an algebra.
 *
 * All sets come from a fixed seed, so the figures are the same on every machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sketch/minhash.h"
#include "random.h"
#include "unit.h"

#define SIZES 4
#define RESEMBLANCES 6

static uint64_t
sketch_of(const uint64_t *elements, size_t count, int k, uint32_t *symbols)
{
	MinhashBuilder builder;

	minhash_begin(&builder, 16);
	minhash_add(&builder, elements, count);
	return minhash_finish(&builder, k, symbols);
}

/* ---- Bias and variance -------------------------------------------------- */

typedef struct Moments
{
	double sum;
	double squares;
} Moments;

/* Estimates the resemblance of two sets of n elements that share `common`, by width. */
static void
one_trial(int n, int common, int k, uint64_t *state, double resemblance, Moments *moments)
{
	static const int widths[] = {1, 2, 32};
	uint64_t *a = malloc(2 * n * sizeof(uint64_t));
	uint64_t *b = a + n;
	uint32_t symbols[2][512];
	uint8_t packed[2][512 * 4];

	for (int i = 0; i < n; i++)
		a[i] = next_random(state);
	for (int i = 0; i < n; i++)
		b[i] = i < common ? a[i] : next_random(state);
	sketch_of(a, n, k, symbols[0]);
	sketch_of(b, n, k, symbols[1]);
	for (int w = 0; w < 3; w++)
	{
		double error;

		minhash_pack(symbols[0], k, widths[w], packed[0]);
		minhash_pack(symbols[1], k, widths[w], packed[1]);
		error =
			minhash_resemblance(k, widths[w], symbol_distance(packed[0], packed[1], k, widths[w])) -
			resemblance;
		moments[w].sum += error;
		moments[w].squares += error * error;
	}
	free(a);
}

static void
check_moments(int n, int k, int b, double resemblance, int trials, Moments m)
{
	double chance = ldexp(1, -b);
	double agree = resemblance + (1 - resemblance) * chance;
	double independent = agree * (1 - agree) / (k * (1 - chance) * (1 - chance));
	double mean = m.sum / trials;
	double variance = m.squares / trials - mean * mean;
	double limit = b == 32 && n < k ? 0.65 : 1.15;

	if (getenv("NEARDUP_SHOW") != NULL)
		printf("n %5d k %3d b %2d J %.4f: error %+.5f (%+.1f standard errors), variance %.3f\n", n,
			   k, b, resemblance, mean, mean / sqrt(variance / trials), variance / independent);
	CHECK(fabs(mean) <= 4 * sqrt(variance / trials));
	CHECK(variance <= limit * independent);
}

/*
 * For sets of every size the mean error is only noise, and the variance is at most that of
 * independent permutations (half of it for small sets).
 */
static void
test_estimates(void)
{
	static const int sizes[SIZES] = {5, 50, 500, 20000};
	static const double wanted[RESEMBLANCES] = {0.1, 0.3, 0.5, 0.7, 0.9, 0.97};
	uint64_t state = 20120;

	for (int k = 128; k <= 512; k += 384)
		for (int s = 0; s < SIZES; s++)
			for (int r = 0; r < RESEMBLANCES; r++)
			{
				int n = sizes[s];
				int trials = n > 1000 ? 1500 : 2000;
				int common = (int) lround(2 * n * wanted[r] / (1 + wanted[r]));
				Moments moments[3] = {{0}};
				double resemblance;

				common = common < n ? common : n - 1;
				resemblance = (double) common / (2 * n - common);
				for (int t = 0; t < trials; t++)
					one_trial(n, common, k, &state, resemblance, moments);
				check_moments(n, k, 1, resemblance, trials, moments[0]);
				check_moments(n, k, 2, resemblance, trials, moments[1]);
				check_moments(n, k, 32, resemblance, trials, moments[2]);
			}
}

/* ---- Algebra ------------------------------------------------------------ */

/* The sketch depends only on the set, and sketches merge. */
static void
test_sets(void)
{
	static const int sizes[] = {1, 2, 3, 7, 31, 63, 64, 65, 200, 5000};
	static const int ks[] = {16, 100, 400, 512, 16384};
	static uint32_t x[16384], y[16384], both[16384];
	uint64_t element[10000];
	uint64_t state = 1;

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		for (size_t j = 0; j < sizeof(ks) / sizeof(*ks); j++)
		{
			int n = sizes[s];
			int k = ks[j];
			bool merges = true;

			for (int i = 0; i < n; i++)
				element[i] = element[2 * n - 1 - i] = next_random(&state);
			CHECK(sketch_of(element, n, k, x) == (uint64_t) n);
			CHECK(sketch_of(element, 2 * n, k, y) == (uint64_t) n);
			CHECK(memcmp(x, y, k * sizeof(*x)) == 0);
			for (int i = n; i < 2 * n; i++)
				element[i] = next_random(&state);
			sketch_of(element + n, n, k, y);
			sketch_of(element, 2 * n, k, both);
			for (int i = 0; i < k; i++)
				merges &= both[i] == (x[i] < y[i] ? x[i] : y[i]) && both[i] != MINHASH_EMPTY_SYMBOL;
			CHECK(merges);
		}
	CHECK(sketch_of(NULL, 0, 16, x) == 0 && x[0] == MINHASH_EMPTY_SYMBOL);
}

/* ---- Crafted sets --------------------------------------------------------- */

static int
compare_mixed(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x;
	uint64_t b = *(const uint64_t *) y;

	return (a > b) - (a < b);
}

/*
 * Takes an element through a round as the recipe says, one lane alone.  The plain kernel keeps
 * all lanes.
 */
static void
take_element(uint64_t mixed, uint32_t round, int k, uint32_t *symbols)
{
	static const uint32_t step[1] = {0};
	Lanes lanes;

	if (round == 0)
		round_kernels->first(&mixed, 1, k, &lanes);
	else
		round_kernels->later(&mixed, step, 1, round, k, symbols, &lanes);
	if (lanes.symbol[0] < symbols[lanes.bin[0]])
		symbols[lanes.bin[0]] = lanes.symbol[0];
}

/* The sketch by its definition, round by round: n ascending elements, given as mix64 of each. */
static void
model_sketch(const uint64_t *mixed, size_t n, int k, uint32_t *symbols)
{
	uint32_t last = ((uint32_t) k + 63) / 64 * 64;

	memset(symbols, 0xFF, k * sizeof(uint32_t));
	for (uint32_t round = 0; round <= last; round++)
		for (size_t i = 0; i < (round == 0 || n * round < 64 * (size_t) k || n < 64 ? n : 64); i++)
			take_element(mixed[i], round, k, symbols);
	for (int bin = 0; bin < k; bin++)
		for (size_t i = 0; symbols[bin] >> 16 >= (0x8000 | (last + 1)) && i < (n < 64 ? n : 64);
			 i++)
		{
			static const uint32_t step[1] = {0};
			Lanes lanes;
			uint32_t symbol;

			round_kernels->later(&mixed[i], step, 1, last + 1 + bin, k, symbols, &lanes);
			symbol = (0x8000 | (last + 1)) << 16 | (lanes.symbol[0] & 0xFFFF);
			symbols[bin] = symbol < symbols[bin] ? symbol : symbols[bin];
		}
}

/* Does an element miss a bin in all rounds? */
static bool
misses(uint64_t mixed, uint32_t bin, int k)
{
	uint32_t last = ((uint32_t) k + 63) / 64 * 64;
	uint32_t step[64];
	uint64_t element[64];
	Lanes lanes;

	round_kernels->first(&mixed, 1, k, &lanes);
	if (lanes.bin[0] == bin)
		return false;
	for (uint32_t i = 0; i < 64; i++)
	{
		step[i] = i;
		element[i] = mixed;
	}
	for (uint32_t round = 1; round <= last; round += 64)
	{
		round_kernels->later(element, step, 64, round, k, NULL, &lanes);
		for (int i = 0; i < 64; i++)
			if (lanes.bin[i] == bin)
				return false;
	}
	return true;
}

/*
 * Elements that all miss a bin, in every round, once took as many steps as n * k.  Their
 * sketch is the one of the definition, in any order; so are sketches of ordinary sets.
 */
static void
test_crafted(void)
{
	static const int shapes[][2] = {{100, 16},  {65, 16},   {64, 64},    {63, 64},
									{1000, 64}, {5000, 64}, {20000, 256}};
	static uint64_t element[20000], mixed[20000];
	static uint32_t x[256], y[256], model[256];
	uint64_t state = 8;

	for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
		for (int crafted = 0; crafted < 2; crafted++)
		{
			int n = shapes[s][0];
			int k = shapes[s][1];

			for (int i = 0; i < n;)
			{
				element[i] = next_random(&state);
				mixed[i] = mix64(element[i]);
				i += !crafted || misses(mixed[i], 3, k);
			}
			sketch_of(element, n, k, x);
			for (int i = 0; i < n / 2; i++)
			{
				uint64_t swap = element[i];

				element[i] = element[n - 1 - i];
				element[n - 1 - i] = swap;
			}
			sketch_of(element, n, k, y);
			qsort(mixed, n, sizeof(uint64_t), compare_mixed);
			model_sketch(mixed, n, k, model);
			CHECK(memcmp(x, model, k * sizeof(uint32_t)) == 0);
			CHECK(memcmp(x, y, k * sizeof(uint32_t)) == 0);
		}
}

/* ---- Odd elements ---------------------------------------------------------- */

/* Zero and small numbers are elements like any other; equal elements count once. */
static void
test_odd_elements(void)
{
	uint64_t element[] = {0, 1, 2, 3, UINT64_MAX, 0, 1};
	uint64_t many[1000];
	uint32_t x[64], y[64];
	MinhashBuilder builder;

	CHECK(sketch_of(element, 7, 64, x) == 5);
	CHECK(sketch_of(element, 1, 64, y) == 1 && memcmp(x, y, sizeof(x)) != 0);
	minhash_begin(&builder, 0);
	for (uint64_t i = 0; i < 300; i++)
	{
		for (int j = 0; j < 1000; j++)
			many[j] = i * 500 + j;
		minhash_add(&builder, many, 1000);
	}
	CHECK(minhash_finish(&builder, 64, x) == 300 * 500 + 500);
}

/* Packing and truncating agree, in any number of steps. */
static void
test_packing(void)
{
	static const int widths[] = {1, 2, 4, 8, 16, 32};
	static const int ks[] = {16, 100, 129, 512};
	uint32_t symbols[512];
	uint64_t state = 7;

	for (size_t j = 0; j < sizeof(ks) / sizeof(*ks); j++)
		for (int from = 0; from < 6; from++)
			for (int to = 0; to < from; to++)
			{
				int k = ks[j];
				uint8_t wide[2048], direct[2048] = {0}, truncated[2048] = {0};
				uint32_t mask = (UINT32_C(1) << widths[to]) - 1;
				bool low_bits = true;

				for (int i = 0; i < k; i++)
					symbols[i] = (uint32_t) next_random(&state);
				minhash_pack(symbols, k, widths[from], wide);
				minhash_pack(symbols, k, widths[to], direct);
				minhash_truncate(wide, k, widths[from], widths[to], truncated);
				CHECK(memcmp(direct, truncated, sizeof(direct)) == 0);
				for (int i = 0; i < k; i++)
					low_bits &= widths[from] == 32 ? symbol_at(wide, 32, i) == symbols[i] :
													 symbol_at(direct, widths[to], i) ==
							(symbol_at(wide, widths[from], i) & mask);
				CHECK(low_bits);
			}
}

/* ---- Kernels ------------------------------------------------------------ */

/* Takes elements, which are in round 9 and some after it, into bins by a kernel. */
static void
take_by(const RoundKernel *kernel, const uint64_t *element, const uint32_t *step, int count, int k,
		uint32_t *symbols)
{
	Lanes lanes;
	int kept = kernel->later(element, step, count, 9, k, symbols, &lanes);

	CHECK(kept <= count);
	for (int i = 0; i < kept; i++)
		if (lanes.symbol[i] < symbols[lanes.bin[i]])
			symbols[lanes.bin[i]] = lanes.symbol[i];
}

/* Every kernel compared with plain C, with bins that no round, earlier ones or the same have filled. */
static void
test_round_kernels(void)
{
	static const int ks[] = {16, 100, 400, 511, 512, 513, 16384};
	static uint32_t before[16384], plain[16384], symbols[16384];
	uint64_t element[LANES];
	uint32_t step[LANES];
	uint64_t state = 3;

	for (const RoundKernel *kernel = round_kernels; kernel->name != NULL; kernel++)
		for (int count = 1; kernel->available() && count <= LANES; count += 73)
		{
			Lanes by_plain, lanes;

			memset(&by_plain, 0, sizeof(by_plain));
			memset(&lanes, 0, sizeof(lanes));
			for (int i = 0; i < count; i++)
			{
				element[i] = next_random(&state);
				step[i] = (uint32_t) (i % 7);
			}
			round_kernels->first(element, count, 400, &by_plain);
			kernel->first(element, count, 400, &lanes);
			CHECK(memcmp(&by_plain, &lanes, sizeof(lanes)) == 0);
			for (size_t j = 0; j < sizeof(ks) / sizeof(*ks); j++)
			{
				size_t bytes = ks[j] * sizeof(uint32_t);

				for (int bin = 0; bin < ks[j]; bin++)
				{
					uint32_t some = (uint32_t) next_random(&state);
					uint32_t filled[] = {MINHASH_EMPTY_SYMBOL, some >> 1, 0x80080000 | some >> 16,
										 0x80090000 | some >> 16};

					before[bin] = filled[some % 4];
				}
				memcpy(plain, before, bytes);
				memcpy(symbols, before, bytes);
				take_by(round_kernels, element, step, count, ks[j], plain);
				take_by(kernel, element, step, count, ks[j], symbols);
				CHECK(memcmp(plain, symbols, bytes) == 0);
				CHECK(memcmp(plain, before, bytes) != 0 || count == 1);
			}
		}
}

/* Every kernel compared with counting symbols one by one. */
static void
test_distance_kernels(void)
{
	static const int widths[] = {1, 2, 4, 8, 16, 32};
	static const int ks[] = {16, 17, 63, 64, 100, 129, 512};
	uint64_t state = 5;

	for (const DistanceKernel *kernel = distance_kernels; kernel->name != NULL; kernel++)
		for (int w = 0; w < 6; w++)
			for (size_t j = 0; kernel->available() && j < sizeof(ks) / sizeof(*ks); j++)
			{
				int k = ks[j];
				int differ = 0;
				uint32_t symbols[512];
				uint8_t x[2048], y[2048];

				for (int i = 0; i < k; i++)
					symbols[i] = (uint32_t) next_random(&state);
				minhash_pack(symbols, k, widths[w], x);
				for (int i = 0; i < k; i++)
					if (next_random(&state) % 3 == 0)
						symbols[i] ^= UINT32_C(1) << next_random(&state) % 32;
				minhash_pack(symbols, k, widths[w], y);
				for (int i = 0; i < k; i++)
					differ += symbol_at(x, widths[w], i) != symbol_at(y, widths[w], i);
				CHECK(kernel->distance(x, y, k, widths[w]) == differ);
				CHECK(symbol_distance(x, y, k, widths[w]) == differ);
			}
}

/* Distances to many signatures, at any stride, and the least, compared with those one by one. */
static void
test_many_distances(void)
{
	static const int shapes[][2] = {{64, 1},  {16, 1},  {100, 1}, {400, 1}, {512, 1}, {1000, 1},
									{128, 2}, {100, 4}, {128, 8}, {77, 16}, {64, 32}};
	static const int counts[] = {1, 7, 8, 9, 31, 116};
	uint8_t query[256];
	uint64_t state = 6;

	for (size_t at = 0; at < sizeof(query); at++)
		query[at] = (uint8_t) next_random(&state);
	for (const DistanceKernel *kernel = distance_kernels; kernel->name != NULL; kernel++)
		for (size_t i = 0; kernel->available() && i < sizeof(shapes) / sizeof(*shapes); i++)
			for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++)
			{
				int k = shapes[i][0];
				int b = shapes[i][1];
				size_t bytes = SYMBOL_BYTES(k, b);
				size_t stride = bytes + c % 3 * 8;
				/* No byte after the last signature may be read. */
				size_t size = (counts[c] - 1) * stride + bytes;
				uint8_t *packed = malloc(size);
				int32_t distance[116];
				int least = INT32_MAX;
				int returned;
				int wrong = 0;

				for (size_t at = 0; at < size; at++)
					packed[at] = (uint8_t) next_random(&state);
				returned = kernel->distances(query, packed, stride, counts[c], k, b, distance);
				for (int d = 0; d < counts[c]; d++)
				{
					int one = distance_kernels[0].distance(query, packed + d * stride, k, b);

					wrong += distance[d] != one;
					least = Min(least, one);
				}
				CHECK(wrong == 0);
				CHECK(returned == least);
				free(packed);
			}
}

/* ---- simhash ------------------------------------------------------------ */

/* Bit-sliced counting compared with sums of weights. */
static void
test_simhash(void)
{
	static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 100, 1000, 70000};
	uint64_t *element = malloc(70000 * sizeof(uint64_t));
	uint64_t state = 11;

	for (int f = 64; f <= 512; f *= 2)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		{
			size_t n = sizes[s];
			uint8_t counted[64], weighted[64];
			SimhashBuilder builder;

			for (size_t i = 0; i < n; i++)
				element[i] = next_random(&state);
			simhash_begin(&builder, f);
			simhash_add(&builder, element, n / 3);
			simhash_add(&builder, element + n / 3, n - n / 3);
			CHECK(simhash_finish(&builder, counted) == n);
			simhash_begin(&builder, f);
			for (size_t i = 0; i < n; i++)
				simhash_add_weighted(&builder, element[i], 3);
			CHECK(simhash_finish(&builder, weighted) == 3 * n);
			CHECK(memcmp(counted, weighted, f / 8) == 0);
		}
	free(element);
}

int
main(void)
{
	test_sets();
	test_crafted();
	test_odd_elements();
	test_packing();
	test_round_kernels();
	test_distance_kernels();
	test_many_distances();
	test_simhash();
#ifdef __SANITIZE_ADDRESS__
	(void) test_estimates; /* takes minutes under sanitizers, and they add nothing to statistics */
#else
	test_estimates();
#endif
	return unit_report();
}
