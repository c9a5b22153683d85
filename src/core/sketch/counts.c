/*
 * counts.c: counting in how many documents each element is.
 */
#include "sketch/counts.h"

#include "base/hash.h"
#include "base/sort.h"
#include "sketch/weights.h"

/* ---- Counting ------------------------------------------------------------------ */

#define COUNTS_ROOM 1024

/* A count for a share may be too high by this part of the share. */
#define EXCESS 0.05

/* Makes room for `needed` elements in all. */
static void
reserve(ElementCounts *counts, size_t needed)
{
	table_reserve(&counts->table, needed);
	if (needed <= counts->room)
		return;
	counts->room = Min(Max(needed, 2 * counts->room), Max(needed, counts->most));
	counts->element = host_realloc(counts->element, counts->room * sizeof(uint64_t));
	counts->count = host_realloc(counts->count, counts->room * sizeof(uint32_t));
	counts->last = host_realloc(counts->last, counts->room * sizeof(uint32_t));
}

/* Starts a counter for a lexicon, which keeps at most `most` elements. */
void
counts_begin(ElementCounts *counts, size_t most)
{
	*counts = (ElementCounts){.most = most, .width = UINT64_MAX};
	table_begin(&counts->table, COUNTS_ROOM);
	reserve(counts, Min(COUNTS_ROOM, most));
}

/* Starts a counter for the elements that a share of the documents have, 0 < share <= 1. */
void
counts_begin_share(ElementCounts *counts, double share)
{
	double width = 1 / (EXCESS * share);

	counts_begin(counts, SIZE_MAX);
	counts->share = share;
	counts->width = width < UINT32_MAX ? (uint64_t) width + 1 : UINT32_MAX;
}

/* Returns the slot of an element, given with its hash, or the free slot where it belongs. */
static inline uint64_t *
search(const ElementCounts *counts, uint64_t hash, uint64_t element)
{
	return table_search_key(&counts->table, hash, element, counts->element, sizeof(uint64_t));
}

/* Forgets the elements in at most `documents` documents. */
static void
forget(ElementCounts *counts, uint64_t documents)
{
	size_t count = counts->table.count;
	size_t kept = 0;

	table_end(&counts->table);
	table_begin(&counts->table, count);
	table_reserve(&counts->table, count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash;

		host_check_interrupts_at(i);
		if (counts->count[i] <= documents)
			continue;
		counts->element[kept] = counts->element[i];
		counts->count[kept] = counts->count[i];
		counts->last[kept] = counts->last[i];
		hash = table_hash(&counts->table, counts->element[kept]);
		table_put(&counts->table, search(counts, hash, counts->element[kept]), hash);
		kept++;
	}
}

/* Returns how many elements are in more than `documents` documents. */
static size_t
count_above(const ElementCounts *counts, uint64_t documents)
{
	size_t above = 0;

	for (size_t i = 0; i < counts->table.count; i++)
	{
		host_check_interrupts_at(i);
		above += counts->count[i] > documents;
	}
	return above;
}

/* Forgets at least half of the elements: those in the fewest documents. */
static void
forget_half(ElementCounts *counts)
{
	uint64_t documents = 1;

	while (count_above(counts, documents) > counts->most / 2)
		documents *= 2;
	forget(counts, documents);
}

/* Begins a document; a counter for a share may have at most UINT32_MAX. */
void
counts_next(ElementCounts *counts)
{
	if (counts->documents > 0 && counts->documents % counts->width == 0)
		forget(counts, counts->documents / counts->width);
	counts->documents++;
}

/* Counts an element, for which there is room. */
static void
count_one(ElementCounts *counts, uint64_t element)
{
	Table *table = &counts->table;
	uint32_t document = (uint32_t) counts->documents;
	uint64_t hash = table_hash(table, element);
	uint64_t *slot = search(counts, hash, element);
	uint32_t number;

	if (*slot == 0)
	{
		number = table_put(table, slot, hash);
		counts->element[number] = element;
		counts->count[number] = 1 + (uint32_t) ((counts->documents - 1) / counts->width);
		counts->last[number] = document;
		return;
	}
	number = table_number(slot);
	if (counts->last[number] == document || counts->count[number] == UINT32_MAX)
		return;
	counts->last[number] = document;
	counts->count[number]++;
}

