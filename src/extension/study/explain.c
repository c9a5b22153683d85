/*
 * explain.c: neardup_explain(), how a search of an index goes.
 */
#include "index/inspect.h"

#include <math.h>

#include "funcapi.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "index/scan.h"

typedef struct ExplainRow
{
	SearchReport report;
	double seconds;
} ExplainRow;

typedef struct Explain
{
	ExplainRow *row;
	int rows;
	Size room;
	instr_time last;
} Explain;

/* A ReportReceiver: notes what a search did, and in what time. */
static void
explain_add_row(void *state, const SearchReport *report)
{
	Explain *explain = state;
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, explain->last);
	explain->row = host_grow(explain->row, &explain->room, explain->rows + 1, sizeof(ExplainRow));
	explain->row[explain->rows++] =
		(ExplainRow){.report = *report, .seconds = INSTR_TIME_GET_DOUBLE(now)};
	INSTR_TIME_SET_CURRENT(explain->last);
}

/* Orders segments by their numbers.  The tails, with number 0, come last. */
static int
explain_compare_rows(const void *x, const void *y)
{
	uint32 a = ((const ExplainRow *) x)->report.stamp - 1;
	uint32 b = ((const ExplainRow *) y)->report.stamp - 1;

	return a < b ? -1 : a > b;
}

/* Adds a row to the result. */
static void
explain_put_row(ReturnSetInfo *result, const SearchReport *report, double seconds)
{
	static const char *const method[] =
		{[SEARCH_AUTO] = "auto",   [SEARCH_MERGE] = "merge", [SEARCH_CHOOSE] = "choose",
		 [SEARCH_PROBE] = "probe", [SEARCH_KEYS] = "keys",   [SEARCH_SCAN] = "scan"};
	Datum values[14];
	bool nulls[14] = {false};

	values[0] = Int32GetDatum(report->stamp);
	values[1] = Int64GetDatum(report->documents);
	values[2] = CStringGetTextDatum(method[report->plan.method]);
	values[3] = Int32GetDatum(report->plan.groups);
	values[4] = Int32GetDatum(report->plan.radius);
	values[5] = Int32GetDatum(report->plan.count);
	values[6] = Float8GetDatum(rint(report->plan.postings));
	values[7] = Float8GetDatum(rint(report->plan.candidates));
	values[8] = Float8GetDatum(rint(report->plan.cost / 100) / 10);
	values[9] = Int64GetDatum(report->postings);
	values[10] = Int64GetDatum(report->candidates);
	values[11] = Int64GetDatum(report->pages);
	values[12] = Float8GetDatum(rint(seconds * 1e7) / 10);
	values[13] = Int64GetDatum(report->matches);
	/* The tails have no number and no estimates. */
	nulls[0] = nulls[6] = nulls[7] = nulls[8] = report->stamp == 0;
	nulls[3] = nulls[4] = nulls[5] = report->plan.method == SEARCH_SCAN;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * neardup_explain(index regclass, ball) returns setof record
 *
 * Searches twice, and reports the second search, which finds the caches filled.
 */
PG_FUNCTION_INFO_V1(neardup_explain);
Datum
neardup_explain(PG_FUNCTION_ARGS)
{
	Oid oid = PG_GETARG_OID(0);
	Ball ball = PG_GETARG_BALL(1);
	Relation index = inspect_open(oid, inspect_allowed(oid, INSPECT_SEARCH));
	SearchQuery query = {.centre = ball.centre,
						 .radius = ball.header.radius,
						 .method = neardup_search};
	Explain explain = {.rows = 0};
	MatchList found = {.receiver = NULL};
	uint64 after = 0;

	begin_rows(fcinfo);
	if (ball.set != NULL)
		query.set = set_query(&ball.centre, ball_measure(&ball), ball.header.threshold);
	index_search(index, &query, 1, &found, &after, NULL, NULL);
	after = 0;
	INSTR_TIME_SET_CURRENT(explain.last);
	index_search(index, &query, 1, &found, &after, explain_add_row, &explain);
	index_close(index, AccessShareLock);
	qsort(explain.row, explain.rows, sizeof(ExplainRow), explain_compare_rows);
	for (int i = 0; i < explain.rows; i++)
		explain_put_row((ReturnSetInfo *) fcinfo->resultinfo, &explain.row[i].report,
						explain.row[i].seconds);
	return (Datum) 0;
}
