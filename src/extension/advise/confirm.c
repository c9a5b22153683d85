/*
 * confirm.c: verdicts to confirm.
 *
 * A verdict contradicts if it is "same" where many pairs judged different are more similar, or
 * "different" where many pairs judged the same are less similar.  Another one carries the advice: if
 * it were not there, another number of pairs would be reported.
 */
#include "advise/advise.h"

/* A verdict contradicts if it is out of order with more than this share of the opposite verdicts. */
#define CONTRADICTION 0.4

/* The most verdicts "same" that are left out in turn: those that are most out of order. */
#define LEFT_OUT_MOST 6

/* A verdict carries the advice if the pairs reported without it are so many times fewer or more. */
#define CARRIES 2.0

/*
 * Takes from the position of each verdict the part of a candidate: the share of the opposite verdicts with
 * which it is out of order.  Verdicts on pairs of equal similarity count half.
 */
static void
add_disorder(const CorpusPairs *pairs, int candidate, RankedPair *disorder)
{
	uint32 *below[2]; /* how many verdicts of each kind are below each similarity */

	for (int kind = 0; kind < 2; kind++)
		below[kind] = palloc0(sizeof(uint32) * (SIMILARITY_UNITS + 2));
	for (uint32 i = 0; i < pairs->judged_count; i++)
	{
		const AdvicePair *pair = &pairs->pair[pairs->judged[i]];

		below[pair->verdict == VERDICT_SAME][pair->similarity[candidate] + 1]++;
	}
	for (int u = 0; u <= SIMILARITY_UNITS; u++)
		for (int kind = 0; kind < 2; kind++)
			below[kind][u + 1] += below[kind][u];
	for (uint32 i = 0; i < pairs->judged_count; i++)
	{
		const AdvicePair *pair = &pairs->pair[pairs->judged[i]];
		bool same = pair->verdict == VERDICT_SAME;
		const uint32 *opposite = below[!same];
		uint16 u = pair->similarity[candidate];
		double all = opposite[SIMILARITY_UNITS + 1];
		double less = (opposite[u] + (double) opposite[u + 1]) / 2;

		disorder[i].position -= (same ? all - less : less) / (all * CANDIDATES);
	}
	pfree(below[0]);
	pfree(below[1]);
}

/*
 * Returns all verdicts by how much they are out of order, the worst first: minus its position is the share of
 * opposite verdicts out of order with one, the mean by candidates.
 */
static RankedPair *
sort_disorders(const CorpusPairs *pairs)
{
	RankedPair *disorder = palloc_extended(sizeof(RankedPair) * pairs->judged_count + 1,
										   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 i = 0; i < pairs->judged_count; i++)
		disorder[i].pair = pairs->judged[i];
	for (int c = 0; c < CANDIDATES; c++)
		add_disorder(pairs, c, disorder);
	pairs_sort(disorder, pairs->judged_count);
	return disorder;
}

/* Returns how many pairs the first row reports, without the verdict on a pair unless it is NO_PAIR. */
static double
reported_without(CorpusPairs *pairs, uint32 pair)
{
	Outlook outlook[CANDIDATES];

	model_fit(pairs, pair);
	return model_outlooks(pairs, 0, outlook) > 0 ? outlook[0].pairs : 0;
}

/*
 * Returns a verdict "same" that carries the advice and was given once, or NO_PAIR: that of all that
 * were left out whose absence changes the number of pairs most.  Fits the model to all verdicts.
 */
static uint32
find_carrying(CorpusPairs *pairs, const RankedPair *disorder)
{
	double all = reported_without(pairs, NO_PAIR);
	double most = CARRIES;
	uint32 carrying = NO_PAIR;
	int left_out = 0;

	for (uint32 i = 0;
		 i < pairs->judged_count && left_out < LEFT_OUT_MOST && pairs->judged_same > 1; i++)
	{
		const AdvicePair *pair = &pairs->pair[disorder[i].pair];
		double without;
		double change;

		if (pair->verdict != VERDICT_SAME || pair->again)
			continue;
		left_out++;
		without = reported_without(pairs, disorder[i].pair);
		change = Max(all, without) / Max(Min(all, without), 1);
		if (change < most)
			continue;
		most = change;
		carrying = disorder[i].pair;
	}
	if (left_out > 0)
		model_fit(pairs, NO_PAIR);
	return carrying;
}

/*
 * Fits the model to all verdicts, of which there is at least one, and finds those to confirm:
 * first the one that carries the advice, then those that contradict most.  Sets found[] to the positions
 * of their pairs, at most CONFIRM_MOST, and returns their number.  Verdicts that were given
 * twice are left out; if they contradict, the model counts them little.
 */
uint32
confirm_find(CorpusPairs *pairs, uint32 *found)
{
	RankedPair *disorder = sort_disorders(pairs);
	uint32 kept = 0;

	if (pairs->judged_same == 0 || pairs->judged_same == pairs->judged_count)
		model_fit(pairs, NO_PAIR);
	else
	{
		for (uint32 i = 0; i < pairs->judged_count; i++)
			pairs->pair[disorder[i].pair].contradicts = -disorder[i].position > CONTRADICTION;
		pairs->carrying = find_carrying(pairs, disorder);
		if (pairs->carrying != NO_PAIR)
			found[kept++] = pairs->carrying;
		for (uint32 i = 0; i < pairs->judged_count && kept < CONFIRM_MOST; i++)
		{
			const AdvicePair *pair = &pairs->pair[disorder[i].pair];

			if (pair->contradicts && !pair->again && disorder[i].pair != pairs->carrying)
				found[kept++] = disorder[i].pair;
		}
	}
	pfree(disorder);
	return kept;
}
