/*
 * bag.h: multisets of 64-bit elements: gathering, combining, comparing and sampling them.
 *
 * An element that occurs f times in one bag and g times in another occurs min(f, g) times
 * in their intersection, max(f, g) times in their union, and max(f - g, 0) times in their
 * difference.
 */
#ifndef NEARDUP_SKETCH_BAG_H
#define NEARDUP_SKETCH_BAG_H

#include "base/host.h"

/*
 * The elements are distinct and ascending as signed numbers, as SQL shows them.  Each has
 * a frequency of at least 1.  Both arrays come from host_alloc, unless a comment says
 * otherwise.
 */
typedef struct Bag
{
	uint32_t count; /* distinct elements */
	int64_t *element;
	uint32_t *frequency; /* NULL if all are 1 */
} Bag;

/* Returns the frequency of element i. */
static inline uint32_t
bag_frequency(const Bag *bag, uint32_t i)
{
	return bag->frequency ? bag->frequency[i] : 1;
}

/* Frees the arrays of a bag. */
extern void bag_free(Bag *bag);

/* Frees the frequencies of a bag if all of them are 1. */
extern void bag_drop_ones(Bag *bag);

/* Returns the sum of all frequencies. */
extern uint64_t bag_total(const Bag *bag);

/*
 * Return how many bytes the elements and frequencies take as text, with commas and colons
 * (shingles_io.c): an upper bound, in constant time, and the exact number.
 */
extern uint64_t bag_text_most(const Bag *bag);
extern uint64_t bag_text_length(const Bag *bag);

/* ---- Building (bag.c) ---------------------------------------------------------- */

/* Gathers elements in any order. */
typedef struct BagBuilder
{
	uint64_t *hash;
	size_t count;
	size_t room;
} BagBuilder;

/* Starts without elements. */
extern void bag_begin(BagBuilder *builder);

/* Adds elements; a HashSink (text/text.h) with a BagBuilder as its state. */
extern void bag_add(void *builder, const uint64_t *hashes, size_t count);

/*
 * Makes a bag of the elements added, and frees the builder.  Frequencies stop at
 * UINT32_MAX.  Returns false, without a bag, if more than UINT32_MAX elements are
 * distinct.
 */
extern bool bag_finish(BagBuilder *builder, Bag *bag);

/* Sorts numbers of 64 bits by their signed value. */
extern void hashes_sort(uint64_t *hash, size_t count);

/* ---- Combining (bag.c) --------------------------------------------------------- */

/*
 * Return new bags.  A difference has the elements of x alone, with their frequencies.  x and y
 * together have at most UINT32_MAX elements.
 */
extern Bag bag_intersection(const Bag *x, const Bag *y);
extern Bag bag_union(const Bag *x, const Bag *y);
extern Bag bag_difference(const Bag *x, const Bag *y);

/* ---- Comparing (bag.c) --------------------------------------------------------- */

/*
 * All similarities are in [0, 1], and 0 if a bag is empty.  They are quotients of whole
 * numbers (the cosine also takes a square root), and round alike on every machine.
 */

/*
 * Returns either resemblance of two bags that have these lengths (numbers of elements, or
 * sums of frequencies) and share this much of them.
 */
static inline double
resemblance_of_lengths(uint64_t shared, uint64_t length_x, uint64_t length_y)
{
	return shared == 0 ? 0 : (double) shared / (double) (length_x + length_y - shared);
}

/* Returns the containment of the lesser of two bags of these lengths in the greater one. */
static inline double
containment_of_lengths(uint64_t shared, uint64_t length_x, uint64_t length_y)
{
	return shared == 0 ? 0 : (double) shared / (double) Min(length_x, length_y);
}

/* Returns how many elements both bags have, whatever their frequencies. */
extern uint32_t bag_shared(const Bag *x, const Bag *y);

/* Returns the resemblance |X and Y| / |X or Y| of the sets of elements (Broder 1997). */
extern double bag_resemblance(const Bag *x, const Bag *y);

/*
 * Returns bag_resemblance(x, y) >= t.  It uses the same division, so the two never
 * disagree, but compares no elements if the numbers of elements differ too much.
 */
extern bool bag_is_similar(const Bag *x, const Bag *y, double t);

/* Returns the containment |X and Y| / |X| of the sets of elements (Broder 1997). */
extern double bag_containment(const Bag *x, const Bag *y);

/* Returns the sum of the lesser frequencies over the sum of the greater ones. */
extern double bag_weighted_resemblance(const Bag *x, const Bag *y);

/* Returns the cosine of the angle between the vectors of frequencies. */
extern double bag_cosine(const Bag *x, const Bag *y);

/* ---- Samples and sketches (broder.c) ------------------------------------------- */

/*
 * Elements may come from anywhere and need not look random, so all of these choose by
 * mixed elements: mix64 of base/hash.h, as signed numbers.
 */

/* Returns the elements whose mixed value is a multiple of m > 0, with their frequencies. */
extern Bag bag_mod(const Bag *bag, uint64_t m);

/* Returns the n > 0 elements with the least mixed values, or all if there are fewer. */
extern Bag bag_bottom(const Bag *bag, uint32_t n);

/*
 * Returns the share of the bottom n of the union that is in both sets; 0 if a bag is
 * empty.  x and y may be whole sets, or their bottom n or more: the result is the same.
 */
extern double bottom_resemblance(const Bag *x, const Bag *y, uint32_t n);

/*
 * Sets least[0, m) to the least mixed value under each of m permutations.  The bag is not
 * empty.  Takes count * m steps.
 */
extern void bag_minima(const Bag *bag, uint32_t m, int64_t *least);

/*
 * Hashes each run of width > 0 elements that are neighbours in ascending order, or all
 * elements if there are fewer, into run, which has room for count numbers.  Returns the
 * number of runs.
 */
extern uint32_t bag_runs(const Bag *bag, uint32_t width, int64_t *run);

/*
 * Puts each element into one of n > 0 buckets, by its mixed value modulo n, and sets kept,
 * which has room for n numbers, to the element with the least mixed value of each bucket
 * that is not empty, in the order of the buckets.  Returns their number.
 */
extern uint32_t bag_buckets(const Bag *bag, uint32_t n, int64_t *kept);

/* ---- Lexicons (lexicon.c) ------------------------------------------------------ */

/* The weights of ascending elements; every other element has weight 0. */
typedef struct Lexicon
{
	uint32_t count;
	const int64_t *element;
	const double *weight;
} Lexicon;

/* Returns the elements of a bag that another bag has too, with their frequencies. */
extern Bag bag_keep(const Bag *bag, const Bag *wanted);

/* Returns the cosine of two vectors of frequency times weight; 0 if one of them is zero. */
extern double bag_lexicon_cosine(const Bag *x, const Bag *y, const Lexicon *lexicon);

#define BAG_DIGEST_BYTES 16

/* Sets digest to XXH3-128 of the elements, ascending, each as 8 bytes, big-endian. */
extern void bag_digest(const Bag *bag, uint8_t *digest);

#endif
