/*
 * shingles.c: SQL functions that make shingles, compare and combine them.
 */
#include "types/shingles_type.h"

/* ---- Making ------------------------------------------------------------- */

/* Returns the value of what was gathered; frees the builder. */
static Shingles *
shingles_of_builder(BagBuilder *builder, SchemeId scheme)
{
	Bag bag;
	Shingles *shingles;

	if (!bag_finish(builder, &bag))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text has more than %u distinct shingles", PG_UINT32_MAX),
				 errhint("Divide the text into parts, or make a minhash of it.")));
	shingles = shingles_of_bag(&bag, RECIPE_VERSION, scheme);
	bag_free(&bag);
	return shingles;
}

/* Returns the shingles of a text. */
static Shingles *
shingles_of_text(Datum text, SchemeId scheme)
{
	Utf8Text utf8 = utf8_of_datum(text);
	BagBuilder builder;

	bag_begin(&builder);
	shingle_text(utf8.bytes, utf8.length, scheme, bag_add, &builder);
	utf8_free(&utf8);
	return shingles_of_builder(&builder, scheme);
}

/* to_shingles(text, scheme text) returns shingles */
PG_FUNCTION_INFO_V1(neardup_to_shingles_text);
Datum
neardup_to_shingles_text(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_argument(fcinfo, 1);

	PG_RETURN_POINTER(shingles_of_text(PG_GETARG_DATUM(0), scheme));
}

/* text_similarity(text, text, scheme text) returns float8 */
PG_FUNCTION_INFO_V1(neardup_text_similarity);
Datum
neardup_text_similarity(PG_FUNCTION_ARGS)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(2));
	Shingles *x = shingles_of_text(PG_GETARG_DATUM(0), scheme);
	Shingles *y = shingles_of_text(PG_GETARG_DATUM(1), scheme);
	Bag bag_x = shingles_bag(x);
	Bag bag_y = shingles_bag(y);
	double similarity = bag_similarity(&bag_x, &bag_y, MEASURE_RESEMBLANCE, false);

	pfree(x);
	pfree(y);
	PG_RETURN_FLOAT8(similarity);
}

/* Takes spot signatures with the caller's own lists; not strict, since either may be NULL. */
PG_FUNCTION_INFO_V1(neardup_to_shingles_antecedents);
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

/* Returns the shingles of the array in the first argument, whose hashes of_array() gives to a sink. */
static Datum
shingles_of_array(FunctionCallInfo fcinfo, SchemeId scheme,
				  void (*of_array)(ArrayType *array, HashSink sink, void *state))
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	BagBuilder builder;

	bag_begin(&builder);
	of_array(array, bag_add, &builder);
	PG_FREE_IF_COPY(array, 0);
	PG_RETURN_POINTER(shingles_of_builder(&builder, scheme));
}

/* to_shingles(text[]) returns shingles */
PG_FUNCTION_INFO_V1(neardup_to_shingles_text_array);
Datum
neardup_to_shingles_text_array(PG_FUNCTION_ARGS)
{
	return shingles_of_array(fcinfo, SCHEME_ID(SCHEME_TOKENS, 0), hashes_of_text_array);
}

/* to_shingles(bigint[]) returns shingles */
PG_FUNCTION_INFO_V1(neardup_to_shingles_bigint_array);
Datum
neardup_to_shingles_bigint_array(PG_FUNCTION_ARGS)
{
	return shingles_of_array(fcinfo, SCHEME_ID(SCHEME_HASHES, 0), hashes_of_int8_array);
}

/* Returns the elements, ascending, without their frequencies. */
PG_FUNCTION_INFO_V1(neardup_shingle_hashes);
Datum
neardup_shingle_hashes(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	ArrayType *array = int8_array(shingles->element, shingles->count);

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_ARRAYTYPE_P(array);
}

/* ---- Sets --------------------------------------------------------------- */

/* cardinality(shingles) returns bigint */
PG_FUNCTION_INFO_V1(neardup_cardinality_shingles);
Datum
neardup_cardinality_shingles(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	int64 count = shingles->count;

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_INT64(count);
}

