/*
 * unreached.c: functions of the server that the files of the types name, but
 * that no function called by fuzz_values.c reaches.
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
UNREACHED(HeapTupleHeaderGetDatum);
UNREACHED(add_size);
UNREACHED(end_MultiFuncCall);
UNREACHED(get_call_result_type);
UNREACHED(heap_form_tuple);
UNREACHED(init_MultiFuncCall);
UNREACHED(per_MultiFuncCall);
UNREACHED(pg_do_encoding_conversion);
UNREACHED(pg_server_to_any);
UNREACHED(shm_toc_allocate);
UNREACHED(shm_toc_insert);
UNREACHED(spot_words_of_arguments);
UNREACHED(tuplestore_begin_heap);
