/*
 * internal.h: what the files of compare/ share, and their tests see.
 */
#ifndef NEARDUP_COMPARE_INTERNAL_H
#define NEARDUP_COMPARE_INTERNAL_H

#include "compare/compare.h"

/* A loop over so many symbols asks for interrupts in between. */
#define COMPARE_STEP 8192

static inline void
check_interrupts_at(size_t i)
{
	if (i % COMPARE_STEP == 0)
		host_check_interrupts();
}

/*
 * The distance at unit costs where it is at most bound, and else any number
 * above bound (edit.c).  The sequences are not empty, a is no longer than b,
 * and bound is at least the difference of their lengths.
 */
extern int64_t unit_distance_within(const SequencePair *pair, int64_t bound);

/* The same at any costs, for any lengths and bounds (weighted.c). */
extern int64_t weighted_distance_within(const SequencePair *pair, EditCosts costs, int64_t bound);

/*
 * The suffix array of text[0, length), whose symbols are below alphabet and
 * whose last one is 0, less than all others (suffix.c).
 */
extern void suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet, uint32_t *array);

#endif
