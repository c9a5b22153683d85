/*
 * lexicon_type.c: the type shingle_lexicon as a datum, as text and in binary format
 * (sketch/lexicon_forms.c).
 */
#include "types/lexicon_type.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "types/read.h"

/* ---- The datum ---------------------------------------------------------- */

static size_t
lexicon_size(size_t count)
{
	return offsetof(LexiconValue, key) + count * (sizeof(uint32) + sizeof(uint8));
}

/* Returns where the weights are. */
static uint8 *
lexicon_weights(const LexiconValue *lexicon)
{
	return (uint8 *) (lexicon->key + lexicon->count);
}

/* Returns the digest of a value's contents. */
static uint64
digest_of(const LexiconValue *lexicon)
{
	return weights_digest(lexicon->scheme, lexicon->documents, lexicon->key,
						  lexicon_weights(lexicon), lexicon->count);
}

/* Returns a new value of these parts. */
LexiconValue *
lexicon_of_parts(const LexiconParts *parts)
{
	size_t size = lexicon_size(parts->count);
	LexiconValue *lexicon = palloc0(size);

	SET_VARSIZE(lexicon, size);
	lexicon->layout = LEXICON_LAYOUT;
	lexicon->version = parts->version;
	lexicon->scheme = parts->scheme;
	lexicon->count = parts->count;
	lexicon->documents = parts->documents;
	memcpy(lexicon->key, parts->key, parts->count * sizeof(uint32));
	memcpy(lexicon_weights(lexicon), parts->weight, parts->count);
	lexicon->digest = digest_of(lexicon);
	return lexicon;
}

/* Returns the parts of a value, which point into it. */
static LexiconParts
parts_of(const LexiconValue *lexicon)
{
	return (LexiconParts){.version = lexicon->version,
						  .scheme = lexicon->scheme,
						  .documents = lexicon->documents,
						  .count = lexicon->count,
						  .key = (uint32 *) lexicon->key,
						  .weight = lexicon_weights(lexicon)};
}

/* Returns whether a value's entries, whose number fits its size, are in order. */
static bool
entries_are_valid(const LexiconValue *lexicon)
{
	LexiconParts parts = parts_of(lexicon);

	return lexicon_is_ordered(&parts);
}

/* Throws an error unless all of a detoasted value is valid. */
static void
check_lexicon(const LexiconValue *lexicon)
{
	CHECK_FOR_INTERRUPTS();
	if (VARSIZE(lexicon) < offsetof(LexiconValue, key) || lexicon->layout != LEXICON_LAYOUT ||
		lexicon->version == 0 || lexicon->reserved != 0 || lexicon->count > LEXICON_ENTRIES_MAX ||
		!lexicon_weighs(lexicon->version, lexicon->scheme) ||
		VARSIZE(lexicon) != lexicon_size(lexicon->count) || !entries_are_valid(lexicon) ||
		lexicon->digest != digest_of(lexicon))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("lexicon value is corrupt")));
}

/* Detoasts a value and checks it. */
static LexiconValue *
lexicon_of_datum(Datum datum)
{
	LexiconValue *lexicon = (LexiconValue *) PG_DETOAST_DATUM(datum);

	check_lexicon(lexicon);
	return lexicon;
}

/* ---- Arguments ---------------------------------------------------------- */

/* Throws an error if a lexicon is of a later recipe. */
static void
lexicon_check_recipe(const LexiconValue *lexicon)
{
	if (lexicon->version != RECIPE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use a lexicon of recipe version %d", lexicon->version),
				 errdetail("This release of neardup knows recipe version %d.", RECIPE_VERSION),
				 errhint("Make the lexicon again with neardup_lexicon().")));
}

/* Makes a lexicon ready, of which it keeps a copy. */
static void
make_ready(ReadyLexicon *ready, const LexiconValue *lexicon)
{
	MemoryContext old;
	LexiconValue *copy;

	lexicon_check_recipe(lexicon);
	ready->value = NULL;
	MemoryContextReset(ready->context);
	old = MemoryContextSwitchTo(ready->context);
	copy = palloc(VARSIZE(lexicon));
	memcpy(copy, lexicon, VARSIZE(lexicon));
	weights_begin(&ready->weights, copy->key, lexicon_weights(copy), copy->count);
	MemoryContextSwitchTo(old);
	ready->scheme = copy->scheme;
	ready->weighed = lexicon_weighed_scheme(copy->scheme, copy->digest);
	ready->value = copy;
}

/*
 * Notes where a lexicon is stored out of line, or whether it is.  Within a statement, what
 * is stored there does not change: its position is not used again before the counter of OIDs
 * has gone round.
 */
static void
note_position(ReadyLexicon *ready, const struct varlena *stored)
{
	ready->stored = VARATT_IS_EXTERNAL_ONDISK(stored);
	ready->statement = GetCurrentStatementStartTimestamp();
	if (ready->stored)
		VARATT_EXTERNAL_GET_POINTER(ready->position, stored);
}

/* Returns whether a value is the ready one, as its position shows. */
static bool
is_in_place(const ReadyLexicon *ready, const struct varlena *stored)
{
	struct varatt_external position;

	if (!ready->stored || !VARATT_IS_EXTERNAL_ONDISK(stored) ||
		ready->statement != GetCurrentStatementStartTimestamp())
		return false;
	VARATT_EXTERNAL_GET_POINTER(position, stored);
	return memcmp(&position, &ready->position, sizeof(position)) == 0;
}

