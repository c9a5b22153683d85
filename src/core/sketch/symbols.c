/*
 * symbols.c: packed signatures: their shapes, packing, and how many symbols differ.
 */
#include "sketch/symbols.h"

#include <string.h>

#include "sketch/sketch.h"
#include "sketch/symbols_arm.h"
#include "sketch/symbols_x86.h"

/* ---- Shapes and packing ---------------------------------------------------- */

/* Returns whether k and k * b are within the limits, and b is 1, 2, 4, 8, 16 or 32. */
bool
minhash_shape_is_valid(int64_t k, int64_t b)
{
	bool width = b == 1 || b == 2 || b == 4 || b == 8 || b == 16 || b == 32;

	return width && k >= MINHASH_K_MIN && k <= MINHASH_K_MAX && k * b <= MINHASH_BITS_MAX;
}

/* Returns whether f is 64, 128, 256 or 512. */
bool
simhash_shape_is_valid(int64_t f)
{
	return f == 64 || f == 128 || f == 256 || f == 512;
}

static inline void
symbol_put_big_endian(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t) (value >> 24);
	out[1] = (uint8_t) (value >> 16);
	out[2] = (uint8_t) (value >> 8);
	out[3] = (uint8_t) value;
}

/* Returns symbol i of a packed signature. */
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
 * Maps a symbol one to one to a number whose low bits depend on all of it (the finaliser
 * of MurmurHash3), so that the low bits of unequal symbols agree by chance only.
 */
static inline uint32_t
spread(uint32_t symbol)
{
	symbol = (symbol ^ symbol >> 16) * UINT32_C(0x85EBCA6B);
	symbol = (symbol ^ symbol >> 13) * UINT32_C(0xC2B2AE35);
	return symbol ^ symbol >> 16;
}

/* Packs the low b < 32 bits of symbols; fills the last byte with zeros. */
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

/*
 * Packs symbols of 32 bits into b bits each, at packed[SYMBOL_BYTES(k, b)].  If b < 32, a
 * packed symbol is the low bits of a hash of the symbol (b-bit minwise hashing, Li and
 * Konig, WWW 2010), so truncating a packed signature equals packing to fewer bits.
 */
void
minhash_pack(const uint32_t *symbols, int k, int b, uint8_t *packed)
{
	if (b == 32)
		for (int i = 0; i < k; i++)
			symbol_put_big_endian(packed + 4 * i, symbols[i]);
	else
	{
		uint32_t some[64];

		/* 64 symbols fill whole bytes at any width. */
		for (int done = 0; done < k; done += 64)
		{
			int count = Min(k - done, 64);

			for (int i = 0; i < count; i++)
				some[i] = spread(symbols[done + i]);
			pack_low_bits(some, count, b, packed + (size_t) done * b / 8);
		}
	}
}

/* Truncates a packed signature from b_from to b_to < b_from bits a symbol. */
void
minhash_truncate(const uint8_t *from, int k, int b_from, int b_to, uint8_t *packed)
{
	uint32_t some[64];

	for (int done = 0; done < k; done += 64)
	{
		int count = Min(k - done, 64);

		for (int i = 0; i < count; i++)
		{
			uint32_t symbol = symbol_at(from, b_from, done + i);

			some[i] = b_from == 32 ? spread(symbol) : symbol;
		}
		pack_low_bits(some, count, b_to, packed + (size_t) done * b_to / 8);
	}
}

/* Computes the symbol-wise least of two packed signatures of k symbols of 32 bits. */
void
minhash_union(const uint8_t *x, const uint8_t *y, int k, uint8_t *packed)
{
	for (int i = 0; i < k; i++)
	{
		uint32_t a = symbol_at(x, 32, i);
		uint32_t b = symbol_at(y, 32, i);

		symbol_put_big_endian(packed + 4 * (size_t) i, Min(a, b));
	}
}

/* ---- Distance --------------------------------------------------------------- */

