/*
 * collapse.c: rows whose signatures are equal become one document, so that
 * thousands of copies cost no more than one.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLOTS_MIN 4096

/* Open addressing; it holds the documents from base on. */
struct Collapse
{
	uint64 *slot; /* high half of the hash, document - base + 1; 0: free */
	uint32 mask;
	uint32 base;
};

static void
clear(Source *source, uint32 slots)
{
	Collapse *c = source->collapse;

	c->slot = MemoryContextAllocExtended(source->context, slots * sizeof(uint64),
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	c->mask = slots - 1;
	c->base = source->documents;
}

void
collapse_begin(Source *source)
{
	source->collapse = MemoryContextAlloc(source->context, sizeof(Collapse));
	clear(source, SLOTS_MIN);
}

void
collapse_end(Source *source)
{
	if (source->store != NULL && source->store->flushed > 0)
	{
		collapse_flush(source);
		store_free_memory(source->store);
	}
	pfree(source->collapse->slot);
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

/* Is the document equal to record or bag? */
static bool
is_equal(const Source *source, uint32 document, const uint8 *record, const Bag *bag)
{
	const Store *store = source->store;

	if (source->sets)
		return bags_are_equal(source->bag + document, bag, source->options->multiset);
	return memcmp(store->memory + (document - store->flushed) * store->stride, record,
				  store->stride) == 0;
}

/* The document that equals, or NO_DOCUMENT and the slot for a new one. */
static uint32
find(const Source *source, uint64 hash, const uint8 *record, const Bag *bag, uint32 *slot)
{
	const Collapse *c = source->collapse;

	for (*slot = (uint32) hash & c->mask; c->slot[*slot] != 0; *slot = (*slot + 1) & c->mask)
		if (c->slot[*slot] >> 32 == hash >> 32)
		{
			uint32 document = (uint32) c->slot[*slot] - 1 + c->base;

			if (is_equal(source, document, record, bag))
				return document;
		}
	return NO_DOCUMENT;
}

/* The low halves of hashes are not kept: take them from the documents again. */
static uint64
hash_of(const Source *source, const uint8 *record, const Bag *bag)
{
	return source->sets ? XXH3_64bits(bag->element, bag->count * sizeof(*bag->element)) :
						  XXH3_64bits(record, source->store->stride);
}

static void
grow(Source *source)
{
	Collapse *c = source->collapse;
	uint32 base = c->base;

	pfree(c->slot);
	clear(source, (c->mask + 1) * 2);
	c->base = base;
	for (uint32 document = base; document < source->documents; document++)
	{
		Store *store = source->store;
		uint64 hash = hash_of(source, store == NULL ? NULL : store_record(store, document, NULL),
							  source->bag + document);
		uint32 slot = (uint32) hash & c->mask;

		while (c->slot[slot] != 0)
			slot = (slot + 1) & c->mask;
		c->slot[slot] = hash >> 32 << 32 | (document - base + 1);
	}
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
	Collapse *c = source->collapse;
	uint64 hash = hash_of(source, record, bag);
	uint32 slot;
	uint32 document = find(source, hash, record, bag, &slot);

	if (document != NO_DOCUMENT)
	{
		append_rows(source, document, row, row);
		return false;
	}
	make_room(source);
	document = source->documents;
	c->slot[slot] = hash >> 32 << 32 | (document - c->base + 1);
	source->first[document] = source->last[document] = row;
	if (source->sets)
		source->bag[document] = *bag;
	else
		store_add(source->store);
	source->documents++;
	if (source->documents - c->base > c->mask / 2)
		grow(source);
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
		uint32 slot;
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
	pfree(source->collapse->slot);
	clear(source, SLOTS_MIN);
}

/* Digest of evidence: 128 bits, so that equal ones alone are taken for equal. */
void
collapse_digest(const void *bytes, size_t size, uint8 *digest)
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
	memcpy(digest, canonical.digest, sizeof(canonical.digest));
}
