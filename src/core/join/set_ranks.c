/*
 * set_ranks.c: the elements of bags ranked by how few bags have them.
 *
 * Most elements are in one bag alone.  Two bits for each hash tell most of these, so that only the others
 * are counted.  They are spread over parts by their hashes, which go to files if memory does not hold them
 * all.  In one part after the other, the bags that have an element are counted, and the elements of each
 * count are numbered.  The ranks that follow from both are then merged into the items of each document, in
 * the order of lengths.
 */
#include "join/set_items.h"

#include <math.h>
#include <string.h>

#include "base/seen.h"
#include "base/table.h"

/* The shares of memory that hashes, all parts, and the elements of a part may take. */
#define SHARE_OF_RANKS 8

/* Slots for each element, four of which take a byte. */
#define SLOTS_OF_ELEMENT 8

/* The most bytes of the elements of a part, which stay in a cache. */
#define PART_MOST ((size_t) 16 * 1024 * 1024)

/* Bytes of memory that an element takes while its part is ranked, and an open file, about; and the most parts. */
#define RANKED_BYTES 64
#define FILE_BYTES (16 * 1024)
#define PARTS_MOST 1024

/* The least room for items. */
#define ROOM_MIN 64

/* Elements whose positions in a table are fetched together before they are searched. */
#define FETCHED 64

/* An element of a document; once it is counted, the number of its bags and its own among these take its place. */
typedef struct RankedItem
{
	uint64_t element;
	uint32_t document;
	uint32_t frequency;
} RankedItem;

/* An item of a document, and its part. */
typedef struct FoundItem
{
	RankedItem item;
	uint32_t part;
} FoundItem;

typedef struct RankPart
{
	HostFile *file; /* NULL: the items are in memory */
	RankedItem *item;
	size_t room;
	uint64_t count;
	uint64_t next;   /* the number of the item behind `head` */
	RankedItem head; /* document is UINT32_MAX at the end */
} RankPart;

struct SetRanks
{
	const SetJoin *join;
	SetItems *items;
	size_t memory;
	Table hashes; /* the table that has the secret */
	SeenTwice seen;
	FoundItem *found; /* items of one document */
	size_t founds;
	size_t found_room;
	RankPart *part;
	uint32_t parts;
	size_t expected; /* elements of a part, about */
	uint64_t *first; /* elements that n bags have, by n; then the first rank */
};

/* ---- Elements that one bag has ------------------------------------------------ */

/* Returns how many bags a side of a join has. */
static uint32_t
bags_of_side(const SetJoin *join, bool of_right)
{
	return !of_right ? join->left_count : join->right != NULL ? join->right_count : 0;
}

/* Returns how many elements all bags have. */
static uint64_t
count_occurrences(const SetJoin *join)
{
	uint64_t count = 0;

	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < bags_of_side(join, side); i++)
		{
			const SetList *list = join->list[side];

			host_check_interrupts_at(i);
			count += list != NULL ? set_list_at(list, i)->count :
									(side == 0 ? join->left : join->right)[i].count;
		}
	return count;
}

/* Finds the slots of some elements, which are fetched. */
static inline void
fetch_slots(const SetRanks *ranks, const int64_t *element, uint32_t count, uint64_t *hash)
{
	for (uint32_t i = 0; i < count; i++)
	{
		hash[i] = table_hash(&ranks->hashes, (uint64_t) element[i]);
		seen_fetch(&ranks->seen, hash[i]);
	}
}

/* Notes the elements of all bags. */
static void
see_elements(SetRanks *ranks)
{
	const SetJoin *join = ranks->join;
	uint64_t hash[FETCHED];
	void *copy;

	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < bags_of_side(join, side); i++)
		{
			Bag bag = set_bag(join, side, i, &copy);

			for (uint32_t done = 0, some; done < bag.count; done += some)
			{
				some = Min(bag.count - done, FETCHED);
				host_check_interrupts_at(done);
				fetch_slots(ranks, bag.element + done, some, hash);
				for (uint32_t e = 0; e < some; e++)
					if (join->right != NULL)
						seen_by(&ranks->seen, hash[e], side);
					else
						seen_again(&ranks->seen, hash[e]);
			}
			host_free(copy);
		}
}

/* ---- Parts -------------------------------------------------------------------- */

