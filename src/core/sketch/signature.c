/*
 * signature.c: making minhash and simhash values, and what their distances mean.
 */
#include "sketch/signature.h"

/* ---- Making ------------------------------------------------------------- */

/* A guess of the bytes of text for each distinct shingle, to size the table of these. */
#define BYTES_PER_SHINGLE 6

/* Long texts repeat their shingles of characters. */
#define CHARACTER_SHINGLES_MOST ((size_t) 1 << 15)

/* Returns the least power of two that is not below b, as an exponent. */
static int
log2_of_bits(int b)
{
	int log = 0;

	while (1 << log < b)
		log++;
	return log;
}

/* Returns a header of RECIPE_VERSION; kind is SIGNATURE_MINHASH or SIGNATURE_SIMHASH. */
SignatureHeader
signature_header(uint8_t kind, int k, int b, SchemeId scheme)
{
	SignatureHeader header;

	header.version = RECIPE_VERSION;
	header.flags = kind | log2_of_bits(b);
	header.k = k;
	header.scheme = scheme;
	return header;
}

/* Returns whether there is a minhash or simhash of this shape. */
bool
signature_shape_is_valid(const SignatureHeader *header)
{
	return signature_is_minhash(header) ?
		minhash_shape_is_valid(header->k, signature_bits(header)) :
		simhash_shape_is_valid(header->k);
}

/* Writes a value without its symbols; returns where they belong. */
uint8_t *
signature_write(void *value, const SignatureHeader *header, uint32_t cardinality)
{
	memcpy(value, header, sizeof(SignatureHeader));
	if (signature_is_minhash(header))
		memcpy((char *) value + sizeof(SignatureHeader), &cardinality, sizeof(uint32_t));
	return (uint8_t *) value + SIGNATURE_SYMBOLS_AT(header->flags);
}

/*
 * Completes a minhash by the sketch of a set of `count` elements, in symbols of 32 bits.  It
 * points to `symbols`, which are zero before.
 */
void
signature_of_sketch(Signature *signature, const uint32_t *full, uint64_t count, uint8_t *symbols)
{
	SignatureHeader *header = &signature->header;

	header->flags |= SIGNATURE_COUNTED | (count == 0 ? SIGNATURE_EMPTY : 0);
	signature->cardinality = Min(count, CARDINALITY_MAX);
	signature->symbols = symbols;
	if (count > 0)
		minhash_pack(full, header->k, signature_bits(header), symbols);
}

/* Returns a guess of how many distinct shingles a text has. */
static size_t
expected_shingles(SchemeId scheme, size_t length)
{
	if (scheme_has_characters(scheme))
		return Min(length, CHARACTER_SHINGLES_MOST);
	return length / BYTES_PER_SHINGLE;
}

/* Makes the minhash of a text. */
static void
minhash_of_text(const SignatureMaker *maker, const char *utf8, size_t length, Signature *signature,
				uint8_t *symbols)
{
	int k = maker->header.k;
	MinhashBuilder builder;
	uint32_t *full;
	uint64_t count;

	minhash_begin(&builder, expected_shingles(maker->scheme, length));
	shingle_text(utf8, length, maker->scheme, minhash_add, &builder);
	if (maker->take != NULL && !maker->take(maker->state, builder.element, builder.table.count))
	{
		signature->header.version = 0;
		table_end(&builder.table);
		host_free(builder.element);
		return;
	}
	full = host_alloc(k * sizeof(uint32_t));
	count = maker->weights != NULL ? minhash_finish_weighed(&builder, maker->weights, k, full) :
									 minhash_finish(&builder, k, full);
	signature_of_sketch(signature, full, count, symbols);
	host_free(full);
}

/* Makes the simhash of a text. */
static void
simhash_of_text(const SignatureMaker *maker, const char *utf8, size_t length, Signature *signature,
				uint8_t *symbols)
{
	SimhashBuilder builder;

	simhash_begin(&builder, maker->header.k);
	shingle_text(utf8, length, maker->scheme, simhash_add, &builder);
	if (builder.elements == 0)
		signature->header.flags |= SIGNATURE_EMPTY;
	simhash_finish(&builder, symbols);
}

/* Returns the signature of a text, which points to `symbols`. */
Signature
signature_of_text(const SignatureMaker *maker, const char *utf8, size_t length, uint8_t *symbols)
{
	Signature signature = {.header = maker->header, .symbols = symbols};

	memset(symbols, 0, signature_symbol_bytes(&maker->header));
	if (signature_is_minhash(&maker->header))
		minhash_of_text(maker, utf8, length, &signature, symbols);
	else
		simhash_of_text(maker, utf8, length, &signature, symbols);
	return signature;
}

/* ---- Comparing ---------------------------------------------------------- */

/* Returns the largest distance whose similarity is at least a threshold. */
int
signature_radius(const SignatureHeader *header, double threshold)
{
	if (signature_is_minhash(header))
		return minhash_radius(header->k, signature_bits(header), threshold);
	return simhash_radius(header->k, threshold);
}

/* Returns the similarity that a distance stands for, from 0 to 1. */
double
signature_similarity(const SignatureHeader *header, int distance)
{
	double similarity = signature_is_minhash(header) ?
		minhash_resemblance(header->k, signature_bits(header), distance) :
		simhash_similarity(header->k, distance);

	return similarity > 0 ? similarity : 0;
}
