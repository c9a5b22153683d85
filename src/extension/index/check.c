/*
 * check.c: neardup_check(): the index against itself and its table.
 *
 * First the index is read, under the maintenance lock, so that its segments stay what they are
 * while inserts go on.  Each page must belong to one position, and each document must have
 * its posting in every group and for every key.  Then the table is read and compared
 * (check_rows.c).
 *
 * Expressions and the predicate of the index are evaluated only in a session that has the
 * rights of the table's owner.  In another session they would be code of the owner that
 * takes types and tables from that session's temporary schema.
 */
#include "index/check.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "store/segment_postings.h"
#include "calls/progress.h"
#include "rights.h"

typedef struct Check
{
	Relation index;
	const IndexMeta *meta;
	RowCheck rows;

	/* A bit for each block that has been found in its position. */
	uint8 *claimed;
	BlockNumber blocks;

	uint32 stride;       /* the stride of the tail at hand */
	SegmentRoot counted; /* documents of the segment at hand */

	/* The buckets of some documents of a segment in one group, from number first on. */
	uint32 *bucket;
	uint32 first;
	uint32 count;

	/* Of an index of sets. */
	SetCheck sets;
	bool in_sets;        /* the group at hand is a group of sets */
	uint32 first_bucket; /* the bucket with which it begins */

	/* Progress, in documents of segments. */
	int64 checked;
	int64 to_check;

	/* Results. */
	int64 dead_documents;
	int64 postings;
} Check;

/* ---- Pages and documents ------------------------------------------------ */

/* Notes that a block belongs to the position at hand.  It is an error if it has another. */
static void
claim_block(Check *check, BlockNumber block)
{
	uint8 bit = 1 << block % 8;

	/* Inserts may have extended the index. */
	if (block >= check->blocks)
	{
		Size old_bytes = check->blocks / 8 + 1;

		check->blocks = RelationGetNumberOfBlocks(check->index);
		check->claimed = repalloc(check->claimed, check->blocks / 8 + 1);
		memset(check->claimed + old_bytes, 0, check->blocks / 8 + 1 - old_bytes);
	}
	if (block == META_BLOCK || block >= check->blocks)
		page_corrupt(check->index, block, "block of a segment lies outside the index");
	if (check->claimed[block / 8] & bit)
		page_corrupt(check->index, block, "page belongs to two positions");
	check->claimed[block / 8] |= bit;
}

/*
 * Checks a page of documents, whose first has a number, and adds the living ones to the rows of
 * the index.
 */
static void
check_documents(Check *check, Buffer buffer, uint32 stride, uint32 first)
{
	PGAlignedBlock copy;
	Page page = copy.data;
	size_t bytes = signature_symbol_bytes(&check->meta->shape);
	MemoryContext before = MemoryContextSwitchTo(check->rows.context);

	page_check_documents(check->index, buffer, stride);
	claim_block(check, BufferGetBlockNumber(buffer));
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	for (int i = 0; i < page_info(page)->count; i++)
	{
		Document document = page_document(page, stride, check->meta->keys, bytes, i);

		if (shape_is_set(&check->meta->shape) && (tid_flags(&document.tid) & ~TID_DEAD) == 0)
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			set_check(&check->sets, &document, first + i, BufferGetBlockNumber(buffer));
			LockBuffer(buffer, BUFFER_LOCK_SHARE);
		}
		root_count(&check->counted, tid_flags(&document.tid));
		if (tid_flags(&document.tid) & TID_DEAD)
		{
			check->dead_documents++;
			continue;
		}
		check_rows_put(&check->rows, &document);
		MemoryContextReset(check->rows.context);
	}
	MemoryContextSwitchTo(before);
}

static void
visit_tail_page(void *state, Buffer buffer)
{
	Check *check = state;

	check_documents(check, buffer, check->stride, 0);
}

static void
check_tail(Check *check, const TailEntry *tail)
{
	check->stride = tail->stride;
	check->sets = (SetCheck){.source = {.index = check->index, .stamp = tail->stamp}};
	if (!tail_walk(check->index, tail, visit_tail_page, check))
		page_corrupt(check->index, tail->first, "page of a tail belongs to another");
}

/* ---- Segments ----------------------------------------------------------- */

/*
 * In Check.bucket: a flag of a document that may have no posting, since it was dead when its
 * segment was written; and a document that has none, or whose posting has been found.
 */
