/*
 * gap.c: a threshold for texts of which no pairs were judged, just above a gap with few pairs.
 */
#include "advise/advise.h"

/* The width of the gap below a threshold, in steps of the grid. */
#define WIDTH 5

/* The greatest threshold that is tried, in steps of the grid. */
#define HIGHEST_THRESHOLD 50

/* How to find a threshold for texts of some length.  Thresholds are steps of the grid. */
typedef struct Rule
{
	int candidate;
	double shingles; /* the least median number of shingles of "word 3" of the texts */
	int floor;       /* the least threshold; lower ones report texts of one subject */
	double part;     /* the most pairs in the gap, as a part of the pairs above it */
	int otherwise;   /* the threshold if there is no gap */
} Rule;

/* The rules, from trials on labelled texts (make bench BENCH=accuracy).  The first that fits counts. */
static const Rule rules[] =
	{{.candidate = LEXICON_WORD_3, .shingles = 100, .floor = 20, .part = 0.15, .otherwise = 30},
	 {.candidate = LEXICON_CHAR_5, .shingles = 0, .floor = 25, .part = 0.1, .otherwise = 50}};

/*
 * Sets the candidate and the threshold of *outlook: the least threshold with a gap below.  Returns
 * whether there is a gap; if not, the threshold is that of the rule.
 */
bool
gap_find(const CorpusPairs *pairs, Outlook *outlook)
{
	const Rule *rule = rules;

	const double *from;
	int t;
	bool found;

	while (pairs->median_length < rule->shingles)
		rule++;
	from = pairs->reported[rule->candidate];
	t = rule->floor;
	while (t < HIGHEST_THRESHOLD &&
		   (from[t] == 0 || from[t - WIDTH] - from[t] > rule->part * from[t]))
		t++;
	found = from[t] > 0 && from[t - WIDTH] - from[t] <= rule->part * from[t];
	if (!found)
		t = rule->otherwise;
	*outlook = (Outlook){.candidate = rule->candidate, .step = t, .pairs = from[t]};
	return found;
}
