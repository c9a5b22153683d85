/*
 * seen.h: two bits for each of many hashes, which share them: what was seen once, and again.
 */
#ifndef NEARDUP_BASE_SEEN_H
#define NEARDUP_BASE_SEEN_H

#include <string.h>

#include "base/host.h"

typedef struct SeenTwice
{
	uint8_t *bits; /* two for each slot */
	size_t slots;
	uint64_t twice; /* slots that have both bits */
	uint64_t again; /* hashes, but for the first one of each slot */
} SeenTwice;

/* Prepares slots for hashes that were not seen yet. */
static inline SeenTwice
seen_make(size_t slots)
{
	SeenTwice seen = {.slots = (Min(slots, UINT32_MAX - 4) + 4) / 4 * 4};

	seen.bits = host_alloc(seen.slots / 4);
	memset(seen.bits, 0, seen.slots / 4);
	return seen;
}

static inline void
seen_free(SeenTwice *seen)
{
	host_free(seen->bits);
	seen->bits = NULL;
}

/* Returns the slot of a hash. */
static inline size_t
seen_slot(const SeenTwice *seen, uint64_t hash)
{
	return (size_t) ((hash >> 32) * seen->slots >> 32);
}

static inline void
seen_fetch(const SeenTwice *seen, uint64_t hash)
{
	__builtin_prefetch(seen->bits + seen_slot(seen, hash) / 4, 1);
}

/* Sets bits of a slot. */
static inline void
seen_set(SeenTwice *seen, size_t slot, unsigned set)
{
	unsigned before = seen->bits[slot / 4] >> slot % 4 * 2 & 3;

	seen->bits[slot / 4] |= set << slot % 4 * 2;
	seen->again += before != 0;
	seen->twice += before != 3 && (before | set) == 3;
}

/*
 * Sees a hash: its first bit says that it came, its second that it came again.  Returns whether none has come
 * to its slot before.
 */
static inline bool
seen_again(SeenTwice *seen, uint64_t hash)
{
	size_t slot = seen_slot(seen, hash);
	bool first = (seen->bits[slot / 4] >> slot % 4 * 2 & 1) == 0;

	seen_set(seen, slot, first ? 1 : 2);
	return first;
}

/* Sees a hash on one of two sides, each of which has a bit. */
static inline void
seen_by(SeenTwice *seen, uint64_t hash, int side)
{
	seen_set(seen, seen_slot(seen, hash), 1u << side);
}

/* Returns whether a hash may have come twice, or on both sides. */
static inline bool
seen_is_both(const SeenTwice *seen, uint64_t hash)
{
	size_t slot = seen_slot(seen, hash);

	return (seen->bits[slot / 4] >> slot % 4 * 2 & 3) == 3;
}

#endif
