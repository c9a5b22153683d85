/*
 * tokens.c: from UTF-8 text to batches of normalised tokens.
 *
 * ASCII is read in blocks of 64 bytes, everything else by characters.  Both give the same
 * tokens (doc/explanation/recipe.md).
 */
#include <string.h>

#include "text/batch.h"

/* Returns how many bits are set.  __builtin_popcountll would be a slow call without POPCNT. */
static inline int
token_count_bits(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (int) (bits * UINT64_C(0x0101010101010101) >> 56);
}

/*
 * Adds the edges of a block's tokens.  It always writes eight at a time, which saves
 * branches that the processor cannot predict.
 */
static inline void
put_block_edges(Batch *t, uint64_t word)
{
	uint64_t bits = word ^ (word << 1 | unit_is_open(t));
	int count = token_count_bits(bits);
	uint32_t *edge = t->edge + t->edges;

	t->edges += count;
	for (int done = 0; done < count; done += 8)
		for (int i = 0; i < 8; i++)
		{
			edge[done + i] = t->fill + (bits ? __builtin_ctzll(bits) : 0);
			bits &= bits - 1;
		}
}

/* Takes the first n <= 64 bytes, all ASCII, of a block that is copied already. */
static inline void
take_ascii(Batch *t, uint64_t word, int n)
{
	if (n < ASCII_BLOCK)
	{
		uint64_t below = (UINT64_C(1) << n) - 1;

		/* Repeat the bit of the last byte after the end, so that there is no edge. */
		bool last = n > 0 ? word >> (n - 1) & 1 : unit_is_open(t);

		word = (word & below) | (last ? ~below : 0);
	}
	put_block_edges(t, word);
	t->fill += n;
}

/* Notes the positions of n ASCII bytes, which are taken next. */
static void
position_ascii(Batch *t, const uint8_t *in, int n)
{
	uint32_t at = (uint32_t) (in - t->source);

	for (int i = 0; i < n; i++)
		t->position[t->fill + i] = (SourceRange){at + i, at + i + 1};
}

/* Copies a character; a call of memcpy would take longer. */
static inline void
copy_character(uint8_t *to, const uint8_t *utf8, int length)
{
	to[0] = utf8[0];
	if (length > 1)
		to[1] = utf8[1];
	if (length > 2)
		to[2] = utf8[2];
	if (length > 3)
		to[3] = utf8[3];
}

/* Adds a normalised character. */
static inline void
token_put_character(Batch *t, const uint8_t *utf8, int length, CharClass class)
{
	if (class == CHAR_SEPARATOR || class == CHAR_ALONE || (class == CHAR_WORD && t->alone))
		close_unit(t);
	if (class == CHAR_SEPARATOR || (class == CHAR_MARK && !unit_is_open(t)))
		return;
	if (!unit_is_open(t))
		put_edge(t);
	t->alone |= class == CHAR_ALONE;
	copy_character(t->bytes + t->fill, utf8, length);
	t->fill += length;
}

static void
put_normalised(Batch *t, const uint32_t *characters, int count)
{
	for (int i = 0; i < count; i++)
	{
		uint8_t utf8[4];
		int bytes = utf8_encode(characters[i], utf8);

		token_put_character(t, utf8, bytes, CHAR_CLASS(char_info(characters[i])));
	}
}

/* Normalises the piece at `in` and adds it; returns how many bytes it has. */
static size_t
token_put_piece(Batch *t, const uint8_t *in, size_t length)
{
	uint32_t result[PIECE_RESULT_MAX];
	int count;
	size_t most = t->position ? shortest_piece(in, length) : length;
	size_t taken = normalise_piece(in, most, result, &count);
	uint32_t before = t->fill;

	put_normalised(t, result, count);
	if (t->position)
		set_positions(t->position, before, t->fill, in - t->source, taken);
	return taken;
}

/* Characters below this, accented letters among them, and U+FF00 to U+FFFF have kept forms. */
#define KEPT_LETTERS 0x800
#define KEPT_FORMS (KEPT_LETTERS + 0x100)

