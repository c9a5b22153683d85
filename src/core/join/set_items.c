/*
 * set_items.c: bags sorted by length and partitioned, and their elements sorted by rarity.
 */
#include "join/set_items.h"

#include <string.h>

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

	if (join->length)
		return join->length[of_right ? (size_t) join->left_count + i : i];
	bag = (of_right ? join->right : join->left) + i;
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
	uint32_t count[] = {join->left_count, join->right ? join->right_count : 0};
	BagBuilder builder;
	Bag lengths;

	bag_begin(&builder);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < count[s]; i++)
		{
			uint64_t length = bag_length(join, s == 1, i);

			host_check_interrupts_at(i);
			if (length > 0)
				bag_add(&builder, &length, 1);
		}
	/* There are too few bags for this to fail. */
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
	uint32_t count = of_right ? join->right_count : join->left_count;

	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t length = bag_length(join, of_right, i);
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

/* Elements whose slots are fetched together before they are searched. */
#define FETCHED 64

/* Counts a bag of a source that has an element.  Returns the element's number. */
static inline uint32_t
count_element(SetElements *elements, uint64_t hash, int64_t element, uint32_t source)
{
	uint64_t *slot = table_search_key(&elements->table, hash, (uint64_t) element,
									  &elements->element[0].element, sizeof(SetElement));
	SetElement *found;

	if (*slot == 0)
	{
		found = elements->element + table_put(&elements->table, slot, hash);
		*found = (SetElement){.element = element};
	}
	else
		found = elements->element + table_number(slot);
	found->bags++;
	found->sources |= source;
	return (uint32_t) (found - elements->element);
}

/* Counts up to FETCHED elements of a bag, for which there is room. */
static void
count_fetched(SetElements *elements, const int64_t *element, uint32_t count, uint32_t source,
			  uint32_t *number)
{
	const Table *table = &elements->table;
	uint64_t hash[FETCHED];

	for (uint32_t i = 0; i < count; i++)
	{
		hash[i] = table_hash(table, (uint64_t) element[i]);
		__builtin_prefetch(table_home(table, hash[i]), 1);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		const uint64_t *slot = table_home(table, hash[i]);

		if (*slot != 0)
			__builtin_prefetch(elements->element + table_number(slot), 1);
	}
	for (uint32_t i = 0; i < count; i++)
		number[i] = count_element(elements, hash[i], element[i], source);
}

/* Prepares to count elements that have this many occurrences. */
void
set_elements_begin(SetElements *elements, size_t occurrences)
{
	table_begin(&elements->table, 512);
	elements->element = host_alloc(elements->table.room * sizeof(SetElement));
	elements->number = host_alloc(occurrences * sizeof(uint32_t));
}

/* Frees what set_elements_begin and counts have allocated. */
void
set_elements_end(SetElements *elements)
{
	table_end(&elements->table);
	host_free(elements->element);
	host_free(elements->number);
}

/* Counts a bag of a source.  Sets the number of each element. */
void
set_elements_count(SetElements *elements, const Bag *bag, bool of_right, uint32_t *number)
{
	Table *table = &elements->table;

	for (uint32_t done = 0; done < bag->count; done += FETCHED)
	{
		uint32_t count = Min(bag->count - done, FETCHED);

		host_check_interrupts_at(done);
		if (table->count + count > table->room)
		{
			table_grow(table, table->count + count);
			elements->element = host_realloc(elements->element, table->room * sizeof(SetElement));
		}
		count_fetched(elements, bag->element + done, count, 1 << of_right, number + done);
	}
}

/* Counts the bags and the sources of all elements. */
static SetElements
set_count_elements(const SetJoin *join, const SetItems *items)
{
	SetElements elements;
	size_t occurrences = 0;
	size_t place = 0;

	for (uint32_t d = 0; d < items->documents; d++)
		occurrences += bag_of(join, items->document + d)->count;
	set_elements_begin(&elements, occurrences);
	for (uint32_t d = 0; d < items->documents; d++)
	{
		const SetDocument *document = items->document + d;
		const Bag *bag = bag_of(join, document);

		set_elements_count(&elements, bag, document->of_right, elements.number + place);
		place += bag->count;
	}
	return elements;
}

/*
 * Counts the elements that can be shared by the number of their bags, and returns the
 * sums: the ranks of elements in n bags start at [n].  The last is the number of ranks.
 */
static size_t *
count_ranks(const SetJoin *join, const SetItems *items, const SetElements *elements)
{
	size_t most = (size_t) items->documents + 1;
	size_t *next = host_alloc((most + 1) * sizeof(size_t));

	memset(next, 0, (most + 1) * sizeof(size_t));
	for (size_t i = 0; i < elements->table.count; i++)
	{
		host_check_interrupts_at(i);
		if (set_may_share(join, elements->element + i))
			next[elements->element[i].bags + 1]++;
	}
	for (size_t i = 1; i <= most; i++)
		next[i] += next[i - 1];
	return next;
}

