/*
 * server.h: a stand-in for the server, with memory, errors, strings and messages, so
 * that a fuzz target can call the SQL functions of the types.
 */
#ifndef NEARDUP_FUZZ_SERVER_H
#define NEARDUP_FUZZ_SERVER_H

#include "postgres.h"

/* Uses the C library's function. */
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
	int sqlstate; /* of a failure */
	Datum result; /* otherwise */
	bool null;
} Outcome;

/* Calls a function with up to four arguments and catches its error. */
extern Outcome call_function(PGFunction function, int arguments, const Datum *argument);

/* Frees all allocations. */
extern void server_reset(void);

#endif
