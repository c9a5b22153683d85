/*
 * scan_matches.c: the matches of a search, within bounded memory.
 *
 * A full list keeps the smaller half of its matches and drops the others.  The caller
 * searches again for these in another round.
 */
#include "index/scan.h"

#include "miscadmin.h"

#include "base/sort.h"

/* Limits of a list, whatever work_mem is. */
#define MATCHES_MIN ((Size) 1 << 12)
#define MATCHES_MAX ((Size) 1 << 24)

#define FIRST_ALLOCATION 64

/* Returns how many matches memory has room for; of more, a round keeps at least half of it. */
Size
matches_room(void)
{
	/* Half of work_mem; the other half is for a search's candidates. */
	Size by_memory = (Size) work_mem * 1024 / 2 / sizeof(uint64);

	return Min(Max(by_memory, MATCHES_MIN), MATCHES_MAX);
}

/*
 * Empties the list and begins a round, which keeps the least matches greater than
 * `after`: at most as many as half of work_mem holds, and at most `limit` unless that is 0.
 */
void
matches_begin_round(MatchList *list, uint64 after, Size limit)
{
	Size by_memory = matches_room();

	list->count = 0;
	list->capacity = limit > 0 ? Min(limit, by_memory) : by_memory;
	list->after = after;
	list->ceiling = PG_UINT64_MAX;
	list->repeats = false;
}

/* ---- Sorting ------------------------------------------------------------ */

static void
sort(uint64 *x, Size n)
{
	sort_records(x, n, sizeof(uint64), sort_key_unsigned);
}

static uint64
median(uint64 a, uint64 b, uint64 c)
{
	if (a < b)
		return b < c ? b : Max(a, c);
	return a < c ? a : Max(b, c);
}

/*
 * Hoare's partition.  Returns a number of elements: none of that many first elements
 * exceeds any other.
 */
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

/* Moves the least k of n elements to the front, and the next one behind them. */
static void
select_least(uint64 *x, Size n, Size k)
{
	while (n > FIRST_ALLOCATION)
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
	sort(x, n);
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

/* ---- Rounds ------------------------------------------------------------- */

static void
pass_on(MatchList *list)
{
	list->receiver(list->receiver_state, list->match, list->count);
	list->count = 0;
}

/*
 * Keeps the smaller half, unless the rest is no more, because of repeats.  The next
 * round finds the ceiling itself.
 */
static void
drop_greater_half(MatchList *list)
{
	Size kept = 0;

	if (list->repeats)
	{
		sort(list->match, list->count);
		remove_repeats(list);
		if (list->count <= list->capacity / 2)
			return;
	}
	select_least(list->match, list->count, list->count / 2);
	list->ceiling = list->match[list->count / 2];
	for (Size i = 0; i < list->count / 2; i++)
		if (list->match[i] < list->ceiling)
			list->match[kept++] = list->match[i];
	list->count = kept;
}

/* Adds a match, unless it is out of the round's range. */
void
matches_add(MatchList *list, uint64 match)
{
	if (match <= list->after || match >= list->ceiling)
		return;
	if (list->count >= list->capacity)
	{
		if (list->receiver != NULL)
			pass_on(list);
		else
			drop_greater_half(list);
		if (match >= list->ceiling)
			return;
	}
	else if (list->count == list->allocated)
	{
		list->allocated = Min(Max(list->allocated * 2, FIRST_ALLOCATION), list->capacity);
		list->match = list->match == NULL ?
			palloc(list->allocated * sizeof(uint64)) :
			repalloc_huge(list->match, list->allocated * sizeof(uint64));
	}
	list->match[list->count++] = match;
}

/*
 * Ends the round: sorts the matches and removes repeats, or passes them on.  Returns
 * true if these are all matches greater than *after, else sets *after for the next round.
 */
bool
matches_end_round(MatchList *list, uint64 *after)
{
	if (list->receiver != NULL)
		pass_on(list);
	if (list->count > 1)
		sort(list->match, list->count);
	if (list->repeats)
		remove_repeats(list);
	if (list->ceiling == PG_UINT64_MAX)
		return true;
	*after = list->ceiling - 1;
	return false;
}
