/*
 * edit_distance.c: SQL functions of edit distance and variants.
 */
#include "functions/edit_distance.h"

#include "calls/arguments.h"

/* ---- Arguments ---------------------------------------------------------- */

/* Returns two texts as sequences. */
SequencePair
pair_of_texts(const Utf8Text *a, const Utf8Text *b, PairMaker make)
{
	SequencePair pair;

	if (!make(a->bytes, a->length, b->bytes, b->length, &pair))
		refuse_long_texts();
	return pair;
}

/* Returns the first two arguments as sequences. */
static SequencePair
pair_of_arguments(FunctionCallInfo fcinfo, PairMaker make)
{
	Utf8Text a = utf8_of_datum(PG_GETARG_DATUM(0));
	Utf8Text b = utf8_of_datum(PG_GETARG_DATUM(1));
	SequencePair pair = pair_of_texts(&a, &b, make);

	utf8_free(&a);
	utf8_free(&b);
	return pair;
}

/* Returns an argument; throws an error, which calls it by its name, if it is negative. */
static int32
edit_cost_of(FunctionCallInfo fcinfo, int n, const char *name)
{
	int32 cost = PG_GETARG_INT32(n);

	if (cost < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("cost of %s must not be negative, but is %d", name, cost)));
	return cost;
}

/* ---- Edit distance ------------------------------------------------------ */

/*
 * The arguments are a, b, max, and for a function with costs insertion, deletion, substitution;
 * only max may be NULL.
 */
Datum
edit_distance_of_arguments(FunctionCallInfo fcinfo, PairMaker make)
{
	int64 most = PG_ARGISNULL(2) ? EDIT_UNBOUNDED : PG_GETARG_INT32(2);
	EditCosts costs = {1, 1, 1};
	SequencePair pair;
	int64 distance;

	for (int i = 0; i < PG_NARGS(); i++)
		if (i != 2 && PG_ARGISNULL(i))
			PG_RETURN_NULL();
	if (most < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("maximum distance must not be negative, but is %d", (int) most)));
	if (PG_NARGS() > 3)
	{
		costs.insertion = edit_cost_of(fcinfo, 3, "insertion");
		costs.deletion = edit_cost_of(fcinfo, 4, "deletion");
		costs.substitution = edit_cost_of(fcinfo, 5, "substitution");
	}
	pair = pair_of_arguments(fcinfo, make);
	distance = edit_distance(&pair, costs, most);
	pair_free(&pair);
	PG_RETURN_INT64(distance);
}

/*
 * edit_distance(a text, b text, max int) returns bigint, and weighted_edit_distance(a text,
 * b text, max int, insertion int, deletion int, substitution int)
 */
PG_FUNCTION_INFO_V1(neardup_edit_distance);
Datum
neardup_edit_distance(PG_FUNCTION_ARGS)
{
	return edit_distance_of_arguments(fcinfo, pair_of_characters);
}

/* ---- Variants ----------------------------------------------------------- */

/* is_variant(a text, b text, version int) returns boolean */
PG_FUNCTION_INFO_V1(neardup_is_variant);
Datum
neardup_is_variant(PG_FUNCTION_ARGS)
{
	Utf8Text a = utf8_of_datum(PG_GETARG_DATUM(0));
	Utf8Text b = utf8_of_datum(PG_GETARG_DATUM(1));
	int32 version = PG_GETARG_INT32(2);
	bool variants;

	if (version < 1 || version > VARIANT_RULE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no version %d of the rule of variants", version),
				 errhint("Versions are 1 to %d.", VARIANT_RULE_VERSION)));
	if (!texts_are_variants(a.bytes, a.length, b.bytes, b.length, version, &variants))
		refuse_long_texts();
	utf8_free(&a);
	utf8_free(&b);
	PG_RETURN_BOOL(variants);
}
