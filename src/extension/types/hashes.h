/*
 * hashes.h: hashes made elsewhere, in columns of bigint and bit(n), as signatures.
 */
#ifndef NEARDUP_TYPES_HASHES_H
#define NEARDUP_TYPES_HASHES_H

#include "types/signature_type.h"

extern bool signature_read_bit(Datum datum, Signature *signature);
extern Signature signature_of_bit(Datum datum);
extern Signature signature_of_int8(Datum datum, uint64 *bits);

#endif
