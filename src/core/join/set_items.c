/*
 * set_items.c: bags sorted by length and partitioned, and their items.
 */
#include "join/set_items.h"

#include <string.h>

#include "base/sort.h"

/* The fewest bits of bitmaps for each item, on average. */
#define BITS_OF_ITEM 4

/* The most copies of an item that have a bit each, and the step from one bit to the next. */
#define COPIES 16
#define COPY_STEP UINT32_C(0x9E3779B1)

/* ---- Documents: bags by length ------------------------------------------ */

/* Returns the length of a bag of a source. */
static inline uint64_t
bag_length(const SetJoin *join, bool of_right, uint32_t i)
{
	const Bag *bag;

	if (join->list[of_right] != NULL)
		return set_list_at(join->list[of_right], i)->length;
	bag = (of_right ? join->right : join->left) + i;
	return join->weighted ? bag_total(bag) : bag->count;
}

/* The length of a bag, and its number: those of right come behind those of left. */
typedef struct BagLength
{
	uint64_t length;
	uint64_t number;
} BagLength;

/* A SortKey of bags of one length. */
static inline uint64_t
key_of_number(const void *bag)
{
	return ((const BagLength *) bag)->number;
}

/* Returns the bags that are not empty by length, and those of one length in their order. */
static BagLength *
sort_bags(const SetJoin *join, uint32_t *count)
{
	uint64_t all = (uint64_t) join->left_count + (join->right ? join->right_count : 0);
	BagLength *bag = host_alloc(all * sizeof(BagLength) + 1);

	*count = 0;
	for (uint64_t i = 0; i < all; i++)
	{
		bool of_right = i >= join->left_count;

		host_check_interrupts_at(i);
		bag[*count] = (BagLength){bag_length(join, of_right, i - of_right * join->left_count), i};
		*count += bag[*count].length > 0;
	}
	sort_records_twice(bag, *count, sizeof(BagLength), sort_key_unsigned, key_of_number);
	return bag;
}

/*
 * Counts the partitions of the documents: one starts at the length of its first document, and has all
 * lengths that can be similar to that (Theobald et al., definition 3).  Of the partition before its
 * own, a document looks only at those that are not too short.
 */
static void
partition(const SetJoin *join, SetItems *items)
{
	uint64_t least;
	uint64_t most;
	uint64_t partition_most = 0;
	uint32_t earliest = 0;

	for (uint32_t i = 0; i < items->documents; i++)
	{
		SetDocument *document = items->document + i;

		host_check_interrupts_at(i);
		if (i == 0 || document->length > document[-1].length)
		{
			overlap_sizes(join->measure, document->length, join->threshold, &least, &most);
			while (earliest < i && items->document[earliest].length < least)
				earliest++;
		}
		if (document->length > partition_most)
		{
			partition_most = most;
			items->partitions++;
		}
		document->earliest = earliest;
	}
}

/* Sorts the bags that are not empty by length, and partitions them. */
void
set_documents_make(const SetJoin *join, SetItems *items)
{
	BagLength *bag = sort_bags(join, &items->documents);

	items->document = host_alloc(items->documents * sizeof(SetDocument));
	memset(items->document, 0, items->documents * sizeof(SetDocument));
	for (uint32_t d = 0; d < items->documents; d++)
	{
		SetDocument *document = items->document + d;

		host_check_interrupts_at(d);
		document->length = bag[d].length;
		document->of_right = bag[d].number >= join->left_count;
		document->bag = (uint32_t) (bag[d].number - (document->of_right ? join->left_count : 0));
	}
	host_free(bag);
	partition(join, items);
}

/* ---- Items --------------------------------------------------------------- */

/* Returns how many words the bitmaps of documents with this many items in all have. */
static uint32_t
words_for(uint32_t documents, size_t positions)
{
	uint32_t words = 1;

	while (words * 64.0 * documents < (double) BITS_OF_ITEM * positions)
		words *= 2;
	return words;
}

/* Returns how many bytes documents and their items take. */
double
set_items_bytes(const SetJoin *join, const SetItems *items)
{
	return (double) items->documents *
		(sizeof(SetDocument) + words_for(items->documents, items->positions) * sizeof(uint64_t)) +
		(double) items->positions * (join->weighted ? 2 : 1) * sizeof(uint32_t);
}

/* Allocates `positions` items of a number of documents. */
void
set_items_room(const SetJoin *join, SetItems *items, uint32_t documents, size_t positions)
{
	items->positions = positions;
	items->rank = host_alloc(positions * sizeof(uint32_t));
	if (join->weighted)
		items->frequency = host_alloc(positions * sizeof(uint32_t));
	items->words = words_for(documents, positions);
	items->bitmap = host_alloc((size_t) documents * items->words * sizeof(uint64_t));
}

/* Appends the items of a document, from their sorted keys. */
void
set_items_put(SetItems *items, uint32_t d, const uint64_t *key, size_t position)
{
	SetDocument *document = items->document + d;
	uint64_t *bitmap = items->bitmap + (size_t) d * items->words;

	document->item = position;
	memset(bitmap, 0, items->words * sizeof(uint64_t));
	for (uint32_t i = 0; i < document->items; i++, position++)
	{
		uint32_t rank = set_key_rank(key[i]);
		uint32_t frequency = (uint32_t) key[i];

		items->rank[position] = rank;
		if (items->frequency)
			items->frequency[position] = frequency;
		for (uint32_t copy = 0; copy < Min(frequency, COPIES); copy++, rank += COPY_STEP)
			bitmap[rank / 64 % items->words] ^= UINT64_C(1) << rank % 64;
	}
}

/* Frees the documents and their items. */
void
set_items_free(SetItems *items)
{
	host_free(items->document);
	host_free(items->rank);
	host_free(items->frequency);
	host_free(items->bitmap);
	if (items->file != NULL)
		host_file_close(items->file);
}
