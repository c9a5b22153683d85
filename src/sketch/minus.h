/*
 * minus.h: leaving elements out of what a sink gets.
 */
#ifndef NEARDUP_SKETCH_MINUS_H
#define NEARDUP_SKETCH_MINUS_H

#include "base/table.h"
#include "text/text.h"

/*
 * The elements to leave out.  A bit tells of nearly all others that they are not among
 * them, which takes less time than a search of the table.
 */
typedef struct Minus
{
	Table table;
	const uint64_t *element;
	uint64_t *bits; /* set at element & last */
	uint64_t last;
} Minus;

/* Prepares to leave out distinct elements, which the caller keeps. */
extern void minus_begin(Minus *minus, const uint64_t *element, size_t count);

/*
 * Gives the shingles of a text to sink, in any order, without those to leave out, however
 * often they occur; minus may be NULL.
 */
extern void shingle_text_minus(const char *utf8, size_t length, SchemeId scheme, const Minus *minus,
							   HashSink sink, void *state);

#endif