static inline uint64_t
symbol_load_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/*
 * Returns the last 1 to 7 bytes before end, padded with zeros.  long_enough says that the
 * signature has 8 bytes or more.
 */
static inline uint64_t
load_last(const uint8_t *end, size_t bytes, bool long_enough)
{
	/* At offset n: 8 - n bytes of zeros, then n of ones. */
	static const uint8_t ones[16] = {0,   0,   0,   0,   0,   0,   0,   0,
									 255, 255, 255, 255, 255, 255, 255, 255};
	uint64_t word = 0;

	if (long_enough)
		return symbol_load_word(end - 8) & symbol_load_word(ones + bytes);
	for (size_t i = 1; i <= bytes; i++)
		word = word << 8 | end[-(ptrdiff_t) i];
	return word;
}

/* Returns how many symbols differ in signatures of `bytes` bytes. */
KERNEL_BODY int
distance_of_bytes(const uint8_t *x, const uint8_t *y, size_t bytes, int b)
{
	size_t words = bytes / 8;
	size_t last = bytes % 8;
	int distance = 0;

	for (size_t i = 0; i < words; i++)
		distance += count_symbols(symbol_load_word(x + 8 * i) ^ symbol_load_word(y + 8 * i), b);
	if (last > 0)
		distance += count_symbols(load_last(x + bytes, last, words > 0) ^
									  load_last(y + bytes, last, words > 0),
								  b);
	return distance;
}

/* Compares one signature with many. */
KERNEL_BODY void
distances_of_bytes(const uint8_t *x, const uint8_t *first, size_t stride, int count, size_t bytes,
				   int b, int32_t *distance)
{
	for (int i = 0; i < count; i++)
		distance[i] = distance_of_bytes(x, first + i * stride, bytes, b);
}

/* Returns the least of some distances. */
KERNEL_BODY int
least_of(const int32_t *distance, int count)
{
	int least = INT32_MAX;

	for (int i = 0; i < count; i++)
		least = Min(least, distance[i]);
	return least;
}

#define distance_of_bytes_plain distance_of_bytes
#define distance_of_bytes_popcnt distance_of_bytes
#define distances_of_bytes_plain distances_of_bytes
#define distances_of_bytes_popcnt distances_of_bytes

#ifdef __x86_64__

/* ---- Distance by AVX-512 ---------------------------------------------------- */

#define VECTOR_BYTES 64

/* Returns the differing symbols of up to VECTOR_BYTES bytes, those that mask has. */
KERNEL_BODY TARGET_AVX512 __m512i
count_differing(__m512i x, const uint8_t *y, __mmask64 mask, int b)
{
	return count_symbols_avx512(_mm512_xor_si512(x, _mm512_maskz_loadu_epi8(mask, y)), b);
}

/* Returns the mask of the bytes after whole vectors. */
KERNEL_BODY TARGET_AVX512 __mmask64
mask_of_last(size_t bytes)
{
	return _bzhi_u64(~UINT64_C(0), (unsigned) (bytes % VECTOR_BYTES));
}

/* Returns the differing symbols of `bytes` bytes, in eight sums. */
KERNEL_BODY TARGET_AVX512 __m512i
sums_of_bytes(const uint8_t *x, const uint8_t *y, size_t bytes, int b)
{
	__m512i sum = _mm512_setzero_si512();
	__mmask64 last = mask_of_last(bytes);

	for (; bytes >= VECTOR_BYTES; bytes -= VECTOR_BYTES)
	{
		__m512i differ = _mm512_xor_si512(_mm512_loadu_si512(x), _mm512_loadu_si512(y));

		sum = _mm512_add_epi64(sum, count_symbols_avx512(differ, b));
		x += VECTOR_BYTES;
		y += VECTOR_BYTES;
	}
	if (last != 0)
		sum = _mm512_add_epi64(sum, count_differing(_mm512_maskz_loadu_epi8(last, x), y, last, b));
	return sum;
}

