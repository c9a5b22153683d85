/*
 * pair_kinds.c: joins of signatures, of sets, and of evidence, in memory and by way of files.
 */
#include "join/pair_kinds.h"

#include <string.h>

#include "join/evidence.h"
#include "join/join.h"

/* Reports that a join goes by way of files, and the bytes of documents and join. */
static void
report_spilled(const Inside *inside, const char *what, double bytes)
{
	const PairOptions *options = inside->options;

	if (options->spilled != NULL && !options->stats->spilled)
		options->spilled(options->state, what, bytes / 3 * 4);
	options->stats->spilled = true;
}

/* ---- Signatures ------------------------------------------------------------ */

/* Documents of a list that a plan looks at if memory does not hold all, in order. */
#define PLANNED_WITH 1024

/* Bytes that a process must have to join by way of files, as when PostgreSQL builds an index. */
#define FILES_MEMORY_MIN ((size_t) 32 * 1024 * 1024)

/* A run of a join of signatures. */
typedef struct SignatureRun
{
	const Inside *inside;
	const PairRun *run;
	double *similarity; /* the similarity of signatures at each distance that is found */
} SignatureRun;

/* A JoinEmit. */
static bool
take_signatures(void *state, uint32_t a, uint32_t b, int distance)
{
	const SignatureRun *run = state;

	return run->run->sink(run->run->state, a, b, run->similarity[distance]);
}

/* A JoinProgress. */
static void
report_signatures(void *state, int done, int parts)
{
	const SignatureRun *run = state;
	const PairOptions *options = run->inside->options;

	options->progress(options->state, done, parts);
}

/* Returns the signatures of a list, if memory has them in order; else NULL. */
static const uint8_t *
signatures_in_order(const DocumentList *list)
{
	const Records *records = &list->documents->store->records;
	uint32_t i = 0;

	if (records->file != NULL || list->count != list->documents->count)
		return NULL;
	while (i < list->count && list_at(list, i) == i)
		i++;
	return i == list->count ? records->memory : NULL;
}

/* Brings `count` documents of a list, at equal distances, into memory. */
static uint8_t *
load_some(const DocumentList *list, uint32_t count)
{
	const Records *records = &list->documents->store->records;
	uint8_t *packed = host_alloc(count * records->stride);

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t position = (uint64_t) i * list->count / count;

		records_copy(records, list_at(list, position), packed + i * records->stride);
		host_check_interrupts_at(i);
	}
	return packed;
}

/* Returns whether memory does not hold the signatures of a join; reports how much would. */
static bool
signatures_need_files(const Inside *inside)
{
	const SignatureHeader *shape = &inside->list[0]->documents->shape;
	uint64_t documents = 0;
	bool in_file = false;
	double bytes;

	for (int s = 0; s < list_count(inside); s++)
	{
		documents += inside->list[s]->count;
		in_file |= inside->list[s]->documents->store->records.file != NULL;
	}
	bytes = (double) documents *
		(inside->list[0]->documents->store->records.stride +
		 join_bytes(shape->k, signature_bits(shape)));
	return in_file && documents > DOCUMENTS_MIN && bytes > inside->join.memory;
}

/* Plans a join of signatures, by a few of them where memory does not have all in order. */
void
signatures_plan(Inside *inside)
{
	const Documents *documents = inside->list[0]->documents;
	const PairOptions *options = inside->options;
	PairStats *stats = options->stats;
	SignaturePairs *pairs = &inside->signatures;
	JoinSide side[2] = {{NULL}, {NULL}};
	uint8_t *held[2] = {NULL, NULL};
	JoinPlan *plan = &pairs->spread.plan;

	for (int s = 0; s < list_count(inside); s++)
	{
		uint32_t count = Min(inside->list[s]->count, PLANNED_WITH);

		side[s] = (JoinSide){signatures_in_order(inside->list[s]), inside->list[s]->count};
		if (side[s].packed != NULL)
			continue;
		side[s].packed = held[s] = load_some(inside->list[s], count);
		side[s].held = count;
	}
	pairs->shape = documents->shape;
	pairs->spread.symbols = (SymbolJoin){.k = pairs->shape.k,
										 .b = signature_bits(&pairs->shape),
										 .h = candidate_radius(options, &pairs->shape),
										 .stride = documents->store->records.stride,
										 .files = signatures_need_files(inside),
										 .recall = options->recall,
										 .left = side[0],
										 .right = side[1]};
	*plan = join_plan(&pairs->spread.symbols);
	host_free(held[0]);
	host_free(held[1]);
	inside->join.parts = join_parts(plan);
	inside->join.cost = plan->cost;
	if (stats->joins == 0)
	{
		stats->groups = plan->groups;
		stats->radius = plan->radius;
		stats->one_more = plan->one_more;
	}
}

