/*
 * counted.c: the precision of what a candidate reports, counted on a random draw of it.
 *
 * The pairs that a candidate reports at a threshold, its range, have an order by chance, which
 * depends on nothing but their ids.  neardup_pairs_to_judge() asks for the first ones of the best
 * candidate's range, and the pairs of a range that were judged without a gap in this order are
 * a random draw of it, whichever candidate was best when they were asked for.  Verdicts that were
 * asked for because the model could not predict them count only as far as they lie there.
 */
#include "advise/advise.h"

#include <math.h>

/* The chance that the precision is below its interval, and that it is above. */
#define CHANCE_BEYOND 0.025

/* ---- The range ------------------------------------------------------------------- */

/*
 * Sets the pairs of a range in their order, and returns their number.  A pair comes the earlier the
 * more pairs of all texts it stands for (Efraimidis and Spirakis, Information Processing Letters 97,
 * 2006).
 */
static uint32
list_range(const CorpusPairs *pairs, const Outlook *outlook, RankedPair **range)
{
	uint32 count = 0;

	*range = palloc_extended(sizeof(RankedPair) * pairs->count + 1, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < pairs->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[i];

		if (pair->stands_for > 0 && pair_step(pair, outlook->candidate) >= outlook->step)
			(*range)[count++] = (RankedPair){i, -log(pair->lot) / pair->stands_for};
	}
	pairs_sort(*range, count);
	return count;
}

/* Sets the first `wanted` pairs of a range that were not judged, and returns how many there are. */
uint32
range_to_ask(const CorpusPairs *pairs, const Outlook *outlook, uint32 wanted, uint32 *found)
{
	RankedPair *range;
	uint32 count = list_range(pairs, outlook, &range);
	uint32 kept = 0;

	for (uint32 i = 0; i < count && kept < wanted; i++)
		if (pairs->pair[range[i].pair].verdict == NO_VERDICT)
			found[kept++] = range[i].pair;
	pfree(range);
	return kept;
}

/* ---- Bounds ---------------------------------------------------------------------- */

