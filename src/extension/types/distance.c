/*
 * distance.c: SQL functions of the similarity and the distance of two signatures.
 */
#include "types/signature_type.h"

#include <math.h>

/* Returns an estimate from 0 to 1. */
static double
similarity_of(const Signature *x, const Signature *y)
{
	int d = signature_distance(x, y);

	if (signature_is_empty(x) || signature_is_empty(y))
		return 0;
	return signature_similarity(&x->header, d);
}

/* similarity(minhash, minhash) returns float8; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_similarity);
Datum
neardup_similarity(PG_FUNCTION_ARGS)
{
	Signature x = PG_GETARG_SIGNATURE(0);
	Signature y = PG_GETARG_SIGNATURE(1);

	PG_RETURN_FLOAT8(similarity_of(&x, &y));
}

/* minhash_distance(minhash, minhash) returns float8; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_distance);
Datum
neardup_signature_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(1 - DatumGetFloat8(neardup_similarity(fcinfo)));
}

/* hamming_distance(minhash, minhash) returns int; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_hamming_distance);
Datum
neardup_hamming_distance(PG_FUNCTION_ARGS)
{
	Signature x = PG_GETARG_SIGNATURE(0);
	Signature y = PG_GETARG_SIGNATURE(1);

	PG_RETURN_INT32(signature_distance(&x, &y));
}

/* is_comparable(minhash, minhash) returns boolean; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_is_comparable);
Datum
neardup_is_comparable(PG_FUNCTION_ARGS)
{
	Signature x = PG_GETARG_SIGNATURE(0);
	Signature y = PG_GETARG_SIGNATURE(1);

	PG_RETURN_BOOL(signature_comparable(&x.header, &y.header));
}

/* is_similar(minhash, minhash, threshold float8) returns boolean; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_is_similar);
Datum
neardup_is_similar(PG_FUNCTION_ARGS)
{
	Signature x = PG_GETARG_SIGNATURE(0);
	Signature y = PG_GETARG_SIGNATURE(1);
	double threshold = PG_GETARG_FLOAT8(2);

	check_threshold(threshold, NULL);
	PG_RETURN_BOOL(signature_within(&x, &y, signature_radius(&x.header, threshold)));
}

/* is_within(minhash, minhash, distance int) returns boolean; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_is_within);
Datum
neardup_is_within(PG_FUNCTION_ARGS)
{
	Signature x = PG_GETARG_SIGNATURE(0);
	Signature y = PG_GETARG_SIGNATURE(1);
	int distance = PG_GETARG_INT32(2);

	check_distance(&x.header, distance, NULL);
	PG_RETURN_BOOL(signature_within(&x, &y, distance));
}

/* containment(minhash, minhash) returns float8 */
PG_FUNCTION_INFO_V1(neardup_containment_minhash);
Datum
neardup_containment_minhash(PG_FUNCTION_ARGS)
{
	Signature x = PG_GETARG_SIGNATURE(0);
	Signature y = PG_GETARG_SIGNATURE(1);
	double similarity = similarity_of(&x, &y);

	check_counted(&x);
	check_counted(&y);
	if (signature_is_empty(&x) || signature_is_empty(&y))
		PG_RETURN_FLOAT8(0);
	PG_RETURN_FLOAT8(containment_of_resemblance(similarity, x.cardinality, y.cardinality));
}
