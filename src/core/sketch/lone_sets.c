/*
 * lone_sets.c: which of many sets are lone: similar to no other of them.
 *
 * When a set comes, it may be known to be similar to no earlier one.  Then its slots are listed, and looked
 * at again after the last set.
 */
#include "sketch/lone_sets.h"

#include <string.h>

#include "base/host.h"

/* The sample has this many times the elements that a similar set may lack, and at least a share of all. */
#define SAMPLED_OF_LACKED 2
#define SAMPLED_LEAST 0.15

/* More than what rounding makes of the number of elements that a set may lack. */
#define ROUNDED 1e-3

/* Slots of a word; a slot counts what came to it, up to SEVERAL. */
#define SLOTS_OF_WORD 32
#define SEVERAL 2

/*
 * The most numbers of a list, at most half of what the slots take, if no set has more.  The first is
 * how many they are.
 */
#define LISTED ((size_t) 1 << 18)

/* The numbers of a set in a list: these, and the slots to which no element of an earlier set came. */
#define HEAD (sizeof(ListHead) / sizeof(uint32_t))

typedef struct ListHead
{
	uint32_t digest[2];
	uint32_t count; /* the elements of the set */
	uint32_t slots;
} ListHead;

/* Begins without sets, in about this many bytes of memory, for a least resemblance of similar ones. */
LoneSets
lone_begin(double threshold, size_t bytes)
{
	double share = Max((1 - threshold) * SAMPLED_OF_LACKED, SAMPLED_LEAST);
	size_t words = Min(bytes / sizeof(uint64_t) + 1, UINT32_MAX / SLOTS_OF_WORD);
	LoneSets sets = {.threshold = threshold,
					 .sampled = (uint32_t) (Min(share, 1) * (1 << 16)),
					 .slots = (uint64_t) words * SLOTS_OF_WORD,
					 .listed = 1};

	sets.word = host_alloc(words * sizeof(uint64_t));
	memset(sets.word, 0, words * sizeof(uint64_t));
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

/* Returns how many elements came to a slot. */
static inline int
at_slot(const LoneSets *sets, uint32_t slot)
{
	return sets->word[slot / SLOTS_OF_WORD] >> slot % SLOTS_OF_WORD * 2 & 3;
}

/* Fetches the words of some slots. */
static void
fetch_words(const LoneSets *sets, const uint32_t *slot, size_t count)
{
	for (size_t i = 0; i < count; i++)
		__builtin_prefetch(sets->word + slot[i] / SLOTS_OF_WORD, 1);
}

/* Makes room in the list for a set of `count` elements. */
static void
reserve_list(LoneSets *sets, size_t count)
{
	size_t most = host_limit(Min(LISTED, sets->slots / SLOTS_OF_WORD));

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

/* Writes the slots of the elements that are in the sample; returns how many they are. */
static size_t
find_slots(const LoneSets *sets, const uint64_t *element, size_t count, uint32_t *slot)
{
	size_t sampled = 0;

	for (size_t i = 0; i < count; i++)
	{
		slot[sampled] = (uint32_t) ((element[i] & UINT32_MAX) * sets->slots >> 32);
		sampled += element[i] >> 48 < sets->sampled;
	}
	return sampled;
}

/* Lets elements come to some slots, and keeps those that are the first there; returns how many they are. */
static size_t
take_slots(LoneSets *sets, uint32_t *slot, size_t count)
{
	size_t first = 0;

	fetch_words(sets, slot, count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t *word = sets->word + slot[i] / SLOTS_OF_WORD;
		int shift = slot[i] % SLOTS_OF_WORD * 2;
		int came = *word >> shift & 3;

		*word += (uint64_t) (came < SEVERAL) << shift;
		slot[first] = slot[i];
		first += came == 0;
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
	uint32_t *slot;

	reserve_list(sets, count);
	slot = sets->list + sets->listed + HEAD;
	head.slots = take_slots(sets, slot, find_slots(sets, element, count, slot));
	if (is_lone(sets->threshold, count, head.slots))
	{
		memcpy(slot - HEAD, &head, sizeof(head));
		sets->listed += HEAD + head.slots;
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

	for (size_t at = 1; at < listed; at += HEAD + head.slots)
	{
		const uint32_t *slot = list + at + HEAD;
		size_t own = 0;

		host_check_interrupts();
		memcpy(&head, list + at, sizeof(head));
		fetch_words(sets, slot, head.slots);
		for (uint32_t i = 0; i < head.slots; i++)
			own += at_slot(sets, slot[i]) < SEVERAL;
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
	host_free(sets->word);
	host_free(sets->list);
	host_free(sets->similar);
	if (sets->file != NULL)
		host_file_close(sets->file);
}
