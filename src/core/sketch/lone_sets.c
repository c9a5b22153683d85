/*
 * lone_sets.c: which of many sets are lone: similar to no other of them.
 *
 * When a set comes, it may be known to be similar to no earlier one.  Then the elements that no earlier set
 * has are listed, and looked at again after the last set.
 */
#include "sketch/lone_sets.h"

#include <string.h>

#include "base/host.h"

/* The sample has this many times the elements that a similar set may lack, and at least a share of all. */
#define SAMPLED_OF_LACKED 2
#define SAMPLED_LEAST 0.15

/* More than what rounding makes of the number of elements that a set may lack. */
#define ROUNDED 1e-3

/*
 * The most numbers of a list, at most half of what the slots take, if no set has more.  The first is
 * how many they are.
 */
#define LISTED ((size_t) 1 << 18)
#define SLOTS_OF_LISTED 32

/* The highest 32 bits of an element, as a list has them, and a hash that has their slot. */
#define LISTED_OF(element) ((uint32_t) ((element) >> 32))
#define HASH_OF(listed) ((uint64_t) (listed) << 32)

/* The numbers of a set in a list: these, and its elements to whose slots none of an earlier set came. */
#define HEAD (sizeof(ListHead) / sizeof(uint32_t))

typedef struct ListHead
{
	uint32_t digest[2];
	uint32_t count;  /* the elements of the set */
	uint32_t listed; /* those in the list */
} ListHead;

/* Begins without sets, in about this many bytes of memory, for a least resemblance of similar ones. */
LoneSets
lone_begin(double threshold, size_t bytes)
{
	double share = Max((1 - threshold) * SAMPLED_OF_LACKED, SAMPLED_LEAST);
	LoneSets sets = {.threshold = threshold,
					 .sampled = (uint32_t) (Min(share, 1) * (1 << 16)),
					 .seen = seen_make(Min(bytes, UINT32_MAX) * 4),
					 .listed = 1};

	sets.list = host_grow(NULL, &sets.list_room, 1, sizeof(uint32_t));
	sets.similar = host_grow(NULL, &sets.similar_room, 1, sizeof(uint64_t));
	return sets;
}

/* Returns whether a set of `count` elements, some of which no other has, cannot be similar to another. */
static bool
is_lone(double threshold, double count, size_t own)
{
	return own > (1 - threshold) * count + ROUNDED;
}

/* Fetches the slots of some elements. */
static void
fetch_listed(const LoneSets *sets, const uint32_t *listed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		seen_fetch(&sets->seen, HASH_OF(listed[i]));
}

/* Makes room in the list for a set of `count` elements. */
static void
reserve_list(LoneSets *sets, size_t count)
{
	size_t most = host_limit(Min(LISTED, sets->seen.slots / SLOTS_OF_LISTED));

	if (sets->listed > 1 && sets->listed + HEAD + count > most)
	{
		if (sets->file == NULL)
			sets->file = host_file_create();
		*sets->list = sets->listed;
		host_file_write(sets->file, sets->written * sizeof(uint32_t), sets->list,
						sets->listed * sizeof(uint32_t));
		sets->written += sets->listed;
		sets->listed = 1;
	}
	sets->list =
		host_grow(sets->list, &sets->list_room, sets->listed + HEAD + count, sizeof(uint32_t));
}

/* Writes the elements that are in the sample; returns how many they are. */
static size_t
find_sampled(const LoneSets *sets, const uint64_t *element, size_t count, uint32_t *listed)
{
	size_t sampled = 0;

	for (size_t i = 0; i < count; i++)
	{
		listed[sampled] = LISTED_OF(element[i]);
		sampled += (element[i] & UINT16_MAX) < sets->sampled;
	}
	return sampled;
}

/* Sees some elements, and keeps those that are the first of their slots; returns how many they are. */
static size_t
see_sampled(LoneSets *sets, uint32_t *listed, size_t count)
{
	size_t first = 0;

	fetch_listed(sets, listed, count);
	for (size_t i = 0; i < count; i++)
	{
		listed[first] = listed[i];
		first += seen_again(&sets->seen, HASH_OF(listed[i]));
	}
	return first;
}

/*
 * Adds a set of distinct elements, given as mix64 of each, with a digest that only equal sets have.
 * Returns whether it is known to be similar to no earlier one.
 */
bool
lone_add(LoneSets *sets, uint64_t digest, const uint64_t *element, size_t count)
{
	ListHead head = {{(uint32_t) digest, digest >> 32}, count};
	uint32_t *listed;

	reserve_list(sets, count);
	listed = sets->list + sets->listed + HEAD;
	head.listed = see_sampled(sets, listed, find_sampled(sets, element, count, listed));
	if (is_lone(sets->threshold, count, head.listed))
	{
		memcpy(listed - HEAD, &head, sizeof(head));
		sets->listed += HEAD + head.listed;
		return true;
	}
	sets->similar =
		host_grow(sets->similar, &sets->similar_room, sets->similars + 1, sizeof(uint64_t));
	sets->similar[sets->similars++] = digest;
	return false;
}

/* Adds the digests of the sets of a list that are not lone. */
static void
look_at_list(const LoneSets *sets, double threshold, const uint32_t *list, size_t listed,
			 KeyNumbers *others)
{
	ListHead head;

	for (size_t at = 1; at < listed; at += HEAD + head.listed)
	{
		const uint32_t *element = list + at + HEAD;
		size_t own = 0;

		host_check_interrupts();
		memcpy(&head, list + at, sizeof(head));
		fetch_listed(sets, element, head.listed);
		for (uint32_t i = 0; i < head.listed; i++)
			own += !seen_is_both(&sets->seen, HASH_OF(element[i]));
		if (!is_lone(threshold, head.count, own))
			(void) table_number_key(&others->table,
									(uint64_t) head.digest[1] << 32 | head.digest[0], &others->key);
	}
}

/* Returns the digests of all sets that were added but for lone ones, at any least resemblance. */
KeyNumbers
lone_others(LoneSets *sets, double threshold)
{
	KeyNumbers others;
	uint32_t *list = NULL;
	size_t room = 0;
	uint32_t listed;

	table_begin(&others.table, sets->similars);
	others.key = host_alloc(others.table.room * sizeof(uint64_t));
	for (size_t i = 0; i < sets->similars; i++)
	{
		host_check_interrupts_at(i);
		(void) table_number_key(&others.table, sets->similar[i], &others.key);
	}
	for (uint64_t at = 0; at < sets->written; at += listed)
	{
		host_file_read(sets->file, at * sizeof(uint32_t), &listed, sizeof(uint32_t));
		list = host_grow(list, &room, listed, sizeof(uint32_t));
		host_file_read(sets->file, at * sizeof(uint32_t), list, listed * sizeof(uint32_t));
		look_at_list(sets, threshold, list, listed, &others);
	}
	host_free(list);
	look_at_list(sets, threshold, sets->list, sets->listed, &others);
	return others;
}

/* Frees the memory and closes the file. */
void
lone_end(LoneSets *sets)
{
	seen_free(&sets->seen);
	host_free(sets->list);
	host_free(sets->similar);
	if (sets->file != NULL)
		host_file_close(sets->file);
}
