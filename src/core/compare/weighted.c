/*
 * weighted.c: the edit distance at any costs, cell by cell (Wagner and Fischer 1974),
 * between the diagonals that a path within the bound does not leave.
 */
#include "compare/suffix.h"

/* Returns how many edits of a cost are within a bound, at most count. */
static size_t
edits_within(int64_t bound, int32_t cost, size_t count)
{
	if (cost == 0 || bound / cost >= (int64_t) count)
		return count;
	return (size_t) (bound / cost);
}

/* A row of the matrix, from column `from` to column `to`. */
typedef struct MatrixRow
{
	int64_t *cell; /* the distance of each column in the last row computed */
	size_t from;
	size_t to;
	size_t done; /* columns of the row above that are computed */
	int64_t least;
} MatrixRow;

/* Computes the next row, for a symbol of a.  `beyond` is the distance of cells outside of it. */
static void
next_row(MatrixRow *row, uint32_t symbol, const Sequence *b, EditCosts costs, int64_t beyond)
{
	int64_t diagonal = row->from == 0 ? row->cell[0] : row->cell[row->from - 1];
	int64_t before = beyond;
	size_t at = row->from;

	row->least = beyond;
	for (; row->done < row->to; row->done++)
	{
		host_check_interrupts_at(row->done);
		row->cell[row->done + 1] = beyond;
	}
	if (at == 0)
	{
		before = diagonal + costs.deletion;
		row->cell[0] = before;
		row->least = before;
		at = 1;
	}
	for (; at <= row->to; at++)
	{
		int64_t above = row->cell[at];
		int64_t cell = diagonal + (b->symbol[at - 1] == symbol ? 0 : costs.substitution);

		cell = Min(cell, Min(above + costs.deletion, before + costs.insertion));
		row->cell[at] = cell;
		row->least = Min(row->least, cell);
		diagonal = above;
		before = cell;
		host_check_interrupts_at(at);
	}
}

/*
 * Returns the edit distance for any costs, lengths and bounds if it is at most bound, else a
 * number above bound (weighted.c).
 */
int64_t
weighted_distance_within(const SequencePair *pair, EditCosts costs, int64_t bound)
{
	const Sequence *a = &pair->a;
	const Sequence *b = &pair->b;
	size_t ahead = edits_within(bound, costs.insertion, b->length);
	size_t behind = edits_within(bound, costs.deletion, a->length);
	int64_t beyond = bound + 1;
	MatrixRow row = {.cell = host_alloc((b->length + 1) * sizeof(int64_t)),
					 .done = Min(b->length, ahead)};
	int64_t distance;

	for (size_t i = 0; i <= row.done; i++)
	{
		host_check_interrupts_at(i);
		row.cell[i] = (int64_t) i * costs.insertion;
	}
	for (size_t i = 1; i <= a->length && row.least <= bound; i++)
	{
		host_check_interrupts();
		row.from = i > behind ? i - behind : 0;
		row.to = Min(b->length, i + ahead);
		next_row(&row, a->symbol[i - 1], b, costs, beyond);
	}
	distance = row.least <= bound && row.done == b->length ? row.cell[b->length] : beyond;
	host_free(row.cell);
	return distance;
}
