/*
 * threads.c: the pairs and clusters of many values, in any number of threads.
 */
#include "library/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/sort.h"
#include "join/edges.h"
#include "join/pairs.h"

/* Pairs that a thread collects before it passes them on. */
#define PAIRS_STEP 2048

/* Memory to use where the machine does not say how much it has. */
#define MEMORY_UNKNOWN ((size_t) 1 << 30)

/* Temporary files that a thread has open, at most, about. */
#define FILES_OF_THREAD 300

/* A call of neardup_pairs() or neardup_clusters(). */
typedef struct PairCall
{
	PairOptions pair; /* the first, so that both are one address */
	PairStats stats;
	neardup_session *session;
	int jobs;
	const neardup_values *values[2];
	uint64_t *end[2]; /* the position behind each of their columns of texts */
	Documents *documents;
	Documents *against; /* the documents to compare with; NULL: none */
	neardup_part part;
	OtherSets others;
	bool *in_b; /* whether each value is of block b; NULL unless block a is another */
} PairCall;

/* ---- Threads ------------------------------------------------------------ */

/* A join that threads share. */
typedef struct Shared
{
	neardup_session *owner; /* the owner of the sink */
	PairArray array[PAIR_ARRAYS];
	int parts;
	size_t memory; /* bytes of memory for each thread */
	int threads;
	PairSink sink;
	void *state;
	pthread_mutex_t lock; /* the lock of the sink */
	bool failed;          /* the sink has failed */
	atomic_int next;      /* part */
	atomic_bool stopped;  /* the sink has stopped it, or an error */
} Shared;

/* What one thread does. */
typedef struct Thread
{
	neardup_session session;
	Shared *shared;
	pthread_t thread;
	neardup_code code;
	JoinStats stats;
	size_t pairs;
	neardup_pair pair[PAIRS_STEP]; /* the last, since it is not set at first */
} Thread;

/* Gives the pairs collected to the sink. */
static void
give_pairs(void *state)
{
	const Thread *worker = state;
	Shared *shared = worker->shared;

	for (const neardup_pair *pair = worker->pair; pair < worker->pair + worker->pairs; pair++)
		if (!shared->stopped && !shared->sink(shared->state, pair->a, pair->b, pair->similarity))
			shared->stopped = true;
}

/* Does give_pairs() within the call that runs the join.  Returns false if no more are wanted. */
static bool
thread_pass_on(Thread *worker)
{
	Shared *shared = worker->shared;

	pthread_mutex_lock(&shared->lock);
	if (!session_lend(shared->owner, give_pairs, worker))
	{
		shared->failed = true;
		shared->stopped = true;
	}
	pthread_mutex_unlock(&shared->lock);
	worker->pairs = 0;
	return !shared->stopped;
}

/* A PairSink. */
static bool
thread_take_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Thread *worker = state;

	worker->pair[worker->pairs++] = (neardup_pair){a, b, similarity};
	return worker->pairs < PAIRS_STEP ? !worker->shared->stopped : thread_pass_on(worker);
}

/* A PairNext. */
static int
thread_next_part(void *state)
{
	Shared *shared = ((Thread *) state)->shared;
	int part = atomic_fetch_add(&shared->next, 1);

	return part < shared->parts && !shared->stopped ? part : -1;
}

/* A call of the library: joins parts until there are none left. */
static neardup_code
thread_join_parts(Thread *worker)
{
	Shared *shared = worker->shared;
	PairArray array[PAIR_ARRAYS];
	PairJoin *join;
	PairRun run = {.sink = thread_take_pair,
				   .state = worker,
				   .next = thread_next_part,
				   .next_state = worker,
				   .stats = &worker->stats,
				   .reports = worker->session.thread == 0};

	SESSION_BEGIN(&worker->session);
	for (int i = 0; i < PAIR_ARRAYS; i++)
	{
		array[i] = shared->array[i];
		if (array[i].file != NULL)
			array[i].file = session_reopen(array[i].file);
	}
	join = pairs_attach(array);
	join->memory = shared->memory;
	join->processes = shared->threads;
	(void) pairs_run(join, &run);
	(void) thread_pass_on(worker);
	return session_end();
}

