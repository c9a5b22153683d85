/*
 * edits.c: SQL functions of the edit distance of tokens, and of the longest common substring.
 */
#include "functions/edit_distance.h"

#include "text/utf8.h"

/*
 * token_edit_distance(a text, b text, max int, insertion int, deletion int, substitution
 * int) returns bigint
 */
PG_FUNCTION_INFO_V1(neardup_token_edit_distance);
Datum
neardup_token_edit_distance(PG_FUNCTION_ARGS)
{
	return edit_distance_of_arguments(fcinfo, pair_of_tokens);
}

/* Returns how many bytes the first `characters` characters of a text take. */
static size_t
bytes_of_characters(const char *bytes, size_t length, size_t characters)
{
	size_t at = 0;

	for (; characters > 0; characters--)
	{
		uint32_t character;

		at += utf8_decode((const uint8_t *) bytes + at, length - at, &character);
		host_check_interrupts_at(characters);
	}
	return at;
}

/* longest_common_substring(a text, b text) returns text */
PG_FUNCTION_INFO_V1(neardup_longest_common_substring);
Datum
neardup_longest_common_substring(PG_FUNCTION_ARGS)
{
	Utf8Text a = utf8_of_datum(PG_GETARG_DATUM(0));
	Utf8Text b = utf8_of_datum(PG_GETARG_DATUM(1));
	SequencePair pair = pair_of_texts(&a, &b, pair_of_characters);
	Common common = longest_common_run(&pair);
	size_t start = bytes_of_characters(a.bytes, a.length, common.start);
	size_t length = bytes_of_characters(a.bytes + start, a.length - start, common.length);
	text *result = text_of_utf8(a.bytes + start, length);

	pair_free(&pair);
	utf8_free(&a);
	utf8_free(&b);
	PG_RETURN_TEXT_P(result);
}
