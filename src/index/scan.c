/*
 * scan.c: the callbacks of an index scan, and what an executor's keys say.
 */
#include "index/index.h"

#include "access/relscan.h"
#include "access/table.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"

typedef struct BallScan
{
	bool begun;
	bool done; /* there is nothing after found */
	bool recheck;
	MatchList found;
	Size next;
	bool is_null;          /* found are NULLs */
	SearchQuery query;     /* without an order */
	Signature origin;      /* that distances are measured from */
	Ordering *ordering;    /* NULL: in the heap's order */
	MemoryContext context; /* of all this; reset by a rescan */
} BallScan;

IndexScanDesc
neardup_beginscan(Relation index, int keys, int orderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, orderbys);
	BallScan *state = palloc0(sizeof(BallScan));

	state->context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup scan", ALLOCSET_SMALL_SIZES);
	if (orderbys > 0)
	{
		scan->xs_orderbyvals = palloc0(sizeof(Datum) * orderbys);
		scan->xs_orderbynulls = palloc(sizeof(bool) * orderbys);
		memset(scan->xs_orderbynulls, true, sizeof(bool) * orderbys);
	}
	scan->opaque = state;
	return scan;
}

void
neardup_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	BallScan *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, scan->numberOfOrderBys * sizeof(ScanKeyData));
	state->begun = state->done = state->is_null = false;
	state->next = 0;
	state->ordering = NULL;
	MemoryContextReset(state->context);
}

void
neardup_endscan(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;

	MemoryContextDelete(state->context);
	pfree(state);
}

/* ---- Keys --------------------------------------------------------------- */

/* An error, as the operator's, also for what will not be searched. */
static void
check_query_shape(Relation index, const SignatureHeader *header)
{
	IndexMeta *meta = meta_read(index);

	if (meta->shape.k != 0)
		index_check_shape(index, &meta->shape, header);
	pfree(meta);
}

/*
 * The ball to search: of several keys the one of least radius, the others are
 * left to a recheck.  False where a key can match nothing.
 */
static bool
ball_of_keys(IndexScanDesc scan, Ball *ball)
{
	ball->header.radius = PG_INT32_MAX;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey key = &scan->keyData[i];
		Ball other;

		if (key->sk_flags & SK_ISNULL)
			return false;
		other = ball_of_datum(key->sk_argument);
		if (i > 0 || signature_is_empty(&other.centre))
			check_query_shape(scan->indexRelation, &other.centre.header);
		if (signature_is_empty(&other.centre))
			return false;
		if (other.header.radius < ball->header.radius)
			*ball = other;
	}
	return true;
}

/*
 * Distances in the index are those of the operator.  But the ball of a stored
 * ball has a radius of its own, and matches are collected ahead, so only a
 * snapshot that cannot see what has come since may trust them.
 */
static bool
needs_recheck(IndexScanDesc scan)
{
	return scan->numberOfKeys > 1 || !IsMVCCSnapshot(scan->xs_snapshot) ||
		(scan->numberOfKeys > 0 && scan->keyData[0].sk_strategy == STRATEGY_BALLS_MEET);
}

/* An empty one may have the symbols of another that is not. */
static bool
is_same_signature(const Signature *x, const Signature *y)
{
	return signature_comparable(&x->header, &y->header) &&
		signature_is_empty(x) == signature_is_empty(y) &&
		memcmp(x->symbols, y->symbols, signature_symbol_bytes(&x->header)) == 0;
}

/* ---- Searching ---------------------------------------------------------- */

/* All matches will come in the order of the heap. */
static void
begin_ball(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;
	Ball ball;

	if (scan->numberOfKeys == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a scan of index \"%s\" needs a condition or an order",
						RelationGetRelationName(scan->indexRelation))));
	state->done = !ball_of_keys(scan, &ball);
	if (!state->done)
		state->query = (SearchQuery){ball.centre, ball.header.radius, false, neardup_search, 0,
									 0,           scan->xs_snapshot};
}

/*
 * Without a signature to order by every distance is NULL, and from an empty
 * one every distance is the same: any order will do, NULLs last.
 */
static void
begin_ordering(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;
	ScanKey key = &scan->orderByData[0];
	Ball ball = {{0}};
	int limit = -1;

	if (scan->numberOfOrderBys > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" can order by one distance only",
						RelationGetRelationName(scan->indexRelation))));
	state->done = !ball_of_keys(scan, &ball);
	if (state->done)
		return;
	if (!(key->sk_flags & SK_ISNULL))
		state->origin = signature_of_datum(key->sk_argument);
	if (scan->numberOfKeys > 0 && !(key->sk_flags & SK_ISNULL) &&
		is_same_signature(&ball.centre, &state->origin))
		limit = ball.header.radius;
	else if (scan->numberOfKeys > 0)
		state->recheck = true;
	state->ordering =
		ordering_begin(scan->indexRelation, key->sk_flags & SK_ISNULL ? NULL : &state->origin,
					   limit, scan->xs_snapshot);
}

