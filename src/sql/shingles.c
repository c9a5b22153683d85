/*
 * shingles.c: SQL functions that make shingles, compare and combine them.
 */
#include "sql/shingles.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"


PG_FUNCTION_INFO_V1(neardup_to_shingles_text);
PG_FUNCTION_INFO_V1(neardup_to_shingles_antecedents);
PG_FUNCTION_INFO_V1(neardup_to_shingles_text_array);
PG_FUNCTION_INFO_V1(neardup_to_shingles_bigint_array);
PG_FUNCTION_INFO_V1(neardup_shingle_hashes);
PG_FUNCTION_INFO_V1(neardup_shingles_eq);
PG_FUNCTION_INFO_V1(neardup_shingles_ne);
PG_FUNCTION_INFO_V1(neardup_shingles_lt);
PG_FUNCTION_INFO_V1(neardup_shingles_le);
PG_FUNCTION_INFO_V1(neardup_shingles_gt);
PG_FUNCTION_INFO_V1(neardup_shingles_ge);
PG_FUNCTION_INFO_V1(neardup_shingles_cmp);
PG_FUNCTION_INFO_V1(neardup_shingles_hash);
PG_FUNCTION_INFO_V1(neardup_shingles_hash_extended);
PG_FUNCTION_INFO_V1(neardup_cardinality_shingles);
PG_FUNCTION_INFO_V1(neardup_shingle_total);
PG_FUNCTION_INFO_V1(neardup_shingles_intersection);
PG_FUNCTION_INFO_V1(neardup_shingles_union);
PG_FUNCTION_INFO_V1(neardup_shingles_difference);
PG_FUNCTION_INFO_V1(neardup_similarity_shingles);
PG_FUNCTION_INFO_V1(neardup_shingles_distance);
PG_FUNCTION_INFO_V1(neardup_containment_shingles);
PG_FUNCTION_INFO_V1(neardup_weighted_jaccard);
PG_FUNCTION_INFO_V1(neardup_cosine_similarity_shingles);
PG_FUNCTION_INFO_V1(neardup_is_similar_shingles);

/* ---- Making ------------------------------------------------------------- */

/* The value of what was gathered; the builder is spent. */
static Shingles *
shingles_of_builder(BagBuilder *builder, SchemeId scheme)
{
	Bag bag;
	Shingles *shingles;

	if (!bag_finish(builder, &bag))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text has more than %u distinct shingles", PG_UINT32_MAX)));
	shingles = shingles_of_bag(&bag, RECIPE_VERSION, scheme);
	bag_free(&bag);
	return shingles;
}

Datum
neardup_to_shingles_text(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(1));
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	BagBuilder builder;

	bag_begin(&builder);
	shingle_text(utf8.bytes, utf8.length, scheme, bag_add, &builder);
	utf8_free(&utf8);
	PG_RETURN_POINTER(shingles_of_builder(&builder, scheme));
}

/* Spot signatures with lists of one's own; not strict, since either list may be NULL. */
Datum
neardup_to_shingles_antecedents(PG_FUNCTION_ARGS)
{
	BagBuilder builder;
	SpotWords *words;
	SchemeId scheme;
	Utf8Text utf8;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	words = spot_words_of_arguments(fcinfo, &scheme);
	utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	bag_begin(&builder);
	spots_of_text(utf8.bytes, utf8.length, words, bag_add, &builder);
	utf8_free(&utf8);
	spot_words_free(words);
	PG_RETURN_POINTER(shingles_of_builder(&builder, scheme));
}

Datum
neardup_to_shingles_text_array(PG_FUNCTION_ARGS)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	BagBuilder builder;

	bag_begin(&builder);
	hashes_of_text_array(array, bag_add, &builder);
	PG_FREE_IF_COPY(array, 0);
	PG_RETURN_POINTER(shingles_of_builder(&builder, SCHEME_ID(SCHEME_TOKENS, 0)));
}

Datum
neardup_to_shingles_bigint_array(PG_FUNCTION_ARGS)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	BagBuilder builder;

	bag_begin(&builder);
	hashes_of_int8_array(array, bag_add, &builder);
	PG_FREE_IF_COPY(array, 0);
	PG_RETURN_POINTER(shingles_of_builder(&builder, SCHEME_ID(SCHEME_HASHES, 0)));
}

/* The elements, ascending, without their frequencies. */
Datum
neardup_shingle_hashes(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	ArrayType *array = int8_array(shingles->element, shingles->count);

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_ARRAYTYPE_P(array);
}

/* ---- Two arguments ------------------------------------------------------ */

/* Both arguments of a function, detoasted. */
typedef struct Operands
{
	Shingles *x;
	Shingles *y;
	Bag bag_x;
	Bag bag_y;
} Operands;

static Operands
operands_get(FunctionCallInfo fcinfo)
{
	Operands operands;

	operands.x = shingles_of_datum(PG_GETARG_DATUM(0));
	operands.y = shingles_of_datum(PG_GETARG_DATUM(1));
	operands.bag_x = shingles_bag(operands.x);
	operands.bag_y = shingles_bag(operands.y);
	return operands;
}

static void
operands_free(FunctionCallInfo fcinfo, Operands *operands)
{
	PG_FREE_IF_COPY(operands->x, 0);
	PG_FREE_IF_COPY(operands->y, 1);
}

