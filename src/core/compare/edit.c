/*
 * edit.c: the edit distance, at unit costs by bit-parallel blocks.
 *
 * The matrix of the distances of all prefixes is computed in blocks of rows (Myers 1999;
 * block step as in Hyyro 2003).  A word says, for 64 rows of a column, which cells are one
 * more, or one less, than the cell above.  A block passes over the whole other text and
 * leaves its last row to the next block, so memory is one byte for each symbol.  A block
 * has two words, since the processor computes the first word of the next column while it
 * waits for the second word of this one.
 *
 * No path of cost at most k leaves the diagonals from -k to k (Ukkonen 1985).  So a block
 * computes only the columns between them, and assumes that cells beyond grow by one from
 * cell to cell, which is never too low.  Without a bound, small bounds are tried first,
 * since texts that are compared are often near-duplicates.
 */
#include "compare/suffix.h"

#include <string.h>

#define WORD_ROWS 64
#define WORDS 2
#define ROWS (WORDS * WORD_ROWS)

/* The first bound tried where none is given. */
#define FIRST_BOUND 64

/* ---- Blocks ------------------------------------------------------------- */

/* A word of a column: bit i says how row i differs from row i - 1. */
typedef struct Column
{
	uint64_t more; /* rows where the distance grows by one */
	uint64_t less; /* rows where it shrinks by one */
} Column;

/* How a cell of a row differs from the cell before it: each is 0 or 1. */
typedef struct Step
{
	uint64_t more;
	uint64_t less;
} Step;

/*
 * Moves a word to the next column.  `equal` has the rows whose symbol is that of the
 * column; `above` is the step along the row above the word.  Returns the step along row
 * `last` of the word.
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

/* The state of a pass over the blocks. */
typedef struct EditPass
{
	const Sequence *rows;
	const Sequence *columns;
	uint64_t *equal; /* WORDS words for each symbol: the rows of the block that have it */
	uint8_t *step;   /* the step of each column along the last row computed */
	size_t done;     /* columns of that row that are computed */
	size_t from;     /* the first column of the block */
	int64_t corner;  /* the distance in the row above the block, before that column */
	int64_t least;   /* the least distance in the last row computed */
} EditPass;

/* Sets, or clears, which rows of a block have which symbol. */
static void
set_equal_rows(EditPass *pass, size_t first, int count, bool set)
{
	for (int i = 0; i < count; i++)
	{
		size_t word = (size_t) pass->rows->symbol[first + i] * WORDS + i / WORD_ROWS;

		pass->equal[word] = set ? pass->equal[word] | UINT64_C(1) << i % WORD_ROWS : 0;
	}
}

/* Computes columns [at, end) of a block of `words` words, the last of last + 1 rows. */
static inline __attribute__((always_inline)) int64_t
run_columns(EditPass *pass, Column *column, int words, int last, size_t at, size_t end,
			int64_t score)
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
		least = Min(score, least);
	}
	pass->least = least;
	return score;
}

