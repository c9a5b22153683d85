/*
 * fuzz_compare.c: edit distance and longest common substring of any two texts, at any
 * costs, compared with the textbook algorithms if the texts are short.
 */
#include "compare/internal.h"
#include "fuzz.h"

/* Most cells of a table, for its time. */
#define CELLS_MAX 10000

static int64_t
least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Computes the full matrix, as Wagner and Fischer do. */
static int64_t
slow_distance(const SequencePair *pair, EditCosts costs)
{
	size_t n = pair->b.length + 1;
	int64_t *cell = malloc((pair->a.length + 1) * n * sizeof(int64_t));
	int64_t distance;

	for (size_t i = 0; i <= pair->a.length; i++)
		for (size_t j = 0; j <= pair->b.length; j++)
		{
			int64_t best = i + j == 0 ? 0 : INT64_MAX;

			if (i > 0)
				best = least(best, cell[(i - 1) * n + j] + costs.deletion);
			if (j > 0)
				best = least(best, cell[i * n + j - 1] + costs.insertion);
			if (i > 0 && j > 0)
			{
				bool same = pair->a.symbol[i - 1] == pair->b.symbol[j - 1];

				best = least(best, cell[(i - 1) * n + j - 1] + (same ? 0 : costs.substitution));
			}
			cell[i * n + j] = best;
		}
	distance = cell[pair->a.length * n + pair->b.length];
	free(cell);
	return distance;
}

/* Finds the longest common run by comparing all pairs of positions. */
static Common
slow_common(const SequencePair *pair)
{
	Common common = {0, 0};

	for (size_t i = 0; i < pair->a.length; i++)
		for (size_t j = 0; j < pair->b.length; j++)
		{
			size_t same = 0;

			while (i + same < pair->a.length && j + same < pair->b.length &&
				   pair->a.symbol[i + same] == pair->b.symbol[j + same])
				same++;
			if (same > common.length)
				common = (Common){i, same};
		}
	return common;
}

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
	if (pair->a.length * pair->b.length <= CELLS_MAX)
	{
		Common slow = slow_common(pair);

		REQUIRE(distance == slow_distance(pair, costs));
		REQUIRE(common.length == slow.length && (common.length == 0 || common.start == slow.start));
	}
}

/* Returns costs that are usually small. */
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
	free(a);
	free(b);
	return 0;
}
