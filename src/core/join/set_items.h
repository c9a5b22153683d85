/*
 * set_items.h: the bags of a join, sorted, with ranks of their elements (set_items.c, set_ranks.c).
 */
#ifndef NEARDUP_JOIN_SET_ITEMS_H
#define NEARDUP_JOIN_SET_ITEMS_H

#include "join/set_join.h"

/* A bag that is not empty. */
typedef struct SetDocument
{
	uint64_t length;   /* the length of all elements */
	uint64_t unshared; /* the length of its elements that no other bag has, which are no items */
	size_t item;       /* the first of its items */
	uint32_t items;
	uint32_t bag;      /* the bag's number in left or right */
	uint32_t earliest; /* the first document that is not too short to be similar */
	bool of_right;
} SetDocument;

/*
 * All bags that are not empty, sorted by length, and their items: elements that more than
 * one bag has.  The fewer bags have it, the lower is the rank of an element.
 */
typedef struct SetItems
{
	SetDocument *document;
	uint32_t documents;
	uint32_t ranks;
	uint32_t partitions;
	size_t positions;    /* items of all documents */
	uint32_t *rank;      /* the rank of each item, ascending within a document */
	uint32_t *frequency; /* the frequency of each item; NULL if the join is not weighted */
	uint64_t *bitmap; /* a power of two words for each document: each copy of a rank flips a bit */
	uint32_t words;
	uint32_t items_most; /* the most items of a document */
	HostFile *file;      /* the keys of all items, if memory does not hold the arrays; or NULL */
} SetItems;

/* Returns the frequency of an item. */
static inline uint32_t
set_item_frequency(const SetItems *items, size_t item)
{
	return items->frequency ? items->frequency[item] : 1;
}

/* Items are sorted as numbers: the rank, which is to sort as unsigned, and the frequency. */
static inline uint64_t
set_item_key(uint32_t rank, uint32_t frequency)
{
	return (uint64_t) (rank ^ (uint32_t) 1 << 31) << 32 | frequency;
}

/* Returns the rank of a key. */
static inline uint32_t
set_key_rank(uint64_t key)
{
	return (uint32_t) (key >> 32) ^ (uint32_t) 1 << 31;
}

/* Returns a bag of a join, from memory, or from *copy, which the caller frees. */
static inline Bag
set_bag(const SetJoin *join, bool of_right, uint32_t i, void **copy)
{
	const SetList *list = join->list[of_right];

	*copy = NULL;
	return list == NULL ? (of_right ? join->right : join->left)[i] :
						  set_read(list->store, set_list_at(list, i), copy);
}

extern void set_documents_make(const SetJoin *join, SetItems *items);
extern double set_items_bytes(const SetJoin *join, const SetItems *items);
extern void set_items_room(const SetJoin *join, SetItems *items, uint32_t documents,
						   size_t positions);
extern void set_items_put(SetItems *items, uint32_t d, const uint64_t *key, size_t position);
extern void set_items_free(SetItems *items);

/* ---- Ranks (set_ranks.c) ---------------------------------------------------- */

typedef struct SetRanks SetRanks;

extern SetRanks *set_ranks_make(const SetJoin *join, SetItems *items);
extern void set_ranks_put(SetRanks *ranks, bool in_memory);

#endif
