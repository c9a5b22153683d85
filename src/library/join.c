/*
 * join.c: the pairs and clusters of many values, in any number of threads.
 */
#include "library/session.h"

#include <pthread.h>
#include <stdatomic.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/sort.h"
#include "join/join.h"
#include "join/set_plan.h"
#include "join/stars.h"

/* Pairs that a thread collects before it passes them on. */
#define PAIRS_STEP 8192

#define EDGES_AT_FIRST 1024

/* ---- Documents ---------------------------------------------------------- */

/* Values as rows; those that are compared as equal are one document. */
typedef struct Side
{
	const neardup_values *values;
	bool multiset;
	SignatureHeader shape; /* of all values, once there is one */
	Table table;
	uint32_t *first; /* row of each document */
	uint32_t *last;
	uint32_t *next; /* row of the same document, by row; or STAR_NO_ROW */
	size_t stride;
	uint8_t *packed; /* signatures of documents */
	Bag *bag;        /* sets of documents */
} Side;

/* A value whose equal is sought. */
typedef struct Sought
{
	const Side *side;
	const Value *value;
} Sought;

/* A TableMatch. */
static bool
is_equal(const void *sought, uint32_t number)
{
	const Sought *s = sought;
	const Side *side = s->side;

	if (side->bag != NULL)
		return bag_equals(&s->value->bag, side->bag + number, side->multiset);
	return memcmp(s->value->signature.symbols, side->packed + number * side->stride,
				  signature_symbol_bytes(&side->shape)) == 0;
}

/* Adds a row to the document that equals its value, or as a new one; returns whether it is new. */
static bool
add_row(Side *side, uint32_t row, const Value *value)
{
	Sought sought = {side, value};
	const void *key = side->bag != NULL ? (void *) value->bag.element : value->signature.symbols;
	size_t bytes = side->bag != NULL ? value->bag.count * sizeof(int64_t) :
									   signature_symbol_bytes(&side->shape);
	uint64_t hash = XXH3_64bits_withSeed(key, bytes, table_seed(&side->table));
	uint64_t *slot;
	uint32_t document;

	table_reserve(&side->table, side->table.count + 1);
	slot = table_search(&side->table, hash, is_equal, &sought);
	if (*slot != 0)
	{
		document = table_number(slot);
		side->next[side->last[document]] = row;
		side->last[document] = row;
		return false;
	}
	document = table_put(&side->table, slot, hash);
	side->first[document] = side->last[document] = row;
	if (side->bag != NULL)
		side->bag[document] = value->bag;
	else
	{
		memset(side->packed + document * side->stride, 0, side->stride);
		memcpy(side->packed + document * side->stride, key, bytes);
	}
	return true;
}

/* Prepares for values that are comparable with the first one. */
static void
take_shape(Side *side, const SignatureHeader *shape)
{
	side->shape = *shape;
	if (side->values->kind == NEARDUP_SHINGLES)
		side->bag = host_alloc(side->values->count * sizeof(Bag));
	else
	{
		side->stride = JOIN_STRIDE(shape->k, signature_bits(shape));
		side->packed = host_alloc(side->stride * side->values->count);
	}
}

/* Reads a value. */
static Value
value_at(const neardup_values *values, uint32_t row)
{
	size_t number = values->chosen != NULL ? values->chosen[row] : row;
	uint64_t start = values->offset != NULL ? values->offset[number] : number * values->size;
	uint64_t end = values->offset != NULL ? values->offset[number + 1] : start + values->size;

	return value_read(values->kind, values->bytes + start, end - start, false);
}

/* Reads all values of a side, which are comparable with those of another one, if it has any. */
static void
side_read(Side *side, const neardup_values *values, bool multiset, const Side *other)
{
	*side = (Side){.values = values, .multiset = multiset};
	if (values->count >= STAR_NO_ROW / 2)
		session_fail(NEARDUP_TOO_LARGE, "there are more than %u values", STAR_NO_ROW / 2);
	table_begin(&side->table, values->count);
	side->first = host_alloc(values->count * sizeof(uint32_t) + 1);
	side->last = host_alloc(values->count * sizeof(uint32_t) + 1);
	side->next = host_alloc(values->count * sizeof(uint32_t) + 1);
	for (uint32_t row = 0; row < values->count; row++)
	{
		Value value = value_at(values, row);

		host_check_interrupts_at(row);
		side->next[row] = STAR_NO_ROW;
		if (row == 0)
			take_shape(side,
					   other != NULL && other->values->count > 0 ? &other->shape :
																   &value.signature.header);
		check_comparable(&value, &side->shape);
		if ((value_is_empty(&value) || !add_row(side, row, &value)) && side->bag != NULL)
			bag_free(&value.bag);
		host_free((void *) value.signature.symbols);
	}
	table_end(&side->table);
	host_free(side->last);
}

