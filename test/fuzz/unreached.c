/*
 * unreached.c: functions of the server that the files of the types refer to, but that
 * are not reached from fuzz_values.c.
 */
#include <stdlib.h>

#define UNREACHED(name) \
	extern void name(void); \
	void name(void) \
	{ \
		abort(); \
	} \
	extern int no_such_variable

UNREACHED(ArrayGetIntegerTypmods);
UNREACHED(BlessTupleDesc);
UNREACHED(CreateTupleDescCopy);
UNREACHED(buildoidvector);
UNREACHED(deconstruct_array);
UNREACHED(end_MultiFuncCall);
UNREACHED(format_type_be);
UNREACHED(get_call_result_type);
UNREACHED(get_func_namespace);
UNREACHED(get_func_rettype);
UNREACHED(heap_form_tuple);
UNREACHED(GetSysCacheOid);
UNREACHED(HeapTupleHeaderGetDatum);
UNREACHED(init_MultiFuncCall);
UNREACHED(per_MultiFuncCall);
UNREACHED(pg_do_encoding_conversion);
UNREACHED(pg_popcount64);
UNREACHED(pg_server_to_any);
UNREACHED(tuplestore_begin_heap);
UNREACHED(AllocSetContextCreateInternal);
UNREACHED(MemoryContextAllocZero);
UNREACHED(MemoryContextReset);
UNREACHED(pg_detoast_datum_slice);
UNREACHED(BeginInternalSubTransaction);
UNREACHED(CopyErrorData);
UNREACHED(FlushErrorState);
UNREACHED(GetCurrentStatementStartTimestamp);
UNREACHED(ReleaseCurrentSubTransaction);
UNREACHED(RollbackAndReleaseCurrentSubTransaction);

/* Variables that only unreached functions use. */
void *CurrentResourceOwner;
void *PG_exception_stack;
void *error_context_stack;
