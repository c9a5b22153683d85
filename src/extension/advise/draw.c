/*
 * draw.c: neardup_pairs_to_judge() returns the pairs of texts whose verdicts would say most.
 *
 * Of ten pairs at most two are verdicts to confirm, which contradict the order of similarity.
 * Others are drawn from what the best candidate reports, which bounds its precision.  The rest is
 * drawn from strata of ranks by each candidate, so that no candidate is favoured, and pairs of
 * every similarity come up; once some are judged, from pairs of whose verdict the model is least sure.
 */
#include "advise/advise.h"

#include <float.h>
#include <math.h>

#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/hash.h"
#include "calls/arguments.h"

/* The share of pairs that are drawn as if none had been judged. */
#define AS_AT_FIRST 0.1

/* Of ten pairs, the most that were judged before. */
#define AGAIN_OF_TEN 2

/* The most pairs that should be drawn before any is judged. */
#define ROUND_MOST 30

/* The pairs that are asked for. */
typedef struct Asked
{
	uint32 count;
	uint32 again; /* how many of these, the first ones, were judged before */
	uint32 *pair;
} Asked;

/* Returns whether the texts of a pair differ by any candidate.  If not, there is nothing to judge. */
static bool
texts_differ(const AdvicePair *pair)
{
	for (int c = 0; c < CANDIDATES; c++)
		if (pair->similarity[c] < SIMILARITY_UNITS)
			return true;
	return false;
}

/* Returns the share of `wanted` pairs, of which ten have `of_ten`, rounded up. */
static uint32
of_ten(uint32 wanted, uint32 of_ten)
{
	return (wanted * of_ten + 9) / 10;
}

/*
 * Lists the pairs that may be drawn, and returns their number.  Each has a chance that it is the first one
 * drawn, whose sum is 1, and an exponential random number whose rate is its chance as its position; the least
 * are drawn (Efraimidis and Spirakis 2006).
 */
static uint32
list_drawable(const CorpusPairs *pairs, RankedPair *draw)
{
	bool first = pairs->judged_same == 0;
	uint32 count = 0;
	double total = 0;
	double unsure = DBL_MIN;

	for (uint32 i = 0; i < pairs->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[i];

		if (pair->verdict != NO_VERDICT || !texts_differ(pair) || pair->asked)
			continue;
		draw[count++].pair = i;
		total += pair->chance;
		unsure += pair->chance * pair->same * (1 - pair->same);
	}
	for (uint32 i = 0; i < count; i++)
	{
		const AdvicePair *pair = &pairs->pair[draw[i].pair];
		double p = pair->same;
		double chance = (first ? 1 : AS_AT_FIRST) * pair->chance / total;

		if (!first)
			chance += (1 - AS_AT_FIRST) * pair->chance * p * (1 - p) / unsure;
		draw[i].position = -log(pair->lot) / chance;
	}
	return count;
}

/* Draws pairs without replacement until `wanted` are asked for. */
static void
draw_pairs(const CorpusPairs *pairs, uint32 wanted, Asked *asked)
{
	RankedPair *draw = palloc_extended(sizeof(RankedPair) * pairs->count + 1, MCXT_ALLOC_HUGE);
	uint32 count = list_drawable(pairs, draw);

	pairs_sort(draw, count);
	for (uint32 i = 0; i < count && asked->count < wanted; i++)
		asked->pair[asked->count++] = draw[i].pair;
	pfree(draw);
}

/* Asks for pairs that the first row of the advice reports; without a verdict "same", for those of the guess. */
static void
draw_reported(CorpusPairs *pairs, uint32 wanted, Asked *asked)
{
	Outlook outlook[CANDIDATES];
	uint32 from = asked->count;

	if (pairs->judged_same == 0 || model_outlooks(pairs, 0, outlook) == 0)
		(void) gap_find(pairs, outlook);
	asked->count += range_to_ask(pairs, outlook, wanted, asked->pair + from);
	for (uint32 i = from; i < asked->count; i++)
		pairs->pair[asked->pair[i]].asked = true;
}

/* Mixes the pairs that were not judged before, so that their order tells the judge nothing. */
static void
mix_asked(const CorpusPairs *pairs, Asked *asked)
{
	RankedPair *draw = palloc(sizeof(RankedPair) * asked->count + 1);
	uint32 count = asked->count - asked->again;

	for (uint32 i = 0; i < count; i++)
	{
		draw[i].pair = asked->pair[asked->again + i];
		draw[i].position = (double) mix64((uint64) ldexp(pairs->pair[draw[i].pair].lot, 53));
	}
	pairs_sort(draw, count);
	for (uint32 i = 0; i < count; i++)
		asked->pair[asked->again + i] = draw[i].pair;
	pfree(draw);
}

/* Puts a pair as a row. */
static void
put_pair(ReturnSetInfo *result, const CorpusPairs *pairs, uint32 position, bool again)
{
	const AdvicePair *pair = &pairs->pair[position];
	const CorpusText *text = pairs->corpus->text;
	Datum values[4] = {CStringGetTextDatum(text[pair->a].id), CStringGetTextDatum(text[pair->b].id),
					   Float8GetDatum((double) pair->similarity[PLAIN_WORD_1] / SIMILARITY_UNITS),
					   BoolGetDatum(again)};
	bool nulls[4] = {false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * neardup_pairs_to_judge(query text, pairs int, judged text, sample int, variants boolean) returns SETOF
 * (a text, b text, similarity float8, again boolean)
 */
PG_FUNCTION_INFO_V1(neardup_pairs_to_judge);
Datum
neardup_pairs_to_judge(PG_FUNCTION_ARGS)
{
	CorpusPairs pairs;
	Asked asked = {0};
	uint32 wanted;

	check_not_null(fcinfo, 1, "pairs");
	wanted = number_argument(fcinfo, 1, "pairs", PG_INT16_MAX);
	begin_rows(fcinfo);
	find_pairs_of_arguments(fcinfo, 2, 3, &pairs);
	asked.pair = palloc(sizeof(uint32) * (wanted + CONFIRM_MOST));
	if (pairs.judged_count > 0)
		asked.again = Min(confirm_find(&pairs, asked.pair), of_ten(wanted, AGAIN_OF_TEN));
	else if (wanted > ROUND_MOST)
		ereport(NOTICE,
				(errmsg("%u pairs are drawn before any is judged", wanted),
				 errhint("Judge ten at a time: with the verdicts so far as \"judged\", the next pairs say more.")));
	asked.count = asked.again;
	draw_reported(&pairs, Min(of_ten(wanted, DRAWN_OF_TEN), wanted - asked.count), &asked);
	draw_pairs(&pairs, wanted, &asked);
	mix_asked(&pairs, &asked);
	for (uint32 i = 0; i < asked.count; i++)
		put_pair((ReturnSetInfo *) fcinfo->resultinfo, &pairs, asked.pair[i], i < asked.again);
	return (Datum) 0;
}
