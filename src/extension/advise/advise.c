/*
 * advise.c: neardup_advise() returns the candidates, the best first, and a statement for each.
 */
#include "advise/advise.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "calls/arguments.h"

/* ---- Arguments ------------------------------------------------------------------ */

/*
 * Reads a sample of the texts that the query in argument 0 returns, and finds its pairs.  `judged`
 * is the number of the argument with the query of verdicts, which may be NULL; `most` is that of
 * the argument with the most texts of the sample, from 1 to SAMPLE_MOST.  Raises an error if an
 * argument is wrong, or if there are verdicts but none whose texts were both read.
 */
void
find_pairs_of_arguments(FunctionCallInfo fcinfo, int judged, int most, CorpusPairs *pairs)
{
	Corpus *corpus = palloc(sizeof(Corpus));

	check_not_null(fcinfo, 0, "query");
	check_not_null(fcinfo, most, "sample");
	progress_begin();
	corpus_read(corpus, text_to_cstring(PG_GETARG_TEXT_PP(0)),
				number_argument(fcinfo, most, "sample", SAMPLE_MOST),
				PG_ARGISNULL(judged) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(judged)));
	pairs_find(pairs, corpus);
	progress_end();
	if (corpus->verdicts != NULL && corpus->verdicts->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"query\" does not return both texts of any judged pair"),
				 errhint("Return the ids of the texts in both queries.")));
}

/* ---- What to type ---------------------------------------------------------------- */

/* What the statements of all candidates share. */
typedef struct Statement
{
	const char *schema; /* the schema of the extension's functions, with a dot, or empty */
	const char *texts;  /* the FROM item that has the columns id and body */
	Oid id_type;
} Statement;

/* Returns the schema of a function with a dot, or "" if the search path finds the function. */
static const char *
schema_to_write(Oid function)
{
	if (FunctionIsVisible(function))
		return "";
	return psprintf("%s.", quote_identifier(get_namespace_name(get_func_namespace(function))));
}

/*
 * Returns the FROM item of the texts of a corpus, with the columns id and body.  A new line ends
 * the query, since it may end in a comment.
 */
static const char *
texts_of(const Corpus *corpus)
{
	const char *texts = psprintf("(%s\n) AS q (id, body)", corpus->query);

	return corpus->null_ids ? psprintf("(SELECT * FROM %s WHERE id IS NOT NULL) AS q", texts) :
							  texts;
}

/* Returns the call that makes the set of a text, by the scheme of a candidate. */
static const char *
candidate_set(const Statement *call, const Candidate *candidate, const char *text)
{
	return psprintf("%sto_shingles(%s, '%s')", call->schema, text, scheme_names[candidate->scheme]);
}

/* Returns the query of ids and the sets that a candidate compares. */
static const char *
sets_query(const Statement *call, const Candidate *candidate)
{
	const char *scheme = scheme_names[candidate->scheme];
	const char *set = candidate_set(call, candidate, "body");

	if (!candidate->lexicon)
		return psprintf("SELECT id, %s FROM %s", set, call->texts);
	return psprintf("WITH l (lexicon) AS MATERIALIZED (SELECT %sneardup_lexicon(%s, '%s'))\n"
					"SELECT id, %sweigh(%s, lexicon) FROM %s, l",
					call->schema, quote_literal_cstr(psprintf("SELECT body FROM %s", call->texts)),
					scheme, call->schema, set, call->texts);
}

/*
 * Returns a comment with statements that find the rows of a table "docs" that a new text resembles.
 * They use an index on sets, which finds what the pairs would show.  Returns "" if the name of
 * the schema could end the comment.
 */