/* Returns the logarithm of the number of ways to choose k of n. */
static double
log_ways(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/*
 * Returns whether `drawn` of `all` pairs, of which `same` are the same, have at least `found` such with
 * more than CHANCE_BEYOND.
 */
static bool
may_find(double all, double same, uint32 drawn, uint32 found)
{
	double sum = 0;
	double before = 0;

	for (uint32 i = found; i <= drawn && i <= same && sum <= CHANCE_BEYOND; i++)
	{
		double chance = drawn - i > all - same ?
			0 :
			exp(log_ways(same, i) + log_ways(all - same, drawn - i) - log_ways(all, drawn));

		if (chance < before && chance < CHANCE_BEYOND * 1e-9)
			break;
		sum += before = chance;
	}
	return sum > CHANCE_BEYOND;
}

/*
 * Returns the least number of same pairs among `all` of which a draw may have `found`: the exact bound
 * by Clopper and Pearson (Biometrika 26, 1934), for a draw without replacement.
 */
static double
least_same(double all, uint32 drawn, uint32 found)
{
	double low = found;
	double high = all - (drawn - found);

	while (low < high)
	{
		double middle = floor((low + high) / 2);

		if (may_find(all, middle, drawn, found))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Sets the bounds of the precision by a draw of a whole range of `all` pairs. */
static void
bound_precision(Counted *counted, double all)
{
	counted->low = least_same(all, counted->drawn, counted->same) / all;
	counted->high = (all - least_same(all, counted->drawn, counted->drawn - counted->same)) / all;
}

/*
 * Counts the verdicts on the draw of what a candidate reports.  Pairs that the candidate reports, but
 * that were not kept, may all be the same or all different.
 */
Counted
count_drawn(const CorpusPairs *pairs, const Outlook *outlook)
{
	RankedPair *range;
	uint32 count = list_range(pairs, outlook, &range);
	double all = Max(rint(outlook->pairs), 1);
	double listed = 0;
	Counted counted = {0};

	for (uint32 i = 0; i < count; i++)
		listed += pairs->pair[range[i].pair].stands_for;
	for (uint32 i = 0; i < count && pairs->pair[range[i].pair].verdict != NO_VERDICT; i++)
	{
		counted.drawn += pairs->pair[range[i].pair].verdict != VERDICT_UNSURE;
		counted.same += pairs->pair[range[i].pair].verdict == VERDICT_SAME;
	}
	pfree(range);
	bound_precision(&counted, Max(rint(listed), Max(counted.drawn, 1)));
	listed = Min(listed / all, 1);
	counted.low *= listed;
	counted.high = 1 - listed * (1 - counted.high);
	return counted;
}

/* Returns how many more verdicts would halve the width of an interval, if their shares stay. */
uint32
counted_to_halve(const Counted *counted, const Outlook *outlook)
{
	uint32 low = counted->drawn;
	uint32 high = (uint32) Min(Max(rint(outlook->pairs), low), PG_INT32_MAX / 10);

	while (low < high)
	{
		Counted more = {.drawn = low + (high - low) / 2};

		more.same = (uint32) rint((double) counted->same * more.drawn / Max(counted->drawn, 1));
		bound_precision(&more, Max(rint(outlook->pairs), 1));
		if (2 * (more.high - more.low) <= counted->high - counted->low)
			high = more.drawn;
		else
			low = more.drawn + 1;
	}
	return (low - counted->drawn) * 10 / DRAWN_OF_TEN;
}

/* ---- Numbers of pairs ------------------------------------------------------------- */

/* The quantile of Student's distribution of PARTS - 1 degrees of freedom that 2.5 % exceed. */
#define STUDENT 2.093

/* How many standard errors of a similarity that is estimated from some shingles may be off. */
#define SHINGLE_ERRORS 3.0

/* Returns how far similarities may be off, in steps of the grid, if not all shingles were kept. */
static int
steps_off(const Corpus *corpus, const Outlook *outlook)
{
	int s = candidates[outlook->candidate].scheme;
	double t = (double) outlook->step / GRID;

	if (corpus->highest[s] == PG_UINT32_MAX)
		return 0;
	return (int) ceil(GRID * SHINGLE_ERRORS *
					  sqrt(t * (1 - t) * corpus->count / Max(corpus->total[s], 1)));
}

/*
 * Sets the bounds of the number of pairs that a candidate reports, from what leaving out each part of
 * the sample changes (the jackknife).  Returns false if nothing bounds it, since texts of
 * large families were left out.
 */
bool
pairs_bounds(const CorpusPairs *pairs, const Outlook *outlook, double *low, double *high)
{
	const Corpus *corpus = pairs->corpus;
	const double *reported = pairs->reported[outlook->candidate];
	int off = steps_off(corpus, outlook);
	double without[PARTS] = {0}; /* first the texts of each part, then the estimate without it */
	double mean = 0;
	double variance = 0;
	double factor = 1;

	for (uint32 i = 0; i < corpus->inside; i++)
		without[corpus->text[i].key % PARTS]++;
	for (int part = 0; part < PARTS; part++)
	{
		without[part] = (outlook->pairs - pairs->touched[outlook->candidate][outlook->step][part]) /
			(corpus->inside + 1 - without[part]);
		mean += without[part] / PARTS;
	}
	for (int part = 0; part < PARTS; part++)
		variance += pow(without[part] - mean, 2) * (PARTS - 1) / PARTS;
	if (!corpus->complete)
		factor = exp(STUDENT * sqrt(variance) / mean);
	*low = reported[Min(outlook->step + off, GRID)] / factor;
	*high = reported[Max(outlook->step - off, 0)] * factor;
	return !corpus->capped && (corpus->complete || mean > 0);
}
