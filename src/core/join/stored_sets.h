/*
 * stored_sets.h: sets in memory, which go to a temporary file when they outgrow it.
 */
#ifndef NEARDUP_JOIN_STORED_SETS_H
#define NEARDUP_JOIN_STORED_SETS_H

#include "join/records.h"
#include "sketch/bag.h"

/* Bytes of an element in memory, about, and the share of memory for sets beside their join. */
#define SET_BYTES 12
#define SHARE_OF_SETS 3

/* A set as it is stored: its elements, then their frequencies if not all are 1. */
typedef struct StoredBag
{
	uint32_t count; /* the number of elements */
	bool weighted;  /* frequencies follow */
	int64_t element[];
} StoredBag;

/* Where a set is. */
typedef struct StoredSet
{
	uint64_t length; /* the length by which it is compared */
	uint32_t count;  /* the number of its elements */
	bool in_file;
	union
	{
		StoredBag *bag;
		uint64_t position; /* the position in blobs */
	} at;
} StoredSet;

/* A piece of memory for sets.  All chunks are freed together. */
typedef struct Chunk
{
	struct Chunk *next;
	size_t used;
	size_t room;
	uint64_t bytes[];
} Chunk;

typedef struct SetStore
{
	StoredSet *set; /* the sets, by number */
	uint32_t count;
	size_t room;
	Chunk *chunks;     /* the chunks of the sets in memory */
	uint64_t elements; /* the elements of these sets */
	uint64_t limit;    /* the most elements that memory may hold */
	uint32_t flushed;  /* the sets in blobs, which are the first ones */
	Blobs blobs;
} SetStore;

/* Some sets of a store; all of them where number is NULL. */
typedef struct SetList
{
	const SetStore *store;
	const uint32_t *number;
	uint32_t count;
} SetList;

/* Returns the set at a position of a list. */
static inline const StoredSet *
set_list_at(const SetList *list, uint32_t position)
{
	return list->store->set + (list->number == NULL ? position : list->number[position]);
}

/* Returns how many elements memory holds in its share for sets. */
static inline uint64_t
store_limit(size_t memory)
{
	return host_limit(memory / SHARE_OF_SETS / SET_BYTES);
}

extern size_t stored_bytes(const Bag *bag);
extern void store_bag(StoredBag *stored, const Bag *bag);
extern Bag bag_of_stored(StoredBag *stored);
extern Bag set_read(const SetStore *store, const StoredSet *set, void **copy);
extern void set_store_add(SetStore *store, const Bag *bag, bool weighted);
extern void set_store_flush(SetStore *store);
extern void set_store_done(SetStore *store);
extern void set_store_end(SetStore *store);

#endif
