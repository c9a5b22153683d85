/*
 * counts.h: counting in how many documents each element is.
 *
 * A counter forgets what few documents have, and counts it anew if it occurs again (lossy
 * counting, Manku and Motwani, VLDB 2002), in one of two ways.  One for a lexicon keeps a
 * number of elements: when more come, it forgets at least half, and counts too low.  One
 * for a share of the documents forgets after every `width` documents what one of `width`
 * has on average, and counts too high: a new element may have been in all that the
 * forgotten ones were.  So its memory grows with the logarithm of the number of documents.
 */
#ifndef NEARDUP_SKETCH_COUNTS_H
#define NEARDUP_SKETCH_COUNTS_H

#include "base/table.h"
#include "sketch/bag.h"

typedef struct ElementCounts
{
	Table table;
	uint64_t *element; /* the elements by number, as the arrays below */
	uint32_t *count;   /* documents that have it, or may have had it before it was forgotten */
	uint32_t *last;    /* low bits of the number of the last one, counted from 1 */
	size_t room;       /* elements that the arrays have room for */
	size_t most;       /* elements, in a counter for a lexicon */
	uint64_t width;    /* the width of a counter for a share */
	double share;
	uint64_t documents;
} ElementCounts;

extern void counts_begin(ElementCounts *counts, size_t most);
extern void counts_begin_share(ElementCounts *counts, double share);
extern void counts_next(ElementCounts *counts);
extern void counts_add(void *counts, const uint64_t *hashes, size_t count);

/* The most bytes that an element takes, slots of the table that are free included. */
#define COUNTS_BYTES 96

extern uint32_t counts_finish(ElementCounts *counts, uint32_t entries, double share, uint32_t **key,
							  uint8_t **weight);
extern Bag counts_finish_share(ElementCounts *counts);

#endif
