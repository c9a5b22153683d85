/*
 * simhash_type.c: the type simhash: typmod, input, constructors, casts.
 */
#include "types/signature_type.h"

#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#include "base/defaults.h"
#include "types/shingles_type.h"

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

/* ---- Text and binary format ---------------------------------------------- */

/* simhash_in(cstring, oid, int) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_in);
Datum
neardup_simhash_in(PG_FUNCTION_ARGS)
{
	return signature_in(fcinfo, SIGNATURE_SIMHASH);
}

/* simhash_recv(internal, oid, int) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_recv);
Datum
neardup_simhash_recv(PG_FUNCTION_ARGS)
{
	return signature_recv(fcinfo, SIGNATURE_SIMHASH);
}

/* simhash_of_bytea(bytea) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_of_bytea);
Datum
neardup_simhash_of_bytea(PG_FUNCTION_ARGS)
{
	return value_of_bytea(fcinfo, neardup_simhash_recv);
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

/* to_simhash(text, f int, scheme text), to_simhash(text, text) return simhash; the last is a scheme */
PG_FUNCTION_INFO_V1(neardup_to_simhash_scheme);
Datum
neardup_to_simhash_scheme(PG_FUNCTION_ARGS)
{
	int f = PG_NARGS() == 3 ? PG_GETARG_INT32(1) : DEFAULT_SIMHASH_F;
	SignatureMaker maker = {.scheme = text_scheme_of_argument(fcinfo, PG_NARGS() - 1)};

	check_simhash_shape(f, NULL);
	maker.header = signature_header(SIGNATURE_SIMHASH, f, 1, maker.scheme);
	PG_RETURN_POINTER(signature_make(&maker, PG_GETARG_DATUM(0)));
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
