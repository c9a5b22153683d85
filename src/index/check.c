/*
 * check.c: neardup_check: an index against itself and its table.
 *
 * Upkeep is locked out meanwhile, so that the segments stay what they are;
 * inserts go on.
 */
#include "index/inspect.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "rights.h"

PG_FUNCTION_INFO_V1(neardup_check);

/*
 * What index or table says of a row.  Sixteen bytes that are sorted as a uuid is,
 * as memory is compared; so the TID comes first, its bytes in order.
 */
typedef struct Entry
{
	uint8 tid[6];
	uint16 flags;
	uint64 symbols; /* hash of them; 0 where there are none */
} Entry;

StaticAssertDecl(sizeof(Entry) == UUID_LEN, "an entry is sorted as a uuid");

typedef struct Check
{
	Relation index;
	const IndexMeta *meta;
	Tuplesortstate *entries; /* of the index */
	Tuplesortstate *rows;    /* of the heap */
	uint8 *owned;            /* a bit for each block that is accounted for */
	BlockNumber blocks;
	uint32 stride;  /* of the tail at hand */
	uint32 *bucket; /* of documents of a segment, from first on */
	uint32 first;
	uint32 slice;    /* so many documents */
	int64 documents; /* living */
	int64 dead;
	int64 postings;
	int64 heap_rows;
	MemoryContext each;
} Check;

/* ---- Pages and documents ------------------------------------------------ */

static void
own_block(Check *check, BlockNumber block)
{
	if (block >= check->blocks)
		check->blocks = RelationGetNumberOfBlocks(check->index);
	if (block == META_BLOCK || block >= check->blocks)
		page_corrupt(check->index, block, "block of a segment lies outside the index");
	if (check->owned[block / 8] >> block % 8 & 1)
		page_corrupt(check->index, block, "page belongs to two places");
	check->owned[block / 8] |= 1 << block % 8;
}

static uint64
hash_symbols(const uint8_t *symbols, size_t bytes)
{
	return shingle_of_token((const char *) symbols, bytes);
}

static void
put_entry(Tuplesortstate *sort, const ItemPointerData *tid, uint16 flags, uint64 symbols)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(tid);
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(tid);
	Entry entry = {{block >> 24, block >> 16, block >> 8, block, offset >> 8, offset},
				   flags,
				   flags ? 0 : symbols};

	tuplesort_putdatum(sort, PointerGetDatum(&entry), false);
}

/* Take the next; false after the last. */
static bool
next_entry(Tuplesortstate *sort, Entry *entry)
{
	CHECK_FOR_INTERRUPTS();
	return compat_sorted_value(sort, entry, sizeof(*entry));
}

static ItemPointerData
entry_tid(const Entry *entry)
{
	const uint8 *tid = entry->tid;
	ItemPointerData heap;

	ItemPointerSet(&heap, (BlockNumber) tid[0] << 24 | tid[1] << 16 | tid[2] << 8 | tid[3],
				   tid[4] << 8 | tid[5]);
	return heap;
}

static void
add_entry(Check *check, const ItemPointerData *tid, const uint8_t *symbols)
{
	ItemPointerData heap = tid_of_heap(tid);
	uint16 flags = tid_flags(tid);

	if (flags & TID_DEAD)
	{
		check->dead++;
		return;
	}
	put_entry(check->entries, &heap, flags,
			  flags ? 0 : hash_symbols(symbols, signature_symbol_bytes(&check->meta->shape)));
	check->documents++;
}

static void
check_documents(Check *check, Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);

	page_verify(check->index, buffer, stride);
	own_block(check, BufferGetBlockNumber(buffer));
	for (int i = 0; i < page_trailer(page)->count; i++)
		add_entry(check, page_tid(page, i), page_symbols(page, stride, i));
}

static void
check_tail_page(void *state, Buffer buffer)
{
	Check *check = state;

	check_documents(check, buffer, check->stride);
}

