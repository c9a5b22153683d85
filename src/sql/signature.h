/*
 * signature.h: what the SQL faces of minhash and simhash share.  Which of
 * the two a value is stands in its flags, so most functions serve both types.
 */
#ifndef NEARDUP_SQL_SIGNATURE_H
#define NEARDUP_SQL_SIGNATURE_H

#include "sql/read.h"

#include "utils/varbit.h"

#include "sketch/signature.h"

/* ---- Values ------------------------------------------------------------- */

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
signature_type_name(uint8 flags)
{
	return (flags & SIGNATURE_MINHASH) != 0 ? "minhash" : "simhash";
}

/* Bytes of symbols, and of all that follows the varlena header. */
static inline size_t
signature_symbol_bytes(const SignatureHeader *header)
{
	return SYMBOL_BYTES(header->k, signature_bits(header));
}

static inline size_t
signature_size(const SignatureHeader *header)
{
	return SIGNATURE_SYMBOLS_AT(header->flags) + signature_symbol_bytes(header);
}

/* A header of this recipe; kind is SIGNATURE_MINHASH or SIGNATURE_SIMHASH. */
extern SignatureHeader signature_header(uint8 kind, int k, int b, SchemeId scheme);

/*
 * Take apart what fills size bytes, of this recipe or a later one; an error unless
 * header and size agree.  Values of later recipes are stored, shown, sorted and
 * dumped like others, and used for nothing else.
 */
extern Signature signature_of_any_bytes(const void *bytes, size_t size);

/* The same for a datum.  Points into a copy only where that was toasted. */
extern Signature signature_of_any(Datum datum);

/* The same for a datum that is to be compared, or made something of: of this recipe. */
extern Signature signature_of_datum(Datum datum);

/* Returns false after an error unless a signature is of the recipe known here. */
extern bool signature_check_recipe(const SignatureHeader *header, Node *context);

#define PG_GETARG_SIGNATURE(n) signature_of_datum(PG_GETARG_DATUM(n))
#define PG_GETARG_ANY_SIGNATURE(n) signature_of_any(PG_GETARG_DATUM(n))

/*
 * A new value with room for prefix bytes in front; *symbols are all zero and
 * to be filled.
 */
extern struct varlena *signature_new(const SignatureHeader *header, uint32 cardinality,
									 size_t prefix, uint8 **symbols);

/* ---- Shapes ------------------------------------------------------------- */

/* Return false after an error, in context as errsave() has it, unless there is such a type. */
extern bool check_minhash_shape(int64 k, int64 b, Node *context);
extern bool check_simhash_shape(int64 f, Node *context);

/* "minhash(512, 1)" or "simhash(64)", palloc'd. */
extern char *signature_shape(const SignatureHeader *header);

/* A typmod holds both k and b, for simhash with b = 1. */
extern int32 signature_typmod(int k, int b);

/* Returns false after an error that names both shapes unless typmod is -1 or the value's. */
extern bool signature_check_typmod(const SignatureHeader *header, int32 typmod, Node *context);

/* An error unless the value (a minhash) knows its set's cardinality. */
extern void check_counted(const Signature *signature);

/* text_scheme_of_datum of an argument, remembered from call to call. */
extern SchemeId text_scheme_of_argument(FunctionCallInfo fcinfo, int n);

/* ---- Two values --------------------------------------------------------- */

/* An error that names both unless shape, scheme and recipe are the same. */
extern _Noreturn void signature_refuse_pair(const SignatureHeader *x, const SignatureHeader *y);

#define SIGNATURE_SAME_FLAGS (SIGNATURE_LOG_B | SIGNATURE_MINHASH)

static inline bool
signature_comparable(const SignatureHeader *x, const SignatureHeader *y)
{
	return x->version == y->version && x->k == y->k && x->scheme == y->scheme &&
		((x->flags ^ y->flags) & SIGNATURE_SAME_FLAGS) == 0;
}

