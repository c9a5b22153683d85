/*
 * lexicon.h: sets of shingles seen through a lexicon, which tells how much each
 * shingle says.
 */
#ifndef NEARDUP_SKETCH_LEXICON_H
#define NEARDUP_SKETCH_LEXICON_H

#include "sketch/sketch.h"

/* Weights of elements, which are ascending; any other element weighs nothing. */
typedef struct Lexicon
{
	uint32_t count;
	const int64_t *element;
	const double *weight;
} Lexicon;

/* The elements of a bag that are among those wanted, with the bag's frequencies. */
extern Bag bag_keep(const Bag *bag, const Bag *wanted);

/* Cosine of two vectors of frequency times weight, 0 where one has no length. */
extern double bag_lexicon_cosine(const Bag *x, const Bag *y, const Lexicon *lexicon);

#define DIGEST_BYTES 16

/* XXH3-128 of the elements, ascending, each as 8 bytes, highest first. */
extern void bag_digest(const Bag *bag, uint8_t *digest);

#endif
