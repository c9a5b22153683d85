/*
 * set_spread.h: the join of sets that memory does not hold, by way of files.
 */
#ifndef NEARDUP_JOIN_SET_SPREAD_H
#define NEARDUP_JOIN_SET_SPREAD_H

#include "join/documents.h"

extern bool set_spread_run(const SetJoin *join, const DocumentList *left, const DocumentList *right,
						   uint64_t elements, JoinStats *stats);

#endif
