/*
 * symbols.h: words of 64 bits with symbols of b bits.
 */
#ifndef NEARDUP_SKETCH_SYMBOLS_H
#define NEARDUP_SKETCH_SYMBOLS_H

#include <stdint.h>

#include "base/cpu.h"

/* A word in which the lowest bit of every b-bit symbol is set. */
#define LOWEST_BITS(b) (~UINT64_C(0) / ((UINT64_C(1) << (b)) - 1))

/* Returns 8 bytes of packed symbols as a number, whose highest bits are the first byte. */
static inline uint64_t
packed_word(const uint8_t *packed)
{
	return __builtin_bswap64(load_word(packed));
}

/* Returns how many b-bit symbols of a word are not zero. */
KERNEL_BODY int
count_symbols(uint64_t word, int b)
{
	/* Fold each symbol onto its lowest bit. */
	if (b >= 32)
		word |= word >> 16;
	if (b >= 16)
		word |= word >> 8;
	if (b >= 8)
		word |= word >> 4;
	if (b >= 4)
		word |= word >> 2;
	if (b >= 2)
		word |= word >> 1;
	return __builtin_popcountll(word & LOWEST_BITS(b));
}

#endif
