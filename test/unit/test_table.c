/*
 * test_table.c: the hash table with keys that are chosen to collide, and results that must
 * not depend on its secrets.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "join/set_join.h"
#include "sketch/minhash.h"
#include "unit.h"

#define KEYS 60000

/* ---- The inverse of mix64 ------------------------------------------------- */

/* Returns the inverse of an odd number, by Newton's iteration. */
static uint64_t
inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* Returns the number that mix64 maps to this one. */
static uint64_t
unmix64(uint64_t x)
{
	const uint64_t back = inverse(MIX_MULTIPLIER);

	x ^= x >> 32;
	x *= back;
	x ^= x >> 32;
	x *= back;
	x ^= x >> 32;
	return x;
}

/* ---- Chosen keys ------------------------------------------------------------ */

typedef uint64_t (*Chosen)(uint64_t i);

/* Mixed, they are equal below bit 32: one slot, if these bits addressed it. */
static uint64_t
low_bits_after_mixing(uint64_t i)
{
	return unmix64(i << 32 | 5);
}

static uint64_t
high_bits_after_mixing(uint64_t i)
{
	return unmix64(i | UINT64_C(0xABCDEF0000000000));
}

static uint64_t
low_bits(uint64_t i)
{
	return i << 32 | 5;
}

static uint64_t
small_numbers(uint64_t i)
{
	return i;
}

static uint64_t
highest_bits(uint64_t i)
{
	return i << 47;
}

/* A progression by the multiplier of mix64. */
static uint64_t
multiples(uint64_t i)
{
	return i * MIX_MULTIPLIER;
}

static const Chosen attacks[] = {low_bits_after_mixing, high_bits_after_mixing, low_bits,
								 small_numbers,         highest_bits,           multiples};

#define ATTACKS (sizeof(attacks) / sizeof(attacks[0]))

/* ---- Length of a search --------------------------------------------------- */

/* No key is far from its home slot, and on average keys are near. */
static void
check_distances(const Table *table, const uint64_t *key, size_t count, const char *what, size_t n)
{
	size_t most = 0;
	size_t sum = 0;

	CHECK_MSG(table->count == count, "%s %zu: %zu keys", what, n, table->count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash = table_hash(table, key[i]);
		uint64_t *slot = table_search_key(table, hash, key[i], key, sizeof(uint64_t));
		size_t distance = (size_t) (slot - table_home(table, hash)) & table->mask;

		if (*slot == 0 || table_number(slot) != i)
		{
			CHECK_MSG(false, "%s %zu: key %zu is not found", what, n, i);
			return;
		}
		most = distance > most ? distance : most;
		sum += distance;
	}
	CHECK_MSG(most <= 400, "%s %zu: a search takes %zu steps", what, n, most);
	CHECK_MSG(sum <= 4 * count, "%s %zu: %zu searches take %zu steps", what, n, count, sum);
}

/* A minhash of any elements. */
static void
test_minhash_elements(void)
{
	uint64_t *key = malloc(KEYS * sizeof(uint64_t));

	for (size_t a = 0; a < ATTACKS; a++)
	{
		MinhashBuilder builder;

		for (uint64_t i = 0; i < KEYS; i++)
			key[i] = attacks[a](i);
		minhash_begin(&builder, 0);
		for (size_t i = 0; i < KEYS; i += 500)
			minhash_add(&builder, key + i, 500);
		minhash_add(&builder, key, KEYS);
		check_distances(&builder.table, builder.element, KEYS, "minhash", a);
		table_end(&builder.table);
		host_free(builder.element);
	}
	free(key);
}

/* Fills a table with keys. */
static Table
table_of(const uint64_t *key, size_t count)
{
	Table table;

	table_begin(&table, 0);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash = table_hash(&table, key[i]);
		uint64_t *slot;

		table_reserve(&table, table.count + 1);
		slot = table_search_key(&table, hash, key[i], key, sizeof(uint64_t));
		CHECK(*slot == 0);
		CHECK(table_put(&table, slot, hash) == i);
	}
	return table;
}

static void
test_tables(void)
{
	uint64_t *key = malloc(KEYS * sizeof(uint64_t));

	for (size_t a = 0; a < ATTACKS; a++)
	{
		Table table;

		for (uint64_t i = 0; i < KEYS; i++)
			key[i] = attacks[a](i);
		table = table_of(key, KEYS);
		check_distances(&table, key, KEYS, "table", a);
		table_end(&table);
	}
	free(key);
}

/* Keys that collide in a table do not collide in the next one of the same process. */
static void
test_secrets_are_new(void)
{
	const size_t count = 2000;
	uint64_t *key = malloc(count * sizeof(uint64_t));
	Table first;
	Table second;
	size_t found = 0;

	table_begin(&first, 0);
	table_begin(&second, 0);
	CHECK(first.secret[0] != second.secret[0] && first.secret[1] != second.secret[1]);
	for (uint64_t i = 0; found < count; i++)
		if (table_hash(&first, i) >> 54 == 0)
			key[found++] = i;
	table_end(&first);
	table_end(&second);
	second = table_of(key, count);
	check_distances(&second, key, count, "against another's secrets", 0);
	table_end(&second);
	free(key);
}

