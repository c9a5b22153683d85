/*
 * table.h: the hash table of all layers.  Plain C.
 *
 * A table gives numbers to keys: the first key that is put gets 0, the next 1, and
 * so on.  The keys lie with the caller, in an array by number; a slot has a number
 * and half of its key's hash.  Slots are found by open addressing.
 *
 * Keys may come from whoever writes texts, arrays or signatures.  So the hash of a
 * key depends on secret numbers, new for each table: nobody can choose keys that
 * meet in one slot.  No result may depend on the secrets, hence none on the order
 * of slots; whoever goes through all keys goes by number.
 */
#ifndef NEARDUP_BASE_TABLE_H
#define NEARDUP_BASE_TABLE_H

#include "base/host.h"

/* More keys are refused: half of the hash must choose among twice as many slots. */
#define TABLE_MAX ((size_t) 1 << 31)

typedef struct Table
{
	uint64_t *slot;     /* high half of the hash, number + 1; 0 where it is free */
	size_t mask;        /* slots - 1 */
	size_t room;        /* numbers that fit before it must grow */
	size_t count;       /* numbers given */
	int shift;          /* the highest 64 - shift bits of a hash choose the slot */
	uint64_t secret[2]; /* added to a key, and multiplied with it; the second is odd */
} Table;

/* Does the caller's key of this number equal the one sought? */
typedef bool (*TableMatch)(const void *sought, uint32_t number);

#define TABLE_INLINE static inline __attribute__((always_inline))

/* expected: how many keys may come, a guess that only costs time. */
extern void table_begin(Table *table, size_t expected);
extern void table_end(Table *table);

/* A table of at most so many keys, for as long as the process lives. */
extern void table_begin_forever(Table *table, size_t count);

/* table_reserve, where it has to grow. */
extern void table_grow(Table *table, size_t count);

/* Make room for count numbers in all.  Pointers to slots become stale. */
TABLE_INLINE void
table_reserve(Table *table, size_t count)
{
	if (count > table->room)
		table_grow(table, count);
}

/* The hash of a key of 64 bits; what is longer is hashed with table_seed. */
TABLE_INLINE uint64_t
table_hash(const Table *table, uint64_t key)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128) (key ^ table->secret[0]) * table->secret[1];

	return (uint64_t) product ^ (uint64_t) (product >> 64);
#else
	uint64_t hash = (key ^ table->secret[0]) * table->secret[1];

	return (hash ^ hash >> 32) * table->secret[1];
#endif
}

TABLE_INLINE uint64_t
table_seed(const Table *table)
{
	return table->secret[0];
}

/* Where the search for a hash begins. */
TABLE_INLINE uint64_t *
table_home(const Table *table, uint64_t hash)
{
	return table->slot + (hash >> table->shift);
}

/* The slot of the key sought, or the free one where it belongs. */
TABLE_INLINE uint64_t *
table_search(const Table *table, uint64_t hash, TableMatch match, const void *sought)
{
	size_t at = (size_t) (hash >> table->shift);
	uint64_t slot;

	while ((slot = table->slot[at]) != 0 &&
		   ((slot ^ hash) >> 32 != 0 || !match(sought, (uint32_t) slot - 1)))
		at = (at + 1) & table->mask;
	return table->slot + at;
}

/* The number in a slot that is not free. */
TABLE_INLINE uint32_t
table_number(const uint64_t *slot)
{
	return (uint32_t) *slot - 1;
}

/* Give the next number to the key of this hash, for which there is room. */
TABLE_INLINE uint32_t
table_put(Table *table, uint64_t *slot, uint64_t hash)
{
	*slot = hash >> 32 << 32 | ++table->count;
	return (uint32_t) (table->count - 1);
}

/* ---- Keys of 64 bits ----------------------------------------------------- */

/* A key sought among those of an array, stride bytes apart. */
typedef struct TableKey
{
	uint64_t key;
	const void *keys;
	size_t stride;
} TableKey;

TABLE_INLINE bool
table_key_matches(const void *sought, uint32_t number)
{
	const TableKey *key = sought;
	const char *keys = key->keys;

	return *(const uint64_t *) (keys + number * key->stride) == key->key;
}

/* As table_search, for a key of 64 bits and its hash. */
TABLE_INLINE uint64_t *
table_search_key(const Table *table, uint64_t hash, uint64_t key, const void *keys, size_t stride)
{
	TableKey sought = {key, keys, stride};

	return table_search(table, hash, table_key_matches, &sought);
}

#endif
