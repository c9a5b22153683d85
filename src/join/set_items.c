/*
 * set_items.c: bags sorted by length and partitioned, and their elements sorted by rarity.
 */
#include "join/set_items.h"

#include <string.h>

#include "base/table.h"

#define FROM_LEFT 1
#define FROM_RIGHT 2

/* The rank of an element that only one bag, or only one source, has. */
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

/* Returns the lengths that occur, each with the number of its bags as its frequency. */
static Bag
count_lengths(const SetJoin *join)
{
	const Bag *source[] = {join->left, join->right};
	uint32_t count[] = {join->left_count, join->right ? join->right_count : 0};
	BagBuilder builder;
	Bag lengths;

	bag_begin(&builder);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < count[s]; i++)
		{
			uint64_t length = bag_length(join, source[s] + i);

			host_check_interrupts_at(i);
			if (length > 0)
				bag_add(&builder, &length, 1);
		}
	/* There are too few bags for it to fail. */
	(void) bag_finish(&builder, &lengths);
	return lengths;
}

/* Returns the number of a length among those that occur. */
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

/* Puts the bags of a source in order of their lengths; next[] has the place for each length. */
static void
place_bags(const SetJoin *join, bool of_right, const Bag *lengths, uint32_t *next,
		   SetDocument *document)
{
	const Bag *bags = of_right ? join->right : join->left;
	uint32_t count = of_right ? join->right_count : join->left_count;

	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t length = bag_length(join, bags + i);
		SetDocument *place;

		host_check_interrupts_at(i);
		if (length == 0)
			continue;
		place = document + next[find_length(lengths, length)]++;
		memset(place, 0, sizeof(SetDocument));
		place->length = length;
		place->bag = i;
		place->of_right = of_right;
	}
}

/* Partitions the documents.  A partition starts at the length of its first document. */
static void
partition(const SetJoin *join, SetItems *items)
{
	uint64_t end = 0;
	uint32_t before = 0;
	uint32_t own = 0;

	for (uint32_t i = 0; i < items->documents; i++)
	{
		SetDocument *document = items->document + i;

		host_check_interrupts_at(i);
		if (document->length >= end)
		{
			before = own;
			own = i;
			end = set_partition_end(join->measure, document->length, join->threshold);
			items->partitions++;
		}
		document->earliest = before;
	}
}

/* Sorts the bags that are not empty by length, and partitions them. */
static void
make_documents(const SetJoin *join, SetItems *items)
{
	Bag lengths = count_lengths(join);
	uint32_t *next = host_alloc((lengths.count + 1) * sizeof(uint32_t));

	next[0] = 0;
	for (uint32_t i = 0; i < lengths.count; i++)
		next[i + 1] = next[i] + bag_frequency(&lengths, i);
	items->documents = next[lengths.count];
	items->document = host_alloc(items->documents * sizeof(SetDocument));
	place_bags(join, false, &lengths, next, items->document);
	if (join->right)
		place_bags(join, true, &lengths, next, items->document);
	partition(join, items);
	host_free(next);
	bag_free(&lengths);
}

/* ---- Elements: by rarity ------------------------------------------------- */

typedef struct Element
{
	int64_t element;
	uint32_t bags; /* that have it */
	uint32_t rank; /* while bags are counted: their sources */
} Element;

/* All elements, numbered in order of their first occurrence. */
typedef struct ElementTable
{
	Table table;
	Element *element; /* by number */
} ElementTable;

/* Returns the slot of an element, or the free slot where it belongs. */
static inline uint64_t *
find_slot(const ElementTable *elements, uint64_t hash, int64_t element)
{
	return table_search_key(&elements->table, hash, (uint64_t) element,
							&elements->element[0].element, sizeof(Element));
}

/* Counts a bag of a source that has an element. */
static inline void
count_element(ElementTable *elements, int64_t element, uint32_t source)
{
	Table *table = &elements->table;
	uint64_t hash = table_hash(table, (uint64_t) element);
	uint64_t *slot;
	Element *found;

	if (table->count == table->room)
	{
		table_grow(table, table->count + 1);
		elements->element = host_realloc(elements->element, table->room * sizeof(Element));
	}
	slot = find_slot(elements, hash, element);
	if (*slot == 0)
	{
		found = elements->element + table_put(table, slot, hash);
		*found = (Element){.element = element};
	}
	else
		found = elements->element + table_number(slot);
	found->bags++;
	found->rank |= source;
}

/* Counts the bags and the sources of all elements. */
static ElementTable
count_elements(const SetJoin *join, const SetItems *items)
{
	ElementTable elements;

	table_begin(&elements.table, 512);
	elements.element = host_alloc(elements.table.room * sizeof(Element));
	for (uint32_t d = 0; d < items->documents; d++)
	{
		const SetDocument *document = items->document + d;
		const Bag *bag = bag_of(join, document);

		for (uint32_t i = 0; i < bag->count; i++)
		{
			host_check_interrupts_at(i);
			count_element(&elements, bag->element[i], document->of_right ? FROM_RIGHT : FROM_LEFT);
		}
	}
	return elements;
}

