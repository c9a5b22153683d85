/*
 * signature_forms.c: text and binary format of minhash and simhash.
 *
 * Text: VERSION/SCHEME/KxB/CARDINALITY/SYMBOLS for minhash, with "?" for an unknown
 * cardinality, and VERSION/SCHEME/F/SYMBOLS for simhash.  The symbols are hexadecimal;
 * the empty set has none.
 *
 * Binary format: version (1 byte), flags (1), k (2), scheme (4), for minhash the cardinality
 * (4), then the symbols, which lie where they do in the value.  signature.h has the flags.
 */
#include "sketch/forms.h"

/* ---- Checks of both formats --------------------------------------------- */

static bool
all_zero(const uint8_t *bytes, size_t count)
{
	while (count > 0 && bytes[count - 1] == 0)
		count--;
	return count == 0;
}

/* Returns a sentence that says what is wrong with a value, or NULL. */
static const char *
signature_defect(const Signature *signature)
{
	const SignatureHeader *header = &signature->header;
	size_t bytes = signature_symbol_bytes(header);
	int used = header->k * signature_bits(header) % 8;
	bool empty = signature_is_empty(signature);
	bool counted = (header->flags & SIGNATURE_COUNTED) != 0;

	if (empty && !all_zero(signature->symbols, bytes))
		return "It is of the empty set but has symbols.";
	if (used != 0 && (signature->symbols[bytes - 1] & (0xFF >> used)) != 0)
		return "The bits after the last symbol are not zero.";
	if (!signature_is_minhash(header))
		return NULL;
	if (!counted && signature->cardinality != 0)
		return "It has a cardinality that its flags call unknown.";
	if (empty != (counted && signature->cardinality == 0))
		return "The cardinality must be 0 where there are no symbols, and only there.";
	return NULL;
}

/* Notes what is wrong with a value, and frees its symbols; returns whether nothing is. */
static bool
check_signature(FormReader *reader, Signature *signature)
{
	const char *defect = signature_defect(signature);

	if (defect == NULL)
		return true;
	host_free((void *) signature->symbols);
	return read_invalid(reader, "%s", defect);
}

/* Returns whether there is a minhash(k, b) or, where b is 1, a simhash(k); notes if not. */
static bool
check_shape(FormReader *reader, uint8_t kind, int64_t k, int64_t b)
{
	bool minhash = kind == SIGNATURE_MINHASH;

	if (minhash ? minhash_shape_is_valid(k, b) : simhash_shape_is_valid(k))
		return true;
	reader->shapeless = true;
	reader->kind = kind;
	reader->k = k;
	reader->b = b;
	return minhash ?
		read_invalid(reader, "There is no minhash(%lld, %lld).", (long long) k, (long long) b) :
		read_invalid(reader, "There is no simhash(%lld).", (long long) k);
}

/* ---- Text --------------------------------------------------------------- */

/* Reads version, scheme and shape. */
static bool
read_header(FormReader *reader, uint8_t kind, SignatureHeader *header)
{
	uint8_t version;
	SchemeId scheme;
	uint64_t k;
	uint64_t b = 1;

	if (!read_recipe(reader, &version, &scheme) ||
		!read_number(reader, 0, UINT32_MAX, "Expected the number of symbols", &k))
		return false;
	if (kind == SIGNATURE_SIMHASH && !check_shape(reader, kind, (int64_t) k, 1))
		return false;
	/* PostgreSQL takes an argument of unknown type as a minhash. */
	if (kind == SIGNATURE_MINHASH && *reader->at == '/')
		return read_invalid(reader,
							"Expected \"x\" at character %zu.  A simhash needs a cast, as in $1::simhash.",
							(size_t) (reader->at - reader->input) + 1);
	if (kind == SIGNATURE_MINHASH &&
		(!read_char(reader, 'x') ||
		 !read_number(reader, 0, UINT32_MAX, "Expected the bits of a symbol", &b) ||
		 !check_shape(reader, kind, (int64_t) k, (int64_t) b)))
		return false;
	*header = signature_header(kind, (int) k, (int) b, scheme);
	header->version = version;
	return read_char(reader, '/');
}

/* Reads the cardinality of a minhash and sets the flag where it is known. */
static bool
read_cardinality(FormReader *reader, Signature *signature)
{
	uint64_t cardinality = 0;

	if (*reader->at == '?')
		reader->at++;
	else if (read_number(reader, 0, UINT32_MAX, "Expected the cardinality, a number or \"?\",",
						 &cardinality))
		signature->header.flags |= SIGNATURE_COUNTED;
	else
		return false;
	signature->cardinality = (uint32_t) cardinality;
	return read_char(reader, '/');
}

