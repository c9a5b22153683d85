/*
 * fuzz_counts.c: differences, lexicons and common elements of any bags, against counting in
 * the plainest way.
 */
#include "fuzz.h"
#include "sketch/counts.h"
#include "sketch/sketch.h"
#include "sketch/weights.h"

#define BAGS_MAX 24

/* More elements than the tables have room for at first, and more than they may keep. */
#define ELEMENTS_MAX 3000

/* Takes a bag of few elements, or of up to ELEMENTS_MAX ascending ones. */
static Bag
take_bag(Input *in)
{
	uint8_t byte = take_byte(in);
	size_t count = byte < 240 ? byte % 16 : take_number(in, 2) % ELEMENTS_MAX;
	uint64_t element = byte < 240 ? 0 : take_number(in, 2);
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	for (size_t i = 0; i < count; i++)
	{
		element = byte < 240 ? take_byte(in) : element + 1;
		bag_add(&builder, &element, 1);
	}
	REQUIRE(bag_finish(&builder, &bag));
	return bag;
}

/* Returns how many bags have an element. */
static uint32_t
bags_with(const Bag *bag, uint32_t bags, int64_t element)
{
	Bag one = {.count = 1, .element = &element};
	uint32_t with = 0;

	for (uint32_t i = 0; i < bags; i++)
		with += bag_shared(&bag[i], &one, false);
	return with;
}

static void
count_bags(ElementCounts *counts, const Bag *bag, uint32_t bags)
{
	for (uint32_t i = 0; i < bags; i++)
	{
		counts_next(counts);
		counts_add(counts, (const uint64_t *) bag[i].element, bag[i].count);
	}
}

/* ---- Lexicons -------------------------------------------------------------- */

static void
check_lexicon(const Bag *bag, uint32_t bags, uint32_t entries, size_t most)
{
	uint32_t *key;
	uint8_t *weight;
	uint32_t left_out = 0;
	ElementCounts counts;
	Weights weights;
	uint32_t count;

	counts_begin(&counts, Max(most, 2 * (size_t) entries));
	count_bags(&counts, bag, bags);
	count = counts_finish(&counts, entries, 1.0 / (1 + entries % 30), &key, &weight);
	for (uint32_t i = 0; i < count; i++)
	{
		REQUIRE(weight[i] < WEIGHT_MAX && (i == 0 || key[i] > key[i - 1]));
		left_out += weight[i] == 0;
	}
	REQUIRE(count <= entries + left_out);
	weights_begin(&weights, key, weight, count);
	for (uint32_t i = 0; i < 2; i++)
	{
		Bag weighed = bag_weigh(&bag[i], &weights);
		uint32_t symbols[16];
		uint64_t copies = minhash_of_copies(&weighed, 16, symbols);

		REQUIRE(copies == bag_total(&weighed) && copies <= (uint64_t) bag[i].count * WEIGHT_MAX);
		REQUIRE(bag_shared(&weighed, &bag[i], false) == weighed.count);
		bag_free(&weighed);
	}
	host_free(weights.start);
	host_free(key);
	host_free(weight);
}

/* ---- Common elements ------------------------------------------------------- */

/* No common element is missed, and of others only those that lack a twentieth of the share are taken. */
static void
check_common(const Bag *bag, uint32_t bags, double share)
{
	ElementCounts counts;
	Bag common;

	counts_begin_share(&counts, share);
	count_bags(&counts, bag, bags);
	common = counts_finish_share(&counts);
	for (uint32_t i = 0; i < Min(common.count, 256); i++)
		REQUIRE(bags_with(bag, bags, common.element[i]) + 0.05 * share * bags >=
				share * bags - 1e-9);
	for (int64_t element = 0; element < 256; element++)
	{
		uint32_t with = bags_with(bag, bags, element);
		Bag one = {.count = 1, .element = &element};

		if (with > 1 && (double) with / bags >= share)
			REQUIRE(bag_shared(&common, &one, false) == 1);
	}
	bag_free(&common);
}

/* ---- Leaving out -------------------------------------------------------------- */

/* A bag without another's elements has the rest of them, with their frequencies. */
static void
check_difference(const Bag *x, const Bag *y)
{
	Bag rest = bag_difference(x, y);
	Bag kept = bag_keep(x, &rest);

	REQUIRE(bag_shared(&rest, y, false) == 0);
	REQUIRE(rest.count + bag_shared(x, y, false) == x->count);
	REQUIRE(bag_total(&kept) == bag_total(&rest));
	bag_free(&kept);
	bag_free(&rest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint32_t bags = 2 + take_byte(&in) % (BAGS_MAX - 1);
	uint32_t entries = 1 + (uint32_t) take_number(&in, 2) % 600;
	size_t most = take_number(&in, 2);
	double share = (1 + take_byte(&in)) / 256.0;
	Bag bag[BAGS_MAX];

	for (uint32_t i = 0; i < bags; i++)
		bag[i] = take_bag(&in);
	check_difference(&bag[0], &bag[1]);
	check_lexicon(bag, bags, entries, most);
	check_common(bag, bags, share);
	for (uint32_t i = 0; i < bags; i++)
		bag_free(&bag[i]);
	return 0;
}
