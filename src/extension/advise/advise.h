/*
 * advise.h: advice on the comparison that fits some texts.
 *
 * A candidate is a way to compare two texts.  A sample of the texts is read, the similarities of
 * its pairs are computed by each candidate, and pairs that a person judged tell the candidates
 * apart.
 */
#ifndef NEARDUP_ADVISE_ADVISE_H
#define NEARDUP_ADVISE_ADVISE_H

#include "calls/judged.h"
#include "calls/query.h"
#include "calls/texts.h"

#include "fmgr.h"

#include "calls/progress.h"
#include "sketch/overlap.h"
#include "text/text.h"

/* ---- Candidates (similar.c) ---------------------------------------------- */

/* The schemes of the candidates.  No candidate has FAMILY, which tells families of near texts apart. */
enum
{
	WORD_1,
	WORD_3,
	CHAR_3,
	CHAR_5,
	FAMILY,
	SCHEMES
};

/* A way to compare two texts. */
typedef struct Candidate
{
	int scheme;      /* WORD_1 to CHAR_5 */
	bool lexicon;    /* shingles are weighted by a lexicon of the texts */
	Measure measure; /* the measure: resemblance or containment */
} Candidate;

#define CANDIDATES 12

/* The positions in candidates[] that other files use. */
enum
{
	LEXICON_WORD_3 = 0,
	LEXICON_CHAR_5 = 2,
	PLAIN_WORD_1 = 9
};

extern const Candidate candidates[CANDIDATES];
extern const char *const scheme_names[SCHEMES];

/* ---- A sample of texts (corpus.c) --------------------------------------------- */

/* A text.  Its elements are its distinct shingles by a scheme, as hashes of 32 bits. */
typedef struct CorpusText
{
	uint64 key;               /* the order of texts: those with the least keys are kept */
	uint64 second_key;        /* the order of texts of equal keys */
	uint64 row;               /* the number of its row, from 1 */
	bool outside;             /* the text is not of the sample, but was judged */
	char *id;                 /* its id, as text */
	Utf8Text body;            /* the text, unless variants count */
	uint32 judged;            /* position of the id in the verdicts, or NOT_JUDGED */
	uint32 *element[SCHEMES]; /* the elements by each scheme, ascending */
	uint32 elements[SCHEMES]; /* the numbers of these elements */
} CorpusText;

typedef struct Corpus
{
	MemoryContext context;
	IdType ids;
	JudgedPairs *verdicts; /* NULL if there are none */
	uint32 most;           /* the most texts of the sample */
	uint32 family_most;    /* the most texts of one key, if texts are left out */
	size_t room;           /* texts that `text` has room for */
	uint32 count;          /* texts in `text`; in the end, those outside the sample come last */
	uint32 inside;         /* texts that are not outside */
	bool complete;         /* the sample has all texts */
	uint64 limit;          /* texts with greater keys are left out */
	uint64 rows;           /* rows with a text that has shingles */
	uint64 texts;          /* rows with an id and a text: these, and those without shingles */
	bool capped;           /* texts of large families were left out */
	bool null_ids;         /* rows were left out because their ids are null */
	CorpusText *text;
	SchemeId scheme[SCHEMES];
	uint32 highest[SCHEMES]; /* the greatest element that is kept */
	uint64 total[SCHEMES];   /* elements of all texts */
	bool variants;           /* pairs for which is_variant() is true count, too */
	const char *query;       /* the query without a semicolon */
} Corpus;

#define SAMPLE_MOST 20000

extern void corpus_read(Corpus *corpus, const char *query, int most, const char *judged,
						bool variants);
extern double corpus_share(const Corpus *corpus);
extern double corpus_median_length(const Corpus *corpus, int scheme);

/* ---- The similarities of pairs (similar.c) --------------------------------------- */

/* Similarities are multiples of 1 / SIMILARITY_UNITS. */
#define SIMILARITY_UNITS 10000

/* Thresholds are multiples of 1 / GRID. */
#define GRID 100

/* What people say of a pair. */
typedef enum PairVerdict
{
	NO_VERDICT,
	VERDICT_DIFFERENT,
	VERDICT_SAME,
	VERDICT_UNSURE /* the verdict is NULL, or verdicts differ */
} PairVerdict;

