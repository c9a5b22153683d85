/*
 * opclass.c: the support functions of the operator classes.  Each sets the signature of a
 * column's value.  Their SQL type is (value, internal) returns void; the second argument is
 * a Signature *.
 */
#include "types/ball.h"
#include "types/hashes.h"
#include "types/shingles_type.h"

/* minhash_signature(minhash, internal) returns void; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_signature);
Datum
neardup_signature_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) = PG_GETARG_SIGNATURE(0);
	PG_RETURN_VOID();
}

/* Sets the centre of a ball: the index searches centres, and the operator tests radii. */
PG_FUNCTION_INFO_V1(neardup_ball_signature);
Datum
neardup_ball_signature(PG_FUNCTION_ARGS)
{
	Ball ball = PG_GETARG_BALL(0);

	if (ball.set != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot index a ball around a set"),
				 errhint("Index the sets; instead of an exclusion constraint, make a guard of their "
						 "column with neardup_guard().")));
	*(Signature *) PG_GETARG_POINTER(1) = ball.centre;
	PG_RETURN_VOID();
}

/* shingles_signature(shingles, internal) returns void */
PG_FUNCTION_INFO_V1(neardup_shingles_signature);
Datum
neardup_shingles_signature(PG_FUNCTION_ARGS)
{
	Shingles *set = shingles_to_sketch(PG_GETARG_DATUM(0));

	*(Signature *) PG_GETARG_POINTER(1) = signature_of_set(set);
	PG_RETURN_VOID();
}

/* bit_signature(bit, internal) returns void */
PG_FUNCTION_INFO_V1(neardup_bit_signature);
Datum
neardup_bit_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) = signature_of_bit(PG_GETARG_DATUM(0));
	PG_RETURN_VOID();
}

/* bigint_signature(bigint, internal) returns void */
PG_FUNCTION_INFO_V1(neardup_bigint_signature);
Datum
neardup_bigint_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) =
		signature_of_int8(PG_GETARG_DATUM(0), palloc(sizeof(uint64)));
	PG_RETURN_VOID();
}
