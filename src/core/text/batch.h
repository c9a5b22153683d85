/*
 * batch.h: batches of the units of a text, tokens or chunks, on their way to a sink.
 */
#ifndef NEARDUP_TEXT_BATCH_H
#define NEARDUP_TEXT_BATCH_H

#include "text/ascii.h"
#include "text/internal.h"

/* A batch goes to the sink when it has this many bytes or edges. */
#define BATCH_BYTES 4096
#define BATCH_EDGES 4096

/* The most that a step adds, which is a block and a piece. */
#define STEP_BYTES (ASCII_BLOCK + PIECE_RESULT_MAX * 4)
#define STEP_EDGES (2 * ASCII_BLOCK + PIECE_RESULT_MAX * 2)

/* A longer unit is cut, so that edges fit into 32 bits. */
#define UNIT_MAX (UINT32_C(1) << 30)

typedef struct Batch
{
	TokenSink sink;
	void *state;
	uint8_t *bytes; /* normalised text since the last batch */
	size_t room;
	uint32_t fill;
	uint32_t edges; /* odd while a unit is open */
	bool alone;     /* the open token is one character and its marks */
	const uint8_t *source;
	SourceRange *position; /* the position of each byte; NULL: not noted */
	uint32_t edge[BATCH_EDGES + STEP_EDGES];
} Batch;

extern void batch_begin(Batch *batch, const char *utf8, bool placed, TokenSink sink, void *state);
extern void batch_flush(Batch *batch);
extern void batch_end(Batch *batch);

static inline bool
unit_is_open(const Batch *batch)
{
	return batch->edges & 1;
}

static inline void
put_edge(Batch *batch)
{
	batch->edge[batch->edges++] = batch->fill;
}

static inline void
close_unit(Batch *batch)
{
	if (unit_is_open(batch))
		put_edge(batch);
	batch->alone = false;
}

/* Makes room for one more step. */
static inline void
batch_make_room(Batch *batch)
{
	if (batch->fill >= BATCH_BYTES || batch->edges >= BATCH_EDGES)
		batch_flush(batch);
}

#endif
