/*
 * schemes.h: the names of shingling schemes in arguments, and recipes that differ.
 */
#ifndef NEARDUP_TYPES_SCHEMES_H
#define NEARDUP_TYPES_SCHEMES_H

#include "compat.h"

#include "fmgr.h"

#include "text/text.h"

/* Returns the scheme of a name, which must read text ('word 3', not 'tokens'). */
extern SchemeId text_scheme_of_datum(Datum name);

/* Does the same for argument n, and remembers the last name from call to call. */
extern SchemeId text_scheme_of_argument(FunctionCallInfo fcinfo, int n);

/*
 * Returns the lists of spot signatures in arguments 1 to 3: the name of a scheme,
 * antecedents and stop words (text[]; NULL for the language's own).  *made is the scheme
 * of the spot signatures that they make.
 */
extern SpotWords *spot_words_of_arguments(FunctionCallInfo fcinfo, SchemeId *made);

/*
 * Returns the call that makes a value of a scheme, for hints: to_minhash(text, k => 512,
 * scheme => 'word 3').  sizes are the arguments in between, each after a comma, or "".
 */
extern const char *scheme_call(const char *function, const char *sizes, SchemeId scheme);

/*
 * Throws the error for two values of different recipes.  type is the plural for the
 * message: "shingles", "minhash values"; the calls are those that make such values.
 */
extern _Noreturn void refuse_recipes(const char *type, int version_x, SchemeId scheme_x,
									 int version_y, SchemeId scheme_y, const char *call_x,
									 const char *call_y);

/* Throws that error unless two sets of shingles have the same recipe version and scheme. */
extern void check_same_recipe(int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y);

/*
 * May a value of a recipe version have this scheme?  A version later than RECIPE_VERSION
 * may have any.
 */
extern bool recipe_has_scheme(int version, SchemeId scheme);

#endif
