/*
 * counts.h: counting in how many documents each element is.
 *
 * A counter forgets elements that few documents have, and counts them anew if they occur again
 * (lossy counting, Manku and Motwani, VLDB 2002).  A counter for a lexicon keeps at most `most`
 * elements: when more come, it forgets at least half, and counts too low.  A counter for a
 * share of the documents forgets after every `width` documents the elements that at most one in
 * `width` has, and counts too high: it adds to a new element what a forgotten one can have had.
 * So its memory grows with the logarithm of the number of documents.
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
	uint32_t *last;    /* low bits of the number of the last such document, counted from 1 */
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

/* An element, by its key in a lexicon, and how many documents have it. */
typedef struct CountedElement
{
	uint32_t key;
	uint32_t count;
} CountedElement;

extern size_t counted_entries(CountedElement *element, size_t count, uint64_t documents,
							  uint32_t entries, double share);
extern uint32_t counts_finish(ElementCounts *counts, uint32_t entries, double share, uint32_t **key,
							  uint8_t **weight);
extern Bag counts_finish_share(ElementCounts *counts);

#endif
