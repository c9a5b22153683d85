/*
 * minus.c: leaving elements out of what a sink gets.
 */
#include "sketch/minus.h"

/* Elements that are looked up before the rest of them goes on. */
#define BATCH 256

void
minus_begin(Minus *minus, const uint64_t *element, size_t count)
{
	Table *table = &minus->table;

	table_begin(table, count);
	table_reserve(table, count);
	minus->element = element;
	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash = table_hash(table, element[i]);

		host_check_interrupts_at(i);
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

/* Passes on the elements that are not left out; a HashSink with a Rest as its state. */
static void
minus_add(void *state, const uint64_t *hashes, size_t count)
{
	const Rest *rest = state;
	const uint64_t *element = rest->minus->element;
	/* The compiler can keep a copy in registers. */
	Table table = rest->minus->table;
	uint64_t kept[BATCH];

	for (size_t done = 0; done < count; done += BATCH)
	{
		size_t end = Min(count, done + BATCH);
		size_t more = 0;

		for (size_t i = done; i < end; i++)
		{
			uint64_t hash = table_hash(&table, hashes[i]);

			kept[more] = hashes[i];
			more += *table_search_key(&table, hash, hashes[i], element, sizeof(uint64_t)) == 0;
		}
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
