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
	uint64_t *element; /* by number, as the others */
	uint32_t *count;   /* documents that have it, or may have had it before it was forgotten */
	uint32_t *last;    /* low bits of the number of the last one, counted from 1 */
	size_t room;       /* of the arrays */
	size_t most;       /* elements, in a counter for a lexicon */
	uint64_t width;    /* of a counter for a share */
	double share;
	uint64_t documents;
} ElementCounts;

/* Starts a counter for a lexicon, which keeps at most `most` elements. */
extern void counts_begin(ElementCounts *counts, size_t most);

/* Starts a counter for the elements that a share of the documents have, 0 < share <= 1. */
extern void counts_begin_share(ElementCounts *counts, double share);

/* Begins a document; a counter for a share may have at most UINT32_MAX. */
extern void counts_next(ElementCounts *counts);

/* Counts elements of the current document; a HashSink (text/text.h). */
extern void counts_add(void *counts, const uint64_t *hashes, size_t count);

/* The most bytes that an element takes, slots of the table that are free included. */
#define COUNTS_BYTES 96

/*
 * Sets the keys, ascending, and weights of the most frequent elements, at most `entries`;
 * leaves out those that weigh WEIGHT_MAX (sketch/weights.h).  Frees the counts.  Returns
 * the number of keys.
 *
 * The weight of an element in n of N > 1 documents is ln(N / n) / ln N times WEIGHT_MAX,
 * rounded.
 */
extern uint32_t counts_finish(ElementCounts *counts, uint32_t entries, uint32_t *key,
							  uint8_t *weight);

/*
 * Returns the elements that at least the share of the documents have, but at least two
 * documents, and frees the counts.  Elements that nearly as many documents have, at least
 * 0.95 times the share, may be among them.  All frequencies are 1.
 */
extern Bag counts_finish_share(ElementCounts *counts);

#endif
