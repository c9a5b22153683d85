/*
 * lexicon.c: selecting elements, weighing them by a lexicon, and digests.
 */
#include "sketch/bag.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Elements that a digest takes at once. */
#define DIGESTED 512

/* Returns the elements of a bag that another bag has too, with their frequencies. */
Bag
bag_keep(const Bag *bag, const Bag *wanted)
{
	/* With the greatest frequencies in `wanted`, the frequencies of the bag are the lesser ones. */
	Bag endless = *wanted;
	Bag kept;

	endless.frequency = host_alloc((size_t) wanted->count * sizeof(uint32_t) + 1);
	memset(endless.frequency, 0xFF, (size_t) wanted->count * sizeof(uint32_t));
	kept = bag_intersection(bag, &endless);
	host_free(endless.frequency);
	return kept;
}

/* Returns the frequency of an element; *at is a position before it, and is moved to it. */
static uint32_t
frequency_of(const Bag *bag, int64_t element, uint32_t *at)
{
	while (*at < bag->count && bag->element[*at] < element)
		(*at)++;
	return *at < bag->count && bag->element[*at] == element ? bag_frequency(bag, *at) : 0;
}

/*
 * Returns the power of two that brings the greatest coordinate of a vector near 1; 0 for
 * a zero vector.  In vectors scaled by it, no square overflows or underflows, and scaling
 * changes no bit of the mantissas.
 */
static int
scale_of(const Bag *bag, const Lexicon *lexicon)
{
	double greatest = 0;
	uint32_t at = 0;
	int exponent;

	for (uint32_t i = 0; i < lexicon->count; i++)
	{
		double coordinate = lexicon->weight[i] * frequency_of(bag, lexicon->element[i], &at);

		host_check_interrupts_at(i);
		greatest = Max(coordinate, greatest);
	}
	frexp(greatest, &exponent);
	return -exponent;
}

/* Returns the cosine of two vectors of frequency times weight; 0 if one of them is zero. */
double
bag_lexicon_cosine(const Bag *x, const Bag *y, const Lexicon *lexicon)
{
	int scale_x = scale_of(x, lexicon);
	int scale_y = scale_of(y, lexicon);
	double xy = 0;
	double xx = 0;
	double yy = 0;
	double cosine;
	uint32_t at_x = 0;
	uint32_t at_y = 0;

	for (uint32_t i = 0; i < lexicon->count; i++)
	{
		double in_x = lexicon->weight[i] * frequency_of(x, lexicon->element[i], &at_x);
		double in_y = lexicon->weight[i] * frequency_of(y, lexicon->element[i], &at_y);

		host_check_interrupts_at(i);
		in_x = ldexp(in_x, scale_x);
		in_y = ldexp(in_y, scale_y);
		xy += in_x * in_y;
		xx += in_x * in_x;
		yy += in_y * in_y;
	}
	if (xx == 0 || yy == 0)
		return 0;
	cosine = xy / sqrt(xx * yy);
	return Min(cosine, 1);
}

static void
put_big_endian(uint8_t *out, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t) (number >> (56 - 8 * i));
}

/* Sets digest to XXH3-128 of the elements, ascending, each as 8 bytes, big-endian. */
void
bag_digest(const Bag *bag, uint8_t *digest)
{
	XXH3_state_t state;
	XXH128_canonical_t canonical;
	uint8_t bytes[DIGESTED * 8];

	memset(&state, 0, sizeof(state));
	(void) XXH3_128bits_reset(&state);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		put_big_endian(bytes + i % DIGESTED * 8, (uint64_t) bag->element[i]);
		if (i % DIGESTED == DIGESTED - 1)
			(void) XXH3_128bits_update(&state, bytes, sizeof(bytes));
	}
	(void) XXH3_128bits_update(&state, bytes, bag->count % DIGESTED * 8);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
	memcpy(digest, canonical.digest, BAG_DIGEST_BYTES);
}
