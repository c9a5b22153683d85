/*
 * schemes.h: the names of shingling schemes in arguments, and recipes that differ.
 */
#ifndef NEARDUP_CALLS_SCHEMES_H
#define NEARDUP_CALLS_SCHEMES_H

#include "compat.h"

#include "fmgr.h"

#include "text/text.h"

extern SchemeId text_scheme_of_datum(Datum name);
extern SchemeId text_scheme_of_argument(FunctionCallInfo fcinfo, int n);
extern SpotWords *spot_words_of_arguments(FunctionCallInfo fcinfo, SchemeId *made);
extern const char *scheme_call(const char *function, const char *sizes, SchemeId scheme);
extern _Noreturn void refuse_recipes(const char *type, int version_x, SchemeId scheme_x,
									 int version_y, SchemeId scheme_y, const char *call_x,
									 const char *call_y);
extern void check_same_recipe(int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y);

#endif