static inline void
signature_check_pair(const Signature *x, const Signature *y)
{
	if (!signature_comparable(&x->header, &y->header))
		signature_refuse_pair(&x->header, &y->header);
}

/* How many symbols differ: all of them where either is empty. */
static inline int
signature_distance(const Signature *x, const Signature *y)
{
	signature_check_pair(x, y);
	if (signature_is_empty(x) || signature_is_empty(y))
		return x->header.k;
	return symbol_distance(x->symbols, y->symbols, x->header.k, signature_bits(&x->header));
}

/* Are both of something, and at most radius symbols apart? */
static inline bool
signature_within(const Signature *x, const Signature *y, int radius)
{
	signature_check_pair(x, y);
	return !signature_is_empty(x) && !signature_is_empty(y) &&
		symbol_distance(x->symbols, y->symbols, x->header.k, signature_bits(&x->header)) <= radius;
}

/* The similarity that a distance tells, in [0, 1]. */
extern double signature_similarity(const SignatureHeader *header, int distance);

/* The distance that a similarity allows, which must be a threshold. */
extern int signature_radius(const SignatureHeader *header, double threshold);

/* Returns false after an error unless two such signatures can have this distance. */
extern bool check_distance(const SignatureHeader *header, int distance, Node *context);

/* A total order in which only equal bytes are equal, alike on every machine. */
extern int signature_compare(const Signature *x, const Signature *y);

/* ---- Text and binary format (signature_io.c) ----------------------------- */

/*
 * Reads a value of a kind with room for prefix bytes in front; NULL after an error
 * that the reader has saved.
 */
extern struct varlena *signature_parse(TextReader *reader, uint8 kind, size_t prefix);
extern void signature_print(StringInfo out, const Signature *signature);

extern struct varlena *signature_receive(StringInfo in, uint8 kind, size_t prefix);
extern void signature_send(StringInfo out, const Signature *signature);

/* ---- Casts -------------------------------------------------------------- */

/* An error for the empty set, which has no such form. */
extern void check_castable(const Signature *signature, const char *target);

/* A foreign value of one bit a symbol; the caller checks the shape. */
extern struct varlena *signature_of_bits(VarBit *bits, uint8 kind);

/* ---- Values of other types (hashes.c) -------------------------------- */

/* Of a bit(n).  Points into the datum, or into a copy where that was toasted. */
extern Signature signature_of_bit(Datum datum);

/* Of a bigint.  Points to bits, which are filled in. */
extern Signature signature_of_int8(Datum datum, uint64 *bits);

/* ---- Comparison functions ----------------------------------------------- */

/* An SQL function of two values of one type, made from a three-way compare(). */
#define COMPARISON_FUNCTION(name, compare, return_it) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) \
	{ \
		struct varlena *x = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)); \
		struct varlena *y = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1)); \
		int result = compare(x, y); \
		PG_FREE_IF_COPY(x, 0); \
		PG_FREE_IF_COPY(y, 1); \
		return_it; \
	} \
	/* keep compiler quiet - no extra ; */ \
	extern int no_such_variable

#define COMPARISON_FUNCTIONS(prefix, compare) \
	COMPARISON_FUNCTION(prefix##_eq, compare, PG_RETURN_BOOL(result == 0)); \
	COMPARISON_FUNCTION(prefix##_ne, compare, PG_RETURN_BOOL(result != 0)); \
	COMPARISON_FUNCTION(prefix##_lt, compare, PG_RETURN_BOOL(result < 0)); \
	COMPARISON_FUNCTION(prefix##_le, compare, PG_RETURN_BOOL(result <= 0)); \
	COMPARISON_FUNCTION(prefix##_gt, compare, PG_RETURN_BOOL(result > 0)); \
	COMPARISON_FUNCTION(prefix##_ge, compare, PG_RETURN_BOOL(result >= 0)); \
	COMPARISON_FUNCTION(prefix##_cmp, compare, PG_RETURN_INT32(result))

#endif
