/*
 * chunks.c: from UTF-8 text to chunks: runs of characters of the normal form without
 * blanks.  Unlike tokens they include punctuation and symbols.
 */
#include "text/batch.h"

/* Adds a character of the normal form.  Blanks are those up to U+0020. */
static inline void
put_character(Batch *c, uint32_t character)
{
	if (character <= ' ')
	{
		close_unit(c);
		return;
	}
	if (!unit_is_open(c))
		put_edge(c);
	c->fill += utf8_encode(character, c->bytes + c->fill);
}

/* Adds the piece at `in`, and returns how many bytes it has. */
static size_t
put_piece(Batch *c, const uint8_t *in, size_t length)
{
	uint32_t result[PIECE_RESULT_MAX];
	int count;
	size_t taken;

	/* With an ASCII letter or digit a mark may compose, with another character it may not. */
	if (*in < 0x80 && (length == 1 || in[1] < 0x80 || !ascii_is_word((char) *in)))
	{
		put_character(c, (uint8_t) ascii_lower((char) *in));
		return 1;
	}
	taken = normalise_piece(in, c->position ? shortest_piece(in, length) : length, result, &count);
	for (int i = 0; i < count; i++)
		put_character(c, result[i]);
	return taken;
}

/*
 * Gives sink the chunks of a text: runs of normalised characters other than blanks, punctuation
 * and symbols included.  `placed` asks for the positions of all bytes; the text then has less than
 * 4 GB.
 */
void
chunks_of_text(const char *utf8, size_t length, bool placed, TokenSink sink, void *state)
{
	const uint8_t *in = (const uint8_t *) utf8;
	const uint8_t *end = in + length;
	Batch c;

	batch_begin(&c, utf8, placed, sink, state);
	while (in < end)
	{
		uint32_t before;
		size_t taken;

		batch_make_room(&c);
		before = c.fill;
		taken = put_piece(&c, in, end - in);
		if (placed)
			set_positions(c.position, before, c.fill, in - c.source, taken);
		in += taken;
	}
	batch_end(&c);
}
