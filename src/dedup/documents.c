/*
 * documents.c: the documents of a source.
 *
 * Rows whose signatures are equal form one document, so that thousands of
 * copies cost no more than one.  A hash table finds the document of a row among
 * those in memory.  Signatures that outgrow memory go to a file; they are
 * compared with those in the file each time that memory is full.  Sets that
 * outgrow memory go to a file, too; a set whose hash is found is read again.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ROOM_MIN 1024
#define EVIDENCE_DIGEST_BYTES ((int) sizeof(XXH128_canonical_t))

/* ---- Equal documents ---------------------------------------------------- */

/* Begins an empty table for the documents to come. */
static void
clear_table(Source *source)
{
	MemoryContext old = MemoryContextSwitchTo(source->context);

	table_begin(&source->table, ROOM_MIN);
	source->table_base = source->documents;
	MemoryContextSwitchTo(old);
}

/* Returns whether a row is a document of its own. */
static bool
is_alone(const Source *source, uint32 row)
{
	return source->options->judged_alone && source->judged[row] != NOT_JUDGED;
}

/* A record or a bag whose equal is sought among the documents. */
typedef struct Sought
{
	Source *source;
	uint32 row;
	bool alone; /* it has no equal */
	const uint8 *record;
	const Bag *bag;
} Sought;

/* Returns a document's set, from memory, or from *copy, which the caller frees. */
Bag
documents_bag(Source *source, uint32 document, void **copy)
{
	const StoredSet *set = source->set + document;

	*copy = set->in_file ? blobs_get(&source->blobs, set->at.position) : NULL;
	return shingles_bag(set->in_file ? *copy : set->at.shingles);
}

/* Returns whether a document is equal to a bag. */
static bool
set_is_equal(Source *source, uint32 document, const Bag *bag)
{
	void *copy;
	Bag own;
	bool equal;

	if (source->set[document].count != bag->count)
		return false;
	own = documents_bag(source, document, &copy);
	equal = bag_equals(&own, bag, source->options->multiset);
	host_free(copy);
	return equal;
}

/* A TableMatch. */
static bool
is_equal(const void *sought, uint32 number)
{
	const Sought *s = sought;
	Source *source = s->source;
	const Records *records = source->records;
	uint32 document = source->table_base + number;

	if (s->alone || is_alone(source, source->first[document]) ||
		!rows_may_meet(source, s->row, source, source->first[document]))
		return false;
	if (source->sets)
		return set_is_equal(source, document, s->bag);
	return memcmp(records->memory + (document - records->flushed) * records->stride, s->record,
				  records->stride) == 0;
}

/*
 * Returns the hash of what is sought.  It depends on the table's secret, so that nobody can
 * choose signatures or sets that collide.
 */
static uint64
hash_sought(const Sought *sought)
{
	const Source *source = sought->source;
	const Table *table = &source->table;
	const Bag *bag = sought->bag;
	uint64 hash = source->sets ?
		XXH3_64bits_withSeed(bag->element, bag->count * sizeof(*bag->element), table_seed(table)) :
		XXH3_64bits_withSeed(sought->record, source->records->stride, table_seed(table));

	if (sought->alone)
		return table_hash(table, hash ^ sought->row);
	return source->class == NULL ? hash : table_hash(table, hash ^ source->class[sought->row]);
}

/*
 * Returns the table's document that equals what is sought, which has a hash, or NO_DOCUMENT.
 * Sets *slot for a new document.
 */
static uint32
find_document(const Sought *sought, uint64 hash, uint64_t **slot)
{
	const Source *source = sought->source;

	*slot = table_search(&source->table, hash, is_equal, sought);
	return **slot == 0 ? NO_DOCUMENT : source->table_base + table_number(*slot);
}

/* Appends the rows first .. last, which are chained, to a document. */
static void
append_rows(Source *source, uint32 document, uint32 first, uint32 last)
{
	source->next[source->last[document]] = first;
	source->last[document] = last;
}

/* Makes room for one more document, in the source and in the table. */
static void
reserve_document(Source *source)
{
	MemoryContext old = MemoryContextSwitchTo(source->context);

	table_reserve(&source->table, source->table.count + 1);
	MemoryContextSwitchTo(old);
	if (source->documents < source->document_room)
		return;
	source->document_room *= 2;
	source->first = repalloc_huge(source->first, source->document_room * sizeof(uint32));
	source->last = repalloc_huge(source->last, source->document_room * sizeof(uint32));
	if (source->sets)
		source->set = repalloc_huge(source->set, source->document_room * sizeof(StoredSet));
	if (source->options->verify > 0)
		source->evidence = repalloc_huge(source->evidence, source->document_room * sizeof(int64));
}

