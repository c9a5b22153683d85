/*
 * fuzz_text.c: tokens and shingles of any bytes, by all schemes.  Tokens are in order, not
 * empty, and have only characters of tokens.
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"

#define REQUIRE(condition) \
	do \
	{ \
		if (!(condition)) \
			abort(); \
	} while (0)

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A token starts with a letter or number; one that stands alone has only marks after it. */
static void
require_sound_token(const uint8_t *token, size_t length)
{
	CharClass first = CHAR_SEPARATOR;

	for (size_t at = 0; at < length;)
	{
		uint32_t c;
		CharClass class;

		at += utf8_decode(token + at, length - at, &c);
		REQUIRE(c != INVALID_CHARACTER);
		class = CHAR_CLASS(char_info(c));
		if (first == CHAR_SEPARATOR)
		{
			REQUIRE(class == CHAR_WORD || class == CHAR_ALONE);
			first = class;
		}
		else
			REQUIRE(class == CHAR_MARK || (class == CHAR_WORD && first == CHAR_WORD));
	}
}

/* A TokenSink that counts tokens. */
static void
check_tokens(void *state, const TokenBatch *batch)
{
	uint32_t last = 0;

	for (size_t i = 0; i < batch->count; i++)
	{
		uint32_t start = batch->edge[2 * i];
		uint32_t end = batch->edge[2 * i + 1];

		REQUIRE(start >= last && end > start);
		require_sound_token(batch->bytes + start, end - start);
		last = end;
	}
	*(size_t *) state += batch->count;
}

/* A HashSink that counts hashes. */
static void
count_hashes(void *state, const uint64_t *hashes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(uint64_t *) state += hashes[i] != 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const SchemeKind kinds[] = {SCHEME_WORD, SCHEME_CHAR, SCHEME_ANYCHAR, SCHEME_STOPWORD,
									   SCHEME_SPOT};
	const char *text = (const char *) data + (size > 0);
	size_t length = size > 0 ? size - 1 : 0;
	size_t tokens = 0;
	SchemeId parsed;

	tokens_of_text(text, length, check_tokens, &tokens);
	for (int i = 0; i < 5; i++)
	{
		int width = size > 0 && data[0] > 0 ? data[0] : 3;
		SchemeId scheme = SCHEME_ID(kinds[i], width);
		ShownShingles shown;
		uint64_t hashes = 0;
		uint64_t occurrences = 0;

		/* A spot needs a distance and a chain. */
		if (!scheme_is_valid(scheme))
			continue;
		shingle_text(text, length, scheme, count_hashes, &hashes);
		REQUIRE(shingles_to_show(text, length, scheme, &shown));
		for (size_t j = 0; j < shown.count; j++)
			occurrences += shown.shingle[j].count;
		REQUIRE(occurrences >= hashes && (shown.count > 0 || tokens == 0 || i >= 3));
		shown_free(&shown);
	}
	if (scheme_parse(text, length, &parsed))
	{
		char name[SCHEME_NAME_SIZE];
		SchemeId again;

		scheme_name(parsed, name);
		REQUIRE(scheme_parse(name, strlen(name), &again) && again == parsed);
	}
	return 0;
}
