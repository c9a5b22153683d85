/*
 * arguments.c: text, scheme names and arguments, on their way from SQL to the
 * plain C layers and back.
 */
#include "sql/sql.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "text/utf8.h"

/* How many hashes are handed on at once. */
#define HASH_BATCH 256

static void
refuse_high_bytes(const char *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
	{
		if (IS_HIGHBIT_SET(bytes[i]))
			ereport(ERROR,
					(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
					 errmsg("cannot tell what byte 0x%02x means in encoding SQL_ASCII",
							(unsigned char) bytes[i]),
					 errdetail("The text has it at offset %zu; only ASCII has a meaning in a SQL_ASCII database.",
							   i),
					 errhint("Use a database of encoding UTF8, or one of the encoding in which the text is written.")));
	}
}

Utf8Text
utf8_of_datum(Datum datum)
{
	Utf8Text utf8 = {0};
	text *detoasted = DatumGetTextPP(datum);

	if ((Pointer) detoasted != DatumGetPointer(datum))
		utf8.detoasted = detoasted;
	utf8.bytes = VARDATA_ANY(detoasted);
	utf8.length = VARSIZE_ANY_EXHDR(detoasted);

	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		refuse_high_bytes(utf8.bytes, utf8.length);
	else if (GetDatabaseEncoding() != PG_UTF8 && utf8.length > 0)
	{
		utf8.converted = pg_server_to_any(utf8.bytes, (int) utf8.length, PG_UTF8);
		utf8.bytes = utf8.converted;
		utf8.length = strlen(utf8.converted);
	}
	return utf8;
}

void
utf8_free(Utf8Text *utf8)
{
	if (utf8->converted)
		pfree(utf8->converted);
	if (utf8->detoasted)
		pfree(utf8->detoasted);
}

/* What other encodings lack is an error of their conversion. */
static void
refuse_unknown_to_ascii(const char *utf8, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
	{
		uint32_t character;

		if (!IS_HIGHBIT_SET(utf8[i]))
			continue;
		utf8_decode((const uint8_t *) utf8 + i, length - i, &character);
		ereport(ERROR,
				(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
				 errmsg("character U+%04X has no equivalent in encoding SQL_ASCII",
						(unsigned) character),
				 errdetail("Only ASCII has a meaning in a SQL_ASCII database."),
				 errhint("Use a database of encoding UTF8, or one of an encoding that has the character.")));
	}
}

text *
text_of_utf8(const char *utf8, size_t length)
{
	char *converted;
	text *result;

	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		refuse_unknown_to_ascii(utf8, length);
	if (length == 0 || GetDatabaseEncoding() == PG_UTF8)
		return cstring_to_text_with_len(utf8, (int) length);
	converted = (char *) pg_do_encoding_conversion((unsigned char *) utf8, (int) length, PG_UTF8,
												   GetDatabaseEncoding());
	if (converted == utf8)
		return cstring_to_text_with_len(utf8, (int) length);
	result = cstring_to_text(converted);
	pfree(converted);
	return result;
}

SchemeId
text_scheme_of_datum(Datum datum)
{
	text *name = DatumGetTextPP(datum);
	SchemeId scheme;

	if (!scheme_parse(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &scheme) ||
		!scheme_is_valid(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown shingling scheme \"%s\"", text_to_cstring(name)),
				 errhint("The schemes are \"word W\", \"char K\" and \"stopword W\", with a width from 1 to %d, and \"spot D C\", with a distance and a chain from 1 to %d, such as \"word 3\" or \"spot 1 2 de\".",
						 SCHEME_WIDTH_MAX, SPOT_MAX)));
	if (SCHEME_KIND(scheme) == SCHEME_SPOT && !scheme_reads_text(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" reads text only with its lists", text_to_cstring(name)),
				 errhint("Give \"spot D C\" and the lists to to_shingles(text, scheme, antecedents, stopwords).")));
	if (!scheme_reads_text(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" does not read text", text_to_cstring(name)),
				 errhint("The schemes that read text are \"word W\", \"char K\", \"stopword W\" and \"spot D C\", such as \"word 3\".")));
	if ((Pointer) name != DatumGetPointer(datum))
		pfree(name);
	return scheme;
}