#define MAY_BE_MISSING UINT32_C(0x80000000)
#define NO_BUCKET PG_UINT32_MAX

/* Reports an error unless there is a page of a segment.  Returns the page. */
static Buffer
require_page(Check *check, const Segment *segment, Buffer buffer)
{
	if (!BufferIsValid(buffer))
		page_corrupt(check->index, segment->root_block, "its pages belong to another segment");
	return buffer;
}

/* Returns the position of a document in Check.bucket, or NULL if it is not among them. */
static uint32 *
check_bucket_of(Check *check, uint32 document)
{
	if (document < check->first || document - check->first >= check->count)
		return NULL;
	return &check->bucket[document - check->first];
}

/* Fills Check.bucket for one group. */
static void
check_find_buckets(Check *check, Segment *segment, int group)
{
	uint32 per_page = segment->documents_per_page;
	uint32 end = check->first + check->count;

	for (uint32 i = 0; i < check->count; i++)
		check->bucket[i] = NO_BUCKET;
	for (uint32 p = check->first / per_page; p * per_page < end; p++)
	{
		Buffer buffer = require_page(check, segment, segment_documents(check->index, segment, p));
		Page page = BufferGetPage(buffer);

		for (int i = 0; i < page_info(page)->count; i++)
		{
			uint32 *bucket = check_bucket_of(check, p * per_page + i);
			uint16 flags = tid_flags(page_tid(page, i));

			if (bucket == NULL ||
				!document_has_posting(&segment->grouping, group, flags & ~TID_DEAD))
				continue;
			*bucket =
				document_bucket(&segment->grouping, group,
								page_symbols(page, segment->root.stride, i), segment->root.stride);
			if (flags & TID_DEAD)
				*bucket |= MAY_BE_MISSING;
		}
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Checks that the documents of a code are in their bucket, and notes that they are found. */
static void
check_code(Check *check, const Segment *segment, BlockNumber block, PostingCode code, uint32 bucket)
{
	size_t count = postings_count(code.code, code.bytes);
	uint32 *document = palloc_extended(Max(count, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);

	if (code.bytes > 0 && !postings_get(code.code, code.bytes, segment->numbers, document))
		page_corrupt(check->index, block, "malformed postings");
	for (size_t i = 0; i < count; i++)
	{
		uint32 *expected = check_bucket_of(check, document[i]);

		if (document[i] >= segment->numbers)
			page_corrupt(check->index, block, "posting of a document that does not exist");
		if (check->in_sets)
		{
			check->sets.found += sum_of_posting(check->first_bucket + bucket, document[i]);
			check->postings++;
			continue;
		}
		if (expected == NULL)
			continue;
		if (*expected == NO_BUCKET || (*expected & ~MAY_BE_MISSING) != bucket)
			page_corrupt(check->index, block, "posting in a bucket that is not its document's");
		*expected = NO_BUCKET;
		check->postings++;
	}
	pfree(document);
}

/* Checks the buckets of a group that are on a page; false if it has one of a later group. */
static bool
check_page(Check *check, Segment *segment, int group, const PostingPosition *position)
{
	uint32 first = segment->first_bucket[group];
	uint32 end = segment->first_bucket[group + 1];
	uint32 on_page = position->page.number;
	Buffer buffer = require_page(check, segment, segment_postings(check->index, segment, position));
	uint32 number = bucket_of_number(on_page);
	uint32 last = number + page_info(BufferGetPage(buffer))->count;

	for (number = Max(number, first); number < Min(last, end); number++)
		check_code(check, segment, BufferGetBlockNumber(buffer),
				   postings_on_page(check->index, buffer, on_page, number), number - first);
	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	return last <= end;
}

/* Checks that each document in Check.bucket has one posting, in its bucket. */
static void
check_postings(Check *check, Segment *segment, int group)
{
	uint32 first = segment->first_bucket[group];
	PostingPosition position;

	check->in_sets = check->sets.grouping != NULL && group < segment->root.groups;
	check->first_bucket = first;
	if (check->in_sets)
		check->count = 0;
	else
		check_find_buckets(check, segment, group);
	if (!segment_find(check->index, segment, segment_map_of(segment, group, first), first,
					  &position))
		page_corrupt(check->index, segment->root_block, "its maps belong to another segment");
	while (check_page(check, segment, group, &position) &&
		   segment_next(check->index, segment, &position))
		continue;
	for (uint32 i = 0; i < check->count; i++)
		if (!(check->bucket[i] & MAY_BE_MISSING))
			page_corrupt(check->index, segment->root_block, "a document is missing from a group");
}

/* Checks the pages of documents of a segment. */
static void
check_segment_documents(Check *check, Segment *segment, const SegmentEntry *entry)
{
	const SegmentRoot *counted = &check->counted;

	memset(&check->counted, 0, sizeof(SegmentRoot));
	for (uint32 p = 0; p < segment->root.document_pages; p++)
	{
		Buffer buffer = require_page(check, segment, segment_documents(check->index, segment, p));
		uint32 stamp = page_info(BufferGetPage(buffer))->stamp;

		if (stamp < entry->first_stamp || stamp > entry->last_stamp)
			page_corrupt(check->index, BufferGetBlockNumber(buffer),
						 "page of documents with a stamp that its segment does not have");
		check_documents(check, buffer, segment->root.stride, p * segment->documents_per_page);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	if (counted->documents != entry->documents || counted->grouped > entry->grouped ||
		counted->empty > entry->empty || counted->nulls > entry->nulls ||
		counted->documents - root_keyed(counted) < entry->dead)
		page_corrupt(check->index, entry->root, "segment has other documents than are listed");
}

/* Notes the block of a page of postings or elements, and verifies the page. */
static void
claim_page(Check *check, const Segment *segment, BlockNumber block, PageKind kind)
{
	Buffer buffer =
		require_page(check, segment, page_read(check->index, block, kind, segment->stamp));

	if (kind == PAGE_ELEMENTS)
		page_check_documents(check->index, buffer, 0);
	UnlockReleaseBuffer(buffer);
	claim_block(check, block);
	CHECK_FOR_INTERRUPTS();
}

/* Notes the blocks of a segment's pages except pages of documents, and verifies them. */
static void
claim_segment(Check *check, const SegmentEntry *entry)
{
	SegmentWalk walk;
	const SegmentRoot *root = &walk.segment.root;
	uint32 postings = 0;

	if (!walk_begin(&walk, check->index, check->meta, entry))
		page_corrupt(check->index, entry->root, "segment is not there");
	for (uint32 p = 0; p < root_pages(root); p++)
		claim_block(check, walk.segment.root_page[p]);
	for (uint32 map = 0; map < root_maps(root); map++)
	{
		claim_block(check, walk.segment.list[map].block);
		if (map < root->document_maps && !walk.segment.sets)
			continue;
		if (!walk_load(&walk, map))
			page_corrupt(check->index, entry->root, "its maps belong to another segment");
		/* Pages of documents are claimed when they are checked. */
		for (uint32 i = 0; i < walk.count; i++)
			if (map >= root->document_maps)
				claim_page(check, &walk.segment, walk.entry[i].block, PAGE_POSTINGS);
			else if (map * ENTRIES_PER_MAP + i >= root->document_pages)
				claim_page(check, &walk.segment, walk.entry[i].block, PAGE_ELEMENTS);
		postings += map < root->document_maps ? 0 : walk.count;
	}
	if (postings != root->posting_pages)
		page_corrupt(check->index, entry->root, "segment has another number of pages");
	walk_end(&walk);
}

/* Reports how many of a segment's lists are checked. */
static void
report_lists(const Check *check, const Segment *segment, int lists)
{
	progress_parts(check->checked +
					   (int64) segment->numbers * lists / grouping_lists(&segment->grouping),
				   check->to_check);
}

/* Checks a segment: its pages, documents and postings. */
static void
check_segment(Check *check, const SegmentEntry *entry)
{
	Segment *segment;
	uint32 at_once;

	claim_segment(check, entry);
	segment = segment_open(check->index, check->meta, entry);
	if (segment == NULL)
		page_corrupt(check->index, entry->root, "segment is not there");
	check->sets = (SetCheck){.source = {.index = check->index, .segment = segment}};
	if (segment->sets && segment->root.groups > 0)
		check->sets.grouping = &segment->grouping;
	check_segment_documents(check, segment, entry);

	/* Groups, for as many documents at a time as half of the memory holds. */
	at_once = Min(segment->numbers, maintenance_work_mem * (Size) 512 / sizeof(uint32));
	check->bucket = palloc_extended(at_once * sizeof(uint32) + 1, MCXT_ALLOC_HUGE);
	for (int g = 0; g < grouping_lists(&segment->grouping) && segment->root.posting_maps > 0; g++)
	{
		report_lists(check, segment, g);
		for (check->first = 0; check->first < segment->numbers; check->first += at_once)
		{
			check->count = Min(at_once, segment->numbers - check->first);
			check_postings(check, segment, g);
			if (check->in_sets)
				break;
		}
	}
	check->checked += segment->numbers;
	if (check->sets.found != check->sets.wanted)
		page_corrupt(check->index, entry->root, "postings that do not fit the sets");
	pfree(check->bucket);
}

/* Checks the index by itself.  The maintenance lock keeps segments from being replaced. */
static void
check_index(Check *check)
{
	maintenance_lock(check->index);
	check->meta = meta_read(check->index);
	check->blocks = RelationGetNumberOfBlocks(check->index);
	check->claimed = palloc0(check->blocks / 8 + 1);
	progress_phase(PHASE_CHECKING_INDEX);
	for (uint32 i = 0; i < check->meta->segments; i++)
		check->to_check += check->meta->segment[i].documents;
	for (uint32 i = 0; i < check->meta->segments; i++)
		check_segment(check, &check->meta->segment[i]);
	check_tail(check, &check->meta->closed);
	check_tail(check, &check->meta->tail);
	maintenance_unlock(check->index);
}

/* ---- The function ------------------------------------------------------- */

/* Returns true if a column of the catalog's row of an index is not NULL. */
static bool
index_has(Relation index, AttrNumber column)
{
	return !heap_attisnull(index->rd_indextuple, column, NULL);
}

/* Decides what is compared.  The user is told of what is not. */
static void
decide_extent(Check *check, bool evaluate)
{
	bool partial = index_has(check->index, Anum_pg_index_indpred);

	check->rows.evaluate = evaluate;
	check->rows.all_rows = evaluate || !partial;
	if (!evaluate && (partial || index_has(check->index, Anum_pg_index_indexprs)))
		ereport(NOTICE,
				(errmsg("index \"%s\" is checked without its expressions and predicate",
						RelationGetRelationName(check->index)),
				 errdetail("They are code of the owner of table \"%s\", and this session does not have the "
						   "rights of that role.",
						   get_rel_name(check->index->rd_index->indrelid)),
				 errhint("For a check of everything, let that role or a superuser call the function.")));
}

/* Refuses an index that cannot be checked. */
static void
check_preconditions(Relation index)
{
	/* Replay takes no maintenance lock. */
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot check an index during recovery"),
				 errhint("Check the index on the primary, or after promotion.")));
	/* A failed concurrent build has left rows out. */
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot check index \"%s\"", RelationGetRelationName(index)),
				 errdetail("The index is not valid."), errhint("Rebuild the index with REINDEX.")));
}

