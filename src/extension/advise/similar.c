/*
 * similar.c: the pairs of a sample that any candidate finds similar, and their similarities.
 *
 * For each scheme there is a list of the texts of each shingle.  The lists of a text's shingles, read
 * once, give what it shares with all texts after it.  Each candidate keeps the pairs that are most
 * similar by it: as many as POOL_PER_TEXT for each text of the sample.
 */
#include "advise/advise.h"

#include <math.h>

#include "miscadmin.h"

#include "base/defaults.h"
#include "base/hash.h"
#include "base/sort.h"
#include "compare/compare.h"
#include "sketch/counts.h"
#include "sketch/weights.h"

const Candidate candidates[CANDIDATES] = {[LEXICON_WORD_3] = {WORD_3, true, MEASURE_RESEMBLANCE},
										  [1] = {WORD_1, true, MEASURE_RESEMBLANCE},
										  [LEXICON_CHAR_5] = {CHAR_5, true, MEASURE_RESEMBLANCE},
										  [3] = {CHAR_3, true, MEASURE_RESEMBLANCE},
										  [4] = {WORD_3, true, MEASURE_CONTAINMENT},
										  [5] = {WORD_1, true, MEASURE_CONTAINMENT},
										  [6] = {CHAR_5, true, MEASURE_CONTAINMENT},
										  [7] = {CHAR_3, true, MEASURE_CONTAINMENT},
										  [8] = {WORD_3, false, MEASURE_RESEMBLANCE},
										  [PLAIN_WORD_1] = {WORD_1, false, MEASURE_RESEMBLANCE},
										  [10] = {CHAR_5, false, MEASURE_RESEMBLANCE},
										  [11] = {CHAR_3, false, MEASURE_RESEMBLANCE}};

/* The pairs that each candidate keeps, divided by the number of texts. */
#define POOL_PER_TEXT 20

/* The least number of texts, if there are so many, from which find_least() estimates. */
#define PILOT_TEXTS 256

/* The most steps through the lists of a scheme; shingles that would take more are not compared. */
#define STEPS_MOST UINT64CONST(300000000)

/* The texts that are compared between two reports of progress. */
#define TEXTS_STEP 16

/* ---- Lists ------------------------------------------------------------------------ */

/* The lists of a scheme, each of the texts that have a shingle. */
typedef struct Lists
{
	uint32 count;    /* the number of lists, one for each shingle */
	uint32 *start;   /* the start of each list in text[], and the end of the last one */
	uint32 *text;    /* the texts of each list, ascending */
	uint8 *weight;   /* the weight of each shingle */
	uint32 *weights; /* the sum of the weights of the lists that each text is in */
	uint64 *shared;  /* what each text shares: low half, shingles; high half, their weights */
} Lists;

/* Returns all elements, sorted, in the high half; the low half is the number of the text. */
static uint64 *
sorted_postings(const Corpus *corpus, int s)
{
	uint64 *posting =
		MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint64) * (corpus->total[s] + 1));
	size_t count = 0;

	for (uint32 i = 0; i < corpus->count; i++)
		for (uint32 j = 0; j < corpus->text[i].elements[s]; j++)
			posting[count++] = (uint64) corpus->text[i].element[s][j] << 32 | i;
	sort_records(posting, count, sizeof(uint64), sort_key_unsigned);
	return posting;
}

/*
 * Sets the weights of the lists as a lexicon of the texts would.  `part` is the share of all shingles
 * that the lists have, and of the entries.
 */
static void
weigh_lists(Lists *lists, const Corpus *corpus, double part)
{
	uint64 documents =
		(uint64) Max((double) corpus->count * corpus->texts / Max(corpus->rows, 1), 2);
	CountedElement *entry = palloc(sizeof(CountedElement) * lists->count + 1);
	size_t entries;

	for (uint32 l = 0; l < lists->count; l++)
		entry[l] = (CountedElement){l, lists->start[l + 1] - lists->start[l]};
	entries = counted_entries(entry, lists->count, documents,
							  (uint32) (DEFAULT_LEXICON_ENTRIES * part), DEFAULT_LEXICON_SHARE);
	memset(lists->weight, WEIGHT_MAX, lists->count);
	for (size_t i = 0; i < entries; i++)
		lists->weight[entry[i].key] =
			weight_of_count(entry[i].count, documents, DEFAULT_LEXICON_SHARE);
	pfree(entry);
}