/* Both arguments, which must be of one recipe and scheme. */
static Operands
operands_get_alike(FunctionCallInfo fcinfo)
{
	Operands operands = operands_get(fcinfo);

	check_same_recipe("shingles", operands.x->version, operands.x->scheme, operands.y->version,
					  operands.y->scheme);
	return operands;
}

/* ---- Order -------------------------------------------------------------- */

static int
compare_numbers(int64 x, int64 y)
{
	return (x > y) - (x < y);
}

/* By elements, then a missing one first, then frequencies. */
static int
compare_bags(const Bag *x, const Bag *y)
{
	uint32 both = Min(x->count, y->count);
	int order = 0;
	uint32 i;

	for (i = 0; order == 0 && i < both; i++)
	{
		if (i % 8192 == 0)
			host_check_interrupts();
		order = compare_numbers(x->element[i], y->element[i]);
	}
	if (order == 0)
		order = compare_numbers(x->count, y->count);
	for (i = 0; order == 0 && i < both; i++)
		order = compare_numbers(bag_frequency(x, i), bag_frequency(y, i));
	return order;
}

/* A total order of all values, recipe and scheme first. */
static int
compare_arguments(FunctionCallInfo fcinfo)
{
	Operands operands = operands_get(fcinfo);
	int order = compare_numbers(operands.x->version, operands.y->version);

	if (order == 0)
		order = compare_numbers(operands.x->scheme, operands.y->scheme);
	if (order == 0)
		order = compare_bags(&operands.bag_x, &operands.bag_y);
	operands_free(fcinfo, &operands);
	return order;
}

Datum
neardup_shingles_eq(PG_FUNCTION_ARGS)
{
	/* Values of different sizes need no detoasting. */
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) != toast_raw_datum_size(PG_GETARG_DATUM(1)))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(compare_arguments(fcinfo) == 0);
}

Datum
neardup_shingles_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!DatumGetBool(neardup_shingles_eq(fcinfo)));
}

Datum
neardup_shingles_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_arguments(fcinfo) < 0);
}

Datum
neardup_shingles_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_arguments(fcinfo) <= 0);
}

Datum
neardup_shingles_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_arguments(fcinfo) > 0);
}

Datum
neardup_shingles_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_arguments(fcinfo) >= 0);
}

Datum
neardup_shingles_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_arguments(fcinfo));
}

/* Equal values are equal bytes: frequencies are stored only where one is not 1. */
Datum
neardup_shingles_hash(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	uint32 hash = hash_bytes((unsigned char *) VARDATA(shingles), VARSIZE(shingles) - VARHDRSZ);

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_INT32((int32) hash);
}

Datum
neardup_shingles_hash_extended(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	uint64 hash = hash_bytes_extended((unsigned char *) VARDATA(shingles),
									  VARSIZE(shingles) - VARHDRSZ, PG_GETARG_INT64(1));

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_INT64((int64) hash);
}

/* ---- Sets --------------------------------------------------------------- */

Datum
neardup_cardinality_shingles(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	int64 count = shingles->count;

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_INT64(count);
}

Datum
neardup_shingle_total(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	int64 total = (int64) bag_total(&bag);

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_INT64(total);
}

static Datum
combine_arguments(FunctionCallInfo fcinfo, Bag (*combine)(const Bag *, const Bag *))
{
	Operands operands = operands_get_alike(fcinfo);
	Bag bag = combine(&operands.bag_x, &operands.bag_y);
	Shingles *result = shingles_of_bag(&bag, operands.x->version, operands.x->scheme);

	bag_free(&bag);
	operands_free(fcinfo, &operands);
	PG_RETURN_POINTER(result);
}

Datum
neardup_shingles_intersection(PG_FUNCTION_ARGS)
{
	return combine_arguments(fcinfo, bag_intersection);
}

Datum
neardup_shingles_union(PG_FUNCTION_ARGS)
{
	return combine_arguments(fcinfo, bag_union);
}

Datum
neardup_shingles_difference(PG_FUNCTION_ARGS)
{
	return combine_arguments(fcinfo, bag_difference);
}

/* ---- Similarity --------------------------------------------------------- */

static double
measure_arguments(FunctionCallInfo fcinfo, double (*measure)(const Bag *, const Bag *))
{
	Operands operands = operands_get_alike(fcinfo);
	double result = measure(&operands.bag_x, &operands.bag_y);

	operands_free(fcinfo, &operands);
	return result;
}

Datum
neardup_similarity_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, bag_resemblance));
}

Datum
neardup_shingles_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(1 - measure_arguments(fcinfo, bag_resemblance));
}

Datum
neardup_containment_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, bag_containment));
}

Datum
neardup_weighted_jaccard(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, bag_weighted_resemblance));
}

Datum
neardup_cosine_similarity_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, bag_cosine));
}

Datum
neardup_is_similar_shingles(PG_FUNCTION_ARGS)
{
	double threshold = PG_GETARG_FLOAT8(2);
	Operands operands;
	bool similar;

	check_threshold(threshold, NULL);
	operands = operands_get_alike(fcinfo);
	similar = bag_is_similar(&operands.bag_x, &operands.bag_y, threshold);
	operands_free(fcinfo, &operands);
	PG_RETURN_BOOL(similar);
}
