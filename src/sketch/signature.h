/*
 * signature.h: the layout of a minhash or simhash value.
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
	uint8_t flags;   /* log2 b and SIGNATURE_... */
	uint16_t k;      /* symbols */
	SchemeId scheme;
} SignatureHeader;

#define SIGNATURE_LOG_B 0x07   /* 0 to 5 */
#define SIGNATURE_SIMHASH 0x00 /* the kind of a simhash ... */
#define SIGNATURE_MINHASH 0x08 /* ... and that of a minhash, which has a cardinality */
#define SIGNATURE_EMPTY 0x10   /* of the empty set: all symbols are zero; similar to nothing */
#define SIGNATURE_COUNTED 0x20 /* the cardinality is known (minhash only) */
#define SIGNATURE_SET \
	0x40 /* in an index: a set, of which the symbols are a record (index/sets.h) */

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

#endif
