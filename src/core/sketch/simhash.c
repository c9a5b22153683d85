/*
 * simhash.c: the simhash fingerprint of a set (Charikar, STOC 2002).
 *
 * Every element votes for or against each bit.  Votes are counted bit-sliced: plane p
 * holds bit p of 64 counters.  A carry-save adder adds eight elements at a time, so an
 * element takes a few operations for 64 counters.
 */
#include "sketch/sketch.h"

#include <string.h>

#include "base/hash.h"

/* Elements that the planes can count. */
#define PLANE_LIMIT ((UINT32_C(1) << SIMHASH_PLANES) - 1)

/* Elements that are added at once. */
#define GROUP 8

/* Returns 64 of an element's votes, 1 for and 0 against. */
static inline uint64_t
vote_word(uint64_t hash, int word)
{
	return mix64(hash + word * UINT64_C(0x9E3779B97F4A7C15));
}

/* Starts without elements; f is a valid number of bits. */
void
simhash_begin(SimhashBuilder *builder, int f)
{
	memset(builder, 0, sizeof(*builder));
	builder->words = f / 64;
}

/* Adds a carry to the counters, from a plane upwards. */
static inline void
ripple(uint64_t *plane, int from, uint64_t carry)
{
	for (int p = from; carry != 0; p++)
	{
		uint64_t next = plane[p] & carry;

		plane[p] ^= carry;
		carry = next;
	}
}

/* Adds x and y to *sum, which takes the low bits, and returns the high bits. */
static inline uint64_t
carry_save(uint64_t *sum, uint64_t x, uint64_t y)
{
	uint64_t half = *sum ^ x;
	uint64_t carry = (*sum & x) | (half & y);

	*sum = half ^ y;
	return carry;
}

/* Adds a word of the votes of GROUP elements to its planes. */
static inline void
add_group(uint64_t *plane, const uint64_t *hash, int word)
{
	uint64_t vote[GROUP];
	uint64_t two[4];
	uint64_t four[2];

	for (int i = 0; i < GROUP; i++)
		vote[i] = vote_word(hash[i], word);
	for (int i = 0; i < 4; i++)
		two[i] = carry_save(&plane[0], vote[2 * i], vote[2 * i + 1]);
	for (int i = 0; i < 2; i++)
		four[i] = carry_save(&plane[1], two[2 * i], two[2 * i + 1]);
	ripple(plane, 3, carry_save(&plane[2], four[0], four[1]));
}

/* Moves the counts of the planes to the sums. */
static void
empty_planes(SimhashBuilder *builder)
{
	for (int w = 0; w < builder->words; w++)
		for (int bit = 0; bit < 64; bit++)
		{
			uint64_t sum = 0;

			for (int p = 0; p < SIMHASH_PLANES; p++)
				sum |= (builder->plane[w][p] >> bit & 1) << p;
			builder->ones[w * 64 + bit] += sum;
		}
	memset(builder->plane, 0, sizeof(builder->plane));
	builder->in_planes = 0;
}

/* Adds elements; a HashSink (text/text.h) with a SimhashBuilder as its state. */
void
simhash_add(void *state, const uint64_t *hashes, size_t count)
{
	SimhashBuilder *builder = state;

	builder->elements += count;
	while (count > 0)
	{
		size_t group = count < GROUP ? 1 : GROUP;

		if (builder->in_planes + group > PLANE_LIMIT)
			empty_planes(builder);
		for (int w = 0; w < builder->words; w++)
			if (group == GROUP)
				add_group(builder->plane[w], hashes, w);
			else
				ripple(builder->plane[w], 0, vote_word(hashes[0], w));
		builder->in_planes += (uint32_t) group;
		hashes += group;
		count -= group;
	}
}

/* Adds an element that occurs `frequency` times. */
void
simhash_add_weighted(SimhashBuilder *builder, uint64_t hash, uint32_t frequency)
{
	builder->elements += frequency;
	for (int w = 0; w < builder->words; w++)
	{
		uint64_t vote = vote_word(hash, w);

		for (int bit = 0; bit < 64; bit++)
			builder->ones[w * 64 + bit] += (vote >> bit & 1) * frequency;
	}
}

/* Sets a bit of the packed fingerprint, whose first bit is bit 63 of word 0. */
static inline void
put_bit(uint8_t *packed, int word, int bit)
{
	packed[word * 8 + (63 - bit) / 8] |= (uint8_t) (1 << bit % 8);
}

/*
 * Computes the fingerprint, packed, f / 8 bytes: a bit is set if more than half of the
 * votes are for it (Charikar, STOC 2002; Manku et al., WWW 2007).  Returns the number of
 * elements.  Without elements no bit is set.
 */
uint64_t
simhash_finish(SimhashBuilder *builder, uint8_t *packed)
{
	empty_planes(builder);
	memset(packed, 0, builder->words * 8);
	for (int w = 0; w < builder->words; w++)
		for (int bit = 0; bit < 64; bit++)
			if (builder->ones[w * 64 + bit] > builder->elements / 2)
				put_bit(packed, w, bit);
	return builder->elements;
}
