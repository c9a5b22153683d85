/*
 * set_order.c: the documents of an index of sets in the order of their sizes, sorted in bounded
 * memory.
 */
#include "store/sets.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"

/*
 * A document is a tuple of its size and block, its offset, and the rest: its TID, its keys and its
 * elements; if these are many, several tuples.  It is sorted with all of these: the sets of a large
 * index go to temporary files.
 */
struct SizeSort
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
	SetRecord record; /* the record of the document that was got last */
	uint32 key[INDEX_MAX_KEYS];
	StringInfoData bytes;
};

#define SORT_COLUMNS 3

/* What precedes the elements of a document. */
typedef struct SortedDocument
{
	ItemPointerData tid;
	uint16 keys;
	uint32 from;
	SetRecord record;
} SortedDocument;

/* Begins a sort in `memory` bytes, alone or with the participants of a build. */
SizeSort *
size_sort_begin(Size memory, SortCoordinate coordinate)
{
	SizeSort *sort = palloc0(sizeof(SizeSort));
	TupleDesc desc = CreateTemplateTupleDesc(SORT_COLUMNS);
	AttrNumber key[] = {1, 2};
	Oid less[] = {Int8LessOperator, Int8LessOperator};
	Oid collation[] = {InvalidOid, InvalidOid};
	bool nulls_first[] = {false, false};

	TupleDescInitEntry(desc, 1, "size", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "part", INT8OID, -1, 0);
	TupleDescInitEntry(desc, SORT_COLUMNS, "document", BYTEAOID, -1, 0);
	compat_finish_row_type(desc);
	sort->sort = tuplesort_begin_heap(desc, lengthof(key), key, less, collation, nulls_first,
									  (int) Min(memory / 1024, INT_MAX), coordinate, 0);
	sort->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	initStringInfo(&sort->bytes);
	return sort;
}

/* Adds a part of a document.  One that is NULL or empty has one part, without elements. */
void
size_sort_put(SizeSort *sort, const SortedPart *part)
{
	const Document *document = &part->document;
	SortedDocument sorted = {.tid = document->tid, .keys = document->keys, .from = part->from};
	ItemPointerData tid = tid_of_heap(&document->tid);
	StringInfo bytes = &sort->bytes;

	if (part->count > 0)
		memcpy(&sorted.record, document->symbols, sizeof(SetRecord));
	resetStringInfo(bytes);
	appendStringInfoSpaces(bytes, VARHDRSZ);
	appendBinaryStringInfo(bytes, (char *) &sorted, sizeof(sorted));
	appendBinaryStringInfo(bytes, (char *) document->key, document->keys * sizeof(uint32));
	appendBinaryStringInfo(bytes, (char *) part->element, part->count * sizeof(uint64));
	SET_VARSIZE(bytes->data, bytes->len);
	ExecClearTuple(sort->slot);
	memset(sort->slot->tts_isnull, false, SORT_COLUMNS * sizeof(bool));
	/* Few documents have equal sizes and blocks, so the second key is seldom looked at. */
	sort->slot->tts_values[0] =
		Int64GetDatum((int64) sorted.record.count << 32 | ItemPointerGetBlockNumberNoCheck(&tid));
	sort->slot->tts_values[1] =
		Int64GetDatum((int64) ItemPointerGetOffsetNumberNoCheck(&tid) << 32 | part->from);
	sort->slot->tts_values[2] = PointerGetDatum(bytes->data);
	ExecStoreVirtualTuple(sort->slot);
	tuplesort_puttupleslot(sort->sort, sort->slot);
}

/* Adds a document with all its elements. */
void
size_sort_put_all(SizeSort *sort, const Document *document, const uint64 *element)
{
	uint32 count = tid_flags(&document->tid) == 0 ? ((SetRecord *) document->symbols)->count : 0;
	SortedPart part = {.document = *document};

	do
	{
		part.element = element + part.from;
		part.count = Min(count - part.from, PART_ELEMENTS);
		size_sort_put(sort, &part);
		part.from += part.count;
	} while (part.from < count);
}

/* Sorts what was added. */
void
size_sort_perform(SizeSort *sort)
{
	tuplesort_performsort(sort->sort);
}

/*
 * Gets the next part of a document, in memory of the sort that the next call overwrites.  The
 * parts of a document follow each other.  Returns false after the last.
 */
bool
size_sort_get(SizeSort *sort, SortedPart *part)
{
	const char *data;
	SortedDocument sorted;
	struct varlena *value;

	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->slot, NULL))
		return false;
	slot_getallattrs(sort->slot);
	value = (struct varlena *) DatumGetPointer(sort->slot->tts_values[2]);
	data = VARDATA_ANY(value);
	part->count = VARSIZE_ANY_EXHDR(value);
	memcpy(&sorted, data, sizeof(sorted));
	data += sizeof(sorted);
	memcpy(sort->key, data, sorted.keys * sizeof(uint32));
	data += sorted.keys * sizeof(uint32);
	sort->record = sorted.record;
	part->document = (Document){.tid = sorted.tid,
								.symbols = (const uint8_t *) &sort->record,
								.bytes = sizeof(SetRecord),
								.key = sort->key,
								.keys = sorted.keys};
	part->from = sorted.from;
	part->count -= sizeof(sorted) + sorted.keys * sizeof(uint32);
	/* A copy, since the elements may not be aligned. */
	resetStringInfo(&sort->bytes);
	appendBinaryStringInfo(&sort->bytes, data, part->count);
	part->count /= sizeof(uint64);
	part->element = (const uint64 *) sort->bytes.data;
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
