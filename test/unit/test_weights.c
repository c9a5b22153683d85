/*
 * test_weights.c: lexicons, copies, and sketches of weighted sets.
 */
#include <math.h>
#include <string.h>

#include "random.h"
#include "sketch/common_elements.h"
#include "sketch/counts.h"
#include "sketch/sketch.h"
#include "unit.h"

/* ---- Looking up ----------------------------------------------------------- */

/* A lookup finds the weight of each key, and WEIGHT_MAX for all others. */
static void
check_lookup(const uint32_t *key, const uint8_t *weight, uint32_t count)
{
	Weights weights;

	weights_begin(&weights, key, weight, count);
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t mixed = (uint64_t) key[i] << 32 | (i * 77);

		CHECK(weight_of(&weights, mixed) == weight[i]);
		if (i + 1 < count && key[i + 1] > key[i] + 1)
			CHECK(weight_of(&weights, mixed + (UINT64_C(1) << 32)) == WEIGHT_MAX);
	}
	host_free(weights.start);
}

static void
test_lookup(void)
{
	static const uint32_t ends[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
	static const uint8_t weight[] = {0, 3, 14, 1, 7};
	static uint32_t crowded[5000];
	static uint8_t weights[5000];
	Weights none;

	check_lookup(ends, weight, 5);
	for (uint32_t i = 0; i < 5000; i++)
	{
		crowded[i] = 0x40000000 + 2 * i;
		weights[i] = i % WEIGHT_MAX;
	}
	check_lookup(crowded, weights, 5000);
	weights_begin(&none, NULL, NULL, 0);
	CHECK(weight_of(&none, 0) == WEIGHT_MAX && weight_of(&none, UINT64_MAX) == WEIGHT_MAX);
	host_free(none.start);
}

/* ---- Copies --------------------------------------------------------------- */

/* The sketch of a weighted set is the sketch of the plain set of its copies. */
static void
test_copies(void)
{
	int64_t element[] = {-5, 0, 1, 77};
	uint32_t frequency[] = {1, 15, 3, 200};
	Bag bag = {.count = 4, .element = element, .frequency = frequency};
	uint32_t weighted[64];
	uint32_t plain[64];
	MinhashBuilder builder;

	minhash_begin(&builder, 0);
	for (uint32_t i = 0; i < bag.count; i++)
		for (uint32_t copy = 1; copy <= frequency[i]; copy++)
		{
			uint64_t e = (uint64_t) element[i];
			uint64_t hash = copy == 1 ? e : mix64(e) + (copy - 1) * UINT64_C(0x9E3779B97F4A7C15);

			minhash_add(&builder, &hash, 1);
		}
	CHECK(minhash_finish(&builder, 64, plain) == bag_total(&bag));
	CHECK(minhash_of_copies(&bag, 64, weighted) == bag_total(&bag));
	CHECK(memcmp(plain, weighted, sizeof(plain)) == 0);
	bag.frequency = NULL;
	CHECK(minhash_of_copies(&bag, 64, weighted) == 4);
	bag.count = 0;
	CHECK(minhash_of_copies(&bag, 64, weighted) == 0 && weighted[0] == MINHASH_EMPTY_SYMBOL);
}

/* A bag that is weighed gives the sketch of its elements weighed one by one. */
/* Copies are the same in batches of any size. */
static void
test_batches(void)
{
	int64_t element[] = {-5, 0, 1, 77, 9};
	uint32_t frequency[] = {1, 15, 300, 2, 1};
	Bag bag = {.count = 5, .element = element, .frequency = frequency};
	uint64_t all[400], some[400];

	for (size_t room = 1; room <= 320; room++)
	{
		Copies copies = copies_of_bag(&bag);
		CopiesPosition position = {0};
		size_t made = 0;

		CHECK(copies.count == 319 && copies_next(&copies, &position, all, 400) == 319);
		CHECK(copies_next(&copies, &position, all + 319, 1) == 0);
		position = (CopiesPosition){0};
		for (size_t count = 1; count > 0 && made + room <= 400; made += count)
			count = copies_next(&copies, &position, some + made, room);
		CHECK(memcmp(all, some, made * sizeof(uint64_t)) == 0);
		copies_end(&copies);
	}
}

/* Many copies take no memory, and have the sketch of the definition: one round, if that fills all bins. */
static void
test_many_copies(void)
{
	int64_t element[] = {3, 4};
	uint32_t frequency[] = {5000000, 20};
	Bag bag = {.count = 2, .element = element, .frequency = frequency};
	Copies copies = copies_of_bag(&bag);
	CopiesPosition position = {0};
	static uint32_t symbols[512], least[512];
	uint64_t mixed;
	size_t before;

	memset(least, 0xFF, sizeof(least));
	while (copies_next(&copies, &position, &mixed, 1) > 0)
	{
		uint32_t bin = (uint32_t) (mixed >> 48) * 512 >> 16;
		uint32_t symbol = (uint32_t) mixed >> 1;

		least[bin] = symbol < least[bin] ? symbol : least[bin];
	}
	copies_end(&copies);
	before = host_peak = host_memory;
	CHECK(minhash_of_copies(&bag, 512, symbols) == 5000020);
	CHECK(memcmp(symbols, least, sizeof(least)) == 0);
	CHECK(host_peak - before < 4096 && host_memory == before);
}

/* Counting takes at most the memory that it is given. */
static void
test_memory(void)
{
	uint32_t *key;
	uint8_t *weight;
	static const size_t most[] = {2000, 5000, 70000, 140000, 600000};

	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++)
	{
		size_t before = host_peak = host_memory;
		ElementCounts counts;

		counts_begin(&counts, most[i]);
		for (uint64_t document = 0; document < 3; document++)
		{
			counts_next(&counts);
			for (uint64_t e = 0; e < 2 * most[i]; e++)
				counts_add(&counts, &e, 1);
		}
		(void) counts_finish(&counts, 1000, 1, &key, &weight);
		host_free(key);
		host_free(weight);
		CHECK(host_peak - before <= most[i] * COUNTS_BYTES + 65536);
		CHECK(host_memory == before);
	}
}

