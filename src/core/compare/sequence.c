/*
 * sequence.c: from texts to sequences of symbols.
 */
#include "compare/suffix.h"

#include <string.h>

#include "base/table.h"
#include "text/utf8.h"

/* Invalid bytes have keys above all code points. */
#define INVALID_BYTE 0x110000

#define SYMBOLS_MAX ((size_t) INT32_MAX - 1)

/* ---- Numbering ---------------------------------------------------------- */

/* Numbers 64-bit keys in order of first occurrence. */
typedef struct Numbering
{
	Table table;
	uint64_t *key;       /* each key, by its number */
	uint32_t ascii[128]; /* the number of each key below 128, plus 1 */
} Numbering;

/* Returns the number of a key. */
static inline uint32_t
number_of(Numbering *numbering, uint64_t key)
{
	return table_number_key(&numbering->table, key, &numbering->key);
}

static inline uint32_t
number_of_character(Numbering *numbering, uint32_t character)
{
	if (character >= 128)
		return number_of(numbering, character);
	if (numbering->ascii[character] == 0)
		numbering->ascii[character] = number_of(numbering, character) + 1;
	return numbering->ascii[character] - 1;
}

/* ---- Sequences ---------------------------------------------------------- */

/* Makes two sequences, one after the other. */
typedef struct Maker
{
	Numbering numbering;
	Sequence sequence;
	size_t room;
	SchemeId scheme; /* whose units are made; 0 if their positions are not noted */
	bool too_long;
} Maker;

/* Makes room for more symbols; returns false if there are too many. */
static bool
make_room(Maker *maker, size_t more)
{
	size_t needed = maker->sequence.length + more;

	maker->too_long |= needed > SYMBOLS_MAX;
	if (maker->too_long)
		return false;
	if (maker->scheme != 0)
	{
		size_t room = maker->room;

		maker->sequence.position =
			host_grow(maker->sequence.position, &room, needed, sizeof(SourceRange));
	}
	maker->sequence.symbol =
		host_grow(maker->sequence.symbol, &maker->room, needed, sizeof(uint32_t));
	return true;
}

/* Adds the characters of a text, the invalid bytes among them. */
static void
add_characters(Maker *maker, const char *text, size_t length)
{
	const uint8_t *bytes = (const uint8_t *) text;
	size_t at = 0;

	while (at < length)
	{
		size_t end = at + Min(length - at, STEPS_BETWEEN_CHECKS);

		host_check_interrupts();
		if (!make_room(maker, end - at))
			return;
		while (at < end)
		{
			uint32_t character;
			int taken = utf8_decode(bytes + at, length - at, &character);

			if (character == INVALID_CHARACTER)
				character = INVALID_BYTE + bytes[at];
			maker->sequence.symbol[maker->sequence.length++] =
				number_of_character(&maker->numbering, character);
			at += taken;
		}
	}
}

/* ---- Units -------------------------------------------------------------- */

/* Adds a symbol of bytes [from, to) of a batch, and its position if positions are noted. */
static void
add_unit(Maker *maker, uint32_t symbol, const TokenBatch *batch, size_t from, size_t to)
{
	Sequence *made = &maker->sequence;

	if (made->position)
		made->position[made->length] =
			(SourceRange){batch->position[from].start, batch->position[to - 1].end};
	made->symbol[made->length++] = symbol;
}

/* Adds a space between the last symbol and the byte at `next`, which may share a character. */
static void
add_blank(Maker *maker, const TokenBatch *batch, size_t next)
{
	Sequence *made = &maker->sequence;
	uint32_t end = made->position[made->length - 1].end;
	uint32_t start = batch->position[next].start;

	made->symbol[made->length] = number_of_character(&maker->numbering, ' ');
	made->position[made->length++] = (SourceRange){Min(end, start), Max(end, start)};
}