/* The main function of a thread. */
static void *
work(void *state)
{
	Thread *worker = state;

	worker->code = thread_join_parts(worker);
	if (worker->code != NEARDUP_OK)
		worker->shared->stopped = true;
	return NULL;
}

/* Returns how many threads a join with these arrays has work and memory for. */
static int
threads_for(const PairCall *call, const PairJoin *join, const PairArray array[PAIR_ARRAYS])
{
	double threads = Min(Max(call->jobs, 1), join->parts);
	double memory = (double) join->memory - (double) join->held;

	for (int i = 0; i < PAIR_ARRAYS; i++)
		memory -= array[i].file != NULL ? 0 : (double) array[i].bytes;
	if (join->files)
		threads = Min(threads, (double) sysconf(_SC_OPEN_MAX) / FILES_OF_THREAD);
	threads = Min(threads, memory / (double) (join->process_bytes + sizeof(Thread)));
	return (int) Max(threads, 1);
}

/* Waits for the threads of workers after the first, and passes on what failed. */
static void
end_threads(Thread *workers, int threads)
{
	for (int i = 1; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&workers->shared->lock);
	if (workers->shared->failed)
		session_fail_again();
	for (int i = 0; i < threads; i++)
		if (workers[i].code != NEARDUP_OK)
			session_fail(workers[i].code, "%s", workers[i].session.message);
}

/* A function of PairOptions: runs a join by some threads, the caller's among them. */
static void
thread_run_join(void *state, PairJoin *join, PairSink sink, void *sink_state)
{
	PairCall *call = state;
	Shared shared = {.owner = call->session,
					 .parts = join->parts,
					 .sink = sink,
					 .state = sink_state};
	Thread *workers;
	int threads = 1;
	int jobs;

	pairs_arrays(join, shared.array);
	jobs = threads_for(call, join, shared.array);
	shared.memory = join->memory / jobs;
	shared.threads = jobs;
	workers = host_alloc(jobs * sizeof(Thread));
	for (int i = 0; i < PAIR_ARRAYS; i++)
		if (shared.array[i].file != NULL)
			session_flush_file(shared.array[i].file);
	pthread_mutex_init(&shared.lock, NULL);
	for (int i = 0; i < jobs; i++)
	{
		memset(workers + i, 0, offsetof(Thread, pair));
		workers[i].session.host = call->session->host;
		workers[i].session.thread = i;
		workers[i].shared = &shared;
	}
	while (threads < jobs &&
		   pthread_create(&workers[threads].thread, NULL, work, workers + threads) == 0)
		threads++;
	work(workers);
	end_threads(workers, threads);
	for (int i = 0; i < threads; i++)
		stats_add(&call->stats.join, &workers[i].stats);
	host_free(workers);
}

/* A function of PairOptions. */
static void
thread_say_slow(void *state, double family, double minutes)
{
	session_warn(((const PairCall *) state)->session, family, minutes);
}

/* ---- Documents ---------------------------------------------------------- */

/* Reads a value, and finds its block if there are any. */
static Value
value_at(const neardup_values *values, uint32_t row, uint32_t *block, uint32_t blocks)
{
	size_t length;
	const uint8_t *bytes = value_bytes(values, row, &length);

	if (blocks > 0)
		*block = value_block(values->kind, bytes, length, blocks);
	return value_read(values->kind, bytes, length, false);
}

/* Returns the text at a position of some columns. */
static ColumnText
text_of_columns(const neardup_evidence *evidence, const uint64_t *end, size_t position)
{
	size_t column = 0;

	SEARCH_SORTED(column, evidence->columns, end[middle] <= position);
	if (column == evidence->columns)
		session_fail(NEARDUP_INVALID, "the columns have no text %zu", position);
	return text_at(evidence->texts + column,
				   position - (end[column] - evidence->texts[column].count));
}

