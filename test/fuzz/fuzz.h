/*
 * fuzz.h: what the fuzz targets have in common.
 *
 * A target is a function that takes any bytes.  libFuzzer calls it with bytes that it
 * invents (test/fuzz/run), replay.c with the files of the corpus.
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

extern size_t host_limit_most;

/* Makes bounded lists tiny for every other size of inputs. */
static inline void
limit_lists(size_t size)
{
	host_limit_most = size % 2 == 0 ? SIZE_MAX : 2 + size % 7;
}

/* The bytes of an input that are not used yet. */
typedef struct Input
{
	const uint8_t *at;
	size_t left;
} Input;

/* Takes the next byte; 0 after the end. */
static inline uint8_t
take_byte(Input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

/* Takes a little-endian number of so many bytes. */
static inline uint64_t
take_number(Input *in, int bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < bytes; i++)
		number |= (uint64_t) take_byte(in) << (8 * i);
	return number;
}

/* Takes a number from least to most. */
static inline int
take_range(Input *in, int least, int most)
{
	return least + (int) (take_number(in, 2) % (uint64_t) (most - least + 1));
}

/*
 * Takes the next *length bytes, or all that are left, in memory of their own with nothing
 * after them, so that a sanitizer sees a read past the end.  The caller frees them.
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
