/*
 * minhash_type.c: the type minhash: typmod, input, constructors, union, casts.
 */
#include "types/signature_type.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#include "base/defaults.h"
#include "types/lexicon_type.h"

/* ---- Typmod ------------------------------------------------------------- */

/* minhash_typmod_in(cstring[]) returns int */
PG_FUNCTION_INFO_V1(neardup_minhash_typmod_in);
Datum
neardup_minhash_typmod_in(PG_FUNCTION_ARGS)
{
	int count;
	int32 *modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &count);
	int b = count > 1 ? modifiers[1] : DEFAULT_MINHASH_B;

	if (count > 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier for minhash"),
				 errhint("Write minhash(k, b), or minhash(k) for symbols of one bit.")));
	check_minhash_shape(modifiers[0], b, NULL);
	PG_RETURN_INT32(signature_typmod(modifiers[0], b));
}

/* minhash_typmod_out(int) returns cstring */
PG_FUNCTION_INFO_V1(neardup_minhash_typmod_out);
Datum
neardup_minhash_typmod_out(PG_FUNCTION_ARGS)
{
	int32 typmod = PG_GETARG_INT32(0);

	PG_RETURN_CSTRING(psprintf("(%d,%d)", typmod >> 3, 1 << (typmod & SIGNATURE_LOG_B)));
}

/* ---- Text and binary format ---------------------------------------------- */

/* minhash_in(cstring, oid, int) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_in);
Datum
neardup_minhash_in(PG_FUNCTION_ARGS)
{
	return signature_in(fcinfo, SIGNATURE_MINHASH);
}

/* minhash_recv(internal, oid, int) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_recv);
Datum
neardup_minhash_recv(PG_FUNCTION_ARGS)
{
	return signature_recv(fcinfo, SIGNATURE_MINHASH);
}

/* minhash_of_bytea(bytea) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_of_bytea);
Datum
neardup_minhash_of_bytea(PG_FUNCTION_ARGS)
{
	return value_of_bytea(fcinfo, neardup_minhash_recv);
}

/* ---- Constructors ------------------------------------------------------- */

/*
 * Returns the header of a signature of a scheme.  Of four arguments two are the shape; otherwise it is
 * the default.
 */
static SignatureHeader
header_of_arguments(FunctionCallInfo fcinfo, SchemeId scheme)
{
	bool shaped = PG_NARGS() == 4;
	int k = shaped ? PG_GETARG_INT32(1) : DEFAULT_MINHASH_K;
	int b = shaped ? PG_GETARG_INT32(2) : DEFAULT_MINHASH_B;

	check_minhash_shape(k, b, NULL);
	return signature_header(SIGNATURE_MINHASH, k, b, scheme);
}

/* to_minhash(text, k int, b int, scheme text), to_minhash(text, text) return minhash; the last is a scheme */
PG_FUNCTION_INFO_V1(neardup_to_minhash_scheme);
Datum
neardup_to_minhash_scheme(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_argument(fcinfo, PG_NARGS() - 1);
	SignatureMaker maker = {.header = header_of_arguments(fcinfo, scheme), .scheme = scheme};

	PG_RETURN_POINTER(signature_make(&maker, PG_GETARG_DATUM(0)));
}

/* to_minhash(shingles, k int, b int) returns minhash */
PG_FUNCTION_INFO_V1(neardup_to_minhash_shingles);
Datum
neardup_to_minhash_shingles(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_to_sketch(PG_GETARG_DATUM(0));
	int k = PG_GETARG_INT32(1);
	int b = PG_GETARG_INT32(2);
	Bag bag = shingles_bag(shingles);
	Signature signature;
	struct varlena *value;
	uint8 *symbols;
	uint32 *full;
	uint64 count;

	check_minhash_shape(k, b, NULL);
	full = palloc(k * sizeof(uint32));
	count = scheme_is_weighted(shingles->scheme) ?
		minhash_of_copies(&bag, k, full) :
		minhash_of_set((const uint64_t *) bag.element, bag.count, k, full);
	signature.header = signature_header(SIGNATURE_MINHASH, k, b, shingles->scheme);
	value = signature_new(&signature.header, 0, 0, &symbols);
	signature_of_sketch(&signature, full, count, symbols);
	signature_write(VARDATA(value), &signature.header, signature.cardinality);
	pfree(full);
	PG_RETURN_POINTER(value);
}

/* to_minhash(text, lexicon shingle_lexicon), to_minhash(text, k int, b int, lexicon shingle_lexicon) return minhash */
PG_FUNCTION_INFO_V1(neardup_to_minhash_lexicon);
Datum
neardup_to_minhash_lexicon(PG_FUNCTION_ARGS)
{
	const ReadyLexicon *lexicon = text_lexicon_of_argument(fcinfo, PG_NARGS() - 1);
	SignatureMaker maker = {.header = header_of_arguments(fcinfo, lexicon->weighed),
							.scheme = lexicon->scheme,
							.weights = &lexicon->weights};

	PG_RETURN_POINTER(signature_make(&maker, PG_GETARG_DATUM(0)));
}

