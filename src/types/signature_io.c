/*
 * signature_io.c: text and binary format of minhash and simhash.
 *
 * Text: VERSION/SCHEME/KxB/CARDINALITY/SYMBOLS for minhash, with "?" for an unknown
 * cardinality, and VERSION/SCHEME/F/SYMBOLS for simhash.  The symbols are hexadecimal;
 * the empty set has none.
 *
 * Binary format, big-endian: version (1 byte), flags (1), k (2), scheme (4), for minhash
 * the cardinality (4), then the symbols.  sketch/signature.h has the flags.
 */
#include "types/signature_type.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "types/read.h"

/* Bytes of symbols that show_signature() shows: all of a signature of 64 bits. */
#define SHOWN_SYMBOL_BYTES 8

/* ---- Checks of both formats --------------------------------------------- */

static bool
all_zero(const uint8 *bytes, size_t count)
{
	while (count > 0 && bytes[count - 1] == 0)
		count--;
	return count == 0;
}

/* Returns a sentence that says what is wrong with a value, or NULL. */
static const char *
signature_defect(const SignatureHeader *header, uint32 cardinality, const uint8 *symbols)
{
	size_t bytes = signature_symbol_bytes(header);
	int used = header->k * signature_bits(header) % 8;
	bool empty = (header->flags & SIGNATURE_EMPTY) != 0;
	bool counted = (header->flags & SIGNATURE_COUNTED) != 0;

	if (empty && !all_zero(symbols, bytes))
		return "It is of the empty set but has symbols.";
	if (used != 0 && (symbols[bytes - 1] & (0xFF >> used)) != 0)
		return "The bits after the last symbol are not zero.";
	if (!signature_is_minhash(header))
		return NULL;
	if (!counted && cardinality != 0)
		return "It has a cardinality that its flags call unknown.";
	if (empty != (counted && cardinality == 0))
		return "The cardinality must be 0 where there are no symbols, and only there.";
	return NULL;
}

/* ---- Reading text ------------------------------------------------------- */

/* Reads version, scheme and shape. */
static bool
read_header(TextReader *reader, uint8 kind, SignatureHeader *header)
{
	uint8 version;
	SchemeId scheme;
	uint64 k;
	uint64 b = 1;

	if (!read_recipe(reader, &version, &scheme) ||
		!read_number(reader, 0, PG_UINT32_MAX, "Expected the number of symbols at character %zu.",
					 &k))
		return false;
	if (kind == SIGNATURE_SIMHASH && !check_simhash_shape(k, reader->context))
		return false;
	/* PostgreSQL takes an argument of unknown type as a minhash. */
	if (kind == SIGNATURE_MINHASH && *reader->at == '/')
		return read_expected(reader,
							 "Expected \"x\" at character %zu.  A simhash needs a cast, as in $1::simhash.");
	if (kind == SIGNATURE_MINHASH &&
		(!read_char(reader, 'x') ||
		 !read_number(reader, 0, PG_UINT32_MAX, "Expected the bits of a symbol at character %zu.",
					  &b) ||
		 !check_minhash_shape(k, b, reader->context)))
		return false;
	*header = signature_header(kind, k, b, scheme);
	header->version = version;
	return read_char(reader, '/');
}

/* Reads the cardinality of a minhash and sets the flag where it is known. */
static bool
read_cardinality(TextReader *reader, SignatureHeader *header, uint64 *cardinality)
{
	*cardinality = 0;
	if (*reader->at == '?')
		reader->at++;
	else if (read_number(reader, 0, PG_UINT32_MAX,
						 "Expected the cardinality, a number or \"?\", at character %zu.",
						 cardinality))
		header->flags |= SIGNATURE_COUNTED;
	else
		return false;
	return read_char(reader, '/');
}

/* Reads a value of a kind, with room for prefix bytes in front; returns NULL after an error. */
struct varlena *
signature_parse(TextReader *reader, uint8 kind, size_t prefix)
{
	SignatureHeader header;
	uint64 cardinality = 0;
	struct varlena *value;
	uint8 *symbols;
	const char *defect;

	if (!read_header(reader, kind, &header) ||
		(kind == SIGNATURE_MINHASH && !read_cardinality(reader, &header, &cardinality)))
		return NULL;
	if (*reader->at == '\0')
		header.flags |= SIGNATURE_EMPTY;
	value = signature_new(&header, (uint32) cardinality, prefix, &symbols);
	if (!(header.flags & SIGNATURE_EMPTY) &&
		!read_hex(reader, symbols, signature_symbol_bytes(&header)))
		return NULL;
	defect = signature_defect(&header, (uint32) cardinality, symbols);
	if (defect != NULL)
	{
		read_invalid(reader, defect);
		return NULL;
	}
	return value;
}

/* ---- Writing text ------------------------------------------------------- */

