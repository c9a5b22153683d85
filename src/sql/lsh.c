/*
 * lsh.c: standard error, bands of symbols, and the S-curve that they give.
 */
#include "sql/signature.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"

/* An error unless 0 <= similarity <= 1; NaN is refused. */
static void
check_similarity(double similarity)
{
	if (!(similarity >= 0 && similarity <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("similarity %g is out of range", similarity),
				 errhint("A similarity is from 0 to 1.")));
}

static void
check_positive(const char *what, int number)
{
	if (number < 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("number of %s must be at least 1, not %d", what, number)));
}

PG_FUNCTION_INFO_V1(neardup_minhash_error);
Datum
neardup_minhash_error(PG_FUNCTION_ARGS)
{
	int k = PG_GETARG_INT32(0);
	int b = PG_GETARG_INT32(1);
	double similarity = PG_GETARG_FLOAT8(2);

	check_minhash_shape(k, b, NULL);
	check_similarity(similarity);
	PG_RETURN_FLOAT8(minhash_standard_error(k, b, similarity));
}

/* Of minhash and simhash. */
PG_FUNCTION_INFO_V1(neardup_signature_bands);
Datum
neardup_signature_bands(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);
	int rows = PG_GETARG_INT32(1);
	int k = signature.header.k;
	uint64 *keys;
	Datum *element;
	int bands;
	int i;

	if (rows < 1 || rows > k)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("cannot cut %s into bands of %d rows", signature_shape(&signature.header),
						rows),
				 errhint("A band has from 1 to %d rows.", k)));
	if (signature_is_empty(&signature))
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT8OID));

	keys = palloc(k / rows * sizeof(uint64));
	element = palloc(k / rows * sizeof(Datum));
	bands = minhash_band_keys(signature.symbols, k, signature_bits(&signature.header), rows, keys);
	for (i = 0; i < bands; i++)
		element[i] = Int64GetDatum((int64) keys[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(element, bands, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}

PG_FUNCTION_INFO_V1(neardup_lsh_probability);
Datum
neardup_lsh_probability(PG_FUNCTION_ARGS)
{
	double similarity = PG_GETARG_FLOAT8(0);
	int bands = PG_GETARG_INT32(1);
	int rows = PG_GETARG_INT32(2);

	check_similarity(similarity);
	check_positive("bands", bands);
	check_positive("rows", rows);
	PG_RETURN_FLOAT8(lsh_collision_probability(similarity, bands, rows));
}

static TupleDesc
result_row(FunctionCallInfo fcinfo)
{
	TupleDesc row;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(row);
}

/* The curve has a point at every twentieth. */
#define CURVE_STEPS 20

PG_FUNCTION_INFO_V1(neardup_lsh_curve);
Datum
neardup_lsh_curve(PG_FUNCTION_ARGS)
{
	int bands = PG_GETARG_INT32(0);
	int rows = PG_GETARG_INT32(1);
	FuncCallContext *call;
	Datum value[2];
	bool null[2] = {false, false};
	double similarity;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext before;

		check_positive("bands", bands);
		check_positive("rows", rows);
		call = SRF_FIRSTCALL_INIT();
		before = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		call->tuple_desc = result_row(fcinfo);
		MemoryContextSwitchTo(before);
	}
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr > CURVE_STEPS)
		SRF_RETURN_DONE(call);

	similarity = (double) call->call_cntr / CURVE_STEPS;
	value[0] = Float8GetDatum(similarity);
	value[1] = Float8GetDatum(lsh_collision_probability(similarity, bands, rows));
	SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, value, null)));
}

PG_FUNCTION_INFO_V1(neardup_lsh_parameters);
Datum
neardup_lsh_parameters(PG_FUNCTION_ARGS)
{
	double threshold = PG_GETARG_FLOAT8(0);
	int k = PG_GETARG_INT32(1);
	double recall = PG_GETARG_FLOAT8(2);
	int bands;
	int rows;
	Datum value[3];
	bool null[3] = {false, false, false};

	check_threshold(threshold, NULL);
	if (k < 1 || k > MINHASH_K_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("number of symbols %d is out of range", k),
				 errhint("It is from 1 to %d.", MINHASH_K_MAX)));
	if (!(recall > 0 && recall < 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("recall %g is out of range", recall),
				 errhint("A recall is above 0 and below 1; bands never promise to find everything.")));
	if (!lsh_choose(threshold, k, recall, &bands, &rows))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("no bands of %d symbols reach recall %g at similarity %g", k, recall,
						threshold),
				 errhint("Use more symbols, a higher threshold or a lower recall.")));

	value[0] = Int32GetDatum(bands);
	value[1] = Int32GetDatum(rows);
	value[2] = Float8GetDatum(lsh_collision_probability(threshold, bands, rows));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_row(fcinfo), value, null)));
}