static void
begin(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;
	MemoryContext before = MemoryContextSwitchTo(state->context);

	pgstat_count_index_scan(scan->indexRelation);
	compat_count_search(scan);
	state->begun = true;
	state->recheck = needs_recheck(scan);
	matches_begin(&state->found);
	if (scan->numberOfOrderBys > 0)
		begin_ordering(scan);
	else
		begin_ball(scan);
	MemoryContextSwitchTo(before);
}

/* Matches beyond those before, as many as memory holds. */
static void
search_on(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;

	index_search(scan->indexRelation, &state->query, &state->found, NULL, NULL);
	state->done = !matches_is_cut(&state->found);
	state->found.after = state->found.ceiling - 1;
	matches_sort(&state->found);
}

static void
fetch_batch(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;
	MemoryContext before = MemoryContextSwitchTo(state->context);

	state->next = 0;
	if (state->ordering != NULL)
		state->done = !ordering_next(state->ordering, &state->found, &state->is_null);
	else
		search_on(scan);
	MemoryContextSwitchTo(before);
}

/* What the operator would return for the match. */
static void
set_distance(IndexScanDesc scan, int distance)
{
	BallScan *state = scan->opaque;
	bool is_null = state->is_null || (scan->orderByData[0].sk_flags & SK_ISNULL);

	scan->xs_recheckorderby = false;
	scan->xs_orderbynulls[0] = is_null;
	if (is_null)
		scan->xs_orderbyvals[0] = (Datum) 0;
	else if (scan->orderByData[0].sk_strategy == STRATEGY_SYMBOLS)
		scan->xs_orderbyvals[0] = Int32GetDatum(distance);
	else
	{
		if (!FLOAT8PASSBYVAL && DatumGetPointer(scan->xs_orderbyvals[0]) != NULL)
			pfree(DatumGetPointer(scan->xs_orderbyvals[0]));
		scan->xs_orderbyvals[0] =
			Float8GetDatum(1 - signature_similarity(&state->origin.header, distance));
	}
}

bool
neardup_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	BallScan *state = scan->opaque;
	uint64 match;

	if (!state->begun)
		begin(scan);
	while (state->next >= state->found.count && !state->done)
		fetch_batch(scan);
	if (state->next >= state->found.count)
		return false;
	match = state->found.match[state->next++];
	scan->xs_heaptid = match_tid(match);
	scan->xs_recheck = state->recheck;
	if (scan->numberOfOrderBys > 0)
		set_distance(scan, match_distance(match));
	return true;
}

/* ---- Bitmaps ------------------------------------------------------------ */

/* Matches that are handed on at a time. */
#define BITMAP_BATCH 256

typedef struct BitmapSink
{
	TIDBitmap *bitmap;
	bool recheck;
	int64 count;
} BitmapSink;

/* A search that starts again adds the same once more, which changes nothing. */
static void
add_to_bitmap(void *state, const uint64 *match, Size count)
{
	BitmapSink *sink = state;
	ItemPointerData tid[BITMAP_BATCH];

	for (Size i = 0; i < count; i++)
		tid[i] = match_tid(match[i]);
	tbm_add_tuples(sink->bitmap, tid, (int) count, sink->recheck);
	sink->count += count;
}

/*
 * A partial index may be scanned for the sake of its predicate alone.  It does
 * not hold NULLs and empty signatures, so that is answered with all pages of the
 * table, whose rows the executor looks at itself.
 */
static int64
add_all_pages(IndexScanDesc scan, TIDBitmap *bitmap)
{
	Relation table = table_open(scan->indexRelation->rd_index->indrelid, NoLock);
	BlockNumber blocks = RelationGetNumberOfBlocks(table);

	for (BlockNumber block = 0; block < blocks; block++)
	{
		tbm_add_page(bitmap, block);
		CHECK_FOR_INTERRUPTS();
	}
	table_close(table, NoLock);
	return blocks;
}

int64
neardup_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	BallScan *state = scan->opaque;
	BitmapSink sink = {bitmap, false, 0};

	if (scan->numberOfKeys == 0)
		return add_all_pages(scan, bitmap);
	begin(scan);
	sink.recheck = state->recheck;
	state->found.most = BITMAP_BATCH;
	state->found.spill = add_to_bitmap;
	state->found.spill_state = &sink;
	if (!state->done)
	{
		fetch_batch(scan);
		matches_spill(&state->found);
	}
	return sink.count;
}
