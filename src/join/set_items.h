/*
 * set_items.h: bags prepared for the join (set_items.c, for sets.c).
 */
#ifndef NEARDUP_JOIN_SET_ITEMS_H
#define NEARDUP_JOIN_SET_ITEMS_H

#include "join/sets.h"

/* An element that more than one bag has.  The fewer bags have it, the lower is its rank. */
typedef struct SetItem
{
	uint32_t rank;
	uint32_t frequency; /* 1 if the join is not weighted */
} SetItem;

/* A bag that is not empty. */
typedef struct SetDocument
{
	uint64_t length; /* of all elements */
	uint64_t lone;   /* of the elements that are no items, since no other bag has them */
	size_t item;     /* the first of its items, which are sorted by rank */
	uint32_t items;
	uint32_t bag;      /* its number in left or right */
	uint32_t earliest; /* first document of the partition before its own */
	bool of_right;
} SetDocument;

/* All bags that are not empty, sorted by length. */
typedef struct SetItems
{
	SetDocument *document;
	uint32_t documents;
	uint32_t ranks;
	uint32_t partitions;
	SetItem *item;
} SetItems;

extern bool set_items_make(const SetJoin *join, SetItems *items);
extern void set_items_free(SetItems *items);

#endif
