/*
 * hash.h: the mixing function of the recipe.
 */
#ifndef NEARDUP_BASE_HASH_H
#define NEARDUP_BASE_HASH_H

#include <stdint.h>

#define MIX_MULTIPLIER UINT64_C(0xD6E8FEB86659FD93)

/* A bijection of 64 bits in which every input bit reaches every output bit. */
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

#endif