/*
 * Makes the lists of a scheme: of shingles in the order of their hashes, up to STEPS_MOST steps.  The
 * elements of a text become the numbers of the lists that it is in.
 */
static void
lists_begin(Lists *lists, Corpus *corpus, int s)
{
	uint64 *posting = sorted_postings(corpus, s);
	uint64 total = corpus->total[s];
	uint64 steps = 0;

	*lists = (Lists){.start = palloc(sizeof(uint32) * (total + 1)),
					 .text = palloc(sizeof(uint32) * total + 1),
					 .weight = palloc(total + 1),
					 .weights = palloc0(sizeof(uint32) * corpus->count),
					 .shared = palloc0(sizeof(uint64) * corpus->count)};
	for (uint32 i = 0; i < corpus->count; i++)
		corpus->text[i].elements[s] = 0;
	lists->start[0] = 0;
	for (uint64 i = 0; i < total && steps < STEPS_MOST;)
	{
		uint64 first = i;

		host_check_interrupts_at(lists->count);
		for (; i < total && posting[i] >> 32 == posting[first] >> 32; i++)
		{
			CorpusText *text = &corpus->text[(uint32) posting[i]];

			lists->text[i] = (uint32) posting[i];
			text->element[s][text->elements[s]++] = lists->count;
		}
		lists->start[++lists->count] = (uint32) i;
		steps += (i - first) * (i - first) / 2;
	}
	pfree(posting);
	weigh_lists(lists, corpus,
				corpus->highest[s] / (double) PG_UINT32_MAX * lists->start[lists->count] /
					Max(total, 1));
	for (uint32 i = 0; i < corpus->count; i++)
		for (uint32 j = 0; j < corpus->text[i].elements[s]; j++)
			lists->weights[i] += lists->weight[corpus->text[i].element[s][j]];
}

/* Sets lists->shared to what a text shares by scheme s with each text from number `from` on. */
static void
similar_find_shared(Lists *lists, const Corpus *corpus, int s, uint32 text, uint32 from)
{
	memset(lists->shared + from, 0, sizeof(uint64) * (corpus->count - from));
	for (uint32 i = 0; i < corpus->text[text].elements[s]; i++)
	{
		uint32 l = corpus->text[text].element[s][i];
		uint64 more = (uint64) lists->weight[l] << 32 | 1;

		/* Texts before `from` are at the start of the list. */
		for (uint32 p = lists->start[l + 1]; p > lists->start[l] && lists->text[p - 1] >= from; p--)
			lists->shared[lists->text[p - 1]] += more;
	}
}

/* ---- Similarities ------------------------------------------------------------------ */

/* Returns the similarity of two texts of lengths x and y, in units, from what they share. */
static uint16
units(Measure measure, uint64 shared, uint64 x, uint64 y)
{
	return (uint16) floor(SIMILARITY_UNITS * overlap_similarity(measure, shared, x, y) + 1e-6);
}

/* Sets the similarity of two texts by each candidate, after similar_find_shared() for a. */
static void
compare_texts(const Lists *lists, const Corpus *corpus, uint32 a, uint32 b, uint16 *similarity)
{
	for (int c = 0; c < CANDIDATES; c++)
	{
		const Candidate *candidate = &candidates[c];
		const Lists *l = &lists[candidate->scheme];
		uint64 shared = l->shared[b];
		/* A text of which no shingle has a weight is weighed whole, and shares nothing with other ones. */
		bool weighed = candidate->lexicon && (l->weights[a] > 0 || l->weights[b] > 0);

		similarity[c] = weighed ?
			units(candidate->measure, shared >> 32, l->weights[a], l->weights[b]) :
			units(candidate->measure, (uint32) shared, corpus->text[a].elements[candidate->scheme],
				  corpus->text[b].elements[candidate->scheme]);
	}
}

