/*
 * verdicts.c: people's verdicts on pairs of texts, as a query returns them.
 */
#include "advise/advise.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define EXAMPLE "SELECT a, b, same FROM verdicts"

/* Reads rows into verdicts. */
typedef struct Reader
{
	Verdicts *verdicts;
	MemoryContext context; /* of the verdicts */
	FmgrInfo output[2];    /* functions of the ids */
} Reader;

/* A RowSink.  A row with a NULL says nothing. */
static bool
take_verdict(void *state, const Datum *values, const bool *nulls)
{
	Reader *reader = state;
	Verdicts *verdicts = reader->verdicts;
	MemoryContext old;

	if (nulls[0] || nulls[1] || nulls[2])
		return true;
	old = MemoryContextSwitchTo(reader->context);
	verdicts->verdict = host_grow(verdicts->verdict, &verdicts->room, verdicts->count + 1,
								  sizeof(Verdict));
	verdicts->verdict[verdicts->count++] =
		(Verdict){.a = OutputFunctionCall(&reader->output[0], values[0]),
				  .b = OutputFunctionCall(&reader->output[1], values[1]),
				  .same = DatumGetBool(values[2])};
	MemoryContextSwitchTo(old);
	return true;
}

/* Prepares a query of two ids and a boolean. */
static SPIPlanPtr
prepare(Reader *reader, const char *query)
{
	SPIPlanPtr plan = query_prepare("judged", query, 0, EXAMPLE);
	TupleDesc columns = query_columns(plan);

	if (columns->natts != 3 || getBaseType(TupleDescAttr(columns, 2)->atttypid) != BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("\"judged\" must return two ids and a boolean"),
				 errhint("Write a query such as %s.", EXAMPLE)));
	for (int i = 0; i < 2; i++)
	{
		Oid output;
		bool varlena;

		getTypeOutputInfo(TupleDescAttr(columns, i)->atttypid, &output, &varlena);
		fmgr_info(output, &reader->output[i]);
	}
	return plan;
}

static int
compare_ids(const void *x, const void *y)
{
	return strcmp(*(char *const *) x, *(char *const *) y);
}

/* Returns the verdicts that a query returns; none if it is NULL. */
Verdicts
verdicts_read(const char *query)
{
	Verdicts verdicts = {0};
	Reader reader = {.verdicts = &verdicts, .context = CurrentMemoryContext};

	if (query == NULL)
		return verdicts;
	SPI_connect();
	query_rows(prepare(&reader, query), take_verdict, &reader);
	SPI_finish();
	verdicts.id = palloc(sizeof(char *) * 2 * verdicts.count + 1);
	for (uint32 i = 0; i < verdicts.count; i++)
	{
		verdicts.id[verdicts.ids++] = verdicts.verdict[i].a;
		verdicts.id[verdicts.ids++] = verdicts.verdict[i].b;
	}
	qsort(verdicts.id, verdicts.ids, sizeof(char *), compare_ids);
	return verdicts;
}

/* Is a text of this id judged? */
bool
verdicts_have(const Verdicts *verdicts, const char *id)
{
	return verdicts->ids > 0 &&
		bsearch(&id, verdicts->id, verdicts->ids, sizeof(char *), compare_ids) != NULL;
}
