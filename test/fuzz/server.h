/*
 * server.h: a server that is none: memory, errors, strings and messages, for
 * calling SQL functions of the types from a fuzz target.
 */
#ifndef NEARDUP_FUZZ_SERVER_H
#define NEARDUP_FUZZ_SERVER_H

#include "postgres.h"

/* The C library's own will do. */
#undef fprintf
#undef snprintf
#undef vsnprintf

#include <setjmp.h>

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "fuzz.h"

/* How a call ended. */
typedef struct Outcome
{
	bool failed;
	int sqlstate; /* where it failed */
	Datum result; /* where it did not */
	bool null;
} Outcome;

/* Call a function with up to four arguments, and catch its error. */
extern Outcome call_function(PGFunction function, int arguments, const Datum *argument);

/* Free all that was allocated. */
extern void server_reset(void);

#endif
