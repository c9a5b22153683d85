/*
 * labels.h: labels of documents.  A join does not look for pairs of documents that are known to be
 * connected, as their labels say.
 */
#ifndef NEARDUP_JOIN_LABELS_H
#define NEARDUP_JOIN_LABELS_H

#include "base/forest.h"

/* Labels of the documents of a list. */
typedef struct JoinLabels
{
	const uint32_t *label; /* the label of each position, ascending; 0: none */
	uint32_t *parent;      /* the parent of each label, in a tree of connected labels */
	uint32_t count;        /* the number of labels, 0 among them */
} JoinLabels;

/* Returns whether documents with two labels are known to be connected. */
static inline bool
labels_connected(const JoinLabels *labels, uint32_t x, uint32_t y)
{
	return x != 0 && y != 0 && forest_root(labels->parent, x) == forest_root(labels->parent, y);
}

/* Connects the labels of two similar documents, at positions a and b. */
static inline void
labels_connect(const JoinLabels *labels, uint32_t a, uint32_t b)
{
	if (labels->label[a] != 0 && labels->label[b] != 0)
		(void) forest_link(labels->parent, labels->label[a], labels->label[b]);
}

#endif
