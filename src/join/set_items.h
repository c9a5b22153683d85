/*
 * set_items.h: bags made ready to be joined (set_items.c, for sets.c).
 */
#ifndef NEARDUP_JOIN_SET_ITEMS_H
#define NEARDUP_JOIN_SET_ITEMS_H

#include "join/sets.h"

/* An element that may be shared; its rank is the lower the fewer bags have it. */
typedef struct SetItem
{
	uint32_t rank;
	uint32_t frequency; /* 1 where the join is not weighted */
} SetItem;

/* A bag; its items are those from item on, by rank. */
typedef struct SetDocument
{
	uint64_t length; /* of all elements; what similarity is made of */
	uint64_t lone;   /* of those that no partner can have, which are no items */
	size_t item;
	uint32_t items;
	uint32_t bag;      /* its number in left or right */
	uint32_t earliest; /* document where the partition before its own starts */
	bool of_right;
} SetDocument;

/* All bags that are not empty, by length. */
typedef struct SetItems
{
	SetDocument *document;
	uint32_t documents;
	uint32_t ranks;
	uint32_t partitions;
	SetItem *item;
} SetItems;

/* False as set_join. */
extern bool set_items_make(const SetJoin *join, SetItems *items);
extern void set_items_free(SetItems *items);

#endif
