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
#include "sketch/overlap.h"

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

extern void bag_free(Bag *bag);
extern void bag_drop_ones(Bag *bag);
extern uint64_t bag_total(const Bag *bag);
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

extern void bag_begin(BagBuilder *builder);
extern void bag_add(void *builder, const uint64_t *hashes, size_t count);
extern bool bag_finish(BagBuilder *builder, Bag *bag);
extern void hashes_sort(uint64_t *hash, size_t count);

/* ---- Combining (bag.c) --------------------------------------------------------- */

extern Bag bag_intersection(const Bag *x, const Bag *y);
extern Bag bag_union(const Bag *x, const Bag *y);
extern Bag bag_difference(const Bag *x, const Bag *y);

/* ---- Comparing (bag.c) --------------------------------------------------------- */

/*
 * All similarities are in [0, 1], and 0 if a bag is empty.  They are quotients of whole
 * numbers (the cosine also takes a square root), and round alike on every machine.
 */

extern bool bag_equals(const Bag *x, const Bag *y, bool multiset);
extern uint64_t bag_shared(const Bag *x, const Bag *y, bool multiset);
extern double bag_similarity(const Bag *x, const Bag *y, Measure measure, bool multiset);
extern bool bag_is_similar(const Bag *x, const Bag *y, Measure measure, double t);
extern double bag_cosine(const Bag *x, const Bag *y);

/* ---- Samples and sketches (broder.c) ------------------------------------------- */

/*
 * Elements may come from anywhere and need not look random, so all of these choose by
 * mixed elements: mix64 of base/hash.h, as signed numbers.
 */

extern Bag bag_mod(const Bag *bag, uint64_t m);
extern Bag bag_bottom(const Bag *bag, uint32_t n);
extern double bottom_resemblance(const Bag *x, const Bag *y, uint32_t n);
extern void bag_minima(const Bag *bag, uint32_t m, int64_t *least);
extern uint32_t bag_runs(const Bag *bag, uint32_t width, int64_t *run);
extern uint32_t bag_buckets(const Bag *bag, uint32_t n, int64_t *kept);

/* ---- Lexicons (lexicon.c) ------------------------------------------------------ */

/* The weights of ascending elements; every other element has weight 0. */
typedef struct Lexicon
{
	uint32_t count;
	const int64_t *element;
	const double *weight;
} Lexicon;

extern Bag bag_keep(const Bag *bag, const Bag *wanted);
extern double bag_lexicon_cosine(const Bag *x, const Bag *y, const Lexicon *lexicon);

#define BAG_DIGEST_BYTES 16

extern void bag_digest(const Bag *bag, uint8_t *digest);

#endif
