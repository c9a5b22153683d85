/*
 * hash.h: the hash function of the recipe (doc/explanation/recipe.md).
 */
#ifndef NEARDUP_BASE_HASH_H
#define NEARDUP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MIX_MULTIPLIER UINT64_C(0xD6E8FEB86659FD93)

/* Maps 64 bits one to one to 64 bits, each of which depends on all bits of x. */
static inline uint64_t
mix64(uint64_t x)
{
	x ^= x >> 32;
	x *= MIX_MULTIPLIER;
	x ^= x >> 32;
	x *= MIX_MULTIPLIER;
	x ^= x >> 32;
	return x;
}

extern void mix64_all(const uint64_t *from, size_t count, uint64_t *to);

#endif
