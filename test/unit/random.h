/*
 * random.h: numbers that look random, the same on every machine.
 */
#ifndef NEARDUP_RANDOM_H
#define NEARDUP_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Returns the next number of SplitMix64. */
static inline uint64_t
next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static uint64_t random_seed = 20;

static inline uint32_t
random_below(uint32_t limit)
{
	return (uint32_t) ((next_random(&random_seed) >> 32) % limit);
}

static inline void
random_bytes(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t) next_random(&random_seed);
}

#endif