/* Returns whether a text shares a shingle of any candidate's scheme with the text of similar_find_shared(). */
static bool
share_any(const Lists *lists, uint32 b)
{
	for (int s = 0; s < FAMILY; s++)
		if (lists[s].shared[b] != 0)
			return true;
	return false;
}

/* Sets the least similarity of the pairs that each candidate keeps, estimated from some texts. */
static void
find_least(Lists *lists, const Corpus *corpus, uint16 *least)
{
	uint32 step = Max(corpus->count / PILOT_TEXTS, 1);
	uint64 *pairs = palloc0(sizeof(uint64) * CANDIDATES * (SIMILARITY_UNITS + 1));
	uint16 similarity[CANDIDATES];
	uint32 pilots = 0;

	for (uint32 a = 0; a < corpus->count; a += step, pilots++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int s = 0; s < FAMILY; s++)
			similar_find_shared(&lists[s], corpus, s, a, 0);
		for (uint32 b = 0; b < corpus->count; b++)
		{
			compare_texts(lists, corpus, a, b, similarity);
			for (int c = 0; c < CANDIDATES && b != a; c++)
				pairs[c * (SIMILARITY_UNITS + 1) + similarity[c]]++;
		}
	}
	for (int c = 0; c < CANDIDATES; c++)
	{
		/* Each pair is counted for both texts. */
		int64 wanted = (int64) 2 * POOL_PER_TEXT * pilots;
		int least_kept = SIMILARITY_UNITS + 1;

		while (wanted > 0 && least_kept > 1)
			wanted -= pairs[c * (SIMILARITY_UNITS + 1) + --least_kept];
		least[c] = (uint16) least_kept;
	}
	pfree(pairs);
}

/* ---- Pairs --------------------------------------------------------------------------- */

/* A pair that was judged, by the numbers of its texts: a < b. */
typedef struct JudgedTexts
{
	uint32 a;
	uint32 b;
	bool same;
	uint8 times; /* JudgedTimes */
} JudgedTexts;

/* Returns whether the texts of two judged ids were read.  The state is the text of each id's position. */
static bool
is_met(const void *state, uint32 a, uint32 b)
{
	const uint32 *text = state;

	return text[a] != NOT_JUDGED && text[b] != NOT_JUDGED;
}

/* Sets the judged pairs whose texts were both read, sorted.  Returns their number. */
static uint32
find_judged(const Corpus *corpus, JudgedTexts *judged)
{
	JudgedPairs *verdicts = corpus->verdicts;
	uint32 *text = judged_rows(verdicts);

	for (uint32 i = 0; i < corpus->count; i++)
		if (corpus->text[i].judged != NOT_JUDGED)
			text[corpus->text[i].judged] = i;
	judged_keep(verdicts, is_met, text, true);
	for (uint32 i = 0; i < verdicts->count; i++)
	{
		uint32 x = text[verdicts->verdict[i].a];
		uint32 y = text[verdicts->verdict[i].b];

		judged[i] = (JudgedTexts){Min(x, y), Max(x, y), verdicts->verdict[i].same,
								  verdicts->verdict[i].times};
	}
	sort_records(judged, verdicts->count, sizeof(JudgedTexts), sort_key_pair);
	return verdicts->count;
}

/*
 * Returns how many pairs of all texts a pair of the sample stands for: one divided by the
 * probability that the sample has both texts.  The second text comes with the first if they have the
 * same key, whose probability is the resemblance of the shingles that tell families; else it is in the
 * sample by its own key.  similar_find_shared() was called for a.
 */
static float
stands_for(const Corpus *corpus, const Lists *lists, uint32 a, uint32 b)
{
	double share = corpus_share(corpus);
	double resemblance;

	if (b >= corpus->inside)
		return 0;
	if (corpus->complete)
		return 1;
	resemblance = units(MEASURE_RESEMBLANCE, (uint32) lists[FAMILY].shared[b],
						corpus->text[a].elements[FAMILY], corpus->text[b].elements[FAMILY]) /
		(double) SIMILARITY_UNITS;
	return (float) (1 / (share * (resemblance + (1 - resemblance) * share)));
}

