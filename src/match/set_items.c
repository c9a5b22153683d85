/*
 * set_items.c: bags by length, in partitions, and their elements by rarity.
 */
#include "set_items.h"

#include <string.h>

#include "../hash.h"

/* A loop over so many bags or elements asks for interrupts in between. */
#define PASS_STEP 8192

static inline void
check_now_and_then(size_t i)
{
	if (i % PASS_STEP == 0)
		host_check_interrupts();
}

#define FROM_LEFT 1
#define FROM_RIGHT 2

/* An element without a rank: only one bag, or one source, has it. */
#define NO_RANK UINT32_MAX

/* ---- Documents: bags by length ------------------------------------------ */

static inline uint64_t
bag_length(const SetJoin *join, const Bag *bag)
{
	return join->weighted ? bag_total(bag) : bag->count;
}

static inline const Bag *
bag_of(const SetJoin *join, const SetDocument *document)
{
	return (document->of_right ? join->right : join->left) + document->bag;
}

/* The lengths that occur, each with the number of its bags. */
static Bag
count_lengths(const SetJoin *join)
{
	const Bag *source[] = {join->left, join->right};
	uint32_t count[] = {join->left_count, join->right ? join->right_count : 0};
	BagBuilder builder;
	Bag lengths;
	int s;
	uint32_t i;

	bag_begin(&builder);
	for (s = 0; s < 2; s++)
		for (i = 0; i < count[s]; i++)
		{
			uint64_t length = bag_length(join, source[s] + i);

			check_now_and_then(i);
			if (length > 0)
				bag_add(&builder, &length, 1);
		}
	/* There are fewer bags than it can refuse. */
	bag_finish(&builder, &lengths);
	return lengths;
}

