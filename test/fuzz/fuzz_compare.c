/*
 * fuzz_compare.c: edit distance, longest common substring and shared passages of any two
 * texts, at any costs; of short texts against the matrix and the loops of reference.h.
 */
#include "compare/suffix.h"
#include "fuzz.h"
#include "reference.h"

/* The most cells of a matrix that is computed. */
#define CELLS_MAX 10000

static void
check_pair(const SequencePair *pair, EditCosts costs, int64_t most)
{
	SequencePair turned = {pair->b, pair->a, pair->alphabet};
	EditCosts opposite = {costs.deletion, costs.insertion, costs.substitution};
	int64_t distance = edit_distance(pair, costs, EDIT_UNBOUNDED);
	int64_t bounded = edit_distance(pair, costs, most);
	Common common = longest_common_run(pair);

	REQUIRE(distance >= 0);
	REQUIRE(bounded == (distance <= most ? distance : most + 1));
	REQUIRE(edit_distance(&turned, opposite, EDIT_UNBOUNDED) == distance);
	REQUIRE(common.start + common.length <= pair->a.length);
	/* The reference has no positions. */
	if (!pair->a.position && pair->a.length * pair->b.length <= CELLS_MAX / 10)
	{
		Passages found = shared_passages(pair, 2);

		REQUIRE(passages_are_right(pair, 2, &found));
		host_free(found.passage);
	}
	if (pair->a.length * pair->b.length <= CELLS_MAX)
	{
		Common slow = reference_common(pair);

		REQUIRE(distance == reference_distance(pair, costs));
		REQUIRE(common.length == slow.length && (common.length == 0 || common.start == slow.start));
	}
}

/* Positions ascend, and no passage ends outside of a text. */
static void
check_passages(const char *a, size_t length_a, const char *b, size_t length_b, uint8_t option)
{
	static const SchemeId kinds[] = {SCHEME_ID(SCHEME_WORD, 3), SCHEME_ID(SCHEME_CHAR, 5),
									 SCHEME_ID(SCHEME_ANYCHAR, 5)};
	uint32_t least = 1 + option % 7;
	SequencePair pair;
	Passages found;

	REQUIRE(pair_of_units(a, length_a, b, length_b, kinds[option % 3], &pair));
	for (size_t i = 1; i < pair.a.length; i++)
		REQUIRE(pair.a.position[i - 1].start <= pair.a.position[i].start &&
				pair.a.position[i - 1].end <= pair.a.position[i].end);
	found = shared_passages(&pair, least);
	for (size_t i = 0; i < found.count; i++)
	{
		Passage p = found.passage[i];

		REQUIRE(p.length >= least && p.a + p.length <= pair.a.length &&
				p.b + p.length <= pair.b.length);
		REQUIRE(pair.a.position[p.a + p.length - 1].end <= length_a);
		REQUIRE(pair.b.position[p.b + p.length - 1].end <= length_b);
	}
	host_free(found.passage);
	pair_free(&pair);
}

/* Takes a cost, mostly a small one. */
static int32_t
take_cost(Input *in)
{
	uint8_t small = take_byte(in);

	return small < 250 ? small % 7 : (int32_t) (take_number(in, 4) & INT32_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint8_t option = take_byte(&in);
	EditCosts costs = {1, 1, 1};
	int64_t most;
	size_t length_a;
	size_t length_b;
	char *a;
	char *b;
	SequencePair pair;

	if (option & 2)
		costs = (EditCosts){take_cost(&in), take_cost(&in), take_cost(&in)};
	most = (int64_t) take_number(&in, option & 4 ? 4 : 1);
	length_a = (size_t) take_number(&in, 2);
	length_a = in.left > 0 ? length_a % (in.left + 1) : 0;
	a = (char *) take_copy(&in, &length_a);
	length_b = in.left;
	b = (char *) take_copy(&in, &length_b);
	if (option & 1)
		REQUIRE(pair_of_tokens(a, length_a, b, length_b, &pair));
	else
		REQUIRE(pair_of_characters(a, length_a, b, length_b, &pair));
	check_pair(&pair, costs, most);
	pair_free(&pair);
	check_passages(a, length_a, b, length_b, option >> 3);
	free(a);
	free(b);
	return 0;
}
