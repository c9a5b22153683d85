/*
 * fuzz.h: shared by the fuzz targets.
 *
 * A target is a function that takes any bytes: libFuzzer calls it with generated
 * bytes (test/fuzz/run), replay.c with files of the corpus.
 */
#ifndef NEARDUP_FUZZ_H
#define NEARDUP_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition) \
	do \
	{ \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of an input that are not used yet. */
typedef struct Input
{
	const uint8_t *at;
	size_t left;
} Input;

/* Returns the next byte, 0 after the end. */
static inline uint8_t
take_byte(Input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

/* Returns a little-endian number of so many bytes. */
static inline uint64_t
take_number(Input *in, int bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < bytes; i++)
		number |= (uint64_t) take_byte(in) << (8 * i);
	return number;
}

/* Returns a number from least to most. */
static inline int
take_range(Input *in, int least, int most)
{
	return least + (int) (take_number(in, 2) % (uint64_t) (most - least + 1));
}

/*
 * Returns a copy of the next so many bytes, or of the remaining ones, for the caller
 * to free.  The copy ends with its allocation, so that a sanitizer sees reads beyond it.
 */
static inline uint8_t *
take_copy(Input *in, size_t *length)
{
	uint8_t *copy;

	if (*length > in->left)
		*length = in->left;
	copy = malloc(*length > 0 ? *length : 1);
	REQUIRE(copy != NULL);
	memcpy(copy, in->at, *length);
	in->at += *length;
	in->left -= *length;
	return copy;
}

/* Returns pseudorandom numbers, for data that the input is too short for. */
static inline uint64_t
next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

#endif