static uint32_t
find_length(const Bag *lengths, uint64_t length)
{
	uint32_t low = 0;
	uint32_t high = lengths->count;

	while (high - low > 1)
	{
		uint32_t middle = low + (high - low) / 2;

		if ((uint64_t) lengths->element[middle] <= length)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Bags of one source go where their lengths have them. */
static void
place_bags(const SetJoin *join, bool of_right, const Bag *lengths, uint32_t *next,
		   SetDocument *document)
{
	const Bag *bags = of_right ? join->right : join->left;
	uint32_t count = of_right ? join->right_count : join->left_count;
	uint32_t i;

	for (i = 0; i < count; i++)
	{
		uint64_t length = bag_length(join, bags + i);
		SetDocument *place;

		check_now_and_then(i);
		if (length == 0)
			continue;
		place = document + next[find_length(lengths, length)]++;
		memset(place, 0, sizeof(SetDocument));
		place->length = length;
		place->bag = i;
		place->of_right = of_right;
	}
}

/* A partition starts at the length of its first bag: those without bags are left out. */
static void
partition(double threshold, SetItems *items)
{
	uint64_t end = 0;
	uint32_t before = 0;
	uint32_t own = 0;
	uint32_t i;

	for (i = 0; i < items->documents; i++)
	{
		SetDocument *document = items->document + i;

		check_now_and_then(i);
		if (document->length >= end)
		{
			before = own;
			own = i;
			end = set_partition_end(document->length, threshold);
			items->partitions++;
		}
		document->earliest = before;
	}
}

static void
make_documents(const SetJoin *join, SetItems *items)
{
	Bag lengths = count_lengths(join);
	uint32_t *next = host_alloc((lengths.count + 1) * sizeof(uint32_t));
	uint32_t i;

	next[0] = 0;
	for (i = 0; i < lengths.count; i++)
		next[i + 1] = next[i] + bag_frequency(&lengths, i);
	items->documents = next[lengths.count];
	items->document = host_alloc(items->documents * sizeof(SetDocument));
	place_bags(join, false, &lengths, next, items->document);
	if (join->right)
		place_bags(join, true, &lengths, next, items->document);
	partition(join->threshold, items);
	host_free(next);
	bag_free(&lengths);
}

/* ---- Elements: by rarity ------------------------------------------------- */

typedef struct Slot
{
	int64_t element;
	uint32_t bags; /* that have it; 0: the slot is free */
	uint32_t rank; /* while bags are counted: the sources they are from */
} Slot;

typedef struct ElementTable
{
	Slot *slot;
	size_t mask; /* slots - 1 */
	size_t used;
} ElementTable;

static Slot *
new_slots(size_t count)
{
	Slot *slot = host_alloc(count * sizeof(Slot));
	size_t i;

	for (i = 0; i < count; i++)
	{
		check_now_and_then(i);
		slot[i].bags = 0;
	}
	return slot;
}

/* The slot of an element, or the free one where it would go. */
static inline Slot *
find_slot(const ElementTable *table, int64_t element)
{
	size_t at = mix64((uint64_t) element) & table->mask;

	while (table->slot[at].bags != 0 && table->slot[at].element != element)
		at = (at + 1) & table->mask;
	return table->slot + at;
}

static void
grow(ElementTable *table)
{
	ElementTable wider = {NULL, 2 * table->mask + 1, table->used};
	size_t i;

	wider.slot = new_slots(wider.mask + 1);
	for (i = 0; i <= table->mask; i++)
	{
		check_now_and_then(i);
		if (table->slot[i].bags != 0)
			*find_slot(&wider, table->slot[i].element) = table->slot[i];
	}
	host_free(table->slot);
	*table = wider;
}

static inline void
count_element(ElementTable *table, int64_t element, uint32_t source)
{
	Slot *slot = find_slot(table, element);

	if (slot->bags == 0)
	{
		slot->element = element;
		slot->rank = 0;
		table->used++;
	}
	slot->bags++;
	slot->rank |= source;
	if (2 * table->used > table->mask)
		grow(table);
}

static ElementTable
count_elements(const SetJoin *join, const SetItems *items)
{
	ElementTable table = {new_slots(1024), 1023, 0};
	uint32_t d;
	uint32_t i;

	for (d = 0; d < items->documents; d++)
	{
		const SetDocument *document = items->document + d;
		const Bag *bag = bag_of(join, document);

		for (i = 0; i < bag->count; i++)
		{
			check_now_and_then(i);
			count_element(&table, bag->element[i], document->of_right ? FROM_RIGHT : FROM_LEFT);
		}
	}
	return table;
}

/* Can the two bags of a pair share it? */
static inline bool
may_be_shared(const SetJoin *join, const Slot *slot)
{
	if (join->right)
		return slot->rank == (FROM_LEFT | FROM_RIGHT);
	return slot->bags > 1;
}

/*
 * How many elements of each number of bags may be shared, summed up: element
 * ranks of n bags start at [n].  The last is the number of all ranks.
 */
static size_t *
count_ranks(const SetJoin *join, const SetItems *items, const ElementTable *table)
{
	size_t most = (size_t) items->documents + 1;
	size_t *next = host_alloc((most + 1) * sizeof(size_t));
	size_t i;

	memset(next, 0, (most + 1) * sizeof(size_t));
	for (i = 0; i <= table->mask; i++)
	{
		check_now_and_then(i);
		if (table->slot[i].bags != 0 && may_be_shared(join, table->slot + i))
			next[table->slot[i].bags + 1]++;
	}
	for (i = 1; i <= most; i++)
		next[i] += next[i - 1];
	return next;
}

/* Give ranks; returns where the entries of each start that has one for each bag. */
static size_t *
rank_elements(const SetJoin *join, const SetItems *items, ElementTable *table, size_t *next)
{
	size_t *start = host_alloc(((size_t) items->ranks + 1) * sizeof(size_t));
	size_t i;

	start[0] = 0;
	for (i = 0; i <= table->mask; i++)
	{
		Slot *slot = table->slot + i;

		check_now_and_then(i);
		if (slot->bags == 0)
			continue;
		slot->rank = may_be_shared(join, slot) ? (uint32_t) next[slot->bags]++ : NO_RANK;
		if (slot->rank != NO_RANK)
			start[slot->rank + 1] = slot->bags;
	}
	for (i = 0; i < items->ranks; i++)
	{
		check_now_and_then(i);
		start[i + 1] += start[i];
	}
	return start;
}

/* ---- Items --------------------------------------------------------------- */

/* A document that has the element of a rank. */
typedef struct Entry
{
	uint32_t document;
	uint32_t frequency;
} Entry;

/*
 * The documents of each rank, and how much of each document has none.  Moves
 * the start of each rank to where it ends.
 */
static Entry *
list_documents(const SetJoin *join, SetItems *items, const ElementTable *table, size_t *start)
{
	Entry *entry = host_alloc(start[items->ranks] * sizeof(Entry));
	uint32_t d;
	uint32_t i;

	for (d = 0; d < items->documents; d++)
	{
		SetDocument *document = items->document + d;
		const Bag *bag = bag_of(join, document);

		for (i = 0; i < bag->count; i++)
		{
			uint32_t rank = find_slot(table, bag->element[i])->rank;
			uint32_t frequency = join->weighted ? bag_frequency(bag, i) : 1;

			check_now_and_then(i);
			if (rank == NO_RANK)
			{
				document->lone += frequency;
				continue;
			}
			document->items++;
			entry[start[rank]++] = (Entry){d, frequency};
		}
	}
	return entry;
}

/* Deal the entries out to their documents: by rank, since they come by rank. */
static void
deal_items(SetItems *items, const Entry *entry, const size_t *end)
{
	size_t room = 0;
	size_t e = 0;
	uint32_t rank;
	uint32_t d;

	for (d = 0; d < items->documents; d++)
	{
		items->document[d].item = room;
		room += items->document[d].items;
		items->document[d].items = 0;
	}
	items->item = host_alloc(room * sizeof(SetItem));
	for (rank = 0; rank < items->ranks; rank++)
		for (; e < end[rank]; e++)
		{
			SetDocument *document = items->document + entry[e].document;

			check_now_and_then(e);
			items->item[document->item + document->items++] = (SetItem){rank, entry[e].frequency};
		}
}

bool
set_items_make(const SetJoin *join, SetItems *items)
{
	ElementTable table;
	Entry *entry;
	size_t *next;
	size_t *start;
	size_t ranks;

	memset(items, 0, sizeof(SetItems));
	if ((uint64_t) join->left_count + (join->right ? join->right_count : 0) >= UINT32_MAX)
		return false;
	make_documents(join, items);
	table = count_elements(join, items);
	next = count_ranks(join, items, &table);
	ranks = next[(size_t) items->documents + 1];
	items->ranks = ranks < NO_RANK ? (uint32_t) ranks : 0;
	if (ranks < NO_RANK)
	{
		start = rank_elements(join, items, &table, next);
		entry = list_documents(join, items, &table, start);
		deal_items(items, entry, start);
		host_free(entry);
		host_free(start);
	}
	host_free(next);
	host_free(table.slot);
	if (ranks >= NO_RANK)
		host_free(items->document);
	return ranks < NO_RANK;
}

void
set_items_free(SetItems *items)
{
	host_free(items->document);
	host_free(items->item);
}
