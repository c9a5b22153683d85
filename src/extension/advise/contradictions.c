/*
 * contradictions.c: verdicts that contradict the order of similarity: "same" where most pairs judged
 * different are more similar, or "different" where most pairs judged the same are less similar.
 */
#include "advise/advise.h"

/* A verdict contradicts if it is out of order with more than this share of the opposite verdicts. */
#define CONTRADICTION 0.5

/* How much a verdict is out of order. */
typedef struct Disorder
{
	uint32 judged; /* the place of the verdict in judged[] */
	double share;  /* the share of opposite verdicts out of order with it, the mean by candidates */
} Disorder;

static int
compare_disorders(const void *x, const void *y)
{
	const Disorder *p = x;
	const Disorder *q = y;

	if (p->share != q->share)
		return p->share > q->share ? -1 : 1;
	return p->judged < q->judged ? -1 : p->judged > q->judged;
}

/*
 * Adds to each verdict the part of a candidate: the share of the opposite verdicts with which it is
 * out of order.  Verdicts on pairs of equal similarity count half.
 */
static void
add_disorder(const CorpusPairs *pairs, int candidate, Disorder *disorder)
{
	uint32 *below[2]; /* how many verdicts of each kind are below each similarity */

	for (int kind = 0; kind < 2; kind++)
		below[kind] = palloc0(sizeof(uint32) * (SIMILARITY_UNITS + 2));
	for (uint32 i = 0; i < pairs->judged_count; i++)
		below[pairs->same[i]][pairs->pair[pairs->judged[i]].similarity[candidate] + 1]++;
	for (int u = 0; u <= SIMILARITY_UNITS; u++)
		for (int kind = 0; kind < 2; kind++)
			below[kind][u + 1] += below[kind][u];
	for (uint32 i = 0; i < pairs->judged_count; i++)
	{
		const uint32 *opposite = below[!pairs->same[i]];
		uint16 u = pairs->pair[pairs->judged[i]].similarity[candidate];
		double all = opposite[SIMILARITY_UNITS + 1];
		double less = (opposite[u] + (double) opposite[u + 1]) / 2;

		disorder[i].share += (pairs->same[i] ? all - less : less) / (all * CANDIDATES);
	}
	pfree(below[0]);
	pfree(below[1]);
}

/* Returns how many verdicts are "same". */
uint32
judged_same(const CorpusPairs *pairs)
{
	uint32 same = 0;

	for (uint32 i = 0; i < pairs->judged_count; i++)
		same += pairs->same[i];
	return same;
}

/*
 * Finds the verdicts that contradict most, at most CONTRADICTIONS_MOST.  Sets found[] to their
 * places in judged[], the worst first, and returns their number.  Verdicts that were given twice
 * are left out: the user has confirmed them.
 */
uint32
contradictions_find(const CorpusPairs *pairs, uint32 *found)
{
	uint32 count = pairs->judged_count;
	uint32 same = judged_same(pairs);
	uint32 kept = 0;
	Disorder *disorder;

	if (same == 0 || same == count)
		return 0;
	disorder = palloc_extended(sizeof(Disorder) * count, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < count; i++)
		disorder[i].judged = i;
	for (int c = 0; c < CANDIDATES; c++)
		add_disorder(pairs, c, disorder);
	qsort(disorder, count, sizeof(Disorder), compare_disorders);
	for (uint32 i = 0; i < count && kept < CONTRADICTIONS_MOST; i++)
		if (disorder[i].share > CONTRADICTION && !pairs->again[disorder[i].judged])
			found[kept++] = disorder[i].judged;
	pfree(disorder);
	return kept;
}
