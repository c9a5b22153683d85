/*
 * frequencies.c: SQL functions of document frequencies, and of sets weighted by a table
 * of them.
 */
#include "calls/query.h"
#include "types/shingles_type.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "sketch/bag.h"

/* The product of two sums of squares of such numbers is finite. */
#define IDF_MAX 1e50

/* ---- Frequencies -------------------------------------------------------- */

/*
 * Returns the statement of a query; throws an error unless it is a SELECT of one column of
 * shingles.
 */
static char *
checked_query(const char *query, Oid shingles)
{
	SPIPlanPtr plan = query_prepare("query", query, 0, "SELECT to_shingles(body) FROM documents");
	char *text;

	if (query_column(plan) != shingles)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one column of type shingles"),
				 errhint("Write a query such as SELECT to_shingles(body) FROM documents.")));
	text = query_statement(plan, query);
	SPI_freeplan(plan);
	return text;
}

/*
 * Returns the query that counts in how many of a query's sets each shingle is.  Values of
 * a domain are cast, so that no function that another role has defined for the domain is
 * called.
 */
static char *
counting_query(const char *query, Oid function)
{
	const char *schema = quote_identifier(get_namespace_name(get_func_namespace(function)));

	return psprintf("WITH document AS MATERIALIZED (SELECT q.s FROM (%s\n) AS q(s) WHERE q.s IS NOT NULL), "
					"total AS (SELECT pg_catalog.count(*)::pg_catalog.float8 AS n FROM document) "
					"SELECT f.shingle, f.df, CASE WHEN t.n OPERATOR(pg_catalog.=) 1 THEN 0 "
					"ELSE pg_catalog.ln(t.n OPERATOR(pg_catalog./) f.df) OPERATOR(pg_catalog./) pg_catalog.ln(t.n) END "
					"FROM (SELECT u.shingle, pg_catalog.count(*) AS df FROM document AS d, "
					"LATERAL pg_catalog.unnest(%s.shingle_hashes(d.s::%s.shingles)) AS u(shingle) GROUP BY u.shingle) AS f, total AS t",
					query, schema, schema);
}

/* A RowSink: adds a row to the result. */
static bool
put_frequency(void *state, const Datum *values, const bool *nulls)
{
	ReturnSetInfo *result = state;

	tuplestore_putvalues(result->setResult, result->setDesc, (Datum *) values, (bool *) nulls);
	return true;
}

/* neardup_frequencies(query text) returns SETOF (shingle bigint, df bigint, idf float8) */
PG_FUNCTION_INFO_V1(neardup_frequencies);
Datum
neardup_frequencies(PG_FUNCTION_ARGS)
{
	Oid function = fcinfo->flinfo->fn_oid;
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	SPIPlanPtr plan;

	begin_rows(fcinfo);
	SPI_connect();
	query = counting_query(checked_query(query, extension_type(function, "shingles")), function);
	plan = SPI_prepare(query, 0, NULL);
	if (!plan)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	query_rows(plan, put_frequency, fcinfo->resultinfo);
	SPI_finish();
	return (Datum) 0;
}

/* ---- Lexicons ----------------------------------------------------------- */

/* The plan that reads a table of frequencies, kept from call to call of one statement. */
typedef struct LexiconPlan
{
	Oid table;
	SPIPlanPtr plan; /* NULL for none */
	MemoryContextCallback forget;
} LexiconPlan;

/* Frees the plan of a LexiconPlan. */
static void
forget_plan(void *argument)
{
	LexiconPlan *kept = argument;

	if (kept->plan)
		SPI_freeplan(kept->plan);
	kept->plan = NULL;
}

/* Returns the query for columns of a table of frequencies; order is its ORDER BY, or empty. */
static char *
frequencies_query(Oid table, const char *columns, const char *order)
{
	char *name = get_rel_name(table);

	if (!name)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u does not exist", table)));
	return psprintf("SELECT %s FROM %s AS l WHERE l.shingle OPERATOR(pg_catalog.=) ANY ($1) "
					"AND l.idf OPERATOR(pg_catalog.>=) $2 AND l.idf OPERATOR(pg_catalog.<=) $3 %s",
					columns,
					quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name),
					order);
}

/*
 * Returns the plan of frequencies_query().  It is generic: a custom plan would estimate the
 * selectivity of each element of a set, which takes longer than the search for them.
 */
