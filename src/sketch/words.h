/*
 * words.h: symbols of b bits, counted 64 bits at a time.
 */
#ifndef NEARDUP_SKETCH_WORDS_H
#define NEARDUP_SKETCH_WORDS_H

#include <stdint.h>

#include "base/cpu.h"

/* The lowest bit of every b-bit symbol of a word. */
#define LOWEST_BITS(b) (~UINT64_C(0) / ((UINT64_C(1) << (b)) - 1))

/* Symbols that are not zero: folded onto their lowest bits, and counted. */
KERNEL_BODY int
count_symbols(uint64_t word, int b)
{
	for (int shift = b / 2; shift > 0; shift /= 2)
		word |= word >> shift;
	return __builtin_popcountll(word & LOWEST_BITS(b));
}

#endif
