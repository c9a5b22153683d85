/*
 * distinct.c: the distinct elements of a set.
 *
 * Elements are kept as mix64 of what comes, a bijection: that is how sketches
 * take them.
 */
#include "base/hash.h"
#include "sketch/minhash.h"

/* So many elements are hashed, then looked up. */
#define AT_ONCE 64

void
minhash_begin(MinhashBuilder *builder, size_t expected)
{
	table_begin(&builder->table, expected);
	builder->element = host_alloc(builder->table.room * sizeof(uint64_t));
}

/* Room for so many elements, and one that is written though it is not new. */
static void
reserve(MinhashBuilder *builder, size_t count)
{
	if (count < builder->table.room)
		return;
	table_reserve(&builder->table, count + 1);
	builder->element = host_realloc(builder->element, builder->table.room * sizeof(uint64_t));
}

static inline void
add_some(Table *table, uint64_t *element, const uint64_t *hashes, size_t count)
{
	uint64_t mixed[AT_ONCE];
	uint64_t hash[AT_ONCE];

	for (size_t i = 0; i < count; i++)
	{
		mixed[i] = mix64(hashes[i]);
		hash[i] = table_hash(table, mixed[i]);
		__builtin_prefetch(table_home(table, hash[i]), 1);
	}
	for (size_t i = 0; i < count; i++)
	{
		uint64_t *slot = table_search_key(table, hash[i], mixed[i], element, sizeof(uint64_t));

		element[table->count] = mixed[i];
		if (*slot == 0)
			table_put(table, slot, hash[i]);
	}
}

void
minhash_add(void *state, const uint64_t *hashes, size_t count)
{
	MinhashBuilder *builder = state;
	Table table;

	reserve(builder, builder->table.count + count);
	/* A copy, which the loop may keep in registers. */
	table = builder->table;
	for (size_t done = 0; done < count; done += AT_ONCE)
		add_some(&table, builder->element, hashes + done,
				 count - done < AT_ONCE ? count - done : AT_ONCE);
	builder->table.count = table.count;
}

size_t
distinct_elements(MinhashBuilder *builder, uint64_t **elements)
{
	table_end(&builder->table);
	*elements = builder->element;
	return builder->table.count;
}