/* Returns the position of a character among those whose normal forms are kept, KEPT_FORMS for none. */
static inline unsigned
kept_position(uint32_t code_point)
{
	if (code_point < KEPT_LETTERS)
		return code_point;
	return code_point >> 8 == 0xFF ? KEPT_LETTERS + (code_point & 0xFF) : KEPT_FORMS;
}

/*
 * Does the same as put_piece for a character of `length` bytes that is a piece by itself.  Capital
 * and accented letters, and the wide punctuation of Chinese and Japanese, are frequent and few, so
 * their normal forms are kept: one or two characters, the first in the low half; 0: not known
 * yet.  Threads may share them.
 */
static inline void
put_kept(Batch *t, const uint8_t *in, int length, unsigned position)
{
	static uint32_t forms[KEPT_FORMS];
	uint32_t form = __atomic_load_n(&forms[position], __ATOMIC_RELAXED);
	uint32_t result[PIECE_RESULT_MAX];
	int count;

	if (form != 0)
	{
		result[0] = (uint16_t) form;
		result[1] = form >> 16;
		put_normalised(t, result, result[1] != 0 ? 2 : 1);
		return;
	}
	normalise_piece(in, length, result, &count);
	put_normalised(t, result, count);
	if (count < 1 || count > 2)
		return;
	form = (uint16_t) result[0] | (count > 1 ? result[1] << 16 : 0);
	__atomic_store_n(&forms[position], form, __ATOMIC_RELAXED);
}

/* A character of the input. */
typedef struct Decoded
{
	uint32_t code_point;
	int length;    /* 0 at the end of the input */
	unsigned info; /* char_info, 0 if it is not valid */
} Decoded;

static inline Decoded
decode(const uint8_t *in, const uint8_t *end)
{
	Decoded d = {0, 0, CHAR_ASSIGNED | CHAR_BOUNDARY};

	if (in < end)
	{
		d.length = utf8_decode(in, end - in, &d.code_point);
		d.info = d.code_point == INVALID_CHARACTER ? 0 : char_info(d.code_point);
	}
	return d;
}

/* Returns whether text may be cut before a character. */
static inline bool
is_boundary(Decoded d)
{
	return !(d.info & CHAR_ASSIGNED) || (d.info & CHAR_BOUNDARY);
}

/* Removes the last character, an ASCII letter or digit of an open token. */
static void
untake_ascii(Batch *t)
{
	t->fill--;
	if (t->edge[t->edges - 1] == t->fill)
		t->edges--;
}

/*
 * Returns whether the character at `in` belongs to a run of characters that are not ASCII.  A
 * single ASCII separator inside the run, such as the space between two words, does too: a block
 * for it would make Korean a fifth slower.
 */
static inline bool
is_in_run(Decoded here, const uint8_t *in, const uint8_t *end)
{
	if (here.length == 0 || *in >= 0x80)
		return here.length > 0;
	return CHAR_CLASS(here.info) == CHAR_SEPARATOR && end - in > 1 && in[1] >= 0x80;
}

/* What changes of a batch and its source; take_stable() keeps it in registers. */
typedef struct Progress
{
	const uint8_t *in;
	uint32_t fill;
	uint32_t edges;
	bool alone;
} Progress;

/*
 * Takes the characters of a run, from *here at `in`, that normalisation leaves as they are, and
 * ASCII separators among them.  Returns the position after them, and sets *here to what follows.
 */