/*
 * Returns a random number below 1, which depends on nothing but the ids of a pair, in either order:
 * the greatest number of a draw stays the greatest of all draws from a part of its range.
 */
static double
lot_of_pair(const Corpus *corpus, const AdvicePair *pair)
{
	const char *a = corpus->text[pair->a].id;
	const char *b = corpus->text[pair->b].id;
	uint64 random = mix64(shingle_of_token(a, strlen(a)) + shingle_of_token(b, strlen(b)));

	return ((random >> 11) + 0.5) / (double) (UINT64CONST(1) << 53);
}

/* Returns whether two texts are variants, which do not count. */
static bool
are_variants(const Corpus *corpus, uint32 a, uint32 b)
{
	const Utf8Text *x = &corpus->text[a].body;
	const Utf8Text *y = &corpus->text[b].body;
	bool variants;

	if (corpus->variants)
		return false;
	if (!texts_are_variants(x->bytes, x->length, y->bytes, y->length, VARIANT_RULE_VERSION,
							&variants))
		refuse_long_texts();
	return variants;
}

/* Counts a pair of the sample for a candidate, and for the parts of its texts. */
static void
report_pair(CorpusPairs *pairs, const AdvicePair *pair, int candidate)
{
	int step = pair_step(pair, candidate);
	int part_a = (int) (pairs->corpus->text[pair->a].key % PARTS);
	int part_b = (int) (pairs->corpus->text[pair->b].key % PARTS);

	pairs->reported[candidate][step] += pair->stands_for;
	pairs->touched[candidate][step][part_a] += pair->stands_for;
	if (part_a != part_b)
		pairs->touched[candidate][step][part_b] += pair->stands_for;
}

/*
 * Adds the pairs of text a with later texts that any candidate keeps, or that were judged.  `judged`
 * is the first judged pair of a or of a later text.
 */
static void
similar_add_pairs(CorpusPairs *pairs, Lists *lists, const uint16 *least, uint32 a,
				  const JudgedTexts *judged, const JudgedTexts *end)
{
	const Corpus *corpus = pairs->corpus;

	for (int s = 0; s < SCHEMES; s++)
		similar_find_shared(&lists[s], corpus, s, a, a + 1);
	for (uint32 b = a + 1; b < corpus->count; b++)
	{
		AdvicePair pair = {.a = a, .b = b};
		bool is_judged = judged < end && judged->a == a && judged->b == b;
		bool keep = is_judged;

		if (!is_judged && !share_any(lists, b))
			continue;
		compare_texts(lists, corpus, a, b, pair.similarity);
		pair.stands_for = stands_for(corpus, lists, a, b);
		for (int c = 0; c < CANDIDATES && b < corpus->inside; c++)
			keep |= pair.similarity[c] >= least[c];
		if (keep && are_variants(corpus, a, b))
		{
			judged += is_judged;
			continue;
		}
		for (int c = 0; c < CANDIDATES && b < corpus->inside; c++)
			report_pair(pairs, &pair, c);
		if (!keep)
			continue;
		pairs->pair = host_grow(pairs->pair, &pairs->room, pairs->count + 1, sizeof(AdvicePair));
		pair.lot = lot_of_pair(corpus, &pair);
		if (is_judged)
		{
			pair.verdict = judged->same ? VERDICT_SAME : VERDICT_DIFFERENT;
			pair.again = judged->times == JUDGED_AGAIN;
			if (judged->times >= JUDGED_UNSURE)
				pair.verdict = VERDICT_UNSURE;
			else
				pairs->judged[pairs->judged_count++] = (uint32) pairs->count;
			pairs->judged_same += pair.verdict == VERDICT_SAME;
			judged++;
		}
		pairs->pair[pairs->count++] = pair;
	}
}

/* ---- Orders ------------------------------------------------------------------------------ */

