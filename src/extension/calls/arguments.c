/*
 * arguments.c: arguments, results and errors of SQL functions.
 */
#include "calls/arguments.h"

#include <math.h>

#include "access/tupmacs.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/tuplestore.h"

#include "calls/texts.h"

/* How many hashes a sink is given at once. */
#define HASH_BATCH 256

/* ---- Arguments -------------------------------------------------------------- */

/* Returns false after an error unless 0 < threshold <= 1. */
bool
check_threshold(double threshold, Node *context)
{
	/* Written so that NaN is refused. */
	if (!(threshold > 0 && threshold <= 1))
		ereturn(context, false,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("threshold %s is out of range", float8out_internal(threshold)),
				 errdetail("A threshold is a similarity greater than 0 and at most 1."),
				 threshold >= 5 && threshold <= 100 ?
					 errhint("%g %% is written %g.", threshold, threshold / 100) :
					 0));
	return true;
}

/* Throws an error unless 0 <= similarity <= 1; NaN is an error too. */
void
check_similarity(double similarity)
{
	if (!(similarity >= 0 && similarity <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("similarity %g is out of range", similarity),
				 errdetail("A similarity is from 0 to 1.")));
}

/* Throws an error, which calls argument n by its name, if it is NULL. */
void
check_not_null(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"%s\" must not be null", name)));
}

/* Returns the elements of argument n, of type name[] and not NULL, and sets *count. */
char **
names_argument(FunctionCallInfo fcinfo, int n, const char *name, int *count)
{
	Datum *element;
	bool *nulls;
	char **names;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &element, &nulls, count);
	names = palloc(Max(*count, 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"%s\" must not contain NULL", name)));
		names[i] = pstrdup(NameStr(*DatumGetName(element[i])));
	}
	return names;
}

/* Returns argument n; throws an error, which calls it by its name, unless it is from 1 to most. */
int32
number_argument(FunctionCallInfo fcinfo, int n, const char *name, int32 most)
{
	int32 number = PG_GETARG_INT32(n);

	if (number < 1 || number > most)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s must be from 1 to %d, not %d", name, most, number)));
	return number;
}

/* Returns argument n; throws an error, which calls it by its name, unless 0 < share <= 1. */
double
share_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	double share = PG_GETARG_FLOAT8(n);

	/* NaN fails this comparison too. */
	if (!(share > 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"%s\" %s is out of range", name, float8out_internal(share)),
				 errdetail("It must be above 0 and at most 1.")));
	return share;
}

/* Returns whether argument n is the same in all calls from this call site. */
bool
is_constant_argument(const FmgrInfo *function, int n)
{
	List *arguments;

	if (!function->fn_expr || !IsA(function->fn_expr, FuncExpr))
		return false;
	arguments = ((FuncExpr *) function->fn_expr)->args;
	return list_length(arguments) > n && IsA(list_nth(arguments, n), Const);
}

/* Throws an error, which calls an array by its elements, if one is NULL. */
void
check_no_nulls(ArrayType *array, const char *elements)
{
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of %s must not contain nulls", elements),
				 errhint("Remove them with array_remove(..., NULL).")));
}

/*
 * Returns the number of elements; throws an error if one is NULL, or for more than one
 * dimension.
 */
int
array_count(ArrayType *array, const char *elements)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of %s must have one dimension, not %d", elements, ARR_NDIM(array)),
				 errhint("Flatten it with ARRAY(SELECT unnest(...)).")));
	check_no_nulls(array, elements);
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

/* Gives many hashes to sink in batches, with checks for interrupts in between. */
void
hashes_in_batches(const uint64_t *hashes, size_t count, HashSink sink, void *state)
{
	size_t done;

	for (done = 0; done < count; done += HASH_BATCH)
	{
		host_check_interrupts();
		sink(state, hashes + done, Min(HASH_BATCH, count - done));
	}
}

