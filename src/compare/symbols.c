/*
 * symbols.c: from texts to sequences of small numbers.
 */
#include <string.h>

#include "base/table.h"
#include "text/utf8.h"
#include "compare/internal.h"

/* Keys of bytes that are no UTF-8 lie above all code points. */
#define STRAY_BYTE 0x110000

#define SYMBOLS_MAX ((size_t) INT32_MAX - 1)

/* ---- Numbering ---------------------------------------------------------- */

/* Numbers 64-bit keys in order of first occurrence. */
typedef struct Numbering
{
	Table table;
	uint64_t *key;       /* by number */
	uint32_t ascii[128]; /* numbers of keys below 128, plus 1 */
} Numbering;

#define NUMBERING_ROOM 64

static void
numbering_begin(Numbering *numbering)
{
	table_begin(&numbering->table, NUMBERING_ROOM);
	numbering->key = host_alloc(numbering->table.room * sizeof(uint64_t));
}

static void
numbering_free(Numbering *numbering)
{
	table_end(&numbering->table);
	host_free(numbering->key);
}

static void
numbering_grow(Numbering *numbering)
{
	table_grow(&numbering->table, numbering->table.count + 1);
	numbering->key = host_realloc(numbering->key, numbering->table.room * sizeof(uint64_t));
}

static uint32_t
number_of(Numbering *numbering, uint64_t key)
{
	Table *table = &numbering->table;
	uint64_t hash = table_hash(table, key);
	uint64_t *slot;
	uint32_t number;

	if (table->count == table->room)
		numbering_grow(numbering);
	slot = table_search_key(table, hash, key, numbering->key, sizeof(uint64_t));
	if (*slot != 0)
		return table_number(slot);
	number = table_put(table, slot, hash);
	numbering->key[number] = key;
	return number;
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

/* A sequence that is being made. */
typedef struct Maker
{
	Numbering numbering;
	Sequence sequence;
	size_t room;
	bool too_long;
} Maker;

static void
maker_begin(Maker *maker)
{
	memset(maker, 0, sizeof(*maker));
	numbering_begin(&maker->numbering);
}

/* Room for so many symbols more; false where there are too many. */
static bool
maker_reserve(Maker *maker, size_t more)
{
	size_t needed = maker->sequence.length + more;

	if (needed > SYMBOLS_MAX)
		maker->too_long = true;
	else if (needed > maker->room)
	{
		maker->room = needed > 2 * maker->room ? needed : 2 * maker->room;
		maker->sequence.symbol =
			host_realloc(maker->sequence.symbol, maker->room * sizeof(uint32_t));
	}
	return !maker->too_long;
}

/* The sequence made; the next one begins. */
static Sequence
maker_take(Maker *maker)
{
	Sequence made = maker->sequence;

	maker->sequence.symbol = host_alloc(sizeof(uint32_t));
	maker->sequence.length = 0;
	maker->room = 1;
	return made;
}

static void
add_characters(Maker *maker, const char *text, size_t length)
{
	const uint8_t *bytes = (const uint8_t *) text;
	size_t at = 0;

	while (at < length)
	{
		size_t end = length - at > COMPARE_STEP ? at + COMPARE_STEP : length;

		host_check_interrupts();
		if (!maker_reserve(maker, end - at))
			return;
		while (at < end)
		{
			uint32_t character;
			int taken = utf8_decode(bytes + at, length - at, &character);

			if (character == INVALID_CHARACTER)
				character = STRAY_BYTE + bytes[at];
			maker->sequence.symbol[maker->sequence.length++] =
				number_of_character(&maker->numbering, character);
			at += taken;
		}
	}
}

/* A TokenSink with a Maker as its state. */
static void
add_tokens(void *state, const TokenBatch *batch)
{
	Maker *maker = state;
	size_t i;

	if (!maker_reserve(maker, batch->count))
		return;
	for (i = 0; i < batch->count; i++)
	{
		uint32_t start = batch->edge[2 * i];
		uint64_t key =
			shingle_of_token((const char *) batch->bytes + start, batch->edge[2 * i + 1] - start);

		maker->sequence.symbol[maker->sequence.length++] = number_of(&maker->numbering, key);
	}
}

static void
add_text_tokens(Maker *maker, const char *text, size_t length)
{
	tokens_of_text(text, length, add_tokens, maker);
}

static bool
pair_of(void (*add)(Maker *, const char *, size_t), const char *a, size_t length_a, const char *b,
		size_t length_b, SequencePair *pair)
{
	Maker maker;

	maker_begin(&maker);
	maker_take(&maker);
	add(&maker, a, length_a);
	pair->a = maker_take(&maker);
	add(&maker, b, length_b);
	pair->b = maker.sequence;
	pair->alphabet = (uint32_t) maker.numbering.table.count;
	numbering_free(&maker.numbering);
	return !maker.too_long && pair->a.length + pair->b.length <= SYMBOLS_MAX;
}

bool
pair_of_characters(const char *a, size_t length_a, const char *b, size_t length_b,
				   SequencePair *pair)
{
	return pair_of(add_characters, a, length_a, b, length_b, pair);
}

bool
pair_of_tokens(const char *a, size_t length_a, const char *b, size_t length_b, SequencePair *pair)
{
	return pair_of(add_text_tokens, a, length_a, b, length_b, pair);
}

void
pair_free(SequencePair *pair)
{
	host_free(pair->a.symbol);
	host_free(pair->b.symbol);
}
