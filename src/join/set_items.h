/*
 * set_items.h: bags prepared for the join (set_items.c, for sets.c).
 */
#ifndef NEARDUP_JOIN_SET_ITEMS_H
#define NEARDUP_JOIN_SET_ITEMS_H

#include "join/sets.h"


/* A bag that is not empty. */
typedef struct SetDocument
{
	uint64_t length; /* of all elements */
	uint64_t lone;   /* of the elements that are no items, since no other bag has them */
	size_t item;     /* the first of its items */
	uint32_t items;
	uint32_t bag;      /* its number in left or right */
	uint32_t earliest; /* first document of the partition before its own */
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
	size_t places;       /* items of all documents */
	uint32_t *rank;      /* of each item, ascending within a document */
	uint32_t *frequency; /* of each item; NULL if the join is not weighted */
	uint64_t *bitmap;    /* of each document, a power of two words: bits of its ranks */
	uint32_t words;
} SetItems;

/* Returns the number of the list of a rank. */
static inline size_t
set_list(const SetJoin *join, uint32_t rank, bool of_right)
{
	return join->right ? 2 * (size_t) rank + of_right : rank;
}

/* Returns the frequency of an item. */
static inline uint32_t
set_item_frequency(const SetItems *items, size_t item)
{
	return items->frequency ? items->frequency[item] : 1;
}

extern bool set_items_make(const SetJoin *join, SetItems *items);
extern void set_items_free(SetItems *items);

#endif