static inline const uint8_t *
take_stable(Batch *t, const uint8_t *in, const uint8_t *end, Decoded *here)
{
	uint8_t *bytes = t->bytes;
	uint32_t *edge = t->edge;
	SourceRange *position = t->position;
	Progress now = {in, t->fill, t->edges, t->alone};
	Progress before = now;
	Decoded d = *here;

	while (now.fill < BATCH_BYTES && now.edges < BATCH_EDGES && is_in_run(d, now.in, end) &&
		   ((d.info & CHAR_STABLE) || *now.in < 0x80))
	{
		CharClass class = CHAR_CLASS(d.info);
		bool ends =
			class == CHAR_SEPARATOR || class == CHAR_ALONE || (class == CHAR_WORD && now.alone);

		before = now;
		if (ends && (now.edges & 1))
		{
			edge[now.edges++] = now.fill;
			now.alone = false;
		}
		if (class != CHAR_SEPARATOR && (class != CHAR_MARK || (now.edges & 1)))
		{
			if (!(now.edges & 1))
				edge[now.edges++] = now.fill;
			now.alone |= class == CHAR_ALONE;
			copy_character(bytes + now.fill, now.in, d.length);
			now.fill += d.length;
		}
		if (position)
			set_positions(position, before.fill, now.fill, now.in - t->source, d.length);
		now.in += d.length;
		d = decode(now.in, end);
	}
	/* A mark that follows may change the last one, but no separator. */
	if (now.in > in && !is_boundary(d) && *before.in >= 0x80)
	{
		now = before;
		d = decode(now.in, end);
	}
	*here = d;
	t->fill = now.fill;
	t->edges = now.edges;
	t->alone = now.alone;
	return now.in;
}

/*
 * Takes a run of characters that are not ASCII, and returns the position after it.  after_word
 * says that the byte before `in` is a letter or digit, which was taken, and with which a mark
 * may compose.
 */
static const uint8_t *
take_characters(Batch *t, const uint8_t *in, const uint8_t *end, bool after_word)
{
	Decoded here = decode(in, end);

	if (after_word && !is_boundary(here))
	{
		untake_ascii(t);
		in += token_put_piece(t, in - 1, end - in + 1) - 1;
		here = decode(in, end);
	}
	for (;;)
	{
		unsigned kept;
		uint32_t before;

		batch_make_room(t);
		in = take_stable(t, in, end, &here);
		if (!is_in_run(here, in, end))
			break;
		batch_make_room(t);
		before = t->fill;
		kept = kept_position(here.code_point);
		if (kept < KEPT_FORMS && is_boundary(decode(in + here.length, end)))
		{
			put_kept(t, in, here.length, kept);
			if (t->position)
				set_positions(t->position, before, t->fill, in - t->source, here.length);
			in += here.length;
		}
		else
			in += token_put_piece(t, in, end - in);
		here = decode(in, end);
	}
	if (t->alone)
		close_unit(t);
	return in;
}

/* Takes the block at `in`, of n <= 64 bytes; returns the position after what it has taken. */
static inline const uint8_t *
take_block(Batch *t, const uint8_t *in, const uint8_t *end, int n)
{
	AsciiMasks masks;
	uint8_t padded[ASCII_BLOCK];
	const uint8_t *block = in;

	if (n < ASCII_BLOCK)
	{
		memset(padded, ' ', sizeof(padded));
		memcpy(padded, in, n);
		block = padded;
	}
	masks = ascii_block(block, t->bytes + t->fill);
	if (masks.high != 0)
		n = __builtin_ctzll(masks.high);
	if (t->position)
		position_ascii(t, in, n);
	take_ascii(t, masks.word, n);
	if (masks.high == 0)
		return in + n;
	return take_characters(t, in + n, end, unit_is_open(t));
}

/* Tokenizes a text; `placed` asks for the positions of all bytes. */
static void
tokenize(const char *utf8, size_t length, bool placed, TokenSink sink, void *state)
{
	const uint8_t *in = (const uint8_t *) utf8;
	const uint8_t *end = in + length;
	Batch t;

	batch_begin(&t, utf8, placed, sink, state);
	while (in < end)
	{
		size_t left = end - in;

		batch_make_room(&t);
		in = take_block(&t, in, end, left < ASCII_BLOCK ? (int) left : ASCII_BLOCK);
	}
	batch_end(&t);
}

/*
 * Normalises a text, cuts it into tokens, and gives them to sink in order, in batches.
 * Invalid bytes separate tokens.
 */
void
tokens_of_text(const char *utf8, size_t length, TokenSink sink, void *state)
{
	tokenize(utf8, length, false, sink, state);
}

/* Gives the tokens of a text of less than 4 GB to sink, with the positions of all bytes. */
void
placed_tokens_of_text(const char *utf8, size_t length, TokenSink sink, void *state)
{
	tokenize(utf8, length, true, sink, state);
}
