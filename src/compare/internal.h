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

/* ---- Suffixes ----------------------------------------------------------- */

/*
 * Sets array[0, length) to the suffix array of text[0, length).  All symbols are below
 * `alphabet`; the last one is 0, and less than all others (suffix.c).
 */
extern void suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet, uint32_t *array);

/*
 * Two sequences with a separator between them and an end after them, and all suffixes
 * sorted.  The end and the separator, in this order, start the first two.
 */
typedef struct Joined
{
	uint32_t *text;
	uint32_t length;
	uint32_t border;  /* the place of the separator */
	uint32_t *array;  /* the suffix array */
	uint32_t *shared; /* symbols that each suffix shares with the one before it in order */
} Joined;

/* Joins two sequences (joined.c). */
extern Joined join_sequences(const SequencePair *pair);

/* Frees what join_sequences has made. */
extern void joined_free(Joined *joined);

#endif
