/*
 * fuzz_sketch.c: minhash and simhash of any hashes, their distances by each
 * kernel, and the estimators.
 */
#include <math.h>

#include "documents.h"
#include "sketch/minhash.h"

#define K_MAX 300
#define HASHES_MAX 400

/* ---- minhash ------------------------------------------------------------- */

static uint64_t
sketch_of(const uint64_t *hash, size_t count, size_t batch, int k, uint32_t *symbols)
{
	MinhashBuilder builder;

	minhash_begin(&builder, batch % 7);
	for (size_t at = 0; at < count; at += batch)
		minhash_add(&builder, hash + at, count - at < batch ? count - at : batch);
	return minhash_finish(&builder, k, symbols);
}

static int
compare_hashes(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x;
	uint64_t b = *(const uint64_t *) y;

	return (a > b) - (a < b);
}

static uint64_t
count_distinct(const uint64_t *hash, size_t count)
{
	uint64_t sorted[HASHES_MAX];
	uint64_t distinct = 0;

	memcpy(sorted, hash, count * sizeof(uint64_t));
	qsort(sorted, count, sizeof(uint64_t), compare_hashes);
	for (size_t i = 0; i < count; i++)
		distinct += i == 0 || sorted[i] != sorted[i - 1];
	return distinct;
}

/* The sketch of a set is the union of those of its halves, in any batches. */
static void
check_sketches(const uint64_t *hash, size_t count, size_t cut, size_t batch, int k)
{
	uint32_t x[K_MAX], y[K_MAX], both[K_MAX];
	uint8_t packed_x[K_MAX * 4], packed_y[K_MAX * 4], packed[K_MAX * 4], expected[K_MAX * 4];

	REQUIRE(sketch_of(hash, count, batch, k, both) == count_distinct(hash, count));
	sketch_of(hash, count, count + 1, k, x);
	REQUIRE(memcmp(x, both, k * sizeof(uint32_t)) == 0);
	sketch_of(hash, cut, batch, k, x);
	sketch_of(hash + cut, count - cut, batch, k, y);
	minhash_pack(x, k, 32, packed_x);
	minhash_pack(y, k, 32, packed_y);
	minhash_pack(both, k, 32, expected);
	minhash_union(packed_x, packed_y, k, packed);
	REQUIRE(memcmp(packed, expected, k * 4) == 0);
}

/* Truncating a packed signature equals packing to fewer bits. */
static void
check_packing(const uint64_t *hash, size_t count, int k, int b_from, int b_to)
{
	uint32_t symbols[K_MAX];
	uint8_t *wide = malloc(SYMBOL_BYTES(k, b_from));
	uint8_t *cut = malloc(SYMBOL_BYTES(k, b_to));
	uint8_t *direct = malloc(SYMBOL_BYTES(k, b_to));
	uint64_t keys[K_MAX];
	int rows = 1 + (int) (count % k);

	sketch_of(hash, count, 64, k, symbols);
	minhash_pack(symbols, k, b_from, wide);
	minhash_pack(symbols, k, b_to, direct);
	if (b_to < b_from)
	{
		minhash_truncate(wide, k, b_from, b_to, cut);
		REQUIRE(memcmp(cut, direct, SYMBOL_BYTES(k, b_to)) == 0);
	}
	REQUIRE(minhash_band_keys(wide, k, b_from, rows, keys) == k / rows);
	for (int i = 0; i < k; i++)
		symbol_at(wide, b_from, i);
	free(wide);
	free(cut);
	free(direct);
}

/* ---- simhash ------------------------------------------------------------- */

/* Votes in batches and by frequency give the same fingerprint. */
static void
check_simhash(const uint64_t *hash, size_t count, size_t batch, int f)
{
	SimhashBuilder builder;
	uint8_t batched[64], weighted[64];

	simhash_begin(&builder, f);
	for (size_t at = 0; at < count; at += batch)
		simhash_add(&builder, hash + at, count - at < batch ? count - at : batch);
	REQUIRE(simhash_finish(&builder, batched) == count);
	simhash_begin(&builder, f);
	for (size_t i = 0; i < count; i++)
		simhash_add_weighted(&builder, hash[i], 3);
	REQUIRE(simhash_finish(&builder, weighted) == 3 * count);
	REQUIRE(memcmp(batched, weighted, f / 8) == 0);
}

/* ---- Distances and estimates --------------------------------------------- */

static int
slow_distance(const uint8_t *x, const uint8_t *y, int k, int b)
{
	int differ = 0;

	for (int i = 0; i < k; i++)
		differ += symbol_at(x, b, i) != symbol_at(y, b, i);
	return differ;
}

/* Every kernel agrees with comparing symbols one by one. */
static void
check_distances(const Documents *d)
{
	int expected[16];
	int32_t found[16];

	for (uint32_t i = 0; i < d->n; i++)
		expected[i] = slow_distance(d->packed, document_at(d, i), d->k, d->b);
	for (const DistanceKernel *kernel = distance_kernels; kernel->name != NULL; kernel++)
	{
		if (!kernel->available())
			continue;
		kernel->distances(d->packed, d->packed, d->stride, (int) d->n, d->k, d->b, found);
		for (uint32_t i = 0; i < d->n; i++)
		{
			REQUIRE(kernel->distance(d->packed, document_at(d, i), d->k, d->b) == expected[i]);
			REQUIRE(found[i] == expected[i]);
		}
	}
}

/* The radius is the largest distance whose similarity is at least the threshold. */
static void
check_estimates(int k, int b, double t, double recall)
{
	int d = minhash_radius(k, b, t);
	int bands;
	int rows;

	REQUIRE(d >= 0 && d <= k && minhash_resemblance(k, b, d) >= t);
	REQUIRE(d == k || minhash_resemblance(k, b, d + 1) < t);
	d = simhash_radius(k, t);
	REQUIRE(d >= 0 && d <= k && simhash_similarity(k, d) >= t);
	REQUIRE(d == k || simhash_similarity(k, d + 1) < t);
	REQUIRE(minhash_standard_error(k, b, t) >= 0);
	REQUIRE(chance_within(k, b, 0, d) >= 0 && chance_within(k, b, 0, d) <= 1);
	if (lsh_choose(t, k, recall, &bands, &rows))
	{
		REQUIRE(bands >= 1 && rows >= 1 && bands * rows <= k);
		REQUIRE(lsh_collision_probability(t, bands, rows) >= recall);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint8_t option = take_byte(&in);
	uint64_t hash[HASHES_MAX];
	size_t count = (size_t) take_range(&in, 0, HASHES_MAX);
	size_t cut = (size_t) take_range(&in, 0, (int) count);
	size_t batch = (size_t) take_range(&in, 1, 300);
	double threshold = (1 + take_byte(&in)) / 256.0;
	double recall = (1 + take_byte(&in)) / 257.0;
	uint64_t seed = take_byte(&in);
	Documents d;
	int k;
	int b;

	take_shape(&in, K_MAX, &k, &b);
	d = take_documents(&in, k, b, 1 + option % 16, SYMBOL_BYTES(k, b));
	for (size_t i = 0; i < count; i++)
		hash[i] = in.left >= 8 ? take_number(&in, 8) : next_random(&seed) & 0xFFF;
	check_sketches(hash, count, cut, batch, k);
	check_packing(hash, count, k, b, 1 << (option >> 4) % 6);
	check_simhash(hash, count, batch, 64 << (option & 3));
	check_distances(&d);
	check_estimates(k, b, threshold, recall);
	free(d.packed);
	return 0;
}
