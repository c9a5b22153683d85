/*
 * opclass.c: what the operator classes give the index: the signature that a
 * column's value is.  In SQL (value, internal Signature *) returns void.
 */
#include "sql/ball.h"

/* Of minhash and simhash. */
PG_FUNCTION_INFO_V1(neardup_signature_signature);
Datum
neardup_signature_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) = PG_GETARG_SIGNATURE(0);
	PG_RETURN_VOID();
}

/* Of balls: a constraint compares centres, then the operator the radii. */
PG_FUNCTION_INFO_V1(neardup_ball_signature);
Datum
neardup_ball_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) = PG_GETARG_BALL(0).centre;
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(neardup_bit_signature);
Datum
neardup_bit_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) = signature_of_bit(PG_GETARG_DATUM(0));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(neardup_bigint_signature);
Datum
neardup_bigint_signature(PG_FUNCTION_ARGS)
{
	*(Signature *) PG_GETARG_POINTER(1) =
		signature_of_int8(PG_GETARG_DATUM(0), palloc(sizeof(uint64)));
	PG_RETURN_VOID();
}
