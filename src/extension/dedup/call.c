/*
 * call.c: what neardup_pairs() and neardup_clusters() share: their arguments, and the
 * counters that they report.
 */
#include "dedup/dedup.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"

#include "calls/query.h"

/* Finds the arguments of a call of a function that lacks those in the bit map `absent`. */
static void
number_arguments(Call *call, int arguments, uint32 absent)
{
	int present = CALL_ARGUMENTS - pg_popcount32(absent);
	int next = 0;

	if (arguments < present)
		absent |= ARGUMENT_BIT(ARGUMENT_ID_TYPE);
	for (int argument = 0; argument < CALL_ARGUMENTS; argument++)
	{
		call->position[argument] = next;
		next += (absent & ARGUMENT_BIT(argument)) == 0;
	}
}

/* Returns the position of an argument, which must not be null. */
static int
position_not_null(FunctionCallInfo fcinfo, const Call *call, CallArgument argument,
				  const char *name)
{
	int position = call->position[argument];

	check_not_null(fcinfo, position, name);
	return position;
}

/* Reads an argument that is one of two words.  Returns whether it is the second. */
bool
call_choice(FunctionCallInfo fcinfo, const Call *call, CallArgument argument, const char *name,
			const char *first, const char *second)
{
	int position = position_not_null(fcinfo, call, argument, name);
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(position));

	if (strcmp(value, first) != 0 && strcmp(value, second) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\": \"%s\"", name, value),
				 errhint("Use '%s', which is the default, or '%s'.", first, second)));
	return strcmp(value, second) == 0;
}

/* Returns the columns in which rows must be equal, or NULL if there are none. */
static Within *
read_within(FunctionCallInfo fcinfo, const Call *call)
{
	int columns;
	int unknowns;
	char **name = names_argument(fcinfo, position_not_null(fcinfo, call, ARGUMENT_WITHIN, "within"),
								 "within", &columns);
	char **unknown =
		names_argument(fcinfo, position_not_null(fcinfo, call, ARGUMENT_UNKNOWN, "unknown"),
					   "unknown", &unknowns);

	return columns + unknowns == 0 ? NULL : within_begin(name, columns, unknown, unknowns);
}

/*
 * Reads the arguments of a call and gives it an empty result.  absent has the
 * bits of the arguments that the function lacks.
 */
Call
call_begin(FunctionCallInfo fcinfo, uint32 absent)
{
	PairCallOptions *options = palloc0(sizeof(PairCallOptions));
	Call call = {.options = options};
	int position;

	number_arguments(&call, PG_NARGS(), absent);
	begin_rows(fcinfo);
	call.id_type = TupleDescAttr(((ReturnSetInfo *) fcinfo->resultinfo)->setDesc, 0)->atttypid;
	options->function = fcinfo->flinfo->fn_oid;
	position = position_not_null(fcinfo, &call, ARGUMENT_QUERY, "query");
	call.query = text_to_cstring(PG_GETARG_TEXT_PP(position));
	position = position_not_null(fcinfo, &call, ARGUMENT_THRESHOLD, "threshold");
	options->pair.threshold = PG_GETARG_FLOAT8(position);
	check_threshold(options->pair.threshold, NULL);
	position = position_not_null(fcinfo, &call, ARGUMENT_MULTISET, "multiset");
	options->pair.multiset = PG_GETARG_BOOL(position);
	position = call.position[ARGUMENT_AGAINST];
	if (!PG_ARGISNULL(position))
		call.against_query = text_to_cstring(PG_GETARG_TEXT_PP(position));
	position = call.position[ARGUMENT_VERDICTS];
	if (!PG_ARGISNULL(position))
		call.verdicts_query = text_to_cstring(PG_GETARG_TEXT_PP(position));
	options->within = read_within(fcinfo, &call);
	position = call.position[ARGUMENT_CONTAINED];
	if (!PG_ARGISNULL(position))
		options->pair.contained = share_argument(fcinfo, position, "contained");
	position = position_not_null(fcinfo, &call, ARGUMENT_RECALL, "recall");
	options->pair.recall = share_argument(fcinfo, position, "recall");
	if (call_choice(fcinfo, &call, ARGUMENT_MEASURE, "measure", "resemblance", "containment"))
		options->pair.measure = MEASURE_CONTAINMENT;
	return call;
}

/* A function of PairOptions. */
static void
call_report_progress(void *state, int done, int parts)
{
	progress_parts(done, parts);
}

/* A function of PairOptions: tells the user how much memory makes files unnecessary. */
static void
report_files(void *state, const char *what, double bytes)
{
	ereport(NOTICE,
			(errmsg("maintenance_work_mem does not hold all %s, so they are joined by way of temporary files",
					what),
			 errhint("Set maintenance_work_mem to %.0fMB to join them in memory.",
					 ceil(bytes / (1024 * 1024)))));
}

