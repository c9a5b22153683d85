/*
 * symbols_x86.h: counting symbols in vectors of x86 processors.
 */
#ifndef NEARDUP_SKETCH_SYMBOLS_X86_H
#define NEARDUP_SKETCH_SYMBOLS_X86_H

#ifdef __x86_64__

#include <immintrin.h>

#include "sketch/symbols.h"

/* Returns how many b-bit symbols of a vector are not zero, as counts in bytes. */
KERNEL_BODY TARGET_AVX2 __m256i
count_symbols_avx2(__m256i word, int b)
{
	const __m256i low = _mm256_set1_epi8(15);
	const __m256i count = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
										   2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);

	for (int shift = b / 2; shift > 0; shift /= 2)
		word = _mm256_or_si256(word, _mm256_srli_epi64(word, shift));
	if (b > 1)
		word = _mm256_and_si256(word, _mm256_set1_epi64x((long long) LOWEST_BITS(b)));
	return _mm256_add_epi8(_mm256_shuffle_epi8(count, _mm256_and_si256(word, low)),
						   _mm256_shuffle_epi8(count,
											   _mm256_and_si256(_mm256_srli_epi16(word, 4), low)));
}

/* Returns how many b-bit symbols of each 64-bit word are not zero. */
KERNEL_BODY TARGET_AVX512 __m512i
count_symbols_avx512(__m512i word, int b)
{
	for (int shift = b / 2; shift > 0; shift /= 2)
		word = _mm512_or_si512(word, _mm512_srli_epi64(word, shift));
	if (b > 1)
		word = _mm512_and_si512(word, _mm512_set1_epi64((long long) LOWEST_BITS(b)));
	return _mm512_popcnt_epi64(word);
}

#endif

#endif
