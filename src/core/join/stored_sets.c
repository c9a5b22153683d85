/*
 * stored_sets.c: sets in memory, which go to a temporary file when they outgrow it.
 */
#include "join/stored_sets.h"

#include <string.h>

/* Bytes of a chunk, unless a set is larger. */
#define CHUNK_BYTES (256 * 1024)

/* Returns how many bytes a set takes. */
size_t
stored_bytes(const Bag *bag)
{
	size_t each = sizeof(int64_t) + (bag->frequency != NULL ? sizeof(uint32_t) : 0);

	return sizeof(StoredBag) + bag->count * each;
}

/* Stores a set. */
void
store_bag(StoredBag *stored, const Bag *bag)
{
	stored->count = bag->count;
	stored->weighted = bag->frequency != NULL;
	memcpy(stored->element, bag->element, bag->count * sizeof(int64_t));
	if (stored->weighted)
		memcpy(stored->element + bag->count, bag->frequency, bag->count * sizeof(uint32_t));
}

/* Returns a stored set, in its memory. */
Bag
bag_of_stored(StoredBag *stored)
{
	void *frequency = stored->element + stored->count;

	return (Bag){stored->count, stored->element, stored->weighted ? frequency : NULL};
}

/* Returns a set, from memory, or from *copy, which the caller frees. */
Bag
set_read(const SetStore *store, const StoredSet *set, void **copy)
{
	*copy = set->in_file ? blobs_get(&store->blobs, set->at.position) : NULL;
	return bag_of_stored(set->in_file ? *copy : set->at.bag);
}

/* Returns memory in the chunks. */
static void *
chunk_alloc(SetStore *store, size_t bytes)
{
	Chunk *chunk = store->chunks;
	size_t words = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);

	if (chunk == NULL || chunk->room - chunk->used < words)
	{
		size_t room = Max(words, CHUNK_BYTES / sizeof(uint64_t));

		chunk = host_alloc(sizeof(Chunk) + room * sizeof(uint64_t));
		*chunk = (Chunk){.next = store->chunks, .room = room};
		store->chunks = chunk;
	}
	chunk->used += words;
	return chunk->bytes + chunk->used - words;
}

static void
free_chunks(SetStore *store)
{
	while (store->chunks != NULL)
	{
		Chunk *next = store->chunks->next;

		host_free(store->chunks);
		store->chunks = next;
	}
}

/* Moves the sets in memory to the file. */
void
set_store_flush(SetStore *store)
{
	for (; store->flushed < store->count; store->flushed++)
	{
		StoredSet *set = store->set + store->flushed;
		Bag bag = bag_of_stored(set->at.bag);

		set->at.position = blobs_add(&store->blobs, set->at.bag, stored_bytes(&bag));
		set->in_file = true;
		host_check_interrupts_at(store->flushed);
	}
	free_chunks(store);
	store->elements = 0;
}

/* Adds a copy of a set, which has the next number. */
void
set_store_add(SetStore *store, const Bag *bag, bool weighted)
{
	StoredSet *set;

	store->set = host_grow(store->set, &store->room, store->count + 1, sizeof(StoredSet));
	set = store->set + store->count++;
	set->length = weighted ? bag_total(bag) : bag->count;
	set->count = bag->count;
	set->in_file = false;
	set->at.bag = chunk_alloc(store, stored_bytes(bag));
	store_bag(set->at.bag, bag);
	store->elements += bag->count;
	if (store->elements > store->limit)
		set_store_flush(store);
}

/* Completes a store after the last set. */
void
set_store_done(SetStore *store)
{
	if (store->flushed > 0)
		set_store_flush(store);
}

/* Frees the sets, and closes the file. */
void
set_store_end(SetStore *store)
{
	blobs_end(&store->blobs);
	free_chunks(store);
	host_free(store->set);
}
