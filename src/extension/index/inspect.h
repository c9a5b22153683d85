/*
 * inspect.h: what the functions that inspect an index share.
 */
#ifndef NEARDUP_INDEX_INSPECT_H
#define NEARDUP_INDEX_INSPECT_H

#include "index/index.h"

/* What a user wants to know of an index. */
typedef enum Inspection
{
	INSPECT_CHECK, /* whether the index is correct */
	INSPECT_COUNT, /* what it consists of */
	INSPECT_SEARCH /* how it is searched */
} Inspection;

extern Oid inspect_allowed(Oid index, Inspection what);
extern Relation inspect_open(Oid index, Oid table);
extern _Noreturn void inspect_dropped(Oid index);

/* What an index consists of. */
typedef struct IndexCounts
{
	int64 documents; /* dead ones and the tail's included */
	int64 dead;
	int64 tail;
	int64 bytes;
	uint32 elements; /* pages of elements of the tails */
} IndexCounts;

extern IndexMeta *inspect_count(Relation index, IndexCounts *counts);

#endif
