/*
 * texts.c: samples of the texts that a query returns.
 *
 * A sample holds the texts with the least keys, so it does not depend on the order of rows.
 * The key of the even sample is a hash of the text, so equal texts count once.  The key of
 * the sample of families is a hash of the text's shingle that comes first in a random order
 * of all shingles: two texts have the same key with the probability of their resemblance
 * (Broder 1997).  A second such key decides which texts of a large family are kept.
 */
#include "advise/advise.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "types/query.h"

/* The bytes of the texts of a sample: shingles of five characters take seventy times as much. */
#define SAMPLE_BYTES ((size_t) 4 * 1024 * 1024)

/* So much of an id is kept. */
#define ID_BYTES 200

/* One family is this part of a sample at most, where texts are left out. */
#define FAMILY_PART 20

#define EXAMPLE "SELECT id, body FROM docs"

/* ---- Samples -------------------------------------------------------------- */

static void
sample_begin(Sample *sample, int most, int family_most)
{
	*sample = (Sample){.context = CurrentMemoryContext,
					   .most = most,
					   .family_most = family_most,
					   .room = 2 * most,
					   .complete = true,
					   .limit = PG_UINT64_MAX,
					   .text = palloc(2 * most * sizeof(SampleText))};
}

/* Returns the share of all keys that a sample takes. */
double
sample_share(const Sample *sample)
{
	return sample->complete ? 1 : (double) sample->limit / (double) PG_UINT64_MAX;
}

static int
compare_numbers(uint64 x, uint64 y)
{
	return (x > y) - (x < y);
}

static int
compare_keys(const void *x, const void *y)
{
	const SampleText *a = x;
	const SampleText *b = y;
	int order = compare_numbers(a->key, b->key);

	if (order == 0)
		order = compare_numbers(a->second_key, b->second_key);
	return order != 0 ? order : compare_numbers(a->row, b->row);
}

static int
compare_rows(const void *x, const void *y)
{
	return compare_numbers(((const SampleText *) x)->row, ((const SampleText *) y)->row);
}

static void
forget_text(SampleText *text)
{
	if (text->id)
		pfree(text->id);
	pfree(text->bytes);
}

/* Leaves out the texts with the greatest keys, and those of families that have enough. */
static void
sample_cut(Sample *sample)
{
	uint32 kept = 0;
	uint32 of_family = 0;
	size_t bytes = 0;
	uint64 family = 0;
	bool full = false;

	qsort(sample->text, sample->count, sizeof(SampleText), compare_keys);
	for (uint32 i = 0; i < sample->count; i++)
	{
		SampleText *text = &sample->text[i];

		of_family = i > 0 && text->key == family ? of_family + 1 : 1;
		family = text->key;
		if (!full && (kept == sample->most || bytes + text->length > SAMPLE_BYTES))
		{
			full = true;
			sample->limit = text->key;
		}
		if (full || of_family > sample->family_most)
		{
			forget_text(text);
			continue;
		}
		bytes += text->length;
		sample->text[kept++] = *text;
	}
	sample->complete &= kept == sample->count;
	sample->count = kept;
	sample->bytes = bytes;
}

/* Adds a copy of a text if its key is small enough. */
static void
sample_add(Sample *sample, const SampleText *text)
{
	MemoryContext old;
	SampleText *added;

	if (text->key > sample->limit)
		return;
	old = MemoryContextSwitchTo(sample->context);
	added = &sample->text[sample->count++];
	*added = *text;
	if (text->id)
		added->id = pnstrdup(text->id, pg_mbcliplen(text->id, strlen(text->id), ID_BYTES));
	added->bytes = pnstrdup(text->bytes, text->length);
	sample->bytes += text->length;
	if (sample->count == sample->room || sample->bytes > 2 * SAMPLE_BYTES)
		sample_cut(sample);
	MemoryContextSwitchTo(old);
}

/* Completes a sample: its texts are in the order of the rows. */
static void
sample_finish(Sample *sample)
{
	if (sample->count > sample->most || sample->bytes > SAMPLE_BYTES || sample->family_most == 1)
		sample_cut(sample);
	qsort(sample->text, sample->count, sizeof(SampleText), compare_rows);
}

/* ---- The query ------------------------------------------------------------ */

