/*
 * test_sort.c: the sort of large arrays, and that of hashes, against qsort, and how often it checks for interrupts.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "random.h"
#include "sketch/bag.h"
#include "unit.h"

/* Records of 8, 12 and 24 bytes. */
typedef struct Short
{
	uint32_t low;
	uint32_t high;
} Short;

typedef struct Odd
{
	uint32_t number;
	uint32_t key[2];
} Odd;

typedef struct Long
{
	uint64_t before;
	uint64_t key;
	uint64_t after;
} Long;

extern unsigned long host_interrupt_checks;

/* Steps since the last check for interrupts, and the most of them: a step asks for one key. */
static unsigned long checks_seen;
static size_t steps;
static size_t steps_most;

static void
count_step(void)
{
	if (host_interrupt_checks != checks_seen)
		steps = 0;
	checks_seen = host_interrupt_checks;
	steps++;
	steps_most = steps > steps_most ? steps : steps_most;
}

static uint64_t
short_key(const void *record)
{
	const Short *x = record;

	count_step();
	return (uint64_t) x->high << 32 | x->low;
}

static uint64_t
odd_key(const void *record)
{
	const Odd *x = record;

	return (uint64_t) x->key[1] << 32 | x->key[0];
}

static uint64_t
long_key(const void *record)
{
	return ((const Long *) record)->key;
}

static int
compare_numbers(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x;
	uint64_t b = *(const uint64_t *) y;

	return (a > b) - (a < b);
}

/* Sorts keys as records of each kind; what belongs to a key moves along. */
static void
check_sort(const uint64_t *key, size_t count)
{
	uint64_t *sorted = malloc((count + 1) * sizeof(uint64_t));
	Short *shorts = malloc((count + 1) * sizeof(Short));
	Odd *odds = malloc((count + 1) * sizeof(Odd));
	Long *longs = malloc((count + 1) * sizeof(Long));
	uint64_t *hashes = malloc((count + 1) * sizeof(uint64_t));
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
	{
		sorted[i] = key[i];
		shorts[i] = (Short){(uint32_t) key[i], (uint32_t) (key[i] >> 32)};
		odds[i] = (Odd){(uint32_t) (key[i] * 3), {(uint32_t) key[i], (uint32_t) (key[i] >> 32)}};
		longs[i] = (Long){~key[i], key[i], key[i] ^ 7};
		hashes[i] = key[i] ^ (uint64_t) 1 << 63;
	}
	qsort(sorted, count, sizeof(uint64_t), compare_numbers);
	sort_records(shorts, count, sizeof(Short), short_key);
	sort_records(odds, count, sizeof(Odd), odd_key);
	sort_records(longs, count, sizeof(Long), long_key);
	hashes_sort(hashes, count);
	for (size_t i = 0; i < count; i++)
		wrong += short_key(&shorts[i]) != sorted[i] || odd_key(&odds[i]) != sorted[i] ||
			odds[i].number != (uint32_t) (sorted[i] * 3) || longs[i].key != sorted[i] ||
			(hashes[i] ^ (uint64_t) 1 << 63) != sorted[i] || longs[i].before != ~sorted[i] ||
			longs[i].after != (sorted[i] ^ 7);
	CHECK(wrong == 0);
	free(sorted);
	free(shorts);
	free(odds);
	free(longs);
	free(hashes);
}

/* All sizes around the limits of the sort; keys that differ in few bytes, and in all. */
static void
test_keys(void)
{
	static const size_t size[] = {0, 1, 2, 95, 96, 97, 98, 255, 256, 257, 1024, 1025, 70000};
	static const uint64_t mask[] =
		{0,         1, 0xFF, 0xFF0000FF, 0xFF00000000000000, 0x8000000000000001, 0x0101010101010101,
		 UINT64_MAX};
	uint64_t state = 25;

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++)
		for (size_t j = 0; j < sizeof(mask) / sizeof(mask[0]); j++)
		{
			uint64_t *key = malloc((size[i] + 1) * sizeof(uint64_t));

			for (size_t n = 0; n < size[i]; n++)
				key[n] = next_random(&state) & mask[j];
			check_sort(key, size[i]);
			for (size_t n = 0; n < size[i]; n++)
				key[n] = n;
			check_sort(key, size[i]);
			for (size_t n = 0; n < size[i]; n++)
				key[n] = ~(uint64_t) n;
			check_sort(key, size[i]);
			free(key);
		}
}

/* Signed numbers are sorted by their value. */
static void
test_signs(void)
{
	int64_t number[] = {3, -1, INT64_MIN, 0, INT64_MAX, -2};
	bool ascending = true;

	sort_records(number, 6, sizeof(int64_t), sort_key_signed);
	for (int i = 1; i < 6; i++)
		ascending &= number[i - 1] < number[i];
	CHECK(ascending);
}

/* However many records there are, an interrupt is seen after some thousands of steps. */
static void
test_interrupts(void)
{
	static const size_t size[] = {100000, 2000000};
	uint64_t state = 7;

	for (int s = 0; s < 2; s++)
	{
		Short *record = malloc(size[s] * sizeof(Short));

		for (int kind = 0; kind < 3; kind++)
		{
			for (size_t i = 0; i < size[s]; i++)
				record[i] = kind == 0 ? (Short){(uint32_t) next_random(&state), 0} :
					kind == 1         ? (Short){5, (uint32_t) i} :
										(Short){5, 5};
			steps = steps_most = 0;
			sort_records(record, size[s], sizeof(Short), short_key);
			CHECK(steps_most > 0 && steps_most <= SORT_FEW * STEPS_BETWEEN_CHECKS);
		}
		free(record);
	}
}

int
main(void)
{
	test_keys();
	test_signs();
	test_interrupts();
	return unit_report();
}
