/*
 * documents.h: packed signatures for the fuzz targets of grouping/ and join/.
 */
#ifndef NEARDUP_FUZZ_DOCUMENTS_H
#define NEARDUP_FUZZ_DOCUMENTS_H

#include "fuzz.h"
#include "grouping/grouping.h"

typedef struct Documents
{
	int k;
	int b;
	uint32_t n;
	size_t stride;
	uint8_t *packed; /* aligned to 8 bytes */
} Documents;

/* Takes a valid shape of at most `most` symbols. */
static inline void
take_shape(Input *in, int most, int *k, int *b)
{
	*b = 1 << take_byte(in) % 6;
	*k = take_range(in, MINHASH_K_MIN, most);
}

/* Clears the bits after the last symbol. */
static inline void
clear_padding(const Documents *d, uint8_t *one)
{
	size_t bits = (size_t) d->k * d->b;

	if (bits % 8 != 0)
		one[bits / 8] &= 0xFF << (8 - bits % 8);
	memset(one + SYMBOL_BYTES(d->k, d->b), 0, d->stride - SYMBOL_BYTES(d->k, d->b));
}

/*
 * Takes n documents: the first is random; each other one is random, too, or a copy of an
 * earlier one.  The input names bits that are changed.
 */
static inline Documents
take_documents(Input *in, int k, int b, uint32_t n, size_t stride)
{
	Documents d = {k, b, n, stride, NULL};
	uint64_t seed = take_number(in, 2);

	d.packed = malloc(n * stride > 0 ? n * stride : 1);
	REQUIRE(d.packed != NULL);
	for (uint32_t i = 0; i < n; i++)
	{
		uint8_t *one = d.packed + i * stride;
		uint8_t changes = take_byte(in);

		if (i > 0 && changes >= 32)
			memcpy(one, d.packed + changes % i * stride, stride);
		else
			for (size_t at = 0; at < stride; at++)
				one[at] = (uint8_t) next_random(&seed);
		for (int c = changes & 7; c > 0; c--)
		{
			uint64_t bit = take_number(in, 2) % ((uint64_t) k * b);

			one[bit / 8] ^= 0x80 >> bit % 8;
		}
		clear_padding(&d, one);
	}
	return d;
}

static inline const uint8_t *
document_at(const Documents *d, uint32_t i)
{
	return d->packed + i * d->stride;
}

#endif