/* Returns the evidence of a row of one of the sides. */
static Value
set_of_row(const PairCall *call, int side, uint32_t row)
{
	const neardup_evidence *evidence = call->values[side]->evidence;
	size_t position = value_position(call->values[side], row);
	ColumnText text = {NULL, 0};

	if (evidence->sets != NULL)
		return value_at(evidence->sets, position, &(uint32_t){0}, 0);
	if (evidence->read == NULL)
		text = text_of_columns(evidence, call->end[side], position);
	else if (!evidence->read(evidence->state, session_thread(), position, &text.utf8, &text.length))
		session_fail(NEARDUP_NO_FILE, "text %zu could not be read", position);
	return set_of_text(&evidence->signer->maker, text.utf8, text.length);
}

/* A function of PairOptions. */
static Bag
thread_read_set(void *state, const Documents *documents, uint32_t row)
{
	const PairCall *call = state;

	return set_of_row(call, documents == call->against, row).bag;
}

/* Fails unless evidence is of what minhashes of a shape estimate. */
static void
check_scheme(const SignatureHeader *shape, const SignatureHeader *evidence)
{
	char name[2][SCHEME_NAME_SIZE];

	scheme_name(shape->scheme, name[0]);
	scheme_name(evidence->scheme, name[1]);
	if (shape->scheme != evidence->scheme)
		session_fail(NEARDUP_MISMATCH,
					 "shingles of scheme \"%s\" cannot decide on minhashes of scheme \"%s\"",
					 name[1], name[0]);
}

/* Sets a row's digest of the evidence, and its symbols to NULL if that is empty. */
static void
add_digest(const PairCall *call, int side, const Documents *documents, DocumentRow *row)
{
	const neardup_values *values = call->values[side];
	const neardup_evidence *evidence = values->evidence;
	uint8_t digest[BAG_DIGEST_BYTES];
	Value set;

	if (evidence->digest != NULL)
	{
		row->digest = evidence->digest[value_position(values, documents->rows)];
		return;
	}
	set = set_of_row(call, side, documents->rows);
	check_scheme(&documents->shape, &set.signature.header);
	bag_digest(&set.bag, digest);
	memcpy(&row->digest, digest, sizeof(row->digest));
	if (set.bag.count == 0)
		row->symbols = NULL;
	bag_free(&set.bag);
}

/*
 * Adds a value, the next one of a side, to documents; one that is left out is in no pair, as an
 * empty one.
 */
static void
thread_add_value(const PairCall *call, int side, Documents *documents, Value *value, bool left_out)
{
	DocumentRow row = {0};
	bool empty = left_out || value_is_empty(value);

	check_comparable(value, &documents->shape);
	if (documents->sets)
		row.bag = empty ? NULL : &value->bag;
	else
		row.symbols = empty ? NULL : value->signature.symbols;
	if (row.symbols != NULL && call->values[side]->evidence != NULL)
		add_digest(call, side, documents, &row);
	documents_add(documents, &row);
	if (documents->sets)
		bag_free(&value->bag);
	host_free((void *) value->signature.symbols);
}

/* Sets the shape of a side by its first value, or by other documents; fails unless evidence has it. */
static void
set_shape(const neardup_values *values, const Documents *others, const SignatureHeader *first,
		  SignatureHeader *shape)
{
	*shape = others != NULL && others->shape.version > 0 ? others->shape : *first;
	if (values->evidence != NULL && values->evidence->signer != NULL)
		check_scheme(shape, &values->evidence->signer->maker.header);
}

/*
 * Returns the documents of a side, which are comparable with the documents of `others`, if there are any.
 * Values of other blocks than a and b are left out.
 */
