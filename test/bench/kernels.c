/*
 * kernels.c: the time of each kernel of symbol_distance and of postings, with signatures
 * and codes that stay in the processor's cache.
 */
#include <stdio.h>
#include <stdlib.h>

#include "grouping/grouping.h"
#include "random.h"
#include "timer.h"

#define SIGNATURES 1024
#define ROUNDS 200
#define RUNS 7
#define KERNELS_MAX 8

static const struct
{
	int k;
	int b;
} shapes[] = {{512, 1}, {64, 1}, {4096, 1}, {128, 8}, {64, 32}};

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
		if (i == 0)
			plain = median(ns[i], RUNS);
		printf("| minhash(%d, %d) | %s | **%.2f ×** | %.1f |\n", k, b, distance_kernels[i].name,
			   median(ns[i], RUNS) / plain, median(ns[i], RUNS));
	}
}

static void
race_distances(void)
{
	size_t room = SIGNATURES * SYMBOL_BYTES(MINHASH_BITS_MAX, 1) / 16;
	uint8_t *data = malloc(room);

	if (data == NULL)
		exit(1);
	random_bytes(data, room);
	printf("\n### Distance kernels in C, in cache (medians of %d runs)\n\n", RUNS);
	printf("| shape | kernel | times plain | ns a distance |\n|---|---|---:|---:|\n");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		race(data, shapes[i].k, shapes[i].b);
	free(data);
}

/* ---- Postings ------------------------------------------------------------ */

#define POSTINGS 40000
#define POSTING_ROUNDS 20

/* Lists of random documents, whose lengths vary, and their codes. */
typedef struct Lists
{
	uint32_t numbers;
	size_t n;
	size_t *start; /* of the documents of each list, and of none */
	size_t *at;    /* of the code of each list, and of none */
	uint32_t *document;
	uint8_t *code;
} Lists;

/* Makes lists of about `length` documents: ascending, one in each of as many ranges. */
static Lists
make_lists(size_t length, uint32_t numbers)
{
	size_t n = Max(POSTINGS / length, 8);
	size_t most = n * (length * 3 / 2 + 1);
	Lists lists = {numbers, n};
	size_t used = 0;

	lists.start = calloc(n + 1, sizeof(size_t));
	lists.at = calloc(n + 1, sizeof(size_t));
	lists.document = calloc(most, sizeof(uint32_t));
	lists.code = calloc(most, 6);
	if (!lists.start || !lists.at || !lists.document || !lists.code)
		exit(1);
	for (size_t i = 0; i < n; i++)
	{
		size_t count = length / 2 + random_below((uint32_t) length);
		uint32_t range = numbers / count;

		for (uint32_t j = 0; j < count; j++)
			lists.document[used++] = j * range + random_below(range);
		lists.start[i + 1] = used;
	}
	return lists;
}

static void
put_lists(const Lists *lists)
{
	for (size_t i = 0; i < lists->n; i++)
		lists->at[i + 1] = lists->at[i] +
			postings_put(lists->document + lists->start[i], lists->start[i + 1] - lists->start[i],
						 lists->numbers, lists->code + lists->at[i]);
}

/* Reads all lists with a kernel. */
static void
get_lists(const Lists *lists, const PostingsKernel *kernel)
{
	for (size_t i = 0; i < lists->n; i++)
		if (!kernel->get(lists->code + lists->at[i], lists->at[i + 1] - lists->at[i],
						 lists->numbers, lists->document + lists->start[i]))
			exit(1);
}

/* Reads and counts all lists; returns the seconds without those that clear counters. */
static double
count_lists(const Lists *lists, int c)
{
	HitCounter counter;
	double start;

	counter_begin(&counter, lists->numbers, lists->start[lists->n], c);
	start = seconds();
	for (size_t i = 0; i < lists->n; i++)
		if (!counter_add(&counter, lists->code + lists->at[i], lists->at[i + 1] - lists->at[i],
						 lists->numbers))
			exit(1);
	start = seconds() - start;
	counter_end(&counter);
	return start;
}

static void
keep_least(double *least, double x)
{
	if (x < *least)
		*least = x;
}

/* Sets the least seconds to write, to count with c = 2 and 4, and to read with each kernel. */
static void
time_lists(const Lists *lists, double *least)
{
	for (int i = 0; i < 3 + KERNELS_MAX; i++)
		least[i] = 1e9;
	for (int round = 0; round < POSTING_ROUNDS; round++)
	{
		double start = seconds();

		put_lists(lists);
		keep_least(&least[0], seconds() - start);
		keep_least(&least[1], count_lists(lists, 2));
		keep_least(&least[2], count_lists(lists, 4));
		for (int i = 0; postings_kernels[i].name; i++)
			if (postings_kernels[i].available())
			{
				start = seconds();
				get_lists(lists, &postings_kernels[i]);
				keep_least(&least[3 + i], seconds() - start);
			}
	}
}

static void
race_lists(size_t length, uint32_t numbers)
{
	Lists lists = make_lists(length, numbers);
	double scale = 1e9 / lists.start[lists.n];
	double ns[3 + KERNELS_MAX][RUNS];

	for (int run = 0; run < RUNS; run++)
	{
		double once[3 + KERNELS_MAX];

		time_lists(&lists, once);
		for (int i = 0; i < 3 + KERNELS_MAX; i++)
			ns[i][run] = once[i] * scale;
	}
	printf("| %zu | %u | %.1f | %.2f | %.2f | %.2f |", length, numbers,
		   lists.at[lists.n] * 8.0 / lists.start[lists.n], median(ns[0], RUNS), median(ns[1], RUNS),
		   median(ns[2], RUNS));
	for (int i = 0; postings_kernels[i].name; i++)
		if (postings_kernels[i].available())
			printf(" %.2f |", median(ns[3 + i], RUNS));
	printf("\n");
	free(lists.start);
	free(lists.at);
	free(lists.document);
	free(lists.code);
}

static void
race_postings(void)
{
	static const size_t lengths[] = {8, 24, 64, 1000, 100000};

	printf("\n### Postings in C (medians of %d runs, each the best of some; ns a posting)\n\n",
		   RUNS);
	printf("| documents | below | bits | write | count, c = 2 | count, c = 4 |");
	for (int i = 0; postings_kernels[i].name; i++)
		if (postings_kernels[i].available())
			printf(" read: %s |", postings_kernels[i].name);
	printf("\n|---:|---:|---:|---:|---:|---:|");
	for (int i = 0; postings_kernels[i].name; i++)
		if (postings_kernels[i].available())
			printf("---:|");
	printf("\n");
	for (int i = 0; i < 5; i++)
		for (uint32_t numbers = 1000000; numbers <= 100000000; numbers *= 10)
			race_lists(lengths[i], numbers);
}

int
main(void)
{
	race_distances();
	race_postings();
	return 0;
}
