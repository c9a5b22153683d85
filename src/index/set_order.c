/*
 * set_order.c: the documents of an index of sets in the order of their sizes, sorted in bounded
 * memory.
 */
#include "index/sets.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"

/*
 * A document is a tuple of its size, its TID, its keys and its elements.  It is sorted with
 * all of these: the sets of a large index go to temporary files.
 */
struct SizeSort
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
	SetRecord record; /* of the document that was got last */
	uint32 key[INDEX_MAX_KEYS];
	StringInfoData bytes;
};

/* What precedes the elements of a document. */
typedef struct SortedDocument
{
	ItemPointerData tid;
	uint16 keys;
	SetRecord record;
} SortedDocument;

/* Begins a sort in `memory` bytes, alone or with the participants of a build. */
SizeSort *
size_sort_begin(Size memory, SortCoordinate coordinate)
{
	SizeSort *sort = palloc0(sizeof(SizeSort));
	TupleDesc desc = CreateTemplateTupleDesc(2);
	AttrNumber key = 1;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;

	TupleDescInitEntry(desc, 1, "size", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "document", BYTEAOID, -1, 0);
	compat_finish_row_type(desc);
	sort->sort = tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first,
									  (int) Min(memory / 1024, INT_MAX), coordinate, 0);
	sort->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	initStringInfo(&sort->bytes);
	return sort;
}

/* Adds a document; one that is NULL or empty has no elements. */
void
size_sort_put(SizeSort *sort, const Document *document, const uint64 *element, uint32 count)
{
	SortedDocument sorted = {.tid = document->tid, .keys = document->keys};
	StringInfo bytes = &sort->bytes;

	if (count > 0)
		memcpy(&sorted.record, document->symbols, sizeof(SetRecord));
	resetStringInfo(bytes);
	appendStringInfoSpaces(bytes, VARHDRSZ);
	appendBinaryStringInfo(bytes, (char *) &sorted, sizeof(sorted));
	appendBinaryStringInfo(bytes, (char *) document->key, document->keys * sizeof(uint32));
	appendBinaryStringInfo(bytes, (char *) element, count * sizeof(uint64));
	SET_VARSIZE(bytes->data, bytes->len);
	ExecClearTuple(sort->slot);
	sort->slot->tts_values[0] = Int64GetDatum(count);
	sort->slot->tts_isnull[0] = false;
	sort->slot->tts_values[1] = PointerGetDatum(bytes->data);
	sort->slot->tts_isnull[1] = false;
	ExecStoreVirtualTuple(sort->slot);
	tuplesort_puttupleslot(sort->sort, sort->slot);
}

/* Sorts what was added. */
void
size_sort_perform(SizeSort *sort)
{
	tuplesort_performsort(sort->sort);
}

/*
 * Gets the next document and its elements, in memory of the sort that the next call overwrites.
 * Returns false after the last.
 */
bool
size_sort_get(SizeSort *sort, Document *document, const uint64 **element)
{
	const char *data;
	SortedDocument sorted;
	struct varlena *value;
	Size elements;

	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->slot, NULL))
		return false;
	slot_getallattrs(sort->slot);
	value = (struct varlena *) DatumGetPointer(sort->slot->tts_values[1]);
	data = VARDATA_ANY(value);
	memcpy(&sorted, data, sizeof(sorted));
	data += sizeof(sorted);
	memcpy(sort->key, data, sorted.keys * sizeof(uint32));
	data += sorted.keys * sizeof(uint32);
	sort->record = sorted.record;
	*document = (Document){.tid = sorted.tid,
						   .symbols = (const uint8_t *) &sort->record,
						   .bytes = sizeof(SetRecord),
						   .key = sort->key,
						   .keys = sorted.keys};
	/* A copy, since the elements may not be aligned. */
	elements = (Size) sorted.record.count * sizeof(uint64);
	resetStringInfo(&sort->bytes);
	appendBinaryStringInfo(&sort->bytes, data, elements);
	*element = (const uint64 *) sort->bytes.data;
	return true;
}

/* Ends a sort, and frees its memory and files. */
void
size_sort_end(SizeSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->slot);
	tuplesort_end(sort->sort);
	pfree(sort->bytes.data);
	pfree(sort);
}
