/*
 * collapse.c: rows whose signatures are equal become one document, so that
 * thousands of copies cost no more than one.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ROOM_MIN 1024

/* Keys are the documents from base on, or rather what they hold. */
struct Collapse
{
	Table table;
	uint32 base;
};

/* Begin an empty table, or make room in it, in the memory of the source. */
static void
clear(Source *source)
{
	MemoryContext old = MemoryContextSwitchTo(source->context);

	table_begin(&source->collapse->table, ROOM_MIN);
	source->collapse->base = source->documents;
	MemoryContextSwitchTo(old);
}

static void
reserve(Source *source)
{
	Table *table = &source->collapse->table;
	MemoryContext old = MemoryContextSwitchTo(source->context);

	table_reserve(table, table->count + 1);
	MemoryContextSwitchTo(old);
}

void
collapse_begin(Source *source)
{
	source->collapse = MemoryContextAlloc(source->context, sizeof(Collapse));
	clear(source);
}

void
collapse_end(Source *source)
{
	if (source->store != NULL && source->store->flushed > 0)
	{
		collapse_flush(source);
		store_free_memory(source->store);
	}
	table_end(&source->collapse->table);
	pfree(source->collapse);
	source->collapse = NULL;
}

static bool
bags_are_equal(const Bag *x, const Bag *y, bool multiset)
{
	if (x->count != y->count || memcmp(x->element, y->element, x->count * sizeof(*x->element)) != 0)
		return false;
	if (!multiset || (x->frequency == NULL && y->frequency == NULL))
		return true;
	for (uint32 i = 0; i < x->count; i++)
		if (bag_frequency(x, i) != bag_frequency(y, i))
			return false;
	return true;
}

/* A record or a bag whose like is sought among the documents. */
typedef struct Sought
{
	const Source *source;
	const uint8 *record;
	const Bag *bag;
} Sought;

/* A TableMatch. */
static bool
is_equal(const void *sought, uint32 number)
{
	const Sought *s = sought;
	const Source *source = s->source;
	const Store *store = source->store;
	uint32 document = source->collapse->base + number;

	if (source->sets)
		return bags_are_equal(source->bag + document, s->bag, source->options->multiset);
	return memcmp(store->memory + (document - store->flushed) * store->stride, s->record,
				  store->stride) == 0;
}

/* With the table's seed: nobody can choose signatures or sets that meet in one slot. */
static uint64
hash_of(const Source *source, const uint8 *record, const Bag *bag)
{
	uint64 seed = table_seed(&source->collapse->table);

	return source->sets ?
		XXH3_64bits_withSeed(bag->element, bag->count * sizeof(*bag->element), seed) :
		XXH3_64bits_withSeed(record, source->store->stride, seed);
}

/* The document that equals, or NO_DOCUMENT and the slot for a new one. */
static uint32
find(const Source *source, uint64 hash, const uint8 *record, const Bag *bag, uint64_t **slot)
{
	Sought sought = {source, record, bag};

	*slot = table_search(&source->collapse->table, hash, is_equal, &sought);
	return **slot == 0 ? NO_DOCUMENT : source->collapse->base + table_number(*slot);
}

/* ---- Documents ---------------------------------------------------------- */

static void
append_rows(Source *source, uint32 document, uint32 first, uint32 last)
{
	source->next[source->last[document]] = first;
	source->last[document] = last;
}

static void
make_room(Source *source)
{
	if (source->documents < source->document_room)
		return;
	source->document_room *= 2;
	source->first = repalloc_huge(source->first, source->document_room * sizeof(uint32));
	source->last = repalloc_huge(source->last, source->document_room * sizeof(uint32));
	if (source->sets)
		source->bag = repalloc_huge(source->bag, source->document_room * sizeof(Bag));
	if (source->options->verify > 0)
		source->evidence = repalloc_huge(source->evidence, source->document_room * sizeof(int64));
}

bool
collapse_add(Source *source, uint32 row, const uint8 *record, const Bag *bag)
{
	uint64 hash = hash_of(source, record, bag);
	uint64_t *slot;
	uint32 document;

	reserve(source);
	document = find(source, hash, record, bag, &slot);
	if (document != NO_DOCUMENT)
	{
		append_rows(source, document, row, row);
		return false;
	}
	make_room(source);
	document = source->collapse->base + table_put(&source->collapse->table, slot, hash);
	source->first[document] = source->last[document] = row;
	if (source->sets)
		source->bag[document] = *bag;
	else
		store_add(source->store);
	source->documents++;
	return true;
}

/* ---- Files -------------------------------------------------------------- */

/* Give the rows of documents in memory to equal ones in the file; those left have no rows. */
static void
meet_file(Source *source)
{
	Store *store = source->store;
	uint8 *buffer = palloc(store->stride);

	for (uint32 document = 0; document < store->flushed; document++)
	{
		const uint8 *record = store_record(store, document, buffer);
		uint64_t *slot;
		uint32 equal = find(source, hash_of(source, record, NULL), record, NULL, &slot);

		if (document % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		if (equal != NO_DOCUMENT)
		{
			append_rows(source, document, source->first[equal], source->last[equal]);
			source->first[equal] = NO_ROW;
		}
	}
	pfree(buffer);
}

/* Close the gaps that documents without rows leave. */
static void
close_gaps(Source *source)
{
	Store *store = source->store;
	uint32 to = store->flushed;

	for (uint32 from = to; from < source->documents; from++)
	{
		if (source->first[from] == NO_ROW)
			continue;
		source->first[to] = source->first[from];
		source->last[to] = source->last[from];
		if (source->evidence != NULL)
			source->evidence[to] = source->evidence[from];
		memmove(store->memory + (to - store->flushed) * store->stride,
				store->memory + (from - store->flushed) * store->stride, store->stride);
		to++;
	}
	source->documents = store->records = to;
}

void
collapse_flush(Source *source)
{
	if (source->store->flushed > 0)
	{
		meet_file(source);
		close_gaps(source);
	}
	store_flush(source->store);
	table_end(&source->collapse->table);
	clear(source);
}

/* Digest of evidence: 128 bits, so that equal ones alone are taken for equal. */
void
collapse_digest(const void *bytes, size_t size, uint8 *digest)
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
	memcpy(digest, canonical.digest, sizeof(canonical.digest));
}
