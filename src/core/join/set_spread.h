/*
 * set_spread.h: the join of sets that memory does not hold, by way of files.
 */
#ifndef NEARDUP_JOIN_SET_SPREAD_H
#define NEARDUP_JOIN_SET_SPREAD_H

#include "join/set_join.h"
#include "join/stored_sets.h"

typedef struct SetSpreadJoin
{
	SetJoin join; /* the join, without its bags; right is NULL: left is joined with itself */
	const SetList *list[2]; /* left and right */
	uint64_t elements;      /* the elements of both */
	size_t memory;          /* bytes that the join may take */
	/* Is called with the number of parts that are done; or NULL. */
	void (*progress)(void *state, int done, int parts);
	void *progress_state;
} SetSpreadJoin;

extern bool set_spread_run(const SetSpreadJoin *whole, JoinStats *stats);

#endif
