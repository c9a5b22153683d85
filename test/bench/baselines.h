/*
 * baselines.h: sets as a study describes them, for baselines.c.
 *
 * The kinds of sets have the numbers, sizes and universes of the table of Mann, Augsten, Bouros (PVLDB
 * 9(9), 2016).  What it does not say is assumed: sizes are log-normal, elements follow Zipf's law, and
 * one set in ten is a copy of an earlier one with up to half of its elements changed.  A smaller number
 * of sets has a universe that is smaller by the square root.
 */
#ifndef NEARDUP_BENCH_BASELINES_H
#define NEARDUP_BENCH_BASELINES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join/set_plan.h"
#include "random.h"

/* What the paper says of its data. */
typedef struct Kind
{
	const char *name;
	double sets;
	double mean; /* the mean size */
	uint32_t most;
	double universe;
	double skew; /* the exponent of Zipf's law, assumed */
} Kind;

static const Kind kinds[] = {
	{"AOL", 1.0e7, 3, 245, 3.9e6, 0.8},       {"BMS-POS", 3.2e5, 9.3, 164, 1.7e3, 0.9},
	{"DBLP", 1.0e5, 83, 869, 6.9e3, 0.8},     {"ENRON", 2.5e5, 135, 3162, 1.1e6, 1.1},
	{"KOSARAK", 6.1e5, 12, 2497, 4.1e4, 1.2}, {"LIVEJ", 3.1e6, 36, 300, 7.5e6, 0.8},
	{"ORKUT", 2.7e6, 120, 40425, 8.7e6, 0.7}, {"SPOT", 4.4e5, 13, 11939, 7.6e5, 0.8},
};

typedef struct Set
{
	uint32_t *element; /* distinct; ascending once they are ranks */
	uint32_t size;
} Set;

typedef struct Sets
{
	Set *set;
	uint32_t count;
	uint32_t universe;
} Sets;

static void *
allocate(size_t bytes)
{
	void *memory = calloc(bytes > 0 ? bytes : 1, 1);

	if (memory == NULL)
		abort();
	return memory;
}

/* Returns a random number from 0 to 1, both excluded. */
static double
random_share(void)
{
	return (random_below(1u << 30) + 0.5) / (1u << 30);
}

/* Returns an element, the more frequent ones with the smaller numbers. */
static uint32_t
random_element(const Kind *kind, uint32_t universe)
{
	double power = 1 - kind->skew;
	double u = random_share();
	double at = pow(1 + u * (pow(universe + 1.0, power) - 1), 1 / power);

	return at >= universe ? universe - 1 : (uint32_t) at - 1;
}

/* Returns a size with the mean of a kind. */
static uint32_t
random_size(const Kind *kind)
{
	double normal = sqrt(-2 * log(random_share())) * cos(2 * 3.14159265358979 * random_share());
	double size = exp(log(kind->mean) - 0.32 + 0.8 * normal) + 0.5;

	return size < 1 ? 1 : size > kind->most ? kind->most : (uint32_t) size;
}

/* Makes the sets of a kind, at most `most`. */
static Sets
make_sets(const Kind *kind, uint32_t most)
{
	Sets sets = {.count = kind->sets > most ? most : (uint32_t) kind->sets};
	uint32_t *seen;

	sets.universe = (uint32_t) (kind->universe * sqrt(sets.count / kind->sets));
	sets.set = allocate(sets.count * sizeof(Set));
	seen = allocate(sets.universe * sizeof(uint32_t));
	for (uint32_t i = 0; i < sets.count; i++)
	{
		Set *set = &sets.set[i];
		const Set *source = i > 0 && random_below(10) == 0 ? &sets.set[random_below(i)] : NULL;
		uint32_t size = source ? source->size : Min(random_size(kind), sets.universe / 4);
		double changed = source ? random_share() / 2 : 1;
		uint32_t tries = 0;

		set->element = allocate(size * sizeof(uint32_t));
		for (uint32_t j = 0; source && j < size; j++)
			if (random_share() >= changed)
			{
				set->element[set->size++] = source->element[j];
				seen[source->element[j]] = i + 1;
			}
		while (set->size < size && tries++ < 20 * size)
		{
			uint32_t element = random_element(kind, sets.universe);

			if (seen[element] == i + 1)
				continue;
			seen[element] = i + 1;
			set->element[set->size++] = element;
		}
	}
	free(seen);
	return sets;
}

static void
free_sets(Sets *sets)
{
	for (uint32_t i = 0; i < sets->count; i++)
		free(sets->set[i].element);
	free(sets->set);
}

static int
by_rank(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *) x;
	uint32_t b = *(const uint32_t *) y;

	return (a > b) - (a < b);
}

static int
by_size(const void *x, const void *y)
{
	const Set *a = x;
	const Set *b = y;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	for (uint32_t i = 0; i < a->size; i++)
		if (a->element[i] != b->element[i])
			return a->element[i] < b->element[i] ? -1 : 1;
	return 0;
}

static uint32_t *frequency_of;

static int
by_frequency(const void *x, const void *y)
{
	uint32_t a = frequency_of[*(const uint32_t *) x];
	uint32_t b = frequency_of[*(const uint32_t *) y];

	return a != b ? (a > b) - (a < b) : by_rank(x, y);
}

/* Returns a copy whose elements are ranks, the rarest first, and whose sets ascend by size. */
static Sets
rank_sets(const Sets *sets)
{
	Sets ranked = {.count = sets->count, .universe = sets->universe};
	uint32_t *order = allocate(sets->universe * sizeof(uint32_t));
	uint32_t *rank = allocate(sets->universe * sizeof(uint32_t));

	frequency_of = allocate(sets->universe * sizeof(uint32_t));
	for (uint32_t i = 0; i < sets->count; i++)
		for (uint32_t j = 0; j < sets->set[i].size; j++)
			frequency_of[sets->set[i].element[j]]++;
	for (uint32_t e = 0; e < sets->universe; e++)
		order[e] = e;
	qsort(order, sets->universe, sizeof(uint32_t), by_frequency);
	for (uint32_t r = 0; r < sets->universe; r++)
		rank[order[r]] = r;
	ranked.set = allocate(sets->count * sizeof(Set));
	for (uint32_t i = 0; i < sets->count; i++)
	{
		Set *set = &ranked.set[i];

		set->size = sets->set[i].size;
		set->element = allocate(set->size * sizeof(uint32_t));
		for (uint32_t j = 0; j < set->size; j++)
			set->element[j] = rank[sets->set[i].element[j]];
		qsort(set->element, set->size, sizeof(uint32_t), by_rank);
	}
	qsort(ranked.set, ranked.count, sizeof(Set), by_size);
	free(order);
	free(rank);
	free(frequency_of);
	return ranked;
}

#endif