/* Appends the text of a signature. */
void
signature_print(StringInfo out, const Signature *signature)
{
	const SignatureHeader *header = &signature->header;
	char scheme[SCHEME_NAME_SIZE];
	size_t bytes = signature_symbol_bytes(header);

	scheme_name(header->scheme, scheme);
	appendStringInfo(out, "%d/%s/%d", header->version, scheme, header->k);
	if (signature_is_minhash(header))
	{
		appendStringInfo(out, "x%d/", signature_bits(header));
		if (header->flags & SIGNATURE_COUNTED)
			appendStringInfo(out, "%u", signature->cardinality);
		else
			appendStringInfoChar(out, '?');
	}
	appendStringInfoChar(out, '/');
	if (signature_is_empty(signature))
		return;
	enlargeStringInfo(out, 2 * bytes);
	out->len += hex_encode((const char *) signature->symbols, bytes, out->data + out->len);
	out->data[out->len] = '\0';
}

/* ---- Binary format ------------------------------------------------------ */

/* Returns a sentence that says what is wrong with the flags of a kind, or NULL. */
static const char *
flags_defect(uint8 kind, uint8 flags)
{
	uint8 known = kind == SIGNATURE_MINHASH ?
		SIGNATURE_LOG_B | SIGNATURE_MINHASH | SIGNATURE_EMPTY | SIGNATURE_COUNTED :
		SIGNATURE_EMPTY;

	if ((flags & ~known) != 0 || (flags & SIGNATURE_LOG_B) > 5)
		return "It has a flag that has no meaning.";
	if ((flags & SIGNATURE_MINHASH) != kind)
		return "It is of another kind of signature.";
	return NULL;
}

/* Reads the binary format of a kind or of any, with room for prefix bytes in front. */
struct varlena *
signature_receive(StringInfo in, uint8 kind, size_t prefix)
{
	SignatureHeader header;
	uint32 cardinality = 0;
	const char *type;
	struct varlena *value;
	uint8 *symbols;
	const char *defect;

	header.version = pq_getmsgbyte(in);
	header.flags = pq_getmsgbyte(in);
	header.k = pq_getmsgint(in, 2);
	header.scheme = pq_getmsgint(in, 4);
	if (kind == SIGNATURE_ANY_KIND)
		kind = header.flags & SIGNATURE_MINHASH;
	type = signature_type_name(kind);
	defect = flags_defect(kind, header.flags);
	if (defect != NULL)
		binary_invalid(type, defect);
	binary_check_recipe(type, header.version, header.scheme);
	if (kind == SIGNATURE_MINHASH)
	{
		check_minhash_shape(header.k, signature_bits(&header), NULL);
		cardinality = pq_getmsgint(in, 4);
	}
	else
		check_simhash_shape(header.k, NULL);

	value = signature_new(&header, cardinality, prefix, &symbols);
	pq_copymsgbytes(in, (char *) symbols, signature_symbol_bytes(&header));
	defect = signature_defect(&header, cardinality, symbols);
	if (defect != NULL)
		binary_invalid(type, defect);
	return value;
}

/* Appends the binary format of a signature. */
void
signature_send(StringInfo out, const Signature *signature)
{
	const SignatureHeader *header = &signature->header;

	pq_sendbyte(out, header->version);
	pq_sendbyte(out, header->flags);
	pq_sendint16(out, header->k);
	pq_sendint32(out, header->scheme);
	if (signature_is_minhash(header))
		pq_sendint32(out, signature->cardinality);
	pq_sendbytes(out, (const char *) signature->symbols, signature_symbol_bytes(header));
}

/* ---- Functions of both types -------------------------------------------- */

/* minhash_out(minhash) returns cstring; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_out);
Datum
neardup_signature_out(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	StringInfoData out;

	initStringInfo(&out);
	signature_print(&out, &signature);
	PG_RETURN_CSTRING(out.data);
}

/* show_signature(minhash) returns text; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_show_signature);
Datum
neardup_show_signature(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	StringInfoData out;
	char *digits;

	initStringInfo(&out);
	signature_print(&out, &signature);
	digits = strrchr(out.data, '/') + 1;
	if (strlen(digits) > 2 * SHOWN_SYMBOL_BYTES)
		strcpy(digits + 2 * SHOWN_SYMBOL_BYTES, "...");
	PG_RETURN_TEXT_P(cstring_to_text(out.data));
}

/* minhash_send(minhash) returns bytea; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_send);
Datum
neardup_signature_send(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	StringInfoData out;

	pq_begintypsend(&out);
	signature_send(&out, &signature);
	PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}

/* Returns false after an error unless a value just made has the shape of the typmod. */
static bool
check_typmod(const struct varlena *value, int32 typmod, Node *context)
{
	Signature signature = signature_read(VARDATA(value));

	return signature_check_typmod(&signature.header, typmod, context);
}

/* The input function of a kind. */
static Datum
signature_in(FunctionCallInfo fcinfo, uint8 kind)
{
	TextReader reader = text_reader(fcinfo, signature_type_name(kind));
	struct varlena *value = signature_parse(&reader, kind, 0);

	if (value == NULL || !check_typmod(value, PG_GETARG_INT32(2), fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(value);
}

/* The receive function of a kind. */
static Datum
signature_recv(FunctionCallInfo fcinfo, uint8 kind)
{
	struct varlena *value = signature_receive((StringInfo) PG_GETARG_POINTER(0), kind, 0);

	check_typmod(value, PG_GETARG_INT32(2), NULL);
	PG_RETURN_POINTER(value);
}

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
