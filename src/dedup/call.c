/*
 * call.c: arguments.
 */
#include "dedup/call.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/float.h"

static void
refuse_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"%s\" must not be null", name)));
}

/* A number above 0 and at most 1. */
static double
share_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	double value;

	if (PG_ARGISNULL(argument))
		refuse_null(name);
	value = PG_GETARG_FLOAT8(argument);
	/* Written so that NaN is refused. */
	if (!(value > 0 && value <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"%s\" %s is out of range", name, float8out_internal(value)),
				 errhint("It is above 0 and at most 1.")));
	return value;
}

bool
call_choice(FunctionCallInfo fcinfo, int argument, const char *name, const char *first,
			const char *second)
{
	const char *value;

	if (PG_ARGISNULL(argument))
		refuse_null(name);
	value = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (strcmp(value, first) != 0 && strcmp(value, second) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is neither '%s' nor '%s' but '%s'", name, first, second, value),
				 errhint("Leave it out for '%s'.", first)));
	return strcmp(value, second) == 0;
}

static Options *
read_options(FunctionCallInfo fcinfo, int witnesses)
{
	Options *options = palloc0(sizeof(Options));
	int last = PG_NARGS() - 1;

	options->stats = palloc0(sizeof(CallStats));
	options->function = fcinfo->flinfo->fn_oid;
	if (PG_ARGISNULL(1))
		refuse_null("threshold");
	options->threshold = PG_GETARG_FLOAT8(1);
	check_threshold(options->threshold, NULL);
	if (PG_ARGISNULL(2 + witnesses))
		refuse_null("multiset");
	options->multiset = PG_GETARG_BOOL(2 + witnesses);
	if (!PG_ARGISNULL(last - 1))
		options->verify = share_argument(fcinfo, last - 1, "verify");
	options->recall = share_argument(fcinfo, last, "recall");
	return options;
}

Call
call_begin(FunctionCallInfo fcinfo, int witnesses)
{
	Call call = {0};
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	begin_rows(fcinfo);
	if (PG_ARGISNULL(0))
		refuse_null("query");
	call.options = read_options(fcinfo, witnesses);
	call.id_type = TupleDescAttr(result->setDesc, 0)->atttypid;
	call.query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (!PG_ARGISNULL(3 + witnesses))
		call.against_query = text_to_cstring(PG_GETARG_TEXT_PP(3 + witnesses));
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
	stats_show(call->options->stats);
}
