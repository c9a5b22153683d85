/*
 * join_documents.c: joins the documents of one source or two.
 *
 * Signatures are joined by join/join.c, by way of files (join_spread.c) if
 * maintenance_work_mem does not hold them; sets are joined by join/sets.c,
 * by way of files (join_spilled.c) if memory does not hold them.  With "verify",
 * the pairs found are then compared by their evidence.
 */
#include "dedup/dedup.h"

#include <math.h>

#include "utils/memutils.h"

#include "base/sort.h"

/* The state of a join. */
typedef struct DocumentJoin
{
	const Documents *left;
	const Documents *right; /* left itself if there is one list */
	const Options *options;
	PairSink sink;
	void *state;
	bool stopped; /* by the sink */
} DocumentJoin;

/* ---- Evidence ----------------------------------------------------------- */

/* Returns the similarity of two documents by their evidence. */
static double
evidence_similarity(Source *left, uint32 a, Source *right, uint32 b)
{
	Shingles *x = blobs_get(&left->blobs, left->evidence[a]);
	Shingles *y = blobs_get(&right->blobs, right->evidence[b]);
	Bag bag_x = shingles_bag(x);
	Bag bag_y = shingles_bag(y);
	double similarity;

	check_same_recipe(x->version, x->scheme, y->version, y->scheme);
	similarity = bag_similarity(&bag_x, &bag_y, MEASURE_RESEMBLANCE, left->options->multiset);
	pfree(x);
	pfree(y);
	return similarity;
}

/* Passes a pair on to the sink unless its evidence is not similar enough. */
static bool
pass_pair(DocumentJoin *join_state, uint32 a, uint32 b, double similarity)
{
	double least = join_state->options->verify;

	if (least > 0)
	{
		similarity = evidence_similarity(join_state->left->source, a, join_state->right->source, b);
		if (similarity < least)
			return true;
	}
	progress_pair();
	join_state->options->stats->pairs++;
	join_state->stopped = !join_state->sink(join_state->state, a, b, similarity);
	return !join_state->stopped;
}

/* ---- Signatures --------------------------------------------------------- */

/* A JoinEmit. */
static bool
take_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	DocumentJoin *join_state = state;

	return pass_pair(join_state, document_at(join_state->left, a),
					 document_at(join_state->right, b),
					 signature_similarity(&join_state->left->source->shape, distance));
}

/* A JoinProgress. */
static void
take_progress(void *state, int done, int groups)
{
	progress_parts(done, groups);
}

/* Returns whether memory holds a list beside another, or alone. */
static bool
fits(const Documents *list, bool alone)
{
	const Records *records = list->source->records;

	return records->file == NULL || list->count <= records->limit / (alone ? 1 : 2);
}

/* Returns whether a list has all documents in order. */
static bool
is_everything(const Documents *list)
{
	uint32 i = 0;

	if (list->count != list->source->records->count)
		return false;
	while (i < list->count && document_at(list, i) == i)
		i++;
	return i == list->count;
}

/*
 * Brings `count` documents of a list, at equal distances, into memory, without a copy if the
 * records lie there in order.
 */
static uint8 *
load_some(const Documents *list, uint32 count)
{
	Records *records = list->source->records;
	uint8 *packed;

	if (records->file == NULL && count == list->count && is_everything(list))
		return records->memory;
	packed = palloc_extended(count * records->stride, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < count; i++)
	{
		uint32 place = (uint64) i * list->count / count;

		records_copy(records, document_at(list, place), packed + i * records->stride);
		host_check_interrupts_at(i);
	}
	return packed;
}

static void
free_some(const Documents *list, uint8 *packed)
{
	if (packed != NULL && packed != list->source->records->memory)
		pfree(packed);
}

/* Documents of a list that a plan looks at if memory does not hold all. */
#define PLANNED_WITH 1024

