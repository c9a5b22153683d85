/*
 * simhash.c: the type simhash: typmod, constructors, casts.
 */
#include "sql/signature.h"

#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#include "sql/minus.h"

/* ---- Typmod ------------------------------------------------------------- */

/* simhash_typmod_in(cstring[]) returns int */
PG_FUNCTION_INFO_V1(neardup_simhash_typmod_in);
Datum
neardup_simhash_typmod_in(PG_FUNCTION_ARGS)
{
	int count;
	int32 *modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &count);

	if (count > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier for simhash"), errhint("Write simhash(f).")));
	check_simhash_shape(modifiers[0], NULL);
	PG_RETURN_INT32(signature_typmod(modifiers[0], 1));
}

/* simhash_typmod_out(int) returns cstring */
PG_FUNCTION_INFO_V1(neardup_simhash_typmod_out);
Datum
neardup_simhash_typmod_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(psprintf("(%d)", PG_GETARG_INT32(0) >> 3));
}

/* ---- Constructors ------------------------------------------------------- */

/* Returns a new fingerprint, whose symbols the caller fills in. */
static struct varlena *
simhash_new(int f, SchemeId scheme, bool empty, uint8 **symbols)
{
	SignatureHeader header =
		signature_header(SIGNATURE_SIMHASH | (empty ? SIGNATURE_EMPTY : 0), f, 1, scheme);

	return signature_new(&header, 0, 0, symbols);
}

/* Returns the fingerprint of what the builder has counted. */
static struct varlena *
simhash_of_builder(SimhashBuilder *builder, int f, SchemeId scheme)
{
	uint8 *symbols;
	struct varlena *value = simhash_new(f, scheme, builder->elements == 0, &symbols);

	simhash_finish(builder, symbols);
	return value;
}

/* Returns the signature of a text, without the shingles of minus unless it is NULL. */
static struct varlena *
simhash_of_text(Datum text, int f, SchemeId scheme, const Minus *minus)
{
	Utf8Text utf8 = utf8_of_datum(text);
	SimhashBuilder builder;

	warn_of_list(&utf8, "to_simhash");
	simhash_begin(&builder, f);
	shingle_text_minus(utf8.bytes, utf8.length, scheme, minus, simhash_add, &builder);
	utf8_free(&utf8);
	return simhash_of_builder(&builder, f, scheme);
}

/* to_simhash(text, f int, scheme text) returns simhash */
PG_FUNCTION_INFO_V1(neardup_to_simhash_text);
Datum
neardup_to_simhash_text(PG_FUNCTION_ARGS)
{
	int f = PG_GETARG_INT32(1);
	SchemeId scheme = text_scheme_of_argument(fcinfo, 2);

	check_simhash_shape(f, NULL);
	PG_RETURN_POINTER(simhash_of_text(PG_GETARG_DATUM(0), f, scheme, NULL));
}

/* to_simhash(text, minus shingles), to_simhash(text, f int, minus shingles) return simhash */
PG_FUNCTION_INFO_V1(neardup_to_simhash_minus);
Datum
neardup_to_simhash_minus(PG_FUNCTION_ARGS)
{
	MinusArgument *minus = minus_argument(fcinfo, PG_NARGS() - 1);
	int f = PG_NARGS() == 3 ? PG_GETARG_INT32(1) : 64;

	check_simhash_shape(f, NULL);
	PG_RETURN_POINTER(simhash_of_text(PG_GETARG_DATUM(0), f, minus->shingles->scheme,
									  &minus->minus));
}

/* to_simhash(text, scheme_name text) returns simhash; f as a text is accepted, too. */
PG_FUNCTION_INFO_V1(neardup_to_simhash_scheme_name);
Datum
neardup_to_simhash_scheme_name(PG_FUNCTION_ARGS)
{
	int32 f = 64;
	SchemeId scheme = scheme_or_number(fcinfo, 1, SCHEME_ID(SCHEME_WORD, 1), &f);

	check_simhash_shape(f, NULL);
	PG_RETURN_POINTER(simhash_of_text(PG_GETARG_DATUM(0), f, scheme, NULL));
}