/* ---- Joins -------------------------------------------------------------- */

/* A call of neardup_pairs() or neardup_clusters(), and the lists of documents that it joins now. */
typedef struct Join
{
	Stars stars; /* the first, so that its functions find the others */
	const neardup_session *session;
	const neardup_options *options;
	Side side;
	Side against;
	const StarList *left;
	const StarList *right; /* left itself if there is one list */
	StarSink sink;
	SymbolJoin symbols;
	JoinPlan plan;
	SetJoin sets;
	SetPlan set_plan;
	int parts;
	pthread_mutex_t lock; /* of the sink */
	atomic_int next;      /* part */
	atomic_bool stopped;  /* by the sink, or after an error */
} Join;

/* What one thread does. */
typedef struct Worker
{
	neardup_session session;
	Join *join;
	pthread_t thread;
	neardup_code code;
	bool locks; /* it has the lock */
	neardup_pair pair[PAIRS_STEP];
	size_t pairs;
} Worker;

/* Gives the pairs collected to the sink.  Returns false if it ends the join. */
static bool
pass_on(Worker *worker)
{
	Join *join = worker->join;

	pthread_mutex_lock(&join->lock);
	worker->locks = true;
	for (const neardup_pair *pair = worker->pair; pair < worker->pair + worker->pairs; pair++)
		if (!join->stopped && !join->sink(&join->stars, pair->a, pair->b, pair->similarity))
			join->stopped = true;
	worker->locks = false;
	pthread_mutex_unlock(&join->lock);
	worker->pairs = 0;
	return !join->stopped;
}

/* A SetPairSink. */
static bool
take_sets(void *state, uint32_t a, uint32_t b, double similarity)
{
	Worker *worker = state;
	const Join *join = worker->join;

	worker->pair[worker->pairs++] =
		(neardup_pair){join->left->doc[a], join->right->doc[b], similarity};
	return worker->pairs < PAIRS_STEP ? !join->stopped : pass_on(worker);
}

/* A JoinEmit. */
static bool
take_signatures(void *state, uint32_t a, uint32_t b, int distance)
{
	const Worker *worker = state;

	return take_sets(state, a, b, signature_similarity(&worker->join->side.shape, distance));
}

/* A JoinNext. */
static int
next_part(void *state)
{
	Join *join = ((Worker *) state)->join;
	int part = atomic_fetch_add(&join->next, 1);

	return part < join->parts && !join->stopped ? part : -1;
}

/* Joins parts until there are none left. */
static void
join_parts_of(Worker *worker)
{
	SetJoin sets = worker->join->sets;
	SymbolJoin symbols = worker->join->symbols;
	SetJoinStats stats = {0};

	sets.state = sets.next_state = symbols.state = symbols.next_state = worker;
	if (sets.left != NULL)
		(void) set_run(&sets, &worker->join->set_plan, &stats);
	else
		(void) join_run(&symbols, &worker->join->plan);
	(void) pass_on(worker);
}

/* The same as a call of the library. */
static neardup_code
call_join_parts(Worker *worker)
{
	SESSION_BEGIN(&worker->session);
	join_parts_of(worker);
	return session_end();
}

/* The main function of a thread. */
static void *
work(void *state)
{
	Worker *worker = state;

	worker->code = call_join_parts(worker);
	if (worker->code != NEARDUP_OK)
		worker->join->stopped = true;
	if (worker->locks)
		pthread_mutex_unlock(&worker->join->lock);
	return NULL;
}

