/*
 * sql.c: what all files that face PostgreSQL share: texts, schemes, arguments, results and
 * errors of SQL functions.
 */
#include "sql/sql.h"

#include <ctype.h>
#include <math.h>

#include "access/tupmacs.h"
#include "access/xact.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "text/utf8.h"

/* How many hashes a sink is given at once. */
#define HASH_BATCH 256

/* ---- Texts --------------------------------------------------------------- */

/* Throws an error for the first byte above 0x7F. */
static void
refuse_high_bytes(const char *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
	{
		if (IS_HIGHBIT_SET(bytes[i]))
			ereport(ERROR,
					(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
					 errmsg("byte 0x%02x has no meaning in encoding SQL_ASCII",
							(unsigned char) bytes[i]),
					 errdetail("The byte is at offset %zu of the text. A SQL_ASCII database knows the meaning of ASCII only.",
							   i),
					 errhint("Use a database with encoding UTF8, or with the encoding of the text.")));
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

void
refuse_long_texts(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("texts are too long to compare"),
			 errdetail("Together they have more than %d symbols.", PG_INT32_MAX - 1),
			 errhint("Compare parts of the texts, or their shingles.")));
}

/* Throws an error for the first character that is not ASCII. */
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
				 errdetail("A SQL_ASCII database knows the meaning of ASCII only."),
				 errhint("Use a database with encoding UTF8, or with an encoding that has the character.")));
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

/* ---- Schemes and recipes ------------------------------------------------- */

/* Adds a hint for the name of a scheme that does not exist.  Drivers send a number so, if they do not know its type. */
static int
hint_at_scheme(const char *name)
{
	if (*name == '\0' || name[strspn(name, "0123456789")] != '\0')
		return errhint("Use a scheme such as \"word 3\" or \"spot 1 2 de\".");
	return errhint("Use a scheme such as \"word 3\", or name the argument, as in to_minhash(text, k => %s).",
				   name);
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
				 errdetail("The schemes are \"word W\", \"char K\", \"anychar K\" and \"stopword W\", with a width from 1 to %d, and \"spot D C\", with a distance and a chain from 1 to %d.",
						   SCHEME_WIDTH_MAX, SPOT_MAX),
				 hint_at_scheme(text_to_cstring(name))));
	if (SCHEME_KIND(scheme) == SCHEME_SPOT && !scheme_reads_text(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" reads text only with its lists", text_to_cstring(name)),
				 errhint("Pass \"spot D C\" and the lists to to_shingles(text, scheme, antecedents, stopwords).")));
	if (scheme_lexicon(scheme) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" reads text only with its lexicon", text_to_cstring(name)),
				 errhint("Use to_minhash(text, lexicon => ...), or weigh(to_shingles(...), lexicon).")));
	if (!scheme_reads_text(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" does not read text", text_to_cstring(name)),
				 errdetail("The schemes that read text are \"word W\", \"char K\", \"anychar K\", \"stopword W\" and \"spot D C\"."),
				 errhint("Use a scheme such as \"word 3\".")));
	if ((Pointer) name != DatumGetPointer(datum))
		pfree(name);
	return scheme;
}

/* What fn_extra remembers of the last scheme argument. */
typedef struct SchemeCache
{
	SchemeId scheme;
	size_t length;
	char name[SCHEME_NAME_SIZE];
} SchemeCache;

SchemeId
text_scheme_of_argument(FunctionCallInfo fcinfo, int n)
{
	text *name = PG_GETARG_TEXT_PP(n);
	size_t length = VARSIZE_ANY_EXHDR(name);
	SchemeCache *cache = fcinfo->flinfo->fn_extra;
	SchemeId scheme;

	if (cache != NULL && cache->length == length &&
		memcmp(cache->name, VARDATA_ANY(name), length) == 0)
		return cache->scheme;
	scheme = text_scheme_of_datum(PointerGetDatum(name));
	if (length > SCHEME_NAME_SIZE)
		return scheme;
	if (cache == NULL)
		cache = fcinfo->flinfo->fn_extra =
			MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(SchemeCache));
	cache->scheme = scheme;
	cache->length = length;
	memcpy(cache->name, VARDATA_ANY(name), length);
	return scheme;
}

/* Adds one word; returns false for anything else. */
typedef bool (*AddWord)(SpotWords *words, const char *utf8, size_t length);