/* Gives the elements of a text[], hashed by shingle_of_token, to sink, in order and in batches. */
void
hashes_of_text_array(ArrayType *array, HashSink sink, void *state)
{
	int count = array_count(array, "elements");
	const char *element = ARR_DATA_PTR(array);
	uint64_t hash[HASH_BATCH];
	int filled = 0;
	int i;

	for (i = 0; i < count; i++)
	{
		Utf8Text utf8 = utf8_of_datum(PointerGetDatum(element));

		hash[filled++] = shingle_of_token(utf8.bytes, utf8.length);
		utf8_free(&utf8);
		element = att_addlength_pointer(element, -1, element);
		element = (const char *) att_align_nominal(element, TYPALIGN_INT);
		if (filled == HASH_BATCH || i == count - 1)
		{
			host_check_interrupts();
			sink(state, hash, filled);
			filled = 0;
		}
	}
}

/* Gives the elements of a bigint[] to sink, in order and in batches. */
void
hashes_of_int8_array(ArrayType *array, HashSink sink, void *state)
{
	int count = array_count(array, "elements");

	hashes_in_batches((const uint64_t *) ARR_DATA_PTR(array), count, sink, state);
}

/* Returns the finite weights of a float8[], one for each of count tokens. */
const double *
weights_of_array(ArrayType *array, int count)
{
	const double *weight = (const double *) ARR_DATA_PTR(array);
	int weights = array_count(array, "weights");
	int i;

	if (weights != count)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("there must be one weight for each token"),
				 errdetail("The number of tokens is %d, and that of weights is %d.", count,
						   weights)));
	for (i = 0; i < count; i++)
		if (!isfinite(weight[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("weight %g is not a finite number", weight[i])));
	return weight;
}

/* ---- Results ---------------------------------------------------------------- */

/* Returns the descriptor of the row or rows that a function returns. */
TupleDesc
result_row(FunctionCallInfo fcinfo)
{
	TupleDesc row;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(row);
}

/* Gives a set-returning function an empty tuplestore for its rows. */
void
begin_rows(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old_context;
	TupleDesc row_type;

	if (!result || !IsA(result, ReturnSetInfo) || !(result->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	old_context = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	result->returnMode = SFRM_Materialize;
	result->setResult =
		tuplestore_begin_heap(result->allowedModes & SFRM_Materialize_Random, false, work_mem);
	result->setDesc = CreateTupleDescCopy(row_type);
	MemoryContextSwitchTo(old_context);
}

/*
 * Fills in the header of an array of `size` bytes, which holds count > 0 elements; returns the
 * array.
 */
ArrayType *
array_header(ArrayType *array, Oid type, size_t size, size_t count)
{
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = type;
	ARR_DIMS(array)[0] = (int) count;
	ARR_LBOUND(array)[0] = 1;
	return array;
}

/* Returns a bigint[]. */
ArrayType *
int8_array(const int64 *number, size_t count)
{
	size_t size = ARR_OVERHEAD_NONULLS(1) + count * sizeof(int64);
	ArrayType *array;

	if (count == 0)
		return construct_empty_array(INT8OID);
	array = array_header(palloc(size), INT8OID, size, count);
	memcpy(ARR_DATA_PTR(array), number, count * sizeof(int64));
	return array;
}

/* ---- Errors ----------------------------------------------------------------- */

/*
 * Calls a function in a subtransaction, in the caller's memory context.  Returns the error
 * that it raised, after a rollback of what it did; NULL if it raised none.
 */
ErrorData *
catch_error(void (*function)(void *state), void *state)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		function(state);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/*
 * neardup_require_commit(): raises an error if the procedure that calls this one cannot commit,
 * as within a transaction block.
 */
PG_FUNCTION_INFO_V1(neardup_require_commit);
Datum
neardup_require_commit(PG_FUNCTION_ARGS)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("a procedure that commits cannot run inside a transaction block or a function"),
				 errhint("Call it outside of a transaction, as with autocommit, or write batch => 0 to do all in this one.")));
	PG_RETURN_VOID();
}