/* Joins all parts by some threads, the caller's among them. */
static void
run(Join *join)
{
	int jobs = Min(Max(join->options->jobs, 1), join->parts);
	Worker *workers = host_alloc(jobs * sizeof(Worker));
	int threads = 1;

	join->next = 0;
	join->stopped = false;
	session_keep(join->stars.edge);
	memset(workers, 0, jobs * sizeof(Worker));
	for (int i = 0; i < jobs; i++)
	{
		workers[i].session.host = join->session->host;
		workers[i].join = join;
	}
	while (threads < jobs &&
		   pthread_create(&workers[threads].thread, NULL, work, workers + threads) == 0)
		threads++;
	work(workers);
	for (int i = 1; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	session_adopt(join->stars.edge);
	for (int i = 0; i < threads; i++)
		if (workers[i].code != NEARDUP_OK)
			session_fail(workers[i].code, "%s", workers[i].session.message);
	host_free(workers);
}

/* Returns what a list has of an array, which is all of it if the list has all documents. */
static void *
gather(const Side *side, const StarList *list, void *array, size_t size)
{
	char *gathered;

	if (list->count == side->table.count)
		return array;
	gathered = host_alloc(list->count * size);
	for (uint32_t i = 0; i < list->count; i++)
		memcpy(gathered + i * size, (char *) array + list->doc[i] * size, size);
	return gathered;
}

/* Joins sets. */
static void
join_sets(Join *join, Bag *left, Bag *right)
{
	const neardup_options *options = join->options;

	join->sets =
		(SetJoin){.left = left,
				  .left_count = join->left->count,
				  .right = right,
				  .right_count = right != NULL ? join->right->count : 0,
				  .threshold = options->threshold,
				  .weighted = options->multiset,
				  .measure = options->containment ? MEASURE_CONTAINMENT : MEASURE_RESEMBLANCE,
				  .sink = take_sets,
				  .next = next_part};
	if (!set_plan(&join->sets, &join->set_plan))
		session_fail(NEARDUP_TOO_LARGE, "there are too many shingles to compare at once");
	join->parts = SET_PARTS;
	run(join);
	set_plan_free(&join->set_plan);
}

/* Joins signatures. */
static void
join_signatures(Join *join, const uint8_t *left, const uint8_t *right)
{
	const SignatureHeader *shape = &join->side.shape;

	join->symbols = (SymbolJoin){.k = shape->k,
								 .b = signature_bits(shape),
								 .h = signature_radius(shape, join->options->threshold),
								 .stride = join->side.stride,
								 .recall = 1,
								 .left = {left, join->left->count},
								 .right = {right, right != NULL ? join->right->count : 0},
								 .emit = take_signatures,
								 .next = next_part};
	join->plan = join_plan(&join->symbols);
	join->parts = join_parts(&join->plan);
	run(join);
}

/* As Stars.join asks. */
static bool
join_lists(Stars *stars, const StarList *list, const StarList *other, StarSink sink)
{
	Join *join = (Join *) stars;
	const Side *side[2] = {&join->side, stars->keeper_first != NULL ? &join->against : &join->side};
	const StarList *lists[2] = {list, other};
	void *array[2] = {NULL, NULL};
	void *gathered[2] = {NULL, NULL};

	if (list->count == 0 || (other != NULL && other->count == 0))
		return true;
	join->left = list;
	join->right = other != NULL ? other : list;
	join->sink = sink;
	for (int i = 0; i < 2 && lists[i] != NULL; i++)
	{
		array[i] = side[i]->bag != NULL ? (void *) side[i]->bag : side[i]->packed;
		gathered[i] = gather(side[i], lists[i], array[i],
							 side[i]->bag != NULL ? sizeof(Bag) : side[i]->stride);
	}
	if (side[0]->bag != NULL)
		join_sets(join, gathered[0], gathered[1]);
	else
		join_signatures(join, gathered[0], gathered[1]);
	for (int i = 0; i < 2; i++)
		if (gathered[i] != array[i])
			host_free(gathered[i]);
	return !join->stopped;
}

/* Checks the arguments of a call, and reads its values.  No values may be of any kind. */
static Join *
join_new(const neardup_session *session, const neardup_values *values,
		 const neardup_values *against, const neardup_options *options)
{
	Join *join = host_alloc(sizeof(Join));
	Stars *stars = &join->stars;
	bool some = values->count > 0;

	memset(join, 0, sizeof(Join));
	join->session = session;
	join->options = options;
	if (!(options->threshold > 0 && options->threshold <= 1))
		session_fail(NEARDUP_INVALID, "the threshold must be above 0, and at most 1");
	if (values->kind == NEARDUP_LEXICON ||
		(against != NULL && against->count > 0 && some && against->kind != values->kind))
		session_fail(NEARDUP_MISMATCH,
					 "both sides must have values of the same kind, which are no lexicons");
	if (some && values->kind != NEARDUP_SHINGLES && (options->multiset || options->containment))
		session_fail(NEARDUP_INVALID, "only shingles are compared by containment or as multisets");
	side_read(&join->side, values, options->multiset, NULL);
	stars->documents = star_list(join->side.table.count);
	stars->first = join->side.first;
	stars->next = join->side.next;
	if (against != NULL)
	{
		side_read(&join->against, against, options->multiset, &join->side);
		stars->keeper_first = join->against.first;
		stars->keepers = join->against.table.count;
	}
	stars->nearest = options->nearest;
	stars->join = join_lists;
	stars->most_edges = options->memory > 0 ? options->memory / sizeof(StarEdge) : SIZE_MAX;
	stars->room = EDGES_AT_FIRST;
	stars->edge = host_alloc(EDGES_AT_FIRST * sizeof(StarEdge));
	pthread_mutex_init(&join->lock, NULL);
	return join;
}

/* ---- Pairs -------------------------------------------------------------- */

/* Keeps a pair of rows: a, which is the second in the order of stars, and b. */
static void
keep_pair(Stars *stars, uint32_t a, uint32_t b, double similarity)
{
	if (stars->edges >= stars->most_edges)
		session_fail(NEARDUP_TOO_LARGE, "there are more pairs than the memory holds");
	stars_add_edge(stars, b, a, similarity);
}

/* A StarSink: of one list the first rows are a pair, and all rows of a with the first of b of two. */
static bool
take_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Stars *stars = state;
	uint32_t row = stars->first[a];

	if (stars->keeper_first == NULL)
		keep_pair(stars, Min(row, stars->first[b]), Max(row, stars->first[b]), similarity);
	for (; stars->keeper_first != NULL && row != STAR_NO_ROW; row = stars->next[row])
		keep_pair(stars, row, stars->keeper_first[b], similarity);
	return true;
}

