/*
 * calls.h: arguments, results and errors of SQL functions.
 *
 * A function with a context saves its errors there, as errsave() does for input functions
 * on PostgreSQL 16 and later, and returns false; without one it throws them.
 */
#ifndef NEARDUP_TYPES_CALLS_H
#define NEARDUP_TYPES_CALLS_H

#include "compat.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/array.h"

#include "text/text.h"

/* ---- Arguments -------------------------------------------------------------- */

/* Returns false after an error unless 0 < threshold <= 1. */
extern bool check_threshold(double threshold, Node *context);

/* Returns argument n; throws an error, which calls it by its name, unless it is from 1 to most. */
extern int32 number_argument(FunctionCallInfo fcinfo, int n, const char *name, int32 most);

/* Returns argument n; throws an error, which calls it by its name, unless 0 < share <= 1. */
extern double share_argument(FunctionCallInfo fcinfo, int n, const char *name);

/* Is argument n the same in all calls from this call site? */
extern bool is_constant_argument(const FmgrInfo *function, int n);

/* Throws an error if an array, called by what it is of, has a NULL element. */
extern void check_no_nulls(ArrayType *array, const char *elements);

/* The same, and for more than one dimension.  Returns the number of elements. */
extern int array_count(ArrayType *array, const char *elements);

/* Gives many hashes to sink in batches, with checks for interrupts in between. */
extern void hashes_in_batches(const uint64_t *hashes, size_t count, HashSink sink, void *state);

/*
 * Give the elements of a text[] (hashed by shingle_of_token) or of a bigint[] to sink,
 * in order and in batches.
 */
extern void hashes_of_text_array(ArrayType *array, HashSink sink, void *state);
extern void hashes_of_int8_array(ArrayType *array, HashSink sink, void *state);

/* Returns the finite weights of a float8[], one for each of count tokens. */
extern const double *weights_of_array(ArrayType *array, int count);

/* ---- Results ---------------------------------------------------------------- */

/* Returns the descriptor of the row or rows that a function returns. */
extern TupleDesc result_row(FunctionCallInfo fcinfo);

/* Gives a set-returning function an empty tuplestore for its rows. */
extern void begin_rows(FunctionCallInfo fcinfo);

/* Fills in the header of an array of `size` bytes, which holds count > 0 elements; returns the array. */
extern ArrayType *array_header(ArrayType *array, Oid type, size_t size, size_t count);

/* Returns an array of count elements, which take so many bytes as they lie in it. */
extern ArrayType *make_array(Oid type, const void *elements, size_t bytes, size_t count);

/* Returns a bigint[]. */
extern ArrayType *int8_array(const int64 *number, size_t count);

/* ---- Errors ----------------------------------------------------------------- */

/*
 * Calls a function in a subtransaction, in the caller's memory context.  Returns the error
 * that it raised, after a rollback of what it did; NULL if it raised none.
 */
extern ErrorData *catch_error(void (*function)(void *state), void *state);

#endif
