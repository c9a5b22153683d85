/*
 * parallel.h: a join of signatures by several processes.
 */
#ifndef NEARDUP_DEDUP_PARALLEL_H
#define NEARDUP_DEDUP_PARALLEL_H

#include "sql/sql.h"

#include "join/join.h"

/*
 * join_run() with the help of parallel workers, where there is enough to do,
 * memory for it, and workers are to be had; pairs come in the same order as
 * without.  *workers is raised to as many as came.
 */
extern void join_in_parallel(const SymbolJoin *join, const JoinPlan *plan, int *workers);

#endif
