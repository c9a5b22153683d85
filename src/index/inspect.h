/*
 * inspect.h: what the functions that look into an index share.
 */
#ifndef NEARDUP_INSPECT_H
#define NEARDUP_INSPECT_H

#include "index/index.h"

/* Open an index by its OID with AccessShareLock; an error if it is not ours. */
extern Relation inspect_open(Oid oid);

#endif