static const char *
search_of(const Statement *call, const Candidate *candidate, double threshold)
{
	const char *of_row = "set_of(body)";
	const char *of_text = "set_of($1)";
	const char *learn = "";
	const char *condition;

	if (strchr(call->schema, '*') != NULL)
		return "";
	if (candidate->lexicon)
		learn =
			psprintf("CALL %sneardup_lexicon_function('docs', 'set_of', 'body', '%s', sets => true);\n",
					 call->schema, scheme_names[candidate->scheme]);
	else
	{
		of_row = candidate_set(call, candidate, "body");
		of_text = candidate_set(call, candidate, "$1");
	}
	if (candidate->measure == MEASURE_CONTAINMENT)
		condition =
			psprintf("%sis_contained(%s, %s, %g) OR %sis_contained(%s, %s, %g)", call->schema,
					 of_text, of_row, threshold, call->schema, of_row, of_text, threshold);
	else
		condition = psprintf("%sis_similar(%s, %s, %g)", call->schema, of_row, of_text, threshold);
	return psprintf("/* New rows:\n%sCREATE INDEX ON docs USING neardup (%s);\nSELECT id FROM docs WHERE %s; */",
					learn, of_row, condition);
}

/* Returns the statement that reports a candidate's pairs, with a comment that says how to search. */
static const char *
statement_of(const Statement *call, const Outlook *outlook)
{
	const Candidate *candidate = &candidates[outlook->candidate];

	return psprintf("SELECT * FROM %sneardup_pairs(%s, %g%s, equal => 'all'%s%s)\n%s", call->schema,
					quote_literal_cstr(sets_query(call, candidate)), outlook->threshold,
					call->id_type == INT8OID ?
						"" :
						psprintf(", NULL::%s", format_type_be(call->id_type)),
					candidate->lexicon ? ", multiset => true" : "",
					candidate->measure == MEASURE_CONTAINMENT ? ", measure => 'containment'" : "",
					search_of(call, candidate, outlook->threshold));
}

/* ---- Rows --------------------------------------------------------------------------- */

#define COLUMNS 15

/* Sets the three columns of an estimate; they are NULL without verdicts. */
static void
set_estimate(Datum *values, bool *nulls, const Estimate *estimate, bool known)
{
	values[0] = Float8GetDatum(estimate->value);
	values[1] = Float8GetDatum(estimate->low);
	values[2] = Float8GetDatum(estimate->high);
	for (int i = 0; i < 3; i++)
		nulls[i] = !known;
}

