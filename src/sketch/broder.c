/*
 * broder.c: samples and sketches of sets.
 */
#include "sketch/broder.h"

#include <string.h>

#include "sketch/bag.h"
#include "base/hash.h"

/* A pass over so many elements asks for interrupts in between. */
#define PASS_STEP 8192

static inline int64_t
mixed(int64_t element)
{
	return (int64_t) mix64((uint64_t) element);
}

/* ---- Samples ------------------------------------------------------------ */

/* May an element stay?  limit is what the rule goes by. */
typedef bool (*Rule)(int64_t mixed_element, uint64_t limit);

static bool
is_multiple(int64_t mixed_element, uint64_t m)
{
	return (uint64_t) mixed_element % m == 0;
}

static bool
is_at_most(int64_t mixed_element, uint64_t most)
{
	return mixed_element <= (int64_t) most;
}

/* The elements that may stay, with their frequencies. */
static Bag
sample(const Bag *bag, Rule stays, uint64_t limit)
{
	size_t room = (size_t) bag->count + 1;
	Bag kept = {0, host_alloc(room * sizeof(int64_t)), host_alloc(room * sizeof(uint32_t))};
	bool repeated = false;
	uint32_t i;

	for (i = 0; i < bag->count; i++)
	{
		if (i % PASS_STEP == 0)
			host_check_interrupts();
		if (!stays(mixed(bag->element[i]), limit))
			continue;
		kept.element[kept.count] = bag->element[i];
		kept.frequency[kept.count++] = bag_frequency(bag, i);
		repeated |= bag_frequency(bag, i) > 1;
	}
	if (!repeated)
	{
		host_free(kept.frequency);
		kept.frequency = NULL;
	}
	return kept;
}

Bag
bag_mod(const Bag *bag, uint64_t m)
{
	return sample(bag, is_multiple, m);
}

/* The mixed value that n elements do not exceed; there are more than n. */
static int64_t
bottom_limit(const Bag *bag, uint32_t n)
{
	BagBuilder builder;
	Bag sorted;
	int64_t limit;
	uint32_t i;

	bag_begin(&builder);
	for (i = 0; i < bag->count; i++)
	{
		uint64_t value = (uint64_t) mixed(bag->element[i]);

		if (i % PASS_STEP == 0)
			host_check_interrupts();
		bag_add(&builder, &value, 1);
	}
	/* As many as the bag has, and distinct since mixing is a bijection. */
	(void) bag_finish(&builder, &sorted);
	limit = sorted.element[n - 1];
	bag_free(&sorted);
	return limit;
}

Bag
bag_bottom(const Bag *bag, uint32_t n)
{
	int64_t limit = bag->count > n ? bottom_limit(bag, n) : INT64_MAX;

	return sample(bag, is_at_most, (uint64_t) limit);
}

double
bottom_resemblance(const Bag *x, const Bag *y, uint32_t n)
{
	Bag either = bag_union(x, y);
	Bag both = bag_intersection(x, y);
	Bag bottom = bag_bottom(&either, n);
	uint32_t shared = bag_shared(&bottom, &both);
	double share = bottom.count == 0 ? 0 : (double) shared / bottom.count;

	bag_free(&either);
	bag_free(&both);
	bag_free(&bottom);
	return share;
}

/* ---- Sketches ----------------------------------------------------------- */

/* What tells the permutations apart. */
static inline uint64_t
permutation_key(uint32_t permutation)
{
	return mix64((uint64_t) permutation + 1);
}

void
bag_minima(const Bag *bag, uint32_t m, int64_t *least)
{
	uint32_t permutation;
	uint32_t i;

	for (permutation = 0; permutation < m; permutation++)
	{
		uint64_t key = permutation_key(permutation);
		int64_t minimum = INT64_MAX;

		if ((uint64_t) permutation * bag->count % PASS_STEP < bag->count)
			host_check_interrupts();
		for (i = 0; i < bag->count; i++)
		{
			int64_t value = mixed((int64_t) ((uint64_t) bag->element[i] ^ key));

			minimum = value < minimum ? value : minimum;
			if (i % PASS_STEP == PASS_STEP - 1)
				host_check_interrupts();
		}
		least[permutation] = minimum;
	}
}

uint32_t
bag_runs(const Bag *bag, uint32_t width, int64_t *run)
{
	uint32_t length = width < bag->count ? width : bag->count;
	uint32_t count = bag->count == 0 ? 0 : bag->count - length + 1;
	uint32_t first;
	uint32_t i;

	for (first = 0; first < count; first++)
	{
		uint64_t hash = mix64(length);

		if (first % (PASS_STEP / 64) == 0)
			host_check_interrupts();
		for (i = first; i < first + length; i++)
			hash = mix64(hash ^ (uint64_t) bag->element[i]);
		run[first] = (int64_t) hash;
	}
	return count;
}

uint32_t
bag_buckets(const Bag *bag, uint32_t n, int64_t *kept)
{
	bool *filled = host_alloc(n);
	uint32_t count = 0;
	uint32_t i;

	memset(filled, 0, n);
	for (i = 0; i < bag->count; i++)
	{
		int64_t value = mixed(bag->element[i]);
		uint32_t bucket = (uint32_t) ((uint64_t) value % n);

		if (i % PASS_STEP == 0)
			host_check_interrupts();
		if (!filled[bucket] || value < mixed(kept[bucket]))
			kept[bucket] = bag->element[i];
		filled[bucket] = true;
	}
	for (i = 0; i < n; i++)
		if (filled[i])
			kept[count++] = kept[i];
	host_free(filled);
	return count;
}