/*
 * Adds a row to the document that equals the record, which is records_next(),
 * or the bag.  Returns whether that is a new document.
 */
static bool
add_row(Source *source, uint32 row, const uint8 *record, const Bag *bag)
{
	Sought sought = {source, row, is_alone(source, row), record, bag};
	uint64 hash = hash_sought(&sought);
	uint64_t *slot;
	uint32 document;

	reserve_document(source);
	document = find_document(&sought, hash, &slot);
	if (document != NO_DOCUMENT)
	{
		append_rows(source, document, row, row);
		return false;
	}
	document = source->table_base + table_put(&source->table, slot, hash);
	source->first[document] = source->last[document] = row;
	if (!source->sets)
		records_add(source->records);
	source->documents++;
	return true;
}

/* ---- Signatures beyond memory ------------------------------------------- */

/* Records of the file that are sought together, so that none waits for the table's memory. */
#define RECORDS_STEP 32

/* Gives the rows of documents in memory to equal ones of some documents in the file. */
static void
merge_some(Source *source, uint32 first, uint32 count, uint8 *buffer)
{
	Records *records = source->records;
	Sought sought[RECORDS_STEP];
	uint64 hash[RECORDS_STEP];
	uint64_t *slot;

	for (uint32 i = 0; i < count; i++)
	{
		uint32 row = source->first[first + i];

		sought[i] = (Sought){source, row, is_alone(source, row),
							 records_get(records, first + i, buffer + i * records->stride), NULL};
		hash[i] = hash_sought(&sought[i]);
		__builtin_prefetch(table_home(&source->table, hash[i]));
	}
	for (uint32 i = 0; i < count; i++)
	{
		uint32 equal = find_document(&sought[i], hash[i], &slot);

		if (equal != NO_DOCUMENT)
		{
			append_rows(source, first + i, source->first[equal], source->last[equal]);
			source->first[equal] = NO_ROW;
		}
	}
}

/*
 * Gives the rows of documents in memory to equal documents in the file, and
 * closes the gaps that documents without rows leave.
 */
static void
merge_with_file(Source *source)
{
	Records *records = source->records;
	uint8 *buffer = palloc(RECORDS_STEP * records->stride);
	uint32 to = records->flushed;

	for (uint32 first = 0; first < records->flushed; first += RECORDS_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		merge_some(source, first, Min(RECORDS_STEP, records->flushed - first), buffer);
	}
	pfree(buffer);
	for (uint32 from = to; from < source->documents; from++)
	{
		if (source->first[from] == NO_ROW)
			continue;
		source->first[to] = source->first[from];
		source->last[to] = source->last[from];
		if (source->evidence != NULL)
			source->evidence[to] = source->evidence[from];
		memmove(records->memory + (to - records->flushed) * records->stride,
				records->memory + (from - records->flushed) * records->stride, records->stride);
		to++;
	}
	source->documents = records->count = to;
}

/* Moves the documents in memory to the file. */
static void
flush_documents(Source *source)
{
	if (source->records->flushed > 0)
		merge_with_file(source);
	records_flush(source->records);
	table_end(&source->table);
	clear_table(source);
}

/* ---- Sets beyond memory -------------------------------------------------- */

/* Moves the sets in memory to the file. */
static void
flush_sets(Source *source)
{
	for (; source->sets_flushed < source->documents; source->sets_flushed++)
	{
		StoredSet *set = source->set + source->sets_flushed;

		set->at.position = blobs_add(&source->blobs, set->at.shingles, VARSIZE(set->at.shingles));
		set->in_file = true;
		host_check_interrupts_at(source->sets_flushed);
	}
	MemoryContextReset(source->set_context);
	source->elements = 0;
}

/* Keeps a copy of the last document's set. */
static void
store_set(Source *source, const Shingles *shingles, const Bag *bag)
{
	StoredSet *set = source->set + source->documents - 1;
	size_t size = VARSIZE(shingles);

	set->length = source->options->multiset ? bag_total(bag) : bag->count;
	set->count = bag->count;
	set->in_file = false;
	set->at.shingles = MemoryContextAllocHuge(source->set_context, size);
	memcpy(set->at.shingles, shingles, size);
	source->elements += bag->count;
	if (source->elements > sets_limit())
		flush_sets(source);
}

/* ---- Adding ------------------------------------------------------------- */

