/*
 * weigh.c: SQL functions that make lexicons and weigh shingles by them.
 */
#include "types/lexicon.h"
#include "types/query.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/sort.h"
#include "sketch/counts.h"

/* ---- Making a lexicon ---------------------------------------------------- */

/* A DestReceiver that counts in how many rows of a query each shingle is. */
typedef struct Reader
{
	DestReceiver pub;
	Oid type;        /* of the column: text or shingles */
	bool known;      /* is the scheme known? */
	SchemeId scheme; /* of the shingles */
	ElementCounts counts;
	MemoryContext context; /* of the counts */
} Reader;

/* Throws an error unless a lexicon can weigh shingles of a scheme. */
static void
check_scheme(SchemeId scheme)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(scheme, name);
	if (!scheme_has_lexicons(scheme) || SCHEME_VARIANT(scheme) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no lexicons of scheme \"%s\"", name),
				 errhint("Use a scheme such as \"word 1\".")));
}

static void
count_text(Reader *reader, Datum datum)
{
	Utf8Text utf8 = utf8_of_datum(datum);

	shingle_text(utf8.bytes, utf8.length, reader->scheme, counts_add, &reader->counts);
	utf8_free(&utf8);
}

static void
count_set(Reader *reader, Datum datum)
{
	Shingles *shingles = shingles_to_sketch(datum);

	if (!reader->known)
		check_scheme(shingles->scheme);
	if (reader->known && reader->scheme != shingles->scheme)
		check_same_recipe(RECIPE_VERSION, reader->scheme, RECIPE_VERSION, shingles->scheme);
	reader->scheme = shingles->scheme;
	reader->known = true;
	hashes_in_batches((const uint64_t *) shingles->element, shingles->count, counts_add,
					  &reader->counts);
	if ((Pointer) shingles != DatumGetPointer(datum))
		pfree(shingles);
}

/* Receives a row of the query. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Reader *reader = (Reader *) self;
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	if (slot->tts_isnull[0])
		return true;
	old = MemoryContextSwitchTo(reader->context);
	counts_next(&reader->counts);
	if (reader->type == TEXTOID)
		count_text(reader, slot->tts_values[0]);
	else
		count_set(reader, slot->tts_values[0]);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * Prepares a query of one column of texts or shingles; sets *type to TEXTOID or that of
 * shingles.
 */
static SPIPlanPtr
prepare(const char *query, Oid shingles, Oid *type)
{
	SPIPlanPtr plan =
		query_prepare("query", query, CURSOR_OPT_PARALLEL_OK, "SELECT body FROM documents");

	*type = query_column(plan);
	if (*type == VARCHAROID || *type == BPCHAROID)
		*type = TEXTOID;
	if (*type != TEXTOID && *type != shingles)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one column of type text or shingles"),
				 errhint("Write a query such as SELECT body FROM documents.")));
	return plan;
}

/* Returns the lexicon of what was counted. */
static LexiconValue *
lexicon_of_counts(ElementCounts *counts, SchemeId scheme, uint32 entries)
{
	uint64 documents = counts->documents;
	uint32 *key = palloc(sizeof(uint32) * entries);
	uint8 *weight = palloc(entries);
	LexiconValue *lexicon;
	uint32 count;

	if (documents < 2)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("query returned fewer than two documents"),
				 errdetail("The weight of a shingle is how few of many documents have it."),
				 errhint("Read more documents.")));
	count = counts_finish(counts, entries, key, weight);
	lexicon = lexicon_alloc(RECIPE_VERSION, scheme, documents, count);
	memcpy(lexicon->key, key, sizeof(uint32) * count);
	memcpy(lexicon_weights(lexicon), weight, count);
	lexicon_seal(lexicon);
	return lexicon;
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

/* neardup_lexicon(query text, scheme text, entries int) returns shingle_lexicon */
PG_FUNCTION_INFO_V1(neardup_lexicon);
Datum
neardup_lexicon(PG_FUNCTION_ARGS)
{
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int32 entries = number_argument(fcinfo, 2, "entries", LEXICON_ENTRIES_MAX);
	Oid shingles = extension_type(fcinfo->flinfo->fn_oid, "shingles");
	Reader reader = {.pub = query_receiver(NULL, receive_row),
					 .scheme = text_scheme_of_datum(PG_GETARG_DATUM(1)),
					 .context = CurrentMemoryContext};
	SPIPlanPtr plan;

	check_scheme(reader.scheme);
	counts_begin(&reader.counts, shingles_to_count(entries));
	SPI_connect();
	plan = prepare(query, shingles, &reader.type);
	compat_run_plan(plan, &reader.pub);
	SPI_finish();
	PG_RETURN_POINTER(lexicon_of_counts(&reader.counts, reader.scheme, entries));
}

