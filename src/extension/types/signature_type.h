/*
 * signature_type.h: what the types minhash and simhash share in SQL.  The flags of a value say
 * which of the two it is, so most functions serve both types.
 */
#ifndef NEARDUP_TYPES_SIGNATURE_TYPE_H
#define NEARDUP_TYPES_SIGNATURE_TYPE_H

#include "types/read.h"

#include "utils/varbit.h"

#include "sketch/signature.h"

/* ---- Values ------------------------------------------------------------- */

extern _Noreturn void signature_refuse_bytes(size_t size);

/*
 * Returns the signature, of any recipe version, that fills size bytes.  Throws an error
 * unless header and size agree.  A value of a later recipe version can be stored, shown,
 * sorted and dumped, and cannot be used for anything else.
 */
static inline Signature
signature_of_any_bytes(const void *bytes, size_t size)
{
	Signature signature;

	if (size <= sizeof(SignatureHeader) + sizeof(uint32))
		signature_refuse_bytes(size);
	signature = signature_read(bytes);
	if (signature.header.version == 0 || (signature.header.flags & SIGNATURE_LOG_B) > 5 ||
		(signature.header.flags & SIGNATURE_SET) != 0 || size != signature_size(&signature.header))
		signature_refuse_bytes(size);
	return signature;
}

/* Returns the signature of a datum.  The symbols are in a copy only where it was toasted. */
static inline Signature
signature_of_any(Datum datum)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);

	return signature_of_any_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

extern Signature signature_of_datum(Datum datum);
extern bool signature_check_recipe(const SignatureHeader *header, Node *context);

#define PG_GETARG_SIGNATURE(n) signature_of_datum(PG_GETARG_DATUM(n))
#define PG_GETARG_ANY_SIGNATURE(n) signature_of_any(PG_GETARG_DATUM(n))

extern struct varlena *signature_new(const SignatureHeader *header, uint32 cardinality,
									 size_t prefix, uint8 **symbols);
extern struct varlena *signature_value(const Signature *signature, size_t prefix);
extern struct varlena *signature_make(const SignatureMaker *maker, Datum text);

/* ---- Shapes ------------------------------------------------------------- */

extern bool check_minhash_shape(int64 k, int64 b, Node *context);
extern bool check_simhash_shape(int64 f, Node *context);
extern char *signature_shape(const SignatureHeader *header);
extern int32 signature_typmod(int k, int b);
extern void check_counted(const Signature *signature);

/* ---- Two values --------------------------------------------------------- */

extern const char *signature_call(const SignatureHeader *header);
extern _Noreturn void signature_refuse_pair(const SignatureHeader *x, const SignatureHeader *y);

/* Throws an error unless two signatures are comparable. */
static inline void
signature_check_pair(const Signature *x, const Signature *y)
{
	if (!signature_comparable(&x->header, &y->header))
		signature_refuse_pair(&x->header, &y->header);
}

/* Returns how many symbols differ: all of them where either set is empty. */
static inline int
signature_distance(const Signature *x, const Signature *y)
{
	signature_check_pair(x, y);
	return signature_differing(x, y);
}

/* Returns whether comparable signatures, neither of them empty, differ in at most radius symbols. */
static inline bool
signature_near(const Signature *x, const Signature *y, int radius)
{
	return !signature_is_empty(x) && !signature_is_empty(y) &&
		symbol_distance(x->symbols, y->symbols, x->header.k, signature_bits(&x->header)) <= radius;
}

/* Does what signature_near() does; throws an error unless the signatures are comparable. */
static inline bool
signature_within(const Signature *x, const Signature *y, int radius)
{
	signature_check_pair(x, y);
	return signature_near(x, y, radius);
}

extern bool check_distance(const SignatureHeader *header, int distance, Node *context);
extern int signature_compare(const Signature *x, const Signature *y);
extern Datum neardup_minhash_union(PG_FUNCTION_ARGS);

/* ---- Text and binary format -------------------------------------------- */

extern Signature signature_of_message(StringInfo message, uint8 kind);
extern Datum signature_in(FunctionCallInfo fcinfo, uint8 kind);
extern Datum signature_recv(FunctionCallInfo fcinfo, uint8 kind);

/* ---- Casts -------------------------------------------------------------- */

extern void check_castable(const Signature *signature, const char *target);
extern struct varlena *signature_of_bits(VarBit *bits, uint8 kind);

#endif
