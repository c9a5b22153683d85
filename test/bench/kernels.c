/*
 * kernels.c: the time of each kernel of symbol_distance, with signatures that stay in the
 * processor's cache.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sketch/sketch.h"

#define SIGNATURES 1024
#define ROUNDS 200
#define RUNS 7
#define KERNELS_MAX 8

static const struct
{
	int k;
	int b;
} shapes[] = {{512, 1}, {64, 1}, {4096, 1}, {128, 8}, {64, 32}};

static volatile long sink;

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Returns the nanoseconds that a distance takes. */
static double
time_kernel(const DistanceKernel *kernel, const uint8_t *data, int k, int b)
{
	size_t bytes = SYMBOL_BYTES(k, b);
	double start = seconds();
	long sum = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < SIGNATURES; i++)
			sum += kernel->distance(data + round * bytes, data + i * bytes, k, b);
	sink = sum;
	return (seconds() - start) / ROUNDS / SIGNATURES * 1e9;
}

static int
by_value(const void *x, const void *y)
{
	double a = *(const double *) x;
	double b = *(const double *) y;

	return (a > b) - (a < b);
}

static void
race(const uint8_t *data, int k, int b)
{
	double ns[KERNELS_MAX][RUNS];
	double plain = 0;

	for (int run = 0; run < RUNS; run++)
		for (int i = 0; i < KERNELS_MAX && distance_kernels[i].name; i++)
			if (distance_kernels[i].available())
				ns[i][run] = time_kernel(&distance_kernels[i], data, k, b);
	for (int i = 0; i < KERNELS_MAX && distance_kernels[i].name; i++)
	{
		if (!distance_kernels[i].available())
			continue;
		qsort(ns[i], RUNS, sizeof(double), by_value);
		if (i == 0)
			plain = ns[i][RUNS / 2];
		printf("| minhash(%d, %d) | %s | **%.2f ×** | %.1f |\n", k, b, distance_kernels[i].name,
			   ns[i][RUNS / 2] / plain, ns[i][RUNS / 2]);
	}
}

int
main(void)
{
	size_t room = SIGNATURES * SYMBOL_BYTES(MINHASH_BITS_MAX, 1) / 16;
	uint8_t *data = malloc(room);
	uint32_t state = 1;

	if (data == NULL)
		return 1;
	for (size_t i = 0; i < room; i++)
	{
		state = state * 1664525 + 1013904223;
		data[i] = state >> 24;
	}
	printf("\n### Distance kernels in C, in cache (medians of %d runs)\n\n", RUNS);
	printf("| shape | kernel | times plain | ns a distance |\n|---|---|---:|---:|\n");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		race(data, shapes[i].k, shapes[i].b);
	free(data);
	return 0;
}
