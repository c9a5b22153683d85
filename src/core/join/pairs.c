/*
 * pairs.c: joins of documents, of both kinds, in memory and by way of files.
 *
 * Signatures are joined by join.c, by way of files (spread.c) if memory does not hold them; sets
 * are joined by set_join.c, by way of files (set_spread.c) if memory does not hold them.  Evidence
 * that is kept judges pairs where they are taken, since only that process has it; evidence that is
 * read, where they are found.
 */
#include "join/pairs.h"

#include <string.h>

#include "base/sort.h"
#include "join/documents.h"
#include "join/join.h"
#include "join/set_plan.h"
#include "join/set_spread.h"
#include "join/spread.h"

/* All that a join has.  pairs_attach() replaces its arrays. */
typedef struct Inside
{
	PairJoin join; /* the first, so that both are one address */
	int kind;      /* place in pair_kinds[] */
	const PairOptions *options;
	const DocumentList *list[2]; /* equal: one list is joined with itself */
	SignatureHeader shape;
	SpreadJoin spread; /* the join of signatures; its symbols and plan also in memory */
	uint8_t *copy[2];  /* copies of signatures that are not in order, or NULL */
	SetJoin sets;
	SetPlan set_plan;
	bool judges;        /* evidence is read where parts run */
	Bag *bag[2];        /* sets of the lists */
	void **bag_copy[2]; /* the copies of bags in a file */
	uint64_t elements;  /* elements of the sets */
} Inside;

/* Returns the number of different lists of a join, 1 or 2. */
static int
list_count(const Inside *inside)
{
	return inside->list[0] == inside->list[1] ? 1 : 2;
}

/* What differs between kinds of joins. */
typedef struct PairKind
{
	void (*begin)(Inside *inside);
	bool (*run)(const Inside *inside, const PairRun *run);
	void (*end)(Inside *inside);
} PairKind;

/* ---- Signatures ------------------------------------------------------------ */

/* Documents of a list that a plan looks at if memory does not hold all. */
#define PLANNED_WITH 1024

/* A run of a join of signatures. */
typedef struct SignatureRun
{
	const Inside *inside;
	const PairRun *run;
} SignatureRun;

/* A JoinEmit. */
static bool
take_signatures(void *state, uint32_t a, uint32_t b, int distance)
{
	const SignatureRun *run = state;

	return run->run->sink(run->run->state, a, b,
						  signature_similarity(&run->inside->shape, distance));
}

/* A JoinProgress. */
static void
report_signatures(void *state, int done, int parts)
{
	const SignatureRun *run = state;
	const PairOptions *options = run->inside->options;

	options->progress(options->state, done, parts);
}

/* Returns the join of symbols for a run. */
static SymbolJoin
symbols_for(const SignatureRun *run)
{
	SymbolJoin symbols = run->inside->spread.symbols;

	symbols.emit = take_signatures;
	symbols.progress = run->run->reports ? report_signatures : NULL;
	symbols.state = (void *) run;
	symbols.next = run->run->next;
	symbols.next_state = run->run->next_state;
	symbols.stats = run->run->stats;
	return symbols;
}

/* Returns whether a list has all documents in order. */
static bool
is_everything(const DocumentList *list)
{
	uint32_t i = 0;

	if (list->count != list->documents->count)
		return false;
	while (i < list->count && list_at(list, i) == i)
		i++;
	return i == list->count;
}

/* Brings `count` documents of a list, at equal distances, into memory. */
static uint8_t *
load_some(const DocumentList *list, uint32_t count)
{
	const Records *records = &list->documents->store->records;
	uint8_t *packed = host_alloc(count * records->stride);

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t place = (uint64_t) i * list->count / count;

		records_copy(records, list_at(list, place), packed + i * records->stride);
		host_check_interrupts_at(i);
	}
	return packed;
}

