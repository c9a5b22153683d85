/*
 * stats.c: what the last call of this session did.
 */
#include "dedup/dedup.h"

#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(neardup_join_stats);

static CallStats last;
static bool any;

void
stats_show(const CallStats *stats)
{
	last = *stats;
	any = true;
}

enum
{
	COLUMN_ROWS,
	COLUMN_SIGNATURES,
	COLUMN_JOINS,
	COLUMN_GROUPS,
	COLUMN_RADIUS,
	COLUMN_RAISED,
	COLUMN_PARTITIONS,
	COLUMN_CANDIDATES,
	COLUMN_PRUNED_BY_LENGTH,
	COLUMN_PRUNED_BY_FREQUENCY,
	COLUMN_COMPARED,
	COLUMN_PAIRS,
	COLUMN_WORKERS,
	COLUMNS
};

/* What only the one kind of join has, and the other not. */
static void
mark_nulls(bool *nulls)
{
	bool signatures = last.joins > 0 && !last.sets;
	bool sets = last.joins > 0 && last.sets;

	nulls[COLUMN_GROUPS] = nulls[COLUMN_RADIUS] = nulls[COLUMN_RAISED] = !signatures;
	nulls[COLUMN_PARTITIONS] = nulls[COLUMN_PRUNED_BY_LENGTH] = nulls[COLUMN_PRUNED_BY_FREQUENCY] =
		!sets;
}

Datum
neardup_join_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum values[COLUMNS] = {Int64GetDatum(last.rows),       Int64GetDatum(last.documents),
							 Int64GetDatum(last.joins),      Int32GetDatum(last.groups),
							 Int32GetDatum(last.radius),     Int32GetDatum(last.one_more),
							 Int64GetDatum(last.partitions), Int64GetDatum(last.met),
							 Int64GetDatum(last.length),     Int64GetDatum(last.frequency),
							 Int64GetDatum(last.compared),   Int64GetDatum(last.pairs),
							 Int32GetDatum(last.workers)};
	bool nulls[COLUMNS] = {false};

	begin_rows(fcinfo);
	if (!any)
		return (Datum) 0;
	mark_nulls(nulls);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