/* Returns the value of a hexadecimal digit. */
static int
digit_value(char digit)
{
	return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* Reads two hexadecimal digits for each byte, to the end of the text. */
static bool
read_hex(FormReader *reader, uint8_t *bytes, size_t count)
{
	size_t digits = strspn(reader->at, "0123456789abcdefABCDEF");

	if (strcmp(reader->at + digits, "...") == 0)
		return read_invalid(reader,
							"It ends in \"...\": it is shortened, and cannot be read back.");
	if (reader->at[digits] != '\0')
	{
		reader->at += digits;
		return read_expected(reader, "Expected a hexadecimal digit");
	}
	if (digits != 2 * count)
		return read_invalid(reader,
							"It has %zu hexadecimal digits of symbols, but its shape takes %zu.",
							digits, 2 * count);
	for (; count > 0; count--, reader->at += 2)
		*bytes++ = (uint8_t) (digit_value(reader->at[0]) << 4 | digit_value(reader->at[1]));
	return true;
}

/* Reads the text of a kind.  The symbols are from host_alloc. */
bool
signature_parse(FormReader *reader, uint8_t kind, Signature *signature)
{
	size_t bytes;
	uint8_t *symbols;

	signature->cardinality = 0;
	if (!read_header(reader, kind, &signature->header) ||
		(kind == SIGNATURE_MINHASH && !read_cardinality(reader, signature)))
		return false;
	if (*reader->at == '\0')
		signature->header.flags |= SIGNATURE_EMPTY;
	bytes = signature_symbol_bytes(&signature->header);
	signature->symbols = symbols = host_alloc(bytes);
	memset(symbols, 0, bytes);
	if (!signature_is_empty(signature) && !read_hex(reader, symbols, bytes))
	{
		host_free(symbols);
		return false;
	}
	return check_signature(reader, signature);
}

/* Writes a signature as text. */
void
signature_print(FormWriter *writer, const Signature *signature)
{
	static const char digits[] = "0123456789abcdef";
	const SignatureHeader *header = &signature->header;
	char scheme[SCHEME_NAME_SIZE];
	size_t bytes = signature_symbol_bytes(header);
	char *to;

	scheme_name(header->scheme, scheme);
	form_put_text(writer, "%d/%s/%d", header->version, scheme, header->k);
	if (signature_is_minhash(header))
		form_put_text(writer, "x%d/", signature_bits(header));
	if (header->flags & SIGNATURE_COUNTED)
		form_put_text(writer, "%u", signature->cardinality);
	else if (signature_is_minhash(header))
		form_put(writer, "?", 1);
	form_put(writer, "/", 1);
	to = form_extend(writer, signature_is_empty(signature) ? 0 : 2 * bytes);
	for (size_t i = 0; !signature_is_empty(signature) && i < bytes; i++)
	{
		*to++ = digits[signature->symbols[i] >> 4];
		*to++ = digits[signature->symbols[i] & 0xF];
	}
	*to = '\0';
}

/* ---- Binary format ------------------------------------------------------ */

/* Returns a sentence that says what is wrong with the flags of a kind, or NULL. */
static const char *
flags_defect(uint8_t kind, uint8_t flags)
{
	uint8_t known = kind == SIGNATURE_MINHASH ?
		SIGNATURE_LOG_B | SIGNATURE_MINHASH | SIGNATURE_EMPTY | SIGNATURE_COUNTED :
		SIGNATURE_EMPTY;

	if ((flags & ~known) != 0 || (flags & SIGNATURE_LOG_B) > 5)
		return "It has a flag that has no meaning.";
	if ((flags & SIGNATURE_MINHASH) != kind)
		return "It is of another kind of signature.";
	return NULL;
}

/* Reads the binary format of a kind or of any.  The symbols are from host_alloc. */
bool
signature_receive(FormReader *reader, uint8_t kind, Signature *signature)
{
	SignatureHeader *header = &signature->header;
	const char *defect;
	uint8_t *symbols;

	header->version = receive_number(reader, 1);
	header->flags = receive_number(reader, 1);
	header->k = receive_number(reader, 2);
	header->scheme = receive_number(reader, 4);
	signature->cardinality = 0;
	if (reader->cut)
		return false;
	if (kind == SIGNATURE_ANY_KIND)
		kind = header->flags & SIGNATURE_MINHASH;
	defect = flags_defect(kind, header->flags);
	if (defect != NULL)
		return read_invalid(reader, "%s", defect);
	if (!receive_recipe(reader, header->version, header->scheme) ||
		!check_shape(reader, kind, header->k, signature_bits(header)))
		return false;
	if (kind == SIGNATURE_MINHASH)
		signature->cardinality = receive_number(reader, 4);
	signature->symbols = symbols = host_alloc(signature_symbol_bytes(header));
	if (!receive_bytes(reader, symbols, signature_symbol_bytes(header)))
	{
		host_free(symbols);
		return false;
	}
	return check_signature(reader, signature);
}

/* Writes what comes before the symbols in binary format, SIGNATURE_SYMBOLS_AT bytes. */
void
signature_send_header(const Signature *signature, uint8_t *bytes)
{
	const SignatureHeader *header = &signature->header;

	bytes[0] = header->version;
	bytes[1] = header->flags;
	bytes[2] = header->k >> 8;
	bytes[3] = header->k & 0xFF;
	for (int i = 0; i < 4; i++)
		bytes[4 + i] = header->scheme >> (24 - 8 * i);
	for (int i = 0; signature_is_minhash(header) && i < 4; i++)
		bytes[8 + i] = signature->cardinality >> (24 - 8 * i);
}

/* Writes a signature in binary format. */
void
signature_send(FormWriter *writer, const Signature *signature)
{
	char *to = form_extend(writer, SIGNATURE_SYMBOLS_AT(signature->header.flags));

	signature_send_header(signature, (uint8_t *) to);
	form_put(writer, signature->symbols, signature_symbol_bytes(&signature->header));
}