/* A DestReceiver that adds the rows of the query to the samples. */
typedef struct Reader
{
	DestReceiver pub;
	Texts *texts;
	MemoryContext row_context;
	int column;       /* of the text */
	FmgrInfo id_text; /* the output function of the id */
} Reader;

/* The least of the shingles in two random orders. */
typedef struct Least
{
	uint64 first;
	uint64 second;
	bool any;
} Least;

/* A HashSink. */
static void
take_least(void *state, const uint64_t *hashes, size_t count)
{
	Least *least = state;

	for (size_t i = 0; i < count; i++)
	{
		uint64 first = mix64(hashes[i] + 1);
		uint64 second = mix64(hashes[i] + 2);

		least->first = Min(least->first, first);
		least->second = Min(least->second, second);
	}
	least->any = true;
}

/* Adds a text to the samples. */
static void
take_text(Texts *texts, Datum datum, const char *id)
{
	Utf8Text utf8 = utf8_of_datum(datum);
	Least least = {.first = PG_UINT64_MAX, .second = PG_UINT64_MAX};
	SampleText text = {.row = texts->rows, .id = unconstify(char *, id)};

	if (utf8.length > TEXT_LONGEST)
	{
		texts->too_long++;
		return;
	}
	text.bytes = unconstify(char *, utf8.bytes);
	text.length = utf8.length;
	shingle_text(utf8.bytes, utf8.length, texts->scheme, take_least, &least);
	text.key = mix64(least.first ^ MIX_MULTIPLIER);
	text.second_key = mix64(least.second ^ MIX_MULTIPLIER);
	if (least.any)
		sample_add(&texts->families, &text);
	else
		texts->wordless++;
	text.key = text.second_key = mix64(shingle_of_token(utf8.bytes, utf8.length));
	sample_add(&texts->even, &text);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Reader *reader = (Reader *) self;
	Texts *texts = reader->texts;
	MemoryContext old = MemoryContextSwitchTo(reader->row_context);
	char *id = NULL;
	bool null;
	Datum value;

	CHECK_FOR_INTERRUPTS();
	texts->rows++;
	value = slot_getattr(slot, reader->column + 1, &null);
	if (null)
		texts->nulls++;
	else
	{
		bool no_id = true;
		Datum id_value = reader->column > 0 ? slot_getattr(slot, 1, &no_id) : (Datum) 0;

		if (!no_id)
			id = OutputFunctionCall(&reader->id_text, id_value);
		take_text(texts, value, id);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row_context);
	return true;
}

static bool
is_text(Oid type)
{
	type = getBaseType(type);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID ||
		IsBinaryCoercible(type, TEXTOID);
}

static void
reader_startup(DestReceiver *self, int operation, TupleDesc row_type)
{
	Reader *reader = (Reader *) self;
	Oid type;
	Oid output;
	bool varlena;

	if (row_type->natts != 1 && row_type->natts != 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("\"query\" must return one or two columns, not %d", row_type->natts),
				 errhint("Return a text, or an id and a text, as in %s.", EXAMPLE)));
	reader->column = row_type->natts - 1;
	type = TupleDescAttr(row_type, reader->column)->atttypid;
	if (!is_text(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column %d of \"query\" is of type %s", reader->column + 1,
						format_type_be(type)),
				 errdetail("The last column must be the text itself."),
				 errhint("Write a query such as %s, or cast the column to text.", EXAMPLE)));
	if (reader->column > 0)
	{
		getTypeOutputInfo(TupleDescAttr(row_type, 0)->atttypid, &output, &varlena);
		fmgr_info(output, &reader->id_text);
	}
}

/* Reads a query that returns texts, or ids and texts, into samples of at most `most` texts. */
void
texts_read(Texts *texts, const char *query, SchemeId scheme, int most)
{
	Reader reader = {.pub = query_receiver(reader_startup, receive_row), .texts = texts};

	*texts = (Texts){.scheme = scheme};
	sample_begin(&texts->even, most, 1);
	sample_begin(&texts->families, most, Max(most / FAMILY_PART, 2));
	reader.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup text", ALLOCSET_DEFAULT_SIZES);
	SPI_connect();
	compat_run_plan(query_prepare("query", query, 0, EXAMPLE), &reader.pub);
	SPI_finish();
	MemoryContextDelete(reader.row_context);
	sample_finish(&texts->even);
	sample_finish(&texts->families);
	if (texts->even.complete && texts->families.complete)
		texts->families = texts->even;
}
