/*
 * symbols_arm.h: counting symbols in vectors of 64-bit ARM processors.
 */
#ifndef NEARDUP_SKETCH_SYMBOLS_ARM_H
#define NEARDUP_SKETCH_SYMBOLS_ARM_H

#ifdef __aarch64__

#include <arm_neon.h>

#include "sketch/symbols.h"

/* Returns how many b-bit symbols of a vector are not zero, as counts in bytes. */
KERNEL_BODY uint8x16_t
count_symbols_neon(uint64x2_t word, int b)
{
	for (int shift = b / 2; shift > 0; shift /= 2)
		word = vorrq_u64(word, vshlq_u64(word, vdupq_n_s64(-shift)));
	if (b > 1)
		word = vandq_u64(word, vdupq_n_u64(LOWEST_BITS(b)));
	return vcntq_u8(vreinterpretq_u8_u64(word));
}

#endif

#endif
