/*
 * documents.c: rows are added, and those whose values are equal form one document.
 *
 * A hash table finds the document of a row among those in memory.  Signatures that outgrow
 * memory go to a file; they are compared with those in the file each time that memory is full.
 * Sets that outgrow memory go to a file, too; a set whose hash is found is read again.
 */
#include "join/documents.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "join/join.h"

#define ROOM_MIN 1024

/* The share of the memory for sets that evidence takes beside signatures. */
#define SHARE_OF_EVIDENCE 8

/* Bytes of a digest of evidence: one that is made here, or one that came with the row. */
#define DIGEST_BYTES(options) \
	((options)->read_set == NULL ? sizeof(XXH128_canonical_t) : sizeof(uint64_t))

/* ---- Sets ----------------------------------------------------------------- */

/* Returns the set or the evidence of a document, for evidence_free(); *copy has its arrays, unless NULL. */
Bag
documents_evidence(const Documents *documents, uint32_t document, void **copy)
{
	const SetStore *sets = &documents->store->sets;
	const PairOptions *options = documents->options;

	*copy = NULL;
	if (options->read_set != NULL)
		return options->read_set(options->state, documents, documents->first[document]);
	return set_read(sets, sets->set + document, copy);
}

/* ---- Equal documents ------------------------------------------------------ */

/* A row whose equal is sought among the documents in memory. */
typedef struct SoughtRow
{
	const Documents *documents;
	uint32_t row;
	bool separate; /* no row of equal values joins it */
	const uint8_t *record;
	const Bag *bag;
} SoughtRow;

/* Returns whether a document is equal to a set. */
static bool
set_is_equal(const Documents *documents, uint32_t document, const Bag *bag)
{
	void *copy;
	Bag own;
	bool equal;

	if (documents->store->sets.set[document].count != bag->count)
		return false;
	own = documents_evidence(documents, document, &copy);
	equal = bag_equals(&own, bag, documents->options->multiset);
	host_free(copy);
	return equal;
}

/* A TableMatch. */
static bool
is_equal(const void *sought, uint32_t number)
{
	const SoughtRow *s = sought;
	const Documents *documents = s->documents;
	const DocumentStore *store = documents->store;
	uint32_t document = store->base + number;

	if (s->separate || store->separate[document] ||
		(documents->partition != NULL &&
		 documents->partition[s->row] != document_partition(documents, document)))
		return false;
	if (documents->sets)
		return set_is_equal(documents, document, s->bag);
	return memcmp(record_in_memory(&store->records, document), s->record, store->records.stride) ==
		0;
}

/*
 * Returns the hash of what is sought.  It depends on the table's secret, so that nobody can
 * choose signatures or sets that collide.
 */
static uint64_t
hash_sought(const SoughtRow *sought)
{
	const Documents *documents = sought->documents;
	const Table *table = &documents->store->table;
	const Bag *bag = sought->bag;
	uint64_t hash = documents->sets ?
		XXH3_64bits_withSeed(bag->element, bag->count * sizeof(*bag->element), table_seed(table)) :
		XXH3_64bits_withSeed(sought->record, documents->store->records.stride, table_seed(table));

	if (sought->separate)
		return table_hash(table, hash ^ sought->row);
	return documents->partition == NULL ?
		hash :
		table_hash(table, hash ^ documents->partition[sought->row]);
}

/*
 * Returns the document in the table that equals `sought`, whose hash is `hash`, or NO_DOCUMENT.
 * Sets *slot for a new document.
 */
static uint32_t
find_document(const SoughtRow *sought, uint64_t hash, uint64_t **slot)
{
	const DocumentStore *store = sought->documents->store;

	*slot = table_search(&store->table, hash, is_equal, sought);
	return **slot == 0 ? NO_DOCUMENT : store->base + table_number(*slot);
}

/* Appends the rows first .. last, which are chained, to a document. */
static void
append_rows(Documents *documents, uint32_t document, uint32_t first, uint32_t last)
{
	documents->next[documents->last[document]] = first;
	documents->last[document] = last;
}

/* Begins an empty table for the documents to come. */
static void
clear_table(Documents *documents)
{
	table_begin(&documents->store->table, ROOM_MIN);
	documents->store->base = documents->count;
}

/*
 * Returns how much room comes after `room`, for rows or documents; there are no more documents than
 * rows.  It is an error if there was room for all rows that come.
 */
static size_t
more_room(const Documents *documents, size_t room)
{
	if (documents->rows_max > 0 && room >= documents->rows_max)
		host_refuse_size("more rows come than the caller has said");
	room = Max(2 * room, ROOM_MIN);
	return documents->rows_max > 0 ? Min(room, documents->rows_max) : room;
}