/* Makes empty parts, as many as memory needs for the elements that may be in several bags. */
static void
make_rank_parts(SetRanks *ranks)
{
	const SeenTwice *seen = &ranks->seen;
	double items = (double) (seen->again + seen->twice);
	double both = (double) seen->twice / seen->slots;
	double elements = fmin(items, -(double) seen->slots * log1p(-both));
	size_t memory = ranks->join->memory > 0 ? host_limit(ranks->memory) : ranks->memory;
	bool files = items * sizeof(RankedItem) > memory;
	double bytes = elements * RANKED_BYTES + (files ? items * sizeof(RankedItem) : 0);
	size_t most = host_limit(PARTS_MOST);

	if (files)
		most = Min(most, ranks->memory / FILE_BYTES);
	ranks->parts = 1 + (uint32_t) fmin(bytes / Min(memory, PART_MOST), most);
	ranks->expected = (size_t) (elements / ranks->parts);
	ranks->part = host_alloc(ranks->parts * sizeof(RankPart));
	memset(ranks->part, 0, ranks->parts * sizeof(RankPart));
	for (uint32_t p = 0; p < ranks->parts && files; p++)
		ranks->part[p].file = host_file_create();
}

/* Adds an item to a part. */
static inline void
add_item(RankPart *part, const RankedItem *item)
{
	if (part->file != NULL)
	{
		host_file_write(part->file, part->count++ * sizeof(RankedItem), item, sizeof(RankedItem));
		return;
	}
	part->item =
		host_grow(part->item, &part->room, Max(part->count + 1, ROOM_MIN), sizeof(RankedItem));
	part->item[part->count++] = *item;
}

/* Returns whether a document shares enough with others, at most this much, to be similar to one. */
static inline bool
shares_enough(const SetRanks *ranks, const SetDocument *document, uint64_t shared)
{
	return shared >= set_remaining_needed(ranks->join, document->length, true);
}

/* Finds the elements of a document that other bags may have.  Returns their frequencies. */
static uint64_t
find_items(SetRanks *ranks, uint32_t d, const Bag *bag)
{
	uint64_t hash[FETCHED];
	uint64_t sum = 0;

	ranks->founds = 0;
	ranks->found = host_grow(ranks->found, &ranks->found_room, bag->count, sizeof(FoundItem));
	for (uint32_t done = 0, some; done < bag->count; done += some)
	{
		some = Min(bag->count - done, FETCHED);
		host_check_interrupts_at(done);
		fetch_slots(ranks, bag->element + done, some, hash);
		for (uint32_t i = 0; i < some; i++)
		{
			FoundItem *found = ranks->found + ranks->founds;

			if (!seen_is_both(&ranks->seen, hash[i]))
				continue;
			found->item = (RankedItem){(uint64_t) bag->element[done + i], d,
									   ranks->join->weighted ? bag_frequency(bag, done + i) : 1};
			found->part = (uint32_t) ((hash[i] & UINT32_MAX) * ranks->parts >> 32);
			sum += found->item.frequency;
			ranks->founds++;
		}
	}
	return sum;
}

/* Spreads the elements of all documents that may be similar to others, in the order of lengths. */
static void
spread_documents(SetRanks *ranks)
{
	for (uint32_t d = 0; d < ranks->items->documents; d++)
	{
		SetDocument *document = ranks->items->document + d;
		void *copy;
		Bag bag = set_bag(ranks->join, document->of_right, document->bag, &copy);

		host_check_interrupts_at(d);
		document->unshared = document->length;
		if (shares_enough(ranks, document, find_items(ranks, d, &bag)))
			for (size_t i = 0; i < ranks->founds; i++)
				add_item(ranks->part + ranks->found[i].part, &ranks->found[i].item);
		host_free(copy);
	}
	host_free(ranks->found);
	ranks->found = NULL;
}

/* ---- Counts ------------------------------------------------------------------- */

typedef struct RankedElement
{
	uint64_t element;
	uint32_t bags;    /* bags that have it */
	uint32_t sources; /* the sides of these bags: 1 for left, 2 for right, 3 for both */
} RankedElement;

/* The elements of a part, numbered in the order of their first items. */
typedef struct RankedElements
{
	Table table;
	RankedElement *element;
	size_t room;
} RankedElements;

