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

/* Returns how many matches a list keeps at most. */
static Size
room(void)
{
	return host_limit(matches_room());
}

/*
 * Empties the list and begins a round, which keeps the least matches greater than
 * `after`: at most as many as half of work_mem holds, and at most `limit` unless that is 0.
 */
void
matches_begin_round(MatchList *list, uint64 after, Size limit)
{
	list->count = 0;
	list->capacity = limit > 0 ? Min(host_limit(limit), room()) : room();
	list->after = after;
	list->ceiling = PG_UINT64_MAX;
	list->settled = 0;
	list->least = MATCH_LAST(match_distance(after + 1));
	list->nearest = 0;
	list->ended = false;
	list->positions = 0;
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
 * Does Hoare's partition.  Returns the number of first elements, none of which exceeds any
 * other element.
 */
static Size
matches_partition(uint64 *x, Size n)
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
		Size left = matches_partition(x, n);

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

/* Returns whether a sorted array has a match. */
static bool
has(const uint64 *x, Size n, uint64 match)
{
	Size at = 0;

	SEARCH_SORTED(at, n, x[middle] < match);
	return at < n && x[at] == match;
}

/* ---- Rounds ------------------------------------------------------------- */

static void
pass_on(MatchList *list)
{
	list->receiver(list->receiver_state, list->match, list->count);
	list->count = list->settled = 0;
}

/*
 * Sorts the matches.  From now on, the search may find them again: it starts again, since maintenance
 * has put their documents elsewhere.  Receivers take a match more than once.
 */
void
matches_settle(MatchList *list)
{
	sort(list->match, list->count);
	list->settled = list->count;
}

/* Drops the matches from some ceiling on, but leaves what the round has after its beginning. */
void
matches_lower_ceiling(MatchList *list, uint64 ceiling)
{
	Size kept = 0;

	ceiling = Max(ceiling, list->after + 1);
	if (ceiling >= list->ceiling)
		return;
	list->ceiling = ceiling;
	list->nearest = 0;
	for (Size i = 0; i < list->count; i++)
		if (list->match[i] < ceiling)
		{
			list->nearest += list->match[i] <= list->least;
			list->match[kept++] = list->match[i];
		}
	list->count = kept;
	if (list->settled > 0)
		matches_settle(list);
}

/* Keeps the smaller half.  The next round finds the match at the ceiling. */
static void
drop_greater_half(MatchList *list)
{
	select_least(list->match, list->count, list->count / 2);
	matches_lower_ceiling(list, list->match[list->count / 2]);
}

/* Adds a match, unless it is out of the round's range, was returned, or is there. */
void
matches_add(MatchList *list, uint64 match)
{
	if (match <= list->after || match >= list->ceiling || has(list->given, list->givens, match) ||
		has(list->match, list->settled, match))
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
	list->nearest += match <= list->least;
}

/* A round that has found some matches goes on if at most this many pages are left. */
#define PAGES_SPARED 32

/* Returns whether a round ends, because it has found some matches and more than a few pages are left. */
bool
matches_suffice(MatchList *list, uint32 pages)
{
	if (list->some > 0 && list->nearest >= list->some && pages > host_limit(PAGES_SPARED))
		list->ended = true;
	return list->ended;
}

/* Returns the distance of the nth match, from 1, in their order; a great number if there are fewer. */
int
matches_nth_distance(MatchList *list, Size n)
{
	int distance;

	if (list->count < n)
		return PG_INT32_MAX;
	select_least(list->match, list->count, n - 1);
	distance = match_distance(list->match[n - 1]);
	if (list->settled > 0)
		matches_settle(list);
	return distance;
}

/* The next round that may end early looks for this many times more, or for all if those do not fit. */
#define SOME_GROWTH 32
#define GIVEN_PART 8

/* Raises an error if a match was returned before: matches_add() lets none in. */
static void
check_given(const MatchList *list)
{
	for (Size i = 0; list->givens > 0 && i < list->count; i++)
		if (has(list->given, list->givens, list->match[i]))
			elog(ERROR, "a search has found a row that it has returned");
}

/* Remembers the matches of a round that has ended early, which are sorted. */
static void
remember_given(MatchList *list)
{
	list->given =
		host_grow(list->given, &list->given_room, list->givens + list->count, sizeof(uint64));
	memcpy(list->given + list->givens, list->match, list->count * sizeof(uint64));
	list->givens += list->count;
	sort(list->given, list->givens);
	list->some *= SOME_GROWTH;
	if (list->some > room() / GIVEN_PART)
		list->some = 0;
}

/*
 * Ends the round: sorts the matches, or passes them on.  Returns true if these are all matches
 * greater than *after, else sets *after for the next round.
 */
bool
matches_end_round(MatchList *list, uint64 *after)
{
	if (list->receiver != NULL)
		pass_on(list);
	if (list->ended && list->least < PG_UINT64_MAX)
		matches_lower_ceiling(list, list->least + 1);
	if (list->count > 1)
		sort(list->match, list->count);
	check_given(list);
	if (list->ended)
	{
		remember_given(list);
		return false;
	}
	if (list->ceiling == PG_UINT64_MAX)
		return true;
	*after = list->ceiling - 1;
	return false;
}
