/*
 * common_shingles.c: the SQL function that learns which shingles many documents share, such
 * as those of a form.
 */
#include "types/query.h"
#include "types/shingles.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "sketch/counts.h"

/* So many documents that share a shingle may be near-duplicates of each other. */
#define FEW 5

/* A DestReceiver that counts the shingles of a sample of the rows of a query. */
typedef struct Sampler
{
	DestReceiver pub;
	Oid function; /* the SQL function called */
	MemoryContext context;
	MemoryContext row_context;
	bool sets; /* does the query return shingles? */
	int version;
	SchemeId scheme;
	uint64 rows; /* of the query */
	uint64 row;  /* of them, received */
	uint64 wanted;
	uint64 chosen;
	ElementCounts counts;
} Sampler;

/* ---- Documents ------------------------------------------------------------ */

/* Counts a set of shingles, which must be of the recipe and scheme of the first. */
static void
count_set(Sampler *sampler, Shingles *shingles)
{
	if (sampler->counts.documents == 1)
	{
		sampler->version = shingles->version;
		sampler->scheme = shingles->scheme;
	}
	check_same_recipe(sampler->version, sampler->scheme, shingles->version, shingles->scheme);
	hashes_in_batches((const uint64_t *) shingles->element, shingles->count, counts_add,
					  &sampler->counts);
}

/* Counts the shingles of a document in the context of the counts. */
static void
count_document(Sampler *sampler, Datum document)
{
	MemoryContext old = MemoryContextSwitchTo(sampler->row_context);
	Utf8Text utf8;
	Shingles *shingles = NULL;

	if (sampler->sets)
		shingles = shingles_of_datum(document);
	else
		utf8 = utf8_of_datum(document);
	MemoryContextSwitchTo(sampler->context);
	counts_next(&sampler->counts);
	if (shingles)
		count_set(sampler, shingles);
	else
		shingle_text(utf8.bytes, utf8.length, sampler->scheme, counts_add, &sampler->counts);
	MemoryContextSwitchTo(old);
	MemoryContextReset(sampler->row_context);
}

/* ---- The sample ----------------------------------------------------------- */

/*
 * Is the next row in the sample?  Each is with the probability that is still wanted of the
 * rows that are left (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm
 * S).  The random numbers are always the same.
 */
static bool
is_chosen(Sampler *sampler)
{
	uint64 left = sampler->rows - sampler->row;
	double random = (double) (mix64(++sampler->row * UINT64CONST(0x9E3779B97F4A7C15)) >> 11) /
		(double) (UINT64CONST(1) << 53);

	return random * (double) left < (double) (sampler->wanted - sampler->chosen);
}

/* Receives a row of the query; returns false when there is no need for more. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Sampler *sampler = (Sampler *) self;
	bool null;

	CHECK_FOR_INTERRUPTS();
	if (sampler->row == sampler->rows)
		return false;
	if (is_chosen(sampler))
	{
		Datum document = slot_getattr(slot, 1, &null);

		sampler->chosen++;
		if (!null)
			count_document(sampler, document);
	}
	return sampler->chosen < sampler->wanted;
}

/* Checks the columns of the query. */
static void
check_columns(Sampler *sampler, TupleDesc row_type)
{
	Oid type = InvalidOid;

	if (row_type->natts == 1)
		type = getBaseType(TupleDescAttr(row_type, 0)->atttypid);
	sampler->sets = type == extension_type(sampler->function, "shingles");
	if (!sampler->sets && !IsBinaryCoercible(type, TEXTOID))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one column of type text or shingles"),
				 errhint("Write a query such as SELECT body FROM documents.")));
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
read_sample(Sampler *sampler, const char *query)
{
	int nest_level = NewGUCNestLevel();
	SPIPlanPtr plan;

	SPI_connect();
	/* Rows come in the same order whenever the function is called. */
	(void) set_config_option("synchronize_seqscans", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	plan = query_prepare("query", query, 0, "SELECT body FROM documents");
	check_columns(sampler, query_columns(plan));
	sampler->rows = count_rows(query_statement(plan, query));
	sampler->wanted = Min(sampler->wanted, sampler->rows);
	compat_run_plan(plan, &sampler->pub);
	SPI_finish();
	AtEOXact_GUC(true, nest_level);
}

/* ---- The function ---------------------------------------------------------- */

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
	Sampler sampler = {.pub = query_receiver(NULL, receive_row),
					   .function = fcinfo->flinfo->fn_oid,
					   .context = CurrentMemoryContext,
					   .version = RECIPE_VERSION};
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	double share = share_argument(fcinfo, 1, "share");
	uint32 documents;
	Shingles *result;
	Bag bag;

	sampler.scheme = text_scheme_of_datum(PG_GETARG_DATUM(2));
	sampler.wanted = number_argument(fcinfo, 3, "sample", PG_INT32_MAX);
	sampler.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup row", ALLOCSET_DEFAULT_SIZES);
	counts_begin_share(&sampler.counts, share);
	read_sample(&sampler, query);
	MemoryContextDelete(sampler.row_context);
	documents = (uint32) sampler.counts.documents;
	bag = counts_finish_share(&sampler.counts);
	result = shingles_of_bag(&bag, sampler.version, sampler.scheme);
	warn_of_few(documents, share);
	PG_RETURN_POINTER(result);
}
