/*
 * selectivity.h: how many rows lie in a ball, for the planner.
 */
#ifndef NEARDUP_PLANNER_SELECTIVITY_H
#define NEARDUP_PLANNER_SELECTIVITY_H

#include "postgres.h"

#include "nodes/pathnodes.h"

extern Selectivity ball_selectivity(PlannerInfo *root, Oid function, List *arguments);
extern Selectivity ball_join_selectivity(PlannerInfo *root, Oid function, List *arguments,
										 JoinType join);

#endif
