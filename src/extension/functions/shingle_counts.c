/*
 * shingle_counts.c: SQL functions that count the shingles of many documents: lexicons, and the
 * shingles that documents share, such as those of a form.
 */
#include "types/lexicon_type.h"
#include "calls/query.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "base/hash.h"
#include "sketch/counts.h"

/* ---- Documents ------------------------------------------------------------ */

/* Counts the shingles of the texts or sets that a query returns. */
typedef struct Learner
{
	bool sets;       /* the query returns shingles */
	int version;     /* the recipe version of the sets, once there is one */
	SchemeId scheme; /* the scheme of the sets, once there is one, or of the texts */
	void (*check_scheme)(SchemeId scheme);
	ElementCounts counts;
	MemoryContext context; /* the context of the counts */
} Learner;

/*
 * Prepares a query of one column of texts or shingles; notes which it is.  function is the
 * SQL function that was called.
 */
static SPIPlanPtr
learner_prepare(Learner *learner, const char *query, int cursor_options, Oid function)
{
	SPIPlanPtr plan = query_prepare("query", query, cursor_options, "SELECT body FROM documents");
	Oid type = query_column(plan);

	learner->sets = type == extension_type(function, "shingles");
	if (!learner->sets && !IsBinaryCoercible(type, TEXTOID))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one column of type text or shingles"),
				 errhint("Write a query such as SELECT body FROM documents.")));
	return plan;
}

/* Counts a set of shingles, which must be of the recipe and scheme of the first. */
static void
count_set(Learner *learner, const Shingles *shingles)
{
	if (learner->counts.documents == 1)
	{
		if (learner->check_scheme)
			learner->check_scheme(shingles->scheme);
		learner->version = shingles->version;
		learner->scheme = shingles->scheme;
	}
	check_same_recipe(learner->version, learner->scheme, shingles->version, shingles->scheme);
	hashes_in_batches((const uint64_t *) shingles->element, shingles->count, counts_add,
					  &learner->counts);
}

/* Counts the shingles of a document, a text or a set. */
static void
count_document(Learner *learner, Datum document)
{
	Utf8Text utf8;
	Shingles *shingles = NULL;
	MemoryContext old;

	if (!learner->sets)
		utf8 = utf8_of_datum(document);
	else if (learner->check_scheme)
		shingles = shingles_to_sketch(document);
	else
		shingles = shingles_of_datum(document);
	old = MemoryContextSwitchTo(learner->context);
	counts_next(&learner->counts);
	if (shingles)
		count_set(learner, shingles);
	else
		shingle_text(utf8.bytes, utf8.length, learner->scheme, counts_add, &learner->counts);
	MemoryContextSwitchTo(old);
}

/* ---- Lexicons --------------------------------------------------------------- */

/* Throws an error unless a lexicon can weigh shingles of a scheme. */
static void
check_lexicon_scheme(SchemeId scheme)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(scheme, name);
	if (!scheme_has_lexicons(scheme) || SCHEME_VARIANT(scheme) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a lexicon cannot have scheme \"%s\"", name),
				 errhint("Use a scheme such as \"word 1\".")));
}

/* A RowSink. */
static bool
learn_row(void *learner, const Datum *values, const bool *nulls)
{
	if (!nulls[0])
		count_document(learner, values[0]);
	return true;
}

/* Returns the lexicon of what was counted. */
static LexiconValue *
lexicon_of_counts(ElementCounts *counts, SchemeId scheme, uint32 entries, double share)
{
	LexiconParts parts = {.version = RECIPE_VERSION,
						  .scheme = scheme,
						  .documents = counts->documents};

	if (parts.documents < 2)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("query returned fewer than two documents"),
				 errdetail("A shingle weighs more if fewer of many documents have it."),
				 errhint("Read more documents.")));
	parts.count = counts_finish(counts, entries, share, &parts.key, &parts.weight);
	if (parts.count > LEXICON_ENTRIES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("lexicon has more than %d entries", LEXICON_ENTRIES_MAX),
				 errhint("Raise \"share\", or lower \"entries\".")));
	return lexicon_of_parts(&parts);
}

/* A lexicon of this many entries may be made with any maintenance_work_mem. */
#define ENTRIES_ALWAYS 10000

/* Returns how many shingles to count: twice the entries, or more if memory allows. */
static size_t
shingles_to_count(int32 entries)
{
	size_t room = (size_t) maintenance_work_mem * 1024 / COUNTS_BYTES;
	size_t needed = 2 * (size_t) entries;

	if (room < needed && entries > ENTRIES_ALWAYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("maintenance_work_mem is too small for a lexicon of %d entries", entries),
				 errhint("Raise maintenance_work_mem to %zu MB, or make a lexicon of at most %zu entries.",
						 needed * COUNTS_BYTES / (1024 * 1024) + 1,
						 Max(room / 2, ENTRIES_ALWAYS))));
	return Max(room, needed);
}

