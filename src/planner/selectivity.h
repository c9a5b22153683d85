/*
 * selectivity.h: how many rows lie in a ball, for the planner.
 */
#ifndef NEARDUP_PLANNER_SELECTIVITY_H
#define NEARDUP_PLANNER_SELECTIVITY_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Returns the share of rows, or of pairs of rows, for which a condition holds.
 * function is the running function of this extension.  The arguments may be of any
 * types, since a user may name our estimators in an operator of their own.
 */
extern Selectivity ball_selectivity(PlannerInfo *root, Oid function, List *arguments);

/* Returns the same for a join. */
extern Selectivity ball_join_selectivity(PlannerInfo *root, Oid function, List *arguments,
										 JoinType join);

#endif
