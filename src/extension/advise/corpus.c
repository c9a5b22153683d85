/*
 * corpus.c: a sample of the texts that a query returns, as their shingles.
 *
 * The sample has the texts with the least keys, so it does not depend on the order of rows.
 * A text's key is a hash of the one of its shingles that comes first in a random order of
 * all shingles: two texts have the same key with the probability of their resemblance
 * (Broder 1997), so near texts stay together.  In an even sample of one text in a hundred,
 * one pair of near-duplicates in ten thousand would be left.  A second such key decides
 * which texts of a large family are kept.
 *
 * If the texts have more than ELEMENTS_MOST shingles, only those with small hashes are kept.  The
 * limit of the hashes is the same for all texts, so similarities can still be estimated.
 */
#include "advise/advise.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/sort.h"
#include "sketch/sketch.h"

/* The most elements of a scheme, of all texts together. */
#define ELEMENTS_MOST 2000000

/* If texts are left out, a family has at most one in FAMILY_PART of the texts of a sample. */
#define FAMILY_PART 20

#define EXAMPLE "SELECT id, body FROM docs"

const char *const scheme_names[SCHEMES] = {"word 1", "word 3", "char 3", "char 5", "word 2"};

/* ---- Which texts are kept ----------------------------------------------------- */

/* Returns the share of all texts that a sample takes. */
double
corpus_share(const Corpus *corpus)
{
	return corpus->complete ? 1 : (double) corpus->inside / (double) corpus->rows;
}

static int
compare_numbers(uint64 x, uint64 y)
{
	return (x > y) - (x < y);
}

static int
compare_keys(const void *x, const void *y)
{
	const CorpusText *a = x;
	const CorpusText *b = y;
	int order = compare_numbers(a->key, b->key);

	if (order == 0)
		order = compare_numbers(a->second_key, b->second_key);
	return order != 0 ? order : compare_numbers(a->row, b->row);
}

/* Orders texts by rows, texts outside the sample last. */
static int
compare_rows(const void *x, const void *y)
{
	const CorpusText *a = x;
	const CorpusText *b = y;

	return a->outside != b->outside ? a->outside - b->outside : compare_numbers(a->row, b->row);
}

/* Frees a text that is left out. */
static void
forget_text(Corpus *corpus, CorpusText *text)
{
	for (int s = 0; s < SCHEMES; s++)
	{
		corpus->total[s] -= text->elements[s];
		pfree(text->element[s]);
	}
	pfree(text->id);
	if (text->body.bytes != NULL)
		pfree((char *) text->body.bytes);
}

/*
 * Leaves out the texts with the greatest keys, and texts of families that have enough of them.
 * Texts that were judged are kept outside the sample.
 */
static void
corpus_cut(Corpus *corpus)
{
	uint32 count = corpus->count;
	uint32 of_family = 0;
	uint64 family = 0;
	bool full = false;

	qsort(corpus->text, count, sizeof(CorpusText), compare_keys);
	corpus->count = corpus->inside = 0;
	for (uint32 i = 0; i < count; i++)
	{
		CorpusText *text = &corpus->text[i];

		of_family = i > 0 && text->key == family ? of_family + 1 : 1;
		family = text->key;
		if (!full && corpus->inside == corpus->most)
		{
			full = true;
			corpus->limit = Min(corpus->limit, text->key);
		}
		text->outside |= full || of_family > corpus->family_most;
		corpus->capped |= !full && of_family > corpus->family_most;
		corpus->complete &= !text->outside;
		if (text->outside && text->judged == NOT_JUDGED)
			forget_text(corpus, text);
		else
		{
			corpus->inside += !text->outside;
			corpus->text[corpus->count++] = *text;
		}
	}
}

/* ---- Shingles ------------------------------------------------------------------ */