bool
recipe_has_scheme(int version, SchemeId scheme)
{
	return version > RECIPE_VERSION || scheme_is_valid(scheme);
}

void
check_same_recipe(const char *type, int version_x, SchemeId scheme_x, int version_y,
				  SchemeId scheme_y)
{
	char name_x[SCHEME_NAME_SIZE];
	char name_y[SCHEME_NAME_SIZE];

	if (version_x == version_y && scheme_x == scheme_y)
		return;
	scheme_name(scheme_x, name_x);
	scheme_name(scheme_y, name_y);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("cannot compare %s of different %s", type,
					version_x == version_y ? "schemes" : "recipes"),
			 errdetail("The first is of scheme \"%s\" (recipe %d), the second of scheme \"%s\" (recipe %d).",
					   name_x, version_x, name_y, version_y),
			 version_x == version_y ?
				 errhint("Make one of them anew with the scheme of the other.") :
				 errhint("Make the one of the older recipe anew.")));
}

bool
check_threshold(double threshold, Node *context)
{
	/* Written so that NaN is refused. */
	if (!(threshold > 0 && threshold <= 1))
		ereturn(context, false,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("threshold %s is out of range", float8out_internal(threshold)),
				 errhint("A threshold is a similarity above 0 and at most 1.")));
	return true;
}

void
hashes_in_batches(const uint64_t *hashes, size_t count, HashSink sink, void *state)
{
	size_t done;

	for (done = 0; done < count; done += HASH_BATCH)
	{
		host_check_interrupts();
		sink(state, hashes + done, Min(HASH_BATCH, count - done));
	}
}

/* How many elements a plain array has; an error for any other. */
static int
count_of_array(ArrayType *array)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of elements must have one dimension, not %d", ARR_NDIM(array)),
				 errhint("Flatten it: ARRAY(SELECT unnest(...)).")));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of elements must not contain nulls"),
				 errhint("Leave them out: array_remove(..., NULL).")));
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

void
hashes_of_text_array(ArrayType *array, HashSink sink, void *state)
{
	int count = count_of_array(array);
	const char *element = ARR_DATA_PTR(array);
	uint64_t hash[HASH_BATCH];
	int filled = 0;
	int i;

	for (i = 0; i < count; i++)
	{
		Utf8Text utf8 = utf8_of_datum(PointerGetDatum(element));

		hash[filled++] = shingle_of_token(utf8.bytes, utf8.length);
		utf8_free(&utf8);
		element = att_addlength_pointer(element, -1, element);
		element = (const char *) att_align_nominal(element, TYPALIGN_INT);
		if (filled == HASH_BATCH || i == count - 1)
		{
			host_check_interrupts();
			sink(state, hash, filled);
			filled = 0;
		}
	}
}

void
hashes_of_int8_array(ArrayType *array, HashSink sink, void *state)
{
	int count = count_of_array(array);

	hashes_in_batches((const uint64_t *) ARR_DATA_PTR(array), count, sink, state);
}

/* ---- Results ------------------------------------------------------------- */

void
begin_rows(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old_context;
	TupleDesc row_type;

	if (!result || !IsA(result, ReturnSetInfo) || !(result->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	old_context = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	result->returnMode = SFRM_Materialize;
	result->setResult =
		tuplestore_begin_heap(result->allowedModes & SFRM_Materialize_Random, false, work_mem);
	result->setDesc = CreateTupleDescCopy(row_type);
	MemoryContextSwitchTo(old_context);
}

ArrayType *
int8_array(const int64 *number, size_t count)
{
	size_t bytes = count * sizeof(int64);
	ArrayType *array;

	if (count == 0)
		return construct_empty_array(INT8OID);
	array = palloc(ARR_OVERHEAD_NONULLS(1) + bytes);
	SET_VARSIZE(array, ARR_OVERHEAD_NONULLS(1) + bytes);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = INT8OID;
	ARR_DIMS(array)[0] = (int) count;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), number, bytes);
	return array;
}
