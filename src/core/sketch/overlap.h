/*
 * overlap.h: how similar two sets or multisets are by their sizes and what they share, which
 * sizes and overlaps reach a threshold, and what two ascending arrays share.
 *
 * X is the first of the two: the query, the new row, or the left side of an operator.  A size is
 * a number of elements, or of a multiset the sum of its frequencies.
 */
#ifndef NEARDUP_SKETCH_OVERLAP_H
#define NEARDUP_SKETCH_OVERLAP_H

#include "base/host.h"

/* What the similarity of X and Y is.  Values of type ball store these numbers. */
typedef enum Measure
{
	MEASURE_RESEMBLANCE, /* |X and Y| / |X or Y| (Broder 1997) */
	MEASURE_CONTAINED,   /* |X and Y| / |X|: how much of X is in Y */
	MEASURE_CONTAINS,    /* |X and Y| / |Y|: how much of Y is in X */
	MEASURE_CONTAINMENT, /* the greater of both: how much of the lesser one is in the other */
	MEASURES
} Measure;

/* ---- Sizes (overlap.c) ---------------------------------------------------------- */

/*
 * Returns the similarity of two sets of these sizes that share this much; 0 if they share
 * nothing.  It is one quotient of whole numbers, so it rounds alike on every machine, and is
 * monotonic.
 */
static inline double
overlap_similarity(Measure measure, uint64_t shared, uint64_t x, uint64_t y)
{
	uint64_t whole = x;

	if (shared == 0)
		return 0;
	if (measure == MEASURE_RESEMBLANCE)
		whole = x + y - shared;
	else if (measure == MEASURE_CONTAINS || (measure == MEASURE_CONTAINMENT && y < x))
		whole = y;
	return (double) shared / (double) whole;
}

extern uint64_t overlap_needed(Measure measure, uint64_t x, uint64_t y, double threshold);
extern void overlap_sizes(Measure measure, uint64_t x, double threshold, uint64_t *least,
						  uint64_t *most);
extern double overlap_steps(double x, double y, double needed);

/* ---- Ascending arrays ----------------------------------------------------------- */

/* Two arrays of distinct ascending numbers, and the positions that a walk through them has reached. */
typedef struct Overlap
{
	const void *x;
	const void *y;
	size_t i;
	size_t j;
	size_t end_x;
	size_t end_y;
} Overlap;

/* Returns the number at a position of an array, in the order of unsigned numbers. */
typedef uint64_t (*OverlapKey)(const void *array, size_t position);

/* Takes the positions of a number that both arrays have; returns what it adds to the overlap. */
typedef uint64_t (*OverlapPart)(void *state, size_t i, size_t j);

#define OVERLAP_INLINE static inline __attribute__((always_inline))

OVERLAP_INLINE uint64_t
overlap_key_signed(const void *array, size_t position)
{
	return ((const uint64_t *) array)[position] ^ UINT64_C(1) << 63;
}

OVERLAP_INLINE uint64_t
overlap_key_unsigned(const void *array, size_t position)
{
	return ((const uint64_t *) array)[position];
}

OVERLAP_INLINE uint64_t
overlap_key_32(const void *array, size_t position)
{
	return ((const uint32_t *) array)[position];
}

/* An OverlapPart: counts. */
OVERLAP_INLINE uint64_t
overlap_one(void *state, size_t i, size_t j)
{
	return 1;
}

/* If an array has this many times the numbers left in the other, those are looked up in it. */
#define OVERLAP_FAR 8

/* Returns the first position from `at` on not less than `number`; near positions are found soonest. */
OVERLAP_INLINE size_t
overlap_find(const void *array, size_t at, size_t end, uint64_t number, OverlapKey key)
{
	size_t step = 1;

	while (step < end - at && key(array, at + step) < number)
	{
		at += step;
		step *= 2;
	}
	/* Halves without a branch, which none could predict. */
	for (size_t left = Min(step, end - at); left > 0; left /= 2)
		at += key(array, at + left / 2) < number ? left - left / 2 : 0;
	return at;
}