/* to_simhash(shingles, f int) returns simhash */
PG_FUNCTION_INFO_V1(neardup_to_simhash_shingles);
Datum
neardup_to_simhash_shingles(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_to_sketch(PG_GETARG_DATUM(0));
	int f = PG_GETARG_INT32(1);
	Bag bag = shingles_bag(shingles);
	SimhashBuilder builder;
	uint32 i;

	check_simhash_shape(f, NULL);
	simhash_begin(&builder, f);
	if (bag.frequency == NULL)
		hashes_in_batches((const uint64_t *) bag.element, bag.count, simhash_add, &builder);
	else
		for (i = 0; i < bag.count; i++)
		{
			host_check_interrupts_at(i);
			simhash_add_weighted(&builder, (uint64_t) bag.element[i], bag.frequency[i]);
		}
	PG_RETURN_POINTER(simhash_of_builder(&builder, f, shingles->scheme));
}

/* A HashSink that appends to an array; its state is the array's end. */
static void
append_hashes(void *state, const uint64_t *hashes, size_t count)
{
	uint64_t **end = state;

	memcpy(*end, hashes, count * sizeof(uint64_t));
	*end += count;
}

/* to_simhash(text[], weights float8[], f int) returns simhash */
PG_FUNCTION_INFO_V1(neardup_to_simhash_weights);
Datum
neardup_to_simhash_weights(PG_FUNCTION_ARGS)
{
	ArrayType *tokens = PG_GETARG_ARRAYTYPE_P(0);
	int f = PG_GETARG_INT32(2);
	int count = ArrayGetNItems(ARR_NDIM(tokens), ARR_DIMS(tokens));
	const double *weight = weights_of_array(PG_GETARG_ARRAYTYPE_P(1), count);
	uint64_t *hashes = palloc(count * sizeof(uint64_t));
	uint64_t *end = hashes;
	struct varlena *value;
	uint8 *symbols;

	check_simhash_shape(f, NULL);
	hashes_of_text_array(tokens, append_hashes, &end);
	value = simhash_new(f, SCHEME_ID(SCHEME_TOKENS, 0), count == 0, &symbols);
	if (count > 0)
		simhash_of_weights(hashes, weight, count, f, symbols);
	PG_RETURN_POINTER(value);
}

/* ---- Casts -------------------------------------------------------------- */

/* simhash_of_bit(bit) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_of_bit);
Datum
neardup_simhash_of_bit(PG_FUNCTION_ARGS)
{
	VarBit *bits = PG_GETARG_VARBIT_P(0);
	int length = VARBITLEN(bits);

	if (!simhash_shape_is_valid(length))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot cast bit(%d) to simhash", length),
				 errdetail("A simhash has 64, 128, 256 or 512 bits."),
				 errhint("Use it without a cast, or cast it to minhash, which can have from %d to %d bits.",
						 MINHASH_K_MIN, MINHASH_K_MAX)));
	PG_RETURN_POINTER(signature_of_bits(bits, SIGNATURE_SIMHASH));
}

/* The first bit is the sign, as in the cast of bigint to bit(64). */
PG_FUNCTION_INFO_V1(neardup_simhash_of_bigint);
Datum
neardup_simhash_of_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits = pg_hton64((uint64) PG_GETARG_INT64(0));
	uint8 *symbols;
	struct varlena *value = simhash_new(64, SCHEME_ID(SCHEME_FOREIGN, 0), false, &symbols);

	memcpy(symbols, &bits, sizeof(bits));
	PG_RETURN_POINTER(value);
}

/* simhash_to_bigint(simhash) returns bigint */
PG_FUNCTION_INFO_V1(neardup_simhash_to_bigint);
Datum
neardup_simhash_to_bigint(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);
	uint64 bits;

	if (signature.header.k != 64)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("cannot cast %s to bigint", signature_shape(&signature.header)),
				 errdetail("Only simhash(64) can be cast to bigint.")));
	check_castable(&signature, "bigint");
	memcpy(&bits, signature.symbols, sizeof(bits));
	PG_RETURN_INT64((int64) pg_ntoh64(bits));
}