/* Growing checks for interrupts. */
static void
test_growth_is_interruptible(void)
{
	const size_t slots = 1 << 20;
	Table table;
	unsigned long before;

	table_begin(&table, slots / 4);
	before = host_interrupt_checks;
	table_grow(&table, slots / 2);
	CHECK(table.mask + 1 >= slots);
	CHECK(host_interrupt_checks - before >= slots / 16384);
	table_end(&table);
}

/* ---- Results --------------------------------------------------------------- */

static void
test_same_sketch(void)
{
	uint32_t first[512] = {0};
	uint32_t again[512] = {0};

	for (size_t a = 0; a < ATTACKS; a++)
		for (int round = 0; round < 3; round++)
		{
			MinhashBuilder builder;

			minhash_begin(&builder, 10 << 4 * round);
			for (uint64_t i = 0; i < 3000; i++)
			{
				uint64_t key = attacks[a](i % 2000);

				minhash_add(&builder, &key, 1);
			}
			CHECK(minhash_finish(&builder, 512, round == 0 ? first : again) == 2000);
			CHECK(round == 0 || memcmp(first, again, sizeof(first)) == 0);
		}
}

#define BAGS 60
#define BAG_ELEMENTS 40

/* The pairs of a join in the order in which they are given. */
typedef struct Pairs
{
	uint64_t hash;
	size_t count;
} Pairs;

static bool
note_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Pairs *pairs = state;

	pairs->hash = mix64(pairs->hash ^ ((uint64_t) a << 32 | b)) + (uint64_t) (similarity * 1e9);
	pairs->count++;
	return true;
}

/* The order of pairs and the counts of a join do not depend on the secrets. */
static void
test_same_join(void)
{
	static int64_t element[BAGS][BAG_ELEMENTS];
	Bag bag[BAGS];
	JoinStats first_stats = {0};
	Pairs first = {0, 0};

	for (int b = 0; b < BAGS; b++)
	{
		for (int i = 0; i < BAG_ELEMENTS; i++)
			element[b][i] = (int64_t) i * 1000 + (i * b % 7 == 0 ? b % 5 : 0);
		bag[b] = (Bag){BAG_ELEMENTS - b % 3, element[b], NULL};
	}
	for (int round = 0; round < 5; round++)
	{
		Pairs pairs = {0, 0};
		SetJoin join = {bag, BAGS, NULL, 0, 0.4, false, MEASURE_RESEMBLANCE, note_pair, &pairs};
		JoinStats stats;

		CHECK(set_join(&join, &stats));
		CHECK(pairs.count > 100);
		if (round == 0)
		{
			first = pairs;
			first_stats = stats;
		}
		CHECK(pairs.hash == first.hash && pairs.count == first.count);
		CHECK(memcmp(&stats, &first_stats, sizeof(stats)) == 0);
	}
}

/* mix64_all() is mix64() for any count, also in place; nothing behind the last number changes. */
static void
test_mix64_all(void)
{
	uint64_t from[70], to[71];

	for (size_t count = 0; count <= 70; count++)
	{
		for (size_t i = 0; i < 70; i++)
			from[i] = unmix64(i * i + count);
		to[count] = 5;
		mix64_all(from, count, to);
		mix64_all(from, count, from);
		CHECK(to[count] == 5 && memcmp(from, to, count * sizeof(uint64_t)) == 0);
		for (size_t i = 0; i < 70; i++)
			CHECK((i < count ? from[i] : mix64(from[i])) == i * i + count);
	}
}

/* Keys that repeat are numbered in the order in which they come first. */
static void
test_add_key(void)
{
	Table table;
	uint64_t *keys;

	table_begin(&table, 1000);
	keys = calloc(1002, sizeof(uint64_t));
	for (uint64_t i = 0; i < 3000; i++)
	{
		uint64_t key = i * 7 % (i % 3 == 0 ? 1000 : 10);

		table_add_key(&table, table_hash(&table, key), key, keys);
		CHECK(keys[table_number(table_search_key(&table, table_hash(&table, key), key, keys, 8))] ==
			  key);
	}
	CHECK(table.count <= 1000);
	for (size_t i = 0; i < table.count; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(keys[i] != keys[j]);
	free(keys);
	table_end(&table);
}

int
main(void)
{
	for (uint64_t i = 0; i < 1000; i++)
		CHECK(mix64(unmix64(i * i + i)) == i * i + i);
	test_mix64_all();
	test_add_key();
	test_minhash_elements();
	test_tables();
	test_secrets_are_new();
	test_growth_is_interruptible();
	test_same_sketch();
	test_same_join();
	return unit_report();
}