/* ---- Weighing ------------------------------------------------------------ */

/* weigh(shingles, lexicon shingle_lexicon) returns shingles */
PG_FUNCTION_INFO_V1(neardup_weigh);
Datum
neardup_weigh(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_to_sketch(PG_GETARG_DATUM(0));
	const ReadyLexicon *lexicon = lexicon_of_argument(fcinfo, 1);
	char name[SCHEME_NAME_SIZE];
	char lexicon_name[SCHEME_NAME_SIZE];
	Bag bag = shingles_bag(shingles);
	Bag weighed;
	Shingles *result;

	scheme_name(shingles->scheme, name);
	scheme_name(lexicon->scheme, lexicon_name);
	if (shingles->scheme != lexicon->scheme)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot weigh shingles of scheme \"%s\" by a lexicon of scheme \"%s\"",
						name, lexicon_name),
				 errhint("Make the set with %s, or the lexicon of such sets.",
						 scheme_call("to_shingles", "", lexicon->scheme))));
	weighed = bag_weigh(&bag, &lexicon->weights);
	result = shingles_of_bag(&weighed, shingles->version, lexicon->weighed);
	bag_free(&weighed);
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_POINTER(result);
}

/* ---- Tokens with weights -------------------------------------------------- */

/* Weights are rounded to multiples of 1 / WEIGHT_STEPS. */
#define WEIGHT_STEPS 16

/* A token and its number of copies. */
typedef struct WeightedToken
{
	int64 element;
	uint64 copies;
} WeightedToken;

/* A SortKey. */
static inline uint64
token_key(const void *token)
{
	return sort_key_signed(&((const WeightedToken *) token)->element);
}

/* Returns how many copies a weight stands for. */
static uint64
copies_of_weight(double weight)
{
	if (weight < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("weight %g is negative", weight)));
	if (weight > (double) COPIES_MAX / WEIGHT_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("weight %g is out of range", weight),
				 errdetail("A weight is at most %d.", (int) (COPIES_MAX / WEIGHT_STEPS)),
				 errhint("Divide all weights by the same number.")));
	return (uint64) floor(weight * WEIGHT_STEPS + 0.5);
}

/* A HashSink that sets the elements of WeightedTokens; its state is the next of them. */
static void
set_elements(void *state, const uint64_t *hashes, size_t count)
{
	WeightedToken **next = state;

	for (size_t i = 0; i < count; i++)
		(*next)++->element = (int64) hashes[i];
}

/* Adds up equal tokens of a sorted array, and drops those without copies. */
static Bag
bag_of_tokens(const WeightedToken *token, int count)
{
	Bag bag = {.element = host_alloc((size_t) count * sizeof(int64) + 1),
			   .frequency = host_alloc((size_t) count * sizeof(uint32) + 1)};
	uint64 steps = 0;

	for (int i = 0; i < count;)
	{
		int64 element = token[i].element;
		uint64 copies = 0;

		host_check_interrupts_at(++steps);
		for (; i < count && token[i].element == element; i++)
			copies += token[i].copies;
		if (copies > COPIES_MAX)
			(void) copies_of_weight((double) copies / WEIGHT_STEPS);
		if (copies == 0)
			continue;
		bag.element[bag.count] = element;
		bag.frequency[bag.count++] = (uint32) copies;
	}
	bag_drop_ones(&bag);
	return bag;
}

/* Returns the tokens of a text[] with the weights of a float8[] as whole numbers of copies. */
static Bag
bag_of_weights(ArrayType *tokens, ArrayType *weights)
{
	int count = ArrayGetNItems(ARR_NDIM(tokens), ARR_DIMS(tokens));
	const double *weight = weights_of_array(weights, count);
	WeightedToken *token = host_alloc((size_t) count * sizeof(WeightedToken) + 1);
	WeightedToken *next = token;
	Bag bag;

	hashes_of_text_array(tokens, set_elements, &next);
	for (int i = 0; i < count; i++)
		token[i].copies = copies_of_weight(weight[i]);
	sort_records(token, count, sizeof(WeightedToken), token_key);
	bag = bag_of_tokens(token, count);
	pfree(token);
	return bag;
}

/* to_shingles(text[], weights float8[]) returns shingles */
PG_FUNCTION_INFO_V1(neardup_to_shingles_weights);
Datum
neardup_to_shingles_weights(PG_FUNCTION_ARGS)
{
	Bag bag = bag_of_weights(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1));
	Shingles *shingles = shingles_of_bag(&bag, RECIPE_VERSION, SCHEME_ID(SCHEME_WEIGHTED, 0));

	bag_free(&bag);
	PG_RETURN_POINTER(shingles);
}