static Documents *
read_documents(const PairCall *call, int side, const Documents *others, uint32_t blocks)
{
	const neardup_values *values = call->values[side];
	Documents *documents = documents_begin(&call->pair, values->kind == NEARDUP_SHINGLES, false);
	const neardup_part *part = &call->part;
	uint32_t block = part->b;

	if (values->count >= NO_ROW / 2)
		session_fail(NEARDUP_TOO_LARGE, "there are more than %u values", NO_ROW / 2);
	documents->rows_max = values->count;
	for (uint32_t row = 0; row < values->count; row++)
	{
		Value value;

		host_check_interrupts_at(row);
		if (row_is_lone(&call->others, values, row))
		{
			documents_add(documents, &(DocumentRow){0});
			continue;
		}
		value = value_at(values, row, &block, blocks);
		if (documents->shape.version == 0)
			set_shape(values, others, &value.signature.header, &documents->shape);
		if (call->in_b != NULL)
			call->in_b[row] = block == part->b;
		thread_add_value(call, side, documents, &value, block != part->a && block != part->b);
	}
	documents_done(documents);
	return documents;
}

/* ---- Calls ---------------------------------------------------------------- */

/* Returns how many bytes a call may take if it is not told: half of the machine's memory. */
size_t
default_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && bytes > 0 ? (size_t) pages / 2 * bytes : MEMORY_UNKNOWN;
}

/* Fails if values have evidence that cannot decide; returns whether they have any. */
static bool
thread_check_evidence(const neardup_values *values, const neardup_values *against)
{
	const neardup_values *all[] = {values, against != NULL ? against : values};

	if ((all[0]->evidence != NULL) != (all[1]->evidence != NULL))
		session_fail(NEARDUP_MISMATCH, "both sides must have evidence, or neither");
	for (int i = 0; i < 2 && values->evidence != NULL; i++)
	{
		const neardup_evidence *evidence = all[i]->evidence;

		if (all[i]->count > 0 && all[i]->kind != NEARDUP_MINHASH)
			session_fail(NEARDUP_INVALID,
						 "texts decide on minhashes only: a simhash estimates no resemblance, and sets of shingles are exact");
		if (evidence->sets != NULL ?
				evidence->sets->kind != NEARDUP_SHINGLES :
				evidence->signer == NULL || evidence->signer->kind != NEARDUP_SHINGLES)
			session_fail(NEARDUP_INVALID, "evidence needs sets of shingles, or a signer of them");
		for (size_t column = 0; column < evidence->columns; column++)
			check_column(evidence->texts + column);
	}
	return values->evidence != NULL;
}

/* Returns the position behind each column of texts. */
static uint64_t *
ends_of_columns(const neardup_evidence *evidence)
{
	uint64_t *end = host_alloc(evidence->columns * sizeof(uint64_t));
	uint64_t texts = 0;

	for (size_t column = 0; column < evidence->columns; column++)
		end[column] = texts += evidence->texts[column].count;
	return end;
}

/* Fails unless there is such a part.  Without blocks, or with `against`, a is b. */
static void
check_part(neardup_part *part, bool against)
{
	if (part->blocks == 0)
		*part = (neardup_part){0};
	else if (against)
		part->a = part->b;
	if (part->blocks > 0 && (part->a > part->b || part->b >= part->blocks))
		session_fail(NEARDUP_INVALID, "of %u blocks, there is no part of blocks %u and %u",
					 part->blocks, part->a, part->b);
}