static void
check_tail(Check *check, const TailEntry *tail)
{
	check->stride = tail->stride;
	if (!tail_walk(check->index, tail, check_tail_page, check))
		page_corrupt(check->index, tail->first, "page of a tail belongs to another");
}

/* ---- Segments ----------------------------------------------------------- */

static Buffer
read_logical(Check *check, const Segment *segment, uint32 logical, PageKind kind)
{
	Buffer buffer = segment_page(check->index, segment, logical, kind);

	if (!BufferIsValid(buffer))
		page_corrupt(check->index, segment->map[logical], "page of a segment belongs to another");
	return buffer;
}

/* Stands for the bucket of a document without symbols, and of one that has been met. */
#define NO_BUCKET PG_UINT32_MAX

static bool
in_slice(const Check *check, uint32 document)
{
	return document >= check->first && document - check->first < check->slice;
}

/* The buckets of the slice's documents in one group. */
static void
buckets_of_group(Check *check, const Segment *segment, int group)
{
	uint32 per_page = segment->documents_per_page;
	uint32 end = Min(check->first + check->slice, segment->root.documents);

	for (uint32 p = check->first / per_page; p * per_page < end; p++)
	{
		Buffer buffer = read_logical(check, segment, p, PAGE_DOCUMENTS);
		Page page = BufferGetPage(buffer);

		for (int i = 0; i < page_trailer(page)->count; i++)
			if (in_slice(check, p * per_page + i))
				check->bucket[p * per_page + i - check->first] =
					tid_flags(page_tid(page, i)) & (TID_NULL | TID_EMPTY) ?
					NO_BUCKET :
					group_bucket(&segment->grouping, group,
								 page_symbols(page, segment->root.stride, i));
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

/* One posting: its document lies in the bucket, and is met the first time. */
static void
check_posting(Check *check, const Segment *segment, BlockNumber block, uint32 document,
			  uint32 expected)
{
	if (document >= segment->root.documents)
		page_corrupt(check->index, block, "posting of a document that is not there");
	if (!in_slice(check, document))
		return;
	if (check->bucket[document - check->first] != expected)
		page_corrupt(check->index, block, "posting in a bucket that is not its document's");
	check->bucket[document - check->first] = NO_BUCKET;
	check->postings++;
}

/* Was every document with symbols met? */
static void
check_all_met(Check *check, const Segment *segment, const SegmentEntry *entry)
{
	for (uint32 i = 0; i < Min(check->slice, segment->root.documents - check->first); i++)
		if (check->bucket[i] != NO_BUCKET)
			page_corrupt(check->index, entry->root, "a document is missing from a group");
}

static uint32
posting_of_page(const Segment *segment, Page page, uint32 i)
{
	const uint8 *at = (uint8 *) PageGetContents(page) + (Size) i * segment->posting_bytes;
	uint32 document = 0;

	for (int byte = segment->posting_bytes - 1; byte >= 0; byte--)
		document = document << 8 | at[byte];
	return document;
}

/* Each posting in its document's bucket, and none met twice. */
static void
check_group(Check *check, const Segment *segment, int group)
{
	uint64 position = (uint64) group * segment->root.grouped;
	uint32 first_page = segment->root.document_pages + segment->root.directory_pages;
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&segment->grouping, group);

	buckets_of_group(check, segment, group);
	for (uint32 v = 0; v < buckets; v++)
	{
		uint32 from;
		uint32 to;

		if (!segment_bucket(check->index, segment, group, v, &from, &to))
			page_corrupt(check->index, segment->map[segment->root.document_pages],
						 "directory page belongs to another");
		for (uint32 i = from; i < to; i++)
		{
			uint64 at = position + i;
			uint32 logical = first_page + at / segment->postings_per_page;
			Buffer buffer = read_logical(check, segment, logical, PAGE_POSTINGS);

			check_posting(check, segment, segment->map[logical],
						  posting_of_page(segment, BufferGetPage(buffer),
										  at % segment->postings_per_page),
						  v);
			UnlockReleaseBuffer(buffer);
		}
		CHECK_FOR_INTERRUPTS();
	}
}

/* All groups, for as many documents at a time as half the memory has room for. */
static void
check_groups(Check *check, const Segment *segment, const SegmentEntry *entry)
{
	check->slice = Min(segment->root.documents, maintenance_work_mem * (Size) 512 / sizeof(uint32));
	check->bucket = palloc_extended(check->slice * sizeof(uint32) + 1, MCXT_ALLOC_HUGE);
	for (int g = 0; g < segment->grouping.groups; g++)
		for (check->first = 0; check->first < segment->root.documents; check->first += check->slice)
		{
			check_group(check, segment, g);
			check_all_met(check, segment, entry);
		}
	pfree(check->bucket);
}

static void
check_segment(Check *check, const SegmentEntry *entry)
{
	Segment *segment = segment_open(check->index, check->meta, entry);
	uint32 logical = entry->pages - 1 - (segment ? segment->root.map_pages : 0);
	int64 dead = check->dead;

	if (segment == NULL)
		page_corrupt(check->index, entry->root, "segment is not there");
	own_block(check, entry->root);
	for (uint32 p = 0; p < segment->root.map_pages; p++)
		own_block(check, segment->map_block[p]);
	for (uint32 p = segment->root.document_pages; p < logical; p++)
		own_block(check, segment->map[p]);
	for (uint32 p = 0; p < segment->root.document_pages; p++)
	{
		Buffer buffer = read_logical(check, segment, p, PAGE_DOCUMENTS);

		check_documents(check, buffer, segment->root.stride);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	if (check->dead - dead < entry->dead)
		page_corrupt(check->index, entry->root,
					 "fewer documents are dead than a vacuum has counted");
	check_groups(check, segment, entry);
}

/* ---- The heap ----------------------------------------------------------- */

static void
row_error(Check *check, const Entry *row, const char *what)
{
	ItemPointerData tid = entry_tid(row);

	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" and its table disagree: %s",
					RelationGetRelationName(check->index), what),
			 errdetail("The row is at (%u,%u).", ItemPointerGetBlockNumber(&tid),
					   ItemPointerGetOffsetNumber(&tid)),
			 errhint("Rebuild the index with REINDEX.")));
}

