/*
 * lsh.c: SQL functions of bands of symbols and of their S-curve.
 */
#include "types/signature_type.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"

/* minhash_probability(k int, b int, similarity float8, threshold float8) returns float8 */
PG_FUNCTION_INFO_V1(neardup_minhash_probability);
Datum
neardup_minhash_probability(PG_FUNCTION_ARGS)
{
	int k = PG_GETARG_INT32(0);
	int b = PG_GETARG_INT32(1);
	double similarity = PG_GETARG_FLOAT8(2);
	double threshold = PG_GETARG_FLOAT8(3);

	check_minhash_shape(k, b, NULL);
	check_similarity(similarity);
	check_threshold(threshold, NULL);
	PG_RETURN_FLOAT8(chance_within(k, b, similarity, minhash_radius(k, b, threshold)));
}

/* minhash_bands(minhash, rows int) returns bigint[]; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_bands);
Datum
neardup_signature_bands(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);
	int rows = PG_GETARG_INT32(1);
	int k = signature.header.k;
	uint64 *keys;
	int bands;

	if (rows < 1 || rows > k)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("cannot cut %s into bands of %d rows", signature_shape(&signature.header),
						rows),
				 errdetail("A band has from 1 to %d rows.", k)));
	if (signature_is_empty(&signature))
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT8OID));

	keys = palloc(k / rows * sizeof(uint64));
	bands = minhash_band_keys(signature.symbols, k, signature_bits(&signature.header), rows, keys);
	PG_RETURN_ARRAYTYPE_P(int8_array((int64 *) keys, bands));
}

/* lsh_parameters(threshold float8, k int, recall float8, b int) returns (bands int, rows int, probability float8) */
PG_FUNCTION_INFO_V1(neardup_lsh_parameters);
Datum
neardup_lsh_parameters(PG_FUNCTION_ARGS)
{
	double threshold = PG_GETARG_FLOAT8(0);
	int k = number_argument(fcinfo, 1, "number of symbols", MINHASH_K_MAX);
	double recall = PG_GETARG_FLOAT8(2);
	int b = PG_GETARG_INT32(3);
	double agree;
	int bands;
	int rows;
	Datum value[3];
	bool null[3] = {false, false, false};

	check_threshold(threshold, NULL);
	if (!(recall > 0 && recall < 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("recall %g is out of range", recall),
				 errdetail("A recall is greater than 0 and less than 1.")));
	check_minhash_shape(k, b, NULL);
	agree = symbol_agreement(b, threshold);
	if (!lsh_choose(agree, k, recall, &bands, &rows))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("no bands of %d symbols reach recall %g at similarity %g", k, recall,
						threshold),
				 errhint("Use more symbols, a higher threshold or a lower recall.")));

	value[0] = Int32GetDatum(bands);
	value[1] = Int32GetDatum(rows);
	value[2] = Float8GetDatum(lsh_collision_probability(agree, bands, rows));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_row(fcinfo), value, null)));
}