/* Makes room for one more document. */
static void
reserve_document(Documents *documents)
{
	DocumentStore *store = documents->store;
	size_t room;

	table_reserve(&store->table, store->table.count + 1);
	if (documents->count < documents->room)
		return;
	room = documents->room = more_room(documents, documents->room);
	documents->first = host_realloc(documents->first, room * sizeof(uint32_t));
	documents->last = host_realloc(documents->last, room * sizeof(uint32_t));
	store->separate = host_realloc(store->separate, room * sizeof(bool));
}

/*
 * Adds a row to the document that equals it, or to a new one.  Returns whether it is a new
 * document.
 */
static bool
add_to_document(const SoughtRow *sought, Documents *documents)
{
	DocumentStore *store = documents->store;
	uint64_t hash = hash_sought(sought);
	uint64_t *slot;
	uint32_t document;

	reserve_document(documents);
	document = find_document(sought, hash, &slot);
	if (document != NO_DOCUMENT)
	{
		append_rows(documents, document, sought->row, sought->row);
		return false;
	}
	document = store->base + table_put(&store->table, slot, hash);
	documents->first[document] = documents->last[document] = sought->row;
	store->separate[document] = sought->separate;
	documents->count++;
	return true;
}

/* ---- Signatures beyond memory --------------------------------------------- */

/* Records of the file that are sought together, so that none waits for the table's memory. */
#define RECORDS_STEP 32

/* Gives the rows of documents in memory to equal ones of some documents in the file. */
static void
merge_some(Documents *documents, uint32_t first, uint32_t count, uint8_t *buffer)
{
	DocumentStore *store = documents->store;
	SoughtRow sought[RECORDS_STEP];
	uint64_t hash[RECORDS_STEP];
	uint64_t *slot;

	for (uint32_t i = 0; i < count; i++)
	{
		sought[i] =
			(SoughtRow){documents, documents->first[first + i], store->separate[first + i],
						records_get(&store->records, first + i, buffer + i * store->records.stride),
						NULL};
		hash[i] = hash_sought(&sought[i]);
		__builtin_prefetch(table_home(&store->table, hash[i]));
	}
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t equal = find_document(&sought[i], hash[i], &slot);

		if (equal == NO_DOCUMENT)
			continue;
		append_rows(documents, first + i, documents->first[equal], documents->last[equal]);
		documents->first[equal] = NO_ROW;
	}
}

/*
 * Gives the rows of documents in memory to equal documents in the file, and
 * closes the gaps that documents without rows leave.
 */
static void
merge_with_file(Documents *documents)
{
	DocumentStore *store = documents->store;
	Records *records = &store->records;
	uint8_t *buffer = host_alloc(RECORDS_STEP * records->stride);
	uint32_t to = records->flushed;

	set_store_flush(&store->sets);
	for (uint32_t first = 0; first < records->flushed; first += RECORDS_STEP)
	{
		host_check_interrupts();
		merge_some(documents, first, Min(RECORDS_STEP, records->flushed - first), buffer);
	}
	host_free(buffer);
	for (uint32_t from = to; from < documents->count; from++)
	{
		if (documents->first[from] == NO_ROW)
			continue;
		documents->first[to] = documents->first[from];
		documents->last[to] = documents->last[from];
		store->separate[to] = store->separate[from];
		if (store->sets.count > 0)
			store->sets.set[to] = store->sets.set[from];
		memmove(record_in_memory(records, to), record_in_memory(records, from), records->stride);
		to++;
	}
	documents->count = records->count = to;
	if (store->sets.count > 0)
		store->sets.count = store->sets.flushed = to;
}

/* Moves the signatures in memory to the file. */
static void
flush_signatures(Documents *documents)
{
	Records *records = &documents->store->records;

	if (records->flushed > 0)
		merge_with_file(documents);
	records_flush(records);
	table_end(&documents->store->table);
	clear_table(documents);
}

/* ---- Adding ---------------------------------------------------------------- */

/* Writes the digest of evidence: only rows of equal evidence are taken for equal. */
static void
write_digest(const Documents *documents, const StoredBag *evidence, size_t bytes, uint8_t *digest)
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical,
							 XXH3_128bits_withSeed(evidence, bytes, documents->store->secret));
	memcpy(digest, canonical.digest, sizeof(canonical.digest));
}

/* Prepares for records of the first signature's size, as many as memory can hold and join. */
static void
begin_records(Documents *documents)
{
	const PairOptions *options = documents->options;
	Records *records = &documents->store->records;
	int k = documents->shape.k;
	int b = signature_bits(&documents->shape);
	size_t limit;

	records->stride = JOIN_STRIDE(k, b) + (options->evidence ? DIGEST_BYTES(options) : 0);
	limit = DOCUMENT_MEMORY(options) / options->sides / (records->stride + join_bytes(k, b));
	records->limit = (uint32_t) host_limit(Max(DOCUMENTS_MIN, Min(limit, NO_DOCUMENT / 2)));
}

