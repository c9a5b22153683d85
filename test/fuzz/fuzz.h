/*
 * fuzz.h: what the fuzz targets share.
 *
 * A target is a function that takes any bytes: libFuzzer calls it with bytes of
 * its own making (test/fuzz/run), replay.c with files of the corpus.
 */
#ifndef NEARDUP_FUZZ_H
#define NEARDUP_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

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

/* The next byte, 0 after the end. */
static inline uint8_t
take_byte(Input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

/* A little-endian number of so many bytes. */
static inline uint64_t
take_number(Input *in, int bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < bytes; i++)
		number |= (uint64_t) take_byte(in) << (8 * i);
	return number;
}

/* A number from least to most. */
static inline int
take_range(Input *in, int least, int most)
{
	return least + (int) (take_number(in, 2) % (uint64_t) (most - least + 1));
}

/*
 * The next so many bytes, or what is left, in memory of their own with nothing
 * behind them, so that a sanitizer sees a step too far.  To be freed.
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

#endif