/* Takes the shape of the join from its documents, and plans it. */
static void
plan_signatures(Inside *inside, JoinSide left, JoinSide right)
{
	const Documents *documents = inside->list[0]->documents;
	const SignatureHeader *shape = &documents->shape;
	const PairOptions *options = inside->options;
	PairStats *stats = options->stats;
	JoinPlan *plan = &inside->spread.plan;

	inside->shape = *shape;
	inside->spread.symbols =
		(SymbolJoin){.k = shape->k,
					 .b = signature_bits(shape),
					 .h = candidate_radius(options, shape),
					 .stride = documents->store->records.stride,
					 .lone = documents->store->lone && inside->list[1]->documents->store->lone,
					 .recall = options->recall,
					 .left = left,
					 .right = right};
	if (inside->list[0]->labels != NULL)
		inside->spread.symbols.labels = *inside->list[0]->labels;
	*plan = join_plan(&inside->spread.symbols);
	inside->join.parts = join_parts(plan);
	inside->join.cost = plan->cost;
	if (stats->joins == 0)
	{
		stats->groups = plan->groups;
		stats->radius = plan->radius;
		stats->one_more = plan->one_more;
	}
}

/* Loads signatures into memory, without a copy if they lie there in order, and plans a join. */
static void
begin_signatures(Inside *inside)
{
	JoinSide side[2] = {{NULL}, {NULL}};

	for (int s = 0; s < list_count(inside); s++)
	{
		const DocumentList *list = inside->list[s];
		const Records *records = &list->documents->store->records;

		if (records->file != NULL || !is_everything(list))
			inside->copy[s] = load_some(list, list->count);
		side[s] =
			(JoinSide){inside->copy[s] != NULL ? inside->copy[s] : records->memory, list->count};
	}
	plan_signatures(inside, side[0], side[1]);
	inside->join.process_bytes = ((size_t) side[0].documents + side[1].documents) *
		join_bytes(inside->shape.k, signature_bits(&inside->shape));
}

static bool
run_signatures(const Inside *inside, const PairRun *run)
{
	SignatureRun signature_run = {inside, run};
	SymbolJoin symbols = symbols_for(&signature_run);

	return join_run(&symbols, &inside->spread.plan);
}

static void
end_signatures(Inside *inside)
{
	host_free(inside->copy[0]);
	host_free(inside->copy[1]);
}

/* ---- Signatures in files ---------------------------------------------------- */

/* Bytes that a process must have to join by way of files, as when PostgreSQL builds an index. */
#define FILES_MEMORY_MIN ((size_t) 32 * 1024 * 1024)

/* Copies the documents of a list to a file, in order. */
static HostFile *
copy_list(const DocumentList *list)
{
	const Records *records = &list->documents->store->records;
	uint8_t *buffer = host_alloc(records->stride);
	HostFile *file = host_file_create();

	for (uint32_t i = 0; i < list->count; i++)
	{
		host_file_write(file, (uint64_t) i * records->stride,
						records_get(records, list_at(list, i), buffer), records->stride);
		host_check_interrupts_at(i);
	}
	host_free(buffer);
	return file;
}

/* Returns a list in a file: that of the documents if it has them all, in order, and no others. */
static FileList
list_in_file(const DocumentList *list)
{
	const Records *records = &list->documents->store->records;
	bool whole = records->file != NULL && is_everything(list);

	return (FileList){whole ? records->file : copy_list(list), list->count, records->stride};
}

/* Returns whether a list's file is that of its documents. */
static bool
is_own_file(const DocumentList *list, const FileList *file)
{
	return file->file == list->documents->store->records.file;
}

/* Plans a join by a few of the documents. */
static void
begin_signature_files(Inside *inside)
{
	JoinSide side[2] = {{NULL}, {NULL}};
	uint8_t *held[2] = {NULL, NULL};

	for (int s = 0; s < list_count(inside); s++)
	{
		uint32_t count = Min(inside->list[s]->count, PLANNED_WITH);

		held[s] = load_some(inside->list[s], count);
		side[s] = (JoinSide){held[s], inside->list[s]->count, count};
	}
	plan_signatures(inside, side[0], side[1]);
	host_free(held[0]);
	host_free(held[1]);
	inside->spread.left = list_in_file(inside->list[0]);
	if (list_count(inside) == 2)
		inside->spread.right = list_in_file(inside->list[1]);
	inside->join.parts = Max(inside->spread.plan.groups, 1);
	inside->join.process_bytes = FILES_MEMORY_MIN;
	inside->join.files = true;
}

