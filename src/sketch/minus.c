/*
 * minus.c: leaving elements out of what a sink gets.
 */
#include "sketch/minus.h"

#include <string.h>

/* Elements that are looked up before the rest of them goes on. */
#define BATCH 512

/* At least so many bits for each element. */
#define BITS_PER_ELEMENT 32

/* Clears a power of two of bits, enough for count elements. */
static void
clear_bits(Minus *minus, size_t count)
{
	uint64_t bits = 64;

	while (bits < count * (uint64_t) BITS_PER_ELEMENT)
		bits *= 2;
	minus->bits = host_alloc(bits / 8);
	minus->last = bits - 1;
	memset(minus->bits, 0, bits / 8);
}

void
minus_begin(Minus *minus, const uint64_t *element, size_t count)
{
	Table *table = &minus->table;

	table_begin(table, count);
	table_reserve(table, count);
	clear_bits(minus, count);
	minus->element = element;
	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash = table_hash(table, element[i]);
		uint64_t place = element[i] & minus->last;

		host_check_interrupts_at(i);
		minus->bits[place / 64] |= (uint64_t) 1 << place % 64;
		table_put(table, table_search_key(table, hash, element[i], element, sizeof(uint64_t)),
				  hash);
	}
}

/* What minus_add() passes elements on to. */
typedef struct Rest
{
	const Minus *minus;
	HashSink sink;
	void *state;
} Rest;

/* Is an element to be left out? */
static inline bool
is_left_out(const Minus *minus, uint64_t element)
{
	return *table_search_key(&minus->table, table_hash(&minus->table, element), element,
							 minus->element, sizeof(uint64_t)) != 0;
}

/* Sets rest[] to the elements that are not left out, in another order; returns their number. */
static size_t
leave_out(const Minus *minus, const uint64_t *element, size_t count, uint64_t *rest)
{
	const uint64_t *bits = minus->bits;
	uint64_t last = minus->last;
	uint64_t maybe[BATCH];
	size_t maybes = 0;
	size_t kept = 0;

	/* Both are written in any case, which costs less than a branch. */
	for (size_t i = 0; i < count; i++)
	{
		uint64_t place = element[i] & last;
		uint64_t bit = bits[place / 64] >> place % 64 & 1;

		rest[kept] = maybe[maybes] = element[i];
		kept += 1 - bit;
		maybes += bit;
	}
	for (size_t i = 0; i < maybes; i++)
		if (!is_left_out(minus, maybe[i]))
			rest[kept++] = maybe[i];
	return kept;
}

/* Passes on the elements that are not left out; a HashSink with a Rest as its state. */
static void
minus_add(void *state, const uint64_t *hashes, size_t count)
{
	const Rest *rest = state;
	uint64_t kept[BATCH];

	for (size_t done = 0; done < count; done += BATCH)
	{
		size_t more = leave_out(rest->minus, hashes + done, Min(BATCH, count - done), kept);

		if (more > 0)
			rest->sink(rest->state, kept, more);
	}
}

void
shingle_text_minus(const char *utf8, size_t length, SchemeId scheme, const Minus *minus,
				   HashSink sink, void *state)
{
	Rest rest = {minus, sink, state};

	if (minus != NULL)
		shingle_text(utf8, length, scheme, minus_add, &rest);
	else
		shingle_text(utf8, length, scheme, sink, state);
}