static void
test_weigh(void)
{
	uint32_t key[100];
	uint8_t weight[100];
	uint64_t hashes[300];
	uint32_t symbols[128];
	uint32_t others[128];
	Weights weights;
	MinhashBuilder builder;
	BagBuilder bag_builder;
	Bag bag;
	Bag weighed;

	for (uint32_t i = 0; i < 300; i++)
		hashes[i] = next_random(&random_seed);
	for (uint32_t i = 0; i < 100; i++)
	{
		key[i] = weight_key(mix64(hashes[i]));
		weight[i] = i % WEIGHT_MAX;
	}
	for (uint32_t i = 1; i < 100; i++)
		for (uint32_t j = i; j > 0 && key[j - 1] > key[j]; j--)
		{
			uint32_t k = key[j];
			uint8_t w = weight[j];

			key[j] = key[j - 1];
			key[j - 1] = k;
			weight[j] = weight[j - 1];
			weight[j - 1] = w;
		}
	weights_begin(&weights, key, weight, 100);
	bag_begin(&bag_builder);
	bag_add(&bag_builder, hashes, 300);
	CHECK(bag_finish(&bag_builder, &bag));
	weighed = bag_weigh(&bag, &weights);
	CHECK(weighed.count == 300 - 7);
	minhash_begin(&builder, 0);
	minhash_add(&builder, hashes, 300);
	CHECK(minhash_finish_weighed(&builder, &weights, 128, symbols) == bag_total(&weighed));
	minhash_of_copies(&weighed, 128, others);
	CHECK(memcmp(symbols, others, sizeof(symbols)) == 0);
	bag_free(&bag);
	bag_free(&weighed);
	host_free(weights.start);
}

/* A set of which the lexicon would leave out all is weighed whole, and counted. */
static void
test_whole(void)
{
	uint64_t hashes[20];
	uint32_t key[20];
	uint8_t weight[20] = {0};
	uint32_t symbols[64];
	uint32_t others[64];
	uint64_t whole = 0;
	Weights weights;
	BagBuilder bag_builder;
	MinhashBuilder builder;
	Bag bag;
	Bag weighed;

	for (uint64_t i = 0; i < 20; i++)
	{
		hashes[i] = i;
		key[i] = weight_key(mix64(i));
	}
	for (int i = 1; i < 20; i++)
		for (int j = i; j > 0 && key[j - 1] > key[j]; j--)
		{
			uint32_t k = key[j];

			key[j] = key[j - 1];
			key[j - 1] = k;
		}
	weights_begin(&weights, key, weight, 20);
	weights.whole = &whole;
	bag_begin(&bag_builder);
	bag_add(&bag_builder, hashes, 20);
	CHECK(bag_finish(&bag_builder, &bag));
	weighed = bag_weigh(&bag, &weights);
	CHECK(weighed.count == 20 && bag_total(&weighed) == 20 * WEIGHT_MAX);
	minhash_begin(&builder, 0);
	minhash_add(&builder, hashes, 20);
	CHECK(minhash_finish_weighed(&builder, &weights, 64, symbols) == 20 * WEIGHT_MAX);
	minhash_of_copies(&weighed, 64, others);
	CHECK(memcmp(symbols, others, sizeof(symbols)) == 0);
	CHECK(whole == 2);
	bag_free(&weighed);
	bag.count = 0;
	weighed = bag_weigh(&bag, &weights);
	CHECK(weighed.count == 0 && whole == 2);
	bag_free(&weighed);
	bag_free(&bag);
	host_free(weights.start);
}