/* Checks the arguments of a call, and reads its values.  If there are none, their kind is ignored. */
static PairCall *
begin_call(neardup_session *session, const neardup_values *values, const neardup_values *against,
		   const neardup_options *options)
{
	PairCall *call = host_alloc(sizeof(PairCall));
	bool some = values->count > 0;
	bool evidence = thread_check_evidence(values, against);

	if (options->contained != 0 && !(options->contained > 0 && options->contained <= 1 && evidence))
		session_fail(NEARDUP_INVALID,
					 "the share that is contained must be above 0, at most 1, and of texts or sets that decide");
	session_check_threshold(options->threshold);
	if (values->kind == NEARDUP_LEXICON ||
		(against != NULL && against->count > 0 && some && against->kind != values->kind))
		session_fail(NEARDUP_MISMATCH,
					 "both sides must have values of the same kind, which are no lexicons");
	if (some && values->kind != NEARDUP_SHINGLES && (options->multiset || options->containment))
		session_fail(NEARDUP_INVALID, "only shingles are compared by containment or as multisets");
	*call = (PairCall){.session = session,
					   .jobs = options->jobs,
					   .values = {values, against},
					   .part = options->part};
	check_part(&call->part, against != NULL);
	if (against == NULL && call->part.a != call->part.b)
		call->in_b = host_alloc(values->count);
	call->pair =
		(PairOptions){.threshold = options->threshold,
					  .recall = 1,
					  .evidence = evidence,
					  .contained = options->contained,
					  .read_set = evidence ? thread_read_set : NULL,
					  .multiset = options->multiset,
					  .measure = options->containment ? MEASURE_CONTAINMENT : MEASURE_RESEMBLANCE,
					  .memory = options->memory > 0 ? options->memory : default_memory(),
					  .sides = against != NULL ? 2 : 1,
					  .run = thread_run_join,
					  .slow = thread_say_slow,
					  .state = call,
					  .stats = &call->stats};
	for (int side = 0; evidence && side < call->pair.sides; side++)
		call->end[side] = ends_of_columns(call->values[side]->evidence);
	/* By containment, a large share of one set is enough. */
	if (evidence && options->contained == 0)
		call->others = find_others(session, call->values, call->pair.sides, call->pair.threshold);
	call->documents = read_documents(call, 0, NULL, against == NULL ? call->part.blocks : 0);
	if (against != NULL)
		call->against = read_documents(call, 1, call->documents, call->part.blocks);
	return call;
}

/* Frees what a call holds. */
static void
end_call(PairCall *call)
{
	documents_end(call->documents);
	if (call->against != NULL)
		documents_end(call->against);
}

/* ---- Pairs -------------------------------------------------------------- */

/* The pairs of a call, which are sorted. */
typedef struct SortedPairs
{
	PairCall *call;
	Edges edges;
	neardup_take take;
	void *state;
} SortedPairs;

/* A PairSink: keeps the first rows of one list; of two, each row of a with the first of b. */
static bool
keep_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	SortedPairs *pairs = state;
	const Documents *documents = pairs->call->documents;
	const Documents *against = pairs->call->against;
	uint32_t row = documents->first[a];

	if (against == NULL)
		edges_add(&pairs->edges,
				  (LongEdge){Min(row, documents->first[b]), Max(row, documents->first[b]),
							 similarity});
	for (; against != NULL && row != NO_ROW; row = documents->next[row])
		edges_add(&pairs->edges, (LongEdge){row, against->first[b], similarity});
	return true;
}

/* Keeps the pairs of equal rows of one list: of each document, the first with the others. */
static void
keep_equal(SortedPairs *pairs)
{
	const Documents *documents = pairs->call->documents;

	for (uint32_t i = 0; i < documents->count; i++)
		for (uint32_t b = documents->next[documents->first[i]]; b != NO_ROW; b = documents->next[b])
			edges_add(&pairs->edges, (LongEdge){documents->first[i], b, 1});
}

/* Returns the documents that are of block b, or those that are not. */
static DocumentList
documents_of_block(const PairCall *call, bool in_b)
{
	Documents *documents = call->documents;
	uint32_t *chosen = host_alloc(documents->count * sizeof(uint32_t));
	uint32_t count = 0;

	for (uint32_t i = 0; i < documents->count; i++)
		if (call->in_b[documents->first[i]] == in_b)
			chosen[count++] = i;
	return (DocumentList){documents, chosen, count, NULL};
}

