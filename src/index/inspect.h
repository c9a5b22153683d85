/*
 * inspect.h: what the functions that look into an index share.
 */
#ifndef NEARDUP_INDEX_INSPECT_H
#define NEARDUP_INDEX_INSPECT_H

#include "index/index.h"

/* What somebody wants to see of an index. */
typedef enum Inspection
{
	INSPECT_CHECK, /* whether it is sound */
	INSPECT_COUNT, /* how much it holds */
	INSPECT_SEARCH /* what is found in it */
} Inspection;

/*
 * The table of an index, or an error if the current user may not have that of
 * it.  Before any lock, so that nobody waits or is waited for in vain.
 */
extern Oid inspect_allowed(Oid index, Inspection what);

/* Open an index of that table with AccessShareLock; an error if it is not ours. */
extern Relation inspect_open(Oid index, Oid table);

#endif
