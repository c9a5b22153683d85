/*
 * prefixes.c: kernels that compare prefixes with a run of others.
 */
#include "join/prefixes.h"

#include <string.h>

#include "sketch/symbols.h"
#include "sketch/symbols_arm.h"
#include "sketch/symbols_x86.h"

/* Documents that a kernel compares at a time; a run is filled up to a multiple. */
#define LANES 8

/* Stores up to RUN prefixes as a run. */
void
prefixes_load(const PrefixShape *shape, const uint64_t *prefix, int documents, PrefixRun *run)
{
	int padded = (documents + LANES - 1) / LANES * LANES;

	run->documents = documents;
	for (int d = 0; d < documents; d++, prefix += shape->words)
		for (int w = 0; w < shape->words; w++)
			run->word[w][d] = prefix[w];
	for (int w = 0; w < shape->words; w++)
		memset(run->word[w] + documents, 0, (padded - documents) * sizeof(uint64_t));
}

/* Returns the bits of LANES documents, those from `first` on. */
KERNEL_BODY uint64_t
match_plain(const uint64_t *prefix, const PrefixRun *run, int first, int words, int b, int h)
{
	int distance[LANES] = {0};
	uint64_t bits = 0;

	for (int w = 0; w < words; w++)
		for (int i = 0; i < LANES; i++)
			distance[i] += count_symbols(prefix[w] ^ run->word[w][first + i], b);
	for (int i = 0; i < LANES; i++)
		bits |= (uint64_t) (distance[i] <= h) << i;
	return bits;
}

#define match_popcnt match_plain

/* ---- AVX2 ----------------------------------------------------------------- */

#ifdef __x86_64__

/* Returns the bits of four documents.  A byte's count over all words is at most 64. */
KERNEL_BODY TARGET_AVX2 uint64_t
match_four(const uint64_t *prefix, const PrefixRun *run, int first, int words, int b, int h)
{
	__m256i sum = _mm256_setzero_si256();

	for (int w = 0; w < words; w++)
	{
		__m256i other = _mm256_load_si256((const __m256i *) (run->word[w] + first));
		__m256i differ = _mm256_xor_si256(other, _mm256_set1_epi64x((long long) prefix[w]));

		sum = _mm256_add_epi8(sum, count_symbols_avx2(differ, b));
	}
	sum = _mm256_sad_epu8(sum, _mm256_setzero_si256());
	sum = _mm256_cmpgt_epi64(_mm256_set1_epi64x(h + 1), sum);
	return (uint64_t) _mm256_movemask_pd(_mm256_castsi256_pd(sum));
}

/* Returns a bit for each of four documents whose prefix is within h. */
KERNEL_BODY TARGET_AVX2 uint64_t
match_avx2(const uint64_t *prefix, const PrefixRun *run, int first, int words, int b, int h)
{
	return match_four(prefix, run, first, words, b, h) |
		match_four(prefix, run, first + 4, words, b, h) << 4;
}

#endif

/* ---- NEON ----------------------------------------------------------------- */

#ifdef __aarch64__

/* Returns the bits of two documents.  A byte's count over all words is at most 64. */
KERNEL_BODY uint64_t
match_two(const uint64_t *prefix, const PrefixRun *run, int first, int words, int b, int h)
{
	uint8x16_t sum = vdupq_n_u8(0);
	uint64x2_t within;

	for (int w = 0; w < words; w++)
	{
		uint64x2_t differ = veorq_u64(vld1q_u64(run->word[w] + first), vdupq_n_u64(prefix[w]));

		sum = vaddq_u8(sum, count_symbols_neon(differ, b));
	}
	within = vcleq_u64(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(sum))), vdupq_n_u64(h));
	return (vgetq_lane_u64(within, 0) & 1) | (vgetq_lane_u64(within, 1) & 2);
}

/* Returns a bit for each of two documents whose prefix is within h. */
KERNEL_BODY uint64_t
match_neon(const uint64_t *prefix, const PrefixRun *run, int first, int words, int b, int h)
{
	uint64_t bits = 0;

	for (int i = 0; i < LANES; i += 2)
		bits |= match_two(prefix, run, first + i, words, b, h) << i;
	return bits;
}

#endif

/* Compares one prefix after the other, LANES documents at a time. */
#define COMPARE_FUNCTION(name, target) \
	KERNEL_BODY target bool compare_##name(const PrefixShape *shape, const uint64_t *prefix, \
										   int count, const PrefixRun *run, PrefixMatch *match, \
										   int words, int b) \
	{ \
		uint64_t any = 0; \
\
		for (int i = 0; i < count; i++, prefix += shape->words) \
		{ \
			memset(match + i, 0, sizeof(PrefixMatch)); \
			for (int d = 0; d < run->documents; d += LANES) \
			{ \
				uint64_t bits = match_##name(prefix, run, d, words, b, shape->h); \
\
				match[i].bits[d / 64] |= bits << d % 64; \
				any |= bits; \
			} \
		} \
		return any != 0; \
	}