/* Looks the next numbers of the lesser array up in the greater one, at most `steps` of them. */
OVERLAP_INLINE uint64_t
overlap_look_up(Overlap *o, size_t steps, OverlapKey key, OverlapPart part, void *state, bool swap)
{
	const void *lesser = swap ? o->y : o->x;
	const void *greater = swap ? o->x : o->y;
	size_t at = swap ? o->j : o->i;
	size_t end = swap ? o->end_y : o->end_x;
	size_t found = swap ? o->i : o->j;
	size_t end_greater = swap ? o->end_x : o->end_y;
	uint64_t sum = 0;

	for (end = Min(end, at + steps); at < end; at++)
	{
		uint64_t number = key(lesser, at);

		found = overlap_find(greater, found, end_greater, number, key);
		if (found == end_greater)
			break;
		if (key(greater, found) == number)
		{
			sum += swap ? part(state, found, at) : part(state, at, found);
			found++;
		}
	}
	o->i = swap ? found : at;
	o->j = swap ? at : found;
	return sum;
}

/* Walks through both arrays side by side, at most `steps` steps; branches at its ends only. */
OVERLAP_INLINE uint64_t
overlap_merge(Overlap *o, size_t steps, OverlapKey key, OverlapPart part, void *state)
{
	size_t i = o->i;
	size_t j = o->j;
	size_t end_x = o->end_x;
	size_t end_y = o->end_y;
	uint64_t sum = 0;

	for (; steps > 0 && i < end_x && j < end_y; steps--)
	{
		uint64_t a = key(o->x, i);
		uint64_t b = key(o->y, j);

		sum += a == b ? part(state, i, j) : 0;
		i += a <= b;
		j += b <= a;
	}
	o->i = i;
	o->j = j;
	return sum;
}

/* Takes at most `steps` steps through both arrays, by lookups if far more is left of one. */
OVERLAP_INLINE uint64_t
overlap_some(Overlap *o, size_t steps, OverlapKey key, OverlapPart part, void *state)
{
	size_t left_x = o->end_x - o->i;
	size_t left_y = o->end_y - o->j;

	if (left_x < left_y / OVERLAP_FAR)
		return overlap_look_up(o, steps, key, part, state, false);
	if (left_y < left_x / OVERLAP_FAR)
		return overlap_look_up(o, steps, key, part, state, true);
	return overlap_merge(o, steps, key, part, state);
}

/* Returns whether neither array is at its end. */
static inline bool
overlap_goes_on(const Overlap *o)
{
	return o->i < o->end_x && o->j < o->end_y;
}

/* Walks to the end; returns the sum of what common numbers add. */
OVERLAP_INLINE uint64_t
overlap_sum(Overlap *o, OverlapKey key, OverlapPart part, void *state)
{
	uint64_t sum = 0;

	while (overlap_goes_on(o))
	{
		host_check_interrupts();
		sum += overlap_some(o, STEPS_BETWEEN_CHECKS, key, part, state);
	}
	return sum;
}

/* A walk looks this many steps late whether it may end early. */
#define OVERLAP_STEPS 16

/*
 * Returns how many numbers both arrays have from here on; or a number less than needed, as soon as
 * what remains is not enough.  A step lowers what they can share by at most one.
 */
OVERLAP_INLINE uint64_t
overlap_count(Overlap *o, uint64_t needed, OverlapKey key)
{
	uint64_t shared = 0;
	size_t done = 0;

	while (overlap_goes_on(o))
	{
		uint64_t most = shared + Min(o->end_x - o->i, o->end_y - o->j);
		size_t steps;

		if (most < needed)
			break;
		steps = Min(most - needed + OVERLAP_STEPS, STEPS_BETWEEN_CHECKS);
		shared += overlap_some(o, steps, key, overlap_one, NULL);
		host_count_steps(&done, steps);
	}
	return shared;
}

#endif