/* Counts a bag of a source that has an element.  Returns the element's number. */
static inline uint32_t
count_element(RankedElements *elements, uint64_t hash, uint64_t element, uint32_t source)
{
	uint64_t *slot = table_search_key(&elements->table, hash, element,
									  &elements->element[0].element, sizeof(RankedElement));
	RankedElement *found;

	if (*slot == 0)
	{
		found = elements->element + table_put(&elements->table, slot, hash);
		*found = (RankedElement){.element = element};
	}
	else
		found = elements->element + table_number(slot);
	found->bags++;
	found->sources |= source;
	return (uint32_t) (found - elements->element);
}

/* Counts up to FETCHED items, whose elements the numbers of these replace. */
static void
count_items(RankedElements *elements, const SetDocument *document, RankedItem *item, uint32_t count)
{
	Table *table = &elements->table;
	uint64_t hash[FETCHED];

	table_reserve(table, table->count + count);
	elements->element =
		host_grow(elements->element, &elements->room, table->count + count, sizeof(RankedElement));
	for (uint32_t i = 0; i < count; i++)
	{
		hash[i] = table_hash(table, item[i].element);
		__builtin_prefetch(table_home(table, hash[i]), 1);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		const uint64_t *slot = table_home(table, hash[i]);

		if (*slot != 0)
			__builtin_prefetch(elements->element + table_number(slot), 1);
	}
	for (uint32_t i = 0; i < count; i++)
		item[i].element = count_element(elements, hash[i], item[i].element,
										1 << document[item[i].document].of_right);
}

/* Numbers the elements that two bags of a pair can share, within each count; others get 0. */
static void
number_elements(SetRanks *ranks, RankedElements *elements)
{
	uint32_t both = ranks->join->right != NULL ? 3 : 0;

	for (size_t i = 0; i < elements->table.count; i++)
	{
		RankedElement *element = elements->element + i;
		bool shared = both > 0 ? element->sources == both : element->bags > 1;

		host_check_interrupts_at(i);
		element->element =
			shared ? (uint64_t) element->bags << 32 | (uint32_t) ranks->first[element->bags]++ : 0;
	}
}

/* Counts the elements of a part, and leaves the items whose elements can be shared, with their numbers. */
static void
count_part(SetRanks *ranks, RankPart *part)
{
	uint64_t count = part->count;
	RankedItem *item = part->item;
	RankedElements elements = {.room = 0};

	if (part->file != NULL)
	{
		item = host_alloc(count * sizeof(RankedItem));
		host_file_read(part->file, 0, item, count * sizeof(RankedItem));
	}
	table_begin(&elements.table, ranks->expected);
	for (uint64_t i = 0; i < count; i += FETCHED)
	{
		host_check_interrupts_at(i);
		count_items(&elements, ranks->items->document, item + i,
					(uint32_t) Min(count - i, FETCHED));
	}
	number_elements(ranks, &elements);
	part->count = 0;
	for (uint64_t i = 0; i < count; i++)
	{
		SetDocument *document = ranks->items->document + item[i].document;

		host_check_interrupts_at(i);
		item[i].element = elements.element[item[i].element].element;
		if (item[i].element == 0)
			continue;
		document->items++;
		document->unshared -= item[i].frequency;
		add_item(part, item + i);
	}
	table_end(&elements.table);
	host_free(elements.element);
	if (part->file != NULL)
		host_free(item);
}

/* Makes the ranks of the elements, by the number of their bags.  Returns how many there are. */
static uint64_t
count_ranks(SetRanks *ranks)
{
	size_t most = (size_t) ranks->items->documents + 1;
	uint64_t before = 0;

	ranks->first = host_alloc(most * sizeof(uint64_t));
	memset(ranks->first, 0, most * sizeof(uint64_t));
	for (uint32_t p = 0; p < ranks->parts; p++)
		count_part(ranks, ranks->part + p);
	for (size_t n = 0; n < most; n++)
	{
		uint64_t count = ranks->first[n];

		ranks->first[n] = before;
		before += count;
	}
	return before;
}

/* ---- Items --------------------------------------------------------------------- */

