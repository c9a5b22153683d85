/*
 * test_forms.c: counting which elements many bags have, compared with plain loops.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sketch/frequent.h"
#include "unit.h"

/* ---- Counting ------------------------------------------------------------------- */

#define BAGS 3000
#define ELEMENTS 400

/* Is element i in a bag?  The greater it is, the more bags have it. */
static bool
is_in(uint64_t bag, uint64_t i)
{
	uint64_t seed = bag * ELEMENTS + i;

	return next_random(&seed) % (2 * ELEMENTS) < i;
}

/* Counts the bags that have each element, and gives the bags with an element of their own to frequent. */
static void
count_bags(Frequent *frequent, uint32_t *bags)
{
	for (uint64_t b = 0; b < BAGS; b++)
	{
		BagBuilder builder;
		uint64_t own = UINT64_C(1) << 40 | b;
		Bag bag;

		bag_begin(&builder);
		bag_add(&builder, &own, 1);
		for (uint64_t i = 0; i < ELEMENTS; i++)
			if (is_in(b, i))
			{
				bag_add(&builder, &i, 1);
				bags[i]++;
			}
		(void) bag_finish(&builder, &bag);
		frequent_add(frequent, &bag);
		bag_free(&bag);
	}
}

static void
test_frequent(double share)
{
	uint32_t bags[ELEMENTS] = {0};
	bool found[ELEMENTS] = {false};
	Frequent frequent;
	Bag common;

	frequent_begin(&frequent, share);
	count_bags(&frequent, bags);
	/* Most of the elements that single bags have are forgotten. */
	CHECK_MSG(frequent.table.count < ELEMENTS + 2 * frequent.width, "%zu", frequent.table.count);
	common = frequent_finish(&frequent);
	CHECK(common.frequency == NULL);
	for (uint32_t i = 0; i < common.count; i++)
	{
		bool known = common.element[i] >= 0 && common.element[i] < ELEMENTS;

		CHECK(known);
		if (known)
			found[common.element[i]] = true;
	}
	for (int i = 0; i < ELEMENTS; i++)
	{
		CHECK_MSG(found[i] || bags[i] < share * BAGS, "%u bags have %d", bags[i], i);
		CHECK_MSG(!found[i] || bags[i] >= 0.95 * share * BAGS, "%u bags have %d", bags[i], i);
	}
	bag_free(&common);
}

int
main(void)
{
	const double share[] = {0.02, 0.1, 0.2, 0.33, 0.45, 1};

	for (size_t i = 0; i < sizeof(share) / sizeof(share[0]); i++)
		test_frequent(share[i]);
	return unit_report();
}
