/*
 * pairs.c: joins of documents, of all kinds, and of the documents of each partition.
 *
 * A join has a kind (pair_kinds.c), which is chosen before it begins.  Evidence that is kept judges
 * pairs where they are taken, since only that process has it; evidence that is read, where they are
 * found.
 */
#include "join/pairs.h"

#include <string.h>

#include "base/sort.h"
#include "join/evidence.h"
#include "join/pair_kinds.h"
#include "sketch/sketch.h"

/* ---- Parts elsewhere ---------------------------------------------------------- */

/* The position of the arrays of labels, behind the arrays of any kind of join. */
#define LABEL_ARRAYS 7

/* Lists what all processes of a join read; the first is the join itself. */
void
pairs_arrays(const PairJoin *join, PairArray array[PAIR_ARRAYS])
{
	const Inside *inside = (const Inside *) join;
	const JoinLabels *labels = &inside->labels;

	memset(array, 0, PAIR_ARRAYS * sizeof(PairArray));
	array[0] = (PairArray){.memory = inside, .bytes = sizeof(Inside)};
	pair_kinds[inside->kind].arrays(inside, array + 1);
	if (labels->label == NULL)
		return;
	array[LABEL_ARRAYS] = (PairArray){labels->label, inside->list[0]->count * sizeof(uint32_t)};
	array[LABEL_ARRAYS + 1] = (PairArray){labels->parent, labels->count * sizeof(uint32_t)};
}

/* Takes labels from elsewhere, with connections of its own. */
static void
attach_labels(JoinLabels *labels, const PairArray *array)
{
	labels->label = array[0].memory;
	if (labels->label == NULL)
		return;
	labels->parent = host_alloc(array[1].bytes);
	memcpy(labels->parent, array[1].memory, array[1].bytes);
}

/*
 * Returns a join whose arrays, which pairs_arrays() lists, are now elsewhere, for pairs_run() in
 * another thread or process.
 */
PairJoin *
pairs_attach(const PairArray array[PAIR_ARRAYS])
{
	Inside *inside = host_alloc(sizeof(Inside));

	memcpy(inside, array[0].memory, sizeof(Inside));
	pair_kinds[inside->kind].attach(inside, array + 1);
	attach_labels(&inside->labels, array + LABEL_ARRAYS);
	return &inside->join;
}

/* A run of all parts in turn. */
typedef struct Turn
{
	const Inside *inside;
	bool reports;
	int part; /* the part under way */
} Turn;

/* A PairNext.  Joins in files report by themselves. */
static int
next_part(void *state)
{
	Turn *turn = state;
	const PairJoin *join = &turn->inside->join;
	const PairOptions *options = turn->inside->options;

	turn->part++;
	if (turn->reports && options->progress != NULL && !join->files)
		options->progress(options->state, turn->part, join->parts);
	return turn->part < join->parts ? turn->part : -1;
}

/* What is done with the pairs of a run before they are passed on. */
typedef struct Passing
{
	Judge *judge;             /* NULL: pairs are not judged here */
	const JoinLabels *labels; /* the labels that similar documents connect; NULL: none */
	uint64_t pairs;           /* the pairs that were passed on */
	PairSink sink;
	void *state;
} Passing;

/* A PairSink for positions. */
static bool
pass_similar(void *state, uint32_t a, uint32_t b, double similarity)
{
	Passing *passing = state;

	if (passing->judge != NULL && !judge_pair(passing->judge, a, b, &similarity))
		return true;
	if (passing->labels != NULL)
		labels_connect(passing->labels, a, b);
	passing->pairs++;
	return passing->sink(passing->state, a, b, similarity);
}

/* Joins the parts that run->next returns.  Returns false if the sink ended the join. */
bool
pairs_run(const PairJoin *join, const PairRun *run)
{
	const Inside *inside = (const Inside *) join;
	PairRun own = *run;
	Turn turn = {inside, run->reports, -1};
	Passing passing = {.sink = run->sink, .state = run->state};
	Forecast forecast = {.options = inside->options,
						 .processes = join->processes,
						 .most = join->most,
						 .pairs = &passing.pairs};
	bool goes_on;

	if (own.next == NULL)
	{
		own.next = next_part;
		own.next_state = &turn;
	}
	if (inside->judging == JUDGED_HERE)
		passing.judge = judge_begin(inside->list[0], inside->list[1], inside->join.memory);
	if (inside->labels.label != NULL && inside->judging != JUDGED_LATER)
		passing.labels = &inside->labels;
	if (run->reports && inside->options->slow != NULL)
		own.forecast = &forecast;
	if (passing.judge != NULL || passing.labels != NULL || own.forecast != NULL)
	{
		own.sink = pass_similar;
		own.state = &passing;
	}
	goes_on = pair_kinds[inside->kind].run(inside, &own);
	judge_end(passing.judge);
	return goes_on;
}

