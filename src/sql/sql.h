/*
 * sql.h: what the files that face PostgreSQL share.
 */
#ifndef NEARDUP_SQL_SQL_H
#define NEARDUP_SQL_SQL_H

#include "compat.h"

#include "fmgr.h"
#include "utils/array.h"

#include "sketch/sketch.h"

/* ---- Text --------------------------------------------------------------- */

/* A text argument, detoasted and as UTF-8; utf8_free frees the copies made. */
typedef struct Utf8Text
{
	const char *bytes;
	size_t length;
	text *detoasted; /* NULL where the datum needed no copy */
	char *converted; /* NULL where the server's encoding is UTF-8 */
} Utf8Text;

/* Refuses bytes above 0x7F where the server's encoding is SQL_ASCII. */
extern Utf8Text utf8_of_datum(Datum datum);
extern void utf8_free(Utf8Text *utf8);

/* A text in the server's encoding. */
extern text *text_of_utf8(const char *utf8, size_t length);

/* ---- Schemes and recipes ------------------------------------------------ */

/* The scheme of a name, which must read text ('word 3', not 'tokens'). */
extern SchemeId text_scheme_of_datum(Datum name);

/*
 * The lists of spot signatures, from a function's arguments 1 to 3: a scheme's
 * name, antecedents and stop words (text[], or the language's own where they are
 * NULL).  Freed by spot_words_free; *made is the scheme of what they make.
 */
extern SpotWords *spot_words_of_arguments(FunctionCallInfo fcinfo, SchemeId *made);

/*
 * An error that names both, unless two values have the same recipe version and
 * scheme.  type is the plural for the message: "shingles", "minhash values".
 */
extern void check_same_recipe(const char *type, int version_x, SchemeId scheme_x, int version_y,
							  SchemeId scheme_y);

/*
 * May a value of a recipe version have this scheme?  Of a later version than is
 * known here it may have any.
 */
extern bool recipe_has_scheme(int version, SchemeId scheme);

/* ---- Arguments ---------------------------------------------------------- */

/* Returns false after an error, in context as errsave() has it, unless 0 < threshold <= 1. */
extern bool check_threshold(double threshold, Node *context);

/*
 * Hand many hashes to sink in batches, so that it can be interrupted.
 */
extern void hashes_in_batches(const uint64_t *hashes, size_t count, HashSink sink, void *state);

/*
 * Hand the elements of a text[] (each hashed by shingle_of_token) or a
 * bigint[] to sink, in order, in batches.  A NULL element or more than one
 * dimension is an error.
 */
extern void hashes_of_text_array(ArrayType *array, HashSink sink, void *state);
extern void hashes_of_int8_array(ArrayType *array, HashSink sink, void *state);

/* ---- Results ------------------------------------------------------------ */

/* Give a set-returning function an empty result that rows are put into. */
extern void begin_rows(FunctionCallInfo fcinfo);

/* A bigint[] of these numbers. */
extern ArrayType *int8_array(const int64 *number, size_t count);

#endif