/* Returns how many symbols differ in signatures of `bytes` bytes. */
KERNEL_BODY TARGET_AVX512 int
distance_of_bytes_avx512(const uint8_t *x, const uint8_t *y, size_t bytes, int b)
{
	if (bytes <= 8)
		return distance_of_bytes(x, y, bytes, b);
	return (int) _mm512_reduce_add_epi64(sums_of_bytes(x, y, bytes, b));
}

/* Adds the sums of two documents in pairs: sums of x in even positions, sums of y in odd ones. */
KERNEL_BODY TARGET_AVX512 __m512i
add_pairs(__m512i x, __m512i y)
{
	return _mm512_add_epi64(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
}

/* Adds the quarters of four vectors: quarter i of the result is the sum of the quarters of x[i]. */
KERNEL_BODY TARGET_AVX512 __m512i
add_quarters(const __m512i x[4])
{
	__m512i a = _mm512_add_epi64(_mm512_shuffle_i64x2(x[0], x[1], 0x88),
								 _mm512_shuffle_i64x2(x[0], x[1], 0xDD));
	__m512i b = _mm512_add_epi64(_mm512_shuffle_i64x2(x[2], x[3], 0x88),
								 _mm512_shuffle_i64x2(x[2], x[3], 0xDD));

	return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
}

/*
 * Compares with eight documents at a time, so that their sums are added together.  Whether a
 * document has more bytes than a vector is a constant, so that the compiler unrolls this.
 */
KERNEL_BODY TARGET_AVX512 int
distances_of_eights(const uint8_t *x, const uint8_t *first, size_t stride, int count, size_t bytes,
					bool more, int b, int32_t *distance)
{
	__mmask64 mask = bytes >= VECTOR_BYTES ? ~UINT64_C(0) : mask_of_last(bytes);
	__m512i start = _mm512_maskz_loadu_epi8(mask, x);
	int done = 0;

	for (; done + 8 <= count; done += 8)
	{
		__m512i sum[8];
		__m512i pair[4];

		for (int i = 0; i < 8; i++)
		{
			const uint8_t *y = first + (done + i) * stride;

			sum[i] = count_differing(start, y, mask, b);
			if (more)
				sum[i] = _mm512_add_epi64(sum[i],
										  sums_of_bytes(x + VECTOR_BYTES, y + VECTOR_BYTES,
														bytes - VECTOR_BYTES, b));
		}
		for (int i = 0; i < 4; i++)
			pair[i] = add_pairs(sum[2 * i], sum[2 * i + 1]);
		_mm256_storeu_si256((__m256i *) (distance + done),
							_mm512_cvtepi64_epi32(add_quarters(pair)));
	}
	return done;
}

/* Sets distance[] to how many symbols of each of `count` signatures differ from x. */
KERNEL_BODY TARGET_AVX512 void
distances_of_bytes_avx512(const uint8_t *x, const uint8_t *first, size_t stride, int count,
						  size_t bytes, int b, int32_t *distance)
{
	int done = 0;

	if (bytes > VECTOR_BYTES)
		done = distances_of_eights(x, first, stride, count, bytes, true, b, distance);
	else if (bytes > 8)
		done = distances_of_eights(x, first, stride, count, bytes, false, b, distance);
	for (; done < count; done++)
		distance[done] = distance_of_bytes_avx512(x, first + done * stride, bytes, b);
}

#endif

#ifdef __aarch64__

/* ---- Distance by NEON ------------------------------------------------------- */

#define NEON_BYTES 16

/* A byte counts at most 255, in this number of vectors. */
#define NEON_VECTORS_MAX 31

/* Returns how many symbols differ in signatures of `bytes` bytes. */
KERNEL_BODY int
distance_of_bytes_neon(const uint8_t *x, const uint8_t *y, size_t bytes, int b)
{
	int distance = 0;

	while (bytes >= NEON_BYTES)
	{
		size_t vectors = Min(bytes / NEON_BYTES, NEON_VECTORS_MAX);
		uint8x16_t sum = vdupq_n_u8(0);

		for (size_t i = 0; i < vectors; i++)
		{
			uint8x16_t differ = veorq_u8(vld1q_u8(x), vld1q_u8(y));

			sum = vaddq_u8(sum, count_symbols_neon(vreinterpretq_u64_u8(differ), b));
			x += NEON_BYTES;
			y += NEON_BYTES;
		}
		distance += vaddlvq_u8(sum);
		bytes -= vectors * NEON_BYTES;
	}
	return distance + distance_of_bytes(x, y, bytes, b);
}

/* Compares one signature with many; 64 bytes, the default, without loops over bytes. */
KERNEL_BODY void
distances_of_bytes_neon(const uint8_t *x, const uint8_t *first, size_t stride, int count,
						size_t bytes, int b, int32_t *distance)
{
	for (int i = 0; i < count; i++)
		if (bytes == 64)
			distance[i] = distance_of_bytes_neon(x, first + i * stride, 64, b);
		else
			distance[i] = distance_of_bytes_neon(x, first + i * stride, bytes, b);
}

#endif

/* ---- Kernels ------------------------------------------------------------------ */

#define DISTANCE_VARIANTS(X) CPU_PLAIN(X) CPU_POPCNT(X) CPU_AVX512(X) CPU_NEON(X)

/* Runs a statement with a width as a constant, so that the compiler unrolls its loop. */
#define WITH_WIDTH(constant, statement) \
	{ \
		const int width = (constant); \
\
		statement; \
		break; \
	}

#define FOR_WIDTH(b, statement) \
	switch (b) \
	{ \
		case 1: \
			WITH_WIDTH(1, statement) \
		case 2: \
			WITH_WIDTH(2, statement) \
		case 4: \
			WITH_WIDTH(4, statement) \
		case 8: \
			WITH_WIDTH(8, statement) \
		case 16: \
			WITH_WIDTH(16, statement) \
		default: \
			WITH_WIDTH(32, statement) \
	}

/*
 * The most frequent shape, 64 bits, has calls of its own: one query is compared with a run of
 * signatures in 0.24 times the time, and with a single one in 0.83 times (medians of 7 runs).
 */
#define DISTANCE_FUNCTIONS(name, target) \
	target static int distance_##name(const uint8_t *x, const uint8_t *y, int k, int b) \
	{ \
		size_t bytes = SYMBOL_BYTES(k, b); \
\
		if (k == 64 && b == 1) \
			return distance_of_bytes(x, y, 8, 1); \
		FOR_WIDTH(b, return distance_of_bytes_##name(x, y, bytes, width)) \
	} \
	target static int distances_##name(const uint8_t *x, const uint8_t *first, size_t stride, \
									   int count, int k, int b, int32_t *distance) \
	{ \
		size_t bytes = SYMBOL_BYTES(k, b); \
\
		if (k == 64 && b == 1 && stride == 8) \
			distances_of_bytes(x, first, 8, count, 8, 1, distance); \
		else if (k == 64 && b == 1) \
			distances_of_bytes(x, first, stride, count, 8, 1, distance); \
		else \
			FOR_WIDTH(b, \
					  distances_of_bytes_##name(x, first, stride, count, bytes, width, distance)) \
		return least_of(distance, count); \
	}

#define DISTANCE_KERNEL(name, target) {#name, cpu_has_##name, distance_##name, distances_##name},

DISTANCE_VARIANTS(DISTANCE_FUNCTIONS)

const DistanceKernel distance_kernels[] = {DISTANCE_VARIANTS(DISTANCE_KERNEL){NULL}};

CPU_CHOICE(best_kernel, DistanceKernel, distance_kernels)

/* Returns how many of k symbols of b bits differ in two packed signatures. */
int
symbol_distance(const uint8_t *x, const uint8_t *y, int k, int b)
{
	return best_kernel.distance(x, y, k, b);
}

/*
 * Computes the distances of x to count signatures, the first at `first`, stride bytes apart.
 * Returns the least.
 */
int
symbol_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k, int b,
				 int32_t *distance)
{
	return best_kernel.distances(x, first, stride, count, k, b, distance);
}
