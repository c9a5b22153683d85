/*
 * forecast.h: how long a run of a join takes, by the share of its work that is done.
 */
#ifndef NEARDUP_JOIN_FORECAST_H
#define NEARDUP_JOIN_FORECAST_H

#include "base/host.h"

struct PairOptions;
struct SetItems;
struct SetJoin;
struct SpreadJoin;

/* The steps by which the work of the documents of a join of sets is known. */
#define FORECAST_STEPS 1024

/* What is known of a run.  Work is a number of pairs, or what they cost, in any unit. */
typedef struct Forecast
{
	const struct PairOptions *options;   /* the options of a call that wants to know */
	int processes;                       /* processes that take parts of the join */
	uint64_t most;                       /* pairs after which the join ends */
	const uint64_t *pairs;               /* pairs that this process has found */
	uint32_t calls;                      /* calls of forecast_is_due() */
	double begun;                        /* microseconds of a clock at the first look; 0: not yet */
	double next;                         /* the time of the next look */
	const struct SpreadJoin *signatures; /* the join, unless it is of sets */
	double done;   /* the work of groups or parts that this process has joined */
	double all;    /* all work; 0: not estimated yet */
	double family; /* the documents of the largest family; 0: none is large */
	double before[FORECAST_STEPS + 1]; /* the work before each step of a join of sets */
} Forecast;

extern bool forecast_is_due(Forecast *forecast);
extern double set_work_before(const struct SetJoin *join, const struct SetItems *items, uint32_t d);
extern void forecast_look(Forecast *forecast, double done);

#endif
