/*
 * ascii.h: ASCII characters, one at a time and in blocks of 64.
 */
#ifndef NEARDUP_TEXT_ASCII_H
#define NEARDUP_TEXT_ASCII_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- One character ------------------------------------------------------ */

/* None of these depends on a locale. */

static inline bool
ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
ascii_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char
ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
}

static inline bool
ascii_is_word(char c)
{
	return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z');
}

/* ---- Blocks ------------------------------------------------------------- */

#define ASCII_BLOCK 64

/* Bit i of `word`: byte i is an ASCII letter or digit; of `high`: it is not ASCII. */
typedef struct AsciiMasks
{
	uint64_t word;
	uint64_t high;
} AsciiMasks;

/* Copies a block in lower case and returns its masks, in plain C. */
static inline AsciiMasks
ascii_block_plain(const uint8_t *in, uint8_t *lower)
{
	AsciiMasks masks = {0, 0};

	for (int i = 0; i < ASCII_BLOCK; i++)
	{
		uint8_t c = in[i];
		uint8_t folded = c | (uint8_t) (((uint8_t) (c - 'A') < 26) << 5);
		uint64_t word = (uint8_t) (folded - 'a') < 26 || (uint8_t) (c - '0') < 10;

		lower[i] = folded;
		masks.word |= word << i;
		masks.high |= (uint64_t) (c >> 7) << i;
	}
	return masks;
}

#ifdef __SSE2__

/* Sets all bits of the bytes in (low, high); a byte that is not ASCII is in no range. */
static inline __m128i
bytes_between(__m128i v, char low, char high)
{
	return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8(low)),
						 _mm_cmpgt_epi8(_mm_set1_epi8(high), v));
}

/* Copies a block in lower case and returns its masks. */
static inline AsciiMasks
ascii_block_sse2(const uint8_t *in, uint8_t *lower)
{
	AsciiMasks masks = {0, 0};

	for (int i = 0; i < ASCII_BLOCK; i += 16)
	{
		__m128i v = _mm_loadu_si128((const __m128i *) (in + i));
		__m128i upper = bytes_between(v, 'A' - 1, 'Z' + 1);
		__m128i folded = _mm_or_si128(v, _mm_and_si128(upper, _mm_set1_epi8(0x20)));
		__m128i word = _mm_or_si128(bytes_between(folded, 'a' - 1, 'z' + 1),
									bytes_between(folded, '0' - 1, '9' + 1));

		_mm_storeu_si128((__m128i *) (lower + i), folded);
		masks.word |= (uint64_t) _mm_movemask_epi8(word) << i;
		masks.high |= (uint64_t) _mm_movemask_epi8(v) << i;
	}
	return masks;
}

#define ascii_block ascii_block_sse2
#else
#define ascii_block ascii_block_plain
#endif

#endif
