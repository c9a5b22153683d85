/*
 * broder.c: SQL functions of samples and sketches of sets.
 */
#include "sql/shingles.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "sketch/bag.h"

#define WIDTH_MAX SCHEME_WIDTH_MAX
#define BUCKETS_MAX 65536

/* ---- Samples ------------------------------------------------------------ */

/* Returns a sample of the first argument as a set of the same scheme; frees the sample. */
static Datum
put_sample(FunctionCallInfo fcinfo, Shingles *shingles, Bag *sample)
{
	Shingles *result = shingles_of_bag(sample, shingles->version, shingles->scheme);

	bag_free(sample);
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_POINTER(result);
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

	return put_sample(fcinfo, shingles, &kept);
}

/* shingles_bottom(shingles, n int) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_bottom);
Datum
neardup_shingles_bottom(PG_FUNCTION_ARGS)
{
	int32 n = number_argument(fcinfo, 1, "number of elements", PG_INT32_MAX);
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	Bag kept = bag_bottom(&bag, n);

	return put_sample(fcinfo, shingles, &kept);
}

/* bottom_resemblance(shingles, shingles, n int) returns float8 */
PG_FUNCTION_INFO_V1(neardup_bottom_resemblance);
Datum
neardup_bottom_resemblance(PG_FUNCTION_ARGS)
{
	ShinglesPair pair = shingles_pair(fcinfo);
	int32 n = number_argument(fcinfo, 2, "number of elements", PG_INT32_MAX);
	double resemblance = bottom_resemblance(&pair.bag_x, &pair.bag_y, n);

	shingles_pair_free(fcinfo, &pair);
	PG_RETURN_FLOAT8(resemblance);
}

/* ---- Sketches ----------------------------------------------------------- */

/* shingles_minima(shingles, m int) returns bigint[] */
PG_FUNCTION_INFO_V1(neardup_shingles_minima);
Datum
neardup_shingles_minima(PG_FUNCTION_ARGS)
{
	int32 m = number_argument(fcinfo, 1, "number of permutations", MINHASH_K_MAX);
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	int64 *least = palloc(m * sizeof(int64));

	if (bag.count > 0)
		bag_minima(&bag, m, least);
	PG_RETURN_ARRAYTYPE_P(int8_array(least, bag.count > 0 ? m : 0));
}

/* supershingles(shingles, width int) returns bigint[] */
PG_FUNCTION_INFO_V1(neardup_supershingles);
Datum
neardup_supershingles(PG_FUNCTION_ARGS)
{
	int32 width = number_argument(fcinfo, 1, "width", WIDTH_MAX);
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	int64 *run = host_alloc((size_t) bag.count * sizeof(int64) + 1);
	uint32 count = bag_runs(&bag, width, run);

	PG_RETURN_ARRAYTYPE_P(int8_array(run, count));
}

/* bucket_sketch(shingles, n int) returns bigint[] */
PG_FUNCTION_INFO_V1(neardup_bucket_sketch);
Datum
neardup_bucket_sketch(PG_FUNCTION_ARGS)
{
	int32 n = number_argument(fcinfo, 1, "number of buckets", BUCKETS_MAX);
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	int64 *kept = palloc(n * sizeof(int64));
	uint32 count = bag_buckets(&bag, n, kept);

	PG_RETURN_ARRAYTYPE_P(int8_array(kept, count));
}

/* ---- Sketches as arrays ------------------------------------------------- */

/* sketch_resemblance(bigint[], bigint[]) returns float8 */
PG_FUNCTION_INFO_V1(neardup_sketch_resemblance);
Datum
neardup_sketch_resemblance(PG_FUNCTION_ARGS)
{
	ArrayType *x = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType *y = PG_GETARG_ARRAYTYPE_P(1);
	int count = array_count(x, "values");
	int count_y = array_count(y, "values");
	const int64 *value_x = (const int64 *) ARR_DATA_PTR(x);
	const int64 *value_y = (const int64 *) ARR_DATA_PTR(y);
	int equal = 0;
	int i;

	if (count == 0 || count_y == 0)
		PG_RETURN_FLOAT8(0);
	if (count != count_y)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot compare sketches of %d and %d values", count, count_y),
				 errhint("Make both sketches with the same number of permutations.")));
	for (i = 0; i < count; i++)
		equal += value_x[i] == value_y[i];
	PG_RETURN_FLOAT8((double) equal / count);
}

/* ---- Permutations written out ------------------------------------------- */

/* A matrix of permutations: row i holds the places of 1 to size under permutation i. */
typedef struct Permutations
{
	const int32 *place;
	int count;
	int size;
} Permutations;

/* Returns the matrix of an int[][]; throws an error unless its rows are permutations. */
static Permutations
permutations_of_array(ArrayType *array)
{
	Permutations permutations;
	bool *seen;
	int i;
	int j;

	check_no_nulls(array, "permutations");
	if (ARR_NDIM(array) != 2)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("permutations must be an array of two dimensions, not %d", ARR_NDIM(array)),
				 errhint("Write a row for each permutation, such as {{2,1,3},{3,2,1}}.")));
	permutations.place = (const int32 *) ARR_DATA_PTR(array);
	permutations.count = ARR_DIMS(array)[0];
	permutations.size = ARR_DIMS(array)[1];
	seen = palloc(permutations.size + 1);
	for (i = 0; i < permutations.count; i++)
	{
		const int32 *place = permutations.place + (size_t) i * permutations.size;

		memset(seen, 0, permutations.size + 1);
		for (j = 0; j < permutations.size; j++)
		{
			if (place[j] < 1 || place[j] > permutations.size || seen[place[j]])
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("row %d is not a permutation of 1 to %d", i + 1, permutations.size),
						 errdetail("It has %d at place %d.", place[j], j + 1)));
			seen[place[j]] = true;
		}
	}
	pfree(seen);
	return permutations;
}

/* permutation_sketch(elements int[], permutations int[][]) returns int[] */
PG_FUNCTION_INFO_V1(neardup_permutation_sketch);
Datum
neardup_permutation_sketch(PG_FUNCTION_ARGS)
{
	ArrayType *elements = PG_GETARG_ARRAYTYPE_P(0);
	Permutations permutations = permutations_of_array(PG_GETARG_ARRAYTYPE_P(1));
	int count = array_count(elements, "elements");
	const int32 *element = (const int32 *) ARR_DATA_PTR(elements);
	int32 *least = palloc(permutations.count * sizeof(int32));
	int i;
	int j;

	for (j = 0; j < count; j++)
		if (element[j] < 1 || element[j] > permutations.size)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("element %d is out of range", element[j]),
					 errdetail("The permutations are of 1 to %d.", permutations.size)));
	if (count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT4OID));
	for (i = 0; i < permutations.count; i++)
	{
		const int32 *place = permutations.place + (size_t) i * permutations.size;

		CHECK_FOR_INTERRUPTS();
		least[i] = PG_INT32_MAX;
		for (j = 0; j < count; j++)
			least[i] = Min(least[i], place[element[j] - 1]);
	}
	PG_RETURN_ARRAYTYPE_P(make_array(INT4OID, least, permutations.count * sizeof(int32),
									 permutations.count));
}