/* ---- Finding pairs -------------------------------------------------------------- */

/* What takes the pairs of a join. */
typedef struct Taker
{
	const DocumentList *left;
	const DocumentList *right;
	Judge *judge; /* the judge of pairs that come unjudged; NULL: none do */
	const SymbolJoin
		*symbols; /* what makes pairs candidates that come by another measure; NULL: none do */
	PairSink sink;
	void *state;
	bool stopped; /* the sink has stopped the join */
} Taker;

/* Returns whether the signatures of the documents at two positions are near enough for a candidate. */
static bool
are_candidates(const Taker *taker, uint32_t a, uint32_t b)
{
	const SymbolJoin *symbols = taker->symbols;
	uint8_t *buffer = host_alloc(2 * symbols->stride);
	const uint8_t *x =
		records_get(&taker->left->documents->store->records, list_at(taker->left, a), buffer);
	const uint8_t *y = records_get(&taker->right->documents->store->records,
								   list_at(taker->right, b), buffer + symbols->stride);
	bool near = symbol_distance(x, y, symbols->k, symbols->b) <= symbols->h;

	host_free(buffer);
	return near;
}

/* A PairSink for positions: passes the documents on unless their evidence is not similar. */
static bool
take_positions(void *state, uint32_t a, uint32_t b, double similarity)
{
	Taker *taker = state;

	if (taker->symbols != NULL && !are_candidates(taker, a, b))
		return true;
	if (taker->judge != NULL && !judge_pair(taker->judge, a, b, &similarity))
		return true;
	taker->left->documents->options->stats->pairs++;
	taker->stopped =
		!taker->sink(taker->state, list_at(taker->left, a), list_at(taker->right, b), similarity);
	return !taker->stopped;
}

/* Runs a join, by the options' runner or alone. */
static void
run_join(PairJoin *join, Taker *taker)
{
	const PairOptions *options = taker->left->documents->options;
	PairRun run = {.sink = take_positions,
				   .state = taker,
				   .stats = &options->stats->join,
				   .reports = true};

	if (options->run != NULL)
		options->run(options->state, join, take_positions, taker);
	else
		(void) pairs_run(join, &run);
}

/* Returns the kind of a join.  Plans one of signatures, whose price decides, too. */
static PairKindName
choose_kind(Inside *inside)
{
	const DocumentList *const *list = inside->list;

	if (list[0]->documents->sets)
		return PAIRS_OF_SETS;
	signatures_plan(inside);
	return evidence_is_cheaper(list[0], list[1], &inside->signatures.spread) ? PAIRS_OF_EVIDENCE :
																			   PAIRS_OF_SIGNATURES;
}

/* Returns where evidence judges the pairs of a join. */
static PairJudging
choose_judging(const Inside *inside)
{
	const PairOptions *options = inside->options;

	if (!options->evidence || (inside->kind == PAIRS_OF_EVIDENCE && options->contained == 0))
		return PAIRS_ARE_SIMILAR;
	return inside->kind == PAIRS_OF_SIGNATURES && options->read_set != NULL &&
			!inside->list[0]->unjudged ?
		JUDGED_HERE :
		JUDGED_LATER;
}

/* Joins two lists, or one with itself, whatever the partitions of their documents. */
static bool
join_lists(const DocumentList *left, const DocumentList *right, uint64_t most, PairSink sink,
		   void *state)
{
	const PairOptions *options = left->documents->options;
	Taker taker = {.left = left, .right = right, .sink = sink, .state = state};
	Inside *inside;

	if (left->count == 0 || right->count == 0)
		return true;
	inside = host_alloc(sizeof(Inside));
	memset(inside, 0, sizeof(Inside));
	inside->options = options;
	inside->list[0] = left;
	inside->list[1] = right;
	if (left->labels != NULL)
		inside->labels = *left->labels;
	inside->join.memory = DOCUMENT_MEMORY(options);
	inside->join.most = most;
	inside->join.processes = 1;
	inside->kind = choose_kind(inside);
	inside->judging = choose_judging(inside);
	if (inside->kind == PAIRS_OF_EVIDENCE && options->contained > 0)
		taker.symbols = &inside->signatures.spread.symbols;
	pair_kinds[inside->kind].begin(inside);
	if (inside->judging == JUDGED_LATER && !left->unjudged)
		taker.judge = judge_begin(left, right, inside->join.memory);
	run_join(&inside->join, &taker);
	judge_end(taker.judge);
	options->stats->joins++;
	pair_kinds[inside->kind].end(inside);
	host_free(inside);
	return !taker.stopped;
}

