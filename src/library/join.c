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

/* The sink may need room for pairs, which any thread may make then. */
#define EDGES_AT_FIRST 1024

/* ---- Documents ---------------------------------------------------------- */

/* Values; equal ones are one document. */
typedef struct Side
{
	const neardup_values *values;
	SignatureHeader shape; /* of all values, once there is one */
	Table table;
	uint32_t documents;
	uint32_t *first; /* row of each document */
	uint32_t *last;
	uint32_t *next;  /* row of the same document, by row; or STAR_NO_ROW */
	uint8_t *packed; /* signatures of documents */
	size_t stride;
	Bag *bag; /* sets of documents */
	bool multiset;
} Side;

/* A value whose equal is sought. */
typedef struct Sought
{
	const Side *side;
	const uint8_t *symbols;
	const Bag *bag;
} Sought;

/* A TableMatch. */
static bool
is_equal(const void *sought, uint32_t number)
{
	const Sought *s = sought;

	if (s->bag != NULL)
		return bag_equals(s->bag, s->side->bag + number, s->side->multiset);
	return memcmp(s->symbols, s->side->packed + number * s->side->stride,
				  signature_symbol_bytes(&s->side->shape)) == 0;
}

/* Adds a row to the document that equals it, or as a new document; returns whether it is new. */
static bool
add_row(Side *side, uint32_t row, const uint8_t *symbols, const Bag *bag)
{
	Sought sought = {side, symbols, bag};
	uint64_t seed = table_seed(&side->table);
	uint64_t hash = bag != NULL ?
		XXH3_64bits_withSeed(bag->element, bag->count * sizeof(int64_t), seed) :
		XXH3_64bits_withSeed(symbols, signature_symbol_bytes(&side->shape), seed);
	uint64_t *slot;
	uint32_t document;

	table_reserve(&side->table, side->table.count + 1);
	slot = table_search(&side->table, hash, is_equal, &sought);
	side->next[row] = STAR_NO_ROW;
	if (*slot != 0)
	{
		document = table_number(slot);
		side->next[side->last[document]] = row;
		side->last[document] = row;
		return false;
	}
	document = table_put(&side->table, slot, hash);
	side->first[document] = side->last[document] = row;
	side->documents = document + 1;
	return true;
}

/* Checks that a value is comparable with those before it, of which the first sets the shape. */
static void
take_shape(Side *side, const SignatureHeader *header)
{
	if (side->shape.version == 0)
		side->shape = *header;
	check_comparable(&side->shape, header);
}

/* Adds a signature. */
static void
add_signature(Side *side, uint32_t row, const uint8_t *bytes, size_t length)
{
	Signature signature = signature_of_bytes(side->values->kind, bytes, length);
	const SignatureHeader *header = &signature.header;

	take_shape(side, header);
	if (side->packed == NULL)
	{
		side->stride = JOIN_STRIDE(header->k, signature_bits(header));
		side->packed = host_alloc(side->stride * side->values->count);
	}
	if (!signature_is_empty(&signature) && add_row(side, row, signature.symbols, NULL))
	{
		uint8_t *to = side->packed + (side->documents - 1) * side->stride;

		memset(to, 0, side->stride);
		memcpy(to, signature.symbols, signature_symbol_bytes(header));
	}
	host_free((void *) signature.symbols);
}

/* Adds a set. */
static void
add_set(Side *side, uint32_t row, const uint8_t *bytes, size_t length)
{
	uint8_t version;
	SchemeId scheme;
	Bag bag = bag_of_bytes(bytes, length, &version, &scheme);
	SignatureHeader header = header_of_set(version, scheme);

	take_shape(side, &header);
	if (side->bag == NULL)
		side->bag = host_alloc(side->values->count * sizeof(Bag));
	if (bag.count > 0 && add_row(side, row, NULL, &bag))
		side->bag[side->documents - 1] = bag;
	else
		bag_free(&bag);
}

/* Reads all values of a side. */
static void
side_read(Side *side, const neardup_values *values, const neardup_options *options)
{
	side->values = values;
	side->multiset = options->multiset;
	if (values->count >= STAR_NO_ROW / 2)
		session_fail(NEARDUP_TOO_LARGE, "there are more than %u values", STAR_NO_ROW / 2);
	if (values->kind != NEARDUP_SHINGLES && (options->multiset || options->containment))
		session_fail(NEARDUP_INVALID, "only shingles are compared by containment or as multisets");
	table_begin(&side->table, values->count);
	side->first = host_alloc(values->count * sizeof(uint32_t) + 1);
	side->last = host_alloc(values->count * sizeof(uint32_t) + 1);
	side->next = host_alloc(values->count * sizeof(uint32_t) + 1);
	for (uint32_t row = 0; row < values->count; row++)
	{
		uint64_t start = values->offset != NULL ? values->offset[row] : row * values->size;
		uint64_t end = values->offset != NULL ? values->offset[row + 1] : start + values->size;

		host_check_interrupts_at(row);
		(values->kind == NEARDUP_SHINGLES ? add_set : add_signature)(side, row,
																	 values->bytes + start,
																	 end - start);
	}
	table_end(&side->table);
	host_free(side->last);
}

