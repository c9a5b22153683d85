/*
 * advise.c: neardup_advise() returns the candidates, the best first, and a statement for each.
 */
#include "advise/advise.h"

#include <math.h>

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
 * the argument with the most texts of the sample, from 1 to SAMPLE_MOST; the one after it says whether
 * variants count.  Raises an error if an
 * argument is wrong, or if there are verdicts but none whose texts were both read.
 */
void
find_pairs_of_arguments(FunctionCallInfo fcinfo, int judged, int most, CorpusPairs *pairs)
{
	Corpus *corpus = palloc(sizeof(Corpus));

	check_not_null(fcinfo, 0, "query");
	check_not_null(fcinfo, most, "sample");
	check_not_null(fcinfo, most + 1, "variants");
	progress_begin();
	corpus_read(corpus, text_to_cstring(PG_GETARG_TEXT_PP(0)),
				number_argument(fcinfo, most, "sample", SAMPLE_MOST),
				PG_ARGISNULL(judged) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(judged)),
				PG_GETARG_BOOL(most + 1));
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
	bool variants;      /* pairs of variants are reported, too */
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
	if (!call->variants)
		condition = psprintf("(%s) AND NOT %sis_variant(body, $1)", condition, call->schema);
	return psprintf("/* New rows:\n%sCREATE INDEX ON docs USING neardup (%s);\nSELECT id FROM docs WHERE %s; */",
					learn, of_row, condition);
}

/* Returns the threshold of a candidate. */
static double
threshold_of(const Outlook *outlook)
{
	return (double) outlook->step / GRID;
}

/* Returns what takes the pairs of variants out of a statement, in whose FROM clause it is. */
static const char *
without_variants(const Statement *call)
{
	if (call->variants)
		return "";
	return psprintf(" AS p\nJOIN (SELECT * FROM %s) AS x ON x.id = p.a JOIN (SELECT * FROM %s) AS y ON y.id = p.b\nWHERE NOT %sis_variant(x.body, y.body)",
					call->texts, call->texts, call->schema);
}

/* Returns the statement that reports a candidate's pairs, with a comment that says how to search. */
static const char *
statement_of(const Statement *call, const Outlook *outlook)
{
	const Candidate *candidate = &candidates[outlook->candidate];

	return psprintf("SELECT %s* FROM %sneardup_pairs(%s, %g%s, equal => 'all'%s%s)%s\n%s",
					call->variants ? "" : "p.", call->schema,
					quote_literal_cstr(sets_query(call, candidate)), threshold_of(outlook),
					call->id_type == INT8OID ?
						"" :
						psprintf(", NULL::%s", format_type_be(call->id_type)),
					candidate->lexicon ? ", multiset => true" : "",
					candidate->measure == MEASURE_CONTAINMENT ? ", measure => 'containment'" : "",
					without_variants(call), search_of(call, candidate, threshold_of(outlook)));
}

/* ---- Rows --------------------------------------------------------------------------- */

#define COLUMNS 14

