/*
 * weigh.c: SQL functions that weigh shingles.
 */
#include "types/lexicon_type.h"

#include <math.h>

#include "utils/builtins.h"

#include "base/sort.h"

/* ---- Weighing ------------------------------------------------------------ */

/* weigh(shingles, lexicon shingle_lexicon) returns shingles */
PG_FUNCTION_INFO_V1(neardup_weigh);
Datum
neardup_weigh(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_to_sketch(PG_GETARG_DATUM(0));
	const ReadyLexicon *lexicon = lexicon_of_argument(fcinfo, 1);
	char name[SCHEME_NAME_SIZE];
	char lexicon_name[SCHEME_NAME_SIZE];
	Bag bag = shingles_bag(shingles);
	Bag weighed;

	scheme_name(shingles->scheme, name);
	scheme_name(lexicon->scheme, lexicon_name);
	if (shingles->scheme != lexicon->scheme)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot weigh shingles of scheme \"%s\" by a lexicon of scheme \"%s\"",
						name, lexicon_name),
				 errhint("Make the set with %s, or the lexicon of such sets.",
						 scheme_call("to_shingles", "", lexicon->scheme))));
	weighed = bag_weigh(&bag, &lexicon->weights);
	return shingles_return(fcinfo, shingles, &weighed, lexicon->weighed);
}

/* shingles_copies(shingles) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_copies);
Datum
neardup_shingles_copies(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	Bag copies = bag_copies(&bag);

	return shingles_return(fcinfo, shingles, &copies, shingles->scheme);
}

/* ---- Tokens with weights -------------------------------------------------- */

/* Weights are rounded to multiples of 1 / WEIGHT_STEPS. */
#define WEIGHT_STEPS 16

/* A token and its number of copies. */
typedef struct WeightedToken
{
	int64 element;
	uint64 copies;
} WeightedToken;

/* Returns how many copies a weight stands for. */
static uint64
copies_of_weight(double weight)
{
	if (weight < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("weight %g is negative", weight)));
	if (weight > (double) COPIES_MAX / WEIGHT_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("weight %g is out of range", weight),
				 errdetail("A weight is at most %d.", (int) (COPIES_MAX / WEIGHT_STEPS)),
				 errhint("Divide all weights by the same number.")));
	return (uint64) floor(weight * WEIGHT_STEPS + 0.5);
}

/* A HashSink that sets the elements of WeightedTokens; its state is the next of them. */
static void
weigh_set_elements(void *state, const uint64_t *hashes, size_t count)
{
	WeightedToken **next = state;

	for (size_t i = 0; i < count; i++)
		(*next)++->element = (int64) hashes[i];
}

/* Adds up equal tokens of a sorted array, and drops those without copies. */
static Bag
bag_of_tokens(const WeightedToken *token, int count)
{
	Bag bag = {.element = host_alloc((size_t) count * sizeof(int64) + 1),
			   .frequency = host_alloc((size_t) count * sizeof(uint32) + 1)};
	uint64 steps = 0;

	for (int i = 0; i < count;)
	{
		int64 element = token[i].element;
		uint64 copies = 0;

		host_check_interrupts_at(++steps);
		for (; i < count && token[i].element == element; i++)
			copies += token[i].copies;
		if (copies > COPIES_MAX)
			(void) copies_of_weight((double) copies / WEIGHT_STEPS);
		if (copies == 0)
			continue;
		bag.element[bag.count] = element;
		bag.frequency[bag.count++] = (uint32) copies;
	}
	bag_drop_ones(&bag);
	return bag;
}

/* Returns the tokens of a text[] with the weights of a float8[] as whole numbers of copies. */
static Bag
bag_of_weights(ArrayType *tokens, ArrayType *weights)
{
	int count = ArrayGetNItems(ARR_NDIM(tokens), ARR_DIMS(tokens));
	const double *weight = weights_of_array(weights, count);
	WeightedToken *token = host_alloc((size_t) count * sizeof(WeightedToken) + 1);
	WeightedToken *next = token;
	Bag bag;

	hashes_of_text_array(tokens, weigh_set_elements, &next);
	for (int i = 0; i < count; i++)
		token[i].copies = copies_of_weight(weight[i]);
	sort_records(token, count, sizeof(WeightedToken), sort_key_signed);
	bag = bag_of_tokens(token, count);
	pfree(token);
	return bag;
}

/* to_shingles(text[], weights float8[]) returns shingles */
PG_FUNCTION_INFO_V1(neardup_to_shingles_weights);
Datum
neardup_to_shingles_weights(PG_FUNCTION_ARGS)
{
	Bag bag = bag_of_weights(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1));
	Shingles *shingles = shingles_of_bag(&bag, RECIPE_VERSION, SCHEME_ID(SCHEME_WEIGHTED, 0));

	bag_free(&bag);
	PG_RETURN_POINTER(shingles);
}