/* neardup_lexicon(query text, scheme text, entries int, share float8) returns shingle_lexicon */
PG_FUNCTION_INFO_V1(neardup_lexicon);
Datum
neardup_lexicon(PG_FUNCTION_ARGS)
{
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int32 entries = number_argument(fcinfo, 2, "entries", LEXICON_ENTRIES_MAX);
	double share = share_argument(fcinfo, 3, "share");
	Learner learner = {.scheme = text_scheme_of_datum(PG_GETARG_DATUM(1)),
					   .check_scheme = check_lexicon_scheme,
					   .context = CurrentMemoryContext};

	check_lexicon_scheme(learner.scheme);
	counts_begin(&learner.counts, shingles_to_count(entries));
	SPI_connect();
	query_rows(learner_prepare(&learner, query, CURSOR_OPT_PARALLEL_OK, fcinfo->flinfo->fn_oid),
			   learn_row, &learner);
	SPI_finish();
	PG_RETURN_POINTER(lexicon_of_counts(&learner.counts, learner.scheme, entries, share));
}

/* ---- Common shingles -------------------------------------------------------- */

/* Up to this many documents that share a shingle may be near-duplicates. */
#define FEW 5

/* A sample of the rows of a query. */
typedef struct Sampler
{
	Learner learner;
	uint64 rows; /* rows of the query */
	uint64 row;  /* the number of the last row received, from 1 */
	uint64 wanted;
	uint64 chosen;
} Sampler;

/*
 * Returns whether the next row is in the sample: with a probability of the rows still wanted to
 * the rows left (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S).  The
 * random numbers are always the same.
 */
static bool
is_chosen(Sampler *sampler)
{
	uint64 left = sampler->rows - sampler->row;
	double random = (double) (mix64(++sampler->row * UINT64CONST(0x9E3779B97F4A7C15)) >> 11) /
		(double) (UINT64CONST(1) << 53);

	return random * (double) left < (double) (sampler->wanted - sampler->chosen);
}

/* A RowSink; returns false when there is no need for more. */
static bool
sample_row(void *state, const Datum *values, const bool *nulls)
{
	Sampler *sampler = state;

	if (sampler->row == sampler->rows)
		return false;
	if (is_chosen(sampler))
	{
		sampler->chosen++;
		if (!nulls[0])
			count_document(&sampler->learner, values[0]);
	}
	return sampler->chosen < sampler->wanted;
}

/* Returns how many rows a query returns; the server need not compute their columns for that. */
static uint64
count_rows(const char *statement)
{
	char *query = psprintf("SELECT pg_catalog.count(*) FROM (%s\n) AS q", statement);
	bool null;

	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not count the rows of the query");
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
}

/* Runs the query twice: the first time it only counts the rows. */
static void
read_sample(Sampler *sampler, const char *query, Oid function)
{
	int nest_level = NewGUCNestLevel();
	SPIPlanPtr plan;

	SPI_connect();
	/* Rows come in the same order whenever the function is called. */
	(void) set_config_option("synchronize_seqscans", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	plan = learner_prepare(&sampler->learner, query, 0, function);
	sampler->rows = count_rows(query_statement(plan, query));
	sampler->wanted = Min(sampler->wanted, sampler->rows);
	query_rows(plan, sample_row, sampler);
	SPI_finish();
	AtEOXact_GUC(true, nest_level);
}

/* Warns if two or three near-duplicates among the documents could look like a form. */
static void
warn_of_few(uint32 documents, double share)
{
	double least = Max(ceil(share * documents), 2);

	if (documents > 0 && least < FEW)
		ereport(WARNING,
				(errmsg_plural("there is only %u document", "there are only %u documents",
							   documents, documents),
				 errdetail("A shingle that %.0f of them have counts as common, so their near-duplicates look like a form.",
						   least),
				 errhint("Read more documents, or make the set from the form itself, with to_shingles().")));
}

/* neardup_common_shingles(query text, share float8, scheme text, sample int) returns shingles */
PG_FUNCTION_INFO_V1(neardup_common_shingles);
Datum
neardup_common_shingles(PG_FUNCTION_ARGS)
{
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	double share = share_argument(fcinfo, 1, "share");
	Sampler sampler = {.wanted = number_argument(fcinfo, 3, "sample", PG_INT32_MAX)};
	Learner *learner = &sampler.learner;
	Shingles *result;
	Bag bag;

	learner->scheme = text_scheme_of_datum(PG_GETARG_DATUM(2));
	learner->version = RECIPE_VERSION;
	learner->context = CurrentMemoryContext;
	counts_begin_share(&learner->counts, share);
	read_sample(&sampler, query, fcinfo->flinfo->fn_oid);
	bag = counts_finish_share(&learner->counts);
	result = shingles_of_bag(&bag, learner->version, learner->scheme);
	warn_of_few((uint32) learner->counts.documents, share);
	PG_RETURN_POINTER(result);
}
