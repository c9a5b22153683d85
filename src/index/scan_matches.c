/*
 * scan_matches.c: what a search has found, within bounded memory.
 *
 * Matches are numbers whose order is the order of return: distance first, then
 * the place in the heap.  A list that is full keeps the smaller half; whoever
 * wants the rest searches again for what comes after.
 */
#include "index/index.h"

#include "miscadmin.h"

/* Fewer or more matches than these are not kept, whatever work_mem says. */
#define MATCHES_MIN ((Size) 1 << 12)
#define MATCHES_MAX ((Size) 1 << 24)

#define FIRST_ROOM 64

/* What is sorted without a look at interrupts. */
#define SORT_AT_ONCE ((Size) 1 << 16)

/* Half of work_mem; the other half is for a search's candidates. */
void
matches_begin(MatchList *list)
{
	Size most = (Size) work_mem * 1024 / 2 / sizeof(uint64);

	memset(list, 0, sizeof(MatchList));
	list->most = Min(Max(most, MATCHES_MIN), MATCHES_MAX);
	matches_restart(list);
}

void
matches_restart(MatchList *list)
{
	list->count = 0;
	list->ceiling = PG_UINT64_MAX;
	list->repeats = false;
}

/* ---- Order -------------------------------------------------------------- */

static int
compare(const void *x, const void *y)
{
	uint64 a = *(const uint64 *) x;
	uint64 b = *(const uint64 *) y;

	return a < b ? -1 : a > b;
}

static uint64
median(uint64 a, uint64 b, uint64 c)
{
	if (a < b)
		return b < c ? b : Max(a, c);
	return a < c ? a : Max(b, c);
}

/* Hoare's: none of the first elements, as many as returned, exceeds any other. */
static Size
partition(uint64 *x, Size n)
{
	uint64 pivot = median(x[n / 4], x[n / 2], x[n / 4 * 3]);
	Size i = 0;
	Size j = n - 1;

	CHECK_FOR_INTERRUPTS();
	for (;; i++, j--)
	{
		uint64 swap = x[i];

		while (x[i] < pivot)
			swap = x[++i];
		while (x[j] > pivot)
			j--;
		if (i >= j)
			return j + 1;
		x[i] = x[j];
		x[j] = swap;
	}
}

/* The least k of n elements to the front, and the next behind them. */
static void
select_least(uint64 *x, Size n, Size k)
{
	while (n > FIRST_ROOM)
	{
		Size left = partition(x, n);

		if (k < left)
			n = left;
		else
		{
			x += left;
			n -= left;
			k -= left;
		}
	}
	qsort(x, n, sizeof(uint64), compare);
}

static void
sort(uint64 *x, Size n)
{
	while (n > SORT_AT_ONCE)
	{
		Size left = partition(x, n);

		if (left < n - left)
		{
			sort(x, left);
			x += left;
			n -= left;
		}
		else
		{
			sort(x + left, n - left);
			n = left;
		}
	}
	qsort(x, n, sizeof(uint64), compare);
}

static void
remove_repeats(MatchList *list)
{
	Size kept = 0;

	for (Size i = 0; i < list->count; i++)
		if (kept == 0 || list->match[kept - 1] != list->match[i])
			list->match[kept++] = list->match[i];
	list->count = kept;
}

void
matches_sort(MatchList *list)
{
	if (list->count > 1)
		sort(list->match, list->count);
	if (list->repeats)
		remove_repeats(list);
}

/* ---- Adding ------------------------------------------------------------- */

/* What repeats may be on both sides of the ceiling: the later search finds it. */
static void
remove_ceiling(MatchList *list)
{
	Size kept = 0;

	for (Size i = 0; i < list->count; i++)
		if (list->match[i] < list->ceiling)
			list->match[kept++] = list->match[i];
	list->count = kept;
}

/* Make room: by memory, by passing on, or by leaving the greater half to a later search. */
static void
make_room(MatchList *list)
{
	if (list->room < list->most)
	{
		list->room = list->room == 0 ? FIRST_ROOM : Min(list->room * 2, list->most);
		list->match = list->match == NULL ? palloc(list->room * sizeof(uint64)) :
											repalloc_huge(list->match, list->room * sizeof(uint64));
	}
	else if (list->spill != NULL)
		matches_spill(list);
	else
	{
		select_least(list->match, list->count, list->most / 2);
		list->count = list->most / 2;
		list->ceiling = list->match[list->count];
		if (list->repeats)
			remove_ceiling(list);
	}
}

void
matches_spill(MatchList *list)
{
	list->spill(list->spill_state, list->match, list->count);
	list->count = 0;
}

void
matches_add(MatchList *list, uint64 match)
{
	if (list->count == list->room && match > list->after && match < list->ceiling)
		make_room(list);
	if (match > list->after && match < list->ceiling)
		list->match[list->count++] = match;
}