/* Puts the row of a candidate.  Without verdicts `counted` is NULL. */
static void
put_outlook(ReturnSetInfo *result, const Statement *call, const CorpusPairs *pairs,
			const Outlook *outlook, const Counted *counted)
{
	const Candidate *candidate = &candidates[outlook->candidate];
	Datum values[COLUMNS];
	bool nulls[COLUMNS] = {[4] = !counted, !counted || counted->drawn == 0,
						   !counted,       !counted,
						   !counted,       !counted};
	double low;
	double high;

	values[0] = CStringGetTextDatum(scheme_names[candidate->scheme]);
	values[1] = BoolGetDatum(candidate->lexicon);
	values[2] = CStringGetTextDatum(candidate->measure == MEASURE_CONTAINMENT ? "containment" :
																				"resemblance");
	values[3] = Float8GetDatum(threshold_of(outlook));
	values[4] = Float8GetDatum(outlook->f1);
	if (counted)
	{
		values[5] = Float8GetDatum((double) counted->same / Max(counted->drawn, 1));
		values[6] = Float8GetDatum(counted->low);
		values[7] = Float8GetDatum(counted->high);
		values[8] = Int32GetDatum(counted_to_halve(counted, outlook));
	}
	values[9] = Float8GetDatum(outlook->recall);
	values[10] = Int64GetDatum((int64) rint(outlook->pairs));
	nulls[11] = nulls[12] = !pairs_bounds(pairs, outlook, &low, &high);
	values[11] = Int64GetDatum((int64) floor(low));
	values[12] = Int64GetDatum((int64) ceil(high));
	values[13] = CStringGetTextDatum(statement_of(call, outlook));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Appends the verdict on a pair to a list. */
static void
list_verdict(StringInfo list, const CorpusPairs *pairs, const AdvicePair *pair)
{
	const CorpusText *text = pairs->corpus->text;

	appendStringInfo(list, "%s%s and %s are judged %s", list->len > 0 ? "; " : "", text[pair->a].id,
					 text[pair->b].id, pair->verdict == VERDICT_SAME ? "the same" : "different");
}

/* Lists the verdicts that contradict, given once or twice, and returns how many there are. */
static uint32
list_contradictions(StringInfo list, const CorpusPairs *pairs, bool again)
{
	uint32 count = 0;

	initStringInfo(list);
	for (uint32 i = 0; i < pairs->judged_count; i++)
	{
		const AdvicePair *pair = &pairs->pair[pairs->judged[i]];

		if (!pair->contradicts || pair->again != again)
			continue;
		if (count++ < CONFIRM_MOST)
			list_verdict(list, pairs, pair);
	}
	return count;
}

/* Says which verdicts are to be confirmed, and which count little although they were. */
static void
report_doubts(const CorpusPairs *pairs)
{
	StringInfoData list;
	uint32 count = list_contradictions(&list, pairs, false);

	if (count > 0)
		ereport(NOTICE,
				(errmsg("verdicts contradict the order of similarity: %u", count),
				 errdetail("%s.", list.data),
				 errhint("Judge these pairs again, which neardup_pairs_to_judge() returns first, and add the verdicts: a pair whose verdicts differ counts as unsure.")));
	count = list_contradictions(&list, pairs, true);
	if (count > 0)
		ereport(NOTICE,
				(errmsg("verdicts contradict the order of similarity although they were confirmed, and count little: %u",
						count),
				 errdetail("%s.", list.data)));
	if (pairs->carrying == NO_PAIR)
		return;
	initStringInfo(&list);
	list_verdict(&list, pairs, &pairs->pair[pairs->carrying]);
	ereport(NOTICE,
			(errmsg("advice rests on one verdict"), errdetail("%s.", list.data),
			 errhint("Judge this pair again, which neardup_pairs_to_judge() returns first, and add the verdict.")));
}

/* The least verdicts of a kind, same or different, that say much. */
#define KIND_LEAST 5

/* Tells the user if a kind has too few verdicts.  Returns whether any verdict is "same". */
static bool
check_kinds(const CorpusPairs *pairs)
{
	uint32 same = pairs->judged_same;
	uint32 different = pairs->judged_count - same;

	if (same < KIND_LEAST || different < KIND_LEAST)
		ereport(NOTICE,
				(errmsg("advice needs at least %d pairs judged the same and %d judged different, and has %u and %u",
						KIND_LEAST, KIND_LEAST, same, different),
				 same == 0 ? errdetail("Without one that is the same, there is no advice.") : 0,
				 errhint("Judge more of the pairs that neardup_pairs_to_judge() returns with these verdicts as \"judged\"; \"variants => false\" leaves out variants.")));
	return same > 0;
}

/* The first row's F1 below which the user is told. */
#define F1_LEAST 0.5

/* Tells the user if even the first row does badly. */
static void
report_first(const Outlook *outlook)
{
	if (outlook->f1 < F1_LEAST)
		ereport(NOTICE,
				(errmsg("no comparison fits these verdicts: the best has an F1 of %.2f",
						outlook->f1),
				 errhint("Compare other columns, or leave out variants, with \"variants => false\".")));
}

/* Puts a row for each candidate that has a threshold. */
static void
put_judged(ReturnSetInfo *result, const Statement *call, CorpusPairs *pairs, double least_precision)
{
	Outlook outlook[CANDIDATES];
	uint32 found[CONFIRM_MOST];
	int count;

	(void) confirm_find(pairs, found);
	report_doubts(pairs);
	count = model_outlooks(pairs, least_precision, outlook);
	for (int i = 0; i < count; i++)
	{
		Counted counted = count_drawn(pairs, &outlook[i]);

		if (i == 0)
			report_first(&outlook[i]);
		put_outlook(result, call, pairs, &outlook[i], &counted);
	}
}

/* Puts a row with the candidate for texts of this length, and tells the user that it is a guess. */
static void
put_unjudged(ReturnSetInfo *result, const Statement *call, const CorpusPairs *pairs)
{
	Outlook outlook;
	bool gap = gap_find(pairs, &outlook);

	put_outlook(result, call, pairs, &outlook, NULL);
	ereport(NOTICE,
			(errmsg("no pairs were judged, so the threshold is a guess"),
			 gap ? errdetail("Few pairs of these texts have a similarity just below it.") :
				   errdetail("No threshold has few pairs of these texts just below it."),
			 errhint("Judge the pairs that neardup_pairs_to_judge() returns, and pass the verdicts as \"judged\".")));
}

/*
 * neardup_advise(query text, judged text, least_precision float8, sample int, variants boolean) returns SETOF
 * (scheme text, lexicon boolean, measure text, threshold float8, f1, precision, precision_low,
 * precision_high float8, to_halve int, recall float8, pairs, pairs_low, pairs_high bigint,
 * statement text)
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
	call.variants = pairs.corpus->variants;
	if (pairs.count == 0)
		return (Datum) 0;
	if (pairs.corpus->verdicts != NULL && !check_kinds(&pairs))
		return (Datum) 0;
	if (pairs.judged_count > 0)
		put_judged(result, &call, &pairs, least_precision);
	else
		put_unjudged(result, &call, &pairs);
	return (Datum) 0;
}
