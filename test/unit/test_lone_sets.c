/*
 * test_lone_sets.c: lone sets against all pairs of sets.
 */
#include <stdlib.h>
#include <string.h>

#include "sketch/lone_sets.h"
#include "random.h"
#include "unit.h"

#define SETS 200
#define ELEMENTS 100

typedef struct Set
{
	uint64_t element[ELEMENTS];
	size_t count;
} Set;

static Set set[SETS];
static double resemblances[SETS][SETS];

/* Makes sets of any size, of which many have a part of an earlier one. */
static void
make_sets(void)
{
	for (int i = 0; i < SETS; i++)
	{
		const Set *like = set + random_below(i + 1);
		size_t kept = random_below(3) == 0 ? 0 : random_below(like->count + 1);
		size_t count = random_below(4) == 0 ? random_below(8) : random_below(ELEMENTS + 1);

		if (random_below(2) == 0)
			kept = like->count - like->count * random_below(6) / 20;
		set[i].count = Max(kept, count);
		if (random_below(3) == 0)
			set[i].count = kept + (ELEMENTS - kept) * random_below(4) / 40;
		memmove(set[i].element, like->element, kept * sizeof(uint64_t));
		for (size_t j = kept; j < set[i].count; j++)
			set[i].element[j] = next_random(&random_seed);
	}
}

static double
resemblance(const Set *x, const Set *y)
{
	size_t shared = 0;

	for (size_t i = 0; i < x->count; i++)
		for (size_t j = 0; j < y->count; j++)
			shared += x->element[i] == y->element[j];
	return shared == 0 ? 0 : (double) shared / (double) (x->count + y->count - shared);
}

static void
find_resemblances(void)
{
	for (int i = 0; i < SETS; i++)
		for (int j = 0; j < i; j++)
			resemblances[i][j] = resemblance(set + i, set + j);
}

/* Returns whether a digest is among those of sets that are not lone. */
static bool
has(const KeyNumbers *others, uint64_t digest)
{
	uint64_t hash = table_hash(&others->table, digest);

	return *table_search_key(&others->table, hash, digest, others->key, sizeof(uint64_t)) != 0;
}

/* No set that is lone, or lone when it comes, is similar to another, or to an earlier one. */
static void
check_lone(double aimed, double threshold, size_t bytes, bool tells)
{
	LoneSets lone = lone_begin(aimed, bytes);
	bool early[SETS];
	KeyNumbers others;
	int kept = 0;

	for (int i = 0; i < SETS; i++)
		early[i] = lone_add(&lone, i + 1, set[i].element, set[i].count);
	others = lone_others(&lone, threshold);
	for (int i = 0; i < SETS; i++)
	{
		kept += !has(&others, i + 1);
		for (int j = 0; j < i; j++)
			if (resemblances[i][j] >= threshold)
				CHECK_MSG(has(&others, i + 1) && has(&others, j + 1) &&
							  !(early[i] && threshold >= aimed),
						  "%d and %d of %zu and %zu elements, at %g", j, i, set[j].count,
						  set[i].count, threshold);
	}
	CHECK_MSG(!tells || kept > SETS / 10, "%d lone", kept);
	table_end(&others.table);
	host_free(others.key);
	lone_end(&lone);
}

int
main(void)
{
	static const double thresholds[] = {0.01, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};
	extern size_t host_limit_most;

	for (int round = 0; round < 20; round++)
	{
		make_sets();
		find_resemblances();
		host_limit_most = round % 2 == 0 ? 1 : SIZE_MAX;
		for (size_t i = 0; i < sizeof(thresholds) / sizeof(*thresholds); i++)
			check_lone(thresholds[i], thresholds[random_below(round % 3 == 0 ? i + 1 : 9)],
					   random_below(3) == 0 ? 64 : 1 << 16, false);
		check_lone(0.8, 0.8, 1 << 16, true);
	}
	return unit_report();
}
