/*
 * evidence_price.c: whether documents are joined by their signatures, or by their evidence alone.
 *
 * Texts on one form have signatures that are all near each other, so every pair would be compared.
 * Their rare elements tell the sets of these texts apart.  So the sets are made and joined, which finds
 * every pair that they would judge to be similar.
 */
#include "join/pair_kinds.h"

#include <math.h>

#include "base/hash.h"
#include "join/evidence.h"
#include "sketch/sketch.h"

/* The least cost of a join of signatures, in nanoseconds, for which sets are sampled. */
#define COST_SAMPLED 100000000

/* The fewest documents on the left for which sets are sampled. */
#define SETS_MIN 64

/* Sets must be cheaper by this factor, since a sample is a guess. */
#define SETS_GAIN 1.5

/* Nanoseconds to make, sort and join an element. */
#define COST_OF_ELEMENT 100.0

/* Nanoseconds to compare an element of two similar sets. */
#define COST_COMPARED 1.0

/* The number of sets in a sample of a list. */
#define SAMPLE_SETS 256

/* Returns the least cost of a join for which sets are sampled, none in tests of tiny lists. */
static double
cost_sampled(void)
{
	return (double) host_limit(COST_SAMPLED);
}

/* ---- Sets ------------------------------------------------------------------------- */

/* Returns what it costs to read the lists of sets that are like a sample. */
static double
cost_of_lists(const DocumentList *left, const DocumentList *right, const SetStore sample[2])
{
	const PairOptions *options = left->documents->options;
	bool two = left != right;
	SetList list[2] = {{&sample[0], NULL, sample[0].count}, {&sample[1], NULL, sample[1].count}};
	SetJoin join =
		set_pairs_join(options, evidence_weighs(left->documents), list, two ? list + 1 : NULL);
	double scale = (double) left->count / sample[0].count;
	double cost;
	SetPlan plan;

	if (!set_plan(&join, &plan))
		return INFINITY;
	cost = plan.cost * scale * right->count / sample[two].count;
	set_plan_free(&plan);
	return cost;
}

/*
 * Returns what it costs to join two lists, or one that is given twice, by their
 * sets, and to compare a number of similar pairs.
 */
static double
cost_of_sets(const DocumentList *left, const DocumentList *right, double similar)
{
	SetStore sample[2] = {{NULL}};
	const DocumentList *list[2] = {left, right};
	int lists = left == right ? 1 : 2;
	double elements = 0;
	double sets = 0;
	double cost;

	for (int i = 0; i < lists; i++)
	{
		make_sets(list[i], Min(list[i]->count, SAMPLE_SETS), UINT64_MAX, &sample[i]);
		elements += (double) sample[i].elements / sample[i].count * list[i]->count;
		sets += list[i]->count;
	}
	cost = cost_of_lists(left, right, sample);
	for (int i = 0; i < lists; i++)
		set_store_end(&sample[i]);
	return cost + elements * COST_OF_ELEMENT + similar * elements / sets * COST_COMPARED;
}

/* ---- Candidates that evidence refuses ------------------------------------------ */

/* A sample has this many times the square root of the documents, so its pairs cost little beside signing. */
#define SAMPLE_ROOTS 2.0

/* Candidates of a sample that are judged. */
#define SAMPLE_JUDGED 64

/* Nanoseconds for a candidate that its bitmap refuses, and more for each group in which it is found. */
#define COST_REFUSED 50.0
#define COST_IN_GROUP 30.0

/* Returns what it costs to find and to refuse a candidate. */
static double
cost_of_refusal(const SpreadJoin *planned)
{
	return COST_REFUSED + planned->plan.groups * COST_IN_GROUP;
}

/* Documents drawn from a list. */
typedef struct Drawn
{
	const DocumentList *list;
	uint32_t count;
	uint32_t *position;
	uint8_t *record;
} Drawn;

/* Candidates within a distance among drawn documents. */
typedef struct DrawnCandidates
{
	uint64_t pairs;                      /* pairs that were compared */
	uint64_t within;                     /* those that are candidates */
	uint32_t position[SAMPLE_JUDGED][2]; /* some of them, each with equal probability */
	uint64_t seed;
} DrawnCandidates;

/* Draws documents of a list. */
static Drawn
draw(const DocumentList *list, uint64_t *seed)
{
	const Records *records = &list->documents->store->records;
	uint32_t count = (uint32_t) Min(list->count, SAMPLE_ROOTS * sqrt(list->count) + 1);
	Drawn drawn = {.list = list, .count = count};

	drawn.position = host_alloc(count * sizeof(uint32_t));
	drawn.record = host_alloc(count * records->stride);
	for (uint32_t i = 0; i < count; i++)
	{
		*seed = mix64(*seed + i);
		drawn.position[i] = (uint32_t) ((*seed >> 32) * list->count >> 32);
		records_copy(records, list_at(list, drawn.position[i]), drawn.record + i * records->stride);
	}
	return drawn;
}

