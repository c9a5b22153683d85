/*
 * edit.c: edit distance, at unit costs by bit-parallel blocks.
 *
 * The matrix of distances between all prefixes is computed in blocks of rows
 * (Myers 1999; block step as in Hyyro 2003): a word holds for 64 rows which cells
 * of a column are one more, or one less, than the cell above.  A block passes
 * over the whole other text and hands its lower edge to the next block, so that
 * memory is one byte for each symbol, whatever the lengths.  It has several words,
 * since the processor works at the next column's first while it waits for this
 * column's last.
 *
 * No way of cost at most k leaves the diagonals from -k to k (Ukkonen 1985), so a
 * block computes only the columns there, and assumes what lies beyond to grow by
 * one a cell, which is never too low.  Where no bound is given, small ones are
 * tried first: likely near-duplicates differ in little.
 */
#include <string.h>

#include "compare/internal.h"

#define WORD_ROWS 64
#define WORDS 2
#define ROWS (WORDS * WORD_ROWS)

/* The first bound tried where none is given. */
#define FIRST_BOUND 64

/* ---- Blocks ------------------------------------------------------------- */

/* A word of a column: bit i says how row i differs from the row above. */
typedef struct Column
{
	uint64_t more; /* by one more */
	uint64_t less; /* by one less */
} Column;

/* How one cell of a row differs from the one before: more and less are each 0 or 1. */
typedef struct Step
{
	uint64_t more;
	uint64_t less;
} Step;

/*
 * Step to the next column: equal has the rows whose symbol is the column's;
 * above is the step along the row above the word.  Returns that along the word's
 * row last.
 */
static inline Step
next_column(Column *column, uint64_t equal, Step above, int last)
{
	uint64_t vertical = equal | column->less;
	uint64_t diagonal;
	uint64_t more;
	uint64_t less;
	Step step;

	equal |= above.less;
	diagonal = (((equal & column->more) + column->more) ^ column->more) | equal;
	more = column->less | ~(diagonal | column->more);
	less = column->more & diagonal;
	step.more = more >> last & 1;
	step.less = less >> last & 1;
	more = more << 1 | above.more;
	less = less << 1 | above.less;
	column->more = less | ~(vertical | more);
	column->less = more & vertical;
	return step;
}

/* Steps as a pass keeps them. */
#define STEP_MORE 1
#define STEP_LESS 2

/* What a pass over the blocks knows. */
typedef struct Pass
{
	const Sequence *rows;
	const Sequence *columns;
	uint64_t *equal; /* for each symbol, the rows of the block that have it, WORDS words */
	uint8_t *step;   /* for each column, the step along the last row done */
	size_t done;     /* columns computed of that row */
	size_t from;     /* the first column of the block */
	int64_t corner;  /* the distance above and before that column */
	int64_t least;   /* in the row done */
} Pass;

/* Note, or forget, which rows of a block have which symbol. */
static void
note_rows(Pass *pass, size_t first, int count, bool noted)
{
	int i;

	for (i = 0; i < count; i++)
	{
		size_t word = (size_t) pass->rows->symbol[first + i] * WORDS + i / WORD_ROWS;

		pass->equal[word] = noted ? pass->equal[word] | UINT64_C(1) << i % WORD_ROWS : 0;
	}
}

/* Compute columns [at, end) of a block of some words, whose last has last + 1 rows. */
static inline __attribute__((always_inline)) int64_t
run_columns(Pass *pass, Column *column, int words, int last, size_t at, size_t end, int64_t score)
{
	int64_t least = pass->least;

	for (; at < end; at++)
	{
		const uint64_t *equal = pass->equal + (size_t) pass->columns->symbol[at] * WORDS;
		Step step = {pass->step[at] & STEP_MORE, pass->step[at] >> 1};
		int word;

		for (word = 0; word < words - 1; word++)
			step = next_column(&column[word], equal[word], step, WORD_ROWS - 1);
		step = next_column(&column[word], equal[word], step, last);
		pass->step[at] = (uint8_t) (step.more * STEP_MORE | step.less * STEP_LESS);
		score += (int64_t) (step.more - step.less);
		least = score < least ? score : least;
	}
	pass->least = least;
	return score;
}

/* Compute columns [from, to) of a block of count rows. */
static void
pass_block(Pass *pass, int count, size_t to)
{
	Column column[WORDS];
	int64_t score = pass->corner + count;
	size_t at = pass->from;
	int words = (count + WORD_ROWS - 1) / WORD_ROWS;
	int i;

	for (i = 0; i < WORDS; i++)
		column[i] = (Column){~UINT64_C(0), 0};
	pass->least = score;
	/* Beyond what the row above has, it grows. */
	if (to > pass->done)
		memset(pass->step + pass->done, STEP_MORE, to - pass->done);
	while (at < to)
	{
		size_t end = to - at > COMPARE_STEP ? at + COMPARE_STEP : to;

		host_check_interrupts();
		if (count == ROWS)
			score = run_columns(pass, column, WORDS, WORD_ROWS - 1, at, end, score);
		else
			score = run_columns(pass, column, words, (count - 1) % WORD_ROWS, at, end, score);
		at = end;
	}
	pass->done = to;
	pass->corner += count;
}