/* Loads the signatures of a list into memory, without a copy if they lie there in order. */
static JoinSide
load_signatures(Inside *inside, int s)
{
	const DocumentList *list = inside->list[s];
	const uint8_t *packed = signatures_in_order(list);

	if (packed == NULL)
		packed = inside->signatures.copy[s] = load_some(list, list->count);
	return (JoinSide){packed, list->count};
}

/* Returns a list in a file: that of the documents if it has them all, in order, and no others. */
static FileList
list_in_file(const DocumentList *list)
{
	const Records *records = &list->documents->store->records;
	FileList in_file = {records->file, list->count, records->stride};
	uint8_t *buffer;

	if (records->file != NULL && list->count == list->documents->count && list->doc == NULL)
		return in_file;
	in_file.file = host_file_create();
	buffer = host_alloc(records->stride);
	for (uint32_t i = 0; i < list->count; i++)
	{
		host_file_write(in_file.file, (uint64_t) i * records->stride,
						records_get(records, list_at(list, i), buffer), records->stride);
		host_check_interrupts_at(i);
	}
	host_free(buffer);
	return in_file;
}

/* Loads signatures into memory, or copies them to files. */
static void
begin_signatures(Inside *inside)
{
	SpreadJoin *spread = &inside->signatures.spread;
	bool two = list_count(inside) == 2;

	inside->join.files = spread->symbols.files;
	if (inside->join.files)
	{
		const SignatureHeader *shape = &inside->signatures.shape;
		double documents = (double) inside->list[0]->count + (two ? inside->list[1]->count : 0);

		report_spilled(inside, "signatures",
					   documents *
						   (spread->symbols.stride + join_bytes(shape->k, signature_bits(shape))));
		spread->left = list_in_file(inside->list[0]);
		if (two)
			spread->right = list_in_file(inside->list[1]);
		inside->join.parts = Max(spread->plan.groups, 1);
		inside->join.process_bytes = FILES_MEMORY_MIN;
		return;
	}
	spread->symbols.left = load_signatures(inside, 0);
	spread->symbols.right = two ? load_signatures(inside, 1) : (JoinSide){NULL};
	inside->join.process_bytes =
		((size_t) spread->symbols.left.documents + spread->symbols.right.documents) *
		join_bytes(inside->signatures.shape.k, signature_bits(&inside->signatures.shape));
}

static bool
run_signatures(const Inside *inside, const PairRun *run)
{
	SignatureRun signature_run = {inside, run};
	SpreadJoin spread = inside->signatures.spread;
	SymbolJoin *symbols = &spread.symbols;
	bool goes_on;

	signature_run.similarity = host_alloc((symbols->h + 1) * sizeof(double));
	for (int distance = 0; distance <= symbols->h; distance++)
		signature_run.similarity[distance] =
			signature_similarity(&inside->signatures.shape, distance);
	symbols->labels = inside->labels;
	symbols->emit = take_signatures;
	symbols->progress =
		run->reports && inside->options->progress != NULL ? report_signatures : NULL;
	symbols->forecast = run->forecast;
	if (run->forecast != NULL)
		run->forecast->signatures = &spread;
	symbols->state = &signature_run;
	symbols->next = run->next;
	symbols->next_state = run->next_state;
	symbols->stats = run->stats;
	spread.memory = inside->join.memory;
	spread.by_part = run->by_part;
	goes_on = inside->join.files ? spread_run(&spread) : join_run(symbols, &spread.plan);
	host_free(signature_run.similarity);
	return goes_on;
}

/* Closes a list's file, unless that is one of its documents. */
static void
close_list(const DocumentList *list, const FileList *in_file)
{
	if (in_file->file != NULL && in_file->file != list->documents->store->records.file)
		host_file_close(in_file->file);
}

static void
end_signatures(Inside *inside)
{
	for (int s = 0; s < 2; s++)
		host_free(inside->signatures.copy[s]);
	close_list(inside->list[0], &inside->signatures.spread.left);
	close_list(inside->list[1], &inside->signatures.spread.right);
}

