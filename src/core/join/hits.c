/*
 * hits.c: pairs of documents that are in files, compared as a whole.
 *
 * A group finds pairs whose prefixes are near enough.  They are collected; then each document
 * that they name is read once, in the order of its list, and the pairs are compared.
 *
 * Similar documents meet in many groups, but only the first of these emits their pair.  So a
 * pair that was collected need not be collected again.  An array remembers pairs by their
 * hashes, each until another takes its place.
 */
#include "join/spread.h"

#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "sketch/symbols.h"

/* Of each side, by place in the list. */
typedef struct Hit
{
	uint32_t place[2];
} Hit;

struct Hits
{
	const SpreadJoin *join;
	const JoinPrefix *prefixes;
	size_t most; /* hits that are compared together */
	size_t count;
	Hit *hit;
	uint64_t *sorted;   /* places of one side, each with the number of its hit */
	uint32_t *slot[2];  /* the slots of the documents of each hit */
	uint8_t *packed[2]; /* the documents of each side, by slot */
	uint64_t *seen;     /* pairs that were collected; 0: none */
	size_t mask;        /* places in seen[] - 1 */
};

/* Prepares for pairs of a join, within this much memory. */
Hits *
hits_begin(const SpreadJoin *join, const JoinPrefix *prefixes, size_t memory)
{
	Hits *hits = host_alloc(sizeof(Hits));
	size_t stride = join->symbols.stride;

	*hits = (Hits){.join = join, .prefixes = prefixes};
	while ((hits->mask + 1) * 2 * sizeof(uint64_t) <= memory / 2)
		hits->mask = hits->mask * 2 + 1;
	hits->seen = host_alloc((hits->mask + 1) * sizeof(uint64_t));
	memset(hits->seen, 0, (hits->mask + 1) * sizeof(uint64_t));
	hits->most =
		Max(memory / 2 / (sizeof(Hit) + sizeof(uint64_t) + 2 * (sizeof(uint32_t) + stride)), 1);
	hits->hit = host_alloc(hits->most * sizeof(Hit));
	hits->sorted = host_alloc(hits->most * sizeof(uint64_t));
	for (int side = 0; side < 2; side++)
	{
		hits->slot[side] = host_alloc(hits->most * sizeof(uint32_t));
		hits->packed[side] = host_alloc(hits->most * stride);
	}
	return hits;
}

/* Frees what hits_begin() has allocated. */
void
hits_end(Hits *hits)
{
	for (int side = 0; side < 2; side++)
	{
		host_free(hits->slot[side]);
		host_free(hits->packed[side]);
	}
	host_free(hits->sorted);
	host_free(hits->hit);
	host_free(hits->seen);
	host_free(hits);
}

/* Remembers a pair.  Returns whether it was remembered before. */
static bool
was_seen(Hits *hits, Hit hit)
{
	uint64_t pair = ((uint64_t) hit.place[0] << 32 | hit.place[1]) + 1;
	uint64_t *place = &hits->seen[mix64(pair) & hits->mask];
	bool seen = *place == pair;

	*place = pair;
	return seen;
}

/* Reads the documents of one side. */
static void
read_side(Hits *hits, int side)
{
	const FileList *list = spread_side(hits->join, side);
	size_t stride = hits->join->symbols.stride;
	uint32_t slots = 0;

	for (size_t i = 0; i < hits->count; i++)
		hits->sorted[i] = (uint64_t) hits->hit[i].place[side] << 32 | i;
	sort_records(hits->sorted, hits->count, sizeof(uint64_t), sort_key_unsigned);
	for (size_t i = 0; i < hits->count; i++)
	{
		uint32_t place = hits->sorted[i] >> 32;

		host_check_interrupts_at(i);
		if (i == 0 || place != hits->sorted[i - 1] >> 32)
			host_file_read(list->file, (uint64_t) place * list->stride,
						   hits->packed[side] + slots++ * stride, stride);
		hits->slot[side][(uint32_t) hits->sorted[i]] = slots - 1;
	}
}

/* Compares the pairs that a group has collected.  Returns false if the sink ended the join. */
bool
hits_flush(Hits *hits, int group)
{
	const SymbolJoin *join = &hits->join->symbols;
	bool wanted = true;

	for (int side = 0; side < 2; side++)
		read_side(hits, side);
	for (size_t i = 0; i < hits->count && wanted; i++)
	{
		const uint8_t *x = hits->packed[0] + hits->slot[0][i] * join->stride;
		const uint8_t *y = hits->packed[1] + hits->slot[1][i] * join->stride;
		int distance = symbol_distance(x, y, join->k, join->b);

		host_check_interrupts_at(i);
		if (distance > join->h || join_found_before(&hits->join->plan, hits->prefixes, group, x, y))
			continue;
		if (join->labels.label != NULL)
			labels_connect(&join->labels, hits->hit[i].place[0], hits->hit[i].place[1]);
		wanted = join->emit(join->state, hits->hit[i].place[0], hits->hit[i].place[1], distance);
	}
	join->stats->compared += hits->count;
	hits->count = 0;
	return wanted;
}

/* Collects a pair that a group has found.  Returns false if the sink ended the join. */
bool
hits_add(Hits *hits, int group, uint32_t left, uint32_t right)
{
	Hit hit = {{left, right}};

	if (was_seen(hits, hit))
		return true;
	hits->hit[hits->count++] = hit;
	return hits->count < hits->most || hits_flush(hits, group);
}
