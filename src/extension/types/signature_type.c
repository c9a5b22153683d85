/*
 * signature_type.c: what minhash and simhash share in SQL: values, shapes, order, text and binary
 * format (sketch/signature_forms.c), and casts.
 */
#include "types/signature_type.h"
#include "types/order.h"
#include "calls/texts.h"

#include "utils/builtins.h"

/* ---- Values ------------------------------------------------------------- */

/* Throws the error for bytes that are no signature. */
void
signature_refuse_bytes(size_t size)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED), errmsg("signature value is corrupt"),
			 errdetail("It has %zu bytes, which do not fit its header.", size)));
}

/* Returns false after an error unless a signature is of RECIPE_VERSION. */
bool
signature_check_recipe(const SignatureHeader *header, Node *context)
{
	if (header->version == RECIPE_VERSION)
		return true;
	ereturn(context, false,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot use a %s of recipe version %d", signature_type_name(header->flags),
					header->version),
			 errdetail("This release of neardup knows recipe version %d.", RECIPE_VERSION),
			 errhint("Install a release that knows the recipe, or make the value again from its text.")));
}

/* Reads a datum as signature_of_any() does; throws an error unless it is of RECIPE_VERSION. */
Signature
signature_of_datum(Datum datum)
{
	Signature signature = signature_of_any(datum);

	signature_check_recipe(&signature.header, NULL);
	return signature;
}

/*
 * Returns a new value with room for prefix bytes in front.  The caller fills *symbols,
 * which are zero.
 */
struct varlena *
signature_new(const SignatureHeader *header, uint32 cardinality, size_t prefix, uint8 **symbols)
{
	size_t size = VARHDRSZ + prefix + signature_size(header);
	struct varlena *value = palloc0(size);

	SET_VARSIZE(value, size);
	*symbols = signature_write(VARDATA(value) + prefix, header, cardinality);
	return value;
}

/* Returns a new value of a signature, with room for prefix bytes in front. */
struct varlena *
signature_value(const Signature *signature, size_t prefix)
{
	uint8 *symbols;
	struct varlena *value =
		signature_new(&signature->header, signature->cardinality, prefix, &symbols);

	memcpy(symbols, signature->symbols, signature_symbol_bytes(&signature->header));
	return value;
}

/* Returns the signature of a text. */
struct varlena *
signature_make(const SignatureMaker *maker, Datum text)
{
	Utf8Text utf8 = utf8_of_datum(text);
	uint8 *symbols;
	struct varlena *value = signature_new(&maker->header, 0, 0, &symbols);
	Signature signature = signature_of_text(maker, utf8.bytes, utf8.length, symbols);

	signature_write(VARDATA(value), &signature.header, signature.cardinality);
	utf8_free(&utf8);
	return value;
}

/* ---- Shapes ------------------------------------------------------------- */

/* Adds a hint where the size of a signature looks like the width of shingles: a few words. */
static int
hint_at_width(const char *type, int64 size)
{
	if (size < 1 || size > 9)
		return 0;
	return errhint("For shingles of " INT64_FORMAT
				   " words, use to_%s(text, scheme => 'word " INT64_FORMAT "').",
				   size, type, size);
}

/* Returns false after an error unless there is a minhash(k, b). */
bool
check_minhash_shape(int64 k, int64 b, Node *context)
{
	if (!minhash_shape_is_valid(k, b))
		ereturn(context, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no minhash(" INT64_FORMAT ", " INT64_FORMAT ")", k, b),
				 errdetail("The number of symbols k is from %d to %d, the bits of a symbol b are 1, 2, 4, 8, 16 or 32, and k * b is at most %d.",
						   MINHASH_K_MIN, MINHASH_K_MAX, MINHASH_BITS_MAX),
				 hint_at_width("minhash", k)));
	return true;
}

/* Returns false after an error unless there is a simhash(f). */
bool
check_simhash_shape(int64 f, Node *context)
{
	if (!simhash_shape_is_valid(f))
		ereturn(context, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no simhash(" INT64_FORMAT ")", f),
				 errdetail("The number of bits f is 64, 128, 256 or 512."),
				 hint_at_width("simhash", f)));
	return true;
}

/* Returns "minhash(512, 1)" or "simhash(64)", palloc'd. */
char *
signature_shape(const SignatureHeader *header)
{
	if (header->flags & SIGNATURE_SET)
		return "shingles";
	if (signature_is_minhash(header))
		return psprintf("minhash(%d, %d)", header->k, signature_bits(header));
	return psprintf("simhash(%d)", header->k);
}

