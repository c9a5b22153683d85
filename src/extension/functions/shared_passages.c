/*
 * shared_passages.c: the SQL function of the passages that two texts share.
 */
#include "calls/arguments.h"
#include "calls/schemes.h"
#include "calls/texts.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "base/sort.h"
#include "compare/compare.h"
#include "text/utf8.h"

/* ---- From bytes to characters ------------------------------------------- */

/* Characters are counted once for each block of this many bytes. */
#define BLOCK_BYTES 128

/* A text with what tells how many characters are before a byte. */
typedef struct CharacterCounts
{
	Utf8Text utf8;
	uint32 *before;    /* the characters of UTF-8 that start before each block */
	size_t *continued; /* the starts of characters that continue one of the server's encoding */
	size_t continuations;
	size_t room;
} CharacterCounts;

/*
 * Finds the characters of UTF-8 that only together with the one before are a character of
 * the server's encoding.  EUC_JIS_2004 has such characters.
 */
static void
find_continuations(CharacterCounts *counts, const char *server, size_t length)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < length;)
	{
		int bytes = pg_encoding_mblen(GetDatabaseEncoding(), server + i);
		char *utf8 = bytes == 1 ? NULL : pg_server_to_any(server + i, bytes, PG_UTF8);
		size_t taken = utf8 ? strlen(utf8) : 1;
		size_t j;

		CHECK_FOR_INTERRUPTS();
		for (j = 1; j < taken; j++)
			if ((utf8[j] & 0xC0) != 0x80)
			{
				counts->continued = host_grow(counts->continued, &counts->room,
											  counts->continuations + 1, sizeof(size_t));
				counts->continued[counts->continuations++] = at + j;
			}
		host_free(utf8);
		at += taken;
		i += bytes;
	}
}

/* Counts the characters of a text argument. */
static CharacterCounts
count_characters(Datum datum)
{
	CharacterCounts counts = {.utf8 = utf8_of_datum(datum)};
	text *server = counts.utf8.detoasted ? counts.utf8.detoasted : (text *) DatumGetPointer(datum);
	size_t blocks = counts.utf8.length / BLOCK_BYTES + 1;
	uint32 characters = 0;
	size_t i;

	counts.before = host_alloc(blocks * sizeof(uint32));
	for (i = 0; i < blocks; i++)
	{
		size_t start = i * BLOCK_BYTES;

		host_check_interrupts_at(i);
		counts.before[i] = characters;
		characters += utf8_characters(counts.utf8.bytes + start,
									  Min(counts.utf8.length - start, BLOCK_BYTES));
	}
	if (counts.utf8.converted &&
		characters != pg_mbstrlen_with_len(VARDATA_ANY(server), VARSIZE_ANY_EXHDR(server)))
		find_continuations(&counts, VARDATA_ANY(server), VARSIZE_ANY_EXHDR(server));
	return counts;
}

/* Returns how many characters of the server's encoding start before a byte of UTF-8. */
static int32
characters_before(const CharacterCounts *counts, size_t byte)
{
	size_t block = byte / BLOCK_BYTES * BLOCK_BYTES;
	uint32 characters = counts->before[byte / BLOCK_BYTES] +
		utf8_characters(counts->utf8.bytes + block, byte - block);
	size_t continuations = 0;

	SEARCH_SORTED(continuations, counts->continuations, counts->continued[middle] < byte);
	return (int32) (characters - continuations);
}

static void
counts_free(CharacterCounts *counts)
{
	utf8_free(&counts->utf8);
	host_free(counts->before);
	host_free(counts->continued);
}

/* ---- Shared passages ---------------------------------------------------- */

/* Sets the columns of where a passage starts in a text, and how long it is there. */
static void
passages_set_position(Datum *column, const CharacterCounts *counts, const SourceRange *first,
					  const SourceRange *last)
{
	int32 start = characters_before(counts, first->start);

	column[0] = Int32GetDatum(start + 1);
	column[1] = Int32GetDatum(characters_before(counts, last->end) - start);
}

/* Adds a row for each passage. */
static void
put_passages(FunctionCallInfo fcinfo, const Passages *found, const SequencePair *pair,
			 const CharacterCounts *a, const CharacterCounts *b)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool nulls[5] = {false};
	size_t i;

	for (i = 0; i < found->count; i++)
	{
		Passage p = found->passage[i];
		Datum values[5];

		CHECK_FOR_INTERRUPTS();
		passages_set_position(&values[0], a, &pair->a.position[p.a],
							  &pair->a.position[p.a + p.length - 1]);
		passages_set_position(&values[2], b, &pair->b.position[p.b],
							  &pair->b.position[p.b + p.length - 1]);
		values[4] = Int32GetDatum((int32) p.length);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/*
 * shared_passages(a text, b text, scheme text, min_tokens int)
 * returns SETOF (a_start int, a_length int, b_start int, b_length int, tokens int)
 */
PG_FUNCTION_INFO_V1(neardup_shared_passages);
Datum
neardup_shared_passages(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(2));
	int32 least = number_argument(fcinfo, 3, "min_tokens", PG_INT32_MAX);
	CharacterCounts a = count_characters(PG_GETARG_DATUM(0));
	CharacterCounts b = count_characters(PG_GETARG_DATUM(1));
	SequencePair pair;
	Passages found;

	begin_rows(fcinfo);
	if (!pair_of_units(a.utf8.bytes, a.utf8.length, b.utf8.bytes, b.utf8.length, scheme, &pair))
		refuse_long_texts();
	found = shared_passages(&pair, (uint32_t) least);
	put_passages(fcinfo, &found, &pair, &a, &b);
	host_free(found.passage);
	pair_free(&pair);
	counts_free(&a);
	counts_free(&b);
	return (Datum) 0;
}