static bool
run_signature_files(const Inside *inside, const PairRun *run)
{
	SignatureRun signature_run = {inside, run};
	SpreadJoin spread = inside->spread;

	spread.symbols = symbols_for(&signature_run);
	spread.memory = inside->join.memory;
	spread.apart = run->apart;
	return spread_run(&spread);
}

static void
end_signature_files(Inside *inside)
{
	if (!is_own_file(inside->list[0], &inside->spread.left))
		host_file_close(inside->spread.left.file);
	if (inside->spread.right.file != NULL && !is_own_file(inside->list[1], &inside->spread.right))
		host_file_close(inside->spread.right.file);
}

/* ---- Sets -------------------------------------------------------------------- */

/* Gathers the sets of a list. */
static void
gather_bags(Inside *inside, int side)
{
	const DocumentList *list = inside->list[side];
	Bag *bags = inside->bag[side] = host_alloc(list->count * sizeof(Bag));
	void **copies = inside->bag_copy[side] = host_alloc(list->count * sizeof(void *));

	for (uint32_t i = 0; i < list->count; i++)
	{
		host_check_interrupts_at(i);
		bags[i] = documents_bag(list->documents, list_at(list, i), copies + i);
	}
}

/* Sets what both joins of sets share. */
static void
begin_any_sets(Inside *inside)
{
	const PairOptions *options = inside->options;

	inside->sets = (SetJoin){.left_count = inside->list[0]->count,
							 .right_count = list_count(inside) == 2 ? inside->list[1]->count : 0,
							 .threshold = options->threshold,
							 .weighted = options->multiset,
							 .measure = options->measure};
	if (inside->list[0]->labels != NULL)
		inside->sets.labels = *inside->list[0]->labels;
}

/* Loads sets into memory, and plans a join. */
static void
begin_sets(Inside *inside)
{
	SetPlan *plan = &inside->set_plan;

	begin_any_sets(inside);
	for (int side = 0; side < list_count(inside); side++)
		gather_bags(inside, side);
	inside->sets.left = inside->bag[0];
	inside->sets.right = inside->bag[1];
	if (!set_plan(&inside->sets, plan))
		set_refuse_size();
	inside->join.parts = SET_PARTS;
	inside->join.cost = plan->cost;
	inside->join.process_bytes = set_run_bytes(plan);
	inside->join.held = inside->elements * sizeof(int64_t);
	if (inside->options->stats->joins == 0)
		inside->options->stats->join.partitions = plan->items.partitions;
}

static bool
run_sets(const Inside *inside, const PairRun *run)
{
	SetJoin join = inside->sets;

	join.sink = run->sink;
	join.state = run->state;
	join.next = run->next;
	join.next_state = run->next_state;
	return set_run(&join, &inside->set_plan, run->stats);
}

static void
end_sets(Inside *inside)
{
	set_plan_free(&inside->set_plan);
	for (int s = 0; s < list_count(inside); s++)
	{
		for (uint32_t i = 0; i < inside->list[s]->count; i++)
			host_free(inside->bag_copy[s][i]);
		host_free(inside->bag_copy[s]);
		host_free(inside->bag[s]);
	}
}

/* ---- Sets in files ------------------------------------------------------------ */

/* A join of sets in files has one part. */
static void
begin_set_files(Inside *inside)
{
	begin_any_sets(inside);
	inside->join.parts = 1;
	inside->join.files = true;
}

static bool
run_set_files(const Inside *inside, const PairRun *run)
{
	SetJoin join = inside->sets;

	if (run->next(run->next_state) < 0)
		return true;
	join.sink = run->sink;
	join.state = run->state;
	return set_spread_run(&join, inside->list[0], inside->list[1], inside->elements, run->stats);
}

static void
end_set_files(Inside *inside)
{
}