/* Returns what processes read of a side. */
static PairArray
array_of_side(const Inside *inside, const JoinSide *side, const FileList *in_file)
{
	size_t stride = inside->signatures.spread.symbols.stride;

	if (inside->join.files)
		return (PairArray){NULL, in_file->count * in_file->stride, in_file->file};
	return (PairArray){side->packed, side->documents * stride, NULL};
}

static void
list_signatures(const Inside *inside, PairArray *array)
{
	const SpreadJoin *spread = &inside->signatures.spread;

	array[0] = array_of_side(inside, &spread->symbols.left, &spread->left);
	array[1] = array_of_side(inside, &spread->symbols.right, &spread->right);
}

static void
attach_signatures(Inside *inside, const PairArray *array)
{
	SpreadJoin *spread = &inside->signatures.spread;

	spread->left.file = array[0].file;
	spread->right.file = array[1].file;
	spread->symbols.left.packed = array[0].memory;
	spread->symbols.right.packed = array[1].memory;
}

/* ---- Sets -------------------------------------------------------------------- */

/* Returns the join of two lists of sets, or of one with itself, where `right` is NULL. */
SetJoin
set_pairs_join(const PairOptions *options, bool weighted, const SetList *left, const SetList *right)
{
	static const Bag none;
	SetJoin join = {.left_count = left->count,
					.right_count = right != NULL ? right->count : 0,
					.right = right != NULL ? &none : NULL,
					.threshold = options->threshold,
					.weighted = weighted,
					.measure = options->measure,
					.list = {left, right}};

	/* A share of a set is at most that of the lesser one of a pair. */
	if (options->contained > 0)
	{
		join.threshold = options->contained;
		join.measure = MEASURE_CONTAINMENT;
	}
	return join;
}

/* Returns the bytes that the stores of a join have in memory. */
static size_t
bytes_in_memory(const Inside *inside)
{
	const SetList *list = inside->sets.list;
	size_t elements = 0;

	for (int s = 0; s < list_count(inside); s++)
		if (s == 0 || list[0].store != list[1].store)
			elements += list[s].store->elements;
	return elements * SET_BYTES;
}

/* Returns the bytes that the sets of a join take, all of them in memory, about. */
static double
bytes_of_sets(const Inside *inside)
{
	double elements = 0;

	for (int s = 0; s < list_count(inside); s++)
		for (uint32_t i = 0; i < inside->sets.list[s].count; i++)
			elements += set_list_at(&inside->sets.list[s], i)->count;
	return elements * SET_BYTES;
}

/* Plans a join of the sets of the lists.  Frees stores that were made for it, if `made` is not NULL. */
static void
begin_any_sets(Inside *inside, bool weighted, SetStore *made)
{
	const PairOptions *options = inside->options;
	SetPairs *pairs = &inside->sets;
	SetPlan *plan = &pairs->plan;
	bool two = list_count(inside) == 2;
	size_t held = bytes_in_memory(inside);
	double sets = bytes_of_sets(inside);
	SetRanks *ranks;

	pairs->join =
		set_pairs_join(inside->options, weighted, &pairs->list[0], two ? &pairs->list[1] : NULL);
	pairs->join.memory = inside->join.memory - Min(held, inside->join.memory / 2);
	ranks = set_ranks_make(&pairs->join, &plan->items);
	if (ranks == NULL)
		set_refuse_size();
	for (int s = 0; s < list_count(inside) && made != NULL; s++)
		set_store_end(&made[s]);
	set_plan_ranked(&pairs->join, ranks, plan);
	inside->join.files = plan->items.file != NULL;
	if (plan->bytes > pairs->join.memory)
		report_spilled(inside, "sets", plan->bytes + Min(sets, plan->bytes / (SHARE_OF_SETS - 1)));
	inside->join.parts = inside->join.files ? 1 : SET_PARTS;
	inside->join.cost = plan->cost;
	inside->join.process_bytes = set_run_bytes(plan);
	inside->join.held = made == NULL ? held : 0;
	if (options->stats->joins == 0)
		options->stats->join.partitions = plan->items.partitions;
}

/* Begins a join of documents that are sets. */
static void
begin_sets(Inside *inside)
{
	for (int s = 0; s < list_count(inside); s++)
	{
		const DocumentList *list = inside->list[s];

		inside->sets.list[s] = (SetList){&list->documents->store->sets, list->doc, list->count};
	}
	begin_any_sets(inside, inside->options->multiset, NULL);
}

