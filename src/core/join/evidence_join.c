/*
 * evidence_join.c: documents joined by their evidence alone.
 *
 * Texts on one form have signatures that are all near each other, so every pair would be compared.
 * Their rare elements tell the sets of these texts apart.  So the sets are made and joined, which
 * finds every pair that they would judge to be similar.
 */
#include <math.h>

#include "join/documents.h"
#include "join/set_plan.h"

/* The least cost of a join of signatures, in nanoseconds, for which sets are sampled. */
#define COST_SAMPLED 1e9

/* Sets must be cheaper by this factor, since a sample is a guess. */
#define SETS_GAIN 2.0

/* Nanoseconds to make, sort and join an element, in memory and by way of files. */
#define COST_IN_MEMORY 100.0
#define COST_IN_FILES 300.0

/* The number of sets in a sample of a list. */
#define SAMPLE_SETS 256

/* Some sets of a list, at equal distances. */
typedef struct SampledSets
{
	Bag bag[SAMPLE_SETS];
	void *copy[SAMPLE_SETS];
	uint32_t count;
	uint64_t elements;
} SampledSets;

/* ---- Costs ------------------------------------------------------------------ */

static void
sample_sets(const DocumentList *list, SampledSets *sample)
{
	sample->count = Min(list->count, SAMPLE_SETS);
	sample->elements = 0;
	for (uint32_t i = 0; i < sample->count; i++)
	{
		uint32_t place = (uint64_t) i * list->count / sample->count;

		host_check_interrupts();
		sample->bag[i] =
			documents_evidence(list->documents, list_at(list, place), &sample->copy[i]);
		sample->elements += sample->bag[i].count;
	}
}

static void
free_sample(SampledSets *sample)
{
	for (uint32_t i = 0; i < sample->count; i++)
		evidence_free(&sample->bag[i], sample->copy[i]);
}

/* Returns what it costs to read the lists of sets that are like a sample, in nanoseconds. */
static double
cost_of_lists(const DocumentList *left, const DocumentList *right, const SampledSets sample[2])
{
	bool two = left != right;
	const SampledSets *other = two ? &sample[1] : &sample[0];
	SetJoin join = {.left = sample[0].bag,
					.left_count = sample[0].count,
					.right = two ? other->bag : NULL,
					.right_count = two ? other->count : 0,
					.threshold = left->documents->options->threshold,
					.weighted = evidence_weighs(left->documents),
					.measure = left->documents->options->measure};
	double scale =
		(double) left->count / Max(sample[0].count, 1) * right->count / Max(other->count, 1);
	SetPlan plan;
	double cost;

	if (!set_plan(&join, &plan))
		return INFINITY;
	cost = plan.cost * scale;
	set_plan_free(&plan);
	return cost;
}

/* Returns what it costs to join two lists, or one that is given twice, by their evidence. */
static double
cost_of_sets(const DocumentList *left, const DocumentList *right)
{
	SampledSets *sample = host_alloc(2 * sizeof(SampledSets));
	const DocumentList *list[2] = {left, right};
	int lists = left == right ? 1 : 2;
	double elements = 0;
	double of_element;
	double cost;

	for (int i = 0; i < lists; i++)
	{
		sample_sets(list[i], &sample[i]);
		elements += (double) sample[i].elements / Max(sample[i].count, 1) * list[i]->count;
	}
	of_element = elements * SET_BYTES > DOCUMENT_MEMORY(left->documents->options) ? COST_IN_FILES :
																					COST_IN_MEMORY;
	cost = cost_of_lists(left, right, sample) + elements * of_element;
	for (int i = 0; i < lists; i++)
		free_sample(&sample[i]);
	host_free(sample);
	return cost;
}

/*
 * Returns whether two lists, or one that is given twice, should be joined by their evidence.  cost is
 * that of joining their signatures, in nanoseconds.
 */
bool
evidence_joins(const DocumentList *left, const DocumentList *right, double cost)
{
	const PairOptions *options = left->documents->options;

	return options->evidence && options->contained == 0 && cost > COST_SAMPLED &&
		cost_of_sets(left, right) * SETS_GAIN < cost;
}

/* ---- Joining ---------------------------------------------------------------- */

/* Returns the memory that remains beside the signatures of documents. */
static size_t
memory_beside(const Documents *left, const Documents *right)
{
	const Records *records[2] = {&left->store->records, &right->store->records};
	size_t memory = left->options->memory;
	size_t held = 0;

	for (int i = 0; i < (left == right ? 1 : 2); i++)
		if (records[i]->memory != NULL)
			held += (size_t) (records[i]->count - records[i]->flushed) * records[i]->stride;
	return memory - Min(memory, held);
}

/* Makes documents of the evidence of a list; their rows are its places. */
static Documents *
make_sets(const DocumentList *list, const PairOptions *options)
{
	Documents *sets = documents_begin(options, true, false);

	sets->rows_max = list->count;
	for (uint32_t i = 0; i < list->count; i++)
	{
		void *copy;
		Bag bag = documents_evidence(list->documents, list_at(list, i), &copy);

		host_check_interrupts();
		documents_add(sets, &(DocumentRow){.alone = true, .bag = &bag});
		evidence_free(&bag, copy);
	}
	documents_done(sets);
	return sets;
}

/* What takes the pairs of sets, for the lists that they were made of. */
typedef struct SetTaker
{
	const DocumentList *left;
	const DocumentList *right;
	const Documents *sets[2];
	PairSink sink;
	void *state;
} SetTaker;

/* A PairSink for documents of sets. */
static bool
take_sets(void *state, uint32_t a, uint32_t b, double similarity)
{
	const SetTaker *taker = state;

	return taker->sink(taker->state, list_at(taker->left, taker->sets[0]->first[a]),
					   list_at(taker->right, taker->sets[1]->first[b]), similarity);
}

/* Joins two lists, or one that is given twice, by their evidence, as join_lists() does. */
bool
join_evidence(const DocumentList *left, const DocumentList *right, uint64_t most, PairSink sink,
			  void *state)
{
	PairOptions options = *left->documents->options;
	SetTaker taker = {.left = left, .right = right, .sink = sink, .state = state};
	bool two = left != right;
	Documents *left_sets;
	Documents *right_sets = NULL;
	DocumentList list[2];
	bool goes_on;

	options.evidence = false;
	options.read_set = NULL;
	options.multiset = evidence_weighs(left->documents);
	options.memory = memory_beside(left->documents, right->documents);
	left_sets = make_sets(left, &options);
	list[0] = all_documents(left_sets);
	/* An empty set is no document; then documents are not numbered as the labels are. */
	if (left_sets->count == left->count)
		list[0].labels = left->labels;
	if (two)
	{
		right_sets = make_sets(right, &options);
		list[1] = all_documents(right_sets);
	}
	taker.sets[0] = left_sets;
	taker.sets[1] = two ? right_sets : left_sets;
	goes_on = join_lists(&list[0], two ? &list[1] : &list[0], most, take_sets, &taker);
	documents_end(left_sets);
	if (two)
		documents_end(right_sets);
	return goes_on;
}