/* ---- Both ----------------------------------------------------------------------- */

/* Signatures in memory and in files, then sets. */
static const PairKind pair_kinds[] = {{begin_signatures, run_signatures, end_signatures},
									  {begin_signature_files, run_signature_files,
									   end_signature_files},
									  {begin_sets, run_sets, end_sets},
									  {begin_set_files, run_set_files, end_set_files}};

/* Returns how many elements the sets of a list have. */
static uint64_t
count_elements(const DocumentList *list)
{
	uint64_t elements = 0;

	for (uint32_t i = 0; i < list->count; i++)
		elements += list->documents->store->set[list_at(list, i)].count;
	return elements;
}

/* Returns the bytes that sets take in a join in memory, and counts their elements. */
static double
bytes_of_sets(Inside *inside)
{
	for (int s = 0; s < list_count(inside); s++)
		inside->elements += count_elements(inside->list[s]);
	return (double) inside->elements * SET_BYTES;
}

/* Returns the bytes that signatures take in a join in memory; 0 if they fit in any case. */
static double
bytes_of_signatures(const Inside *inside)
{
	const SignatureHeader *shape = &inside->list[0]->documents->shape;
	uint64_t documents = 0;
	bool in_file = false;
	size_t stride = 0;

	for (int s = 0; s < list_count(inside); s++)
	{
		const Records *records = &inside->list[s]->documents->store->records;

		documents += inside->list[s]->count;
		in_file |= records->file != NULL;
		stride = records->stride;
	}
	if (!in_file || documents <= DOCUMENTS_MIN)
		return 0;
	return (double) documents * (stride + join_bytes(shape->k, signature_bits(shape)));
}

/* Returns whether memory does not hold the documents of a join; reports how much would. */
static bool
needs_files(Inside *inside)
{
	const PairOptions *options = inside->options;
	bool sets = inside->list[0]->documents->sets;
	double bytes = sets ? bytes_of_sets(inside) : bytes_of_signatures(inside);
	bool files = bytes > DOCUMENT_MEMORY(options);

	if (files && options->spilled != NULL && !options->stats->spilled)
		options->spilled(options->state, sets ? "sets" : "signatures", bytes / 3 * 4);
	options->stats->spilled |= files;
	return files;
}

/* The place of the arrays of labels, behind the arrays of any kind of join. */
#define LABEL_ARRAYS 7

/* Lists what all processes of a join read; the first is the join itself. */
void
pairs_arrays(const PairJoin *join, PairArray array[PAIR_ARRAYS])
{
	const Inside *inside = (const Inside *) join;
	const SpreadJoin *spread = &inside->spread;

	memset(array, 0, PAIR_ARRAYS * sizeof(PairArray));
	array[0] = (PairArray){.memory = inside, .bytes = sizeof(Inside)};
	if (inside->list[0]->documents->sets)
		set_plan_arrays(&inside->set_plan, array + 1);
	else if (join->files)
	{
		array[1].file = spread->left.file;
		array[1].bytes = spread->left.count * spread->left.stride;
		array[2].file = spread->right.file;
		array[2].bytes = spread->right.count * spread->right.stride;
	}
	else
	{
		array[1].memory = spread->symbols.left.packed;
		array[1].bytes = spread->symbols.left.documents * spread->symbols.stride;
		array[2].memory = spread->symbols.right.packed;
		array[2].bytes = spread->symbols.right.documents * spread->symbols.stride;
	}
	if (inside->list[0]->labels != NULL)
	{
		const JoinLabels *labels = inside->list[0]->labels;

		array[LABEL_ARRAYS] = (PairArray){labels->label, inside->list[0]->count * sizeof(uint32_t)};
		array[LABEL_ARRAYS + 1] = (PairArray){labels->parent, labels->count * sizeof(uint32_t)};
	}
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
	if (pair_kinds[inside->kind].run == run_sets)
		set_plan_attach(&inside->set_plan, array + 1);
	attach_labels(&inside->sets.labels, array + LABEL_ARRAYS);
	inside->spread.symbols.labels = inside->sets.labels;
	inside->spread.left.file = array[1].file;
	inside->spread.right.file = array[2].file;
	inside->spread.symbols.left.packed = array[1].memory;
	inside->spread.symbols.right.packed = array[2].memory;
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
	if (turn->reports && !join->files)
		options->progress(options->state, turn->part, join->parts);
	return turn->part < join->parts ? turn->part : -1;
}

