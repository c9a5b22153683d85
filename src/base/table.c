/*
 * table.c: how the hash table of all layers begins and grows.
 */
#include "base/table.h"

#include <string.h>

#include "base/hash.h"

#define SLOTS_MIN 64

/* The most slots that a table begins with, whatever is expected. */
#define SLOTS_AT_FIRST ((size_t) 1 << 21)

/* A loop over so many slots asks for interrupts in between. */
#define PASS_STEP 16384

/* Up to here three quarters of the slots stay free, above it half. */
#define SPARSE_MAX 4096

/* Secret numbers, from one random number of the process. */
static uint64_t
next_secret(void)
{
	static bool begun = false;
	static uint64_t state;

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

/* Free slots, a power of two of them. */
static void
make_slots(Table *table, size_t slots, void *(*alloc)(size_t))
{
	size_t done;

	table->slot = alloc(slots * sizeof(uint64_t));
	table->mask = slots - 1;
	table->room = slots / 2;
	table->shift = 64;
	for (; slots > 1; slots /= 2)
		table->shift--;
	for (done = 0; done <= table->mask; done += PASS_STEP)
	{
		size_t count = table->mask + 1 - done;

		host_check_interrupts();
		memset(table->slot + done, 0, (count < PASS_STEP ? count : PASS_STEP) * sizeof(uint64_t));
	}
}

static void
make_secrets(Table *table)
{
	table->count = 0;
	table->secret[0] = next_secret();
	table->secret[1] = next_secret() | 1;
}

void
table_begin(Table *table, size_t expected)
{
	size_t most = SLOTS_AT_FIRST / 2;

	make_secrets(table);
	make_slots(table, slots_for(expected < most ? expected : most), host_alloc);
}

void
table_begin_forever(Table *table, size_t count)
{
	make_secrets(table);
	make_slots(table, slots_for(count), host_alloc_forever);
}

void
table_end(Table *table)
{
	host_free(table->slot);
	table->slot = NULL;
}

/* Slots keep the half of a hash that chooses among them, so that no key is asked for. */
static void
move_slots(Table *table, const uint64_t *from, size_t slots)
{
	size_t i;

	for (i = 0; i < slots; i++)
	{
		size_t at = (size_t) (from[i] >> table->shift);

		if (i % PASS_STEP == 0)
			host_check_interrupts();
		if (from[i] == 0)
			continue;
		while (table->slot[at] != 0)
			at = (at + 1) & table->mask;
		table->slot[at] = from[i];
	}
}

void
table_grow(Table *table, size_t count)
{
	Table old = *table;
	size_t wanted = count > TABLE_MAX / 2 ? TABLE_MAX : 2 * count;

	if (count > TABLE_MAX)
		host_refuse_size("a set has more than 2147483648 distinct elements");
	make_slots(table, slots_for(wanted), host_alloc);
	move_slots(table, old.slot, old.mask + 1);
	host_free(old.slot);
}
