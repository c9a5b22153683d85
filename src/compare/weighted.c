/*
 * weighted.c: edit distance at any costs, cell by cell (Wagner and Fischer
 * 1974), within the diagonals that the bound leaves.
 */
#include "compare/internal.h"

/* How many edits of a cost a bound pays for, at most count. */
static size_t
edits_within(int64_t bound, int32_t cost, size_t count)
{
	if (cost == 0 || bound / cost >= (int64_t) count)
		return count;
	return (size_t) (bound / cost);
}

static int64_t
least_of(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* One row of the matrix, between the columns from and to of it. */
typedef struct Row
{
	int64_t *cell; /* for each column, the distance in the last row done */
	size_t from;
	size_t to;
	size_t done; /* columns of the row above that are computed */
	int64_t least;
} Row;

/* The next row, for symbol of a; what lies outside is never too low. */
static void
next_row(Row *row, uint32_t symbol, const Sequence *b, EditCosts costs, int64_t beyond)
{
	int64_t diagonal = row->from == 0 ? row->cell[0] : row->cell[row->from - 1];
	int64_t before = beyond;
	size_t at = row->from;

	row->least = beyond;
	for (; row->done < row->to; row->done++)
	{
		check_interrupts_at(row->done);
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

		cell = least_of(cell, least_of(above + costs.deletion, before + costs.insertion));
		row->cell[at] = cell;
		row->least = least_of(row->least, cell);
		diagonal = above;
		before = cell;
		check_interrupts_at(at);
	}
}

int64_t
weighted_distance_within(const SequencePair *pair, EditCosts costs, int64_t bound)
{
	const Sequence *a = &pair->a;
	const Sequence *b = &pair->b;
	size_t ahead = edits_within(bound, costs.insertion, b->length);
	size_t behind = edits_within(bound, costs.deletion, a->length);
	int64_t beyond = bound + 1;
	Row row = {host_alloc((b->length + 1) * sizeof(int64_t)), 0, 0, 0, 0};
	int64_t distance;
	size_t i;

	row.done = least_of(b->length, ahead);
	for (i = 0; i <= row.done; i++)
	{
		check_interrupts_at(i);
		row.cell[i] = (int64_t) i * costs.insertion;
	}
	for (i = 1; i <= a->length && row.least <= bound; i++)
	{
		if (i % (COMPARE_STEP / 64) == 0)
			host_check_interrupts();
		row.from = i > behind ? i - behind : 0;
		row.to = least_of(b->length, i + ahead);
		next_row(&row, a->symbol[i - 1], b, costs, beyond);
	}
	distance = row.least <= bound && row.done == b->length ? row.cell[b->length] : beyond;
	host_free(row.cell);
	return distance;
}
