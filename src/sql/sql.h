/*
 * sql.h: what all files that face PostgreSQL share: texts, schemes, arguments, results and
 * errors of SQL functions.
 *
 * A function with a context saves its errors there, as errsave() does for input functions
 * on PostgreSQL 16 and later, and returns false; without one it throws them.
 */
#ifndef NEARDUP_SQL_SQL_H
#define NEARDUP_SQL_SQL_H

#include "compat.h"

#include "access/tupdesc.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/array.h"

#include "sketch/bag.h"
#include "sketch/sketch.h"

/* ---- Texts -------------------------------------------------------------- */

/* A text argument, detoasted and as UTF-8. */
typedef struct Utf8Text
{
	const char *bytes;
	size_t length;
	text *detoasted; /* NULL where the datum needed no copy */
	char *converted; /* NULL where the server's encoding is UTF-8 */
} Utf8Text;

/* Throws an error for bytes above 0x7F where the server's encoding is SQL_ASCII. */
extern Utf8Text utf8_of_datum(Datum datum);

/* Frees the copies that utf8_of_datum() made. */
extern void utf8_free(Utf8Text *utf8);

/* Throws the error for two texts that have too many symbols to be compared. */
extern _Noreturn void refuse_long_texts(void);

/* Returns a text in the server's encoding. */
extern text *text_of_utf8(const char *utf8, size_t length);

/* ---- Schemes and recipes ------------------------------------------------ */

/* Returns the scheme of a name, which must read text ('word 3', not 'tokens'). */
extern SchemeId text_scheme_of_datum(Datum name);

/* Does the same for argument n, and remembers the last name from call to call. */
extern SchemeId text_scheme_of_argument(FunctionCallInfo fcinfo, int n);

/*
 * Returns the lists of spot signatures in arguments 1 to 3: the name of a scheme,
 * antecedents and stop words (text[]; NULL for the language's own).  *made is the scheme
 * of the spot signatures that they make.
 */
extern SpotWords *spot_words_of_arguments(FunctionCallInfo fcinfo, SchemeId *made);

/*
 * Returns the call that makes a value of a scheme, for hints: to_minhash(text, k => 512,
 * scheme => 'word 3').  sizes are the arguments in between, each after a comma, or "".
 */
extern const char *scheme_call(const char *function, const char *sizes, SchemeId scheme);

/*
 * Throws the error for two values of different recipes.  type is the plural for the
 * message: "shingles", "minhash values"; the calls are those that make such values.
 */
extern _Noreturn void refuse_recipes(const char *type, int version_x, SchemeId scheme_x,
									 int version_y, SchemeId scheme_y, const char *call_x,
									 const char *call_y);

/* Throws that error unless two sets of shingles have the same recipe version and scheme. */
extern void check_same_recipe(int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y);

/*
 * May a value of a recipe version have this scheme?  A version later than RECIPE_VERSION
 * may have any.
 */
extern bool recipe_has_scheme(int version, SchemeId scheme);

/* ---- Arguments ---------------------------------------------------------- */

/* Returns false after an error unless 0 < threshold <= 1. */
extern bool check_threshold(double threshold, Node *context);

/* Returns argument n; throws an error, which calls it by its name, unless it is from 1 to most. */
extern int32 number_argument(FunctionCallInfo fcinfo, int n, const char *name, int32 most);

/* Returns argument n; throws an error, which calls it by its name, unless 0 < share <= 1. */
extern double share_argument(FunctionCallInfo fcinfo, int n, const char *name);

/* Is argument n the same in all calls from this call site? */
extern bool is_constant_argument(const FmgrInfo *function, int n);

/* Throws an error if an array, called by what it is of, has a NULL element. */
extern void check_no_nulls(ArrayType *array, const char *elements);

/* The same, and for more than one dimension.  Returns the number of elements. */
extern int array_count(ArrayType *array, const char *elements);

/* Gives many hashes to sink in batches, with checks for interrupts in between. */
extern void hashes_in_batches(const uint64_t *hashes, size_t count, HashSink sink, void *state);

/*
 * Give the elements of a text[] (hashed by shingle_of_token) or of a bigint[] to sink,
 * in order and in batches.
 */
extern void hashes_of_text_array(ArrayType *array, HashSink sink, void *state);
extern void hashes_of_int8_array(ArrayType *array, HashSink sink, void *state);

/* Returns the finite weights of a float8[], one for each of count tokens. */
extern const double *weights_of_array(ArrayType *array, int count);

/* ---- Results ------------------------------------------------------------ */

/* Returns the descriptor of the row or rows that a function returns. */
extern TupleDesc result_row(FunctionCallInfo fcinfo);

