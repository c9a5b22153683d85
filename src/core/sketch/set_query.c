/*
 * set_query.c: what a search of sets compares.
 */
#include "sketch/set_query.h"

#include <math.h>

#include "base/hash.h"
#include "sketch/bag.h"

#define SIGN (UINT64_C(1) << 63)

/* Sets `mixed` to the mixed elements of a set, ascending. */
void
set_mix(const int64_t *element, uint32_t count, uint64_t *mixed)
{
	for (uint32_t i = 0; i < count; i++)
		mixed[i] = mix64((uint64_t) element[i]) ^ SIGN;
	/* Sorts signed numbers. */
	hashes_sort(mixed, count);
	for (uint32_t i = 0; i < count; i++)
		mixed[i] ^= SIGN;
}

/* Returns the bitmap of a set. */
SetBitmap
set_bitmap(const uint64_t *element, uint32_t count)
{
	SetBitmap bitmap = {{0, 0}};

	for (uint32_t i = 0; i < count; i++)
		bitmap.word[element[i] >> 6 & 1] |= UINT64_C(1) << (element[i] & 63);
	return bitmap;
}

/*
 * Returns the probability that the bitmaps of two sets of these sizes, which share nothing, do not
 * show that they share less than `needed`.  The number of bits that differ is about normal.
 */
double
bitmap_passes(double nx, double ny, double needed)
{
	double in_x = 1 - pow(1 - 1.0 / BITMAP_BITS, nx);
	double in_y = 1 - pow(1 - 1.0 / BITMAP_BITS, ny);
	double differ = BITMAP_BITS * (in_x * (1 - in_y) + in_y * (1 - in_x));
	double deviation = 2 * sqrt(BITMAP_BITS * in_x * (1 - in_x) * in_y * (1 - in_y)) + 0.5;
	double most = nx + ny - 2 * needed;

	return 0.5 * erfc((differ - most) / deviation * M_SQRT1_2);
}

/*
 * Returns how many elements a set X shares with a part of another, or a number less than needed;
 * drops from X the elements that no later part can hold.
 */
uint32_t
set_shared(const uint64_t **x, uint32_t *nx, const uint64_t *y, uint32_t ny, uint64_t needed)
{
	Overlap o = {.x = *x, .y = y, .end_x = *nx, .end_y = ny};
	uint32_t shared = (uint32_t) overlap_count(&o, needed, overlap_key_unsigned);

	*x += o.i;
	*nx -= (uint32_t) o.i;
	return shared;
}
