/*
 * hashes.c: hashes made elsewhere, in columns of bigint and bit(n): ways in, and their
 * distance.
 */
#include "sql/signature.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* ---- Ways in ------------------------------------------------------------ */

#define HEX_DIGITS_OF_BIGINT 16

/* How much of an invalid value an error shows. */
#define SHOWN_BYTES 80

/* Returns the digits of a hexadecimal number, without a prefix 0x. */
static char *
hex_digits(Datum datum)
{
	char *input = TextDatumGetCString(datum);
	char *digits = input[0] == '0' && (input[1] == 'x' || input[1] == 'X') ? input + 2 : input;

	if (*digits == '\0' || digits[strspn(digits, "0123456789abcdefABCDEF")] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid hexadecimal hash: \"%.*s\"",
						pg_mbcliplen(input, strlen(input), SHOWN_BYTES), input),
				 errdetail("Only hexadecimal digits are allowed, after an optional 0x.")));
	return digits;
}

/* hex_to_bigint(text) returns bigint */
PG_FUNCTION_INFO_V1(neardup_hex_to_bigint);
Datum
neardup_hex_to_bigint(PG_FUNCTION_ARGS)
{
	const char *digits = hex_digits(PG_GETARG_DATUM(0));

	if (strlen(digits) > HEX_DIGITS_OF_BIGINT)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("hash of %zu hexadecimal digits is too long for type bigint",
						strlen(digits)),
				 errdetail("A bigint has room for %d.", HEX_DIGITS_OF_BIGINT),
				 errhint("Use hex_to_bit() and a column of type bit(%zu).", 4 * strlen(digits))));
	PG_RETURN_INT64((int64) strtoull(digits, NULL, 16));
}

/* hex_to_bit(text) returns bit */
PG_FUNCTION_INFO_V1(neardup_hex_to_bit);
Datum
neardup_hex_to_bit(PG_FUNCTION_ARGS)
{
	char *input = psprintf("x%s", hex_digits(PG_GETARG_DATUM(0)));

	PG_RETURN_DATUM(DirectFunctionCall3(bit_in, CStringGetDatum(input),
										ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* unsigned_to_bigint(numeric) returns bigint */
PG_FUNCTION_INFO_V1(neardup_unsigned_to_bigint);
Datum
neardup_unsigned_to_bigint(PG_FUNCTION_ARGS)
{
	Datum number = PG_GETARG_DATUM(0);
	Datum whole = DirectFunctionCall2(numeric_trunc, number, Int32GetDatum(0));
	char *digits = DatumGetCString(DirectFunctionCall1(numeric_out, whole));
	uint64 bits;

	errno = 0;
	bits = strtoull(digits, NULL, 10);
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, number, whole)) ||
		digits[strspn(digits, "0123456789")] != '\0' || errno != 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%.*s is not an unsigned number of 64 bits", SHOWN_BYTES,
						DatumGetCString(DirectFunctionCall1(numeric_out, number))),
				 errdetail("Such a number is a whole number from 0 to " UINT64_FORMAT ".",
						   PG_UINT64_MAX),
				 *digits == '-' ? errhint("A negative number is that of a bigint already.") : 0));
	PG_RETURN_INT64((int64) bits);
}

/* ---- A value to order by ------------------------------------------------ */

/* Returns a value of type minhash or simhash. */
static Datum
value_of_signature(const Signature *signature)
{
	uint8 *symbols;
	struct varlena *value = signature_new(&signature->header, signature->cardinality, 0, &symbols);

	memcpy(symbols, signature->symbols, signature_symbol_bytes(&signature->header));
	return PointerGetDatum(value);
}

/* as_hash(bigint) returns simhash */
PG_FUNCTION_INFO_V1(neardup_as_hash_bigint);
Datum
neardup_as_hash_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature signature = signature_of_int8(PG_GETARG_DATUM(0), &bits);

	return value_of_signature(&signature);
}

/* as_hash(bit) returns minhash */
PG_FUNCTION_INFO_V1(neardup_as_hash_bit);
Datum
neardup_as_hash_bit(PG_FUNCTION_ARGS)
{
	Signature signature = signature_of_bit(PG_GETARG_DATUM(0));

	return value_of_signature(&signature);
}

/* ---- Distance ----------------------------------------------------------- */

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

/* bigint_hamming_distance(simhash, bigint) returns int */
PG_FUNCTION_INFO_V1(neardup_bigint_hamming_distance_simhash);
Datum
neardup_bigint_hamming_distance_simhash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(bigint_distance(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)));
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

/* bit_hamming_distance(minhash, bit) returns int */
PG_FUNCTION_INFO_V1(neardup_bit_hamming_distance_minhash);
Datum
neardup_bit_hamming_distance_minhash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(bit_distance(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)));
}