/* Gives a set-returning function an empty tuplestore for its rows. */
extern void begin_rows(FunctionCallInfo fcinfo);

/* Fills in the header of an array of `size` bytes, which holds count > 0 elements; returns the array. */
extern ArrayType *array_header(ArrayType *array, Oid type, size_t size, size_t count);

/* Returns an array of count elements, which take so many bytes as they lie in it. */
extern ArrayType *make_array(Oid type, const void *elements, size_t bytes, size_t count);

/* Returns a bigint[]. */
extern ArrayType *int8_array(const int64 *number, size_t count);

/* ---- Errors ------------------------------------------------------------- */

/*
 * Calls a function in a subtransaction, in the caller's memory context.  Returns the error
 * that it raised, after a rollback of what it did; NULL if it raised none.
 */
extern ErrorData *catch_error(void (*function)(void *state), void *state);

/* ---- Objects of this extension ------------------------------------------- */

/*
 * Return the type, function or operator of a name in the schema of a function of this
 * extension, whatever the search_path is, or InvalidOid.
 */
extern Oid extension_type(Oid function, const char *name);
extern Oid extension_function(Oid function, const char *name, Oid first, Oid second);
extern Oid extension_operator(Oid function, const char *name, Oid left, Oid right);

/* Is it minhash, simhash, bit or bigint? */
extern bool is_signature_type(Oid function, Oid type);

/* ---- Ordered types ------------------------------------------------------ */

/*
 * The SQL functions PREFIX_lt to PREFIX_cmp of a type.  detoast is a function of a datum,
 * and compare a three-way comparison of what it returns.
 */
#define ORDER_FUNCTIONS(prefix, detoast, compare) \
	static int prefix##_compare(FunctionCallInfo fcinfo) \
	{ \
		void *x = detoast(PG_GETARG_DATUM(0)); \
		void *y = detoast(PG_GETARG_DATUM(1)); \
		int order = compare(x, y); \
		PG_FREE_IF_COPY(x, 0); \
		PG_FREE_IF_COPY(y, 1); \
		return order; \
	} \
	COMPARISON_FUNCTION(prefix##_lt, PG_RETURN_BOOL(prefix##_compare(fcinfo) < 0)); \
	COMPARISON_FUNCTION(prefix##_le, PG_RETURN_BOOL(prefix##_compare(fcinfo) <= 0)); \
	COMPARISON_FUNCTION(prefix##_gt, PG_RETURN_BOOL(prefix##_compare(fcinfo) > 0)); \
	COMPARISON_FUNCTION(prefix##_ge, PG_RETURN_BOOL(prefix##_compare(fcinfo) >= 0)); \
	COMPARISON_FUNCTION(prefix##_cmp, PG_RETURN_INT32(prefix##_compare(fcinfo)))

/* The same with PREFIX_eq and PREFIX_ne. */
#define COMPARISON_FUNCTIONS(prefix, detoast, compare) \
	ORDER_FUNCTIONS(prefix, detoast, compare); \
	COMPARISON_FUNCTION(prefix##_eq, PG_RETURN_BOOL(prefix##_compare(fcinfo) == 0)); \
	COMPARISON_FUNCTION(prefix##_ne, PG_RETURN_BOOL(prefix##_compare(fcinfo) != 0))

#define COMPARISON_FUNCTION(name, return_it) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) \
	{ \
		return_it; \
	} \
	/* keep compiler quiet - no extra ; */ \
	extern int no_such_variable

/* The SQL functions PREFIX_hash and PREFIX_hash_extended of a type whose equal values are equal bytes. */
#define HASH_FUNCTIONS(prefix, detoast) \
	PG_FUNCTION_INFO_V1(prefix##_hash); \
	Datum prefix##_hash(PG_FUNCTION_ARGS) \
	{ \
		void *value = detoast(PG_GETARG_DATUM(0)); \
		uint32 hash = hash_bytes((unsigned char *) VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)); \
		PG_FREE_IF_COPY(value, 0); \
		PG_RETURN_INT32((int32) hash); \
	} \
	PG_FUNCTION_INFO_V1(prefix##_hash_extended); \
	Datum prefix##_hash_extended(PG_FUNCTION_ARGS) \
	{ \
		void *value = detoast(PG_GETARG_DATUM(0)); \
		uint64 hash = hash_bytes_extended((unsigned char *) VARDATA_ANY(value), \
										  VARSIZE_ANY_EXHDR(value), PG_GETARG_INT64(1)); \
		PG_FREE_IF_COPY(value, 0); \
		PG_RETURN_INT64((int64) hash); \
	} \
	/* keep compiler quiet - no extra ; */ \
	extern int no_such_variable

#endif