/* Frees what was read. */
static void
side_free(Side *side)
{
	for (uint32_t document = 0; side->bag != NULL && document < side->documents; document++)
		bag_free(&side->bag[document]);
	host_free(side->first);
	host_free(side->next);
	host_free(side->packed);
	host_free(side->bag);
}

/* ---- Threads ------------------------------------------------------------ */

/* A join of two lists of documents. */
typedef struct Join
{
	const Side *left;
	const Side *right; /* left itself if there is one list */
	const StarList *list;
	const StarList *other; /* or NULL */
	SymbolJoin symbols;
	JoinPlan plan;
	SetJoin sets;
	SetPlan set_plan;
	int parts;
	StarSink sink;
	Stars *stars;
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
	for (size_t i = 0; i < worker->pairs && !join->stopped; i++)
	{
		const neardup_pair *pair = worker->pair + i;
		uint32_t a = join->list->doc[pair->a];
		uint32_t b = join->other != NULL ? join->other->doc[pair->b] : join->list->doc[pair->b];

		if (!join->sink(join->stars, a, b, pair->similarity))
			join->stopped = true;
	}
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

	worker->pair[worker->pairs++] = (neardup_pair){a, b, similarity};
	return worker->pairs < PAIRS_STEP ? !worker->join->stopped : pass_on(worker);
}