static void
take_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *state)
{
	Check *check = state;
	MemoryContext before = MemoryContextSwitchTo(check->each);
	uint16 flags = isnull[0] ? TID_NULL : 0;
	uint64 symbols = 0;

	if (!isnull[0])
	{
		Signature signature = index_signature(index, values[0]);

		if (signature.header.flags & SIGNATURE_EMPTY)
			flags = TID_EMPTY;
		else
			symbols = hash_symbols(signature.symbols, signature_symbol_bytes(&signature.header));
	}
	put_entry(check->rows, tid, flags, symbols);
	check->heap_rows++;
	MemoryContextSwitchTo(before);
	MemoryContextReset(check->each);
}

static void
compare_row(Check *check, const Entry *row, const Entry *entry)
{
	if (row->flags == entry->flags && row->symbols == entry->symbols)
		return;
	if ((row->flags ^ entry->flags) & TID_NULL)
		row_error(check, row, "one holds NULL, the other does not");
	row_error(check, row, "a signature differs");
}

/* The next document; no two are of one row. */
static bool
next_document(Check *check, Entry *entry)
{
	Entry last = *entry;

	if (!next_entry(check->entries, entry))
		return false;
	if (memcmp(last.tid, entry->tid, sizeof(last.tid)) == 0)
		row_error(check, entry, "two documents of one row");
	return true;
}

