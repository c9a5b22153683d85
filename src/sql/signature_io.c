/*
 * signature_io.c: text and binary form of minhash and simhash.
 *
 * Text: VERSION/SCHEME/KxB/CARDINALITY/SYMBOLS for minhash, the cardinality a ?
 * where it is unknown; VERSION/SCHEME/F/SYMBOLS for simhash; the symbols in
 * hexadecimal, none for the empty set.
 *
 * Binary, big-endian: version (1 byte), flags (1), k (2), scheme (4), for
 * minhash the cardinality (4), then the symbols; flags as in signature.h.
 */
#include "sql/signature.h"

#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* ---- Reading text ------------------------------------------------------- */

/* How much of a malformed text an error shows. */
#define SHOWN_BYTES 80

typedef struct Reader
{
	const char *at;
	const char *type;
	const char *input;
} Reader;

void
malformed_text(const char *type, const char *input, const char *detail)
{
	int length = strlen(input);
	int shown = pg_mbcliplen(input, length, SHOWN_BYTES);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%.*s%s\"", type, shown, input,
					shown < length ? "..." : ""),
			 errdetail("%s", detail)));
}

static void
malformed(const Reader *reader, const char *detail)
{
	malformed_text(reader->type, reader->input, detail);
}

static void
expect(Reader *reader, char separator, const char *what)
{
	if (*reader->at != separator)
		malformed(reader, psprintf("Expected \"%c\" after the %s.", separator, what));
	reader->at++;
}

/* Digits, of a value up to UINT32_MAX. */
static uint32
read_number(Reader *reader, const char *what)
{
	uint64 number = 0;
	const char *start = reader->at;

	while (*reader->at >= '0' && *reader->at <= '9' && number <= PG_UINT32_MAX)
		number = number * 10 + (*reader->at++ - '0');
	if (reader->at == start)
		malformed(reader, psprintf("The %s is not a number.", what));
	if (number > PG_UINT32_MAX)
		malformed(reader, psprintf("The %s is too large.", what));
	return number;
}

