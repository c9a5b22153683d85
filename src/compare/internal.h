/*
 * internal.h: what the files of compare/ and their tests share.
 */
#ifndef NEARDUP_COMPARE_INTERNAL_H
#define NEARDUP_COMPARE_INTERNAL_H

#include "compare/compare.h"

/*
 * Returns the edit distance for any costs, lengths and bounds if it is at most bound, else a
 * number above bound (weighted.c).
 */
extern int64_t weighted_distance_within(const SequencePair *pair, EditCosts costs, int64_t bound);

/*
 * Sets array[0, length) to the suffix array of text[0, length).  All symbols are below
 * `alphabet`; the last one is 0, and less than all others (suffix.c).
 */
extern void suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet, uint32_t *array);

#endif