/* Two texts that are similar by some candidate, or that were judged. */
typedef struct AdvicePair
{
	uint32 a;
	uint32 b;
	float stands_for; /* the number of pairs of all texts; 0 if a text is not of the sample */
	double lot;       /* a random number that depends on the ids: the greatest are drawn */
	float chance;     /* the chance of being drawn, relative to that of other pairs */
	float same;       /* P(same) by the model, which ranks candidates */
	float calibrated; /* P(same) for estimates of numbers of pairs */
	uint16 similarity[CANDIDATES];
	uint8 verdict;    /* PairVerdict */
	bool again;       /* the verdict was given twice */
	bool asked;       /* the pair is asked for */
	bool contradicts; /* the verdict contradicts the order of similarity */
} AdvicePair;

/* Returns the greatest threshold at which a candidate reports a pair, in steps of the grid. */
static inline int
pair_step(const AdvicePair *pair, int candidate)
{
	return pair->similarity[candidate] * GRID / SIMILARITY_UNITS;
}

/* The parts of a sample, by which the error of its numbers of pairs is estimated. */
#define PARTS 20

/* No position of a pair. */
#define NO_PAIR PG_UINT32_MAX

typedef struct CorpusPairs
{
	const Corpus *corpus;
	size_t count;
	double median_length; /* the median of distinct shingles of texts by WORD_3 */
	size_t room;
	AdvicePair *pair; /* the pairs, ordered by a and b */
	uint32 *judged;   /* positions of pairs that were judged the same or different */
	uint32 judged_count;
	uint32 judged_same; /* how many of these are the same */
	uint32 carrying;    /* the pair whose verdict carries the advice, or NO_PAIR */
	double reported[CANDIDATES][GRID + 1]; /* the estimated pairs of all texts at each threshold */
	/* What of that has a text of each part of the sample, whose texts have keys of their own. */
	double (*touched)[GRID + 1][PARTS];
} CorpusPairs;

extern void pairs_find(CorpusPairs *pairs, Corpus *corpus);

/* A pair in an order. */
typedef struct RankedPair
{
	uint32 pair;     /* the position of the pair in CorpusPairs */
	double position; /* its position in the order: the least come first */
} RankedPair;

extern void pairs_sort(RankedPair *pair, size_t count);

/* ---- What verdicts say (model.c) ------------------------------------------------ */

/* What a candidate does at a threshold. */
typedef struct Outlook
{
	int candidate;
	int step;     /* the threshold, in steps of the grid */
	double pairs; /* the estimated pairs of all texts that it reports */
	double merit; /* F1 by the model that is not calibrated; the best candidate has the greatest */
	double f1;
	double recall;
} Outlook;

extern void model_fit(CorpusPairs *pairs, uint32 left_out);
extern int model_outlooks(const CorpusPairs *pairs, double least_precision, Outlook *outlook);

/* ---- What was counted (counted.c) -------------------------------------------------- */

/* The verdicts on a random draw of the pairs that a candidate reports, and what follows from them. */
typedef struct Counted
{
	uint32 drawn;
	uint32 same;
	double low; /* the bounds of the precision, which hold in 95 % of draws */
	double high;
} Counted;

extern Counted count_drawn(const CorpusPairs *pairs, const Outlook *outlook);
extern bool pairs_bounds(const CorpusPairs *pairs, const Outlook *outlook, double *low,
						 double *high);
extern uint32 counted_to_halve(const Counted *counted, const Outlook *outlook);
extern uint32 range_to_ask(const CorpusPairs *pairs, const Outlook *outlook, uint32 wanted,
						   uint32 *found);

/* Of ten pairs to judge, those that are drawn from what the first row reports. */
#define DRAWN_OF_TEN 3

/* ---- Verdicts to confirm (confirm.c) ------------------------------------------------ */

#define CONFIRM_MOST 6

extern uint32 confirm_find(CorpusPairs *pairs, uint32 *found);

/* ---- Arguments of both functions (advise.c) --------------------------------------- */

extern void find_pairs_of_arguments(FunctionCallInfo fcinfo, int judged, int most,
									CorpusPairs *pairs);

/* ---- Without verdicts (gap.c) ---------------------------------------------------- */

extern bool gap_find(const CorpusPairs *pairs, Outlook *outlook);

#endif