static void
put_outlook(ReturnSetInfo *result, const Statement *call, const Outlook *outlook, bool judged)
{
	const Candidate *candidate = &candidates[outlook->candidate];
	Datum values[COLUMNS];
	bool nulls[COLUMNS] = {false};

	values[0] = CStringGetTextDatum(scheme_names[candidate->scheme]);
	values[1] = BoolGetDatum(candidate->lexicon);
	values[2] = CStringGetTextDatum(candidate->measure == MEASURE_CONTAINMENT ? "containment" :
																				"resemblance");
	values[3] = Float8GetDatum(outlook->threshold);
	set_estimate(&values[4], &nulls[4], &outlook->f1, judged);
	set_estimate(&values[7], &nulls[7], &outlook->precision, judged);
	set_estimate(&values[10], &nulls[10], &outlook->recall, judged);
	values[13] = Int64GetDatum((int64) (outlook->pairs + 0.5));
	values[14] = CStringGetTextDatum(statement_of(call, outlook));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Says which verdicts contradict the order of similarity. */
static void
report_contradictions(const CorpusPairs *pairs)
{
	uint32 found[CONTRADICTIONS_MOST];
	uint32 count = contradictions_find(pairs, found);
	StringInfoData list;

	if (count == 0)
		return;
	initStringInfo(&list);
	for (uint32 i = 0; i < count; i++)
	{
		const AdvicePair *pair = &pairs->pair[pairs->judged[found[i]]];
		const CorpusText *text = pairs->corpus->text;

		appendStringInfo(&list, "%s%s and %s are judged %s", i > 0 ? "; " : "", text[pair->a].id,
						 text[pair->b].id, pairs->same[found[i]] ? "the same" : "different");
	}
	ereport(NOTICE,
			(errmsg("verdicts contradict the order of similarity: %u", count),
			 errdetail("%s.", list.data),
			 errhint("Judge these pairs again, which neardup_pairs_to_judge() returns first, and add the verdicts: a pair whose verdicts differ counts as unsure.")));
}

/* The least verdicts of a kind, same or different, that say much. */
#define KIND_LEAST 5

/* Tells the user if a kind has too few verdicts.  Returns whether any verdict is "same". */
static bool
check_kinds(const CorpusPairs *pairs)
{
	uint32 same = judged_same(pairs);
	uint32 different = pairs->judged_count - same;

	if (same < KIND_LEAST || different < KIND_LEAST)
		ereport(NOTICE,
				(errmsg("advice needs at least %d pairs judged the same and %d judged different, and has %u and %u",
						KIND_LEAST, KIND_LEAST, same, different),
				 same == 0 ? errdetail("Without one that is the same, there is no advice.") : 0,
				 errhint("Judge more of the pairs that neardup_pairs_to_judge() returns with these verdicts as \"judged\"; leave out variants (is_variant()).")));
	return same > 0;
}

/* Sorts the best outlook first; equal ones by their places in candidates[]. */
static int
compare_outlooks(const void *x, const void *y)
{
	const Outlook *p = x;
	const Outlook *q = y;

	if (p->merit != q->merit)
		return p->merit > q->merit ? -1 : 1;
	return p->candidate - q->candidate;
}

/* Puts a row for each candidate that has a threshold. */
static void
put_judged(ReturnSetInfo *result, const Statement *call, CorpusPairs *pairs, double least_precision)
{
	Outlook outlook[CANDIDATES];
	int count = 0;
	Model model;

	model_fit(&model, pairs);
	for (int c = 0; c < CANDIDATES; c++)
		count += model_outlook(&model, pairs, c, least_precision, &outlook[count]);
	qsort(outlook, count, sizeof(Outlook), compare_outlooks);
	for (int i = 0; i < count; i++)
		put_outlook(result, call, &outlook[i], true);
}

/* Puts a row with the candidate for texts of this length, and tells the user that it is a guess. */
static void
put_unjudged(ReturnSetInfo *result, const Statement *call, const CorpusPairs *pairs)
{
	Outlook outlook;
	bool gap = gap_find(pairs, &outlook);

	put_outlook(result, call, &outlook, false);
	ereport(NOTICE,
			(errmsg("no pairs were judged, so the threshold is a guess"),
			 gap ? errdetail("Few pairs of these texts have a similarity just below it.") :
				   errdetail("No threshold has few pairs of these texts just below it."),
			 errhint("Judge the pairs that neardup_pairs_to_judge() returns, and pass the verdicts as \"judged\".")));
}

/*
 * neardup_advise(query text, judged text, least_precision float8, sample int) returns SETOF
 * (scheme text, lexicon boolean, measure text, threshold float8, f1, f1_low, f1_high,
 * precision, precision_low, precision_high, recall, recall_low, recall_high float8, pairs
 * bigint, statement text)
 */
PG_FUNCTION_INFO_V1(neardup_advise);
Datum
neardup_advise(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	double least_precision;
	Statement call = {.schema = schema_to_write(fcinfo->flinfo->fn_oid)};
	CorpusPairs pairs;

	check_not_null(fcinfo, 2, "least_precision");
	least_precision = PG_GETARG_FLOAT8(2);
	if (!(least_precision >= 0 && least_precision <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"least_precision\" %g is out of range", least_precision),
				 errdetail("It must be from 0 to 1.")));
	begin_rows(fcinfo);
	find_pairs_of_arguments(fcinfo, 1, 3, &pairs);
	call.texts = texts_of(pairs.corpus);
	call.id_type = pairs.corpus->ids.type;
	if (pairs.count == 0)
		return (Datum) 0;
	report_contradictions(&pairs);
	if (pairs.corpus->verdicts != NULL && !check_kinds(&pairs))
		return (Datum) 0;
	if (pairs.judged_count > 0)
		put_judged(result, &call, &pairs, least_precision);
	else
		put_unjudged(result, &call, &pairs);
	return (Datum) 0;
}