/* Computes columns [from, to) of a block of count rows. */
static void
compute_block(EditPass *pass, int count, size_t to)
{
	Column column[WORDS];
	int64_t score = pass->corner + count;
	size_t at = pass->from;
	int words = (count + WORD_ROWS - 1) / WORD_ROWS;

	for (int i = 0; i < WORDS; i++)
		column[i] = (Column){.more = ~UINT64_C(0)};
	pass->least = score;
	/* Beyond the cells that are computed, the row above grows. */
	if (to > pass->done)
		memset(pass->step + pass->done, STEP_MORE, to - pass->done);
	while (at < to)
	{
		size_t end = at + Min(to - at, STEPS_BETWEEN_CHECKS);

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

/* Moves the corner to the column before from. */
static void
move_corner(EditPass *pass, size_t from)
{
	for (; pass->from < from; pass->from++)
	{
		host_check_interrupts_at(pass->from);
		pass->corner +=
			(pass->step[pass->from] == STEP_MORE) - (pass->step[pass->from] == STEP_LESS);
	}
}

/*
 * Returns the distance at unit costs if it is at most bound, else a number above bound.
 * The sequences are not empty, a is no longer than b, and bound is at least the
 * difference of their lengths.
 */
static int64_t
unit_distance_within(const SequencePair *pair, int64_t bound)
{
	size_t rows = pair->a.length;
	size_t columns = pair->b.length;
	size_t reach = (size_t) Min(bound, (int64_t) columns);
	EditPass pass = {.rows = &pair->a, .columns = &pair->b};

	pass.equal = host_alloc((size_t) pair->alphabet * WORDS * sizeof(uint64_t));
	memset(pass.equal, 0, (size_t) pair->alphabet * WORDS * sizeof(uint64_t));
	pass.step = host_alloc(columns);
	for (size_t first = 0; first < rows && pass.least <= bound; first += ROWS)
	{
		int count = (int) Min(ROWS, rows - first);

		move_corner(&pass, first > reach ? first - reach : 0);
		set_equal_rows(&pass, first, count, true);
		compute_block(&pass, count, Min(columns, first + count + reach));
		set_equal_rows(&pass, first, count, false);
	}
	if (pass.least <= bound)
		move_corner(&pass, columns);
	host_free(pass.equal);
	host_free(pass.step);
	return pass.least <= bound ? pass.corner : bound + 1;
}

/* ---- The distance ------------------------------------------------------- */

/* Returns a pair without its common prefix and its common suffix. */
static SequencePair
trim(const SequencePair *pair)
{
	SequencePair trimmed = *pair;

	while (trimmed.a.length > 0 && trimmed.b.length > 0 && *trimmed.a.symbol == *trimmed.b.symbol)
	{
		host_check_interrupts_at(trimmed.a.length);
		trimmed.a.symbol++;
		trimmed.b.symbol++;
		trimmed.a.length--;
		trimmed.b.length--;
	}
	while (trimmed.a.length > 0 && trimmed.b.length > 0 &&
		   trimmed.a.symbol[trimmed.a.length - 1] == trimmed.b.symbol[trimmed.b.length - 1])
	{
		host_check_interrupts_at(trimmed.a.length);
		trimmed.a.length--;
		trimmed.b.length--;
	}
	return trimmed;
}

/* Returns the distance of a trimmed pair if it is at most bound, else a number above bound. */
static int64_t
distance_within(const SequencePair *pair, EditCosts costs, int64_t bound)
{
	SequencePair turned = {.a = pair->b, .b = pair->a, .alphabet = pair->alphabet};
	int64_t unit;
	int64_t edits;

	if (costs.insertion != costs.deletion || costs.deletion != costs.substitution ||
		costs.insertion == 0)
		return weighted_distance_within(pair, costs, bound);
	edits = bound / costs.insertion;
	unit = unit_distance_within(pair->a.length <= pair->b.length ? pair : &turned, edits);
	return unit > edits ? bound + 1 : unit * costs.insertion;
}

/*
 * Returns the least cost of insertions, deletions and substitutions that turn a into b, or
 * most + 1 if that is above most, which is at least 0 (Wagner and Fischer 1974).
 */
int64_t
edit_distance(const SequencePair *pair, EditCosts costs, int64_t most)
{
	SequencePair trimmed = trim(pair);
	int64_t a = (int64_t) trimmed.a.length;
	int64_t b = (int64_t) trimmed.b.length;
	int64_t greatest = Max(costs.substitution, Max(costs.insertion, costs.deletion));
	/* The cost of the difference of the lengths, and all other symbols substituted. */
	int64_t least = a < b ? (b - a) * costs.insertion : (a - b) * costs.deletion;
	int64_t limit = Min(most, least + Min(a, b) * costs.substitution);
	int64_t bound = least + FIRST_BOUND * greatest;
	int64_t distance;

	if (least > most)
		return most + 1;
	if (a == 0 || b == 0)
		return least;
	for (;;)
	{
		/* A bound above a quarter of the limit saves little time. */
		if (bound >= limit / 4)
			bound = limit;
		distance = distance_within(&trimmed, costs, bound);
		if (distance <= bound)
			return distance;
		if (bound == limit)
			return most + 1;
		bound = least + (bound - least) * 2;
	}
}