/* Adds all words of a text[], which errors call names; detail says what a word is. */
static void
add_words(SpotWords *words, Datum datum, AddWord add, const char *names, const char *detail)
{
	ArrayType *array = DatumGetArrayTypeP(datum);
	Datum *element;
	int count;
	int i;

	check_no_nulls(array, names);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &element, NULL, &count);
	for (i = 0; i < count; i++)
	{
		Utf8Text utf8 = utf8_of_datum(element[i]);

		if (!add(words, utf8.bytes, utf8.length))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" is not allowed in an array of %s",
							TextDatumGetCString(element[i]), names),
					 errdetail("%s", detail)));
		utf8_free(&utf8);
	}
	pfree(element);
	if ((Pointer) array != DatumGetPointer(datum))
		pfree(array);
}

SpotWords *
spot_words_of_arguments(FunctionCallInfo fcinfo, SchemeId *made)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(1));
	bool own_antecedents = !PG_ARGISNULL(2);
	bool own_stop_words = !PG_ARGISNULL(3);
	SpotWords *words;

	if (SCHEME_KIND(scheme) != SCHEME_SPOT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only spot signatures take lists of words"),
				 errhint("Use a scheme such as \"spot 1 2\".")));
	words = spot_words_begin(scheme, own_antecedents, own_stop_words);
	if (own_antecedents)
		add_words(words, PG_GETARG_DATUM(2), spot_words_add_antecedent, "antecedents",
				  "An antecedent is one token, as show_tokens() shows it, which may have a distance and a chain from 1 to 15, as in \"the(1,2)\".");
	if (own_stop_words)
		add_words(words, PG_GETARG_DATUM(3), spot_words_add_stop_word, "stop words",
				  "A stop word is one token, as show_tokens() shows it.");
	*made = spot_words_finish(words);
	return words;
}

bool
recipe_has_scheme(int version, SchemeId scheme)
{
	return version > RECIPE_VERSION || scheme_is_valid(scheme);
}

/* Does scheme_call() for a scheme with a lexicon. */
static const char *
lexicon_call(const char *function, const char *sizes, SchemeId scheme)
{
	SchemeId without = scheme - scheme_lexicon(scheme);
	const char *set = scheme_call("to_shingles", "", without);

	if (strcmp(function, "to_shingles") == 0)
		return psprintf("weigh(%s, lexicon) with lexicon %04x", set, scheme_lexicon(scheme));
	if (strcmp(function, "to_minhash") == 0 && scheme_reads_text(without))
		return psprintf("%s(text%s, lexicon => ...) with lexicon %04x", function, sizes,
						scheme_lexicon(scheme));
	return psprintf("%s(weigh(%s, lexicon)%s) with lexicon %04x", function, set, sizes,
					scheme_lexicon(scheme));
}

const char *
scheme_call(const char *function, const char *sizes, SchemeId scheme)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(scheme, name);
	if (scheme_reads_text(scheme))
		return psprintf("%s(text%s, scheme => '%s')", function, sizes, name);
	if (SCHEME_KIND(scheme) == SCHEME_WEIGHTED)
		return psprintf("%s(text[]%s, weights => ...)", function, sizes);
	if (scheme_lexicon(scheme) != 0)
		return lexicon_call(function, sizes, scheme);
	if (SCHEME_KIND(scheme) == SCHEME_TOKENS)
		return psprintf("%s(text[]%s)", function, sizes);
	if (SCHEME_KIND(scheme) == SCHEME_HASHES)
		return psprintf("%s(bigint[]%s)", function, sizes);
	return psprintf("%s(...%s) for scheme \"%s\"", function, sizes, name);
}

void
refuse_recipes(const char *type, int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y,
			   const char *call_x, const char *call_y)
{
	char name_x[SCHEME_NAME_SIZE];
	char name_y[SCHEME_NAME_SIZE];

	scheme_name(scheme_x, name_x);
	scheme_name(scheme_y, name_y);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 version_x == version_y ?
				 errmsg("cannot compare %s of different schemes", type) :
				 errmsg("cannot compare %s of different recipe versions", type),
			 errdetail("The first is of scheme \"%s\" (recipe %d), the second of scheme \"%s\" (recipe %d).",
					   name_x, version_x, name_y, version_y),
			 version_x == version_y ?
				 errhint("To match the first, use %s.  To match the second, use %s.", call_x,
						 call_y) :
				 errhint("Make the one of the earlier recipe version again.")));
}

void
check_same_recipe(int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y)
{
	if (version_x != version_y || scheme_x != scheme_y)
		refuse_recipes("shingles", version_x, scheme_x, version_y, scheme_y,
					   scheme_call("to_shingles", "", scheme_x),
					   scheme_call("to_shingles", "", scheme_y));
}