/* ---- Common elements ------------------------------------------------------- */

#define DOCUMENTS 400
#define ELEMENTS_OF_ALL 60
#define SOURCES 4

/* Returns how many distinct documents of a source, or of all for 0, have an element; -1 counts documents. */
static int
count_distinct(const uint64_t *set, const int *source, int of, int element)
{
	int count = 0;

	for (int i = 0; i < DOCUMENTS; i++)
	{
		bool found = (of == 0 || source[i] == of) && (element < 0 || (set[i] >> element & 1) != 0);

		for (int j = 0; found && j < i; j++)
			found = set[j] != set[i] || (of != 0 && source[j] != of);
		count += found;
	}
	return count;
}

/* Common elements are those that a count of all documents finds, whatever is in memory. */
static void
test_common(double share, size_t memory)
{
	static CommonElements common;
	uint64_t set[DOCUMENTS];
	int source[DOCUMENTS];
	uint32_t *key;
	uint32_t count;

	common_begin(&common, share, memory);
	for (int i = 0; i < DOCUMENTS; i++)
	{
		uint64_t mixed[ELEMENTS_OF_ALL];
		size_t elements = 0;

		source[i] = (int) (next_random(&random_seed) % (SOURCES + 1));
		set[i] = next_random(&random_seed) & next_random(&random_seed) & 0xFFFFFFF;
		set[i] |= source[i] == 1 ? UINT64_C(3) << 30 : 0;
		if (i > 0 && i % 3 == 0)
			set[i] = set[next_random(&random_seed) % i];
		for (int e = 0; e < ELEMENTS_OF_ALL; e++)
			if ((set[i] >> e & 1) != 0)
				mixed[elements++] = mix64(e);
		common_add(&common, source[i], mixed, elements);
	}
	CHECK(common.documents == (uint64_t) count_distinct(set, source, 0, -1));
	count = common_finish(&common, &key);
	for (uint32_t i = 1; i < count; i++)
		CHECK(key[i - 1] < key[i]);
	for (int e = 0; e < ELEMENTS_OF_ALL; e++)
	{
		bool expected = false;
		bool found = false;

		for (int of = 0; of <= SOURCES; of++)
			expected = expected ||
				count_distinct(set, source, of, e) >=
					fmax(share * count_distinct(set, source, of, -1), FORM_DOCUMENTS);
		for (uint32_t i = 0; i < count; i++)
			found = found || key[i] == weight_key(mix64(e));
		CHECK_MSG(found == expected, "element %d, share %g", e, share);
	}
	host_free(key);
}

/* ---- Estimates ------------------------------------------------------------ */

#define PAIRS 400
#define ELEMENTS 120
#define SYMBOLS 512

/* Makes two bags that share about `shared` of ELEMENTS elements, with weights of their own. */
static void
make_pair(Bag *x, Bag *y, double shared)
{
	x->count = y->count = 0;
	for (int64_t i = 0; i < ELEMENTS; i++)
	{
		bool both = next_random(&random_seed) % 1000 < 1000 * shared;
		bool in_x = both || next_random(&random_seed) % 2 == 0;

		if (in_x)
		{
			x->element[x->count] = i * INT64_C(1000003);
			x->frequency[x->count++] = 1 + next_random(&random_seed) % WEIGHT_MAX;
		}
		if (both || !in_x)
		{
			y->element[y->count] = i * INT64_C(1000003);
			y->frequency[y->count++] = 1 + next_random(&random_seed) % WEIGHT_MAX;
		}
	}
}

