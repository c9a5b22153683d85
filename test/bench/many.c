/*
 * many.c: the time of the kernels that compare a signature with many, and many signatures
 * with many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "join/prefixes.h"
#include "timer.h"

#define SIGNATURES 1024
#define RUNS 7

/* ---- One signature with many ---------------------------------------------- */

#define PAGE_SIGNATURES 116
#define FAR_BYTES ((size_t) 64 << 20)

/* Returns the nanoseconds a signature, of the best run; those of a page are in one call. */
static double
time_distances(const DistanceKernel *kernel, const uint8_t *data, size_t signatures, size_t stride,
			   int k, int b)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++)
	{
		int32_t distance[PAGE_SIGNATURES];
		double start = seconds();
		size_t i = 0;

		for (; i + PAGE_SIGNATURES <= signatures; i += PAGE_SIGNATURES)
		{
			kernel->distances(data, data + i * stride, stride, PAGE_SIGNATURES, k, b, distance);
			sink += distance[i % PAGE_SIGNATURES];
		}
		start = (seconds() - start) / i * 1e9;
		if (start < best)
			best = start;
	}
	return best;
}

/* In cache, and from a table of FAR_BYTES. */
static void
race_distances(const uint8_t *far, int k, int b, size_t stride)
{
	size_t signatures = (FAR_BYTES - SYMBOL_BYTES(k, b)) / stride;

	for (int i = 0; distance_kernels[i].name; i++)
		if (distance_kernels[i].available())
			printf("| minhash(%d, %d), %zu bytes | %s | %.2f | %.2f |\n", k, b, stride,
				   distance_kernels[i].name,
				   time_distances(&distance_kernels[i], far, 40 * PAGE_SIGNATURES, stride, k, b),
				   time_distances(&distance_kernels[i], far, signatures, stride, k, b));
}

static void
report_distances(const uint8_t *far)
{
	printf("\n### Distances of a signature to those of a page, in C (best of %d runs)\n\n", RUNS);
	printf("| shape | kernel | ns a signature, in cache | from %zu MB |\n|---|---|---:|---:|\n",
		   FAR_BYTES >> 20);
	race_distances(far, 64, 1, 8);
	race_distances(far, 400, 1, 50);
	race_distances(far, 512, 1, 64);
	race_distances(far, 1024, 1, 128);
	race_distances(far, 128, 8, 128);
}

/* ---- Many signatures with many -------------------------------------------- */

/* Returns the nanoseconds a pair, of the best run. */
static double
time_prefixes(const PrefixKernel *kernel, const PrefixShape *shape, const uint64_t *prefix)
{
	PrefixMatch match[PREFIXES_AT_ONCE];
	double best = 1e9;
	PrefixRun loaded;

	prefixes_load(shape, prefix, RUN, &loaded);
	for (int run = 0; run < RUNS; run++)
	{
		double start = seconds();

		for (int i = 0; i + PREFIXES_AT_ONCE <= SIGNATURES; i += PREFIXES_AT_ONCE)
			sink += kernel->compare(shape, prefix + (size_t) i * shape->words, PREFIXES_AT_ONCE,
									&loaded, match);
		start = (seconds() - start) / SIGNATURES / RUN * 1e9;
		if (start < best)
			best = start;
	}
	return best;
}

static void
report_prefixes(const uint64_t *prefix)
{
	printf("\n### Pairs of a join, in C, in cache (best of %d runs)\n\n", RUNS);
	printf("| kernel | bits a symbol | bits compared | ns a pair |\n|---|---:|---:|---:|\n");
	for (const PrefixKernel *kernel = prefix_kernels; kernel->name != NULL; kernel++)
		for (int b = 1; kernel->available() && b <= 8; b *= 8)
			for (int words = 1; words <= JOIN_PREFIX_WORDS; words += words < 4 ? 1 : 4)
			{
				PrefixShape shape = {.words = words, .b = b, .h = words};

				printf("| %s | %d | %d | %.2f |\n", kernel->name, b, words * 64,
					   time_prefixes(kernel, &shape, prefix));
			}
}

int
main(void)
{
	uint8_t *data = malloc(FAR_BYTES);

	if (data == NULL)
		return 1;
	for (size_t i = 0; i < FAR_BYTES; i++)
		data[i] = (uint8_t) (i * 2654435761u >> 16);
	report_distances(data);
	report_prefixes((const uint64_t *) data);
	free(data);
	return 0;
}