/* ---- Arguments ----------------------------------------------------------- */

bool
check_threshold(double threshold, Node *context)
{
	/* Written so that NaN is refused. */
	if (!(threshold > 0 && threshold <= 1))
		ereturn(context, false,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("threshold %s is out of range", float8out_internal(threshold)),
				 errdetail("A threshold is a similarity greater than 0 and at most 1."),
				 threshold >= 5 && threshold <= 100 ?
					 errhint("%g %% is written %g.", threshold, threshold / 100) :
					 0));
	return true;
}

int32
number_argument(FunctionCallInfo fcinfo, int n, const char *name, int32 most)
{
	int32 number = PG_GETARG_INT32(n);

	if (number < 1 || number > most)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s must be from 1 to %d, not %d", name, most, number)));
	return number;
}

double
share_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	double share = PG_GETARG_FLOAT8(n);

	/* NaN fails this comparison too. */
	if (!(share > 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"%s\" %s is out of range", name, float8out_internal(share)),
				 errdetail("It must be above 0 and at most 1.")));
	return share;
}

bool
is_constant_argument(const FmgrInfo *function, int n)
{
	List *arguments;

	if (!function->fn_expr || !IsA(function->fn_expr, FuncExpr))
		return false;
	arguments = ((FuncExpr *) function->fn_expr)->args;
	return list_length(arguments) > n && IsA(list_nth(arguments, n), Const);
}

void
check_no_nulls(ArrayType *array, const char *elements)
{
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of %s must not contain nulls", elements),
				 errhint("Remove them with array_remove(..., NULL).")));
}

int
array_count(ArrayType *array, const char *elements)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of %s must have one dimension, not %d", elements, ARR_NDIM(array)),
				 errhint("Flatten it with ARRAY(SELECT unnest(...)).")));
	check_no_nulls(array, elements);
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
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

void
hashes_of_text_array(ArrayType *array, HashSink sink, void *state)
{
	int count = array_count(array, "elements");
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
	int count = array_count(array, "elements");

	hashes_in_batches((const uint64_t *) ARR_DATA_PTR(array), count, sink, state);
}

const double *
weights_of_array(ArrayType *array, int count)
{
	const double *weight = (const double *) ARR_DATA_PTR(array);
	int weights = array_count(array, "weights");
	int i;

	if (weights != count)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("there must be one weight for each token"),
				 errdetail("The number of tokens is %d, and that of weights is %d.", count,
						   weights)));
	for (i = 0; i < count; i++)
		if (!isfinite(weight[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("weight %g is not a finite number", weight[i])));
	return weight;
}

/* ---- Results ------------------------------------------------------------- */

TupleDesc
result_row(FunctionCallInfo fcinfo)
{
	TupleDesc row;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(row);
}

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
array_header(ArrayType *array, Oid type, size_t size, size_t count)
{
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = type;
	ARR_DIMS(array)[0] = (int) count;
	ARR_LBOUND(array)[0] = 1;
	return array;
}

ArrayType *
make_array(Oid type, const void *elements, size_t bytes, size_t count)
{
	size_t size = ARR_OVERHEAD_NONULLS(1) + bytes;
	ArrayType *array;

	if (count == 0)
		return construct_empty_array(type);
	array = array_header(palloc(size), type, size, count);
	memcpy(ARR_DATA_PTR(array), elements, bytes);
	return array;
}

ArrayType *
int8_array(const int64 *number, size_t count)
{
	return make_array(INT8OID, number, count * sizeof(int64), count);
}

/* ---- Errors --------------------------------------------------------------- */

ErrorData *
catch_error(void (*function)(void *state), void *state)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		function(state);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* ---- Objects of this extension ------------------------------------------- */

Oid
extension_type(Oid function, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(get_func_namespace(function)));
}

Oid
extension_function(Oid function, const char *name, Oid first, Oid second)
{
	Oid argument[2] = {first, second};
	oidvector *arguments = buildoidvector(argument, lengthof(argument));
	Oid found =
		GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
						PointerGetDatum(arguments), ObjectIdGetDatum(get_func_namespace(function)));

	pfree(arguments);
	return found;
}

Oid
extension_operator(Oid function, const char *name, Oid left, Oid right)
{
	return GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(left), ObjectIdGetDatum(right),
						   ObjectIdGetDatum(get_func_namespace(function)));
}

bool
is_signature_type(Oid function, Oid type)
{
	return type == BITOID || type == INT8OID || type == extension_type(function, "minhash") ||
		type == extension_type(function, "simhash");
}
