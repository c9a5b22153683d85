/*
 * choose.c: Alg.G of Yuan et al. (2012): of m groups a document within h has
 * m - h equal to the query's, so for each choice of that many groups those that
 * are equal in all of them are candidates.
 */
#include <string.h>

#include "grouping/grouping.h"

/* How many choices of c out of m groups there are; INFINITY where beyond all bounds. */
double
choices_of(int m, int c)
{
	double choices = 1;
	int fewer = c < m - c ? c : m - c;

	for (int i = 1; i <= fewer && choices <= 1e300; i++)
		choices *= (double) (m - fewer + i) / i;
	return choices;
}

void
chooser_begin(Chooser *chooser, uint32_t documents, int groups, int count)
{
	memset(chooser, 0, sizeof(Chooser));
	chooser->documents = documents;
	chooser->taken = host_alloc(documents / 8 + 1);
	memset(chooser->taken, 0, documents / 8 + 1);
	chooser->count = count;
	chooser->room = 1024;
	chooser->document = host_alloc(chooser->room * sizeof(uint32_t));
	chooser->end = host_alloc((groups + 1) * sizeof(size_t));
	chooser->end[0] = 0;
}

void
chooser_add(Chooser *chooser, const uint8_t *postings, size_t n, int bytes)
{
	if (chooser->used + n > chooser->room)
	{
		chooser->room = 2 * (chooser->used + n);
		chooser->document = host_realloc(chooser->document, chooser->room * sizeof(uint32_t));
	}
	for (size_t i = 0; i < n; i++)
		chooser->document[chooser->used++] = posting_at(postings, i, bytes);
}

void
chooser_end_group(Chooser *chooser)
{
	chooser->end[++chooser->groups] = chooser->used;
}

/* What two ascending lists have in common. */
static size_t
intersect(const uint32_t *x, size_t nx, const uint32_t *y, size_t ny, uint32_t *both)
{
	size_t n = 0;

	for (size_t i = 0, j = 0; i < nx && j < ny;)
	{
		uint32_t left = x[i];
		uint32_t right = y[j];

		both[n] = left;
		n += left == right;
		i += left <= right;
		j += right <= left;
	}
	return n;
}

/* A document may come from many choices; one that cannot be is left to the caller. */
static void
take(const Chooser *chooser, const uint32_t *common, size_t n, HitCounter *candidates)
{
	for (size_t i = 0; i < n; i++)
	{
		uint8_t *taken = &chooser->taken[common[i] / 8];
		uint8_t bit = 1 << common[i] % 8;

		if (common[i] >= chooser->documents)
			counter_take(candidates, common[i]);
		else if (!(*taken & bit))
		{
			*taken |= bit;
			counter_take(candidates, common[i]);
		}
	}
}

/* All choices that go on with `left` more groups, from group `first` on. */
static void
choose(const Chooser *chooser, int first, int left, const uint32_t *common, size_t n,
	   HitCounter *candidates)
{
	uint32_t *both;

	if (n == 0)
		return;
	if (left == 0)
	{
		take(chooser, common, n, candidates);
		return;
	}
	host_check_interrupts();
	both = host_alloc(n * sizeof(uint32_t));
	for (int g = first; g + left <= chooser->groups; g++)
	{
		size_t from = chooser->end[g];
		size_t length = chooser->end[g + 1] - from;

		choose(chooser, g + 1, left - 1, both,
			   intersect(common, n, chooser->document + from, length, both), candidates);
	}
	host_free(both);
}

void
chooser_candidates(const Chooser *chooser, HitCounter *candidates)
{
	for (int g = 0; g + chooser->count <= chooser->groups; g++)
		choose(chooser, g + 1, chooser->count - 1, chooser->document + chooser->end[g],
			   chooser->end[g + 1] - chooser->end[g], candidates);
}

void
chooser_end(Chooser *chooser)
{
	host_free(chooser->document);
	host_free(chooser->end);
	host_free(chooser->taken);
}