/* shingle_total(shingles) returns bigint */
PG_FUNCTION_INFO_V1(neardup_shingle_total);
Datum
neardup_shingle_total(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	int64 total = (int64) bag_total(&bag);

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_INT64(total);
}

/* Returns the bag that combine() makes of two sets. */
static Datum
combine_arguments(FunctionCallInfo fcinfo, Bag (*combine)(const Bag *, const Bag *))
{
	ShinglesPair pair = shingles_pair(fcinfo);
	Bag bag = combine(&pair.bag_x, &pair.bag_y);
	Shingles *result = shingles_of_bag(&bag, pair.x->version, pair.x->scheme);

	bag_free(&bag);
	shingles_pair_free(fcinfo, &pair);
	PG_RETURN_POINTER(result);
}

/* shingles_intersection(shingles, shingles) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_intersection);
Datum
neardup_shingles_intersection(PG_FUNCTION_ARGS)
{
	return combine_arguments(fcinfo, bag_intersection);
}

/* shingles_union(shingles, shingles) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_union);
Datum
neardup_shingles_union(PG_FUNCTION_ARGS)
{
	return combine_arguments(fcinfo, bag_union);
}

/* shingles_mod(shingles, m int) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_mod);
Datum
neardup_shingles_mod(PG_FUNCTION_ARGS)
{
	int32 m = number_argument(fcinfo, 1, "modulus", PG_INT32_MAX);
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	Bag kept = bag_mod(&bag, m);

	return shingles_return(fcinfo, shingles, &kept, shingles->scheme);
}

/* shingles_difference(shingles, shingles) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_difference);
Datum
neardup_shingles_difference(PG_FUNCTION_ARGS)
{
	return combine_arguments(fcinfo, bag_difference);
}

/* ---- Similarity --------------------------------------------------------- */

/* Returns the similarity of two sets. */
static double
measure_arguments(FunctionCallInfo fcinfo, Measure measure, bool multiset)
{
	ShinglesPair pair = shingles_pair(fcinfo);
	double result = bag_similarity(&pair.bag_x, &pair.bag_y, measure, multiset);

	shingles_pair_free(fcinfo, &pair);
	return result;
}

/* similarity(shingles, shingles) returns float8 */
PG_FUNCTION_INFO_V1(neardup_similarity_shingles);
Datum
neardup_similarity_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, MEASURE_RESEMBLANCE, false));
}

/* shingles_distance(shingles, shingles) returns float8 */
PG_FUNCTION_INFO_V1(neardup_shingles_distance);
Datum
neardup_shingles_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(1 - measure_arguments(fcinfo, MEASURE_RESEMBLANCE, false));
}

/* containment(shingles, shingles) returns float8 */
PG_FUNCTION_INFO_V1(neardup_containment_shingles);
Datum
neardup_containment_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, MEASURE_CONTAINED, false));
}

/* weighted_jaccard(shingles, shingles) returns float8 */
PG_FUNCTION_INFO_V1(neardup_weighted_jaccard);
Datum
neardup_weighted_jaccard(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(measure_arguments(fcinfo, MEASURE_RESEMBLANCE, true));
}

/* Returns whether two sets reach a threshold, the third argument. */
static bool
arguments_reach(FunctionCallInfo fcinfo, Measure measure)
{
	double threshold = PG_GETARG_FLOAT8(2);
	ShinglesPair pair;
	bool similar;

	check_threshold(threshold, NULL);
	pair = shingles_pair(fcinfo);
	similar = bag_is_similar(&pair.bag_x, &pair.bag_y, measure, threshold);
	shingles_pair_free(fcinfo, &pair);
	return similar;
}

/* is_contained(shingles, shingles, threshold float8) returns boolean */
PG_FUNCTION_INFO_V1(neardup_is_contained);
Datum
neardup_is_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(arguments_reach(fcinfo, MEASURE_CONTAINED));
}

/* is_similar(shingles, shingles, threshold float8) returns boolean */
PG_FUNCTION_INFO_V1(neardup_is_similar_shingles);
Datum
neardup_is_similar_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(arguments_reach(fcinfo, MEASURE_RESEMBLANCE));
}
