/*
 * table.h: the hash table of all layers.
 *
 * A table numbers keys: the first key gets 0, the second 1, and so on.  The caller keeps
 * the keys in an array by number.  A slot holds a number and half of the hash of its
 * key.  Collisions are resolved by linear probing.
 *
 * Users choose the keys, by the texts, arrays or signatures that they write.  So a hash
 * depends on secret numbers, new for each table, and nobody can choose keys that
 * collide.  No result may depend on the secrets, nor on the order of slots: a caller
 * that visits all keys visits them by number.
 */
#ifndef NEARDUP_BASE_TABLE_H
#define NEARDUP_BASE_TABLE_H

#include "base/host.h"

/* More keys are an error: half of a hash must be able to address twice as many slots. */
#define TABLE_MAX ((size_t) 1 << 31)

typedef struct Table
{
	uint64_t *slot;     /* high half: of the hash; low half: number + 1; 0 if free */
	size_t mask;        /* slots - 1 */
	size_t room;        /* keys that fit before it must grow */
	size_t count;       /* keys */
	int shift;          /* the highest 64 - shift bits of a hash address the slot */
	uint64_t secret[2]; /* numbers added to a key and multiplied with it; the second is odd */
} Table;

/* Returns whether the caller's key of this number equals the one sought. */
typedef bool (*TableMatch)(const void *sought, uint32_t number);

#define TABLE_INLINE static inline __attribute__((always_inline))

extern void table_begin(Table *table, size_t expected);
extern void table_end(Table *table);
extern void table_begin_forever(Table *table, size_t count);
extern void table_grow(Table *table, size_t count);

/* Makes room for `count` keys in all.  Invalidates pointers to slots. */
TABLE_INLINE void
table_reserve(Table *table, size_t count)
{
	if (count > table->room)
		table_grow(table, count);
}

/* Returns the hash of a key of 64 bits.  Callers hash longer keys with table_seed. */
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

/* Returns a secret number to hash longer keys with. */
TABLE_INLINE uint64_t
table_seed(const Table *table)
{
	return table->secret[0];
}

/* Returns the slot at which the search for a hash starts. */
TABLE_INLINE uint64_t *
table_home(const Table *table, uint64_t hash)
{
	return table->slot + (hash >> table->shift);
}

/* Returns the slot of the key sought, or the free slot where it belongs. */
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

/* Returns the number in a slot that is not free. */
TABLE_INLINE uint32_t
table_number(const uint64_t *slot)
{
	return (uint32_t) *slot - 1;
}

/* Numbers a new key, for which there is room; `slot` is what table_search returned. */
TABLE_INLINE uint32_t
table_put(Table *table, uint64_t *slot, uint64_t hash)
{
	*slot = hash >> 32 << 32 | ++table->count;
	return (uint32_t) (table->count - 1);
}

/* ---- Keys of 64 bits ----------------------------------------------------- */

/* A key that is sought in an array of keys that are `stride` bytes apart. */
typedef struct TableKey
{
	uint64_t key;
	const void *keys;
	size_t stride;
} TableKey;

/* A TableMatch for a TableKey. */
TABLE_INLINE bool
table_key_matches(const void *sought, uint32_t number)
{
	const TableKey *key = sought;
	const char *keys = key->keys;

	return *(const uint64_t *) (keys + number * key->stride) == key->key;
}

/* Like table_search, for a key of 64 bits; `keys` are `stride` bytes apart. */
TABLE_INLINE uint64_t *
table_search_key(const Table *table, uint64_t hash, uint64_t key, const void *keys, size_t stride)
{
	TableKey sought = {.key = key, .keys = keys, .stride = stride};

	return table_search(table, hash, table_key_matches, &sought);
}

/*
 * Adds a key unless it is there; `keys`, by number, have room for it and for one more.  Whether
 * a key is new is hard to predict, so the code branches only if another key has its home.
 */
TABLE_INLINE void
table_add_key(Table *table, uint64_t hash, uint64_t key, uint64_t *keys)
{
	uint64_t *slot = table_home(table, hash);
	uint64_t found = *slot;
	uint64_t added = -(uint64_t) (found == 0);
	uint64_t other;

	keys[table->count] = key;
	other = keys[(uint32_t) found + (uint32_t) ~added] ^ key;
	if (__builtin_expect((other & ~added) != 0, 0))
	{
		slot = table_search_key(table, hash, key, keys, sizeof(uint64_t));
		found = *slot;
		added = -(uint64_t) (found == 0);
	}
	*slot = found | (added & (hash >> 32 << 32 | (table->count + 1)));
	table->count -= added;
}

extern uint32_t table_number_key(Table *table, uint64_t key, uint64_t **keys);

#endif