/* An EdgeSink: gives a pair to the caller's function. */
static bool
give_pair(void *state, const LongEdge *edge)
{
	const SortedPairs *pairs = state;
	neardup_pair pair = {(uint32_t) edge->second, (uint32_t) edge->first, edge->similarity};

	return pairs->take(pairs->state, &pair);
}

neardup_code
neardup_each_pair(neardup_session *session, const neardup_values *values,
				  const neardup_values *against, const neardup_options *options, neardup_take take,
				  void *state)
{
	SortedPairs pairs = {.take = take, .state = state};
	DocumentList left;
	DocumentList right;
	bool across; /* whether pairs go from block to block */

	SESSION_BEGIN(session);
	pairs.call = begin_call(session, values, against, options);
	pairs.edges.most = EDGE_MEMORY(&pairs.call->pair) / sizeof(LongEdge);
	left = all_documents(pairs.call->documents);
	across = pairs.call->in_b != NULL;
	if (across)
	{
		left = documents_of_block(pairs.call, false);
		right = documents_of_block(pairs.call, true);
	}
	else if (against != NULL)
		right = all_documents(pairs.call->against);
	(void) pairs_join(&left, across || against != NULL ? &right : NULL, UINT64_MAX, keep_pair,
					  &pairs);
	if (!across && against == NULL)
		keep_equal(&pairs);
	end_call(pairs.call);
	edges_give(&pairs.edges, give_pair, &pairs);
	return session_end();
}

/* The pairs of a call, in memory. */
typedef struct FoundPairs
{
	neardup_pair *pair;
	size_t count;
	size_t room;
	size_t most;
} FoundPairs;

/* A neardup_take. */
static bool
take_found(void *state, const neardup_pair *pair)
{
	FoundPairs *found = state;

	if (found->count == found->most)
		session_fail(NEARDUP_TOO_LARGE, "there are more pairs than the memory holds");
	found->pair =
		host_grow(found->pair, &found->room, Max(found->count + 1, 1024), sizeof(neardup_pair));
	session_keep(found->pair);
	found->pair[found->count++] = *pair;
	return true;
}

neardup_code
neardup_pairs(neardup_session *session, const neardup_values *values, const neardup_values *against,
			  const neardup_options *options, neardup_pair **pairs, size_t *count)
{
	size_t memory = options->memory > 0 ? options->memory : default_memory();
	FoundPairs found = {.most = memory / sizeof(neardup_pair)};
	neardup_code code = neardup_each_pair(session, values, against, options, take_found, &found);

	if (code != NEARDUP_OK)
	{
		neardup_free(session, found.pair);
		return code;
	}
	*pairs = found.pair;
	*count = found.count;
	return code;
}

/* ---- Clusters ----------------------------------------------------------- */

neardup_code
neardup_clusters(neardup_session *session, const neardup_values *values,
				 const neardup_values *against, const neardup_options *options, uint32_t *keeper,
				 double *similarity)
{
	Stars stars = {.nearest = options->nearest, .keeper = keeper};
	PairCall *call;

	SESSION_BEGIN(session);
	if (options->part.blocks > 0)
		session_fail(NEARDUP_INVALID, "only pairs are found in parts");
	call = begin_call(session, values, against, options);
	stars.documents = call->documents;
	stars.first = call->documents->first;
	stars.keepers = call->against;
	stars.keeper_first = call->against != NULL ? call->against->first : NULL;
	stars.similarity = similarity != NULL ? similarity : host_alloc(values->count * sizeof(double));
	for (size_t i = 0; i < values->count; i++)
	{
		bool own = against == NULL && row_is_lone(&call->others, values, i);

		keeper[i] = own ? i : NO_ROW;
		stars.similarity[i] = own;
	}
	stars_make(&stars);
	end_call(call);
	return session_end();
}
