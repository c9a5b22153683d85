/*
 * check.c: neardup_check: an index against itself and its table.
 *
 * Upkeep is locked out meanwhile, so that the segments stay what they are;
 * inserts go on.
 */
#include "index/inspect.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(neardup_check);

/* What the index says of a heap TID. */
typedef struct Entry
{
	ItemPointerData tid; /* the key */
	uint16 flags;
	uint64 symbols; /* hash of them */
} Entry;

typedef struct Check
{
	Relation index;
	const IndexMeta *meta;
	HTAB *entries;
	uint8 *owned; /* a bit for each block that is accounted for */
	BlockNumber blocks;
	uint32 stride;   /* of the tail at hand */
	int64 documents; /* living */
	int64 dead;
	int64 postings;
	int64 rows; /* of the heap */
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
add_entry(Check *check, BlockNumber block, const ItemPointerData *tid, const uint8_t *symbols)
{
	ItemPointerData heap = tid_of_heap(tid);
	Entry *entry;
	bool found;

	if (tid_flags(tid) & TID_DEAD)
	{
		check->dead++;
		return;
	}
	entry = hash_search(check->entries, &heap, HASH_ENTER, &found);
	if (found)
		page_corrupt(check->index, block, "two documents of one row");
	entry->flags = tid_flags(tid);
	entry->symbols =
		entry->flags ? 0 : hash_symbols(symbols, signature_symbol_bytes(&check->meta->shape));
	check->documents++;
}

static void
check_documents(Check *check, Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);

	page_verify(check->index, buffer, stride);
	own_block(check, block);
	for (int i = 0; i < page_trailer(page)->count; i++)
		add_entry(check, block, page_tid(page, i), page_symbols(page, stride, i));
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

/* The bucket of every document in one group; NO_BUCKET for those without symbols. */
#define NO_BUCKET PG_UINT32_MAX

static void
buckets_of_group(Check *check, const Segment *segment, int group, uint32 *bucket)
{
	for (uint32 p = 0; p < segment->root.document_pages; p++)
	{
		Buffer buffer = read_logical(check, segment, p, PAGE_DOCUMENTS);
		Page page = BufferGetPage(buffer);

		for (int i = 0; i < page_trailer(page)->count; i++)
			bucket[p * segment->documents_per_page + i] =
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
			  uint32 expected, uint32 *bucket)
{
	if (document >= segment->root.documents)
		page_corrupt(check->index, block, "posting of a document that is not there");
	if (bucket[document] != expected)
		page_corrupt(check->index, block, "posting in a bucket that is not its document's");
	bucket[document] = NO_BUCKET;
	check->postings++;
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

/*
 * As many postings as documents, each in its bucket, none met twice: so every
 * document is found through the group.
 */
static void
check_group(Check *check, const Segment *segment, int group, uint32 *bucket)
{
	uint64 position = (uint64) group * segment->root.grouped;
	uint32 first_page = segment->root.document_pages + segment->root.directory_pages;
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&segment->grouping, group);

	buckets_of_group(check, segment, group, bucket);
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
						  v, bucket);
			UnlockReleaseBuffer(buffer);
		}
		CHECK_FOR_INTERRUPTS();
	}
}

static void
check_segment(Check *check, const SegmentEntry *entry)
{
	Segment *segment = segment_open(check->index, check->meta, entry);
	uint32 *bucket;
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
	bucket = palloc_extended((Size) segment->root.documents * sizeof(uint32) + 1, MCXT_ALLOC_HUGE);
	for (int g = 0; g < segment->grouping.groups; g++)
		check_group(check, segment, g, bucket);
	pfree(bucket);
}

/* ---- The heap ----------------------------------------------------------- */

static void
row_error(Check *check, ItemPointer tid, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" and its table disagree: %s",
					RelationGetRelationName(check->index), what),
			 errdetail("The row is at (%u,%u).", ItemPointerGetBlockNumber(tid),
					   ItemPointerGetOffsetNumber(tid)),
			 errhint("Rebuild the index with REINDEX.")));
}

static void
check_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *state)
{
	Check *check = state;
	Entry *entry = hash_search(check->entries, tid, HASH_FIND, NULL);
	MemoryContext before = MemoryContextSwitchTo(check->each);

	check->rows++;
	if (entry == NULL)
		row_error(check, tid, "a row is not in the index");
	if (isnull[0] != ((entry->flags & TID_NULL) != 0))
		row_error(check, tid, "one holds NULL, the other does not");
	if (!isnull[0])
	{
		Signature signature = index_signature(index, values[0]);
		bool empty = (signature.header.flags & SIGNATURE_EMPTY) != 0;

		if (empty != ((entry->flags & TID_EMPTY) != 0) ||
			(!empty &&
			 entry->symbols !=
				 hash_symbols(signature.symbols, signature_symbol_bytes(&signature.header))))
			row_error(check, tid, "a signature differs");
	}
	MemoryContextSwitchTo(before);
	MemoryContextReset(check->each);
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
	table_index_build_scan(heap, check->index, info, true, false, check_row, check, scan);
}

/* ---- The function ------------------------------------------------------- */

static HTAB *
new_entries(void)
{
	HASHCTL control = {0};

	control.keysize = sizeof(ItemPointerData);
	control.entrysize = sizeof(Entry);
	control.hcxt = CurrentMemoryContext;
	return hash_create("neardup check", 1024, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
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

/*
 * Tables are locked before their indexes, as everywhere.  NULL where it is no
 * index, which inspect_open refuses.
 */
static Relation
open_table_of(Oid index)
{
	Oid heap = IndexGetRelation(index, true);

	return OidIsValid(heap) ? table_open(heap, AccessShareLock) : NULL;
}

Datum
neardup_check(PG_FUNCTION_ARGS)
{
	Relation heap = open_table_of(PG_GETARG_OID(0));
	Relation index = inspect_open(PG_GETARG_OID(0));
	Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
	Check check = {.index = index, .entries = new_entries()};

	refuse_uncheckable(index);
	upkeep_lock(index);
	check.meta = meta_read(index);
	segments_forget(check.meta);
	check.blocks = RelationGetNumberOfBlocks(index);
	/* Room for what inserts may add while we read. */
	check.owned = palloc0(check.blocks / 8 + 1024 * 1024);
	for (uint32 i = 0; i < check.meta->segments; i++)
		check_segment(&check, &check.meta->segment[i]);
	check_tail(&check, &check.meta->frozen);
	check_tail(&check, &check.meta->tail);
	upkeep_unlock(index);
	/* Not under the lock: what an expression waits for may wait for us, unseen. */
	check_heap(&check, heap, snapshot);
	UnregisterSnapshot(snapshot);
	table_close(heap, AccessShareLock);
	relation_close(index, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%u segments, %lld documents, %lld dead, %lld postings, %lld rows",
											  check.meta->segments, (long long) check.documents,
											  (long long) check.dead, (long long) check.postings,
											  (long long) check.rows)));
}
