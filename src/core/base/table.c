/*
 * table.c: making and growing the hash table of all layers.
 */
#include "base/table.h"

#include <string.h>

#include "base/hash.h"

#define SLOTS_MIN 64

/* The most slots that a table starts with. */
#define SLOTS_AT_FIRST ((size_t) 1 << 21)

/* Below this many keys three quarters of the slots stay free, above it half. */
#define SPARSE_MAX 4096

/* Returns the next secret number, made from one random number of the thread. */
static uint64_t
next_secret(void)
{
	static _Thread_local bool begun = false;
	static _Thread_local uint64_t state;

	if (!begun)
		state = host_random_seed();
	begun = true;
	state += UINT64_C(0x9E3779B97F4A7C15);
	return mix64(state);
}

static size_t
slots_for(size_t count)
{
	size_t slots = SLOTS_MIN;
	size_t wanted = count * (count < SPARSE_MAX ? 4 : 2);

	while (slots < wanted)
		slots *= 2;
	return slots;
}

/* Allocates slots, a power of two, and clears them. */
static void
make_slots(Table *table, size_t slots, void *(*alloc)(size_t))
{
	table->slot = alloc(slots * sizeof(uint64_t));
	table->mask = slots - 1;
	table->room = slots / 2;
	table->shift = 64;
	for (; slots > 1; slots /= 2)
		table->shift--;
	for (size_t done = 0; done <= table->mask; done += STEPS_BETWEEN_CHECKS)
	{
		host_check_interrupts();
		memset(table->slot + done, 0,
			   Min(table->mask + 1 - done, STEPS_BETWEEN_CHECKS) * sizeof(uint64_t));
	}
}

static void
make_secrets(Table *table)
{
	table->count = 0;
	table->secret[0] = next_secret();
	table->secret[1] = next_secret() | 1;
}

/* Makes an empty table; `expected` is a guess at their number, and costs time if wrong. */
void
table_begin(Table *table, size_t expected)
{
	make_secrets(table);
	make_slots(table, slots_for(Min(expected, SLOTS_AT_FIRST / 2)), host_alloc);
}

/* Makes an empty table for at most `count` keys that is never freed. */
void
table_begin_forever(Table *table, size_t count)
{
	make_secrets(table);
	make_slots(table, slots_for(count), host_alloc_forever);
}

/* Frees a table. */
void
table_end(Table *table)
{
	host_free(table->slot);
	table->slot = NULL;
}

/* Copies old slots into new ones; they hold the bits of the hash that address them. */
static void
copy_slots(Table *table, const uint64_t *from, size_t slots)
{
	for (size_t i = 0; i < slots; i++)
	{
		size_t at = (size_t) (from[i] >> table->shift);

		host_check_interrupts_at(i);
		if (from[i] == 0)
			continue;
		while (table->slot[at] != 0)
			at = (at + 1) & table->mask;
		table->slot[at] = from[i];
	}
}

/* Makes room for `count` keys in all in a table that has less. */
void
table_grow(Table *table, size_t count)
{
	Table old = *table;
	size_t wanted = count > TABLE_MAX / 2 ? TABLE_MAX : 2 * count;

	if (count > TABLE_MAX)
		host_refuse_size("a set has more than 2147483648 distinct elements");
	make_slots(table, slots_for(wanted), host_alloc);
	copy_slots(table, old.slot, old.mask + 1);
	host_free(old.slot);
}

/*
 * Returns the number of a key of 64 bits, a new one if it has none.  *keys are the keys by number,
 * with as much room as the table has, before and afterwards.
 */
uint32_t
table_number_key(Table *table, uint64_t key, uint64_t **keys)
{
	uint64_t hash = table_hash(table, key);
	uint64_t *slot;
	uint32_t number;

	if (table->count == table->room)
	{
		table_grow(table, table->count + 1);
		*keys = host_realloc(*keys, table->room * sizeof(uint64_t));
	}
	slot = table_search_key(table, hash, key, *keys, sizeof(uint64_t));
	if (*slot != 0)
		return table_number(slot);
	number = table_put(table, slot, hash);
	(*keys)[number] = key;
	return number;
}
