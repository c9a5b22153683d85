/*
 * pg_text.c: SQL functions that show what the recipe makes of a text.
 */
#include "pg.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(neardup_show_tokens);
PG_FUNCTION_INFO_V1(neardup_show_shingles);
PG_FUNCTION_INFO_V1(neardup_show_shingles_lists);
PG_FUNCTION_INFO_V1(neardup_shared_shingles);

/* ---- Tokens ------------------------------------------------------------- */

/* A TokenSink whose state is an ArrayBuildState. */
static void
show_batch(void *state, const TokenBatch *batch)
{
	size_t i;

	for (i = 0; i < batch->count; i++)
	{
		uint32_t begin = batch->edge[2 * i];
		uint32_t end = batch->edge[2 * i + 1];
		text *token = text_of_utf8((const char *) batch->bytes + begin, end - begin);

		accumArrayResult(state, PointerGetDatum(token), false, TEXTOID, CurrentMemoryContext);
		pfree(token);
	}
}

Datum
neardup_show_tokens(PG_FUNCTION_ARGS)
{
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	ArrayBuildState *tokens = initArrayResult(TEXTOID, CurrentMemoryContext, false);

	tokens_of_text(utf8.bytes, utf8.length, show_batch, tokens);
	utf8_free(&utf8);
	PG_RETURN_DATUM(makeArrayResult(tokens, CurrentMemoryContext));
}

/* ---- Tables of shingles ------------------------------------------------- */

/* Add one row of a shingle's text and two more columns. */
static void
put_row(FunctionCallInfo fcinfo, const ShownShingle *shingle, Datum second, Datum third)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool nulls[3] = {false, false, false};
	Datum values[3];
	text *shown = text_of_utf8(shingle->text, shingle->length);

	values[0] = PointerGetDatum(shown);
	values[1] = second;
	values[2] = third;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	pfree(shown);
}

/* Rows of the shingles, which are freed. */
static void
put_shown(FunctionCallInfo fcinfo, ShownShingle *shown, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_row(fcinfo, &shown[i], Int32GetDatum((int32) shown[i].count),
				Int64GetDatum((int64) shown[i].hash));
	}
	host_free(shown);
}

Datum
neardup_show_shingles(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(1));
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	ShownShingle *shown;
	size_t count;

	begin_rows(fcinfo);
	count = shingles_to_show(utf8.bytes, utf8.length, scheme, &shown);
	put_shown(fcinfo, shown, count);
	utf8_free(&utf8);
	return (Datum) 0;
}

/* Spot signatures with lists of one's own. */
Datum
neardup_show_shingles_lists(PG_FUNCTION_ARGS)
{
	ShownShingle *shown;
	SpotWords *words;
	SchemeId scheme;
	Utf8Text utf8;
	size_t count;

	begin_rows(fcinfo);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	words = spot_words_of_arguments(fcinfo, &scheme);
	utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	count = spots_to_show(utf8.bytes, utf8.length, words, &shown);
	put_shown(fcinfo, shown, count);
	utf8_free(&utf8);
	spot_words_free(words);
	return (Datum) 0;
}

static int
compare_hashes(const void *x, const void *y)
{
	uint64_t hash_x = ((const ShownShingle *) x)->hash;
	uint64_t hash_y = ((const ShownShingle *) y)->hash;

	return (hash_x > hash_y) - (hash_x < hash_y);
}

/* In order of first occurrence in the first text. */
Datum
neardup_shared_shingles(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(2));
	Utf8Text utf8_a = utf8_of_datum(PG_GETARG_DATUM(0));
	Utf8Text utf8_b = utf8_of_datum(PG_GETARG_DATUM(1));
	ShownShingle *shown_a;
	ShownShingle *shown_b;
	size_t count_a = shingles_to_show(utf8_a.bytes, utf8_a.length, scheme, &shown_a);
	size_t count_b = shingles_to_show(utf8_b.bytes, utf8_b.length, scheme, &shown_b);
	size_t i;

	begin_rows(fcinfo);
	qsort(shown_b, count_b, sizeof(ShownShingle), compare_hashes);
	for (i = 0; i < count_a; i++)
	{
		ShownShingle *same =
			bsearch(&shown_a[i], shown_b, count_b, sizeof(ShownShingle), compare_hashes);

		CHECK_FOR_INTERRUPTS();
		if (same)
			put_row(fcinfo, &shown_a[i], Int32GetDatum((int32) shown_a[i].count),
					Int32GetDatum((int32) same->count));
	}
	host_free(shown_a);
	host_free(shown_b);
	utf8_free(&utf8_a);
	utf8_free(&utf8_b);
	return (Datum) 0;
}
