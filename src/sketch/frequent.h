/*
 * frequent.h: the elements that many of a stream of bags have.
 */
#ifndef NEARDUP_SKETCH_FREQUENT_H
#define NEARDUP_SKETCH_FREQUENT_H

#include "base/table.h"
#include "sketch/bag.h"

/* An element of some of the bags since it was last forgotten. */
typedef struct Counted
{
	uint64_t element;
	uint32_t bags;   /* that have had it since */
	uint32_t missed; /* at most so many had it before */
} Counted;

/*
 * Counts in how many bags each element is, by lossy counting (Manku and Motwani, VLDB
 * 2002).  It forgets what is rare after every `width` bags, so that memory does not grow
 * with the number of bags, but with its logarithm.
 */
typedef struct Frequent
{
	double share;
	Table table;
	Counted *counted;
	size_t room;
	uint32_t bags;
	uint32_t width;
} Frequent;

/* Starts without bags; wanted are the elements that a share of all bags have, 0 < share <= 1. */
extern void frequent_begin(Frequent *frequent, double share);

/* Counts the elements of one more bag; there are at most UINT32_MAX. */
extern void frequent_add(Frequent *frequent, const Bag *bag);

/*
 * Returns the elements that at least the share of the bags have, but at least two bags, and
 * frees the counts.  Elements that nearly as many bags have, at least 0.95 times the share,
 * may be among them.  All frequencies are 1.
 */
extern Bag frequent_finish(Frequent *frequent);

#endif
