/*
 * insert.c: one row.
 */
#include "index/index.h"

#include "miscadmin.h"

bool
neardup_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid, Relation heap,
			   IndexUniqueCheck check_unique, COMPAT_INDEX_UNCHANGED IndexInfo *info)
{
	ItemPointerData tid = *heap_tid;
	Signature signature;

	if (isnull[0])
	{
		tid_add_flags(&tid, TID_NULL);
		tail_append(index, NULL, &tid, NULL);
		return false;
	}
	signature = index_signature(index, values[0]);
	if (signature.header.flags & SIGNATURE_EMPTY)
		tid_add_flags(&tid, TID_EMPTY);
	tail_append(index, &signature.header, &tid, signature.symbols);
	return false;
}
