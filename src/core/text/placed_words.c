/*
 * placed_words.c: the words of texts, hashed, with their positions in characters.
 */
#include <string.h>

#include "text/internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Returns whether a token is a character of a script without spaces. */
static bool
is_alone(const char *token, size_t length)
{
	uint32_t character;

	return (signed char) *token < 0 &&
		utf8_decode((const uint8_t *) token, length, &character) > 0 &&
		CHAR_CLASS(char_info(character)) == CHAR_ALONE;
}

/* Adds a word. */
static void
put_placed_word(PlacedWords *words, PlacedWord word)
{
	words->word = host_grow(words->word, &words->room, words->count + 1, sizeof(PlacedWord));
	words->word[words->count++] = word;
}

/* A TokenSink: adds words. */
static void
add_placed_words(void *state, const TokenBatch *batch)
{
	PlacedWords *words = state;

	host_check_interrupts();
	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);
		SourceRange first = batch->position[batch->edge[2 * i]];
		SourceRange last = batch->position[batch->edge[2 * i + 1] - 1];
		uint64_t hash = XXH3_64bits_withSeed(token, length, words->seed);
		uint64_t between = first.start - words->byte;
		uint64_t inside = last.end - first.start;

		if (!words->ascii)
		{
			between = utf8_characters(words->utf8 + words->byte, between);
			inside = utf8_characters(words->utf8 + first.start, inside);
		}
		words->byte = first.start;
		words->characters += between;
		words->words++;
		hash = Max(hash & ~UINT64_C(1), 2) | is_alone(token, length);
		put_placed_word(words,
						(PlacedWord){hash, (uint32_t) words->characters,
									 (uint32_t) (words->characters + inside)});
	}
}

/*
 * Adds the words of a text, which has less than 4 GB, and its end.  Their positions go on from those of the
 * texts before, of the same record.
 */
void
placed_words_add(PlacedWords *words, const char *utf8, size_t length)
{
	uint64_t characters = utf8_characters(utf8, length);
	uint64_t end = words->characters + characters;

	if (end > UINT32_MAX - 1 || length > UINT32_MAX - 1)
		host_refuse_size("a text has more than 4 GB");
	words->utf8 = utf8;
	words->byte = 0;
	words->ascii = characters == length;
	placed_tokens_of_text(utf8, length, add_placed_words, words);
	words->characters = end;
	put_placed_word(words, (PlacedWord){0, NO_POSITION, NO_POSITION});
}

/* Ends a record behind its texts. */
void
placed_words_end_record(PlacedWords *words)
{
	put_placed_word(words, (PlacedWord){0, 0, words->words});
	words->characters = words->words = 0;
}