/*
 * Returns the lexicon in argument n, and remembers the last one from call to call.  Throws
 * an error if it is of a later recipe.
 */
const ReadyLexicon *
lexicon_of_argument(FunctionCallInfo fcinfo, int n)
{
	FmgrInfo *function = fcinfo->flinfo;
	ReadyLexicon *ready = function->fn_extra;
	Datum datum = PG_GETARG_DATUM(n);
	LexiconValue *lexicon;

	if (ready == NULL)
	{
		ready = MemoryContextAllocZero(function->fn_mcxt, sizeof(ReadyLexicon));
		ready->context =
			AllocSetContextCreate(function->fn_mcxt, "neardup lexicon", ALLOCSET_DEFAULT_SIZES);
		function->fn_extra = ready;
	}
	if (ready->value != NULL &&
		(is_constant_argument(function, n) ||
		 is_in_place(ready, (struct varlena *) DatumGetPointer(datum))))
		return ready;
	lexicon = (LexiconValue *) PG_DETOAST_DATUM(datum);
	/* An equal value is as valid as the ready one. */
	if (ready->value == NULL || VARSIZE(lexicon) != VARSIZE(ready->value) ||
		memcmp(lexicon, ready->value, VARSIZE(lexicon)) != 0)
	{
		check_lexicon(lexicon);
		make_ready(ready, lexicon);
	}
	note_position(ready, (struct varlena *) DatumGetPointer(datum));
	if ((Pointer) lexicon != DatumGetPointer(datum))
		pfree(lexicon);
	return ready;
}

/*
 * Returns the lexicon in argument n, as lexicon_of_argument() does; throws an error unless it
 * weighs the shingles of a text.
 */
const ReadyLexicon *
text_lexicon_of_argument(FunctionCallInfo fcinfo, int n)
{
	const ReadyLexicon *ready = lexicon_of_argument(fcinfo, n);
	char name[SCHEME_NAME_SIZE];

	scheme_name(ready->scheme, name);
	if (!scheme_reads_text(ready->scheme))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a lexicon of scheme \"%s\" does not weigh texts", name),
				 errhint("Use weigh(to_shingles(...), lexicon).")));
	return ready;
}

/* ---- Text and binary format ---------------------------------------------- */

/* shingle_lexicon_in(cstring) returns shingle_lexicon */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_in);
Datum
neardup_shingle_lexicon_in(PG_FUNCTION_ARGS)
{
	FormReader reader = text_reader(fcinfo);
	LexiconParts parts;

	if (!lexicon_parse(&reader, &parts))
		return text_refuse(fcinfo, &reader, "shingle_lexicon");
	PG_RETURN_POINTER(lexicon_of_parts(&parts));
}

/* shingle_lexicon_out(shingle_lexicon) returns cstring */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_out);
Datum
neardup_shingle_lexicon_out(PG_FUNCTION_ARGS)
{
	LexiconValue *lexicon = lexicon_of_datum(PG_GETARG_DATUM(0));
	LexiconParts parts = parts_of(lexicon);
	FormWriter out = {0};

	lexicon_print(&out, &parts);
	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_CSTRING(out.bytes);
}

/* shingle_lexicon_recv(internal) returns shingle_lexicon */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_recv);
Datum
neardup_shingle_lexicon_recv(PG_FUNCTION_ARGS)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	FormReader reader = message_reader(message);
	LexiconParts parts;

	if (!lexicon_receive(&reader, &parts))
		message_refuse(message, &reader, "shingle_lexicon");
	message_end(message, &reader);
	PG_RETURN_POINTER(lexicon_of_parts(&parts));
}

/* shingle_lexicon_send(shingle_lexicon) returns bytea */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_send);
Datum
neardup_shingle_lexicon_send(PG_FUNCTION_ARGS)
{
	LexiconValue *lexicon = lexicon_of_datum(PG_GETARG_DATUM(0));
	LexiconParts parts = parts_of(lexicon);
	FormWriter out;

	send_begin(&out);
	lexicon_send(&out, &parts);
	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_BYTEA_P(send_end(&out));
}

/* ---- Showing ------------------------------------------------------------ */

/* lexicon_info(shingle_lexicon) returns (scheme text, documents bigint, entries int, left_out int) */
PG_FUNCTION_INFO_V1(neardup_lexicon_info);
Datum
neardup_lexicon_info(PG_FUNCTION_ARGS)
{
	LexiconValue *lexicon = lexicon_of_datum(PG_GETARG_DATUM(0));
	const uint8 *weight = lexicon_weights(lexicon);
	char name[SCHEME_NAME_SIZE];
	Datum values[4];
	bool nulls[4] = {false};
	int32 left_out = 0;

	for (uint32 i = 0; i < lexicon->count; i++)
		left_out += weight[i] == 0;
	scheme_name(lexicon_weighed_scheme(lexicon->scheme, lexicon->digest), name);
	values[0] = CStringGetTextDatum(name);
	values[1] = Int64GetDatum((int64) lexicon->documents);
	values[2] = Int32GetDatum((int32) lexicon->count);
	values[3] = Int32GetDatum(left_out);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_row(fcinfo), values, nulls)));
}