/* Counts elements of the current document; a HashSink (text/text.h). */
void
counts_add(void *state, const uint64_t *hashes, size_t count)
{
	ElementCounts *counts = state;

	for (size_t i = 0; i < count; i++)
	{
		if (counts->table.count >= counts->most)
			forget_half(counts);
		reserve(counts, counts->table.count + 1);
		count_one(counts, hashes[i]);
	}
}

/* ---- Shares -------------------------------------------------------------------- */

/*
 * Returns the elements that at least the share of the documents have, but at least two
 * documents, and frees the counts.  Elements that nearly as many documents have, at least
 * 0.95 times the share, may be among them.  All frequencies are 1.
 */
Bag
counts_finish_share(ElementCounts *counts)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	for (size_t i = 0; i < counts->table.count; i++)
	{
		uint32_t count = counts->count[i];

		host_check_interrupts_at(i);
		if (count > 1 && (double) count / counts->documents >= counts->share)
			bag_add(&builder, &counts->element[i], 1);
	}
	/* A table has fewer keys than a bag may have. */
	(void) bag_finish(&builder, &bag);
	table_end(&counts->table);
	host_free(counts->last);
	host_free(counts->element);
	host_free(counts->count);
	return bag;
}

/* ---- Weights ------------------------------------------------------------------- */

/* A SortKey: the more documents have an element, the earlier. */
static inline uint64_t
key_by_count(const void *record)
{
	const CountedElement *candidate = record;

	return (uint64_t) (UINT32_MAX - candidate->count) << 32 | candidate->key;
}

/* A SortKey: by the key in the lexicon; the more documents, the earlier. */
static inline uint64_t
key_by_key(const void *record)
{
	const CountedElement *candidate = record;

	return (uint64_t) candidate->key << 32 | (UINT32_MAX - candidate->count);
}

/*
 * Keeps the elements that a lexicon has as entries, sorted by their keys: all that weigh nothing,
 * and the most frequent of the others, at most `entries`, without those that weigh WEIGHT_MAX
 * (sketch/weights.h).  Returns their number.
 */
size_t
counted_entries(CountedElement *element, size_t count, uint64_t documents, uint32_t entries,
				double share)
{
	size_t kept = 0;
	size_t nothing = 0;

	for (size_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		if (weight_of_count(element[i].count, documents, share) < WEIGHT_MAX)
			element[kept++] = element[i];
	}
	sort_records(element, kept, sizeof(CountedElement), key_by_count);
	while (nothing < kept && weight_of_count(element[nothing].count, documents, share) == 0)
		nothing++;
	kept = Min(kept, nothing + (size_t) entries);
	sort_records(element, kept, sizeof(CountedElement), key_by_key);
	return kept;
}

/*
 * Returns the number of entries of a lexicon, and sets their keys, ascending, and weights.  Frees
 * the counts.
 */
uint32_t
counts_finish(ElementCounts *counts, uint32_t entries, double share, uint32_t **key,
			  uint8_t **weight)
{
	CountedElement *candidate = host_alloc(counts->table.count * sizeof(CountedElement) + 1);
	size_t candidates = counts->table.count;
	uint32_t count = 0;

	for (size_t i = 0; i < candidates; i++)
		candidate[i] = (CountedElement){weight_key(mix64(counts->element[i])), counts->count[i]};
	table_end(&counts->table);
	host_free(counts->last);
	candidates = counted_entries(candidate, candidates, counts->documents, entries, share);
	*key = host_alloc(candidates * sizeof(uint32_t) + 1);
	*weight = host_alloc(candidates + 1);
	for (size_t i = 0; i < candidates; i++)
	{
		/* Of elements with the same key the most frequent one counts. */
		if (count > 0 && (*key)[count - 1] == candidate[i].key)
			continue;
		(*key)[count] = candidate[i].key;
		(*weight)[count++] = weight_of_count(candidate[i].count, counts->documents, share);
	}
	host_free(candidate);
	host_free(counts->element);
	host_free(counts->count);
	return count;
}