/* Adds a row with a signature. */
static void
add_signature(Documents *documents, const DocumentRow *row)
{
	DocumentStore *store = documents->store;
	Records *records = &store->records;
	Bag evidence = row->evidence != NULL ? *row->evidence : (Bag){0};
	StoredBag *stored = NULL;
	size_t bytes;
	SoughtRow sought = {documents, documents->rows - 1, row->separate, NULL, NULL};
	uint8_t *record;
	uint8_t *digest;

	if (records->stride == 0)
		begin_records(documents);
	if (records->count - records->flushed == records->limit)
		flush_signatures(documents);
	sought.record = record = records_next(records);
	memcpy(record, row->symbols, signature_symbol_bytes(&documents->shape));
	digest = record + records->stride - DIGEST_BYTES(documents->options);
	if (!evidence_weighs(documents))
		evidence.frequency = NULL;
	bytes = stored_bytes(&evidence);
	if (row->evidence != NULL)
	{
		stored = host_alloc(bytes);
		memset(stored, 0, sizeof(StoredBag));
		store_bag(stored, &evidence);
		write_digest(documents, stored, bytes, digest);
	}
	else if (documents->options->evidence)
		memcpy(digest, &row->digest, sizeof(row->digest));
	if (add_to_document(&sought, documents))
	{
		records->count++;
		if (row->evidence != NULL)
			set_store_add(&store->sets, &evidence, evidence.frequency != NULL);
	}
	host_free(stored);
}

/* Appends a row that belongs to no document yet. */
static void
append_row(Documents *documents, uint32_t partition)
{
	if (documents->rows == documents->row_room)
	{
		documents->row_room = more_room(documents, documents->row_room);
		documents->next = host_realloc(documents->next, documents->row_room * sizeof(uint32_t));
		if (documents->partition != NULL)
			documents->partition =
				host_realloc(documents->partition, documents->row_room * sizeof(uint32_t));
	}
	documents->next[documents->rows] = NO_ROW;
	if (documents->partition != NULL)
		documents->partition[documents->rows] = partition;
	documents->rows++;
}

/*
 * Adds a row.  It has the next number, from 0, and joins the document that equals its value, or a
 * new one.  A row without a value, whose set or evidence is empty or that has no partition joins none.
 */
void
documents_add(Documents *documents, const DocumentRow *row)
{
	append_row(documents, row->partition);
	if (documents->partition != NULL && row->partition == NO_PARTITION)
		return;
	if (row->bag != NULL && row->bag->count > 0)
	{
		SoughtRow sought = {documents, documents->rows - 1, row->separate, NULL, row->bag};

		if (add_to_document(&sought, documents))
			set_store_add(&documents->store->sets, row->bag, documents->options->multiset);
	}
	else if (row->symbols != NULL && (row->evidence == NULL || row->evidence->count > 0))
		add_signature(documents, row);
}

/* ---- Beginning and end ------------------------------------------------------ */

/* Begins documents: sets, or signatures, whose rows may have partitions. */
Documents *
documents_begin(const PairOptions *options, bool sets, bool partitions)
{
	Documents *documents = host_alloc(sizeof(Documents));
	DocumentStore *store = host_alloc(sizeof(DocumentStore));

	memset(store, 0, sizeof(DocumentStore));
	*documents = (Documents){.options = options, .sets = sets, .store = store};
	if (partitions)
		documents->partition = host_alloc(1);
	store->secret = host_random_seed();
	store->sets.limit =
		store_limit(DOCUMENT_MEMORY(options) / options->sides / (sets ? 1 : SHARE_OF_EVIDENCE));
	clear_table(documents);
	return documents;
}

/* Completes the documents after the last row. */
void
documents_done(Documents *documents)
{
	DocumentStore *store = documents->store;

	if (store->records.flushed > 0)
	{
		flush_signatures(documents);
		host_free(store->records.memory);
		store->records.memory = NULL;
	}
	set_store_done(&store->sets);
	table_end(&store->table);
}

/* Closes the files of documents and frees them. */
void
documents_end(Documents *documents)
{
	DocumentStore *store = documents->store;

	records_end(&store->records);
	set_store_end(&store->sets);
	host_free(store->separate);
	host_free(store);
	host_free(documents->next);
	host_free(documents->partition);
	host_free(documents->first);
	host_free(documents->last);
	host_free(documents);
}
