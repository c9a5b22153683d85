/*
 * show_recipe.c: SQL functions that show what the recipe makes of a text, and signatures.
 */
#include "calls/arguments.h"
#include "calls/schemes.h"
#include "calls/texts.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/hash.h"
#include "types/lexicon_type.h"
#include "types/signature_type.h"

/* Bytes of symbols that show_signature() shows: all of a signature of 64 bits. */
#define SHOWN_SYMBOL_BYTES 8

/* ---- Tokens ------------------------------------------------------------- */

/* A text[] that is being made, with room for its header. */
typedef struct TokenArray
{
	char *data;
	size_t length;
	size_t room;
	size_t count;
} TokenArray;

/* Appends a token as a text. */
static void
append_token(TokenArray *array, const char *utf8, size_t length)
{
	text *token = text_of_utf8(utf8, length);
	size_t size = VARSIZE(token);
	size_t wanted = INTALIGN(array->length + size);

	if (wanted > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text has too many tokens for an array"),
				 errdetail("An array takes at most %zu bytes.", (size_t) MaxAllocSize),
				 errhint("Show parts of the text.")));
	if (wanted > array->room)
	{
		array->room = Min(Max(wanted, 2 * array->room), MaxAllocSize);
		array->data = host_realloc(array->data, array->room);
	}
	memcpy(array->data + array->length, token, size);
	memset(array->data + array->length + size, 0, wanted - array->length - size);
	array->length = wanted;
	array->count++;
	pfree(token);
}

/* A TokenSink that appends to a TokenArray. */
static void
show_batch(void *state, const TokenBatch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		append_token(state, token, length);
	}
}

/* show_tokens(text) returns text[] */
PG_FUNCTION_INFO_V1(neardup_show_tokens);
Datum
neardup_show_tokens(PG_FUNCTION_ARGS)
{
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	TokenArray tokens = {.data = host_alloc(256), .length = ARR_OVERHEAD_NONULLS(1), .room = 256};

	tokens_of_text(utf8.bytes, utf8.length, show_batch, &tokens);
	utf8_free(&utf8);
	if (tokens.count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	PG_RETURN_ARRAYTYPE_P(array_header((ArrayType *) tokens.data, TEXTOID, tokens.length,
									   tokens.count));
}

/* ---- Tables of shingles ------------------------------------------------- */

/* Throws an error unless all shingles of a text can be shown. */
static void
check_shown(bool all)
{
	if (!all)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text is too large to show its shingles"),
				 errdetail("At most %zu distinct shingles, and %zu bytes of normalised text, are shown.",
						   SHOWN_MAX, SHOWN_TEXT_MAX),
				 errhint("Show parts of the text, or compare texts with to_shingles().")));
}

/* Adds a row of a shingle's text and two more columns. */
static void
show_put_row(FunctionCallInfo fcinfo, ShownShingles *shown, size_t i, Datum second, Datum third)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool nulls[3] = {false, false, false};
	Datum values[3];
	size_t length;
	const char *utf8 = shown_text(shown, &shown->shingle[i], &length);
	text *shingle;

	if (length > MaxAllocSize - VARHDRSZ)
		check_shown(false);
	shingle = text_of_utf8(utf8, length);
	values[0] = PointerGetDatum(shingle);
	values[1] = second;
	values[2] = third;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	pfree(shingle);
}

/* Adds a row for each shingle, with its weight instead of its count if there are weights; frees them. */
static void
put_shown(FunctionCallInfo fcinfo, ShownShingles *shown, const Weights *weights)
{
	for (size_t i = 0; i < shown->count; i++)
	{
		uint64 hash = shown->shingle[i].hash;
		uint32 number = weights ? weight_of(weights, mix64(hash)) : shown->shingle[i].count;

		CHECK_FOR_INTERRUPTS();
		show_put_row(fcinfo, shown, i, Int32GetDatum((int32) number), Int64GetDatum((int64) hash));
	}
	shown_free(shown);
}

/* show_shingles(text, scheme text) returns SETOF (shingle text, count int, hash bigint) */
PG_FUNCTION_INFO_V1(neardup_show_shingles);
Datum
neardup_show_shingles(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(1));
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	ShownShingles shown;

	begin_rows(fcinfo);
	check_shown(shingles_to_show(utf8.bytes, utf8.length, scheme, &shown));
	put_shown(fcinfo, &shown, NULL);
	utf8_free(&utf8);
	return (Datum) 0;
}

/* Takes spot signatures with the caller's own lists. */
PG_FUNCTION_INFO_V1(neardup_show_shingles_antecedents);
Datum
neardup_show_shingles_antecedents(PG_FUNCTION_ARGS)
{
	ShownShingles shown;
	SpotWords *words;
	SchemeId scheme;
	Utf8Text utf8;

	begin_rows(fcinfo);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	words = spot_words_of_arguments(fcinfo, &scheme);
	utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	check_shown(spots_to_show(utf8.bytes, utf8.length, words, &shown));
	put_shown(fcinfo, &shown, NULL);
	utf8_free(&utf8);
	spot_words_free(words);
	return (Datum) 0;
}

/* Returns shared shingles in order of first occurrence in the first text. */
PG_FUNCTION_INFO_V1(neardup_shared_shingles);
Datum
neardup_shared_shingles(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(2));
	Utf8Text utf8_a = utf8_of_datum(PG_GETARG_DATUM(0));
	Utf8Text utf8_b = utf8_of_datum(PG_GETARG_DATUM(1));
	ShownShingles shown_a;
	ShownShingles shown_b;
	size_t i;

	begin_rows(fcinfo);
	check_shown(shingles_to_show(utf8_a.bytes, utf8_a.length, scheme, &shown_a));
	check_shown(shingles_to_show(utf8_b.bytes, utf8_b.length, scheme, &shown_b));
	for (i = 0; i < shown_a.count; i++)
	{
		const ShownShingle *in_a = &shown_a.shingle[i];
		const ShownShingle *in_b = shown_find(&shown_b, in_a->hash);

		CHECK_FOR_INTERRUPTS();
		if (in_b)
			show_put_row(fcinfo, &shown_a, i, Int32GetDatum((int32) in_a->count),
						 Int32GetDatum((int32) in_b->count));
	}
	shown_free(&shown_a);
	shown_free(&shown_b);
	utf8_free(&utf8_a);
	utf8_free(&utf8_b);
	return (Datum) 0;
}

/* show_weights(text, lexicon shingle_lexicon) returns SETOF (shingle text, weight int, hash bigint) */
PG_FUNCTION_INFO_V1(neardup_show_weights);
Datum
neardup_show_weights(PG_FUNCTION_ARGS)
{
	const ReadyLexicon *lexicon = text_lexicon_of_argument(fcinfo, 1);
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	ShownShingles shown;

	begin_rows(fcinfo);
	check_shown(shingles_to_show(utf8.bytes, utf8.length, lexicon->scheme, &shown));
	put_shown(fcinfo, &shown, &lexicon->weights);
	utf8_free(&utf8);
	return (Datum) 0;
}

/* ---- Signatures --------------------------------------------------------- */

/* show_signature(minhash) returns text; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_show_signature);
Datum
neardup_show_signature(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	FormWriter out = {0};
	char *digits;

	signature_print(&out, &signature);
	digits = strrchr(out.bytes, '/') + 1;
	if (strlen(digits) > 2 * SHOWN_SYMBOL_BYTES)
		strcpy(digits + 2 * SHOWN_SYMBOL_BYTES, "...");
	PG_RETURN_TEXT_P(cstring_to_text(out.bytes));
}
