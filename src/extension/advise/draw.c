/*
 * draw.c: neardup_pairs_to_judge() returns the pairs of texts whose verdicts would say most.
 *
 * Pairs are drawn from strata of their ranks by each candidate, so that no candidate is
 * favoured, and pairs of every similarity come up.  Once some are judged, pairs whose verdict
 * contradicts the order of similarity come first, then pairs of whose verdict the model is least sure.
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

/* The most pairs that should be drawn before any is judged. */
#define ROUND_MOST 30

/* A pair that may be drawn. */
typedef struct Draw
{
	uint32 pair;   /* the place of the pair */
	double chance; /* the chance that it is the first one drawn */
	double place;  /* a random number: the pairs with the least are drawn */
	uint64 random; /* the random number that `place`, and then the order of rows, follow from */
} Draw;

/* Returns a random number that depends on nothing but the ids of a pair, in either order. */
static uint64
random_of_pair(const Corpus *corpus, const AdvicePair *pair)
{
	const char *a = corpus->text[pair->a].id;
	const char *b = corpus->text[pair->b].id;

	return mix64(shingle_of_token(a, strlen(a)) + shingle_of_token(b, strlen(b)));
}

/* Returns whether the texts of a pair differ by any candidate.  If not, there is nothing to judge. */
static bool
texts_differ(const AdvicePair *pair)
{
	for (int c = 0; c < CANDIDATES; c++)
		if (pair->similarity[c] < SIMILARITY_UNITS)
			return true;
	return false;
}

static int
compare_places(const void *x, const void *y)
{
	const Draw *a = x;
	const Draw *b = y;

	return a->place < b->place ? -1 : a->place > b->place;
}

static int
compare_random(const void *x, const void *y)
{
	const Draw *a = x;
	const Draw *b = y;

	return a->random < b->random ? -1 : a->random > b->random;
}

/* Lists the pairs that may be drawn, with their chances, whose sum is 1.  Returns their number. */
static uint32
set_chances(const CorpusPairs *pairs, Draw *draw)
{
	bool first = pairs->judged_count == 0;
	uint32 judged = 0;
	uint32 count = 0;
	double total = 0;
	double unsure = DBL_MIN;

	for (uint32 i = 0; i < pairs->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[i];

		if (judged < pairs->judged_count && pairs->judged[judged] == i)
			judged++;
		else if (!pair->unsure && texts_differ(pair))
		{
			draw[count++] = (Draw){.pair = i, .random = random_of_pair(pairs->corpus, pair)};
			total += pair->chance;
			unsure += pair->chance * pair->same * (1 - pair->same);
		}
	}
	for (uint32 i = 0; i < count; i++)
	{
		const AdvicePair *pair = &pairs->pair[draw[i].pair];
		double p = pair->same;

		draw[i].chance = (first ? 1 : AS_AT_FIRST) * pair->chance / total;
		if (!first)
			draw[i].chance += (1 - AS_AT_FIRST) * pair->chance * p * (1 - p) / unsure;
	}
	return count;
}

/*
 * Draws at most `wanted` pairs without replacement, and returns how many.  Each pair has an
 * exponential random number whose rate is its chance; the least are drawn (Efraimidis and Spirakis,
 * Information Processing Letters 97, 2006).  They come in random order, which tells the judge nothing.
 */
static uint32
draw_pairs(const CorpusPairs *pairs, uint32 wanted, Draw *draw)
{
	uint32 count = set_chances(pairs, draw);

	for (uint32 i = 0; i < count; i++)
		draw[i].place =
			-log(((draw[i].random >> 11) + 0.5) / (double) (UINT64CONST(1) << 53)) / draw[i].chance;
	qsort(draw, count, sizeof(Draw), compare_places);
	count = Min(count, wanted);
	for (uint32 i = 0; i < count; i++)
		draw[i].random = mix64(draw[i].random + 1);
	qsort(draw, count, sizeof(Draw), compare_random);
	return count;
}

/* Puts a pair as a row.  It stands for no less than it does in the sample. */
static void
put_pair(ReturnSetInfo *result, const CorpusPairs *pairs, uint32 place, double stands_for,
		 bool again)
{
	const AdvicePair *pair = &pairs->pair[place];
	const CorpusText *text = pairs->corpus->text;
	Datum values[5] = {CStringGetTextDatum(text[pair->a].id), CStringGetTextDatum(text[pair->b].id),
					   Float8GetDatum((double) pair->similarity[PLAIN_WORD_1] / SIMILARITY_UNITS),
					   Float8GetDatum(Max(stands_for, pair->stands_for)), BoolGetDatum(again)};
	bool nulls[5] = {false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Draws pairs and puts them as rows. */
static void
put_drawn(ReturnSetInfo *result, const CorpusPairs *pairs, uint32 wanted)
{
	Draw *draw = palloc_extended(sizeof(Draw) * pairs->count + 1, MCXT_ALLOC_HUGE);
	uint32 drawn = draw_pairs(pairs, wanted, draw);

	for (uint32 i = 0; i < drawn; i++)
		put_pair(result, pairs, draw[i].pair,
				 pairs->pair[draw[i].pair].stands_for / (drawn * draw[i].chance), false);
}

/*
 * neardup_pairs_to_judge(query text, pairs int, judged text, sample int) returns SETOF
 * (a text, b text, similarity float8, stands_for float8, again boolean)
 */
PG_FUNCTION_INFO_V1(neardup_pairs_to_judge);
Datum
neardup_pairs_to_judge(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CorpusPairs pairs;
	Model model;
	int32 wanted;
	uint32 contradiction[CONTRADICTIONS_MOST];
	uint32 again;

	check_not_null(fcinfo, 1, "pairs");
	wanted = number_argument(fcinfo, 1, "pairs", PG_INT16_MAX);
	begin_rows(fcinfo);
	find_pairs_of_arguments(fcinfo, 2, 3, &pairs);
	if (pairs.judged_count > 0)
		model_fit(&model, &pairs);
	else if (wanted > ROUND_MOST)
		ereport(NOTICE,
				(errmsg("%d pairs are drawn before any is judged", wanted),
				 errhint("Judge ten at a time: with the verdicts so far as \"judged\", the next pairs say more.")));
	again = Min(contradictions_find(&pairs, contradiction), wanted);
	for (uint32 i = 0; i < again; i++)
		put_pair(result, &pairs, pairs.judged[contradiction[i]], 0, true);
	put_drawn(result, &pairs, wanted - again);
	return (Datum) 0;
}