/* Move the corner to the column before from. */
static void
move_corner(Pass *pass, size_t from)
{
	for (; pass->from < from; pass->from++)
	{
		check_interrupts_at(pass->from);
		pass->corner +=
			(pass->step[pass->from] == STEP_MORE) - (pass->step[pass->from] == STEP_LESS);
	}
}

static size_t
least_of(size_t x, size_t y)
{
	return x < y ? x : y;
}

int64_t
unit_distance_within(const SequencePair *pair, int64_t bound)
{
	size_t rows = pair->a.length;
	size_t columns = pair->b.length;
	size_t reach = bound < (int64_t) columns ? (size_t) bound : columns;
	Pass pass = {&pair->a, &pair->b, NULL, NULL, 0, 0, 0, 0};
	size_t first;

	pass.equal = host_alloc((size_t) pair->alphabet * WORDS * sizeof(uint64_t));
	memset(pass.equal, 0, (size_t) pair->alphabet * WORDS * sizeof(uint64_t));
	pass.step = host_alloc(columns);
	for (first = 0; first < rows && pass.least <= bound; first += ROWS)
	{
		int count = (int) least_of(ROWS, rows - first);

		move_corner(&pass, first > reach ? first - reach : 0);
		note_rows(&pass, first, count, true);
		pass_block(&pass, count, least_of(columns, first + count + reach));
		note_rows(&pass, first, count, false);
	}
	if (pass.least <= bound)
		move_corner(&pass, columns);
	host_free(pass.equal);
	host_free(pass.step);
	return pass.least <= bound ? pass.corner : bound + 1;
}

/* ---- The distance ------------------------------------------------------- */

/* What is left of a pair between its common prefix and its common suffix. */
static SequencePair
trim(const SequencePair *pair)
{
	SequencePair rest = *pair;

	while (rest.a.length > 0 && rest.b.length > 0 && *rest.a.symbol == *rest.b.symbol)
	{
		check_interrupts_at(rest.a.length);
		rest.a.symbol++;
		rest.b.symbol++;
		rest.a.length--;
		rest.b.length--;
	}
	while (rest.a.length > 0 && rest.b.length > 0 &&
		   rest.a.symbol[rest.a.length - 1] == rest.b.symbol[rest.b.length - 1])
	{
		check_interrupts_at(rest.a.length);
		rest.a.length--;
		rest.b.length--;
	}
	return rest;
}

static bool
costs_are_equal(EditCosts costs)
{
	return costs.insertion == costs.deletion && costs.deletion == costs.substitution;
}

/* The cost of making b of a symbol by symbol, never below the distance. */
static int64_t
cost_at_most(const SequencePair *pair, EditCosts costs)
{
	int64_t a = (int64_t) pair->a.length;
	int64_t b = (int64_t) pair->b.length;

	if (a < b)
		return a * costs.substitution + (b - a) * costs.insertion;
	return b * costs.substitution + (a - b) * costs.deletion;
}

static int32_t
greatest_cost(EditCosts costs)
{
	int32_t greatest = costs.insertion > costs.deletion ? costs.insertion : costs.deletion;

	return costs.substitution > greatest ? costs.substitution : greatest;
}

static int64_t
cost_at_least(const SequencePair *pair, EditCosts costs)
{
	int64_t more = (int64_t) pair->b.length - (int64_t) pair->a.length;

	return more > 0 ? more * costs.insertion : -more * costs.deletion;
}

/* The distance of a trimmed pair where it is at most bound. */
static int64_t
distance_within(const SequencePair *pair, EditCosts costs, int64_t bound)
{
	SequencePair turned = {pair->b, pair->a, pair->alphabet};
	int64_t unit;
	int64_t edits;

	if (!costs_are_equal(costs) || costs.insertion == 0)
		return weighted_distance_within(pair, costs, bound);
	edits = bound / costs.insertion;
	unit = unit_distance_within(pair->a.length <= pair->b.length ? pair : &turned, edits);
	return unit > edits ? bound + 1 : unit * costs.insertion;
}

int64_t
edit_distance(const SequencePair *pair, EditCosts costs, int64_t most)
{
	SequencePair rest = trim(pair);
	int64_t least = cost_at_least(&rest, costs);
	int64_t limit = cost_at_most(&rest, costs);
	int64_t bound = least + (int64_t) FIRST_BOUND * greatest_cost(costs);
	int64_t distance;

	if (least > most)
		return most + 1;
	if (rest.a.length == 0 || rest.b.length == 0)
		return least;
	limit = most < limit ? most : limit;
	for (;;)
	{
		/* A bound of a quarter of the limit leaves little to save. */
		if (bound >= limit / 4)
			bound = limit;
		distance = distance_within(&rest, costs, bound);
		if (distance <= bound)
			return distance;
		if (bound == limit)
			return most + 1;
		bound = least + (bound - least) * 2;
	}
}
