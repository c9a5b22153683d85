/*
 * join.c: the documents of one source or two, joined.
 *
 * Signatures are joined by join/join.c, piece by piece where they are more
 * than maintenance_work_mem holds; sets by join/sets.c.  Where pairs are
 * verified, what either finds is compared by its evidence.
 */
#include "dedup/dedup.h"

#include "utils/memutils.h"

#include "dedup/parallel.h"
#include "join/join.h"
#include "join/sets.h"

/* Documents in memory, and what they are called. */
typedef struct Piece
{
	uint32 from; /* place in the list */
	uint32 count;
	const uint8 *packed;
	uint8 *buffer; /* NULL where packed needed none */
} Piece;

typedef struct Engine
{
	const Documents *left;
	const Documents *right;
	const Options *options;
	PairSink sink;
	void *state;
	bool stopped;
	const Piece *left_piece;
	const Piece *right_piece;
	int64 joins_done;
	int64 joins;
} Engine;

static uint32
document_at(const Documents *list, uint32 place)
{
	return list->doc == NULL ? place : list->doc[place];
}

/* ---- Evidence ----------------------------------------------------------- */

static double
evidence_similarity(Source *left, uint32 a, Source *right, uint32 b)
{
	Shingles *x = heap_read(&left->heap, left->evidence[a]);
	Shingles *y = heap_read(&right->heap, right->evidence[b]);
	Bag bag_x = shingles_bag(x);
	Bag bag_y = shingles_bag(y);
	double similarity;

	check_same_recipe("shingles", x->version, x->scheme, y->version, y->scheme);
	similarity = left->options->multiset ? bag_weighted_resemblance(&bag_x, &bag_y) :
										   bag_resemblance(&bag_x, &bag_y);
	pfree(x);
	pfree(y);
	return similarity;
}

/* A pair of documents that reaches the threshold. */
static bool
hand_out(Engine *engine, uint32 a, uint32 b, double similarity)
{
	double least = engine->options->verify;

	if (least > 0)
	{
		similarity = evidence_similarity(engine->left->source, a, engine->right->source, b);
		if (similarity < least)
			return true;
	}
	progress_pair();
	engine->options->stats->pairs++;
	engine->stopped = !engine->sink(engine->state, a, b, similarity);
	return !engine->stopped;
}

/* ---- Signatures --------------------------------------------------------- */

static bool
take_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Engine *engine = state;

	return hand_out(engine, document_at(engine->left, engine->left_piece->from + a),
					document_at(engine->right, engine->right_piece->from + b),
					signature_similarity(&engine->left->source->shape, distance));
}

static void
take_progress(void *state, int done, int groups)
{
	Engine *engine = state;

	progress_groups(engine->joins_done * groups + done, engine->joins * groups);
}

/* So many documents are joined with as many others at a time. */
static uint32
piece_documents(const Documents *list)
{
	const Store *store = list->source->store;

	return store->file == NULL ? list->count : Max(store->limit / 2, 1);
}

static uint32
piece_count(const Documents *list)
{
	uint32 most = piece_documents(list);

	return list->count / most + (list->count % most > 0);
}

static Piece
load_piece(const Documents *list, uint32 number)
{
	Store *store = list->source->store;
	uint32 most = piece_documents(list);
	Piece piece = {number * most, Min(most, list->count - number * most), store->memory, NULL};

	/* Ascending, and as many as there are: all of them in order. */
	if (store->file == NULL && list->count == store->records)
		return piece;
	piece.buffer = palloc_extended(piece.count * store->stride, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < piece.count; i++)
	{
		uint8 *to = piece.buffer + i * store->stride;
		const uint8 *record = store_record(store, document_at(list, piece.from + i), to);

		if (record != to)
			memcpy(to, record, store->stride);
		if (i % 4096 == 0)
			host_check_interrupts();
	}
	piece.packed = piece.buffer;
	return piece;
}

static void
drop_piece(Piece *piece)
{
	if (piece->buffer != NULL)
		pfree(piece->buffer);
}

/* What a join did, and what the first one had in mind. */
static void
add_stats(CallStats *stats, const JoinPlan *plan, const JoinStats *join)
{
	if (stats->joins++ == 0)
	{
		stats->groups = plan->groups;
		stats->radius = plan->radius;
		stats->one_more = plan->one_more;
	}
	stats->met += join->met;
	stats->compared += join->compared;
}

