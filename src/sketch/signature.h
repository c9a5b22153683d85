/*
 * signature.h: how a minhash or simhash lies in a datum.  Plain C.
 *
 * After the varlena header, at any alignment (values of up to 126 bytes have a
 * one-byte header): a SignatureHeader, for minhash the set's cardinality, then
 * the packed symbols (SYMBOL_BYTES).  Padding bits and reserved flags are zero,
 * so equal values are equal bytes.
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
#define SIGNATURE_MINHASH 0x08 /* ... and that of a minhash: a cardinality follows */
#define SIGNATURE_EMPTY 0x10   /* of the empty set: symbols zero, similar to nothing */
#define SIGNATURE_COUNTED 0x20 /* the cardinality is known (minhash only) */

/* Cardinalities stop at this; zero where unknown or empty. */
#define CARDINALITY_MAX UINT32_MAX

#define SIGNATURE_SYMBOLS_AT(flags) \
	(sizeof(SignatureHeader) + (SIGNATURE_MINHASH & (flags) ? sizeof(uint32_t) : 0))

/* A signature taken apart; symbols points into the value. */
typedef struct Signature
{
	SignatureHeader header;
	uint32_t cardinality;
	const uint8_t *symbols;
} Signature;

static inline int
signature_bits(const SignatureHeader *header)
{
	return 1 << (header->flags & SIGNATURE_LOG_B);
}

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
