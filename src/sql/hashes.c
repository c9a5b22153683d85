/*
 * hashes.c: bit(n) and bigint as signatures made elsewhere.
 *
 * A bit(n) compares as its cast to minhash does, a bigint as its cast to
 * simhash, without making the value.
 */
#include "sql/ball.h"

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#define BIGINT_BITS 64

/* ---- Values ------------------------------------------------- */

Signature
signature_of_bit(Datum datum)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);
	Signature signature = {0};
	int32 length;

	memcpy(&length, VARDATA_ANY(value), sizeof(length));
	if (!minhash_shape_is_valid(length, 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot take a bit(%d) for a signature", length),
				 errhint("A signature made elsewhere has from %d to %d bits.", MINHASH_K_MIN,
						 MINHASH_K_MAX)));
	signature.header = signature_header(SIGNATURE_MINHASH, length, 1, SCHEME_ID(SCHEME_FOREIGN, 0));
	signature.symbols = (uint8 *) VARDATA_ANY(value) + sizeof(length);
	return signature;
}

Signature
signature_of_int8(Datum datum, uint64 *bits)
{
	Signature signature = {0};

	*bits = pg_hton64((uint64) DatumGetInt64(datum));
	signature.header =
		signature_header(SIGNATURE_SIMHASH, BIGINT_BITS, 1, SCHEME_ID(SCHEME_FOREIGN, 0));
	signature.symbols = (uint8 *) bits;
	return signature;
}

/* ---- Distance ----------------------------------------------------------- */

PG_FUNCTION_INFO_V1(neardup_hamming_within_bit);
Datum
neardup_hamming_within_bit(PG_FUNCTION_ARGS)
{
	Signature x = signature_of_bit(PG_GETARG_DATUM(0));
	Signature y = signature_of_bit(PG_GETARG_DATUM(1));
	int distance = PG_GETARG_INT32(2);

	if (x.header.k != y.header.k)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot compare bit(%d) with bit(%d)", x.header.k, y.header.k),
				 errhint("Make both values anew with the same number of bits.")));
	check_distance(&x.header, distance, NULL);
	PG_RETURN_BOOL(signature_within(&x, &y, distance));
}

PG_FUNCTION_INFO_V1(neardup_hamming_within_bigint);
Datum
neardup_hamming_within_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature x = signature_of_int8(PG_GETARG_DATUM(0), &bits);
	int distance = PG_GETARG_INT32(2);

	check_distance(&x.header, distance, NULL);
	PG_RETURN_BOOL(pg_popcount64(PG_GETARG_INT64(0) ^ PG_GETARG_INT64(1)) <= distance);
}

/* ---- Balls -------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(neardup_hamming_ball_bit);
Datum
neardup_hamming_ball_bit(PG_FUNCTION_ARGS)
{
	Signature centre = signature_of_bit(PG_GETARG_DATUM(0));

	PG_RETURN_POINTER(ball_around(&centre, 0, PG_GETARG_INT32(1)));
}

PG_FUNCTION_INFO_V1(neardup_hamming_ball_bigint);
Datum
neardup_hamming_ball_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature centre = signature_of_int8(PG_GETARG_DATUM(0), &bits);

	PG_RETURN_POINTER(ball_around(&centre, 0, PG_GETARG_INT32(1)));
}

static bool
ball_holds(Datum datum, const Signature *signature)
{
	Ball ball = ball_of_datum(datum);

	return signature_within(signature, &ball.centre, ball.header.radius);
}

PG_FUNCTION_INFO_V1(neardup_bit_in_ball);
Datum
neardup_bit_in_ball(PG_FUNCTION_ARGS)
{
	Signature signature = signature_of_bit(PG_GETARG_DATUM(0));

	PG_RETURN_BOOL(ball_holds(PG_GETARG_DATUM(1), &signature));
}

PG_FUNCTION_INFO_V1(neardup_ball_contains_bit);
Datum
neardup_ball_contains_bit(PG_FUNCTION_ARGS)
{
	Signature signature = signature_of_bit(PG_GETARG_DATUM(1));

	PG_RETURN_BOOL(ball_holds(PG_GETARG_DATUM(0), &signature));
}

PG_FUNCTION_INFO_V1(neardup_bigint_in_ball);
Datum
neardup_bigint_in_ball(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature signature = signature_of_int8(PG_GETARG_DATUM(0), &bits);

	PG_RETURN_BOOL(ball_holds(PG_GETARG_DATUM(1), &signature));
}

PG_FUNCTION_INFO_V1(neardup_ball_contains_bigint);
Datum
neardup_ball_contains_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature signature = signature_of_int8(PG_GETARG_DATUM(1), &bits);

	PG_RETURN_BOOL(ball_holds(PG_GETARG_DATUM(0), &signature));
}
