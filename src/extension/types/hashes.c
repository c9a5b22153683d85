/*
 * hashes.c: hashes made elsewhere, in columns of bigint and bit(n): as signatures, and their
 * distances.
 */
#include "types/hashes.h"

#include "port/pg_bswap.h"

/* ---- As signatures ------------------------------------------------------ */

/*
 * Reads a bit(n) as the signature that its cast to minhash makes, without making that.
 * The symbols are in a copy only where the datum was toasted.  Returns false if no
 * signature has that many bits.
 */
bool
signature_read_bit(Datum datum, Signature *signature)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);
	int32 length;

	memcpy(&length, VARDATA_ANY(value), sizeof(length));
	if (!minhash_shape_is_valid(length, 1))
		return false;
	signature->header =
		signature_header(SIGNATURE_MINHASH, length, 1, SCHEME_ID(SCHEME_FOREIGN, 0));
	signature->cardinality = 0;
	signature->symbols = (uint8 *) VARDATA_ANY(value) + sizeof(length);
	return true;
}

/*
 * Reads a bit(n) as signature_read_bit() does; throws an error if no signature has that many
 * bits.
 */
Signature
signature_of_bit(Datum datum)
{
	Signature signature;

	if (!signature_read_bit(datum, &signature))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot use bit(%d) as a signature", VARBITLEN(DatumGetVarBitP(datum))),
				 errdetail("A signature has from %d to %d bits.", MINHASH_K_MIN, MINHASH_K_MAX)));
	return signature;
}

/* Returns a bigint as a simhash.  The symbols are in *bits, which it sets. */
Signature
signature_of_int8(Datum datum, uint64 *bits)
{
	Signature signature = {0};

	*bits = pg_hton64((uint64) DatumGetInt64(datum));
	signature.header = signature_header(SIGNATURE_SIMHASH, 64, 1, SCHEME_ID(SCHEME_FOREIGN, 0));
	signature.symbols = (uint8 *) bits;
	return signature;
}

/* ---- Distances ---------------------------------------------------------- */

/* bigint_hamming_distance(bigint, simhash) returns int */
PG_FUNCTION_INFO_V1(neardup_bigint_hamming_distance_bigint);
Datum
neardup_bigint_hamming_distance_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature x = signature_of_int8(PG_GETARG_DATUM(0), &bits);
	Signature y = PG_GETARG_SIGNATURE(1);

	PG_RETURN_INT32(signature_distance(&x, &y));
}

/* bit_hamming_distance(bit, minhash) returns int */
PG_FUNCTION_INFO_V1(neardup_bit_hamming_distance_bit);
Datum
neardup_bit_hamming_distance_bit(PG_FUNCTION_ARGS)
{
	Signature x = signature_of_bit(PG_GETARG_DATUM(0));
	Signature y = PG_GETARG_SIGNATURE(1);

	PG_RETURN_INT32(signature_distance(&x, &y));
}

/* is_within(bit, bit, distance int) returns boolean */
PG_FUNCTION_INFO_V1(neardup_is_within_bit);
Datum
neardup_is_within_bit(PG_FUNCTION_ARGS)
{
	Signature x = signature_of_bit(PG_GETARG_DATUM(0));
	Signature y = signature_of_bit(PG_GETARG_DATUM(1));
	int distance = PG_GETARG_INT32(2);

	if (x.header.k != y.header.k)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot compare bit(%d) with bit(%d)", x.header.k, y.header.k),
				 errhint("Use values with the same number of bits.")));
	check_distance(&x.header, distance, NULL);
	PG_RETURN_BOOL(signature_within(&x, &y, distance));
}

/* is_within(bigint, bigint, distance int) returns boolean */
PG_FUNCTION_INFO_V1(neardup_is_within_bigint);
Datum
neardup_is_within_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature x = signature_of_int8(PG_GETARG_DATUM(0), &bits);
	int distance = PG_GETARG_INT32(2);

	check_distance(&x.header, distance, NULL);
	PG_RETURN_BOOL(pg_popcount64(PG_GETARG_INT64(0) ^ PG_GETARG_INT64(1)) <= distance);
}