/* Prepares for records of the first signature's size, as many as memory can hold and join. */
static void
begin_records(Source *source)
{
	int k = source->shape.k;
	int b = signature_bits(&source->shape);
	size_t stride = JOIN_STRIDE(k, b) + (source->options->verify > 0 ? EVIDENCE_DIGEST_BYTES : 0);
	size_t limit = (size_t) maintenance_work_mem * 1024 / (stride + join_bytes(k, b));

	source->records = records_begin(source->context, source->owner, stride,
									Max(DOCUMENTS_MIN, Min(limit, NO_DOCUMENT / 2)));
}

static void
add_context(void *row)
{
	errcontext("%s", (const char *) row);
}

/* Names a row in the error that its value is about to cause. */
static void
name_row(const Source *source, uint32 row)
{
	ErrorContextCallback *context = palloc(sizeof(ErrorContextCallback));

	context->previous = error_context_stack;
	context->callback = add_context;
	context->arg = psprintf("row of \"%s\" with id %s", source->name,
							id_text(&source->options->ids, source->id[row]));
	error_context_stack = context;
}

/* Adds a row with a signature and perhaps evidence, which is not empty. */
static void
add_signature(Source *source, uint32 row, Datum value, const Shingles *evidence)
{
	Signature signature = signature_of_datum(value);
	Records *records;
	uint8 *record;

	if (!source->shaped)
	{
		source->shaped = true;
		source->shape = signature.header;
	}
	if (!signature_comparable(&source->shape, &signature.header))
	{
		name_row(source, row);
		signature_refuse_pair(&source->shape, &signature.header);
	}
	if (signature_is_empty(&signature))
		return;
	if (source->records == NULL)
		begin_records(source);
	records = source->records;
	if (records->count - records->flushed == records->limit)
		flush_documents(source);
	record = records_next(records);
	memcpy(record, signature.symbols, signature_symbol_bytes(&signature.header));
	if (evidence != NULL)
	{
		/* With 128 bits that depend on a secret, only rows of equal evidence are taken for equal. */
		XXH128_canonical_t digest;

		XXH128_canonicalFromHash(&digest,
								 XXH3_128bits_withSeed(evidence, VARSIZE(evidence),
													   table_seed(&source->table)));
		memcpy(record + records->stride - EVIDENCE_DIGEST_BYTES, digest.digest,
			   EVIDENCE_DIGEST_BYTES);
	}
	if (add_row(source, row, record, NULL) && evidence != NULL)
		source->evidence[source->documents - 1] =
			blobs_add(&source->blobs, evidence, VARSIZE(evidence));
}

/* Adds a row with a set, of which a new document keeps a copy. */
static void
add_set(Source *source, uint32 row, Datum value)
{
	Shingles *shingles = shingles_of_datum(value);
	Bag bag = shingles_bag(shingles);

	if (!source->shaped)
	{
		source->shaped = true;
		source->shape.version = shingles->version;
		source->shape.scheme = shingles->scheme;
	}
	if (source->shape.version != shingles->version || source->shape.scheme != shingles->scheme)
		name_row(source, row);
	check_same_recipe(source->shape.version, source->shape.scheme, shingles->version,
					  shingles->scheme);
	if (bag.count > 0 && add_row(source, row, NULL, &bag))
		store_set(source, shingles, &bag);
}

/*
 * Adds a row to the document that equals its value, a signature or a set, or
 * to a new document.  evidence: a set that belongs to a signature, or NULL.  A
 * row whose value or evidence is empty joins no document.
 */
void
documents_add(Source *source, uint32 row, Datum value, const Datum *evidence)
{
	const Shingles *shingles = evidence == NULL ? NULL : shingles_of_datum(*evidence);

	if (source->sets)
		add_set(source, row, value);
	else if (shingles == NULL || shingles->count > 0)
		add_signature(source, row, value, shingles);
}

/* Prepares a source for its first document. */
void
documents_begin(Source *source)
{
	clear_table(source);
}

/* Completes the documents after the last row. */
void
documents_end(Source *source)
{
	if (source->records != NULL && source->records->flushed > 0)
	{
		flush_documents(source);
		records_free_memory(source->records);
	}
	if (source->sets_flushed > 0)
		flush_sets(source);
	table_end(&source->table);
}

/* Returns the document of each row, or NO_DOCUMENT. */
uint32 *
documents_of_rows(const Source *source)
{
	uint32 *result = palloc_extended(Max(source->rows, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);

	memset(result, 0xFF, source->rows * sizeof(uint32)); /* NO_DOCUMENT */
	for (uint32 document = 0; document < source->documents; document++)
	{
		for_each_row(source, document, row) result[row] = document;
		host_check_interrupts_at(document);
	}
	return result;
}
