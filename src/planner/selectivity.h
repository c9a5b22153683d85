/*
 * selectivity.h: how many rows lie in a ball, for the planner.
 */
#ifndef NEARDUP_PLANNER_SELECTIVITY_H
#define NEARDUP_PLANNER_SELECTIVITY_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * The share of rows, or of pairs of rows, for which a condition holds.
 * estimator is the running function, of this extension; the arguments may be
 * of any types, since anyone may name it in an operator.
 */
extern Selectivity ball_selectivity(PlannerInfo *root, Oid estimator, List *arguments);

/* The same for a join. */
extern Selectivity ball_join_selectivity(PlannerInfo *root, Oid estimator, List *arguments,
										 JoinType join);

#endif