/* Tells the user how much memory makes files unnecessary. */
static void
report_files(const char *what, double bytes)
{
	ereport(NOTICE,
			(errmsg("maintenance_work_mem does not hold all %s, so they are joined by way of temporary files",
					what),
			 errhint("Set maintenance_work_mem to %.0fMB to join them in memory.",
					 ceil(bytes / (1024 * 1024)))));
}

/* Joins lists of signatures in memory. */
static void
join_signatures_in_memory(DocumentJoin *join_state, AnyJoin *join)
{
	bool self = join_state->left == join_state->right;
	Size count[2] = {join_state->left->count, join_state->right->count};
	uint8 *left = load_some(join_state->left, count[0]);
	uint8 *right = self ? NULL : load_some(join_state->right, count[1]);

	join->symbols.left = (JoinSide){left, count[0]};
	join->symbols.right = (JoinSide){right, self ? 0 : count[1]};
	join->plan = join_plan(&join->symbols);
	join_in_parallel(join, &join_state->options->stats->workers);
	free_some(join_state->left, left);
	free_some(join_state->right, right);
}

/* Joins lists of signatures that memory does not hold. */
static void
join_signatures_in_files(DocumentJoin *join_state, AnyJoin *join)
{
	SymbolJoin planned = join->symbols;
	const Documents *list[2] = {join_state->left, join_state->right};
	JoinSide *side[2] = {&planned.left, &planned.right};
	double most = Max(list[0]->count, list[1]->count);

	report_files("signatures", most * (planned.stride + join_bytes(planned.k, planned.b)));
	for (int s = 0; s < (list[0] == list[1] ? 1 : 2); s++)
	{
		uint32 held = Min(list[s]->count, PLANNED_WITH);

		*side[s] = (JoinSide){load_some(list[s], held), list[s]->count, held};
	}
	join->plan = join_plan(&planned);
	for (int s = 0; s < 2; s++)
		free_some(list[s], (uint8 *) side[s]->packed);
	join->files = true;
	join->list[0] = list[0];
	join->list[1] = list[1];
	join_in_parallel(join, &join_state->options->stats->workers);
}

/* Joins lists of signatures. */
static void
join_signatures(DocumentJoin *join_state)
{
	bool self = join_state->left == join_state->right;
	const SignatureHeader *shape = &join_state->left->source->shape;
	CallStats *all_stats = join_state->options->stats;
	JoinStats stats = {0};
	AnyJoin join = {.symbols = {.k = shape->k,
								.b = signature_bits(shape),
								.h = signature_radius(shape, join_state->options->threshold),
								.stride = join_state->left->source->records->stride,
								.recall = join_state->options->recall,
								.emit = take_pair,
								.progress = take_progress,
								.state = join_state,
								.stats = &stats},
					.progress = take_progress,
					.state = join_state};

	if (fits(join_state->left, self) && fits(join_state->right, self))
		join_signatures_in_memory(join_state, &join);
	else
		join_signatures_in_files(join_state, &join);
	if (all_stats->joins++ == 0)
	{
		all_stats->groups = join.plan.groups;
		all_stats->radius = join.plan.radius;
		all_stats->one_more = join.plan.one_more;
	}
	all_stats->candidates += stats.candidates;
	all_stats->compared += stats.compared;
}

/* ---- Sets --------------------------------------------------------------- */

/* A SetPairSink. */
static bool
take_sets(void *state, uint32_t a, uint32_t b, double similarity)
{
	DocumentJoin *join_state = state;

	return pass_pair(join_state, document_at(join_state->left, a),
					 document_at(join_state->right, b), similarity);
}

/* Returns the sets of a list, in memory; the current context keeps copies of those in a file. */
static Bag *
gather_bags(const Documents *list)
{
	Bag *bags = palloc_extended((Size) list->count * sizeof(Bag), MCXT_ALLOC_HUGE);
	void *copy;

	for (uint32 i = 0; i < list->count; i++)
	{
		host_check_interrupts_at(i);
		bags[i] = documents_bag(list->source, document_at(list, i), &copy);
	}
	return bags;
}

