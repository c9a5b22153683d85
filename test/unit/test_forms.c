/*
 * test_forms.c: counting which elements many documents have, compared with plain loops.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sketch/counts.h"
#include "unit.h"

/* ---- Counting ------------------------------------------------------------------- */

#define DOCUMENTS 3000
#define ELEMENTS 400

/* Is element i in a document?  The greater it is, the more documents have it. */
static bool
is_in(uint64_t document, uint64_t i)
{
	uint64_t seed = document * ELEMENTS + i;

	return next_random(&seed) % (2 * ELEMENTS) < i;
}

/* Counts the documents that have each element, and gives them with an element of their own to counts. */
static void
count_documents(ElementCounts *counts, uint32_t *documents)
{
	for (uint64_t d = 0; d < DOCUMENTS; d++)
	{
		uint64_t own = UINT64_C(1) << 40 | d;

		counts_next(counts);
		counts_add(counts, &own, 1);
		for (uint64_t i = 0; i < ELEMENTS; i++)
			if (is_in(d, i))
			{
				counts_add(counts, &i, 1);
				documents[i]++;
			}
	}
}

static void
test_share(double share)
{
	uint32_t documents[ELEMENTS] = {0};
	bool found[ELEMENTS] = {false};
	ElementCounts counts;
	Bag common;

	counts_begin_share(&counts, share);
	count_documents(&counts, documents);
	/* Most of the elements that single documents have are forgotten. */
	CHECK_MSG(counts.table.count < ELEMENTS + 2 * counts.width, "%zu", counts.table.count);
	common = counts_finish_share(&counts);
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
		CHECK_MSG(found[i] || documents[i] < share * DOCUMENTS, "%u documents have %d",
				  documents[i], i);
		CHECK_MSG(!found[i] || documents[i] >= 0.95 * share * DOCUMENTS, "%u documents have %d",
				  documents[i], i);
	}
	bag_free(&common);
}

int
main(void)
{
	const double share[] = {0.02, 0.1, 0.2, 0.33, 0.45, 1};

	for (size_t i = 0; i < sizeof(share) / sizeof(share[0]); i++)
		test_share(share[i]);
	return unit_report();
}