/* Moves the head of a part to the next item. */
static inline void
next_item(RankPart *part)
{
	if (part->next == part->count)
		part->head.document = UINT32_MAX;
	else if (part->file == NULL)
		part->head = part->item[part->next++];
	else
		host_file_read(part->file, part->next++ * sizeof(RankedItem), &part->head,
					   sizeof(RankedItem));
}

/* Takes the items from documents that are similar to no other, and counts the items of all others. */
static void
count_positions(SetRanks *ranks)
{
	SetItems *items = ranks->items;

	for (uint32_t d = 0; d < items->documents; d++)
	{
		SetDocument *document = items->document + d;

		host_check_interrupts_at(d);
		if (!shares_enough(ranks, document, document->length - document->unshared))
		{
			document->items = 0;
			document->unshared = document->length;
		}
		items->positions += document->items;
		items->items_most = Max(items->items_most, document->items);
	}
}

/* Sets the keys of a document's items, sorted, if it has any. */
static void
take_items(SetRanks *ranks, uint32_t d, uint64_t *key)
{
	bool has_any = ranks->items->document[d].items > 0;
	uint32_t items = 0;

	for (uint32_t p = 0; p < ranks->parts; p++)
		for (RankPart *part = ranks->part + p; part->head.document == d; next_item(part))
		{
			uint64_t rank = ranks->first[part->head.element >> 32] + (uint32_t) part->head.element;

			if (has_any)
				key[items++] = set_item_key((uint32_t) rank, part->head.frequency);
		}
	hashes_sort(key, items);
}

/* Frees what ranks have allocated. */
static void
ranks_free(SetRanks *ranks)
{
	for (uint32_t p = 0; p < ranks->parts; p++)
	{
		host_free(ranks->part[p].item);
		if (ranks->part[p].file != NULL)
			host_file_close(ranks->part[p].file);
	}
	host_free(ranks->part);
	host_free(ranks->first);
	host_free(ranks);
}

/* Merges all parts into the items of the documents, in memory or in a file, and frees the ranks. */
void
set_ranks_put(SetRanks *ranks, bool in_memory)
{
	SetItems *items = ranks->items;
	uint64_t *key = host_alloc((items->items_most + 1) * sizeof(uint64_t));
	size_t position = 0;

	if (in_memory)
		set_items_room(ranks->join, items, items->documents, items->positions);
	else
		items->file = host_file_create();
	for (uint32_t p = 0; p < ranks->parts; p++)
		next_item(ranks->part + p);
	for (uint32_t d = 0; d < items->documents; d++)
	{
		SetDocument *document = items->document + d;

		host_check_interrupts_at(d);
		take_items(ranks, d, key);
		if (in_memory)
			set_items_put(items, d, key, position);
		else
			host_file_write(items->file, position * sizeof(uint64_t), key,
							document->items * sizeof(uint64_t));
		document->item = position;
		position += document->items;
	}
	host_free(key);
	ranks_free(ranks);
}

/*
 * Sorts the bags of a join, and ranks their elements, for set_ranks_put().  Returns NULL if there are
 * UINT32_MAX bags, or as many elements are in more than one.
 */
SetRanks *
set_ranks_make(const SetJoin *join, SetItems *items)
{
	SetRanks *ranks;
	uint64_t count;

	memset(items, 0, sizeof(SetItems));
	if ((uint64_t) join->left_count + bags_of_side(join, true) >= UINT32_MAX)
		return NULL;
	ranks = host_alloc(sizeof(SetRanks));
	memset(ranks, 0, sizeof(SetRanks));
	ranks->join = join;
	ranks->items = items;
	ranks->memory = join->memory > 0 ? join->memory / SHARE_OF_RANKS : SIZE_MAX / SHARE_OF_RANKS;
	set_documents_make(join, items);
	table_begin(&ranks->hashes, 1);
	ranks->seen = seen_make(host_limit(Min(count_occurrences(join) * SLOTS_OF_ELEMENT,
										   (uint64_t) ranks->memory * 4)));
	see_elements(ranks);
	make_rank_parts(ranks);
	spread_documents(ranks);
	seen_free(&ranks->seen);
	table_end(&ranks->hashes);
	count = count_ranks(ranks);
	count_positions(ranks);
	items->ranks = (uint32_t) count;
	if (count < UINT32_MAX)
		return ranks;
	ranks_free(ranks);
	set_items_free(items);
	return NULL;
}