/* A JoinEmit. */
static bool
take_signatures(void *state, uint32_t a, uint32_t b, int distance)
{
	const Worker *worker = state;

	return take_sets(state, a, b, signature_similarity(&worker->join->left->shape, distance));
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
static neardup_code
join_parts_of(Worker *worker)
{
	SESSION_BEGIN(&worker->session);
	if (worker->join->left->bag != NULL)
	{
		SetJoin sets = worker->join->sets;
		SetJoinStats stats = {0};

		sets.sink = take_sets;
		sets.next = next_part;
		sets.state = sets.next_state = worker;
		(void) set_run(&sets, &worker->join->set_plan, &stats);
	}
	else
	{
		SymbolJoin symbols = worker->join->symbols;

		symbols.emit = take_signatures;
		symbols.next = next_part;
		symbols.state = symbols.next_state = worker;
		(void) join_run(&symbols, &worker->join->plan);
	}
	(void) pass_on(worker);
	return session_end();
}

/* The main function of a thread. */
static void *
work(void *state)
{
	Worker *worker = state;

	worker->code = join_parts_of(worker);
	if (worker->code != NEARDUP_OK)
		worker->join->stopped = true;
	if (worker->locks)
		pthread_mutex_unlock(&worker->join->lock);
	return NULL;
}

/* Joins all parts by some threads, the caller's among them. */
static void
run(Join *join, int jobs, const neardup_session *session)
{
	Worker *workers = host_alloc(jobs * sizeof(Worker));
	Stars *stars = join->stars;
	int threads = 0;
	int failed = -1;

	stars->edge = host_grow(stars->edge, &stars->room, EDGES_AT_FIRST, sizeof(StarEdge));
	session_release(stars->edge);
	pthread_mutex_init(&join->lock, NULL);
	for (int i = 0; i < jobs; i++)
	{
		session_inherit(&workers[i].session, session);
		workers[i].join = join;
		workers[i].locks = false;
		workers[i].pairs = 0;
	}
	while (threads + 1 < jobs &&
		   pthread_create(&workers[threads + 1].thread, NULL, work, workers + threads + 1) == 0)
		threads++;
	work(workers);
	for (int i = 1; i <= threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&join->lock);
	session_adopt(stars->edge);
	for (int i = 0; i <= threads; i++)
		if (workers[i].code != NEARDUP_OK)
			failed = i;
	if (failed >= 0)
		session_fail(workers[failed].code, "%s", workers[failed].session.message);
	host_free(workers);
}

/* ---- Joins of lists ----------------------------------------------------- */

/* A call of neardup_pairs() or neardup_clusters(). */
typedef struct Call
{
	Stars stars; /* the first, so that its functions find the others */
	const neardup_session *session;
	const neardup_options *options;
	Side side;
	Side against;
	uint64_t *length; /* of the documents, for containment */
	uint64_t *keeper_length;
} Call;

/* Returns whether a list has all documents of a side, in order. */
static bool
is_everything(const Side *side, const StarList *list)
{
	return list->count == side->documents &&
		(list->count == 0 || list->doc[list->count - 1] == list->count - 1);
}

/* Returns the signatures of a list, without a copy where they lie one behind the other. */
static uint8_t *
pack_list(const Side *side, const StarList *list)
{
	uint8_t *packed = side->packed;

	if (is_everything(side, list))
		return packed;
	packed = host_alloc(list->count * side->stride + 1);
	for (uint32_t i = 0; i < list->count; i++)
		memcpy(packed + i * side->stride, side->packed + list->doc[i] * side->stride, side->stride);
	return packed;
}

/* Returns the sets of a list. */
static Bag *
gather_bags(const Side *side, const StarList *list)
{
	Bag *bags = host_alloc(list->count * sizeof(Bag) + 1);

	for (uint32_t i = 0; i < list->count; i++)
		bags[i] = side->bag[list->doc[i]];
	return bags;
}

/* Joins lists of sets. */
static void
join_sets(const Call *call, Join *join, int jobs)
{
	Bag *left = gather_bags(join->left, join->list);
	Bag *right = join->other != NULL ? gather_bags(join->right, join->other) : NULL;

	join->sets =
		(SetJoin){.left = left,
				  .left_count = join->list->count,
				  .right = right,
				  .right_count = right != NULL ? join->other->count : 0,
				  .threshold = call->options->threshold,
				  .weighted = call->options->multiset,
				  .measure = call->options->containment ? SET_CONTAINMENT : SET_RESEMBLANCE};
	if (!set_plan(&join->sets, &join->set_plan))
		session_fail(NEARDUP_TOO_LARGE, "there are too many shingles to compare at once");
	join->parts = SET_PARTS;
	run(join, jobs, call->session);
	set_plan_free(&join->set_plan);
	host_free(left);
	host_free(right);
}

/* Joins lists of signatures. */
static void
join_signatures(const Call *call, Join *join, int jobs)
{
	const SignatureHeader *shape = &join->left->shape;
	uint8_t *left = pack_list(join->left, join->list);
	uint8_t *right = join->other != NULL ? pack_list(join->right, join->other) : NULL;

	join->symbols = (SymbolJoin){.k = shape->k,
								 .b = signature_bits(shape),
								 .h = signature_radius(shape, call->options->threshold),
								 .stride = join->left->stride,
								 .recall = 1,
								 .left = {left, join->list->count},
								 .right = {right, right != NULL ? join->other->count : 0}};
	join->plan = join_plan(&join->symbols);
	join->parts = join_parts(&join->plan);
	run(join, Min(jobs, join->parts), call->session);
	if (left != join->left->packed)
		host_free(left);
	if (right != NULL && right != join->right->packed)
		host_free(right);
}

/* As Stars.join asks. */
static bool
join_lists(Stars *stars, const StarList *list, const StarList *other, StarSink sink)
{
	const Call *call = (const Call *) stars;
	bool against = other != NULL && stars->keeper_first != NULL;
	Join *join = host_alloc(sizeof(Join));
	int jobs = Max(call->options->jobs, 1);
	bool stopped;

	memset(join, 0, sizeof(Join));
	join->left = &call->side;
	join->right = against ? &call->against : &call->side;
	join->list = list;
	join->other = other;
	join->sink = sink;
	join->stars = stars;
	(join->left->bag != NULL ? join_sets : join_signatures)(call, join, jobs);
	stopped = join->stopped;
	host_free(join);
	return !stopped;
}

/* ---- What the header lists ---------------------------------------------- */

/* Checks the options of a call, and reads its values. */
static void
call_begin(Call *call, const neardup_values *values, const neardup_values *against)
{
	double threshold = call->options->threshold;

	if (!(threshold > 0 && threshold <= 1))
		session_fail(NEARDUP_INVALID, "the threshold must be above 0, and at most 1");
	side_read(&call->side, values, call->options);
	if (against == NULL)
		return;
	if (against->kind != values->kind)
		session_fail(NEARDUP_MISMATCH, "the values of both sides must be of the same kind");
	call->against.shape = call->side.shape;
	side_read(&call->against, against, call->options);
}

/* Ends a call of neardup_pairs() or neardup_clusters(). */
static neardup_code
call_end(Call *call)
{
	side_free(&call->side);
	side_free(&call->against);
	host_free(call->stars.edge);
	host_free(call->length);
	host_free(call->keeper_length);
	host_free(call);
	return session_end();
}

/* Returns a new call. */
static Call *
call_new(const neardup_session *session, const neardup_options *options)
{
	Call *call = host_alloc(sizeof(Call));

	memset(call, 0, sizeof(Call));
	call->session = session;
	call->options = options;
	call->stars.join = join_lists;
	call->stars.nearest = options->nearest;
	call->stars.most_edges = options->memory > 0 ? options->memory / sizeof(StarEdge) : SIZE_MAX;
	return call;
}

/* ---- Pairs -------------------------------------------------------------- */

/* A StarSink that keeps a pair of documents. */
static bool
take_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Stars *stars = state;
	bool swap = stars->keeper_first == NULL && a > b;

	if (stars->edges >= stars->most_edges)
		session_fail(NEARDUP_TOO_LARGE, "there are more pairs than the memory holds");
	stars_add_edge(stars, swap ? a : b, swap ? b : a, similarity);
	return true;
}

