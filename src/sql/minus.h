/*
 * minus.h: the argument "minus" of SQL functions: shingles that they leave out.
 */
#ifndef NEARDUP_SQL_MINUS_H
#define NEARDUP_SQL_MINUS_H

#include "sketch/minus.h"
#include "sql/shingles.h"

/* What a call site remembers of its arguments "minus" and "scheme". */
typedef struct MinusArgument
{
	MemoryContext context; /* of the rest */
	Shingles *shingles;
	Minus minus;
	SchemeCache scheme;
} MinusArgument;

/*
 * Returns argument n, prepared.  It is prepared once as long as it stays the same from
 * call to call.
 */
extern MinusArgument *minus_argument(FunctionCallInfo fcinfo, int n);

/* Throws the error for shingles of another scheme; call is what makes a value of theirs. */
extern _Noreturn void refuse_minus(SchemeId minus, SchemeId scheme, const char *call);

#endif
