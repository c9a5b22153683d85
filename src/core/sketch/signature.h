/*
 * signature.h: the layout of a minhash or simhash value, its making, and comparisons.
 *
 * After the varlena header, at any alignment (a value of up to 126 bytes has a header of
 * one byte), come a SignatureHeader, the cardinality of the set (minhash only), and the
 * packed symbols (SYMBOL_BYTES).  Padding bits and reserved flags are zero, so equal
 * values are equal bytes.
 */
#ifndef NEARDUP_SKETCH_SIGNATURE_H
#define NEARDUP_SKETCH_SIGNATURE_H

#include <string.h>

#include "sketch/sketch.h"

typedef struct SignatureHeader
{
	uint8_t version; /* RECIPE_VERSION, or a later one */
	uint8_t flags;   /* log2 b and flags, as below */
	uint16_t k;      /* symbols */
	SchemeId scheme;
} SignatureHeader;

#define SIGNATURE_LOG_B 0x07   /* 0 to 5 */
#define SIGNATURE_SIMHASH 0x00 /* the kind of a simhash */
#define SIGNATURE_MINHASH 0x08 /* the kind of a minhash, which has a cardinality */
#define SIGNATURE_EMPTY 0x10   /* the empty set: all symbols are zero; similar to nothing */
#define SIGNATURE_COUNTED 0x20 /* the cardinality is known (minhash only) */
#define SIGNATURE_SET \
	0x40 /* the kind of a set in an index, whose symbols are a record (store/sets.h) */

/* The k of a set in an index; b is 1. */
#define SET_SYMBOLS 256

/* A greater cardinality is stored as this; one of an empty or unknown set as 0. */
#define CARDINALITY_MAX UINT32_MAX

#define SIGNATURE_SYMBOLS_AT(flags) \
	(sizeof(SignatureHeader) + (SIGNATURE_MINHASH & (flags) ? sizeof(uint32_t) : 0))

/* A signature in parts; symbols points into the value. */
typedef struct Signature
{
	SignatureHeader header;
	uint32_t cardinality;
	const uint8_t *symbols;
} Signature;

/* Returns b. */
static inline int
signature_bits(const SignatureHeader *header)
{
	return 1 << (header->flags & SIGNATURE_LOG_B);
}

/* Returns the parts of a value that starts behind its varlena header. */
static inline Signature
signature_read(const void *value)
{
	Signature signature;

	memcpy(&signature.header, value, sizeof(SignatureHeader));
	signature.cardinality = 0;
	if (signature.header.flags & SIGNATURE_MINHASH)
		memcpy(&signature.cardinality, (const char *) value + sizeof(SignatureHeader),
			   sizeof(uint32_t));
	signature.symbols = (const uint8_t *) value + SIGNATURE_SYMBOLS_AT(signature.header.flags);
	return signature;
}

/* Returns whether the set is empty. */
static inline bool
signature_is_empty(const Signature *signature)
{
	return (signature->header.flags & SIGNATURE_EMPTY) != 0;
}

static inline bool
signature_is_minhash(const SignatureHeader *header)
{
	return (header->flags & SIGNATURE_MINHASH) != 0;
}

static inline const char *
signature_type_name(uint8_t flags)
{
	return (flags & SIGNATURE_MINHASH) != 0 ? "minhash" : "simhash";
}

/* Returns how many bytes the symbols take. */
static inline size_t
signature_symbol_bytes(const SignatureHeader *header)
{
	return SYMBOL_BYTES(header->k, signature_bits(header));
}

/* Returns how many bytes follow the varlena header. */
static inline size_t
signature_size(const SignatureHeader *header)
{
	return SIGNATURE_SYMBOLS_AT(header->flags) + signature_symbol_bytes(header);
}

/* ---- Making (signature.c) ------------------------------------------------ */

/* What makes signatures of texts. */
typedef struct SignatureMaker
{
	SignatureHeader header; /* the header of all; with weights its scheme is of weighed shingles */
	SchemeId scheme;        /* the scheme of the shingles of a text */
	const Weights *weights; /* the weights for minhash; NULL: none */
	/* For minhash: is called with the distinct elements, as mix64 of each.  If it returns false, the
	   signature is not made, and has version 0.  Or NULL. */
	bool (*take)(void *state, const uint64_t *element, size_t count);
	void *state; /* the state of take */
} SignatureMaker;

extern SignatureHeader signature_header(uint8_t kind, int k, int b, SchemeId scheme);
extern bool signature_shape_is_valid(const SignatureHeader *header);
extern uint8_t *signature_write(void *value, const SignatureHeader *header, uint32_t cardinality);
extern void signature_of_sketch(Signature *signature, const uint32_t *full, uint64_t count,
								uint8_t *symbols);
extern Signature signature_of_text(const SignatureMaker *maker, const char *utf8, size_t length,
								   uint8_t *symbols);

/* ---- Comparing (signature.c) --------------------------------------------- */

#define SIGNATURE_SAME_FLAGS (SIGNATURE_LOG_B | SIGNATURE_MINHASH | SIGNATURE_SET)

/* Returns whether two signatures have one shape, scheme and recipe version. */
static inline bool
signature_comparable(const SignatureHeader *x, const SignatureHeader *y)
{
	return x->version == y->version && x->k == y->k && x->scheme == y->scheme &&
		((x->flags ^ y->flags) & SIGNATURE_SAME_FLAGS) == 0;
}

/* Returns how many symbols of comparable signatures differ: all of them where either set is empty. */
static inline int
signature_differing(const Signature *x, const Signature *y)
{
	if (signature_is_empty(x) || signature_is_empty(y))
		return x->header.k;
	return symbol_distance(x->symbols, y->symbols, x->header.k, signature_bits(&x->header));
}

extern double signature_similarity(const SignatureHeader *header, int distance);
extern int signature_radius(const SignatureHeader *header, double threshold);

#endif
