/*
 * check_rows.c: the rows of an index against the rows of its table, for neardup_check().
 *
 * The rows of both, each with hashes of its signature and its keys, are sorted and compared.
 */
#include "index/check.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "calls/progress.h"

/* A row, as the index or the table has it. */
typedef struct CheckedRow
{
	uint64 position;  /* heap block << 16 | offset */
	bool is_null;     /* the signature is NULL */
	uint64 signature; /* hash of its symbols; 0 if the signature is empty */
	uint64 keys;      /* hash of its keys */
} CheckedRow;

/* ---- Rows --------------------------------------------------------------- */

/* Begins a sort in half of maintenance_work_mem. */
static RowSort
sort_begin(void)
{
	TupleDesc desc = CreateTemplateTupleDesc(3);
	AttrNumber key = 1;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;
	RowSort sort;

	TupleDescInitEntry(desc, 1, "position", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "signature", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 3, "keys", INT8OID, -1, 0);
	compat_finish_row_type(desc);
	sort.sort = tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first,
									 maintenance_work_mem / 2, NULL, 0);
	sort.slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	return sort;
}

/* Returns true if the check knows what a column of the index should be. */
static bool
is_known(const RowCheck *check, int column)
{
	return check->evaluate || check->index->rd_index->indkey.values[column - 1] != 0;
}

/* Returns the hash of those keys that are known. */
static uint64
hash_of_keys(const RowCheck *check, const Document *document)
{
	const IndexCache *cache = index_cache(check->index);
	uint64 hash = 0;

	for (int i = 0; i < document->keys; i++)
		if (is_known(check, cache->key[i].column))
			hash = hash_combine64(hash, document->key[i]);
	return hash;
}

/* Adds a row, as a document.  A signature that is not known counts as NULL. */
static void
sort_put(const RowCheck *check, RowSort *sort, const Document *document)
{
	TupleTableSlot *slot = sort->slot;
	ItemPointerData tid = tid_of_heap(&document->tid);
	uint16 flags = tid_flags(&document->tid);
	uint64 signature = 0;

	if (!is_known(check, index_cache(check->index)->signature))
		flags = TID_NULL;
	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) ItemPointerGetBlockNumberNoCheck(&tid) << 16 |
										ItemPointerGetOffsetNumberNoCheck(&tid));
	slot->tts_isnull[0] = false;
	if (flags == 0)
		signature = hash_bytes_extended(document->symbols, (int) document->bytes, 0);
	slot->tts_values[1] = Int64GetDatum(signature);
	slot->tts_isnull[1] = (flags & TID_NULL) != 0;
	slot->tts_values[2] = Int64GetDatum(hash_of_keys(check, document));
	slot->tts_isnull[2] = false;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(sort->sort, slot);
}

/* Gets the next row.  Returns false after the last. */
static bool
sort_get(RowSort *sort, CheckedRow *row)
{
	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->slot, NULL))
		return false;
	slot_getallattrs(sort->slot);
	row->position = DatumGetInt64(sort->slot->tts_values[0]);
	row->is_null = sort->slot->tts_isnull[1];
	row->signature = row->is_null ? 0 : DatumGetInt64(sort->slot->tts_values[1]);
	row->keys = DatumGetInt64(sort->slot->tts_values[2]);
	return true;
}

static void
sort_end(RowSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->slot);
	tuplesort_end(sort->sort);
}

/* ---- The table ---------------------------------------------------------- */

/* Reports the rows read.  The table has about as many as the index has documents. */
static void
report_rows(const RowCheck *check)
{
	progress_rows(check->read);
	progress_parts(check->read, Max(check->read, check->documents));
}

/* An IndexBuildCallback: adds a row of the table. */
static void
check_add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *state)
{
	RowCheck *check = state;
	MemoryContext old_context = MemoryContextSwitchTo(check->context);
	RowDocument row;

	if (++check->read % PROGRESS_STEP == 0)
		report_rows(check);
	index_document(index, tid, values, isnull, &row);
	if (shape_is_set(&row.shape) && tid_flags(&row.document.tid) == 0)
	{
		row.document.symbols = (const uint8_t *) row.element;
		row.document.bytes = row.record.count * sizeof(uint64);
	}
	sort_put(check, &check->in_table, &row.document);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(check->context);
}

/* Reads all rows that the snapshot sees, which is older than the look at the index. */
static void
read_table(RowCheck *check, Relation heap, Snapshot snapshot)
{
	IndexInfo *info =
		check->evaluate ? BuildIndexInfo(check->index) : BuildDummyIndexInfo(check->index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);

	/* As in a concurrent build: no warnings about rows that others are changing. */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	table_index_build_scan(heap, check->index, info, true, false, check_add_row, check, scan);
}

/* Reports an error in a row.  The message names the index. */
static void
row_error(RowCheck *check, const CheckedRow *row, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg(message, RelationGetRelationName(check->index)),
			 errdetail("The row is at (%u,%u).", (BlockNumber) (row->position >> 16),
					   (OffsetNumber) row->position),
			 errhint("Rebuild the index with REINDEX.")));
}

/* Gets the next document.  No two may be of one row. */
static bool
check_next_document(RowCheck *check, CheckedRow *document)
{
	uint64 last = document->position;

	if (!sort_get(&check->in_index, document))
		return false;
	if (document->position == last)
		row_error(check, document, "index \"%s\" has two documents for a row of its table");
	return true;
}

/* Checks that a row is what its document says. */
static void
compare_row(RowCheck *check, const CheckedRow *document, const CheckedRow *row)
{
	if (document->is_null && !row->is_null)
		row_error(check, row, "index \"%s\" has NULL for a row of its table that has a signature");
	if (row->is_null && !document->is_null)
		row_error(check, row, "index \"%s\" has a signature for a row of its table that has NULL");
	if (document->signature != row->signature)
		row_error(check, row, "index \"%s\" has another signature for a row of its table");
	if (document->keys != row->keys)
		row_error(check, row, "index \"%s\" has other keys for a row of its table");
	check->compared++;
}

/* Checks that every row has its document.  A document may have no visible row. */
static void
check_compare_rows(RowCheck *check)
{
	CheckedRow document = {.position = 0};
	CheckedRow row;
	bool more = check_next_document(check, &document);

	while (sort_get(&check->in_table, &row))
	{
		while (more && document.position < row.position)
			more = check_next_document(check, &document);
		if (more && document.position == row.position)
			compare_row(check, &document, &row);
		else if (check->all_rows)
			row_error(check, &row, "index \"%s\" has no document for a row of its table");
	}
	while (more)
		more = check_next_document(check, &document);
}

/* ---- What check.c calls ------------------------------------------------- */

/* Prepares for the rows of an index. */
void
check_rows_begin(RowCheck *check, Relation index)
{
	check->index = index;
	check->context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup check", ALLOCSET_SMALL_SIZES);
	check->in_index = sort_begin();
}

/* Adds a row of the index. */
void
check_rows_put(RowCheck *check, const Document *document)
{
	check->documents++;
	sort_put(check, &check->in_index, document);
}

/* Reads the table as a snapshot sees it, and compares its rows with the rows of the index. */
void
check_rows_compare(RowCheck *check, Relation heap, Snapshot snapshot)
{
	tuplesort_performsort(check->in_index.sort);
	check->in_table = sort_begin();
	progress_phase(PHASE_CHECKING_TABLE);
	read_table(check, heap, snapshot);
	tuplesort_performsort(check->in_table.sort);
	check_compare_rows(check);
	sort_end(&check->in_index);
	sort_end(&check->in_table);
}
