/*
 * overlap.c: which sizes and overlaps reach a threshold.
 *
 * All bounds start from a guess by the formula, and step to the first number for which
 * overlap_similarity() reaches the threshold, so rounding cannot lose a match.
 */
#include "sketch/overlap.h"

#include <math.h>

/* Returns a whole number from 1 to `most` that is near x. */
static uint64_t
near_number(double x, uint64_t most)
{
	return x <= 1 ? 1 : x >= (double) most ? most : (uint64_t) x;
}

/*
 * Returns the least that sets of these sizes share if their similarity is at least the threshold;
 * more than either has if it cannot be.
 */
uint64_t
overlap_needed(Measure measure, uint64_t x, uint64_t y, double threshold)
{
	uint64_t most = Min(x, y);
	double guess;
	uint64_t needed;

	if (threshold <= 0)
		return 0;
	if (measure == MEASURE_RESEMBLANCE)
		guess = ((double) x + (double) y) * threshold / (1 + threshold);
	else if (measure == MEASURE_CONTAINMENT)
		guess = (double) most * threshold;
	else
		guess = (double) (measure == MEASURE_CONTAINED ? x : y) * threshold;
	needed = near_number(guess, most + 1);
	while (needed > 1 && overlap_similarity(measure, needed - 1, x, y) >= threshold)
		needed--;
	while (needed <= most && overlap_similarity(measure, needed, x, y) < threshold)
		needed++;
	return needed;
}

/* Returns whether sets of these sizes reach the threshold if they share as much as they can. */
static bool
sizes_match(Measure measure, uint64_t x, uint64_t y, double threshold)
{
	return overlap_similarity(measure, Min(x, y), x, y) >= threshold;
}

/* No set has this many elements. */
#define SIZE_UNBOUNDED 0x1p62

/*
 * Sets the least and the greatest size of the sets Y that can reach the threshold with a set X of
 * this size: none if *least > *most.  *most is UINT64_MAX if nothing bounds it.
 */
void
overlap_sizes(Measure measure, uint64_t x, double threshold, uint64_t *least, uint64_t *most)
{
	*least = 1;
	*most = UINT64_MAX;
	if (threshold <= 0 || measure == MEASURE_CONTAINMENT)
		return;
	if (measure != MEASURE_CONTAINS)
	{
		*least = near_number((double) x * threshold, x + 1);
		while (*least > 1 && sizes_match(measure, x, *least - 1, threshold))
			(*least)--;
		while (*least <= x && !sizes_match(measure, x, *least, threshold))
			(*least)++;
	}
	if (measure != MEASURE_CONTAINED && (double) x / threshold < SIZE_UNBOUNDED)
	{
		*most = near_number((double) x / threshold, UINT64_MAX);
		while (sizes_match(measure, x, *most + 1, threshold))
			(*most)++;
		while (*most >= *least && !sizes_match(measure, x, *most, threshold))
			(*most)--;
	}
}

/* Looking up a number takes about this many steps for each halving of the array. */
#define STEPS_PER_HALVING 2.2

/*
 * Returns about how many steps overlap_count() takes for sets of these sizes that share little,
 * until it finds that what is left is not enough.
 */
double
overlap_steps(double x, double y, double needed)
{
	double lesser = Max(Min(x, y), 1);
	double ratio = Max(x, y) / lesser;
	double all =
		ratio > OVERLAP_FAR ? lesser * STEPS_PER_HALVING * log2(ratio) : lesser + lesser * ratio;

	return all * Max(0, lesser - needed + 1) / (lesser + 1);
}