/* Pairs that evidence judges before they are passed on. */
typedef struct Judging
{
	Judge *judge;
	PairSink sink;
	void *state;
} Judging;

/* A PairSink for places. */
static bool
pass_similar(void *state, uint32_t a, uint32_t b, double similarity)
{
	const Judging *judging = state;

	return !judge_pair(judging->judge, a, b, &similarity) ||
		judging->sink(judging->state, a, b, similarity);
}

/* Joins the parts that run->next returns.  Returns false if the sink ended the join. */
bool
pairs_run(const PairJoin *join, const PairRun *run)
{
	const Inside *inside = (const Inside *) join;
	PairRun own = *run;
	Turn turn = {inside, false, -1};
	Judging judging = {NULL, run->sink, run->state};
	bool goes_on;

	own.reports = turn.reports = run->reports && inside->options->progress != NULL;
	if (own.next == NULL)
	{
		own.next = next_part;
		own.next_state = &turn;
	}
	if (inside->judges)
	{
		judging.judge = judge_begin(inside->list[0], inside->list[1], inside->join.memory);
		own.sink = pass_similar;
		own.state = &judging;
	}
	goes_on = pair_kinds[inside->kind].run(inside, &own);
	judge_end(judging.judge);
	return goes_on;
}

/* ---- Finding pairs -------------------------------------------------------------- */

/* What takes the pairs of a join. */
typedef struct Taker
{
	const DocumentList *left;
	const DocumentList *right;
	Judge *judge; /* the judge of pairs that come unjudged; NULL: none do */
	PairSink sink;
	void *state;
	bool stopped; /* the sink has stopped the join */
} Taker;

/* A PairSink for places: passes the documents on unless their evidence is not similar. */
static bool
take_places(void *state, uint32_t a, uint32_t b, double similarity)
{
	Taker *taker = state;

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
	PairRun run = {.sink = take_places,
				   .state = taker,
				   .stats = &options->stats->join,
				   .reports = true};

	if (options->run != NULL)
		options->run(options->state, join, take_places, taker);
	else
		(void) pairs_run(join, &run);
}

/* Joins two lists, or one with itself, whatever the classes of their documents. */
bool
join_lists(const DocumentList *left, const DocumentList *right, uint64_t most, PairSink sink,
		   void *state)
{
	Taker taker = {.left = left, .right = right, .sink = sink, .state = state};
	Inside *inside;
	bool by_evidence;

	if (left->count == 0 || right->count == 0)
		return true;
	inside = host_alloc(sizeof(Inside));
	memset(inside, 0, sizeof(Inside));
	inside->options = left->documents->options;
	inside->list[0] = left;
	inside->list[1] = right;
	inside->join.memory = DOCUMENT_MEMORY(inside->options);
	inside->join.most = most;
	inside->judges =
		inside->options->evidence && inside->options->read_set != NULL && !left->unjudged;
	inside->kind = (left->documents->sets ? 2 : 0) + (needs_files(inside) ? 1 : 0);
	pair_kinds[inside->kind].begin(inside);
	by_evidence = evidence_joins(left, right, inside->join.cost);
	if (!by_evidence)
	{
		if (inside->options->evidence && !inside->judges && !left->unjudged)
			taker.judge = judge_begin(left, right, inside->join.memory);
		run_join(&inside->join, &taker);
		judge_end(taker.judge);
		inside->options->stats->joins++;
	}
	pair_kinds[inside->kind].end(inside);
	host_free(inside);
	return by_evidence ? join_evidence(left, right, most, sink, state) : !taker.stopped;
}

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
	return left->documents->class == NULL ? join_lists(left, right, most, sink, state) :
											join_classes(left, right, most, sink, state);
}