/* A later recipe may have more schemes; their names are unknown here, but not their numbers. */
static SchemeId
read_scheme(Reader *reader, int version)
{
	size_t length = strcspn(reader->at, "/");
	SchemeId scheme;

	if (!scheme_parse(reader->at, length, &scheme) || !recipe_has_scheme(version, scheme))
		malformed(reader, "The scheme is unknown.");
	reader->at += length;
	return scheme;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static void
read_symbols(Reader *reader, uint8 *symbols, size_t bytes)
{
	size_t digits = strlen(reader->at);
	size_t i;

	if (digits != 2 * bytes)
		malformed(reader,
				  psprintf("It has %zu hexadecimal digits of symbols where its shape needs %zu.",
						   digits, 2 * bytes));
	for (i = 0; i < bytes; i++)
	{
		int high = hex_digit(reader->at[2 * i]);
		int low = hex_digit(reader->at[2 * i + 1]);

		if (high < 0 || low < 0)
			malformed(reader, "The symbols have a character that is not a hexadecimal digit.");
		symbols[i] = high << 4 | low;
	}
}

/* The bits after the last symbol must be zero. */
static bool
padding_is_zero(const SignatureHeader *header, const uint8 *symbols)
{
	int used = header->k * signature_bits(header) % 8;
	size_t bytes = signature_symbol_bytes(header);

	return used == 0 || (symbols[bytes - 1] & (0xFF >> used)) == 0;
}

/* Of a minhash: 0 is known for the empty set and only there, unknown is 0. */
static bool
cardinality_fits(const SignatureHeader *header, uint32 cardinality)
{
	bool counted = (header->flags & SIGNATURE_COUNTED) != 0;
	bool empty = (header->flags & SIGNATURE_EMPTY) != 0;

	if (!signature_is_minhash(header))
		return true;
	return empty == (counted && cardinality == 0) && (counted || cardinality == 0);
}

static SignatureHeader
read_header(Reader *reader, uint8 kind)
{
	SignatureHeader header;
	SchemeId scheme;
	uint32 version = read_number(reader, "recipe version");
	uint32 k;
	uint32 b = 1;

	if (version < 1 || version > PG_UINT8_MAX)
		malformed(reader, "There is no such recipe version.");
	expect(reader, '/', "recipe version");
	scheme = read_scheme(reader, version);
	expect(reader, '/', "scheme");
	k = read_number(reader, "number of symbols");
	if (kind == SIGNATURE_MINHASH)
	{
		expect(reader, 'x', "number of symbols");
		b = read_number(reader, "bits of a symbol");
		check_minhash_shape(k, b);
	}
	else
		check_simhash_shape(k);
	expect(reader, '/', "shape");
	header = signature_header(kind, k, b, scheme);
	header.version = version;
	return header;
}

/* The cardinality of a minhash; sets the flag where it is known. */
static uint32
read_cardinality(Reader *reader, SignatureHeader *header)
{
	uint32 cardinality = 0;

	if (*reader->at == '?')
		reader->at++;
	else
	{
		cardinality = read_number(reader, "cardinality");
		header->flags |= SIGNATURE_COUNTED;
	}
	expect(reader, '/', "cardinality");
	return cardinality;
}

struct varlena *
signature_parse(uint8 kind, const char *text, size_t prefix, const char *type, const char *input)
{
	Reader reader = {text, type, input};
	SignatureHeader header = read_header(&reader, kind);
	uint32 cardinality = 0;
	struct varlena *value;
	uint8 *symbols;

	if (kind == SIGNATURE_MINHASH)
		cardinality = read_cardinality(&reader, &header);
	if (*reader.at == '\0')
		header.flags |= SIGNATURE_EMPTY;
	if (!cardinality_fits(&header, cardinality))
		malformed(&reader, "The cardinality is 0 where there are no symbols, and only there.");

	value = signature_new(&header, cardinality, prefix, &symbols);
	if (!(header.flags & SIGNATURE_EMPTY))
		read_symbols(&reader, symbols, signature_symbol_bytes(&header));
	if (!padding_is_zero(&header, symbols))
		malformed(&reader, "The bits after the last symbol are not zero.");
	return value;
}

/* ---- Writing text ------------------------------------------------------- */

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

/* ---- Binary form -------------------------------------------------------- */

static void
malformed_binary(const char *type, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid binary form of type %s", type), errdetail("%s", detail)));
}

static bool
all_zero(const uint8 *bytes, size_t count)
{
	while (count > 0 && bytes[count - 1] == 0)
		count--;
	return count == 0;
}

/* What is wrong with the flags of such a value, or NULL. */
static const char *
problem_of_flags(uint8 kind, uint8 flags)
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

/* What is wrong with the rest, or NULL. */
static const char *
problem_of_contents(const SignatureHeader *header, uint32 cardinality, const uint8 *symbols)
{
	if ((header->flags & SIGNATURE_EMPTY) != 0 &&
		!all_zero(symbols, signature_symbol_bytes(header)))
		return "It is of the empty set, but has symbols.";
	if (!padding_is_zero(header, symbols))
		return "The bits after the last symbol are not zero.";
	if (!cardinality_fits(header, cardinality))
		return "The cardinality does not fit the flags.";
	return NULL;
}

struct varlena *
signature_receive(uint8 kind, StringInfo in, size_t prefix)
{
	const char *type = kind == SIGNATURE_MINHASH ? "minhash" : "simhash";
	SignatureHeader header;
	uint32 cardinality = 0;
	struct varlena *value;
	uint8 *symbols;
	const char *problem;

	header.version = pq_getmsgbyte(in);
	header.flags = pq_getmsgbyte(in);
	header.k = pq_getmsgint(in, 2);
	header.scheme = pq_getmsgint(in, 4);
	problem = problem_of_flags(kind, header.flags);
	if (header.version == 0)
		problem = "There is no such recipe version.";
	if (problem == NULL && !recipe_has_scheme(header.version, header.scheme))
		problem = "The scheme is unknown.";
	if (problem != NULL)
		malformed_binary(type, problem);
	if (kind == SIGNATURE_MINHASH)
	{
		check_minhash_shape(header.k, signature_bits(&header));
		cardinality = pq_getmsgint(in, 4);
	}
	else
		check_simhash_shape(header.k);

	value = signature_new(&header, cardinality, prefix, &symbols);
	pq_copymsgbytes(in, (char *) symbols, signature_symbol_bytes(&header));
	problem = problem_of_contents(&header, cardinality, symbols);
	if (problem != NULL)
		malformed_binary(type, problem);
	return value;
}

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

static Datum
read_text(PG_FUNCTION_ARGS, uint8 kind)
{
	const char *input = PG_GETARG_CSTRING(0);
	struct varlena *value =
		signature_parse(kind, input, 0, kind == SIGNATURE_MINHASH ? "minhash" : "simhash", input);
	Signature signature = signature_of_any(PointerGetDatum(value));

	signature_check_typmod(&signature.header, PG_GETARG_INT32(2));
	PG_RETURN_POINTER(value);
}

static Datum
read_binary(PG_FUNCTION_ARGS, uint8 kind)
{
	struct varlena *value = signature_receive(kind, (StringInfo) PG_GETARG_POINTER(0), 0);
	Signature signature = signature_of_any(PointerGetDatum(value));

	signature_check_typmod(&signature.header, PG_GETARG_INT32(2));
	PG_RETURN_POINTER(value);
}

PG_FUNCTION_INFO_V1(neardup_minhash_in);
Datum
neardup_minhash_in(PG_FUNCTION_ARGS)
{
	return read_text(fcinfo, SIGNATURE_MINHASH);
}

PG_FUNCTION_INFO_V1(neardup_minhash_recv);
Datum
neardup_minhash_recv(PG_FUNCTION_ARGS)
{
	return read_binary(fcinfo, SIGNATURE_MINHASH);
}

PG_FUNCTION_INFO_V1(neardup_simhash_in);
Datum
neardup_simhash_in(PG_FUNCTION_ARGS)
{
	return read_text(fcinfo, SIGNATURE_SIMHASH);
}

PG_FUNCTION_INFO_V1(neardup_simhash_recv);
Datum
neardup_simhash_recv(PG_FUNCTION_ARGS)
{
	return read_binary(fcinfo, SIGNATURE_SIMHASH);
}