/* Sets the elements of a text by a scheme. */
static void
take_elements(Corpus *corpus, CorpusText *text, int s, const Utf8Text *utf8)
{
	MinhashBuilder builder;
	uint32 *element;
	uint32 distinct = 0;

	minhash_begin(&builder, 0);
	shingle_text(utf8->bytes, utf8->length, corpus->scheme[s], minhash_add, &builder);
	element = palloc(Max(builder.table.count, 1) * sizeof(uint32));
	for (size_t i = 0; i < builder.table.count; i++)
		element[i] = (uint32) (builder.element[i] >> 32);
	sort_records(element, builder.table.count, sizeof(uint32), sort_key_32);
	for (size_t i = 0; i < builder.table.count && element[i] <= corpus->highest[s]; i++)
		if (i == 0 || element[i] != element[i - 1])
			element[distinct++] = element[i];
	table_end(&builder.table);
	host_free(builder.element);
	text->element[s] = repalloc(element, Max(distinct, 1) * sizeof(uint32));
	text->elements[s] = distinct;
	corpus->total[s] += distinct;
}

/* Halves the greatest element of a scheme that is kept, and drops the elements beyond. */
static void
halve_elements(Corpus *corpus, int s)
{
	corpus->highest[s] /= 2;
	corpus->total[s] = 0;
	for (uint32 i = 0; i < corpus->count; i++)
	{
		CorpusText *text = &corpus->text[i];
		uint32 *count = &text->elements[s];

		while (*count > 0 && text->element[s][*count - 1] > corpus->highest[s])
			--*count;
		corpus->total[s] += *count;
	}
}

/* Adds a text to the sample. */
static void
corpus_add(Corpus *corpus, CorpusText *text, const Utf8Text *utf8)
{
	corpus->text = host_grow(corpus->text, &corpus->room, corpus->count + 1, sizeof(CorpusText));
	for (int s = 0; s < SCHEMES; s++)
		take_elements(corpus, text, s, utf8);
	corpus->text[corpus->count++] = *text;
	if (corpus->count >=
		2 * corpus->most + (corpus->verdicts != NULL ? corpus->verdicts->positions : 0))
		corpus_cut(corpus);
	for (int s = 0; s < SCHEMES; s++)
		while (corpus->total[s] > ELEMENTS_MOST)
			halve_elements(corpus, s);
}

/* ---- The query ------------------------------------------------------------------- */

/* The least of the shingles in two random orders. */
typedef struct LeastShingles
{
	uint64 first;
	uint64 second;
} LeastShingles;

/* A HashSink. */
static void
take_least(void *state, const uint64_t *hashes, size_t count)
{
	LeastShingles *least = state;

	for (size_t i = 0; i < count; i++)
	{
		least->first = Min(least->first, mix64(hashes[i] + 1));
		least->second = Min(least->second, mix64(hashes[i] + 2));
	}
}

/* Reads the rows of the query. */
typedef struct CorpusReader
{
	Corpus *corpus;
	Oid id_type;
	FmgrInfo output; /* the output function of the id's type */
	uint64 row;
} CorpusReader;

/*
 * A RowSink: adds the text of a row to the corpus.  Rows with a NULL are left out, and texts without
 * shingles, which have no letters and digits.
 */
static bool
take_row(void *state, const Datum *values, const bool *nulls)
{
	CorpusReader *reader = state;
	Corpus *corpus = reader->corpus;
	CorpusText text = {.row = ++reader->row};
	LeastShingles least = {PG_UINT64_MAX, PG_UINT64_MAX};
	MemoryContext old;
	Utf8Text utf8;

	if (reader->row % PROGRESS_STEP == 0)
		progress_rows(reader->row);
	corpus->null_ids |= nulls[0];
	if (nulls[0] || nulls[1])
		return true;
	corpus->texts++;
	utf8 = utf8_of_datum(values[1]);
	shingle_text(utf8.bytes, utf8.length, corpus->scheme[FAMILY], take_least, &least);
	if (least.first == PG_UINT64_MAX)
		return true;
	corpus->rows++;
	text.key = mix64(least.first ^ MIX_MULTIPLIER);
	text.second_key = mix64(least.second ^ MIX_MULTIPLIER);
	text.outside = text.key > corpus->limit;
	text.judged = NOT_JUDGED;
	if (corpus->verdicts)
		text.judged = judged_position(corpus->verdicts,
									  id_copy(&corpus->ids, reader->id_type, values[0],
											  CurrentMemoryContext));
	if (text.outside && text.judged == NOT_JUDGED)
		return true;
	old = MemoryContextSwitchTo(corpus->context);
	text.id = OutputFunctionCall(&reader->output, values[0]);
	if (!corpus->variants)
		text.body = (Utf8Text){.bytes = pnstrdup(utf8.bytes, utf8.length), .length = utf8.length};
	corpus_add(corpus, &text, &utf8);
	MemoryContextSwitchTo(old);
	return true;
}