/* Returns whether two bags of a pair can share an element. */
static inline bool
may_be_shared(const SetJoin *join, const Element *element)
{
	if (join->right)
		return element->rank == (FROM_LEFT | FROM_RIGHT);
	return element->bags > 1;
}

/*
 * Counts the elements that can be shared by the number of their bags, and returns the
 * sums: the ranks of elements in n bags start at [n].  The last is the number of ranks.
 */
static size_t *
count_ranks(const SetJoin *join, const SetItems *items, const ElementTable *elements)
{
	size_t most = (size_t) items->documents + 1;
	size_t *next = host_alloc((most + 1) * sizeof(size_t));

	memset(next, 0, (most + 1) * sizeof(size_t));
	for (size_t i = 0; i < elements->table.count; i++)
	{
		host_check_interrupts_at(i);
		if (may_be_shared(join, elements->element + i))
			next[elements->element[i].bags + 1]++;
	}
	for (size_t i = 1; i <= most; i++)
		next[i] += next[i - 1];
	return next;
}

/*
 * Ranks the elements by the number of their bags, then by first occurrence.  Returns where
 * the entries of each rank start, one for each bag that has the element.
 */
static size_t *
rank_elements(const SetJoin *join, const SetItems *items, ElementTable *elements, size_t *next)
{
	size_t *start = host_alloc(((size_t) items->ranks + 1) * sizeof(size_t));

	start[0] = 0;
	for (size_t i = 0; i < elements->table.count; i++)
	{
		Element *element = elements->element + i;

		host_check_interrupts_at(i);
		element->rank = may_be_shared(join, element) ? (uint32_t) next[element->bags]++ : NO_RANK;
		if (element->rank != NO_RANK)
			start[element->rank + 1] = element->bags;
	}
	for (size_t i = 0; i < items->ranks; i++)
	{
		host_check_interrupts_at(i);
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
 * Lists the documents of each rank, and sums up the elements without a rank of each
 * document.  Moves start[] to the end of each rank.
 */
static Entry *
list_documents(const SetJoin *join, SetItems *items, const ElementTable *elements, size_t *start)
{
	Entry *entry = host_alloc(start[items->ranks] * sizeof(Entry));

	for (uint32_t d = 0; d < items->documents; d++)
	{
		SetDocument *document = items->document + d;
		const Bag *bag = bag_of(join, document);

		for (uint32_t i = 0; i < bag->count; i++)
		{
			uint64_t hash = table_hash(&elements->table, (uint64_t) bag->element[i]);
			uint64_t *slot = find_slot(elements, hash, bag->element[i]);
			uint32_t rank = elements->element[table_number(slot)].rank;
			uint32_t frequency = join->weighted ? bag_frequency(bag, i) : 1;

			host_check_interrupts_at(i);
			if (rank == NO_RANK)
			{
				document->lone += frequency;
				continue;
			}
			document->items++;
			entry[start[rank]++] = (Entry){.document = d, .frequency = frequency};
		}
	}
	return entry;
}

/* Makes the items of each document from the entries, which come by rank. */
static void
make_items(SetItems *items, const Entry *entry, const size_t *end)
{
	size_t room = 0;
	size_t e = 0;

	for (uint32_t d = 0; d < items->documents; d++)
	{
		items->document[d].item = room;
		room += items->document[d].items;
		items->document[d].items = 0;
	}
	items->item = host_alloc(room * sizeof(SetItem));
	for (uint32_t rank = 0; rank < items->ranks; rank++)
		for (; e < end[rank]; e++)
		{
			SetDocument *document = items->document + entry[e].document;

			host_check_interrupts_at(e);
			items->item[document->item + document->items++] =
				(SetItem){.rank = rank, .frequency = entry[e].frequency};
		}
}

bool
set_items_make(const SetJoin *join, SetItems *items)
{
	ElementTable elements;
	Entry *entry;
	size_t *next;
	size_t *start;
	size_t ranks;

	memset(items, 0, sizeof(SetItems));
	if ((uint64_t) join->left_count + (join->right ? join->right_count : 0) >= UINT32_MAX)
		return false;
	make_documents(join, items);
	elements = count_elements(join, items);
	next = count_ranks(join, items, &elements);
	ranks = next[(size_t) items->documents + 1];
	items->ranks = ranks < NO_RANK ? (uint32_t) ranks : 0;
	if (ranks < NO_RANK)
	{
		start = rank_elements(join, items, &elements, next);
		entry = list_documents(join, items, &elements, start);
		make_items(items, entry, start);
		host_free(entry);
		host_free(start);
	}
	host_free(next);
	table_end(&elements.table);
	host_free(elements.element);
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
