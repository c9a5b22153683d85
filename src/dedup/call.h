/*
 * call.h: what the SQL functions of batch deduplication have in common: their
 * arguments, and the queries they read.
 */
#ifndef NEARDUP_DEDUP_CALL_H
#define NEARDUP_DEDUP_CALL_H

#include "dedup/dedup.h"

typedef struct Call
{
	Options *options;
	Oid id_type;
	const char *query;
	const char *against_query; /* NULL: none */
	Source *source;
	Source *against; /* NULL: none */
} Call;

/*
 * Arguments: query, threshold, so many witnesses of the id's type, multiset,
 * against, two of the function's own (one for neardup_pairs), verify, recall.
 * Gives the function an empty result.
 */
extern Call call_begin(FunctionCallInfo fcinfo, int witnesses);

/* An argument that is one of two words: is it the second? */
extern bool call_choice(FunctionCallInfo fcinfo, int argument, const char *name, const char *first,
						const char *second);

extern void call_read(Call *call);

/* Free the sources. */
extern void call_end(Call *call);

#endif
