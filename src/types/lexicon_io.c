/*
 * lexicon_io.c: the type shingle_lexicon as a datum, as text and in binary format.
 *
 * Text: VERSION/SCHEME/DOCUMENTS/{KEY:WEIGHT,...}, the keys ascending, such as
 * 1/word 1/63905/{17:3,4000000000:0}.
 *
 * Binary format, big-endian: layout (1 byte), version (1), reserved (2), scheme (4), count
 * (4), documents (8), then the keys (4 each) and the weights (1 each).
 */
#include "types/lexicon.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "types/read.h"

/* ---- The datum ---------------------------------------------------------- */

static size_t
lexicon_size(size_t count)
{
	return offsetof(LexiconValue, key) + count * (sizeof(uint32) + sizeof(uint8));
}

/* Returns a new value without its digest, whose keys and weights the caller fills in. */
LexiconValue *
lexicon_alloc(int version, SchemeId scheme, uint64 documents, uint32 count)
{
	size_t size = lexicon_size(count);
	LexiconValue *lexicon = palloc0(size);

	SET_VARSIZE(lexicon, size);
	lexicon->layout = LEXICON_LAYOUT;
	lexicon->version = (uint8) version;
	lexicon->scheme = scheme;
	lexicon->count = count;
	lexicon->documents = documents;
	return lexicon;
}

/* Returns where the weights are. */
uint8 *
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

/* Sets the digest. */
void
lexicon_seal(LexiconValue *lexicon)
{
	lexicon->digest = digest_of(lexicon);
}

/* Returns the scheme of the shingles that a lexicon has weighed. */
SchemeId
lexicon_weighed_scheme(SchemeId scheme, uint64 digest)
{
	return scheme | (SchemeId) (digest % 65535 + 1);
}

/* May a lexicon of this recipe version weigh shingles of this scheme? */
static bool
weighs_scheme(int version, SchemeId scheme)
{
	return version > RECIPE_VERSION ||
		(scheme_is_valid(scheme) && scheme_has_lexicons(scheme) && SCHEME_VARIANT(scheme) == 0);
}

/* Are keys ascending, and weights below WEIGHT_MAX? */
static bool
entries_are_valid(const LexiconValue *lexicon)
{
	const uint8 *weight = lexicon_weights(lexicon);

	for (uint32 i = 0; i < lexicon->count; i++)
		if (weight[i] >= WEIGHT_MAX || (i > 0 && lexicon->key[i] <= lexicon->key[i - 1]))
			return false;
	return true;
}

