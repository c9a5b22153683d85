/*
 * reference.h: slow and simple versions of what the layers compute, and what must be true
 * of their results, for unit tests and fuzzers.
 */
#ifndef NEARDUP_REFERENCE_H
#define NEARDUP_REFERENCE_H

#include <stdlib.h>

#include "compare/compare.h"
#include "grouping/grouping.h"

/* ---- compare/ ------------------------------------------------------------ */

/* Returns the edit distance by the matrix of Wagner and Fischer. */
static inline int64_t
reference_distance(const SequencePair *pair, EditCosts costs)
{
	size_t n = pair->b.length + 1;
	int64_t *cell = malloc((pair->a.length + 1) * n * sizeof(int64_t));
	int64_t distance;

	for (size_t i = 0; i <= pair->a.length; i++)
		for (size_t j = 0; j <= pair->b.length; j++)
		{
			int64_t best = i + j == 0 ? 0 : INT64_MAX;

			if (i > 0)
				best = Min(best, cell[(i - 1) * n + j] + costs.deletion);
			if (j > 0)
				best = Min(best, cell[i * n + j - 1] + costs.insertion);
			if (i > 0 && j > 0)
			{
				bool same = pair->a.symbol[i - 1] == pair->b.symbol[j - 1];

				best = Min(best, cell[(i - 1) * n + j - 1] + (same ? 0 : costs.substitution));
			}
			cell[i * n + j] = best;
		}
	distance = cell[pair->a.length * n + pair->b.length];
	free(cell);
	return distance;
}

/* Returns the longest common run by trying all pairs of positions. */
static inline Common
reference_common(const SequencePair *pair)
{
	Common common = {0};

	for (size_t i = 0; i < pair->a.length; i++)
		for (size_t j = 0; j < pair->b.length; j++)
		{
			size_t same = 0;

			while (i + same < pair->a.length && j + same < pair->b.length &&
				   pair->a.symbol[i + same] == pair->b.symbol[j + same])
				same++;
			if (same > common.length)
				common = (Common){.start = i, .length = same};
		}
	return common;
}

/* Returns the longest run at position i of x that y has, and sets *first to its first position in y. */
static inline uint32_t
reference_match(const Sequence *x, const Sequence *y, size_t i, uint32_t *first)
{
	uint32_t longest = 0;

	for (size_t j = 0; j < y->length; j++)
	{
		uint32_t same = 0;

		while (i + same < x->length && j + same < y->length &&
			   x->symbol[i + same] == y->symbol[j + same])
			same++;
		if (same > longest)
		{
			longest = same;
			*first = (uint32_t) j;
		}
	}
	return longest;
}

/* Returns whether found has a passage. */
static inline bool
reference_has(const Passages *found, uint32_t a, uint32_t b, uint32_t length)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->passage[i].a == a && found->passage[i].b == b &&
			found->passage[i].length == length)
			return true;
	return false;
}

/*
 * Returns how many passages cover all runs of x: of the runs that no other contains, each
 * is the last one that begins before the end of the one before, or else the next one.
 * All of them must be in found.  turned: x is b.
 */
static inline size_t
reference_cover(const Sequence *x, const Sequence *y, uint32_t least, bool turned,
				const Passages *found, bool *missing)
{
	size_t count = 0;
	size_t covered = 0;

	for (size_t i = 0; i < x->length;)
	{
		size_t chosen = x->length;
		uint32_t length = 0;
		uint32_t other = 0;
		size_t furthest = covered;

		for (size_t at = i; at < x->length && (at <= covered || chosen == x->length); at++)
		{
			uint32_t position = 0;
			uint32_t match = reference_match(x, y, at, &position);

			if (match < least || at + match <= furthest)
				continue;
			chosen = at;
			furthest = at + match;
			length = match;
			other = position;
		}
		if (chosen == x->length)
			break;
		*missing |= !reference_has(found, turned ? other : chosen, turned ? chosen : other, length);
		count++;
		covered = furthest;
		i = chosen + 1;
	}
	return count;
}

/* Returns whether passages, which have no positions, are those that compare.h says. */
static inline bool
passages_are_right(const SequencePair *pair, uint32_t least, const Passages *found)
{
	bool missing = false;
	size_t covers = reference_cover(&pair->a, &pair->b, least, false, found, &missing) +
		reference_cover(&pair->b, &pair->a, least, true, found, &missing);

	for (size_t i = 1; i < found->count; i++)
		if (found->passage[i - 1].a > found->passage[i].a ||
			(found->passage[i - 1].a == found->passage[i].a &&
			 found->passage[i - 1].b >= found->passage[i].b))
			return false;
	/* Each is in one of the covers, or in both. */
	return !missing && found->count <= covers && 2 * found->count >= covers;
}

/* ---- grouping/ ----------------------------------------------------------- */

/* Returns whether groups follow each other without a gap, within the limits. */
static inline bool
grouping_is_sound(const Grouping *g)
{
	int next = 0;

	for (int i = 0; i < g->groups; i++)
	{
		int width = group_width(g, i);

		if (group_first_symbol(g, i) != next || width < 1 || width * g->b > 64 ||
			group_bucket_bits(g, i) < 1 || group_bucket_bits(g, i) > BUCKET_BITS_MAX)
			return false;
		next += width;
	}
	return g->groups >= 0 && g->groups <= GROUPS_MAX && g->wide <= g->groups && next <= g->k;
}

/*
 * Returns whether a plan that is no scan is possible, and finds every document within
 * distance h.  A document misses most groups if it misses those of the least radius first.
 */
static inline bool
plan_is_sound(const Grouping *g, int h, const SearchPlan *plan)
{
	int low = plan->groups - plan->one_more;
	int missed = 0;

	while (missed < plan->groups && h >= plan->radius + 1 + (missed >= low))
		h -= plan->radius + 1 + (missed++ >= low);
	return plan->groups >= 1 && plan->groups <= g->groups && plan->one_more >= 0 &&
		plan->one_more <= plan->groups && plan->radius >= 0 &&
		plan->radius + (plan->one_more > 0) <= RADIUS_MAX && plan->count >= 1 &&
		(plan->count <= 255 || plan->method == SEARCH_CHOOSE) &&
		plan->groups - missed >= plan->count;
}

/*
 * Returns the code of n documents, and its bytes.  No more bytes follow than may be read,
 * so that a sanitizer sees a read past them.  The caller frees it.
 */
static inline uint8_t *
reference_code(const uint32_t *document, size_t n, uint32_t numbers, size_t *bytes)
{
	uint8_t *code;

	*bytes = postings_size(document, n, numbers);
	code = malloc(*bytes + POSTINGS_OVERREAD);
	if (code == NULL || postings_put(document, n, numbers, code) != *bytes)
		abort();
	return code;
}

#endif
