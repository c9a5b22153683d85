/*
 * join_hits.c: pairs of documents that are in files, compared as a whole.
 *
 * A group finds pairs whose prefixes are near enough.  They are collected; then each document
 * that they name is read once, in the order of its list, and the pairs are compared.
 *
 * Similar documents meet in many groups, but only the first of these emits their pair.  So a
 * pair that was collected need not be collected again.  An array remembers pairs by their
 * hashes, each until another takes its place.
 */
#include "dedup/dedup.h"

#include "utils/memutils.h"

#include "base/hash.h"
#include "base/sort.h"
#include "sketch/symbols.h"

/* Of each side, by place in the list. */
typedef struct Hit
{
	uint32 place[2];
} Hit;

struct Hits
{
	const AnyJoin *join;
	const JoinPrefix *prefixes;
	size_t most; /* hits that are compared together */
	size_t count;
	Hit *hit;
	uint64 *sorted;   /* places of one side, each with the number of its hit */
	uint32 *slot[2];  /* of the documents of each hit */
	uint8 *packed[2]; /* the documents of each side, by slot */
	uint64 *seen;     /* pairs that were collected; 0: none */
	size_t mask;      /* places in seen[] - 1 */
};

/* Prepares for pairs of a join, within this much memory.  The current context holds them. */
Hits *
hits_begin(const AnyJoin *join, const JoinPrefix *prefixes, size_t memory)
{
	Hits *hits = palloc0(sizeof(Hits));
	size_t stride = join->symbols.stride;

	hits->join = join;
	hits->prefixes = prefixes;
	while ((hits->mask + 1) * 2 * sizeof(uint64) <= memory / 2)
		hits->mask = hits->mask * 2 + 1;
	hits->seen =
		palloc_extended((hits->mask + 1) * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	hits->most =
		Max(memory / 2 / (sizeof(Hit) + sizeof(uint64) + 2 * (sizeof(uint32) + stride)), 1);
	hits->hit = palloc_extended(hits->most * sizeof(Hit), MCXT_ALLOC_HUGE);
	hits->sorted = palloc_extended(hits->most * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (int side = 0; side < 2; side++)
	{
		hits->slot[side] = palloc_extended(hits->most * sizeof(uint32), MCXT_ALLOC_HUGE);
		hits->packed[side] = palloc_extended(hits->most * stride, MCXT_ALLOC_HUGE);
	}
	return hits;
}

/* Remembers a pair.  Returns whether it was remembered before. */
static bool
was_seen(Hits *hits, Hit hit)
{
	uint64 pair = ((uint64) hit.place[0] << 32 | hit.place[1]) + 1;
	uint64 *place = &hits->seen[mix64(pair) & hits->mask];
	bool seen = *place == pair;

	*place = pair;
	return seen;
}

/* Reads the documents of one side. */
static void
read_side(Hits *hits, int side)
{
	const Documents *list = hits->join->list[side];
	Records *records = list->source->records;
	uint32 slots = 0;

	for (size_t i = 0; i < hits->count; i++)
		hits->sorted[i] = (uint64) hits->hit[i].place[side] << 32 | i;
	sort_records(hits->sorted, hits->count, sizeof(uint64), sort_key_unsigned);
	for (size_t i = 0; i < hits->count; i++)
	{
		uint32 place = hits->sorted[i] >> 32;

		host_check_interrupts_at(i);
		if (i == 0 || place != hits->sorted[i - 1] >> 32)
			records_copy(records, document_at(list, place),
						 hits->packed[side] + slots++ * records->stride);
		hits->slot[side][(uint32) hits->sorted[i]] = slots - 1;
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
		const uint8 *x = hits->packed[0] + hits->slot[0][i] * join->stride;
		const uint8 *y = hits->packed[1] + hits->slot[1][i] * join->stride;
		int distance = symbol_distance(x, y, join->k, join->b);

		host_check_interrupts_at(i);
		if (distance <= join->h &&
			!join_found_before(&hits->join->plan, hits->prefixes, group, x, y))
			wanted =
				join->emit(join->state, hits->hit[i].place[0], hits->hit[i].place[1], distance);
	}
	join->stats->compared += hits->count;
	hits->count = 0;
	return wanted;
}

/* Collects a pair that a group has found.  Returns false if the sink ended the join. */
bool
hits_add(Hits *hits, int group, uint32 left, uint32 right)
{
	Hit hit = {{left, right}};

	if (was_seen(hits, hit))
		return true;
	hits->hit[hits->count++] = hit;
	return hits->count < hits->most || hits_flush(hits, group);
}