/* Returns the typmod that holds k and b; b is 1 for simhash. */
int32
signature_typmod(int k, int b)
{
	return k << 3 | __builtin_ctz(b);
}

/* Returns false after an error that names both shapes unless typmod is -1 or that of the value. */
static bool
signature_check_typmod(const SignatureHeader *header, int32 typmod, Node *context)
{
	SignatureHeader expected = *header;

	if (typmod < 0 || typmod == signature_typmod(header->k, signature_bits(header)))
		return true;
	expected.k = typmod >> 3;
	expected.flags = (header->flags & SIGNATURE_MINHASH) | (typmod & SIGNATURE_LOG_B);
	ereturn(context, false,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("expected %s, not %s", signature_shape(&expected), signature_shape(header)),
			 signature_bits(&expected) < signature_bits(header) && expected.k == header->k ?
				 errhint("Use %s, or reduce the bits of the symbols with minhash_truncate().",
						 signature_call(&expected)) :
				 errhint("Use %s.", signature_call(&expected))));
}

/* Throws an error unless the cardinality of a minhash is known. */
void
check_counted(const Signature *signature)
{
	if ((signature->header.flags & SIGNATURE_COUNTED) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cardinality of the set is unknown"),
				 errdetail("A minhash that is a union or was cast from another type does not have it."),
				 errhint("Make the value again from the whole text or set.")));
}

/* ---- Two values --------------------------------------------------------- */

/* Returns the call that makes a signature of this shape and scheme, for hints. */
const char *
signature_call(const SignatureHeader *header)
{
	int b = signature_bits(header);

	if (header->flags & SIGNATURE_SET)
		return scheme_call("to_shingles", "", header->scheme);
	if (SCHEME_KIND(header->scheme) == SCHEME_FOREIGN)
		return psprintf("a cast of %s to %s", b == 1 ? psprintf("bit(%d)", header->k) : "bigint[]",
						signature_shape(header));
	if (signature_is_minhash(header))
		return scheme_call("to_minhash", psprintf(", k => %d, b => %d", header->k, b),
						   header->scheme);
	if (SCHEME_KIND(header->scheme) == SCHEME_TOKENS)
		return psprintf("to_simhash(text[], weights, f => %d)", header->k);
	if (SCHEME_KIND(header->scheme) == SCHEME_HASHES)
		return psprintf("to_simhash(to_shingles(bigint[]), f => %d)", header->k);
	return scheme_call("to_simhash", psprintf(", f => %d", header->k), header->scheme);
}

/* Throws the error for two signatures of different shape, scheme or recipe version. */
void
signature_refuse_pair(const SignatureHeader *x, const SignatureHeader *y)
{
	if (x->k != y->k || ((x->flags ^ y->flags) & SIGNATURE_SAME_FLAGS) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot compare %s with %s", signature_shape(x), signature_shape(y)),
				 errhint("To match the first, use %s.  To match the second, use %s.",
						 signature_call(x), signature_call(y))));
	refuse_recipes(signature_is_minhash(x) ? "minhash values" : "simhash values", x->version,
				   x->scheme, y->version, y->scheme, signature_call(x), signature_call(y));
}

/* Returns false after an error unless two such signatures can have this distance. */
bool
check_distance(const SignatureHeader *header, int distance, Node *context)
{
	/* Bits made elsewhere may be of type bit, bigint, minhash or simhash. */
	bool bits = SCHEME_KIND(header->scheme) == SCHEME_FOREIGN && signature_bits(header) == 1;

	if (distance < 0 || distance > header->k)
		ereturn(context, false,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("distance %d is out of range for %s", distance,
						bits ? psprintf("%d bits", header->k) : signature_shape(header)),
				 errdetail("A distance is a number of differing %s, from 0 to %d.",
						   bits ? "bits" : "symbols", header->k)));
	return true;
}

/* -1, 0 or 1 */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares in a total order, the same on every machine, in which only equal bytes are equal. */
int
signature_compare(const Signature *x, const Signature *y)
{
	int order = ORDER(x->header.version, y->header.version);

	if (order == 0)
		order = ORDER(x->header.scheme, y->header.scheme);
	if (order == 0)
		order = ORDER(x->header.k, y->header.k);
	if (order == 0)
		order = ORDER(x->header.flags, y->header.flags);
	if (order == 0)
		order = memcmp(x->symbols, y->symbols, signature_symbol_bytes(&x->header));
	if (order == 0)
		order = ORDER(x->cardinality, y->cardinality);
	return order;
}

