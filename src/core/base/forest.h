/*
 * forest.h: trees of numbers, for union and find.
 */
#ifndef NEARDUP_BASE_FOREST_H
#define NEARDUP_BASE_FOREST_H

#include "base/host.h"

/* Returns trees of one number each. */
static inline uint32_t *
forest_begin(uint32_t count)
{
	uint32_t *parent = host_alloc(count * sizeof(uint32_t));

	for (uint32_t i = 0; i < count; i++)
		parent[i] = i;
	return parent;
}

/* Returns the root of a number's tree, and shortens the way to it. */
static inline uint32_t
forest_root(uint32_t *parent, uint32_t number)
{
	while (parent[number] != number)
		number = parent[number] = parent[parent[number]];
	return number;
}

/* Joins the trees of two numbers; the lesser root stays.  Returns false if they are one tree. */
static inline bool
forest_link(uint32_t *parent, uint32_t a, uint32_t b)
{
	uint32_t x = forest_root(parent, a);
	uint32_t y = forest_root(parent, b);

	parent[Max(x, y)] = Min(x, y);
	return x != y;
}

#endif
