/*
 * suffix.h: suffix arrays, and other functions that the files of compare/ share with tests.
 */
#ifndef NEARDUP_COMPARE_INTERNAL_H
#define NEARDUP_COMPARE_INTERNAL_H

#include "compare/compare.h"

extern int64_t weighted_distance_within(const SequencePair *pair, EditCosts costs, int64_t bound);

/* ---- Suffixes ----------------------------------------------------------- */

extern void suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet, uint32_t *array);

/*
 * Two sequences with a separator between them and an end after them, and all suffixes
 * sorted.  The end and the separator, in this order, start the first two suffixes.
 */
typedef struct Joined
{
	uint32_t *text;
	uint32_t length;
	uint32_t border;  /* the position of the separator */
	uint32_t *array;  /* the suffix array */
	uint32_t *shared; /* symbols that each suffix shares with the one before it in order */
} Joined;

extern Joined join_sequences(const SequencePair *pair);
extern void joined_free(Joined *joined);

#endif