/*
 * Ranks the elements by the number of their bags, then by first occurrence.  Returns the
 * ranks by number.
 */
static uint32_t *
rank_elements(const SetJoin *join, const SetElements *elements, size_t *next)
{
	uint32_t *rank = host_alloc(elements->table.count * sizeof(uint32_t));

	for (size_t i = 0; i < elements->table.count; i++)
	{
		const SetElement *element = elements->element + i;

		host_check_interrupts_at(i);
		rank[i] = set_may_share(join, element) ? (uint32_t) next[element->bags]++ : NO_RANK;
	}
	return rank;
}

/* ---- Items --------------------------------------------------------------- */

/* Sets the keys of a document's items, in any order, and sums up its elements without a rank. */
static void
gather_keys(const SetJoin *join, SetDocument *document, const uint32_t *number,
			const uint32_t *rank, uint64_t *key)
{
	const Bag *bag = bag_of(join, document);

	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint32_t frequency = join->weighted ? bag_frequency(bag, i) : 1;

		host_check_interrupts_at(i);
		if (rank[number[i]] == NO_RANK)
			document->lone += frequency;
		else
			key[document->items++] = set_item_key(rank[number[i]], frequency);
	}
}

/* Allocates `places` items of a number of documents. */
void
set_items_room(const SetJoin *join, SetItems *items, uint32_t documents, size_t places)
{
	items->places = places;
	items->rank = host_alloc(places * sizeof(uint32_t));
	if (join->weighted)
		items->frequency = host_alloc(places * sizeof(uint32_t));
	for (items->words = 1; items->words * 64.0 * documents < (double) BITS_OF_ITEM * places;)
		items->words *= 2;
	items->bitmap = host_alloc((size_t) documents * items->words * sizeof(uint64_t));
}

/* Allocates the items: the occurrences of elements that have a rank. */
static void
set_make_room(const SetJoin *join, SetItems *items, const SetElements *elements,
			  const uint32_t *rank)
{
	size_t places = 0;

	for (size_t i = 0; i < elements->table.count; i++)
		places += rank[i] == NO_RANK ? 0 : elements->element[i].bags;
	set_items_room(join, items, items->documents, places);
}

/* Appends the items of a document, from their sorted keys. */
void
set_items_put(SetItems *items, uint32_t d, const uint64_t *key, size_t place)
{
	SetDocument *document = items->document + d;
	uint64_t *bitmap = items->bitmap + (size_t) d * items->words;

	document->item = place;
	memset(bitmap, 0, items->words * sizeof(uint64_t));
	for (uint32_t i = 0; i < document->items; i++, place++)
	{
		uint32_t rank = (uint32_t) (key[i] >> 32) ^ (uint32_t) 1 << 31;
		uint32_t frequency = (uint32_t) key[i];

		items->rank[place] = rank;
		if (items->frequency)
			items->frequency[place] = frequency;
		for (uint32_t copy = 0; copy < Min(frequency, COPIES); copy++, rank += COPY_STEP)
			bitmap[rank / 64 % items->words] ^= UINT64_C(1) << rank % 64;
	}
}

/* Makes the items of each document. */
static void
make_items(const SetJoin *join, SetItems *items, const SetElements *elements, const uint32_t *rank)
{
	const uint32_t *number = elements->number;
	size_t place = 0;
	uint32_t most = 0;
	uint64_t *key;

	for (uint32_t d = 0; d < items->documents; d++)
		most = Max(most, bag_of(join, items->document + d)->count);
	key = host_alloc(most * sizeof(uint64_t));
	set_make_room(join, items, elements, rank);
	for (uint32_t d = 0; d < items->documents; d++)
	{
		SetDocument *document = items->document + d;

		gather_keys(join, document, number, rank, key);
		number += bag_of(join, document)->count;
		hashes_sort(key, document->items);
		set_items_put(items, d, key, place);
		place += document->items;
	}
	host_free(key);
}

/* Prepares the bags.  Returns false as set_join does. */
bool
set_items_make(const SetJoin *join, SetItems *items)
{
	SetElements elements;
	size_t *next;
	size_t ranks;

	memset(items, 0, sizeof(SetItems));
	if ((uint64_t) join->left_count + (join->right ? join->right_count : 0) >= UINT32_MAX)
		return false;
	set_documents_make(join, items);
	elements = set_count_elements(join, items);
	next = count_ranks(join, items, &elements);
	ranks = next[(size_t) items->documents + 1];
	items->ranks = ranks < NO_RANK ? (uint32_t) ranks : 0;
	if (ranks < NO_RANK)
	{
		uint32_t *rank = rank_elements(join, &elements, next);

		make_items(join, items, &elements, rank);
		host_free(rank);
	}
	else
		host_free(items->document);
	host_free(next);
	set_elements_end(&elements);
	return ranks < NO_RANK;
}

/* Frees what set_items_make has allocated. */
void
set_items_free(SetItems *items)
{
	host_free(items->document);
	host_free(items->rank);
	if (items->frequency)
		host_free(items->frequency);
	host_free(items->bitmap);
}
