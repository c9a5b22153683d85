/*
 * set_items.h: the bags of a join, sorted, with ranks of their elements (set_items.c).
 */
#ifndef NEARDUP_JOIN_SET_ITEMS_H
#define NEARDUP_JOIN_SET_ITEMS_H

#include "base/table.h"
#include "join/set_join.h"

/* A bag that is not empty. */
typedef struct SetDocument
{
	uint64_t length; /* the length of all elements */
	uint64_t lone;   /* the length of its elements that no other bag has, which are no items */
	size_t item;     /* the first of its items */
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
	size_t places;       /* items of all documents */
	uint32_t *rank;      /* the rank of each item, ascending within a document */
	uint32_t *frequency; /* the frequency of each item; NULL if the join is not weighted */
	uint64_t *bitmap; /* a power of two words for each document: each copy of a rank flips a bit */
	uint32_t words;
} SetItems;

/* The rank of an element that only one bag, or only one source, has. */
#define NO_RANK UINT32_MAX

typedef struct SetElement
{
	int64_t element;
	uint32_t bags;    /* bags that have it */
	uint32_t sources; /* the sides of these bags: 1 for left, 2 for right, 3 for both */
} SetElement;

/* All elements, numbered in order of their first occurrence. */
typedef struct SetElements
{
	Table table;
	SetElement *element; /* the elements, by number */
	uint32_t *number;    /* the number of each occurrence, by document */
} SetElements;

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

/* Returns whether two bags of a pair can share an element. */
static inline bool
set_may_share(const SetJoin *join, const SetElement *element)
{
	if (join->right)
		return element->sources == 3;
	return element->bags > 1;
}

extern void set_documents_make(const SetJoin *join, SetItems *items);
extern void set_elements_begin(SetElements *elements, size_t occurrences);
extern void set_elements_count(SetElements *elements, const Bag *bag, bool of_right,
							   uint32_t *number);
extern void set_elements_end(SetElements *elements);
extern void set_items_room(const SetJoin *join, SetItems *items, uint32_t documents, size_t places);
extern void set_items_put(SetItems *items, uint32_t d, const uint64_t *key, size_t place);
extern bool set_items_make(const SetJoin *join, SetItems *items);
extern void set_items_free(SetItems *items);

#endif
