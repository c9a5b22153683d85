/*
 * join_hits.c: pairs of documents that are in files, compared as a whole.
 *
 * A group finds pairs whose prefixes are near enough.  They are collected; then each document
 * that they name is read once, in the order of its list, and the pairs are compared.
 *
 * Similar documents meet in many groups, but only the first of these emits their pair.  So a
 * pair that was collected need not be collected again, and is remembered while memory holds it.
 */
#include "dedup/dedup.h"

#include "utils/memutils.h"

#include "base/sort.h"
#include "sketch/symbols.h"

/* Bytes of a pair that is remembered, at most: its key, which may have room to grow, and slots. */
#define SEEN_BYTES 48

/* Of each side, by place in the list. */
typedef struct Hit
{
	uint32 place[2];
} Hit;

struct Hits
{
	MemoryContext context;
	const AnyJoin *join;
	const JoinPrefix *prefixes;
	size_t most; /* hits that are compared together */
	size_t count;
	Hit *hit;
	uint64 *sorted;   /* places of one side, each with the number of its hit */
	uint32 *slot[2];  /* of the documents of each hit */
	uint8 *packed[2]; /* the documents of each side, by slot */
	size_t seen_most;
	Table seen;   /* the pairs collected */
	uint64 *pair; /* by number in the table */
	size_t pair_room;
};

/* Prepares for pairs of a join, within this much memory.  The current context holds them. */
Hits *
hits_begin(const AnyJoin *join, const JoinPrefix *prefixes, size_t memory)
{
	Hits *hits = palloc0(sizeof(Hits));
	size_t stride = join->symbols.stride;

	hits->context = CurrentMemoryContext;
	hits->join = join;
	hits->prefixes = prefixes;
	hits->seen_most = Min(memory / 2 / SEEN_BYTES, TABLE_MAX);
	hits->most =
		Max(memory / 2 / (sizeof(Hit) + sizeof(uint64) + 2 * (sizeof(uint32) + stride)), 1);
	hits->hit = palloc_extended(hits->most * sizeof(Hit), MCXT_ALLOC_HUGE);
	hits->sorted = palloc_extended(hits->most * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (int side = 0; side < 2; side++)
	{
		hits->slot[side] = palloc_extended(hits->most * sizeof(uint32), MCXT_ALLOC_HUGE);
		hits->packed[side] = palloc_extended(hits->most * stride, MCXT_ALLOC_HUGE);
	}
	table_begin(&hits->seen, 1);
	return hits;
}

/* Remembers a pair.  Returns whether it was remembered before. */
static bool
was_seen(Hits *hits, uint64 pair)
{
	MemoryContext old = MemoryContextSwitchTo(hits->context);
	uint64 hash;
	uint64_t *slot;
	bool seen;

	if (hits->seen.count < hits->seen_most)
		table_reserve(&hits->seen, hits->seen.count + 1);
	hash = table_hash(&hits->seen, pair);
	slot = table_search_key(&hits->seen, hash, pair, hits->pair, sizeof(uint64));
	seen = *slot != 0;
	if (!seen && hits->seen.count < hits->seen_most)
	{
		hits->pair = host_grow(hits->pair, &hits->pair_room, hits->seen.count + 1, sizeof(uint64));
		hits->pair[table_put(&hits->seen, slot, hash)] = pair;
	}
	MemoryContextSwitchTo(old);
	return seen;
}

/* Reads the documents of one side. */
static void
read_side(Hits *hits, int side)
{
	const Documents *list = hits->join->list[side];
	Records *records = list->source->records;
	uint8 *to = hits->packed[side] - records->stride;
	uint32 slots = 0;

	for (size_t i = 0; i < hits->count; i++)
		hits->sorted[i] = (uint64) hits->hit[i].place[side] << 32 | i;
	sort_records(hits->sorted, hits->count, sizeof(uint64), sort_key_unsigned);
	for (size_t i = 0; i < hits->count; i++)
	{
		uint32 place = hits->sorted[i] >> 32;

		host_check_interrupts_at(i);
		if (i == 0 || place != hits->sorted[i - 1] >> 32)
		{
			const uint8 *record =
				records_get(records, document_at(list, place), to += records->stride);

			if (record != to)
				memcpy(to, record, records->stride);
			slots++;
		}
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
	if (was_seen(hits, (uint64) left << 32 | right))
		return true;
	hits->hit[hits->count++] = (Hit){{left, right}};
	return hits->count < hits->most || hits_flush(hits, group);
}
