/*
 * hamming.c: how many symbols of two packed signatures differ.
 */
#include <string.h>

#include "sketch/sketch.h"
#include "sketch/words.h"

static inline uint64_t
load_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The last bytes of a word, of a signature that is or is not that long. */
static inline uint64_t
load_last(const uint8_t *end, size_t bytes, bool whole)
{
	/* From offset n on: 8 - n bytes of zeroes, n of ones. */
	static const uint8_t ones[16] = {0,   0,   0,   0,   0,   0,   0,   0,
									 255, 255, 255, 255, 255, 255, 255, 255};
	uint64_t word = 0;

	if (whole)
		return load_word(end - 8) & load_word(ones + bytes);
	for (size_t i = 1; i <= bytes; i++)
		word = word << 8 | end[-(ptrdiff_t) i];
	return word;
}

KERNEL_BODY int
distance_of_bits(const uint8_t *x, const uint8_t *y, size_t bytes, int b)
{
	size_t words = bytes / 8;
	size_t rest = bytes % 8;
	int distance = 0;

	for (size_t i = 0; i < words; i++)
		distance += count_symbols(load_word(x + 8 * i) ^ load_word(y + 8 * i), b);
	if (rest > 0)
		distance += count_symbols(load_last(x + bytes, rest, words > 0) ^
									  load_last(y + bytes, rest, words > 0),
								  b);
	return distance;
}

/* Widths are spelled out so that each loop is compiled for its own. */
KERNEL_BODY int
distance_body(const uint8_t *x, const uint8_t *y, int k, int b)
{
	size_t bytes = SYMBOL_BYTES(k, b);

	switch (b)
	{
		case 1:
			return distance_of_bits(x, y, bytes, 1);
		case 2:
			return distance_of_bits(x, y, bytes, 2);
		case 4:
			return distance_of_bits(x, y, bytes, 4);
		case 8:
			return distance_of_bits(x, y, bytes, 8);
		case 16:
			return distance_of_bits(x, y, bytes, 16);
		default:
			return distance_of_bits(x, y, bytes, 32);
	}
}

/* One signature against many: 64 bits apart, the most frequent shape. */
KERNEL_BODY void
distances_body(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k, int b,
			   int32_t *distance)
{
	if (k == 64 && b == 1)
		for (int i = 0; i < count; i++)
			distance[i] = distance_of_bits(x, first + i * stride, 8, 1);
	else
		for (int i = 0; i < count; i++)
			distance[i] = distance_body(x, first + i * stride, k, b);
}

#define DISTANCE_KERNEL(name, target) \
	target static int distance_##name(const uint8_t *x, const uint8_t *y, int k, int b) \
	{ \
		return distance_body(x, y, k, b); \
	} \
	target static void distances_##name(const uint8_t *x, const uint8_t *first, size_t stride, \
										int count, int k, int b, int32_t *distance) \
	{ \
		distances_body(x, first, stride, count, k, b, distance); \
	}

DISTANCE_KERNEL(plain, )
#ifdef CPU_X86
DISTANCE_KERNEL(popcnt, TARGET_POPCNT)
DISTANCE_KERNEL(avx512, TARGET_AVX512)
#endif

const DistanceKernel distance_kernels[] =
	{{"plain", cpu_has_plain, distance_plain, distances_plain},
#ifdef CPU_X86
	 {"popcnt", cpu_has_popcnt, distance_popcnt, distances_popcnt},
	 {"avx512", cpu_has_avx512, distance_avx512, distances_avx512},
#endif
	 {NULL, NULL, NULL, NULL}};

static int first_distance(const uint8_t *x, const uint8_t *y, int k, int b);
static void first_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k,
							int b, int32_t *distance);

/* Until the first call has chosen the last kernel that this processor has. */
static DistanceKernel best = {"first", NULL, first_distance, first_distances};

static void
choose_kernel(void)
{
	for (const DistanceKernel *kernel = distance_kernels; kernel->name != NULL; kernel++)
		if (kernel->available())
			best = *kernel;
}

static int
first_distance(const uint8_t *x, const uint8_t *y, int k, int b)
{
	choose_kernel();
	return best.distance(x, y, k, b);
}

static void
first_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k, int b,
				int32_t *distance)
{
	choose_kernel();
	best.distances(x, first, stride, count, k, b, distance);
}

int
symbol_distance(const uint8_t *x, const uint8_t *y, int k, int b)
{
	return best.distance(x, y, k, b);
}

void
symbol_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k, int b,
				 int32_t *distance)
{
	best.distances(x, first, stride, count, k, b, distance);
}