/* A function of PairOptions: tells the user why a call takes long. */
static void
report_slow(void *state, double family, double minutes)
{
	ereport(NOTICE,
			(errmsg("about %.0f values have to be compared with each other, which takes about %.0f minutes",
					family, minutes),
			 errhint("Use a lexicon that leaves out what many texts share, or a higher threshold.")));
}

/* Tells the engine of memory, workers and progress. */
static void
begin_engine(Call *call)
{
	PairOptions *pair = &call->options->pair;

	pair->memory = (size_t) maintenance_work_mem * 1024;
	pair->sides = call->against_query == NULL ? 1 : 2;
	pair->run = workers_run;
	pair->progress = call_report_progress;
	pair->spilled = report_files;
	pair->slow = report_slow;
	pair->state = call->options;
	pair->stats = &call->options->stats;
}

/* Returns whether a verdict on the rows of two ids, of which one may be NO_ROW, counts. */
static bool
are_met(const Source *left, uint32 a, const Source *right, uint32 b)
{
	return left != NULL && right != NULL &&
		rows_share_scope(left, left->judged_row[a], right, right->judged_row[b]);
}

/* Returns whether a verdict on two ids counts for rows of a call. */
static bool
call_is_met(const void *state, uint32 a, uint32 b)
{
	const Call *call = state;
	const Source *source = call->source;
	const Source *against = call->against;

	return are_met(source, a, source, b) || are_met(source, a, against, b) ||
		are_met(against, a, source, b) || are_met(against, a, against, b);
}

/* Returns the collation of the ids of a query, by which verdicts name them. */
static Oid
collation_of_ids(const char *query)
{
	TupleDesc columns;
	Oid collation;

	SPI_connect();
	columns = query_columns(query_prepare("query", query, 0, "SELECT id, sig FROM docs"));
	collation = columns->natts == 0 ? InvalidOid : TupleDescAttr(columns, 0)->attcollation;
	SPI_finish();
	return collation;
}

/* Reads the queries of a call. */
void
call_read(Call *call)
{
	PairCallOptions *options = call->options;

	begin_engine(call);
	progress_begin();
	options->ids = id_type(call->id_type, collation_of_ids(call->query));
	if (call->verdicts_query != NULL)
		options->verdicts = judged_read("verdicts", call->verdicts_query, &options->ids, false);
	options->judged_separate &= options->verdicts != NULL;
	call->source = source_read("query", call->query, options, NULL);
	if (call->against_query != NULL)
	{
		progress_phase(PHASE_READING_AGAINST);
		call->against = source_read("against", call->against_query, options, call->source);
	}
	if (options->within != NULL)
		call->source->documents->scope = options->within->scope;
	if (options->within != NULL && call->against != NULL)
		call->against->documents->scope = options->within->scope;
	if (options->verdicts != NULL)
		judged_keep(options->verdicts, call_is_met, call, false);
}

/* Reports what a call did. */
static void
report_counters(const Call *call)
{
	const PairCallOptions *options = call->options;
	const PairStats *stats = &options->stats;
	const JoinStats *join = &stats->join;
	const Documents *documents = call->source->documents;
	const Documents *others = call->against != NULL ? call->against->documents : NULL;
	uint64 candidates = join->candidates;
	char *plan;

	if (call->source->sets)
	{
		candidates = join->pruned_by_length + join->pruned_by_frequency + join->compared;
		plan = psprintf("partitions=%u, pruned_by_length=%llu, pruned_by_frequency=%llu",
						join->partitions, (unsigned long long) join->pruned_by_length,
						(unsigned long long) join->pruned_by_frequency);
	}
	else
		plan = psprintf("groups=%d, radius=%d, raised=%d", stats->groups, stats->radius,
						stats->one_more);
	ereport(DEBUG1,
			(errmsg_internal("rows_read=%llu, signatures=%llu, joins=%llu, %s, candidates=%llu, "
							 "compared=%llu, pairs=%llu, workers=%d",
							 (unsigned long long) documents->rows + (others ? others->rows : 0),
							 (unsigned long long) documents->count + (others ? others->count : 0),
							 (unsigned long long) stats->joins, plan,
							 (unsigned long long) candidates, (unsigned long long) join->compared,
							 (unsigned long long) stats->pairs, options->workers)));
}

/* Frees the sources, and reports the counters at DEBUG1. */
void
call_end(Call *call)
{
	report_counters(call);
	source_end(call->source);
	if (call->against != NULL)
		source_end(call->against);
	progress_end();
}
