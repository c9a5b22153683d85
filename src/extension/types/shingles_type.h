/*
 * shingles_type.h: the type shingles: a stored set of 64-bit shingle hashes.
 */
#ifndef NEARDUP_TYPES_SHINGLES_TYPE_H
#define NEARDUP_TYPES_SHINGLES_TYPE_H

#include "sketch/bag.h"
#include "calls/arguments.h"
#include "calls/objects.h"
#include "types/read.h"
#include "calls/schemes.h"
#include "calls/texts.h"

/*
 * A stored value: this header, count ascending elements and, if the flag is set, count
 * frequencies.  The flag is set unless all frequencies are 1, so equal values are equal
 * bytes.  The type's alignment is double: a detoasted value is aligned.
 */
typedef struct Shingles
{
	int32 vl_len_; /* varlena header, do not touch directly */
	uint8 layout;  /* SHINGLES_LAYOUT */
	uint8 version; /* RECIPE_VERSION, or a later one */
	uint16 flags;  /* SHINGLES_FREQUENCIES or 0 */
	SchemeId scheme;
	uint32 count;
	int64 element[FLEXIBLE_ARRAY_MEMBER];
} Shingles;

extern Shingles *shingles_of_datum(Datum datum);
extern Shingles *shingles_to_sketch(Datum datum);
extern Bag shingles_bag(const Shingles *shingles);
extern Shingles *shingles_of_bag(const Bag *bag, int version, SchemeId scheme);
extern Datum shingles_return(FunctionCallInfo fcinfo, Shingles *shingles, Bag *bag,
							 SchemeId scheme);

/* The first two arguments of a function, of the same recipe and scheme. */
typedef struct ShinglesPair
{
	Shingles *x;
	Shingles *y;
	Bag bag_x;
	Bag bag_y;
} ShinglesPair;

extern Shingles *shingles_parse(FormReader *reader);
extern char *shingles_text(const Shingles *shingles);
extern void shingles_put(FormWriter *writer, const Shingles *shingles);
extern Datum neardup_shingles_recv(PG_FUNCTION_ARGS);

extern ShinglesPair shingles_pair(FunctionCallInfo fcinfo);
extern void shingles_pair_free(FunctionCallInfo fcinfo, ShinglesPair *pair);

#endif
