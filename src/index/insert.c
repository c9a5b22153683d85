/*
 * insert.c: one row.
 */
#include "index/index.h"

#include "miscadmin.h"

#include "utils/memutils.h"

static void
insert_signature(Relation index, Datum value, ItemPointerData tid)
{
	Signature signature = index_signature(index, value);

	if (signature.header.flags & SIGNATURE_EMPTY)
		tid_add_flags(&tid, TID_EMPTY);
	tail_append(index, &signature.header, &tid, signature.symbols);
}

/* A statement's memory: what a row takes, such as a signature out of TOAST, goes with the row. */
static MemoryContext
context_of_row(IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
		info->ii_AmCache =
			AllocSetContextCreate(info->ii_Context, "neardup insert", ALLOCSET_SMALL_SIZES);
	return info->ii_AmCache;
}

bool
neardup_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid, Relation heap,
			   IndexUniqueCheck check_unique, COMPAT_INDEX_UNCHANGED IndexInfo *info)
{
	MemoryContext row = context_of_row(info);
	MemoryContext before = MemoryContextSwitchTo(row);
	ItemPointerData tid = *heap_tid;

	if (isnull[0])
	{
		tid_add_flags(&tid, TID_NULL);
		tail_append(index, NULL, &tid, NULL);
	}
	else
		insert_signature(index, values[0], tid);
	MemoryContextSwitchTo(before);
	MemoryContextReset(row);
	return false;
}
