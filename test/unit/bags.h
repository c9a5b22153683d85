/*
 * bags.h: bags of hashes, for tests of join/.
 */
#ifndef NEARDUP_BAGS_H
#define NEARDUP_BAGS_H

#include "sketch/bag.h"

/* Returns the bag of hashes. */
static inline Bag
bag_of(const uint64_t *hashes, size_t count)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	bag_add(&builder, hashes, count);
	bag_finish(&builder, &bag);
	return bag;
}

#endif
