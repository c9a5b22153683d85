/*
 * weights.h: weighing the elements of sets by how many documents have them.
 *
 * A set whose elements have whole weights stands for the plain set of their copies: an
 * element of weight w has the copies 1 to w (doc/explanation/recipe.md).  So the sketch of the copies
 * estimates the weighted resemblance, the sum of the lesser weights over the sum of the
 * greater ones, as the sketch of a plain set estimates its resemblance (Haveliwala, Gionis
 * and Indyk 2000; Gollapudi and Panigrahy 2006).
 *
 * A set of which no element has a weight is weighed whole: each element as much as one that the
 * lexicon does not have.  Otherwise copies of a text that has nothing of its own would be found by
 * nobody.
 */
#ifndef NEARDUP_SKETCH_WEIGHTS_H
#define NEARDUP_SKETCH_WEIGHTS_H

#include "base/hash.h"
#include "sketch/bag.h"

/* ---- Weights (weights.c) ------------------------------------------------------- */

/* The greatest weight that a lexicon gives, and the weight of elements that it does not have. */
#define WEIGHT_MAX 15

/* Up to this many documents may be near-duplicates; what more of them share may be a form. */
#define FORM_DOCUMENTS 20

/* Returns whether so many documents have an element that it is a part of a form. */
static inline bool
is_of_form(uint64_t count, uint64_t documents, double share)
{
	return count >= Max(share * documents, FORM_DOCUMENTS);
}

/* Returns the key of an element, given as its mix64, in a lexicon. */
static inline uint32_t
weight_key(uint64_t mixed)
{
	return (uint32_t) (mixed >> 32);
}

/* A lexicon to look up: ascending keys, and their weights, below WEIGHT_MAX. */
typedef struct Weights
{
	uint32_t count;
	const uint32_t *key;
	const uint8_t *weight;
	int shift;       /* the highest 32 - shift bits of a key are its bucket */
	uint32_t *start; /* the start of the keys of each bucket, and count */
	uint64_t *whole; /* the number of sets that were weighed whole, or NULL */
} Weights;

extern uint8_t weight_of_count(uint32_t count, uint64_t documents, double share);
extern void weights_begin(Weights *weights, const uint32_t *key, const uint8_t *weight,
						  uint32_t count);
extern uint32_t weight_of(const Weights *weights, uint64_t mixed);
extern uint64_t weights_digest(uint32_t scheme, uint64_t documents, const uint32_t *key,
							   const uint8_t *weight, uint32_t count);
extern Bag bag_weigh(const Bag *bag, const Weights *weights);

/* ---- Copies (weights.c) -------------------------------------------------------- */

/* The most copies of the elements of a set. */
#define COPIES_MAX ((uint64_t) 1 << 26)

/* The copies of weighted elements, which are made when they are needed. */
typedef struct Copies
{
	uint64_t *mixed; /* mix64 of each element */
	uint32_t *weight;
	size_t elements;
	uint64_t count; /* copies of all elements */
} Copies;

/* The position of the next copy; zero at first. */
typedef struct CopiesPosition
{
	size_t element;
	uint32_t copy; /* the number of the element's copy, from 0 */
} CopiesPosition;

extern Copies copies_weighed(uint64_t *mixed, size_t count, const Weights *weights);
extern Copies copies_of_bag(const Bag *bag);
extern size_t copies_next(const Copies *copies, CopiesPosition *position, uint64_t *to,
						  size_t room);
extern void copies_end(Copies *copies);
extern Bag bag_copies(const Bag *bag);

#endif
