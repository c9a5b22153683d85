/*
 * arguments.h: arguments, results and errors of SQL functions.
 *
 * A function with a context saves its errors there, as errsave() does for input functions
 * on PostgreSQL 16 and later, and returns false; without one it throws them.
 */
#ifndef NEARDUP_CALLS_ARGUMENTS_H
#define NEARDUP_CALLS_ARGUMENTS_H

#include "compat.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/array.h"

#include "text/text.h"

/* ---- Arguments -------------------------------------------------------------- */

extern bool check_threshold(double threshold, Node *context);
extern void check_similarity(double similarity);
extern void check_not_null(FunctionCallInfo fcinfo, int n, const char *name);
extern int32 number_argument(FunctionCallInfo fcinfo, int n, const char *name, int32 most);
extern double share_argument(FunctionCallInfo fcinfo, int n, const char *name);
extern char **names_argument(FunctionCallInfo fcinfo, int n, const char *name, int *count);
extern bool is_constant_argument(const FmgrInfo *function, int n);
extern void check_no_nulls(ArrayType *array, const char *elements);
extern int array_count(ArrayType *array, const char *elements);
extern void hashes_in_batches(const uint64_t *hashes, size_t count, HashSink sink, void *state);
extern void hashes_of_text_array(ArrayType *array, HashSink sink, void *state);
extern void hashes_of_int8_array(ArrayType *array, HashSink sink, void *state);
extern const double *weights_of_array(ArrayType *array, int count);

/* ---- Results ---------------------------------------------------------------- */

extern TupleDesc result_row(FunctionCallInfo fcinfo);
extern void begin_rows(FunctionCallInfo fcinfo);
extern ArrayType *array_header(ArrayType *array, Oid type, size_t size, size_t count);
extern ArrayType *int8_array(const int64 *number, size_t count);

/* ---- Errors ----------------------------------------------------------------- */

extern ErrorData *catch_error(void (*function)(void *state), void *state);

#endif