/* Returns how many elements the sets of a list have. */
static uint64
count_elements(const Documents *list)
{
	uint64 elements = 0;

	for (uint32 i = 0; i < list->count; i++)
		elements += list->source->set[document_at(list, i)].count;
	return elements;
}

/* Joins lists of sets in memory.  Returns false as set_join() does. */
static bool
join_sets_in_memory(DocumentJoin *join_state, AnyJoin *join, uint64 elements)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup joined sets", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	join->set_join.left = gather_bags(join_state->left);
	if (join_state->left != join_state->right)
		join->set_join.right = gather_bags(join_state->right);
	MemoryContextSwitchTo(old);
	if (!set_plan(&join->set_join, &join->set_plan))
		return false;
	join->held = elements * sizeof(int64);
	join_in_parallel(join, &join_state->options->stats->workers);
	join->set_stats->partitions = join->set_plan.items.partitions;
	set_plan_free(&join->set_plan);
	MemoryContextDelete(context);
	return true;
}

/* Joins lists of sets that memory does not hold.  Returns false as set_join() does. */
static bool
join_sets_in_files(const DocumentJoin *join_state, const AnyJoin *join, uint64 elements)
{
	report_files("sets", (double) elements * SET_BYTES);
	return join_spilled(&join->set_join, join_state->left, join_state->right, elements,
						join->set_stats);
}

/* Joins lists of sets. */
static void
join_sets(DocumentJoin *join_state)
{
	bool self = join_state->left == join_state->right;
	CallStats *all_stats = join_state->options->stats;
	SetJoinStats stats = {0};
	AnyJoin join = {.sets = true,
					.set_join = {.left_count = join_state->left->count,
								 .right_count = self ? 0 : join_state->right->count,
								 .threshold = join_state->options->threshold,
								 .weighted = join_state->options->multiset,
								 .measure = join_state->options->measure,
								 .sink = take_sets,
								 .state = join_state},
					.set_stats = &stats,
					.progress = take_progress,
					.state = join_state};
	uint64 elements =
		count_elements(join_state->left) + (self ? 0 : count_elements(join_state->right));

	if (!(elements <= sets_limit() ? join_sets_in_memory(join_state, &join, elements) :
									 join_sets_in_files(join_state, &join, elements)))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many shingles to compare at once"),
				 errhint("Compare the rows part by part, with \"against\", or signatures made of them "
						 "(to_minhash), with \"verify\".")));
	all_stats->sets = true;
	if (all_stats->joins++ == 0)
		all_stats->partitions = stats.partitions;
	all_stats->candidates +=
		(int64) (stats.pruned_by_length + stats.pruned_by_frequency + stats.compared);
	all_stats->pruned_by_length += (int64) stats.pruned_by_length;
	all_stats->pruned_by_frequency += (int64) stats.pruned_by_frequency;
	all_stats->compared += (int64) stats.compared;
}

/* ---- Both --------------------------------------------------------------- */

/* Joins two lists, or one with itself, whatever the classes of their documents. */
static bool
join_lists(const Documents *left, const Documents *right, PairSink sink, void *state)
{
	DocumentJoin join_state = {.left = left,
							   .right = right ? right : left,
							   .options = left->source->options,
							   .sink = sink,
							   .state = state};

	if (left->count == 0 || join_state.right->count == 0)
		return true;
	if (left->source->sets)
		join_sets(&join_state);
	else
		join_signatures(&join_state);
	return !join_state.stopped;
}

/* A place in a list of documents, by class. */
typedef struct ClassedPlace
{
	uint32 class;
	uint32 place;
} ClassedPlace;

/* Returns the class of the document at a place of a list. */
static uint32
class_at(const Documents *list, uint32 place)
{
	return list->source->class[list->source->first[document_at(list, place)]];
}