static SPIPlanPtr
frequencies_plan(FmgrInfo *function, Oid table, const char *columns, const char *order)
{
	Oid types[3] = {INT8ARRAYOID, FLOAT8OID, FLOAT8OID};
	LexiconPlan *kept = function->fn_extra;

	if (!kept)
	{
		kept = MemoryContextAllocZero(function->fn_mcxt, sizeof(LexiconPlan));
		kept->forget.func = forget_plan;
		kept->forget.arg = kept;
		MemoryContextRegisterResetCallback(function->fn_mcxt, &kept->forget);
		function->fn_extra = kept;
	}
	if (kept->plan && kept->table == table)
		return kept->plan;
	forget_plan(kept);
	kept->plan = SPI_prepare_cursor(frequencies_query(table, columns, order), lengthof(types),
									types, CURSOR_OPT_GENERIC_PLAN);
	if (!kept->plan || SPI_keepplan(kept->plan) != 0)
		elog(ERROR, "could not prepare to read the table of frequencies");
	kept->table = table;
	return kept->plan;
}

/* Runs the plan for the elements of a bag; the rows are in SPI_tuptable. */
static void
look_up(SPIPlanPtr plan, const Bag *bag, double low, double high)
{
	Datum values[3] = {PointerGetDatum(int8_array(bag->element, bag->count)), Float8GetDatum(low),
					   Float8GetDatum(high)};

	if (SPI_execute_plan(plan, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the table of frequencies");
}

/* Returns the distinct elements found. */
static Bag
bag_of_rows(void)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool null;
		uint64 element = (uint64) DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i],
															  SPI_tuptable->tupdesc, 1, &null));

		bag_add(&builder, &element, 1);
	}
	(void) bag_finish(&builder, &bag);
	return bag;
}

/* neardup_idf_filter(shingles, frequencies regclass, low float8, high float8) returns shingles */
PG_FUNCTION_INFO_V1(neardup_idf_filter);
Datum
neardup_idf_filter(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	Bag found;
	Bag kept;
	Shingles *result;

	SPI_connect();
	look_up(frequencies_plan(fcinfo->flinfo, PG_GETARG_OID(1), "l.shingle::pg_catalog.int8", ""),
			&bag, PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3));
	found = bag_of_rows();
	kept = bag_keep(&bag, &found);
	MemoryContextSwitchTo(context);
	result = shingles_of_bag(&kept, shingles->version, shingles->scheme);
	SPI_finish();
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_POINTER(result);
}

/* Returns the rows found, which are sorted; throws an error for an element that comes twice. */
static Lexicon
lexicon_of_rows(void)
{
	int64 *element = palloc(sizeof(int64) * SPI_processed + 1);
	double *weight = palloc(sizeof(double) * SPI_processed + 1);
	Lexicon lexicon = {0, element, weight};
	bool null;

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple row = SPI_tuptable->vals[i];

		element[i] = DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &null));
		weight[i] = DatumGetFloat8(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &null));
		if (i > 0 && element[i] == element[i - 1])
			ereport(ERROR,
					(errcode(ERRCODE_CARDINALITY_VIOLATION),
					 errmsg("table of frequencies has shingle %lld twice", (long long) element[i]),
					 errhint("Make column \"shingle\" its primary key.")));
		if (weight[i] > IDF_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("idf %g of shingle %lld is out of range", weight[i],
							(long long) element[i]),
					 errhint("Use the idf of neardup_frequencies(), which is from 0 to 1.")));
		lexicon.count++;
	}
	return lexicon;
}

/* neardup_tfidf_cosine(shingles, shingles, frequencies regclass) returns float8 */
PG_FUNCTION_INFO_V1(neardup_tfidf_cosine);
Datum
neardup_tfidf_cosine(PG_FUNCTION_ARGS)
{
	ShinglesPair pair = shingles_pair(fcinfo);
	Bag either;
	Lexicon lexicon;
	double cosine;

	SPI_connect();
	either = bag_union(&pair.bag_x, &pair.bag_y);
	look_up(frequencies_plan(fcinfo->flinfo, PG_GETARG_OID(2),
							 "l.shingle::pg_catalog.int8, l.idf::pg_catalog.float8", "ORDER BY 1"),
			&either, 0, get_float8_infinity());
	lexicon = lexicon_of_rows();
	cosine = bag_lexicon_cosine(&pair.bag_x, &pair.bag_y, &lexicon);
	SPI_finish();
	PG_RETURN_FLOAT8(cosine);
}

/* ---- Digests ------------------------------------------------------------ */

/* Returns NULL for the empty set, which is no duplicate of another. */
PG_FUNCTION_INFO_V1(neardup_imatch);
Datum
neardup_imatch(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	bytea *digest;

	if (bag.count == 0)
		PG_RETURN_NULL();
	digest = palloc(VARHDRSZ + BAG_DIGEST_BYTES);
	SET_VARSIZE(digest, VARHDRSZ + BAG_DIGEST_BYTES);
	bag_digest(&bag, (uint8 *) VARDATA(digest));
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_BYTEA_P(digest);
}
