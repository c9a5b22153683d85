/*
 * broder.c: the samples and sketches of sets that Broder and others describe.
 */
#include "sketch/bag.h"

#include <string.h>

#include "base/hash.h"

static inline int64_t
mixed(int64_t element)
{
	return (int64_t) mix64((uint64_t) element);
}

/* ---- Samples --------------------------------------------------------------------- */

/* Returns whether an element is in the sample; limit is a parameter of the rule. */
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

/* Returns the elements that a rule takes, with their frequencies. */
static Bag
sample(const Bag *bag, Rule is_taken, uint64_t limit)
{
	size_t room = (size_t) bag->count + 1;
	Bag taken = {.element = host_alloc(room * sizeof(int64_t)),
				 .frequency = host_alloc(room * sizeof(uint32_t))};

	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		if (!is_taken(mixed(bag->element[i]), limit))
			continue;
		taken.element[taken.count] = bag->element[i];
		taken.frequency[taken.count++] = bag_frequency(bag, i);
	}
	bag_drop_ones(&taken);
	return taken;
}

/* Returns the elements whose mixed value is a multiple of m > 0, with their frequencies. */
Bag
bag_mod(const Bag *bag, uint64_t m)
{
	return sample(bag, is_multiple, m);
}

/* Returns the n-th least mixed value of a bag that has more than n elements. */
static int64_t
bottom_limit(const Bag *bag, uint32_t n)
{
	BagBuilder builder;
	Bag sorted;
	int64_t limit;

	bag_begin(&builder);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint64_t value = (uint64_t) mixed(bag->element[i]);

		host_check_interrupts_at(i);
		bag_add(&builder, &value, 1);
	}
	/* Mixing is one to one, so there are as many values as the bag has elements. */
	(void) bag_finish(&builder, &sorted);
	limit = sorted.element[n - 1];
	bag_free(&sorted);
	return limit;
}

/* Returns the n > 0 elements with the least mixed values, or all if there are fewer. */
Bag
bag_bottom(const Bag *bag, uint32_t n)
{
	int64_t limit = bag->count > n ? bottom_limit(bag, n) : INT64_MAX;

	return sample(bag, is_at_most, (uint64_t) limit);
}

/*
 * Returns the share of the bottom n of the union that is in both sets; 0 if a bag is
 * empty.  x and y may be whole sets, or their bottom n or more: the result is the same.
 */
double
bottom_resemblance(const Bag *x, const Bag *y, uint32_t n)
{
	Bag either = bag_union(x, y);
	Bag both = bag_intersection(x, y);
	Bag bottom = bag_bottom(&either, n);
	uint32_t shared = (uint32_t) bag_shared(&bottom, &both, false);
	double share = bottom.count == 0 ? 0 : (double) shared / bottom.count;

	bag_free(&either);
	bag_free(&both);
	bag_free(&bottom);
	return share;
}

/* ---- Sketches -------------------------------------------------------------------- */

/*
 * Sets least[0, m) to the least mixed value under each of m permutations.  The bag is not
 * empty.  Takes count * m steps.
 */
void
bag_minima(const Bag *bag, uint32_t m, int64_t *least)
{
	size_t steps = 0;

	for (uint32_t permutation = 0; permutation < m; permutation++)
	{
		uint64_t key = mix64((uint64_t) permutation + 1);
		int64_t minimum = INT64_MAX;

		host_count_steps(&steps, bag->count);
		for (uint32_t i = 0; i < bag->count; i++)
		{
			int64_t value = mixed((int64_t) ((uint64_t) bag->element[i] ^ key));

			host_check_interrupts_at((uint64_t) i + 1);
			minimum = Min(value, minimum);
		}
		least[permutation] = minimum;
	}
}

/*
 * Hashes each run of width > 0 elements that are neighbours in ascending order, or all
 * elements if there are fewer, into run, which has room for count numbers.  Returns the
 * number of runs.
 */
uint32_t
bag_runs(const Bag *bag, uint32_t width, int64_t *run)
{
	uint32_t length = Min(width, bag->count);
	uint32_t count = bag->count == 0 ? 0 : bag->count - length + 1;
	size_t steps = 0;

	for (uint32_t first = 0; first < count; first++)
	{
		uint64_t hash = mix64(length);

		host_count_steps(&steps, length);
		for (uint32_t i = first; i < first + length; i++)
			hash = mix64(hash ^ (uint64_t) bag->element[i]);
		run[first] = (int64_t) hash;
	}
	return count;
}

/*
 * Puts each element into one of n > 0 buckets, by its mixed value modulo n, and sets kept,
 * which has room for n numbers, to the element with the least mixed value of each bucket
 * that is not empty, in the order of the buckets.  Returns their number.
 */
uint32_t
bag_buckets(const Bag *bag, uint32_t n, int64_t *kept)
{
	bool *filled = host_alloc(n);
	uint32_t count = 0;

	memset(filled, 0, n);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		int64_t value = mixed(bag->element[i]);
		uint32_t bucket = (uint32_t) ((uint64_t) value % n);

		host_check_interrupts_at(i);
		if (!filled[bucket] || value < mixed(kept[bucket]))
			kept[bucket] = bag->element[i];
		filled[bucket] = true;
	}
	for (uint32_t i = 0; i < n; i++)
		if (filled[i])
			kept[count++] = kept[i];
	host_free(filled);
	return count;
}
