/*
 * gap.c: a threshold for texts of which no pairs were judged: where the fewest pairs are.
 */
#include "advise/advise.h"

/* Few pairs should be less than this many steps of the grid below a threshold. */
#define WIDTH 5

#define HIGHEST_THRESHOLD 50

/* What to try for texts of a length. */
typedef struct Rule
{
	int candidate;
	double shingles; /* shingles of "word 3" that the median of the texts has at least */
	int floor;       /* lower thresholds report texts of one subject */
	double part;     /* part of the pairs above that may be just below the threshold */
	int otherwise;   /* the threshold if there is no gap */
} Rule;

/* From trials on labelled texts (make bench BENCH=accuracy): the last rule is for texts of any length. */
static const Rule rules[] =
	{{.candidate = LEXICON_WORD_3, .shingles = 100, .floor = 20, .part = 0.15, .otherwise = 30},
	 {.candidate = LEXICON_CHAR_5, .shingles = 0, .floor = 25, .part = 0.1, .otherwise = 50}};

/*
 * Sets the candidate and the threshold for texts of this length: the lowest threshold, from
 * a floor on, below which there are few pairs.  Returns whether there is such a gap.
 */
bool
gap_find(const CorpusPairs *pairs, Outlook *outlook)
{
	const Rule *rule = rules;
	double shingles = corpus_median_length(pairs->corpus, WORD_3);
	const double *from;
	int t;
	bool found;

	while (shingles < rule->shingles)
		rule++;
	from = pairs->reported[rule->candidate];
	t = rule->floor;
	while (t < HIGHEST_THRESHOLD &&
		   (from[t] == 0 || from[t - WIDTH] - from[t] > rule->part * from[t]))
		t++;
	found = from[t] > 0 && from[t - WIDTH] - from[t] <= rule->part * from[t];
	if (!found)
		t = rule->otherwise;
	*outlook =
		(Outlook){.candidate = rule->candidate, .threshold = (double) t / GRID, .pairs = from[t]};
	return found;
}
