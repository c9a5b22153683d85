/*
 * set_query.c: searches of sets: which sizes and which overlaps match a query.
 *
 * All bounds are found with the expressions that is_similar() and is_contained() compare, so
 * rounding cannot lose a match.
 */
#include "sketch/set_query.h"

#include <math.h>

#include "base/hash.h"
#include "sketch/bag.h"

#define SIGN (UINT64_C(1) << 63)

/* Sets `mixed` to the mixed elements of a set, ascending. */
void
set_mix(const int64_t *element, uint32_t count, uint64_t *mixed)
{
	for (uint32_t i = 0; i < count; i++)
		mixed[i] = mix64((uint64_t) element[i]) ^ SIGN;
	/* Sorts signed numbers. */
	hashes_sort(mixed, count);
	for (uint32_t i = 0; i < count; i++)
		mixed[i] ^= SIGN;
}

/* Returns the bitmap of a set. */
SetBitmap
set_bitmap(const uint64_t *element, uint32_t count)
{
	SetBitmap bitmap = {{0, 0}};

	for (uint32_t i = 0; i < count; i++)
		bitmap.word[element[i] >> 6 & 1] |= UINT64_C(1) << (element[i] & 63);
	return bitmap;
}

/* Returns the measure of a set of `count` elements that shares `shared` with the query. */
double
set_measure(const SetQuery *query, uint32_t shared, uint32_t count)
{
	if (shared == 0)
		return 0;
	switch (query->measure)
	{
		case QUERY_HELD:
			return (double) shared / query->count;
		case QUERY_HOLDS:
			return (double) shared / count;
		default:
			return resemblance_of_lengths(shared, query->count, count);
	}
}

/* Returns whether a set of this size matches that shares as much as it can. */
static bool
size_matches(const SetQuery *query, uint32_t count)
{
	return set_measure(query, Min(query->count, count), count) >= query->threshold;
}

/* Returns a number within 32 bits that is near x. */
static uint32_t
near_number(double x)
{
	return x <= 1 ? 1 : x >= UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t) x;
}

/* Sets the sizes of the sets that can match: none if *least > *most. */
void
set_sizes(const SetQuery *query, uint32_t *least, uint32_t *most)
{
	*least = 1;
	*most = UINT32_MAX - 1;
	if (query->threshold <= 0)
		return;
	if (query->measure != QUERY_HOLDS)
	{
		*least = near_number(query->threshold * query->count);
		while (*least > 1 && size_matches(query, *least - 1))
			(*least)--;
		while (*least <= query->count && !size_matches(query, *least))
			(*least)++;
	}
	if (query->measure != QUERY_HELD)
	{
		*most = near_number(query->count / query->threshold);
		while (*most < UINT32_MAX - 1 && size_matches(query, *most + 1))
			(*most)++;
		while (*most >= *least && !size_matches(query, *most))
			(*most)--;
	}
}

/*
 * Returns the least number of elements that a set of this size shares with the query if it
 * matches; more than either has if it cannot.
 */
uint32_t
set_overlap(const SetQuery *query, uint32_t count)
{
	double t = query->threshold;
	uint32_t most = Min(query->count, count);
	double guess;
	uint32_t overlap;

	if (t <= 0)
		return 0;
	if (query->measure == QUERY_HELD)
		guess = t * query->count;
	else if (query->measure == QUERY_HOLDS)
		guess = t * count;
	else
		guess = t * ((double) query->count + count) / (1 + t);
	overlap = Min(near_number(guess), most + 1);
	while (overlap > 1 && set_measure(query, overlap - 1, count) >= t)
		overlap--;
	while (overlap <= most && set_measure(query, overlap, count) < t)
		overlap++;
	return overlap;
}

/* If a set has this many times the elements of another, these are looked up in it. */
#define FAR_LARGER 16

/* Returns the first element from `at` on that is not less than a number: near ones are found soonest. */
static const uint64_t *
find_from(const uint64_t *at, const uint64_t *end, uint64_t number)
{
	size_t step = 1;

	while (step < (size_t) (end - at) && at[step] < number)
	{
		at += step;
		step *= 2;
	}
	end = step < (size_t) (end - at) ? at + step : end;
	while (at < end)
	{
		const uint64_t *middle = at + (end - at) / 2;

		if (*middle < number)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

/*
 * Returns how many elements a set X shares with a part of another; drops from X the elements
 * that no later part can hold.
 */
uint32_t
set_shared(const uint64_t **x, uint32_t *nx, const uint64_t *y, uint32_t ny)
{
	const uint64_t *at = *x;
	const uint64_t *end = at + *nx;
	uint32_t shared = 0;
	uint32_t j = 0;

	for (; *nx / FAR_LARGER > ny && at < end && j < ny; j++)
	{
		at = find_from(at, end, y[j]);
		if (at < end && *at == y[j])
		{
			shared++;
			at++;
		}
	}
	while (at < end && j < ny)
	{
		uint64_t left = *at;
		uint64_t right = y[j];

		shared += left == right;
		at += left <= right;
		j += right <= left;
	}
	*x = at;
	*nx = (uint32_t) (end - at);
	return shared;
}
