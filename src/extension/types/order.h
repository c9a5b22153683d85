/*
 * order.h: the SQL functions that compare and hash the values of a type.
 */
#ifndef NEARDUP_TYPES_ORDER_H
#define NEARDUP_TYPES_ORDER_H

#include "common/hashfn.h"
#include "fmgr.h"

/*
 * The SQL functions PREFIX_eq to PREFIX_cmp of a type.  detoast is a function of a datum,
 * and compare a three-way comparison of what it returns.
 */
#define COMPARISON_FUNCTIONS(prefix, detoast, compare) \
	static int prefix##_compare(FunctionCallInfo fcinfo) \
	{ \
		void *x = detoast(PG_GETARG_DATUM(0)); \
		void *y = detoast(PG_GETARG_DATUM(1)); \
		int order = compare(x, y); \
		PG_FREE_IF_COPY(x, 0); \
		PG_FREE_IF_COPY(y, 1); \
		return order; \
	} \
	COMPARISON_FUNCTION(prefix##_lt, PG_RETURN_BOOL(prefix##_compare(fcinfo) < 0)); \
	COMPARISON_FUNCTION(prefix##_le, PG_RETURN_BOOL(prefix##_compare(fcinfo) <= 0)); \
	COMPARISON_FUNCTION(prefix##_gt, PG_RETURN_BOOL(prefix##_compare(fcinfo) > 0)); \
	COMPARISON_FUNCTION(prefix##_ge, PG_RETURN_BOOL(prefix##_compare(fcinfo) >= 0)); \
	COMPARISON_FUNCTION(prefix##_cmp, PG_RETURN_INT32(prefix##_compare(fcinfo))); \
	COMPARISON_FUNCTION(prefix##_eq, PG_RETURN_BOOL(prefix##_compare(fcinfo) == 0)); \
	COMPARISON_FUNCTION(prefix##_ne, PG_RETURN_BOOL(prefix##_compare(fcinfo) != 0))

#define COMPARISON_FUNCTION(name, return_it) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) \
	{ \
		return_it; \
	} \
	/* keep compiler quiet - no extra ; */ \
	extern int no_such_variable

/*
 * The SQL functions PREFIX_hash and PREFIX_hash_extended of a type whose equal values are equal
 * bytes.
 */
#define HASH_FUNCTIONS(prefix, detoast) \
	PG_FUNCTION_INFO_V1(prefix##_hash); \
	Datum prefix##_hash(PG_FUNCTION_ARGS) \
	{ \
		void *value = detoast(PG_GETARG_DATUM(0)); \
		uint32 hash = hash_bytes((unsigned char *) VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)); \
		PG_FREE_IF_COPY(value, 0); \
		PG_RETURN_INT32((int32) hash); \
	} \
	PG_FUNCTION_INFO_V1(prefix##_hash_extended); \
	Datum prefix##_hash_extended(PG_FUNCTION_ARGS) \
	{ \
		void *value = detoast(PG_GETARG_DATUM(0)); \
		uint64 hash = hash_bytes_extended((unsigned char *) VARDATA_ANY(value), \
										  VARSIZE_ANY_EXHDR(value), PG_GETARG_INT64(1)); \
		PG_FREE_IF_COPY(value, 0); \
		PG_RETURN_INT64((int64) hash); \
	} \
	/* keep compiler quiet - no extra ; */ \
	extern int no_such_variable

#endif
