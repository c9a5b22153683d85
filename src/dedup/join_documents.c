/*
 * join_documents.c: joins the documents of one source or two.
 *
 * Signatures are joined by join/join.c, in pieces if there are more of them than
 * maintenance_work_mem holds; sets are joined by join/sets.c.  With "verify",
 * the pairs found are then compared by their evidence.
 */
#include "dedup/dedup.h"

#include "utils/memutils.h"

#include "join/sets.h"

/* A run of a list of documents, in memory. */
typedef struct Piece
{
	uint32 from; /* place in the list */
	uint32 count;
	const uint8 *packed;
	uint8 *buffer; /* copy that packed points to, or NULL */
} Piece;

/* The state of a join. */
typedef struct Engine
{
	const Documents *left;
	const Documents *right; /* left itself if there is one list */
	const Options *options;
	PairSink sink;
	void *state;
	bool stopped; /* by the sink */
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

/* Returns the similarity of two documents by their evidence. */
static double
evidence_similarity(Source *left, uint32 a, Source *right, uint32 b)
{
	Shingles *x = blobs_get(&left->blobs, left->evidence[a]);
	Shingles *y = blobs_get(&right->blobs, right->evidence[b]);
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

/* Passes a pair on to the sink unless its evidence is not similar enough. */
static bool
pass_pair(Engine *engine, uint32 a, uint32 b, double similarity)
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

/* A JoinEmit. */
static bool
take_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Engine *engine = state;

	return pass_pair(engine, document_at(engine->left, engine->left_piece->from + a),
					 document_at(engine->right, engine->right_piece->from + b),
					 signature_similarity(&engine->left->source->shape, distance));
}

/* A JoinProgress: counts the groups of all joins. */
static void
take_progress(void *state, int done, int groups)
{
	Engine *engine = state;

	progress_groups(engine->joins_done * groups + done, engine->joins * groups);
}

/* Returns how many documents of a list are joined at a time. */
static uint32
piece_size(const Documents *list)
{
	const Records *records = list->source->records;

	return records->file == NULL ? list->count : Max(records->limit / 2, 1);
}

static uint32
piece_count(const Documents *list)
{
	uint32 size = piece_size(list);

	return list->count / size + (list->count % size > 0);
}

/* Brings a piece of a list into memory, without a copy if the records lie there in order. */
static Piece
load_piece(const Documents *list, uint32 number)
{
	Records *records = list->source->records;
	uint32 size = piece_size(list);
	Piece piece = {.from = number * size,
				   .count = Min(size, list->count - number * size),
				   .packed = records->memory};

	/* A list is ascending, so one of as many documents has all of them in order. */
	if (records->file == NULL && list->count == records->count)
		return piece;
	piece.buffer = palloc_extended(piece.count * records->stride, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < piece.count; i++)
	{
		uint8 *to = piece.buffer + i * records->stride;
		const uint8 *record = records_get(records, document_at(list, piece.from + i), to);

		if (record != to)
			memcpy(to, record, records->stride);
		host_check_interrupts_at(i);
	}
	piece.packed = piece.buffer;
	return piece;
}

static void
free_piece(Piece *piece)
{
	if (piece->buffer != NULL)
		pfree(piece->buffer);
}

/* Joins two pieces, or a piece with itself. */
static void
join_pieces(Engine *engine, const Piece *left, const Piece *right)
{
	const SignatureHeader *shape = &engine->left->source->shape;
	CallStats *all_stats = engine->options->stats;
	JoinStats stats = {0};
	SymbolJoin join = {.k = shape->k,
					   .b = signature_bits(shape),
					   .h = signature_radius(shape, engine->options->threshold),
					   .stride = engine->left->source->records->stride,
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
	join_in_parallel(&join, &plan, &all_stats->workers);
	if (all_stats->joins++ == 0)
	{
		all_stats->groups = plan.groups;
		all_stats->radius = plan.radius;
		all_stats->one_more = plan.one_more;
	}
	all_stats->met += stats.met;
	all_stats->compared += stats.compared;
	engine->joins_done++;
}

/* Joins lists of signatures, each pair of pieces once. */
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
			free_piece(&right);
		}
		free_piece(&left);
	}
}

/* ---- Sets --------------------------------------------------------------- */

/* A SetPairSink.  It cannot end the join, so it ignores what comes after the end. */
static void
take_sets(void *state, uint32_t a, uint32_t b, double similarity)
{
	Engine *engine = state;

	if (!engine->stopped)
		pass_pair(engine, document_at(engine->left, a), document_at(engine->right, b), similarity);
}

static Bag *
gather_bags(const Documents *list)
{
	Bag *bags = palloc_extended((Size) list->count * sizeof(Bag), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < list->count; i++)
		bags[i] = list->source->bag[document_at(list, i)];
	return bags;
}

/* Joins lists of sets. */
static void
join_sets(Engine *engine)
{
	bool self = engine->left == engine->right;
	Bag *left = gather_bags(engine->left);
	Bag *right = self ? NULL : gather_bags(engine->right);
	CallStats *all_stats = engine->options->stats;
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
	all_stats->sets = true;
	if (all_stats->joins++ == 0)
		all_stats->partitions = (int64) stats.partitions;
	all_stats->met += (int64) (stats.length + stats.frequency + stats.compared);
	all_stats->length += (int64) stats.length;
	all_stats->frequency += (int64) stats.frequency;
	all_stats->compared += (int64) stats.compared;
	pfree(left);
	if (right != NULL)
		pfree(right);
}

/* ---- Both --------------------------------------------------------------- */

bool
documents_join(const Documents *left, const Documents *right, PairSink sink, void *state)
{
	Engine engine = {.left = left,
					 .right = right ? right : left,
					 .options = left->source->options,
					 .sink = sink,
					 .state = state};

	if (left->count == 0 || engine.right->count == 0)
		return true;
	if (left->source->sets)
		join_sets(&engine);
	else
		join_signatures(&engine);
	return !engine.stopped;
}

double
documents_similarity(Source *source, uint32 a, uint32 b)
{
	Records *records = source->records;
	uint8 *x;
	uint8 *y;
	int distance;

	if (source->options->verify > 0)
		return evidence_similarity(source, a, source, b);
	if (source->sets)
		return source->options->multiset ?
			bag_weighted_resemblance(source->bag + a, source->bag + b) :
			bag_resemblance(source->bag + a, source->bag + b);
	x = palloc(records->stride);
	y = palloc(records->stride);
	distance = symbol_distance(records_get(records, a, x), records_get(records, b, y),
							   source->shape.k, signature_bits(&source->shape));
	pfree(x);
	pfree(y);
	return signature_similarity(&source->shape, distance);
}
