/*
 * set_query.h: what a search of sets compares: mixed elements, and bitmaps that bound an overlap.
 *
 * The elements of a set are 64-bit numbers that look random (mix64), ascending.
 */
#ifndef NEARDUP_SKETCH_SET_QUERY_H
#define NEARDUP_SKETCH_SET_QUERY_H

#include "sketch/overlap.h"

#define BITMAP_BITS 128

/* A bit for each of the values that the low bits of elements have. */
typedef struct SetBitmap
{
	uint64_t word[BITMAP_BITS / 64];
} SetBitmap;

/* The sets Y whose measure is at least the threshold; for threshold 0 all sets. */
typedef struct SetQuery
{
	Measure measure; /* the measure of the query and the set */
	double threshold;
	uint32_t count;
	const uint64_t *element;
	SetBitmap bitmap;
} SetQuery;

extern void set_mix(const int64_t *element, uint32_t count, uint64_t *mixed);
extern SetBitmap set_bitmap(const uint64_t *element, uint32_t count);
extern double bitmap_passes(double nx, double ny, double needed);
extern uint32_t set_shared(const uint64_t **x, uint32_t *nx, const uint64_t *y, uint32_t ny,
						   uint64_t needed);

/* Returns the measure of a set of `count` elements that shares `shared` with the query. */
static inline double
set_measure(const SetQuery *query, uint32_t shared, uint32_t count)
{
	return overlap_similarity(query->measure, shared, query->count, count);
}

/* Returns the least that a set of `count` elements shares with the query if it matches. */
static inline uint64_t
set_overlap(const SetQuery *query, uint32_t count)
{
	return overlap_needed(query->measure, query->count, count, query->threshold);
}

/* Returns the most elements that two sets can share, by their sizes and bitmaps. */
static inline uint32_t
bitmap_shared_most(const SetBitmap *x, uint32_t nx, const SetBitmap *y, uint32_t ny)
{
	int differ = __builtin_popcountll(x->word[0] ^ y->word[0]) +
		__builtin_popcountll(x->word[1] ^ y->word[1]);

	/* Each bit that differs comes from an element that is in one set only. */
	return (uint32_t) (((uint64_t) nx + ny - differ) / 2);
}

#endif