/* Prepares a query of an id and a text.  Sets the type of the id and its output function. */
static SPIPlanPtr
prepare(CorpusReader *reader, const char *query)
{
	SPIPlanPtr plan = query_prepare("query", query, 0, EXAMPLE);
	TupleDesc columns = query_columns(plan);
	Oid output;
	bool varlena;

	if (columns->natts != 2 ||
		!IsBinaryCoercible(getBaseType(TupleDescAttr(columns, 1)->atttypid), TEXTOID))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("\"query\" must return an id and a text"),
				 errhint("Write a query such as %s, or cast the column to text.", EXAMPLE)));
	reader->id_type = getBaseType(TupleDescAttr(columns, 0)->atttypid);
	getTypeOutputInfo(reader->id_type, &output, &varlena);
	fmgr_info_cxt(output, &reader->output, reader->corpus->context);
	return plan;
}

/*
 * Runs a query that returns ids and texts, and keeps a sample of at most `most` texts.  `judged`,
 * which may be NULL, is a query that returns judged pairs of ids; their texts are kept, too.
 * `variants` says whether pairs of variants count.
 * Raises an error if a query returns other columns.
 */
void
corpus_read(Corpus *corpus, const char *query, int most, const char *judged, bool variants)
{
	CorpusReader reader = {.corpus = corpus};
	MemoryContext old = CurrentMemoryContext;
	SPIPlanPtr plan;
	bool number;

	*corpus = (Corpus){.context = CurrentMemoryContext,
					   .most = most,
					   .family_most = Max(most / FAMILY_PART, 2),
					   .complete = true,
					   .variants = variants,
					   .limit = PG_UINT64_MAX};
	for (int s = 0; s < SCHEMES; s++)
	{
		(void) scheme_parse(scheme_names[s], strlen(scheme_names[s]), &corpus->scheme[s]);
		corpus->highest[s] = PG_UINT32_MAX;
	}
	SPI_connect();
	plan = prepare(&reader, query);
	MemoryContextSwitchTo(old);
	corpus->query = query_statement(plan, query);
	number = reader.id_type == INT2OID || reader.id_type == INT4OID;
	corpus->ids = id_type(number ? INT8OID : reader.id_type,
						  TupleDescAttr(query_columns(plan), 0)->attcollation);
	if (judged)
		corpus->verdicts = judged_read("judged", judged, &corpus->ids, true);
	query_rows(plan, take_row, &reader);
	SPI_finish();
	if (corpus->rows > most)
		corpus_cut(corpus);
	corpus->inside = 0;
	qsort(corpus->text, corpus->count, sizeof(CorpusText), compare_rows);
	while (corpus->inside < corpus->count && !corpus->text[corpus->inside].outside)
		corpus->inside++;
}

/*
 * Returns the median of the numbers of distinct shingles of texts by a scheme.  It is an estimate if
 * some shingles were not kept.
 */
double
corpus_median_length(const Corpus *corpus, int scheme)
{
	uint32 *length = palloc(sizeof(uint32) * corpus->inside + 1);
	double median;

	for (uint32 i = 0; i < corpus->inside; i++)
		length[i] = corpus->text[i].elements[scheme];
	sort_records(length, corpus->inside, sizeof(uint32), sort_key_32);
	median = corpus->inside == 0 ? 0 : length[corpus->inside / 2];
	pfree(length);
	return median * ((double) PG_UINT32_MAX / corpus->highest[scheme]);
}
