/*
 * batch.c: batches of the units of a text, tokens or chunks, on their way to a sink.
 */
#include "text/batch.h"

#include <string.h>

/* Starts a batch of the units of a text; `placed` asks for the positions of all bytes. */
void
batch_begin(Batch *batch, const char *utf8, bool placed, TokenSink sink, void *state)
{
	batch->sink = sink;
	batch->state = state;
	batch->room = BATCH_BYTES + STEP_BYTES + TOKEN_SLACK;
	batch->bytes = host_alloc(batch->room);
	batch->fill = batch->edges = 0;
	batch->alone = false;
	batch->source = (const uint8_t *) utf8;
	batch->position = placed ? host_alloc(batch->room * sizeof(SourceRange)) : NULL;
}

/* Gives the finished units to the sink, and moves an open one to the front. */
static void
give_units(Batch *batch)
{
	TokenBatch units = {batch->bytes, batch->edge, batch->edges / 2, batch->position};
	uint32_t keep_from = unit_is_open(batch) ? batch->edge[batch->edges - 1] : batch->fill;

	if (units.count > 0)
		batch->sink(batch->state, &units);
	batch->edges &= 1;
	batch->edge[0] = 0;
	batch->fill -= keep_from;
	if (keep_from > 0)
		memmove(batch->bytes, batch->bytes + keep_from, batch->fill);
	if (batch->position && keep_from > 0)
		memmove(batch->position, batch->position + keep_from, batch->fill * sizeof(SourceRange));
	host_check_interrupts();
}

/* Gives the finished units to the sink, and makes room for one more step. */
void
batch_flush(Batch *batch)
{
	size_t room = batch->room;
	size_t needed;

	if (batch->fill >= UNIT_MAX)
		close_unit(batch);
	give_units(batch);
	needed = batch->fill + STEP_BYTES + TOKEN_SLACK;
	if (batch->position)
		batch->position = host_grow(batch->position, &room, needed, sizeof(SourceRange));
	batch->bytes = host_grow(batch->bytes, &batch->room, needed, 1);
}

/* Closes the open unit, gives the last ones to the sink, and frees the batch. */
void
batch_end(Batch *batch)
{
	close_unit(batch);
	give_units(batch);
	host_free(batch->bytes);
	host_free(batch->position);
}