static int
compare_ranked(const void *x, const void *y)
{
	const RankedPair *a = x;
	const RankedPair *b = y;

	if (a->position != b->position)
		return a->position < b->position ? -1 : 1;
	return a->pair < b->pair ? -1 : a->pair > b->pair;
}

/* Sorts pairs by their positions in an order. */
void
pairs_sort(RankedPair *pair, size_t count)
{
	qsort(pair, count, sizeof(RankedPair), compare_ranked);
}

/* ---- The chance to be drawn ------------------------------------------------------------- */

/*
 * A candidate's pairs, the most similar first, are divided into strata.  The first ends at an eighth
 * of the number of texts, each of the others at twice the rank where the one before ends, and the
 * last has the rest.
 */
#define STRATA 9

/* Returns the stratum of a rank, from 0. */
static int
stratum_of_rank(double rank, uint32 texts)
{
	double doublings = floor(log2(8 * rank / texts));

	return (int) Min(Max(doublings, -1), STRATA - 2) + 1;
}

/* Adds the chance by a candidate: of its strata, and of the pairs of one, all are equally probable. */
static void
add_chances(CorpusPairs *pairs, int candidate)
{
	uint32 *above = palloc0(sizeof(uint32) * (SIMILARITY_UNITS + 2));
	uint8 *stratum = palloc0(SIMILARITY_UNITS + 1);
	uint64 count[STRATA] = {0};
	int strata = 0;

	for (size_t i = 0; i < pairs->count; i++)
		above[pairs->pair[i].similarity[candidate]]++;
	for (int u = SIMILARITY_UNITS; u >= 0; u--)
	{
		uint32 here = above[u];

		above[u] += above[u + 1];
		stratum[u] = stratum_of_rank(above[u + 1] + (here + 1) / 2.0, pairs->corpus->inside);
		count[stratum[u]] += here;
	}
	for (int s = 0; s < STRATA; s++)
		strata += count[s] > 0;
	for (size_t i = 0; i < pairs->count; i++)
		pairs->pair[i].chance +=
			1.0 / (strata * count[stratum[pairs->pair[i].similarity[candidate]]]);
	pfree(above);
	pfree(stratum);
}

/*
 * Finds the pairs of a sample that any candidate finds similar, and those that were judged.  Sets
 * the chance of each pair to be drawn.
 */
void
pairs_find(CorpusPairs *pairs, Corpus *corpus)
{
	uint32 most = corpus->verdicts ? corpus->verdicts->count : 0;
	Lists *lists = palloc(sizeof(Lists) * SCHEMES);
	JudgedTexts *judged = palloc(sizeof(JudgedTexts) * most + 1);
	const JudgedTexts *end = judged + (most > 0 ? find_judged(corpus, judged) : 0);
	int64 texts = corpus->count;
	uint16 least[CANDIDATES];

	*pairs = (CorpusPairs){.corpus = corpus,
						   .carrying = NO_PAIR,
						   .median_length = corpus_median_length(corpus, WORD_3),
						   .touched = palloc0(sizeof(*pairs->touched) * CANDIDATES),
						   .judged = palloc(sizeof(uint32) * most + 1)};
	for (int s = 0; s < SCHEMES; s++)
		lists_begin(&lists[s], corpus, s);
	find_least(lists, corpus, least);
	progress_phase(PHASE_COMPARING);
	for (uint32 a = 0; a < corpus->count; a++)
	{
		CHECK_FOR_INTERRUPTS();
		/* Each text is compared with those after it. */
		if (a % TEXTS_STEP == 0)
			progress_parts(a * (2 * texts - a - 1) / 2, texts * (texts - 1) / 2);
		similar_add_pairs(pairs, lists, least, a, judged, end);
		while (judged < end && judged->a == a)
			judged++;
	}
	for (int c = 0; c < CANDIDATES; c++)
	{
		add_chances(pairs, c);
		for (int t = GRID; t > 0; t--)
		{
			pairs->reported[c][t - 1] += pairs->reported[c][t];
			for (int part = 0; part < PARTS; part++)
				pairs->touched[c][t - 1][part] += pairs->touched[c][t][part];
		}
	}
}
