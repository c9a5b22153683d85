/*
 * set_plan.h: bags prepared for the join, with their lists (set_plan.c, for sets.c).
 *
 * The lists do not change while documents are compared, so parts of the documents can be
 * joined by processes that share a plan.
 */
#ifndef NEARDUP_JOIN_SET_PLAN_H
#define NEARDUP_JOIN_SET_PLAN_H

#include "join/set_items.h"

/* A document in the list of one of its rarest items. */
typedef struct SetPosting
{
	uint64_t remaining; /* length of the document from the item on */
	uint32_t document;
	uint32_t item; /* number of the item in the document */
} SetPosting;

typedef struct SetPlan
{
	SetItems items;
	size_t lists;  /* one for each rank; with two sources, of left and right in turn */
	size_t *start; /* of each list, and the end of the last */
	size_t postings;
	SetPosting *posting; /* of the documents of each list in turn */
	double cost;         /* nanoseconds, estimated */
} SetPlan;

/* The parts of a join, joined one after the other. */
#define SET_PARTS 128

/* An array of a plan. */
typedef struct SetArray
{
	void **place; /* of the pointer in the plan */
	size_t bytes;
} SetArray;

#define SET_ARRAYS 6

extern bool set_plan(const SetJoin *join, SetPlan *plan);
extern void set_plan_arrays(SetPlan *plan, SetArray *array);
extern void set_plan_free(SetPlan *plan);
extern size_t set_run_bytes(const SetPlan *plan);
extern bool set_run(const SetJoin *join, const SetPlan *plan, SetJoinStats *stats);

#endif
