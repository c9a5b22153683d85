/*
 * insert.c: one row.
 */
#include "index/index.h"

#include "utils/memutils.h"

/*
 * What a row takes, such as a signature out of TOAST; the caller's memory is the
 * statement's.  It is made once, since many a statement inserts one row.
 */
static MemoryContext
context_of_row(void)
{
	static MemoryContext context = NULL;

	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "neardup insert", ALLOCSET_SMALL_SIZES);
	return context;
}

static void
insert_signature(Relation index, Datum value, ItemPointerData tid)
{
	MemoryContext row = context_of_row();
	MemoryContext before = MemoryContextSwitchTo(row);
	Signature signature = index_signature(index, value);

	MemoryContextSwitchTo(before);
	if (signature.header.flags & SIGNATURE_EMPTY)
		tid_add_flags(&tid, TID_EMPTY);
	tail_append(index, &signature.header, &tid, signature.symbols);
	MemoryContextReset(row);
}

bool
neardup_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid, Relation heap,
			   IndexUniqueCheck check_unique, COMPAT_INDEX_UNCHANGED IndexInfo *info)
{
	ItemPointerData tid = *heap_tid;

	if (isnull[0])
	{
		tid_add_flags(&tid, TID_NULL);
		tail_append(index, NULL, &tid, NULL);
	}
	else
		insert_signature(index, values[0], tid);
	return false;
}