/* ---- Partitions -------------------------------------------------------------------- */

/* A position in a list of documents, by partition. */
typedef struct PartitionPosition
{
	uint32_t partition;
	uint32_t position;
} PartitionPosition;

/* Returns the partition of the document at a position of a list, or its scope if partitions have scopes. */
static uint32_t
partition_at(const DocumentList *list, uint32_t position)
{
	uint32_t partition = document_partition(list->documents, list_at(list, position));

	return list->documents->scope == NULL ? partition : list->documents->scope[partition];
}

/* Returns a list in the order of partitions, and of its positions within a partition. */
static DocumentList
order_by_partition(const DocumentList *list)
{
	PartitionPosition *by_partition = host_alloc(list->count * sizeof(PartitionPosition));
	uint32_t *doc = host_alloc(list->count * sizeof(uint32_t));

	for (uint32_t i = 0; i < list->count; i++)
		by_partition[i] = (PartitionPosition){partition_at(list, i), i};
	sort_records(by_partition, list->count, sizeof(PartitionPosition), sort_key_pair);
	for (uint32_t i = 0; i < list->count; i++)
		doc[i] = list_at(list, by_partition[i].position);
	host_free(by_partition);
	return (DocumentList){list->documents, doc, list->count, NULL, list->unjudged, list->members};
}

/* Cuts the documents of the first partition off a list that is in order, and returns them. */
static DocumentList
cut_partition(DocumentList *list)
{
	DocumentList cut = {list->documents, list->doc, 0, NULL, list->unjudged, list->members};
	uint32_t partition = partition_at(list, 0);

	while (cut.count < list->count && partition_at(list, cut.count) == partition)
		cut.count++;
	list->doc += cut.count;
	list->count -= cut.count;
	return cut;
}

/* Cuts the documents of a partition, and of lesser partitions, off a list that is in order. */
static DocumentList
cut_to_partition(DocumentList *list, uint32_t partition)
{
	while (list->count > 0 && partition_at(list, 0) < partition)
		(void) cut_partition(list);
	if (list->count > 0 && partition_at(list, 0) == partition)
		return cut_partition(list);
	return (DocumentList){list->documents, NULL, 0};
}

/* Joins the documents of each partition. */
static bool
join_partitions(const DocumentList *left, const DocumentList *right, uint64_t most, PairSink sink,
				void *state)
{
	DocumentList ordered = order_by_partition(left);
	DocumentList others = {NULL};
	DocumentList rest = ordered;
	DocumentList other_rest;
	bool goes_on = true;

	if (left != right)
		others = order_by_partition(right);
	other_rest = others;
	while (goes_on && rest.count > 0)
	{
		uint32_t partition = partition_at(&rest, 0);
		DocumentList list = cut_partition(&rest);

		if (left != right)
		{
			DocumentList other = cut_to_partition(&other_rest, partition);

			goes_on = join_lists(&list, &other, most, sink, state);
		}
		else if (list.count > 1)
			goes_on = join_lists(&list, &list, most, sink, state);
		host_check_interrupts();
	}
	host_free((void *) ordered.doc);
	host_free((void *) others.doc);
	return goes_on;
}

/* ---- The call ------------------------------------------------------------------- */

/*
 * Passes all pairs that reach the threshold to sink, those within left where right is NULL.  The
 * sink ends the join before it takes more than `most`, which a join by several processes
 * respects, too.  Returns false if it did.
 */
bool
pairs_join(const DocumentList *left, const DocumentList *right, uint64_t most, PairSink sink,
		   void *state)
{
	if (right == NULL)
		right = left;
	return left->documents->partition == NULL ? join_lists(left, right, most, sink, state) :
												join_partitions(left, right, most, sink, state);
}