static void
free_drawn(Drawn *drawn)
{
	host_free(drawn->position);
	host_free(drawn->record);
}

/* Counts a candidate, by the positions of its documents, and keeps it or not. */
static void
count_candidate(DrawnCandidates *candidates, uint32_t a, uint32_t b)
{
	uint64_t at = candidates->within++;

	if (at >= SAMPLE_JUDGED)
	{
		candidates->seed = mix64(candidates->seed);
		at = candidates->seed % candidates->within;
	}
	if (at >= SAMPLE_JUDGED)
		return;
	candidates->position[at][0] = a;
	candidates->position[at][1] = b;
}

/* Finds the candidates among drawn documents, of one list that is given twice, or of two. */
static void
find_candidates(const Drawn *x, const Drawn *y, const SymbolJoin *symbols,
				DrawnCandidates *candidates)
{
	size_t stride = symbols->stride;

	for (uint32_t i = 0; i < x->count; i++)
	{
		const uint8_t *a = x->record + i * stride;

		host_check_interrupts();
		for (uint32_t j = x == y ? i + 1 : 0; j < y->count; j++)
		{
			const uint8_t *b = y->record + j * stride;

			if (x->list->documents == y->list->documents &&
				list_at(x->list, x->position[i]) == list_at(y->list, y->position[j]))
				continue;
			candidates->pairs++;
			if (symbol_distance(a, b, symbols->k, symbols->b) <= symbols->h)
				count_candidate(candidates, x->position[i], y->position[j]);
		}
	}
}

/* Returns how many of the candidates that were kept are not similar, as a share. */
static double
refused_share(const DocumentList *left, const DocumentList *right,
			  const DrawnCandidates *candidates)
{
	uint32_t count = (uint32_t) Min(candidates->within, SAMPLE_JUDGED);
	Judge *judge = judge_begin(left, right, DOCUMENT_MEMORY(left->documents->options));
	uint32_t refused = 0;
	double similarity;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t a = candidates->position[i][0];
		uint32_t b = candidates->position[i][1];

		refused += !judge_pair(judge, a, b, &similarity);
	}
	judge_end(judge);
	return (double) refused / count;
}

/* The pairs of a join that are candidates, estimated. */
typedef struct Candidates
{
	double similar;
	double refused;
} Candidates;

/*
 * Estimates the candidates of two lists, or of one that is given twice.  They
 * are not looked at if it costs little to find them.
 */
static Candidates
estimate_candidates(const DocumentList *left, const DocumentList *right, const SpreadJoin *planned)
{
	DrawnCandidates drawn = {.seed = 1};
	double pairs = (double) left->count * right->count / (left == right ? 2 : 1);
	Drawn x = draw(left, &drawn.seed);
	Drawn y = {NULL};
	double refused;

	if (left != right)
		y = draw(right, &drawn.seed);
	find_candidates(&x, left == right ? &x : &y, &planned->symbols, &drawn);
	free_drawn(&x);
	if (left != right)
		free_drawn(&y);
	pairs *= (double) drawn.within / Max(drawn.pairs, 1);
	if (pairs * cost_of_refusal(planned) < cost_sampled())
		return (Candidates){0};
	refused = pairs * refused_share(left, right, &drawn);
	return (Candidates){pairs - refused, refused};
}

/*
 * Returns whether two lists, or one that is given twice, should be joined by
 * their evidence, given the plan of their signatures.  It depends on the
 * documents, not on the memory: what does not fit goes by way of files.
 *
 * The plan's own price does not know candidates: few pairs of its sample are
 * near each other, though most documents may be near some.  A sink that judges
 * for itself does not ask for most similar pairs; a join of sets compares all
 * of them.
 */
bool
evidence_is_cheaper(const DocumentList *left, const DocumentList *right, const SpreadJoin *planned)
{
	const PairOptions *options = left->documents->options;
	Candidates candidates;
	double cost;

	if (!options->evidence || left->count < SETS_MIN)
		return false;
	candidates = estimate_candidates(left, right, planned);
	cost = planned->plan.cost + candidates.refused * cost_of_refusal(planned);
	return cost > cost_sampled() &&
		cost_of_sets(left, right, left->unjudged ? candidates.similar : 0) * SETS_GAIN < cost;
}
