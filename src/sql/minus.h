/*
 * minus.h: the argument "minus" of SQL functions: shingles that they leave out.
 */
#ifndef NEARDUP_SQL_MINUS_H
#define NEARDUP_SQL_MINUS_H

#include "sketch/minus.h"
#include "sql/shingles.h"

/* What a call site remembers of its argument "minus". */
typedef struct MinusArgument
{
	MemoryContext context; /* of the rest */
	Shingles *shingles;
	Minus minus;
} MinusArgument;

/*
 * Returns argument n, prepared; throws an error unless its scheme reads text.  It is
 * prepared once as long as it stays the same from call to call.
 */
extern MinusArgument *minus_argument(FunctionCallInfo fcinfo, int n);

#endif