/* ---- Truncation, union, cardinality ------------------------------------- */

/* minhash_truncate(minhash, b int) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_truncate);
Datum
neardup_minhash_truncate(PG_FUNCTION_ARGS)
{
	Signature from = PG_GETARG_SIGNATURE(0);
	int b_from = signature_bits(&from.header);
	int b = PG_GETARG_INT32(1);
	SignatureHeader header;
	struct varlena *value;
	uint8 *symbols;

	check_minhash_shape(from.header.k, b, NULL);
	if (b > b_from)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot truncate %s to %d bits", signature_shape(&from.header), b),
				 errdetail_plural("Its symbols have %d bit.", "Its symbols have %d bits.", b_from,
								  b_from),
				 errhint("Make the value again with more bits.")));
	if (b == b_from)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	header = signature_header(from.header.flags & ~SIGNATURE_LOG_B, from.header.k, b,
							  from.header.scheme);
	value = signature_new(&header, from.cardinality, 0, &symbols);
	if (!signature_is_empty(&from))
		minhash_truncate(from.symbols, header.k, b_from, b, symbols);
	PG_RETURN_POINTER(value);
}

/* Throws an error unless the symbols have 32 bits. */
static void
check_full_width(const Signature *signature)
{
	if (signature_bits(&signature->header) != 32)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot form a union of %s", signature_shape(&signature->header)),
				 errdetail("Only symbols of 32 bits keep the order that a union needs."),
				 errhint("Make the values with symbols of 32 bits, and truncate their union with minhash_truncate().")));
}

/* Returns the union of two values; if one is empty, that is the other. */
static Datum
union_of(Datum a, Datum b)
{
	Signature x = signature_of_datum(a);
	Signature y = signature_of_datum(b);
	SignatureHeader header = x.header;
	struct varlena *value;
	uint8 *symbols;

	signature_check_pair(&x, &y);
	check_full_width(&x);
	if (signature_is_empty(&x))
		return b;
	if (signature_is_empty(&y))
		return a;
	header.flags &= ~SIGNATURE_COUNTED;
	value = signature_new(&header, 0, 0, &symbols);
	minhash_union(x.symbols, y.symbols, header.k, symbols);
	return PointerGetDatum(value);
}

/* minhash_union(minhash, minhash) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_union);
Datum
neardup_minhash_union(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(union_of(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}

/* minhash_error(k int, b int, similarity float8) returns float8 */
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

/* cardinality(minhash) returns bigint */
PG_FUNCTION_INFO_V1(neardup_cardinality_minhash);
Datum
neardup_cardinality_minhash(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);

	check_counted(&signature);
	PG_RETURN_INT64(signature.cardinality);
}

/* ---- Casts -------------------------------------------------------------- */

/* minhash_of_bit(bit) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_of_bit);
Datum
neardup_minhash_of_bit(PG_FUNCTION_ARGS)
{
	VarBit *bits = PG_GETARG_VARBIT_P(0);

	check_minhash_shape(VARBITLEN(bits), 1, NULL);
	PG_RETURN_POINTER(signature_of_bits(bits, SIGNATURE_MINHASH));
}

/* minhash_of_symbols(bigint[]) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_of_symbols);
Datum
neardup_minhash_of_symbols(PG_FUNCTION_ARGS)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	int k = array_count(array, "symbols");
	const int64 *element = (const int64 *) ARR_DATA_PTR(array);
	SignatureHeader header;
	struct varlena *value;
	uint32 *full;
	uint8 *symbols;
	int i;

	check_minhash_shape(k, 32, NULL);
	full = palloc(k * sizeof(uint32));
	for (i = 0; i < k; i++)
	{
		if (element[i] < 0 || element[i] > PG_UINT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("symbol " INT64_FORMAT " is out of range", element[i]),
					 errdetail("A symbol of 32 bits is from 0 to %u.", PG_UINT32_MAX)));
		full[i] = element[i];
	}
	header = signature_header(SIGNATURE_MINHASH, k, 32, SCHEME_ID(SCHEME_FOREIGN, 0));
	value = signature_new(&header, 0, 0, &symbols);
	minhash_pack(full, k, 32, symbols);
	PG_RETURN_POINTER(value);
}

/* minhash_symbols(minhash) returns bigint[] */
PG_FUNCTION_INFO_V1(neardup_minhash_symbols);
Datum
neardup_minhash_symbols(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);
	int k = signature.header.k;
	int64 *element;
	int i;

	if (signature_bits(&signature.header) != 32)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("cannot cast %s to bigint[]", signature_shape(&signature.header)),
				 errdetail("Only a minhash with symbols of 32 bits can be cast to bigint[].")));
	check_castable(&signature, "bigint[]");
	element = palloc(k * sizeof(int64));
	for (i = 0; i < k; i++)
		element[i] = symbol_at(signature.symbols, 32, i);
	PG_RETURN_ARRAYTYPE_P(int8_array(element, k));
}