/* The pairs of rows of a call. */
typedef struct Found
{
	neardup_pair *pair;
	size_t count;
	size_t room;
} Found;

static void
put_pair(Found *found, uint32_t a, uint32_t b, double similarity)
{
	found->pair = host_grow(found->pair, &found->room, found->count + 1, sizeof(neardup_pair));
	found->pair[found->count++] = (neardup_pair){a, b, similarity};
}

/* Returns the pairs of rows, in order. */
static Found
find_rows(const Call *call, bool against)
{
	const Side *side = &call->side;
	Found found = {0};

	for (size_t i = 0; i < call->stars.edges; i++)
	{
		const StarEdge *edge = call->stars.edge + i;
		uint32_t b = (against ? &call->against : side)->first[edge->first];

		for (uint32_t a = side->first[edge->second]; a != STAR_NO_ROW; a = side->next[a])
		{
			put_pair(&found, a, b, edge->similarity);
			if (!against)
				break;
		}
	}
	for (uint32_t document = 0; !against && document < side->documents; document++)
	{
		uint32_t a = side->first[document];

		for (uint32_t b = side->next[a]; b != STAR_NO_ROW; b = side->next[b])
			put_pair(&found, a, b, 1);
	}
	sort_records(found.pair, found.count, sizeof(neardup_pair), sort_key_pair);
	return found;
}

neardup_code
neardup_pairs(neardup_session *session, const neardup_values *values, const neardup_values *against,
			  const neardup_options *options, neardup_pair **pairs, size_t *count)
{
	Call *call;
	StarList list;
	StarList other = {0};
	Found found;

	SESSION_BEGIN(session);
	call = call_new(session, options);
	call_begin(call, values, against);
	call->stars.keeper_first = against != NULL ? call->against.first : NULL;
	list = star_list(call->side.documents);
	other = star_list(call->against.documents);
	if (list.count > 0 && (against == NULL || other.count > 0))
		(void) join_lists(&call->stars, &list, against != NULL ? &other : NULL, take_pair);
	found = find_rows(call, against != NULL);
	*pairs = found.pair;
	*count = found.count;
	host_free((void *) list.doc);
	host_free((void *) other.doc);
	return call_end(call);
}

/* ---- Clusters ----------------------------------------------------------- */

/* Returns the lengths of the sets of a side. */
static uint64_t *
lengths_of(const Side *side)
{
	uint64_t *length = host_alloc(side->documents * sizeof(uint64_t) + 1);

	for (uint32_t i = 0; i < side->documents; i++)
		length[i] = side->multiset ? bag_total(&side->bag[i]) : side->bag[i].count;
	return length;
}

/* As Stars.may_join asks: by containment, a set joins none that is shorter. */
static bool
may_join(const Stars *stars, uint32_t document, uint32_t keeper)
{
	const Call *call = (const Call *) stars;
	const uint64_t *of_keepers = call->keeper_length != NULL ? call->keeper_length : call->length;

	return call->length[document] <= of_keepers[keeper];
}

neardup_code
neardup_clusters(neardup_session *session, const neardup_values *values,
				 const neardup_values *against, const neardup_options *options, uint32_t *keeper,
				 double *similarity)
{
	Call *call;
	Stars *stars;

	SESSION_BEGIN(session);
	call = call_new(session, options);
	stars = &call->stars;
	call_begin(call, values, against);
	if (options->containment)
	{
		call->length = lengths_of(&call->side);
		call->keeper_length = against != NULL ? lengths_of(&call->against) : NULL;
		stars->may_join = may_join;
	}
	stars->documents = star_list(call->side.documents);
	stars->first = call->side.first;
	stars->next = call->side.next;
	if (against != NULL)
	{
		stars->keeper_first = call->against.first;
		stars->keepers = call->against.documents;
	}
	stars->keeper = keeper;
	stars->similarity =
		similarity != NULL ? similarity : host_alloc(values->count * sizeof(double) + 1);
	for (size_t i = 0; i < values->count; i++)
	{
		keeper[i] = STAR_NO_ROW;
		stars->similarity[i] = 0;
	}
	stars_make(stars);
	host_free((void *) stars->documents.doc);
	if (similarity == NULL)
		host_free(stars->similarity);
	return call_end(call);
}
