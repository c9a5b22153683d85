/*
 * chunks.c: from UTF-8 text to chunks: runs of characters of the normal form without
 * blanks.  Unlike tokens they include punctuation and symbols.
 */
#include "text/internal.h"

#include <string.h>

#include "text/ascii.h"

/* A batch goes to the sink when it has this many bytes or edges. */
#define BATCH_BYTES 4096
#define BATCH_EDGES 4096

/* The most that a piece adds. */
#define STEP_BYTES (PIECE_RESULT_MAX * 4)
#define STEP_EDGES (PIECE_RESULT_MAX + 1)

/* A longer chunk is cut, so that edges fit into 32 bits. */
#define CHUNK_MAX (UINT32_C(1) << 30)

typedef struct Chunker
{
	TokenSink sink;
	void *state;
	uint8_t *bytes; /* chunks since the last batch */
	size_t room;
	uint32_t fill;
	uint32_t edges; /* odd while a chunk is open */
	const uint8_t *source;
	Place *place; /* of each of bytes; NULL: nobody asks */
	uint32_t edge[BATCH_EDGES + STEP_EDGES];
} Chunker;

/* Adds an edge if a chunk is open, or if none is. */
static inline void
put_edge(Chunker *c, bool is_open)
{
	if ((c->edges & 1) == is_open)
		c->edge[c->edges++] = c->fill;
}

/* Gives the finished chunks to the sink, and moves an open one to the front. */
static void
flush(Chunker *c)
{
	TokenBatch batch = {c->bytes, c->edge, c->edges / 2, c->place};
	uint32_t keep_from = c->edges & 1 ? c->edge[c->edges - 1] : c->fill;

	if (batch.count > 0)
		c->sink(c->state, &batch);
	c->edges &= 1;
	c->edge[0] = 0;
	c->fill -= keep_from;
	memmove(c->bytes, c->bytes + keep_from, c->fill);
	if (c->place)
		memmove(c->place, c->place + keep_from, c->fill * sizeof(Place));
	host_check_interrupts();
}

static inline void
make_room(Chunker *c)
{
	if (c->fill < BATCH_BYTES && c->edges < BATCH_EDGES)
		return;
	if (c->fill >= CHUNK_MAX)
		put_edge(c, true);
	flush(c);
	if (c->place)
	{
		size_t room = c->room;

		c->place = host_grow(c->place, &room, c->fill + STEP_BYTES + TOKEN_SLACK, sizeof(Place));
	}
	c->bytes = host_grow(c->bytes, &c->room, c->fill + STEP_BYTES + TOKEN_SLACK, 1);
}

/* Adds a character of the normal form.  Blanks are those up to U+0020. */
static inline void
put_character(Chunker *c, uint32_t character)
{
	put_edge(c, character <= ' ');
	if (character > ' ')
		c->fill += utf8_encode(character, c->bytes + c->fill);
}

/* Adds the piece at in, and returns how many bytes it has. */
static size_t
put_piece(Chunker *c, const uint8_t *in, size_t length)
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
	taken = normalise_piece(in, c->place ? shortest_piece(in, length) : length, result, &count);
	for (int i = 0; i < count; i++)
		put_character(c, result[i]);
	return taken;
}

/* Adds the shortest piece at in, with the place of its bytes, and returns how many it has. */
static size_t
put_placed_piece(Chunker *c, const uint8_t *in, size_t length)
{
	uint32_t before = c->fill;
	size_t taken = put_piece(c, in, length);

	set_places(c->place, before, c->fill, in - c->source, taken);
	return taken;
}

/* Cuts a text into chunks; `placed` asks for the places of all bytes. */
static void
cut_into_chunks(const char *utf8, size_t length, bool placed, TokenSink sink, void *state)
{
	const uint8_t *in = (const uint8_t *) utf8;
	const uint8_t *end = in + length;
	Chunker c = {.sink = sink, .state = state, .room = BATCH_BYTES + STEP_BYTES + TOKEN_SLACK};

	c.bytes = host_alloc(c.room);
	c.source = in;
	c.place = placed ? host_alloc(c.room * sizeof(Place)) : NULL;
	while (in < end)
	{
		make_room(&c);
		in += placed ? put_placed_piece(&c, in, end - in) : put_piece(&c, in, end - in);
	}
	put_edge(&c, true);
	flush(&c);
	host_free(c.bytes);
	host_free(c.place);
}

void
chunks_of_text(const char *utf8, size_t length, TokenSink sink, void *state)
{
	cut_into_chunks(utf8, length, false, sink, state);
}

void
placed_chunks_of_text(const char *utf8, size_t length, TokenSink sink, void *state)
{
	cut_into_chunks(utf8, length, true, sink, state);
}
