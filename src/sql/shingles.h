/*
 * shingles.h: the type shingles: a stored set of 64-bit shingle hashes.
 */
#ifndef NEARDUP_SQL_SHINGLES_H
#define NEARDUP_SQL_SHINGLES_H

#include "sql/sql.h"

#include "sketch/bag.h"

/*
 * A stored set: this header, count ascending elements, and count frequencies
 * where the flag says so (absent where all are 1).  Type alignment is double;
 * a detoasted value is aligned.
 */
typedef struct Shingles
{
	int32 vl_len_; /* varlena header, do not touch directly */
	uint8 layout;  /* SHINGLES_LAYOUT */
	uint8 version; /* RECIPE_VERSION, or a later one */
	uint16 flags;  /* SHINGLES_... */
	SchemeId scheme;
	uint32 count;
	int64 element[FLEXIBLE_ARRAY_MEMBER];
} Shingles;

#define SHINGLES_LAYOUT 1
#define SHINGLES_FREQUENCIES 1

/* Detoast a value and check its header; a copy only where it was toasted. */
extern Shingles *shingles_of_datum(Datum datum);

/* The same, of a set that a signature is made of: its recipe must be the one known here. */
extern Shingles *shingles_to_sketch(Datum datum);

/* The multiset it holds; the arrays point into it. */
extern Bag shingles_bag(const Shingles *shingles);

/* A new value, with the bag's arrays copied; version is of its recipe. */
extern Shingles *shingles_of_bag(const Bag *bag, int version, SchemeId scheme);

#endif
