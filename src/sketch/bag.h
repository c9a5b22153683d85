/*
 * bag.h: what two bags have in common, and the bags made of two.
 *
 * As multisets: an element that occurs f times in one and g times in the other
 * occurs min(f, g) times in the intersection, max(f, g) times in the union and
 * f - g times, if that is above zero, in the difference.
 */
#ifndef NEARDUP_SKETCH_BAG_H
#define NEARDUP_SKETCH_BAG_H

#include "sketch/sketch.h"

static inline uint32_t
bag_frequency(const Bag *bag, uint32_t i)
{
	return bag->frequency ? bag->frequency[i] : 1;
}

/*
 * Bytes that the elements and frequencies take as text, with their commas and colons
 * (shingles_io.c): at most, at once, and exactly, by looking at all.
 */
extern uint64_t bag_text_most(const Bag *bag);
extern uint64_t bag_text_length(const Bag *bag);

/* Free the arrays of a bag that owns them. */
extern void bag_free(Bag *bag);

/* The sum of all frequencies. */
extern uint64_t bag_total(const Bag *bag);

/* How many elements both have, whatever their frequencies. */
extern uint32_t bag_shared(const Bag *x, const Bag *y);

/*
 * New bags.  Together x and y must have at most UINT32_MAX elements.
 */
extern Bag bag_intersection(const Bag *x, const Bag *y);
extern Bag bag_union(const Bag *x, const Bag *y);
extern Bag bag_difference(const Bag *x, const Bag *y);

/*
 * Similarities, each 0 where a bag is empty.  All are quotients of integers
 * (cosine: their square root too), rounded the same way on every machine.
 */

/*
 * Either resemblance of two bags of these lengths (numbers of elements, or sums of
 * frequencies) that share so much.
 */
static inline double
resemblance_of_lengths(uint64_t shared, uint64_t length_x, uint64_t length_y)
{
	return shared == 0 ? 0 : (double) shared / (double) (length_x + length_y - shared);
}

/* |X and Y| / |X or Y| of the sets (Broder 1997: resemblance). */
extern double bag_resemblance(const Bag *x, const Bag *y);

/*
 * bag_resemblance(x, y) >= t, often without looking at the elements: it can
 * never disagree with the number, being made of the same division.
 */
extern bool bag_is_similar(const Bag *x, const Bag *y, double t);

/* |X and Y| / |X| of the sets (Broder 1997). */
extern double bag_containment(const Bag *x, const Bag *y);

/* Sum of the lesser frequencies over the sum of the greater ones. */
extern double bag_weighted_resemblance(const Bag *x, const Bag *y);

/* Cosine of the angle between the two vectors of frequencies. */
extern double bag_cosine(const Bag *x, const Bag *y);

#endif