CPU_PLAIN(COMPARE_FUNCTION)
CPU_POPCNT(COMPARE_FUNCTION)
CPU_AVX2(COMPARE_FUNCTION)
CPU_NEON(COMPARE_FUNCTION)

#ifdef __x86_64__

/* ---- AVX-512 -------------------------------------------------------------- */

/* Prefixes that are compared with the same registers of the run. */
#define PREFIXES_IN_REGISTERS 4

/* Compares `count` prefixes with the run, eight documents at a time. */
KERNEL_BODY TARGET_AVX512 uint64_t
compare_few_avx512(const PrefixShape *shape, const uint64_t *prefix, int count,
				   const PrefixRun *run, PrefixMatch *match, int words, int b)
{
	const __m512i limit = _mm512_set1_epi64(shape->h);
	uint64_t any = 0;

	for (int d = 0; d < run->documents; d += LANES)
	{
		__m512i sum[PREFIXES_IN_REGISTERS];

		for (int i = 0; i < count; i++)
			sum[i] = _mm512_setzero_si512();
		for (int w = 0; w < words; w++)
		{
			__m512i other = _mm512_load_si512(run->word[w] + d);

			for (int i = 0; i < count; i++)
			{
				__m512i differ =
					_mm512_xor_si512(other, _mm512_set1_epi64((long long) prefix[i * words + w]));

				sum[i] = _mm512_add_epi64(sum[i], count_symbols_avx512(differ, b));
			}
		}
		for (int i = 0; i < count; i++)
		{
			uint8_t bits = _mm512_cmple_epu64_mask(sum[i], limit);

			((uint8_t *) match[i].bits)[d / LANES] = bits;
			any |= bits;
		}
	}
	return any;
}

/* Compares prefixes with a run, eight documents at a time. */
KERNEL_BODY TARGET_AVX512 bool
compare_avx512(const PrefixShape *shape, const uint64_t *prefix, int count, const PrefixRun *run,
			   PrefixMatch *match, int words, int b)
{
	uint64_t any = 0;
	int i = 0;

	memset(match, 0, count * sizeof(PrefixMatch));
	for (; i + PREFIXES_IN_REGISTERS <= count; i += PREFIXES_IN_REGISTERS)
		any |= compare_few_avx512(shape, prefix + (size_t) i * shape->words, PREFIXES_IN_REGISTERS,
								  run, match + i, words, b);
	for (; i < count; i++)
		any |= compare_few_avx512(shape, prefix + (size_t) i * shape->words, 1, run, match + i,
								  words, b);
	return any != 0;
}

#endif

/* ---- Variants --------------------------------------------------------------- */

/* Each shape has constants in a call of its own, so that the compiler unrolls its loops. */
#define COMPARE_BITS(name) \
	switch (shape->words) \
	{ \
		case 1: \
			return compare_##name(shape, prefix, count, run, match, 1, 1); \
		case 2: \
			return compare_##name(shape, prefix, count, run, match, 2, 1); \
		case 3: \
			return compare_##name(shape, prefix, count, run, match, 3, 1); \
		case 4: \
			return compare_##name(shape, prefix, count, run, match, 4, 1); \
		case 8: \
			return compare_##name(shape, prefix, count, run, match, 8, 1); \
		default: \
			return compare_##name(shape, prefix, count, run, match, shape->words, 1); \
	}

#define COMPARE_SHAPE(name) \
	switch (shape->b) \
	{ \
		case 1: \
			COMPARE_BITS(name) \
		case 2: \
			return compare_##name(shape, prefix, count, run, match, shape->words, 2); \
		case 4: \
			return compare_##name(shape, prefix, count, run, match, shape->words, 4); \
		case 8: \
			return compare_##name(shape, prefix, count, run, match, shape->words, 8); \
		case 16: \
			return compare_##name(shape, prefix, count, run, match, shape->words, 16); \
		default: \
			return compare_##name(shape, prefix, count, run, match, shape->words, 32); \
	}

#define PREFIX_VARIANTS(X) CPU_PLAIN(X) CPU_POPCNT(X) CPU_AVX2(X) CPU_AVX512(X) CPU_NEON(X)

#define PREFIX_FUNCTION(name, target) \
	target static bool prefixes_##name(const PrefixShape *shape, const uint64_t *prefix, \
									   int count, const PrefixRun *run, PrefixMatch *match) \
	{ \
		COMPARE_SHAPE(name) \
	}

#define PREFIX_KERNEL(name, target) {#name, cpu_has_##name, prefixes_##name},

PREFIX_VARIANTS(PREFIX_FUNCTION)

const PrefixKernel prefix_kernels[] = {PREFIX_VARIANTS(PREFIX_KERNEL){NULL}};

CPU_CHOICE(best_kernel, PrefixKernel, prefix_kernels)

/* Compares as the best kernel does. */
bool
prefixes_compare(const PrefixShape *shape, const uint64_t *prefix, int count, const PrefixRun *run,
				 PrefixMatch *match)
{
	return best_kernel.compare(shape, prefix, count, run, match);
}