/* Every row has its document.  A document may have no row that anybody sees. */
static void
compare_rows(Check *check)
{
	Entry entry = {{0}};
	Entry row;
	bool more = next_document(check, &entry);

	while (next_entry(check->rows, &row))
	{
		int order = -1;

		while (more && (order = memcmp(entry.tid, row.tid, sizeof(row.tid))) < 0)
			more = next_document(check, &entry);
		if (!more || order > 0)
			row_error(check, &row, "a row is not in the index");
		compare_row(check, &row, &entry);
	}
	while (more)
		more = next_document(check, &entry);
}

/* Every row that the snapshot sees; it is older than our look at the index. */
static void
check_heap(Check *check, Relation heap, Snapshot snapshot)
{
	IndexInfo *info = BuildIndexInfo(check->index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);

	/* As in a concurrent build: rows being changed are nobody's fault. */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	check->each =
		AllocSetContextCreate(CurrentMemoryContext, "neardup check", ALLOCSET_SMALL_SIZES);
	table_index_build_scan(heap, check->index, info, true, false, take_row, check, scan);
}

/* ---- The function ------------------------------------------------------- */

/* Index and table are sorted in half the memory each. */
static Tuplesortstate *
new_entries(void)
{
	Oid order = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR)->lt_opr;

	return tuplesort_begin_datum(UUIDOID, order, InvalidOid, false, maintenance_work_mem / 2, NULL,
								 0);
}

/* Replay heeds no lock, and a build that broke off left rows out. */
static void
refuse_uncheckable(Relation index)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot check an index during recovery"),
				 errhint("Check it on the primary, or after promotion.")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot check index \"%s\": it is not valid",
						RelationGetRelationName(index)),
				 errhint("Rebuild it with REINDEX.")));
}

/* The index by itself, while nobody replaces what it consists of. */
static void
check_index(Check *check)
{
	upkeep_lock(check->index);
	check->meta = meta_read(check->index);
	segments_forget(check->meta);
	check->blocks = RelationGetNumberOfBlocks(check->index);
	/* Room for what inserts may add while we read. */
	check->owned = palloc0(check->blocks / 8 + 1024 * 1024);
	for (uint32 i = 0; i < check->meta->segments; i++)
		check_segment(check, &check->meta->segment[i]);
	check_tail(check, &check->meta->frozen);
	check_tail(check, &check->meta->tail);
	upkeep_unlock(check->index);
}

/*
 * The index against its table.  Not under the lock on upkeep: what an expression
 * waits for may wait for us, unseen.
 */
static void
check_table(Check *check, Relation heap, Snapshot snapshot)
{
	check_heap(check, heap, snapshot);
	tuplesort_performsort(check->rows);
	compare_rows(check);
	tuplesort_end(check->rows);
	tuplesort_end(check->entries);
}

/*
 * Tables are locked before their indexes, as everywhere.  The index's expressions
 * and condition are the owner's code, which may not run in the name of whoever
 * checks: all is done in the owner's, before the index is opened.
 */
Datum
neardup_check(PG_FUNCTION_ARGS)
{
	Oid oid = PG_GETARG_OID(0);
	Relation heap = table_open(inspect_allowed(oid, INSPECT_CHECK), AccessShareLock);
	Check check = {0};
	Snapshot snapshot;
	Acting acting;

	act_begin(&acting, heap->rd_rel->relowner, SECURITY_RESTRICTED_OPERATION);
	check.index = inspect_open(oid, RelationGetRelid(heap));
	refuse_uncheckable(check.index);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	check.entries = new_entries();
	check_index(&check);
	tuplesort_performsort(check.entries);
	check.rows = new_entries();
	check_table(&check, heap, snapshot);
	UnregisterSnapshot(snapshot);
	index_close(check.index, AccessShareLock);
	act_end(&acting);
	table_close(heap, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%u segments, %lld documents, %lld dead, %lld postings, %lld rows",
											  check.meta->segments, (long long) check.documents,
											  (long long) check.dead, (long long) check.postings,
											  (long long) check.heap_rows)));
}