/* Throws an error unless all of a detoasted value is valid. */
static void
check_lexicon(const LexiconValue *lexicon)
{
	CHECK_FOR_INTERRUPTS();
	if (VARSIZE(lexicon) < offsetof(LexiconValue, key) || lexicon->layout != LEXICON_LAYOUT ||
		lexicon->version == 0 || lexicon->reserved != 0 || lexicon->count > LEXICON_ENTRIES_MAX ||
		!weighs_scheme(lexicon->version, lexicon->scheme) ||
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
check_recipe(const LexiconValue *lexicon)
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

	check_recipe(lexicon);
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
 * is stored there does not change: its place is not used again before the counter of OIDs
 * has gone round.
 */
static void
note_place(ReadyLexicon *ready, const struct varlena *stored)
{
	ready->stored = VARATT_IS_EXTERNAL_ONDISK(stored);
	ready->statement = GetCurrentStatementStartTimestamp();
	if (ready->stored)
		VARATT_EXTERNAL_GET_POINTER(ready->place, stored);
}

/* Is a value the ready one, as its place shows? */
static bool
is_in_place(const ReadyLexicon *ready, const struct varlena *stored)
{
	struct varatt_external place;

	if (!ready->stored || !VARATT_IS_EXTERNAL_ONDISK(stored) ||
		ready->statement != GetCurrentStatementStartTimestamp())
		return false;
	VARATT_EXTERNAL_GET_POINTER(place, stored);
	return memcmp(&place, &ready->place, sizeof(place)) == 0;
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
	note_place(ready, (struct varlena *) DatumGetPointer(datum));
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

/* ---- Text --------------------------------------------------------------- */

/* Reads KEY:WEIGHT; i is its number. */
static bool
read_entry(TextReader *reader, LexiconValue *lexicon, uint32 i)
{
	const char *start;
	uint64 key;
	uint64 weight;

	if (i > 0 && !read_char(reader, ','))
		return false;
	start = reader->at;
	if (!read_number(reader, 0, PG_UINT32_MAX, "Expected a key of 32 bits at character %zu.", &key))
		return false;
	if (i > 0 && key <= lexicon->key[i - 1])
	{
		reader->at = start;
		return read_expected(reader,
							 "Expected a key greater than the one before it at character %zu.");
	}
	if (!read_char(reader, ':') ||
		!read_number(reader, 0, WEIGHT_MAX - 1, "Expected a weight from 0 to 14 at character %zu.",
					 &weight))
		return false;
	lexicon->key[i] = (uint32) key;
	lexicon_weights(lexicon)[i] = (uint8) weight;
	return true;
}

/* Returns how many entries a text can have: one more than it has commas, or none. */
static uint32
count_entries(const char *text)
{
	uint32 count = *text != '}';

	for (; count <= LEXICON_ENTRIES_MAX && (text = strchr(text, ',')) != NULL; text++)
		count++;
	return count;
}

/* Reads the entries to the closing brace. */
static bool
read_entries(TextReader *reader, LexiconValue *lexicon)
{
	for (uint32 i = 0; i < lexicon->count; i++)
	{
		host_check_interrupts_at(i);
		if (!read_entry(reader, lexicon, i))
			return false;
	}
	return read_char(reader, '}') &&
		(*reader->at == '\0' ||
		 read_expected(reader, "Expected the end of the text at character %zu."));
}

/* shingle_lexicon_in(cstring) returns shingle_lexicon */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_in);
Datum
neardup_shingle_lexicon_in(PG_FUNCTION_ARGS)
{
	TextReader reader = text_reader(fcinfo, "shingle_lexicon");
	LexiconValue *lexicon;
	uint8 version;
	SchemeId scheme;
	uint64 documents;
	uint32 count;

	reader.strict = true;
	if (reader.at[strspn(reader.at, "0123456789")] != '/')
	{
		read_invalid(&reader,
					 "It begins with a recipe version and a scheme, such as \"1/word 1/\".  "
					 "neardup_lexicon(query) makes a lexicon.");
		PG_RETURN_NULL();
	}
	if (!read_recipe(&reader, &version, &scheme))
		PG_RETURN_NULL();
	if (!weighs_scheme(version, scheme))
	{
		read_invalid(&reader, "A lexicon has a scheme such as \"word 1\".");
		PG_RETURN_NULL();
	}
	if (!read_number(&reader, 0, PG_INT64_MAX, "Expected a number of documents at character %zu.",
					 &documents) ||
		!read_char(&reader, '/') || !read_char(&reader, '{'))
		PG_RETURN_NULL();
	count = count_entries(reader.at);
	if (count > LEXICON_ENTRIES_MAX)
	{
		read_invalid(&reader, psprintf("It has more than %d entries.", LEXICON_ENTRIES_MAX));
		PG_RETURN_NULL();
	}
	lexicon = lexicon_alloc(version, scheme, documents, count);
	if (!read_entries(&reader, lexicon))
		PG_RETURN_NULL();
	lexicon_seal(lexicon);
	PG_RETURN_POINTER(lexicon);
}

/* shingle_lexicon_out(shingle_lexicon) returns cstring */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_out);
Datum
neardup_shingle_lexicon_out(PG_FUNCTION_ARGS)
{
	LexiconValue *lexicon = lexicon_of_datum(PG_GETARG_DATUM(0));
	const uint8 *weight = lexicon_weights(lexicon);
	char name[SCHEME_NAME_SIZE];
	StringInfoData out;

	initStringInfo(&out);
	scheme_name(lexicon->scheme, name);
	appendStringInfo(&out, "%d/%s/" UINT64_FORMAT "/{", lexicon->version, name, lexicon->documents);
	for (uint32 i = 0; i < lexicon->count; i++)
	{
		host_check_interrupts_at(i);
		appendStringInfo(&out, "%s%u:%d", i > 0 ? "," : "", lexicon->key[i], weight[i]);
	}
	appendStringInfoChar(&out, '}');
	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_CSTRING(out.data);
}

/* ---- Binary format ------------------------------------------------------ */

/* shingle_lexicon_recv(internal) returns shingle_lexicon */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_recv);
Datum
neardup_shingle_lexicon_recv(PG_FUNCTION_ARGS)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	int layout = pq_getmsgbyte(message);
	int version = pq_getmsgbyte(message);
	int reserved = pq_getmsgint(message, sizeof(uint16));
	SchemeId scheme = pq_getmsgint(message, sizeof(uint32));
	uint32 count = pq_getmsgint(message, sizeof(uint32));
	uint64 documents = pq_getmsgint64(message);
	LexiconValue *lexicon;

	if (layout != LEXICON_LAYOUT || reserved != 0)
		binary_invalid("shingle_lexicon", "The layout is of another version.");
	binary_check_recipe("shingle_lexicon", version, scheme);
	if (!weighs_scheme(version, scheme))
		binary_invalid("shingle_lexicon", "It has a scheme that lexicons do not weigh.");
	if (documents > PG_INT64_MAX)
		binary_invalid("shingle_lexicon", "The number of documents is out of range.");
	if (count > LEXICON_ENTRIES_MAX ||
		message->len - message->cursor != lexicon_size(count) - lexicon_size(0))
		binary_invalid("shingle_lexicon", "The length does not fit the number of entries.");
	lexicon = lexicon_alloc(version, scheme, documents, count);
	for (uint32 i = 0; i < count; i++)
		lexicon->key[i] = pq_getmsgint(message, sizeof(uint32));
	pq_copymsgbytes(message, (char *) lexicon_weights(lexicon), count);
	if (!entries_are_valid(lexicon))
		binary_invalid("shingle_lexicon", "The keys are not ascending, or a weight is above 14.");
	lexicon_seal(lexicon);
	PG_RETURN_POINTER(lexicon);
}

/* shingle_lexicon_send(shingle_lexicon) returns bytea */
PG_FUNCTION_INFO_V1(neardup_shingle_lexicon_send);
Datum
neardup_shingle_lexicon_send(PG_FUNCTION_ARGS)
{
	LexiconValue *lexicon = lexicon_of_datum(PG_GETARG_DATUM(0));
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendbyte(&message, lexicon->layout);
	pq_sendbyte(&message, lexicon->version);
	pq_sendint16(&message, lexicon->reserved);
	pq_sendint32(&message, lexicon->scheme);
	pq_sendint32(&message, lexicon->count);
	pq_sendint64(&message, lexicon->documents);
	for (uint32 i = 0; i < lexicon->count; i++)
		pq_sendint32(&message, lexicon->key[i]);
	pq_sendbytes(&message, (const char *) lexicon_weights(lexicon), lexicon->count);
	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
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
