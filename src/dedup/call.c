/*
 * call.c: what neardup_pairs() and neardup_clusters() share: their arguments, and
 * neardup_join_stats().
 */
#include "dedup/dedup.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

/* Statistics of the last call of this session, if there was one. */
static CallStats last_stats;
static bool any_call;

static void
reject_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"%s\" must not be null", name)));
}

bool
call_choice(FunctionCallInfo fcinfo, int argument, const char *name, const char *first,
			const char *second)
{
	const char *value;

	if (PG_ARGISNULL(argument))
		reject_null(name);
	value = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (strcmp(value, first) != 0 && strcmp(value, second) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\": \"%s\"", name, value),
				 errhint("Use '%s', which is the default, or '%s'.", first, second)));
	return strcmp(value, second) == 0;
}

Call
call_begin(FunctionCallInfo fcinfo, int witnesses, int own)
{
	Options *options = palloc0(sizeof(Options));
	Call call = {.options = options};
	int verify = 4 + witnesses + own;
	int measure = verify + 2;

	begin_rows(fcinfo);
	call.id_type = TupleDescAttr(((ReturnSetInfo *) fcinfo->resultinfo)->setDesc, 0)->atttypid;
	options->stats = palloc0(sizeof(CallStats));
	options->function = fcinfo->flinfo->fn_oid;
	if (PG_ARGISNULL(0))
		reject_null("query");
	call.query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (PG_ARGISNULL(1))
		reject_null("threshold");
	options->threshold = PG_GETARG_FLOAT8(1);
	check_threshold(options->threshold, NULL);
	if (PG_ARGISNULL(2 + witnesses))
		reject_null("multiset");
	options->multiset = PG_GETARG_BOOL(2 + witnesses);
	if (!PG_ARGISNULL(3 + witnesses))
		call.against_query = text_to_cstring(PG_GETARG_TEXT_PP(3 + witnesses));
	if (!PG_ARGISNULL(verify))
		options->verify = share_argument(fcinfo, verify, "verify");
	if (PG_ARGISNULL(verify + 1))
		reject_null("recall");
	options->recall = share_argument(fcinfo, verify + 1, "recall");
	if (call_choice(fcinfo, measure, "measure", "resemblance", "containment"))
		options->measure = SET_CONTAINMENT;
	return call;
}

static Source *
read_source(const Call *call, const char *name, const char *query, const Source *like)
{
	Source *source = source_read(name, query, call->id_type, call->options, like);

	call->options->stats->rows += source->rows;
	call->options->stats->documents += source->documents;
	return source;
}

void
call_read(Call *call)
{
	progress_begin();
	call->source = read_source(call, "query", call->query, NULL);
	if (call->against_query == NULL)
		return;
	progress_phase(PHASE_READING_AGAINST);
	call->against = read_source(call, "against", call->against_query, call->source);
}

void
call_end(Call *call)
{
	source_end(call->source);
	if (call->against != NULL)
		source_end(call->against);
	progress_end();
	last_stats = *call->options->stats;
	any_call = true;
}

/* ---- neardup_join_stats() ------------------------------------------------- */

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

/* Returns what the last call of this session did: one row, or none before the first. */
PG_FUNCTION_INFO_V1(neardup_join_stats);
Datum
neardup_join_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const CallStats *stats = &last_stats;
	Datum values[COLUMNS] = {
		[COLUMN_ROWS] = Int64GetDatum(stats->rows),
		[COLUMN_SIGNATURES] = Int64GetDatum(stats->documents),
		[COLUMN_JOINS] = Int64GetDatum(stats->joins),
		[COLUMN_GROUPS] = Int32GetDatum(stats->groups),
		[COLUMN_RADIUS] = Int32GetDatum(stats->radius),
		[COLUMN_RAISED] = Int32GetDatum(stats->one_more),
		[COLUMN_PARTITIONS] = Int64GetDatum(stats->partitions),
		[COLUMN_CANDIDATES] = Int64GetDatum(stats->candidates),
		[COLUMN_PRUNED_BY_LENGTH] = Int64GetDatum(stats->pruned_by_length),
		[COLUMN_PRUNED_BY_FREQUENCY] = Int64GetDatum(stats->pruned_by_frequency),
		[COLUMN_COMPARED] = Int64GetDatum(stats->compared),
		[COLUMN_PAIRS] = Int64GetDatum(stats->pairs),
		[COLUMN_WORKERS] = Int32GetDatum(stats->workers),
	};
	bool nulls[COLUMNS] = {false};

	begin_rows(fcinfo);
	if (!any_call)
		return (Datum) 0;
	/* Some figures exist for one kind of join only. */
	nulls[COLUMN_GROUPS] = nulls[COLUMN_RADIUS] = nulls[COLUMN_RAISED] =
		stats->joins == 0 || stats->sets;
	nulls[COLUMN_PARTITIONS] = nulls[COLUMN_PRUNED_BY_LENGTH] = nulls[COLUMN_PRUNED_BY_FREQUENCY] =
		stats->joins == 0 || !stats->sets;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
