/*
 * hashes.c: the distance of hashes made elsewhere, in columns of bigint and bit(n).
 */
#include "types/signature_type.h"

/* Returns the distance of a bigint and a simhash. */
static int
bigint_distance(Datum number, Datum simhash)
{
	uint64 bits;
	Signature x = signature_of_int8(number, &bits);
	Signature y = signature_of_datum(simhash);

	return signature_distance(&x, &y);
}

/* bigint_hamming_distance(bigint, simhash) returns int */
PG_FUNCTION_INFO_V1(neardup_bigint_hamming_distance_bigint);
Datum
neardup_bigint_hamming_distance_bigint(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(bigint_distance(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}

/* Returns the distance of a bit(n) and a minhash. */
static int
bit_distance(Datum bits, Datum minhash)
{
	Signature x = signature_of_bit(bits);
	Signature y = signature_of_datum(minhash);

	return signature_distance(&x, &y);
}

/* bit_hamming_distance(bit, minhash) returns int */
PG_FUNCTION_INFO_V1(neardup_bit_hamming_distance_bit);
Datum
neardup_bit_hamming_distance_bit(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(bit_distance(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}