/* Returns a list in the order of classes, and of its places within a class. */
static Documents
order_by_class(const Documents *list)
{
	ClassedPlace *classed =
		palloc_extended((Size) Max(list->count, 1) * sizeof(ClassedPlace), MCXT_ALLOC_HUGE);
	uint32 *doc = palloc_extended((Size) Max(list->count, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < list->count; i++)
		classed[i] = (ClassedPlace){class_at(list, i), i};
	sort_records(classed, list->count, sizeof(ClassedPlace), sort_key_pair);
	for (uint32 i = 0; i < list->count; i++)
		doc[i] = document_at(list, classed[i].place);
	pfree(classed);
	return (Documents){list->source, doc, list->count};
}

/* Cuts the documents of the first class off a list that is in order, and returns them. */
static Documents
cut_class(Documents *list)
{
	Documents cut = {list->source, list->doc, 0};
	uint32 class = class_at(list, 0);

	while (cut.count < list->count && class_at(list, cut.count) == class)
		cut.count++;
	list->doc += cut.count;
	list->count -= cut.count;
	return cut;
}

/* Joins the documents of each class. */
static bool
join_classes(const Documents *left, const Documents *right, PairSink sink, void *state)
{
	Documents ordered = order_by_class(left);
	Documents others = right == NULL ? (Documents){0} : order_by_class(right);
	Documents rest = ordered;
	Documents other_rest = others;
	bool goes_on = true;

	while (goes_on && rest.count > 0)
	{
		Documents list = cut_class(&rest);
		Documents other = {0};

		while (other_rest.count > 0 && class_at(&other_rest, 0) < class_at(&list, 0))
			cut_class(&other_rest);
		if (other_rest.count > 0 && class_at(&other_rest, 0) == class_at(&list, 0))
			other = cut_class(&other_rest);
		if (right == NULL)
			goes_on = list.count == 1 || join_lists(&list, NULL, sink, state);
		else if (other.count > 0)
			goes_on = join_lists(&list, &other, sink, state);
		host_check_interrupts();
	}
	pfree((void *) ordered.doc);
	if (right != NULL)
		pfree((void *) others.doc);
	return goes_on;
}

/*
 * Passes all pairs that reach the threshold to sink, those within left where
 * right is NULL.  Returns false if sink ended the join.
 */
bool
documents_join(const Documents *left, const Documents *right, PairSink sink, void *state)
{
	return left->source->class == NULL ? join_lists(left, right, sink, state) :
										 join_classes(left, right, sink, state);
}

/* Returns the length of a set by which it is compared. */
uint64
document_length(const Source *source, uint32 document)
{
	return source->set[document].length;
}

/* Returns the similarity of two sets. */
static double
sets_similarity(Source *left, uint32 a, Source *right, uint32 b)
{
	void *copy[2];
	Bag x = documents_bag(left, a, &copy[0]);
	Bag y = documents_bag(right, b, &copy[1]);
	uint64 shared = bag_shared(&x, &y, left->options->multiset);

	host_free(copy[0]);
	host_free(copy[1]);
	return overlap_similarity(left->options->measure, shared, document_length(left, a),
							  document_length(right, b));
}

/* Returns the similarity of a document of a source and a document of another or of the source. */
double
documents_similarity(Source *left, uint32 a, Source *right, uint32 b)
{
	uint8 *x;
	uint8 *y;
	int distance;

	if (left == right && a == b)
		return 1;
	if (left->options->verify > 0)
		return evidence_similarity(left, a, right, b);
	if (left->sets)
		return sets_similarity(left, a, right, b);
	x = palloc(left->records->stride);
	y = palloc(left->records->stride);
	distance = symbol_distance(records_get(left->records, a, x), records_get(right->records, b, y),
							   left->shape.k, signature_bits(&left->shape));
	pfree(x);
	pfree(y);
	return signature_similarity(&left->shape, distance);
}