/* Adds the characters of a token; returns false if there are too many. */
static bool
add_token_characters(Maker *maker, const TokenBatch *batch, size_t from, size_t to)
{
	if (!make_room(maker, to - from + 1))
		return false;
	if (maker->sequence.length > 0)
		add_blank(maker, batch, from);
	while (from < to)
	{
		uint32_t character;
		int taken = utf8_decode(batch->bytes + from, to - from, &character);

		add_unit(maker, number_of_character(&maker->numbering, character), batch, from,
				 from + taken);
		from += taken;
	}
	return true;
}

/* Adds units: tokens, or their characters.  A TokenSink with a Maker as its state. */
static void
add_units(void *state, const TokenBatch *batch)
{
	Maker *maker = state;

	if (!make_room(maker, batch->count))
		return;
	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);
		size_t from = batch->edge[2 * i];

		if (!scheme_has_characters(maker->scheme))
			add_unit(maker, number_of(&maker->numbering, shingle_of_token(token, length)), batch,
					 from, from + length);
		else if (!add_token_characters(maker, batch, from, from + length))
			return;
	}
}

static void
add_text_tokens(Maker *maker, const char *text, size_t length)
{
	tokens_of_text(text, length, add_units, maker);
}

static void
add_text_units(Maker *maker, const char *text, size_t length)
{
	if (SCHEME_KIND(maker->scheme) == SCHEME_ANYCHAR)
		chunks_of_text(text, length, true, add_units, maker);
	else
		placed_tokens_of_text(text, length, add_units, maker);
}

/* ---- Pairs -------------------------------------------------------------- */

/* Makes both sequences of a pair with a function that adds the symbols of a text. */
static bool
pair_of(void (*add)(Maker *, const char *, size_t), SchemeId scheme, const char *a, size_t length_a,
		const char *b, size_t length_b, SequencePair *pair)
{
	Maker maker = {.scheme = scheme};

	table_begin(&maker.numbering.table, 0);
	maker.numbering.key = host_alloc(maker.numbering.table.room * sizeof(uint64_t));
	add(&maker, a, length_a);
	pair->a = maker.sequence;
	maker.sequence = (Sequence){.length = 0};
	maker.room = 0;
	add(&maker, b, length_b);
	pair->b = maker.sequence;
	pair->alphabet = (uint32_t) maker.numbering.table.count;
	pair->blank = maker.numbering.ascii[' '] - 1;
	table_end(&maker.numbering.table);
	host_free(maker.numbering.key);
	return !maker.too_long && pair->a.length + pair->b.length <= SYMBOLS_MAX;
}

/*
 * Makes the sequences of the characters (code points) of two texts in UTF-8.  An invalid byte
 * is a character of its own.  Returns false if there are 2^31 symbols or more.  The caller
 * frees the pair by pair_free in either case.
 */
bool
pair_of_characters(const char *a, size_t length_a, const char *b, size_t length_b,
				   SequencePair *pair)
{
	return pair_of(add_characters, 0, a, length_a, b, length_b, pair);
}

/*
 * Makes the sequences of the normalised tokens of two texts, which are equal if their 64-bit
 * hashes are.  Returns false if there are 2^31 symbols or more.  The caller frees the pair by
 * pair_free in either case.
 */
bool
pair_of_tokens(const char *a, size_t length_a, const char *b, size_t length_b, SequencePair *pair)
{
	return pair_of(add_text_tokens, 0, a, length_a, b, length_b, pair);
}

/*
 * Makes the sequences of the units of a scheme that reads text, and notes their positions.  Units
 * are tokens, or if the scheme has characters, the characters of tokens or chunks, with a
 * space between two of these.  Each text has less than 4 GB.
 */
bool
pair_of_units(const char *a, size_t length_a, const char *b, size_t length_b, SchemeId scheme,
			  SequencePair *pair)
{
	return pair_of(add_text_units, scheme, a, length_a, b, length_b, pair);
}

/* Frees both sequences. */
void
pair_free(SequencePair *pair)
{
	host_free(pair->a.symbol);
	host_free(pair->b.symbol);
	host_free(pair->a.position);
	host_free(pair->b.position);
}