/* The estimate has no bias, and its error is that of a plain set. */
static void
test_estimates(void)
{
	int64_t element[2][ELEMENTS];
	uint32_t frequency[2][ELEMENTS];
	Bag x = {.element = element[0], .frequency = frequency[0]};
	Bag y = {.element = element[1], .frequency = frequency[1]};
	uint32_t symbols[SYMBOLS];
	uint8_t packed[2][SYMBOL_BYTES(SYMBOLS, 1)];

	for (double shared = 0.3; shared < 1; shared += 0.3)
	{
		double bias = 0;
		double square = 0;
		double expected = 0;

		for (int pair = 0; pair < PAIRS; pair++)
		{
			double exact;
			double estimate;
			double error;

			make_pair(&x, &y, shared);
			/* Other elements for each pair. */
			for (uint32_t i = 0; i < x.count; i++)
				x.element[i] += pair;
			for (uint32_t i = 0; i < y.count; i++)
				y.element[i] += pair;
			minhash_of_copies(&x, SYMBOLS, symbols);
			minhash_pack(symbols, SYMBOLS, 1, packed[0]);
			minhash_of_copies(&y, SYMBOLS, symbols);
			minhash_pack(symbols, SYMBOLS, 1, packed[1]);
			exact = bag_similarity(&x, &y, MEASURE_RESEMBLANCE, true);
			estimate =
				minhash_resemblance(SYMBOLS, 1, symbol_distance(packed[0], packed[1], SYMBOLS, 1));
			error = minhash_standard_error(SYMBOLS, 1, exact);
			bias += estimate - exact;
			square += (estimate - exact) * (estimate - exact);
			expected += error * error;
		}
		CHECK_MSG(fabs(bias / PAIRS) < 3 * sqrt(expected) / PAIRS, "bias %f", bias / PAIRS);
		CHECK_MSG(square < 1.2 * expected && square > 0.8 * expected, "%f of the error",
				  sqrt(square / expected));
	}
}

/* ---- Counting ------------------------------------------------------------- */

/* Element i is in every 2^i-th of 1024 documents, twice in each. */
static void
count_powers(ElementCounts *counts)
{
	for (uint64_t document = 0; document < 1024; document++)
	{
		counts_next(counts);
		for (uint64_t i = 0; i <= 10; i++)
			for (int twice = 0; twice < 2; twice++)
				if (document % (UINT64_C(1) << i) == 0)
					counts_add(counts, &i, 1);
		for (uint64_t i = 0; i < 20; i++)
		{
			uint64_t rare = 1000 + 20 * document + i;

			counts_add(counts, &rare, 1);
		}
	}
}

static void
check_powers(size_t most, uint32_t entries, double share, uint32_t left_out)
{
	ElementCounts counts;
	uint32_t *key;
	uint8_t *weight;
	Weights weights;
	uint32_t count;

	counts_begin(&counts, most);
	count_powers(&counts);
	CHECK(counts.table.count <= most && counts.documents == 1024);
	count = counts_finish(&counts, entries, share, &key, &weight);
	/* That in one document weighs WEIGHT_MAX. */
	CHECK_MSG(count == Min(entries + left_out, 10), "%u entries", count);
	weights_begin(&weights, key, weight, count);
	for (uint64_t i = 0; i < count; i++)
		CHECK_MSG(i < left_out ? weight_of(&weights, mix64(i)) == 0 :
								 fabs(weight_of(&weights, mix64(i)) - 1.5 * i) <= 0.5,
				  "%d weighs %u", (int) i, weight_of(&weights, mix64(i)));
	host_free(weights.start);
	host_free(key);
	host_free(weight);
}

static void
test_counts(void)
{
	check_powers(100000, 16, 1, 1);
	/* 102.4 documents are a tenth; 20 are the least that count as many. */
	check_powers(100000, 16, 0.1, 4);
	check_powers(100000, 3, 0.125, 4);
	check_powers(100000, 16, 0.001, 6);
	check_powers(100000, 5, 1, 1);
	/* Rare elements are forgotten: those in more than a few documents stay. */
	check_powers(5000, 7, 1, 1);
}

static void
test_digest(void)
{
	uint32_t key[] = {1, 2};
	uint8_t weight[] = {3, 4};
	uint64_t digest = weights_digest(0x01010000, 10, key, weight, 2);

	CHECK(digest == weights_digest(0x01010000, 10, key, weight, 2));
	CHECK(digest != weights_digest(0x01020000, 10, key, weight, 2));
	CHECK(digest != weights_digest(0x01010000, 11, key, weight, 2));
	CHECK(digest != weights_digest(0x01010000, 10, key, weight, 1));
	weight[1] = 5;
	CHECK(digest != weights_digest(0x01010000, 10, key, weight, 2));
}

int
main(void)
{
	test_lookup();
	test_copies();
	test_batches();
	test_many_copies();
	test_memory();
	test_weigh();
	test_whole();
	for (int i = 1; i <= 40; i++)
		test_common(i / 80.0, i % 2 == 0 ? 0 : 1 << 20);
	test_estimates();
	test_counts();
	test_digest();
	return unit_report();
}
