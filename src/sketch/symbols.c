/*
 * symbols.c: packed signatures: k symbols of b bits.
 */
#include <string.h>

#include "sketch/sketch.h"

bool
minhash_shape_is_valid(int64_t k, int64_t b)
{
	bool width = b == 1 || b == 2 || b == 4 || b == 8 || b == 16 || b == 32;

	return width && k >= MINHASH_K_MIN && k <= MINHASH_K_MAX && k * b <= MINHASH_BITS_MAX;
}

bool
simhash_shape_is_valid(int64_t f)
{
	return f == 64 || f == 128 || f == 256 || f == 512;
}

static inline void
put_big_endian(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t) (value >> 24);
	out[1] = (uint8_t) (value >> 16);
	out[2] = (uint8_t) (value >> 8);
	out[3] = (uint8_t) value;
}

uint32_t
symbol_at(const uint8_t *packed, int b, int i)
{
	const uint8_t *at = packed + (size_t) i * b / 8;

	if (b < 8)
		return *at >> (8 - b - i * b % 8) & ((1 << b) - 1);
	if (b == 8)
		return *at;
	if (b == 16)
		return (uint32_t) at[0] << 8 | at[1];
	return (uint32_t) at[0] << 24 | (uint32_t) at[1] << 16 | (uint32_t) at[2] << 8 | at[3];
}

/*
 * A bijection that spreads a symbol's order over all its bits (the finaliser
 * of MurmurHash3), so that low bits of unequal symbols agree by chance only.
 */
static inline uint32_t
spread(uint32_t symbol)
{
	symbol = (symbol ^ symbol >> 16) * UINT32_C(0x85EBCA6B);
	symbol = (symbol ^ symbol >> 13) * UINT32_C(0xC2B2AE35);
	return symbol ^ symbol >> 16;
}

/* Pack the low b < 32 bits of symbols; zeroes fill the last byte. */
static void
pack_low_bits(const uint32_t *symbols, int k, int b, uint8_t *packed)
{
	uint32_t pending = 0;
	int bits = 0;

	for (int i = 0; i < k; i++)
	{
		pending = pending << b | (symbols[i] & ((UINT32_C(1) << b) - 1));
		bits += b;
		while (bits >= 8)
		{
			bits -= 8;
			*packed++ = (uint8_t) (pending >> bits);
		}
	}
	if (bits > 0)
		*packed = (uint8_t) (pending << (8 - bits));
}

/* The same for the lowest bits, a byte at a time. */
static void
pack_lowest_bits(const uint32_t *symbols, int k, uint8_t *packed)
{
	for (; k >= 8; k -= 8, symbols += 8)
	{
		uint32_t byte = 0;

		for (int i = 0; i < 8; i++)
			byte |= (spread(symbols[i]) & 1) << (7 - i);
		*packed++ = (uint8_t) byte;
	}
	if (k > 0)
	{
		uint32_t last[8] = {0};

		for (int i = 0; i < k; i++)
			last[i] = spread(symbols[i]);
		pack_low_bits(last, k, 1, packed);
	}
}

void
minhash_pack(const uint32_t *symbols, int k, int b, uint8_t *packed)
{
	if (b == 1)
		pack_lowest_bits(symbols, k, packed);
	else if (b == 32)
		for (int i = 0; i < k; i++)
			put_big_endian(packed + 4 * i, symbols[i]);
	else
	{
		uint32_t some[64];

		/* 64 symbols fill whole bytes at any width. */
		for (int done = 0; done < k; done += 64)
		{
			int count = k - done < 64 ? k - done : 64;

			for (int i = 0; i < count; i++)
				some[i] = spread(symbols[done + i]);
			pack_low_bits(some, count, b, packed + (size_t) done * b / 8);
		}
	}
}

void
minhash_truncate(const uint8_t *from, int k, int b_from, int b_to, uint8_t *packed)
{
	uint32_t some[64];

	for (int done = 0; done < k; done += 64)
	{
		int count = k - done < 64 ? k - done : 64;

		for (int i = 0; i < count; i++)
		{
			uint32_t symbol = symbol_at(from, b_from, done + i);

			some[i] = b_from == 32 ? spread(symbol) : symbol;
		}
		pack_low_bits(some, count, b_to, packed + (size_t) done * b_to / 8);
	}
}

void
minhash_union(const uint8_t *x, const uint8_t *y, int k, uint8_t *packed)
{
	for (int i = 0; i < k; i++)
	{
		uint32_t a = symbol_at(x, 32, i);
		uint32_t b = symbol_at(y, 32, i);

		put_big_endian(packed + 4 * (size_t) i, a < b ? a : b);
	}
}