static void
join_pieces(Engine *engine, const Piece *left, const Piece *right)
{
	const SignatureHeader *shape = &engine->left->source->shape;
	JoinStats stats = {0};
	SymbolJoin join = {.k = shape->k,
					   .b = signature_bits(shape),
					   .h = signature_radius(shape, engine->options->threshold),
					   .stride = engine->left->source->store->stride,
					   .recall = engine->options->recall,
					   .left = {left->packed, left->count},
					   .right = {left == right ? NULL : right->packed, right->count},
					   .emit = take_pair,
					   .progress = take_progress,
					   .state = engine,
					   .stats = &stats};
	JoinPlan plan = join_plan(&join);

	engine->left_piece = left;
	engine->right_piece = right;
	join_in_parallel(&join, &plan, &engine->options->stats->workers);
	add_stats(engine->options->stats, &plan, &stats);
	engine->joins_done++;
}

static void
join_signatures(Engine *engine)
{
	bool self = engine->left == engine->right;
	uint32 pieces = piece_count(engine->left);
	uint32 others = piece_count(engine->right);

	engine->joins = self ? (int64) pieces * (pieces + 1) / 2 : (int64) pieces * others;
	for (uint32 i = 0; i < pieces && !engine->stopped; i++)
	{
		Piece left = load_piece(engine->left, i);

		if (self)
			join_pieces(engine, &left, &left);
		for (uint32 j = self ? i + 1 : 0; j < others && !engine->stopped; j++)
		{
			Piece right = load_piece(engine->right, j);

			join_pieces(engine, &left, &right);
			drop_piece(&right);
		}
		drop_piece(&left);
	}
}

/* ---- Sets --------------------------------------------------------------- */

static void
take_sets(void *state, uint32_t a, uint32_t b, double similarity)
{
	Engine *engine = state;

	if (!engine->stopped)
		hand_out(engine, document_at(engine->left, a), document_at(engine->right, b), similarity);
}

static Bag *
gather_bags(const Documents *list)
{
	Bag *bags = palloc_extended((Size) list->count * sizeof(Bag), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < list->count; i++)
		bags[i] = list->source->bag[document_at(list, i)];
	return bags;
}

static void
add_set_stats(CallStats *stats, const SetJoinStats *join)
{
	stats->sets = true;
	if (stats->joins++ == 0)
		stats->partitions = (int64) join->partitions;
	stats->met += (int64) (join->length + join->frequency + join->compared);
	stats->length += (int64) join->length;
	stats->frequency += (int64) join->frequency;
	stats->compared += (int64) join->compared;
}

static void
join_sets(Engine *engine)
{
	bool self = engine->left == engine->right;
	Bag *left = gather_bags(engine->left);
	Bag *right = self ? NULL : gather_bags(engine->right);
	SetJoinStats stats;
	SetJoin join = {.left = left,
					.left_count = engine->left->count,
					.right = right,
					.right_count = self ? 0 : engine->right->count,
					.threshold = engine->options->threshold,
					.weighted = engine->options->multiset,
					.sink = take_sets,
					.state = engine};

	if (!set_join(&join, &stats))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many shingles to compare at once"),
				 errhint("Compare signatures made of them (to_minhash), with \"verify\".")));
	add_set_stats(engine->options->stats, &stats);
	pfree(left);
	if (right != NULL)
		pfree(right);
}

/* ---- Both --------------------------------------------------------------- */

bool
documents_join(const Documents *left, const Documents *right, PairSink sink, void *state)
{
	Engine engine = {left, right ? right : left, left->source->options, sink, state};

	if (left->count == 0 || engine.right->count == 0)
		return true;
	if (left->source->sets)
		join_sets(&engine);
	else
		join_signatures(&engine);
	return !engine.stopped;
}

static double
similarity_of_records(Source *source, uint32 a, uint32 b)
{
	Store *store = source->store;
	uint8 *x = palloc(store->stride);
	uint8 *y = palloc(store->stride);
	int distance = symbol_distance(store_record(store, a, x), store_record(store, b, y),
								   source->shape.k, signature_bits(&source->shape));

	pfree(x);
	pfree(y);
	return signature_similarity(&source->shape, distance);
}

double
documents_similarity(Source *source, uint32 a, uint32 b)
{
	if (source->options->verify > 0)
		return evidence_similarity(source, a, source, b);
	if (!source->sets)
		return similarity_of_records(source, a, b);
	return source->options->multiset ? bag_weighted_resemblance(source->bag + a, source->bag + b) :
									   bag_resemblance(source->bag + a, source->bag + b);
}
