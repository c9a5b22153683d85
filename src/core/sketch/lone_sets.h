/*
 * lone_sets.h: which of many sets are lone: similar to no other of them.
 *
 * Let a set have n elements.  A set of resemblance t or more to it lacks at most (1 - t) n of them, so of any s of its
 * elements it has at least s - (1 - t) n.  A set is lone if fewer of its elements are in any other set.  Only elements are
 * looked at whose hashes are in a sample.  Each has a slot, which knows whether one or several came to it.  Elements that
 * share a slot make a set look less lone, and so does a small sample; no lone set is similar to another.
 */
#ifndef NEARDUP_SKETCH_LONE_SETS_H
#define NEARDUP_SKETCH_LONE_SETS_H

#include "base/seen.h"
#include "sketch/common_elements.h"

typedef struct LoneSets
{
	double threshold; /* the least resemblance of similar sets, at which the sample aims */
	uint32_t sampled; /* elements are in the sample whose lowest 16 bits are below */
	SeenTwice seen;   /* the elements of the sample, by their highest 32 bits */
	uint32_t *list;   /* the sets that may be lone */
	size_t listed;
	size_t list_room;
	HostFile *file;    /* lists that were full; NULL: none were */
	uint64_t written;  /* the numbers of all of them */
	uint64_t *similar; /* the digests of sets that may be similar to an earlier one */
	size_t similars;
	size_t similar_room;
} LoneSets;

extern LoneSets lone_begin(double threshold, size_t bytes);
extern bool lone_add(LoneSets *sets, uint64_t digest, const uint64_t *element, size_t count);
extern KeyNumbers lone_others(LoneSets *sets, double threshold);
extern void lone_end(LoneSets *sets);

#endif
