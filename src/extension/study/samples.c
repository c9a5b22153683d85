/*
 * samples.c: SQL functions of samples, sketches and unions of sets, and of their cosine.
 */
#include "types/shingles_type.h"
#include "types/signature_type.h"

#include "sketch/bag.h"
#include "sketch/sketch.h"

#define WIDTH_MAX SCHEME_WIDTH_MAX
#define BUCKETS_MAX 65536

/* ---- Samples ------------------------------------------------------------ */

/* shingles_bottom(shingles, n int) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_bottom);
Datum
neardup_shingles_bottom(PG_FUNCTION_ARGS)
{
	int32 n = number_argument(fcinfo, 1, "number of elements", PG_INT32_MAX);
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	Bag kept = bag_bottom(&bag, n);

	return shingles_return(fcinfo, shingles, &kept, shingles->scheme);
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

/* ---- Cosine ------------------------------------------------------------- */

/* cosine_similarity(shingles, shingles) returns float8 */
PG_FUNCTION_INFO_V1(neardup_cosine_similarity_shingles);
Datum
neardup_cosine_similarity_shingles(PG_FUNCTION_ARGS)
{
	ShinglesPair pair = shingles_pair(fcinfo);
	double cosine = bag_cosine(&pair.bag_x, &pair.bag_y);

	shingles_pair_free(fcinfo, &pair);
	PG_RETURN_FLOAT8(cosine);
}

/* ---- Unions ------------------------------------------------------------- */

/*
 * The transition function of minhash_union_agg().  It is not strict: a strict one would
 * take the first value as the state and not check its width.
 */
PG_FUNCTION_INFO_V1(neardup_minhash_union_step);
Datum
neardup_minhash_union_step(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (!PG_ARGISNULL(0))
		return neardup_minhash_union(fcinfo);
	fcinfo->args[0] = fcinfo->args[1];
	(void) neardup_minhash_union(fcinfo);
	PG_RETURN_DATUM(PG_GETARG_DATUM(1));
}