neardup_code
neardup_pairs(neardup_session *session, const neardup_values *values, const neardup_values *against,
			  const neardup_options *options, neardup_pair **pairs, size_t *count)
{
	neardup_pair *found;
	Stars *stars;
	StarList other;

	SESSION_BEGIN(session);
	stars = &join_new(session, values, against, options)->stars;
	other = star_list(stars->keepers);
	(void) join_lists(stars, &stars->documents, against != NULL ? &other : NULL, take_pair);
	for (uint32_t i = 0; against == NULL && i < stars->documents.count; i++)
		for (uint32_t b = stars->next[stars->first[i]]; b != STAR_NO_ROW; b = stars->next[b])
			keep_pair(stars, stars->first[i], b, 1);
	sort_records(stars->edge, stars->edges, sizeof(StarEdge), sort_key_pair);
	found = host_alloc(stars->edges * sizeof(neardup_pair) + 1);
	for (size_t i = 0; i < stars->edges; i++)
		found[i] =
			(neardup_pair){stars->edge[i].second, stars->edge[i].first, stars->edge[i].similarity};
	session_keep(found);
	*pairs = found;
	*count = stars->edges;
	return session_end();
}

/* ---- Clusters ----------------------------------------------------------- */

/* As Stars.may_join asks: by containment, a set joins none that is shorter. */
static bool
may_join(const Stars *stars, uint32_t document, uint32_t keeper)
{
	const Join *join = (const Join *) stars;
	const Bag *bag = join->side.bag + document;
	const Bag *other = join->side.bag + keeper;

	return join->options->multiset ? bag_total(bag) <= bag_total(other) :
									 bag->count <= other->count;
}

neardup_code
neardup_clusters(neardup_session *session, const neardup_values *values,
				 const neardup_values *against, const neardup_options *options, uint32_t *keeper,
				 double *similarity)
{
	Stars *stars;

	SESSION_BEGIN(session);
	stars = &join_new(session, values, against, options)->stars;
	if (options->containment)
		stars->may_join = may_join;
	stars->keeper = keeper;
	stars->similarity =
		similarity != NULL ? similarity : host_alloc(values->count * sizeof(double) + 1);
	for (size_t i = 0; i < values->count; i++)
	{
		keeper[i] = STAR_NO_ROW;
		stars->similarity[i] = 0;
	}
	stars_make(stars);
	return session_end();
}