/*
 * The table is locked before its index, as everywhere.  The index's expressions and
 * predicate are code of the table's owner, so where they are evaluated all is done as that
 * role, before the index is opened.  The table is read after the maintenance lock is released: an
 * expression may wait for a process that waits for that lock, and PostgreSQL would not see
 * the deadlock.
 */
PG_FUNCTION_INFO_V1(neardup_check);
Datum
neardup_check(PG_FUNCTION_ARGS)
{
	Oid oid = PG_GETARG_OID(0);
	Oid table = inspect_allowed(oid, INSPECT_CHECK);
	Relation heap = try_relation_open(table, AccessShareLock);
	bool evaluate;
	Check check = {0};
	Snapshot snapshot;
	Acting acting;

	if (heap == NULL)
		inspect_dropped(oid);
	evaluate = session_owns(table);
	if (evaluate)
		act_begin(&acting, heap->rd_rel->relowner, SECURITY_RESTRICTED_OPERATION);
	check.index = inspect_open(oid, table);
	check_preconditions(check.index);
	decide_extent(&check, evaluate);
	snapshot = RegisterSnapshot(GetLatestSnapshot());

	progress_begin();
	check_rows_begin(&check.rows, check.index);
	check_index(&check);
	check_rows_compare(&check.rows, heap, snapshot);
	progress_end();

	UnregisterSnapshot(snapshot);
	index_close(check.index, AccessShareLock);
	if (evaluate)
		act_end(&acting);
	table_close(heap, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("segments: %u, documents: %lld, dead: %lld, postings: %lld, rows: %lld",
											  check.meta->segments,
											  (long long) check.rows.documents,
											  (long long) check.dead_documents,
											  (long long) check.postings,
											  (long long) check.rows.compared)));
}