static bool
run_sets(const Inside *inside, const PairRun *run)
{
	const SetPlan *plan = &inside->sets.plan;
	SetJoin join = inside->sets.join;

	if (run->reports)
	{
		join.progress = inside->options->progress;
		join.progress_state = inside->options->state;
	}
	join.memory = inside->join.memory;
	join.labels = inside->labels;
	join.forecast = run->forecast;
	join.sink = run->sink;
	join.state = run->state;
	join.next = run->next;
	join.next_state = run->next_state;
	if (!inside->join.files)
		return set_run(&join, plan, run->stats);
	return run->next(run->next_state) < 0 || set_spread_run(&join, plan, run->stats);
}

static void
end_sets(Inside *inside)
{
	set_plan_free(&inside->sets.plan);
}

/* The arrays of a plan; if its items are in a file, that is in the place of their ranks. */
static void
list_sets(const Inside *inside, PairArray *array)
{
	const SetPlan *plan = &inside->sets.plan;
	const SetItems *items = &plan->items;
	size_t documents = items->documents;

	array[0] = (PairArray){items->document, documents * sizeof(SetDocument)};
	array[1] = (PairArray){items->rank, items->positions * sizeof(uint32_t), items->file};
	if (items->file != NULL)
	{
		array[1].bytes = items->positions * sizeof(uint64_t);
		return;
	}
	array[2] =
		(PairArray){items->frequency, items->frequency ? items->positions * sizeof(uint32_t) : 0};
	array[3] = (PairArray){items->bitmap, documents * items->words * sizeof(uint64_t)};
	array[4] = (PairArray){plan->start, (plan->lists + 1) * sizeof(size_t)};
	array[5] = (PairArray){plan->posting, plan->postings * sizeof(SetPosting)};
}

static void
attach_sets(Inside *inside, const PairArray *array)
{
	SetPlan *plan = &inside->sets.plan;

	plan->items.document = (SetDocument *) array[0].memory;
	plan->items.rank = (uint32_t *) array[1].memory;
	plan->items.file = array[1].file;
	plan->items.frequency = (uint32_t *) array[2].memory;
	plan->items.bitmap = (uint64_t *) array[3].memory;
	plan->start = (size_t *) array[4].memory;
	plan->posting = (SetPosting *) array[5].memory;
}

/* ---- Evidence ------------------------------------------------------------------- */

/* Returns the memory that remains beside the signatures of documents. */
static size_t
memory_beside(const Inside *inside)
{
	size_t held = 0;

	for (int s = 0; s < list_count(inside); s++)
	{
		const Records *records = &inside->list[s]->documents->store->records;

		if (records->memory != NULL &&
			(s == 0 || inside->list[0]->documents != inside->list[1]->documents))
			held += (size_t) (records->count - records->flushed) * records->stride;
	}
	return inside->join.memory - Min(inside->join.memory, held);
}

/* Reads the evidence of `count` documents of a list, at equal distances, into a store. */
void
make_sets(const DocumentList *list, uint32_t count, uint64_t limit, SetStore *store)
{
	*store = (SetStore){.limit = limit};
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t position = (uint64_t) i * list->count / count;
		void *copy;
		Bag bag = documents_evidence(list->documents, list_at(list, position), &copy);

		host_check_interrupts();
		set_store_add(store, &bag, evidence_weighs(list->documents));
		evidence_free(list->documents, &bag, copy);
	}
	set_store_done(store);
}

/* Begins a join of the evidence of documents. */
static void
begin_evidence(Inside *inside)
{
	bool weighted = evidence_weighs(inside->list[0]->documents);
	int lists = list_count(inside);
	SetStore made[2];

	inside->join.memory = Max(memory_beside(inside), DOCUMENT_MEMORY_MIN);
	for (int s = 0; s < lists; s++)
	{
		const DocumentList *list = inside->list[s];

		inside->sets.list[s] = (SetList){&list->documents->store->sets, list->doc, list->count};
		if (inside->options->read_set == NULL)
			continue;
		make_sets(list, list->count, store_limit(inside->join.memory / lists), &made[s]);
		inside->sets.list[s] = (SetList){&made[s], NULL, list->count};
	}
	begin_any_sets(inside, weighted, inside->options->read_set != NULL ? made : NULL);
}

/* By PairKindName. */
const PairKind pair_kinds[] = {{begin_signatures, run_signatures, end_signatures, list_signatures,
								attach_signatures},
							   {begin_sets, run_sets, end_sets, list_sets, attach_sets},
							   {begin_evidence, run_sets, end_sets, list_sets, attach_sets}};
