/*
 * broder.h: the samples and sketches of sets that Broder and others describe.
 *
 * Elements may come from anywhere and need not look random, so what is chosen is
 * chosen by their mixed values (mix64 of base/hash.h, as signed numbers).
 */
#ifndef NEARDUP_SKETCH_BRODER_H
#define NEARDUP_SKETCH_BRODER_H

#include "sketch/sketch.h"

/* The elements whose mixed value is a multiple of m > 0, with their frequencies. */
extern Bag bag_mod(const Bag *bag, uint64_t m);

/* The n > 0 elements of the least mixed values, or all where there are fewer. */
extern Bag bag_bottom(const Bag *bag, uint32_t n);

/*
 * The share of the bottom n of X or Y that is in both X and Y; the same whether
 * x and y are the sets or their bottoms of n or more.  0 where a bag is empty.
 */
extern double bottom_resemblance(const Bag *x, const Bag *y, uint32_t n);

/*
 * The least mixed value under each of m permutations, into least[m].  The bag is
 * not empty.  Takes count * m steps.
 */
extern void bag_minima(const Bag *bag, uint32_t m, int64_t *least);

/*
 * A hash of each run of width > 0 elements, in ascending order of the elements,
 * or of all where there are fewer; returns how many (less than count, but 1 for
 * such a short one, and 0 for none).  run has room for count.
 */
extern uint32_t bag_runs(const Bag *bag, uint32_t width, int64_t *run);

/*
 * Throw the elements into n > 0 buckets by their mixed value modulo n, and keep
 * the least (by the mixed value) of each.  Returns how many are not empty, their
 * elements in the order of the buckets in kept[n].
 */
extern uint32_t bag_buckets(const Bag *bag, uint32_t n, int64_t *kept);

#endif