static int
compare_values(struct varlena *x, struct varlena *y)
{
	Signature a = signature_of_any_bytes(VARDATA_ANY(x), VARSIZE_ANY_EXHDR(x));
	Signature b = signature_of_any_bytes(VARDATA_ANY(y), VARSIZE_ANY_EXHDR(y));

	return signature_compare(&a, &b);
}

COMPARISON_FUNCTIONS(neardup_signature, PG_DETOAST_DATUM_PACKED, compare_values);

/* These serve balls too. */
HASH_FUNCTIONS(neardup_signature, PG_DETOAST_DATUM_PACKED);

/* Casts a type to itself, to apply a typmod. */
PG_FUNCTION_INFO_V1(neardup_signature_apply_typmod);
Datum
neardup_signature_apply_typmod(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);

	signature_check_typmod(&signature.header, PG_GETARG_INT32(1), NULL);
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* ---- Text and binary format ---------------------------------------------- */

/* minhash_out(minhash) returns cstring; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_out);
Datum
neardup_signature_out(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	FormWriter out = {0};

	signature_print(&out, &signature);
	PG_RETURN_CSTRING(out.bytes);
}

/* minhash_send(minhash) returns bytea; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_send);
Datum
neardup_signature_send(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	FormWriter out;

	send_begin(&out);
	signature_send(&out, &signature);
	PG_RETURN_BYTEA_P(send_end(&out));
}

/* The input function of a kind. */
Datum
signature_in(FunctionCallInfo fcinfo, uint8 kind)
{
	FormReader reader = text_reader(fcinfo);
	Signature signature;

	if (!signature_parse(&reader, kind, &signature))
		return text_refuse(fcinfo, &reader, signature_type_name(kind));
	if (!signature_check_typmod(&signature.header, PG_GETARG_INT32(2), fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(signature_value(&signature, 0));
}

/* Reads a signature of a kind or of any from a message. */
Signature
signature_of_message(StringInfo message, uint8 kind)
{
	FormReader reader = message_reader(message);
	Signature signature;

	if (!signature_receive(&reader, kind, &signature))
		message_refuse(message, &reader,
					   signature_type_name(kind == SIGNATURE_ANY_KIND ? signature.header.flags :
																		kind));
	message_end(message, &reader);
	return signature;
}

/* The receive function of a kind. */
Datum
signature_recv(FunctionCallInfo fcinfo, uint8 kind)
{
	Signature signature = signature_of_message((StringInfo) PG_GETARG_POINTER(0), kind);

	signature_check_typmod(&signature.header, PG_GETARG_INT32(2), NULL);
	PG_RETURN_POINTER(signature_value(&signature, 0));
}

/* ---- Casts -------------------------------------------------------------- */

/* Throws an error for a signature of the empty set, which cannot be cast to target. */
void
check_castable(const Signature *signature, const char *target)
{
	if (signature_is_empty(signature))
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("cannot cast the signature of the empty set to %s", target),
				 errdetail("The empty set is similar to nothing, not even to itself."),
				 errhint("Leave such values out.")));
}

/* Returns a value of a kind with these bits as its symbols; the caller checks the shape. */
struct varlena *
signature_of_bits(VarBit *bits, uint8 kind)
{
	SignatureHeader header =
		signature_header(kind, VARBITLEN(bits), 1, SCHEME_ID(SCHEME_FOREIGN, 0));
	uint8 *symbols;
	struct varlena *value = signature_new(&header, 0, 0, &symbols);

	memcpy(symbols, VARBITS(bits), signature_symbol_bytes(&header));
	return value;
}

/* The second argument is the typmod of bit(n). */
PG_FUNCTION_INFO_V1(neardup_signature_to_bit);
Datum
neardup_signature_to_bit(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);
	int32 length = PG_GETARG_INT32(1);
	int k = signature.header.k;
	VarBit *bits;

	if (signature_bits(&signature.header) != 1 || (length >= 0 && length != k))
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 length >= 0 ? errmsg("cannot cast %s to bit(%d)",
									  signature_shape(&signature.header), length) :
							   errmsg("cannot cast %s to bit", signature_shape(&signature.header)),
				 errdetail("Only a signature with symbols of one bit can be cast to bit(n), where n is their number."),
				 signature_bits(&signature.header) == 1 ?
					 errhint("Cast it to bit(%d).", k) :
					 errhint("Reduce its symbols to one bit with minhash_truncate().")));
	check_castable(&signature, "bit");
	bits = palloc0(VARBITTOTALLEN(k));
	SET_VARSIZE(bits, VARBITTOTALLEN(k));
	VARBITLEN(bits) = k;
	memcpy(VARBITS(bits), signature.symbols, VARBITBYTES(bits));
	PG_RETURN_VARBIT_P(bits);
}
