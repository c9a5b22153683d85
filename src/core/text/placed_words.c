/*
 * placed_words.c: the words of texts, hashed, with their positions in characters.
 */
#include <string.h>

#include "text/internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A text whose words are added. */
typedef struct PlacedText
{
	PlacedWords *words;
	const char *utf8;
	uint64_t byte;      /* a byte of the text up to which characters are counted */
	uint64_t character; /* the number of the character there */
	bool ascii;         /* each byte is a character */
} PlacedText;

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
	PlacedText *text = state;

	host_check_interrupts();
	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);
		SourceRange first = batch->position[batch->edge[2 * i]];
		SourceRange last = batch->position[batch->edge[2 * i + 1] - 1];
		uint64_t hash = XXH3_64bits_withSeed(token, length, text->words->seed);
		uint64_t between = first.start - text->byte;
		uint64_t inside = last.end - first.start;

		if (!text->ascii)
		{
			between = utf8_characters(text->utf8 + text->byte, between);
			inside = utf8_characters(text->utf8 + first.start, inside);
		}
		text->byte = first.start;
		text->character += between;
		hash = Max(hash & ~UINT64_C(1), 2) | is_alone(token, length);
		text->words->words++;
		put_placed_word(text->words,
						(PlacedWord){hash, (uint32_t) text->character,
									 (uint32_t) (text->character + inside)});
	}
}

/*
 * Adds the words of a text, which has less than 4 GB, and its end.  Their positions go on from those of the
 * texts before, of the same record.
 */
void
placed_words_add(PlacedWords *words, const char *utf8, size_t length)
{
	PlacedText text = {.words = words, .utf8 = utf8, .character = words->characters};
	uint64_t characters = utf8_characters(utf8, length);

	text.ascii = characters == length;
	words->characters += characters;
	if (words->characters > UINT32_MAX - 1 || length > UINT32_MAX - 1)
		host_refuse_size("a text has more than 4 GB");
	placed_tokens_of_text(utf8, length, add_placed_words, &text);
	put_placed_word(words, (PlacedWord){0, NO_POSITION, NO_POSITION});
}

/* Ends a record behind its texts. */
void
placed_words_end_record(PlacedWords *words)
{
	put_placed_word(words, (PlacedWord){0, 0, words->words});
	words->characters = words->words = 0;
}
