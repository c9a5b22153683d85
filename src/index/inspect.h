/*
 * inspect.h: what neardup_check(), neardup_index_info() and neardup_explain() share.
 */
#ifndef NEARDUP_INDEX_INSPECT_H
#define NEARDUP_INDEX_INSPECT_H

#include "index/index.h"

/* What a user wants to know of an index. */
typedef enum Inspection
{
	INSPECT_CHECK, /* is it correct? */
	INSPECT_COUNT, /* what does it consist of? */
	INSPECT_SEARCH /* how is it searched? */
} Inspection;

/*
 * Returns the table of an index, or reports an error if the current user may not inspect it.
 * Takes no lock before that.
 */
extern Oid inspect_allowed(Oid index, Inspection what);

/* Opens an index of a table with AccessShareLock.  It is an error if it is not ours. */
extern Relation inspect_open(Oid index, Oid table);

#endif
