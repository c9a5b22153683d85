/*
 * scan.c: the callbacks of an index scan, and what an executor's keys say.
 */
#include "index/index.h"

#include "access/relscan.h"
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
	Signature origin;      /* that distances are measured from */
	Ordering *ordering;    /* NULL: found is all there is */
	MemoryContext context; /* of ordering; reset by a rescan */
	MemoryContext batch;   /* of found */
} BallScan;

IndexScanDesc
neardup_beginscan(Relation index, int keys, int orderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, orderbys);
	BallScan *state = palloc0(sizeof(BallScan));

	state->context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup scan", ALLOCSET_SMALL_SIZES);
	state->batch =
		AllocSetContextCreate(CurrentMemoryContext, "neardup matches", ALLOCSET_SMALL_SIZES);
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
	memset(&state->found, 0, sizeof(MatchList));
	MemoryContextReset(state->context);
	MemoryContextReset(state->batch);
}

void
neardup_endscan(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;

	MemoryContextDelete(state->context);
	MemoryContextDelete(state->batch);
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

static bool
is_same_signature(const Signature *x, const Signature *y)
{
	return x->header.k == y->header.k && x->header.scheme == y->header.scheme &&
		((x->header.flags ^ y->header.flags) & SIGNATURE_SAME_FLAGS) == 0 &&
		memcmp(x->symbols, y->symbols, signature_symbol_bytes(&x->header)) == 0;
}

/* ---- Searching ---------------------------------------------------------- */

static int
compare_tids(const void *x, const void *y)
{
	return ItemPointerCompare((ItemPointer) & ((const Match *) x)->tid,
							  (ItemPointer) & ((const Match *) y)->tid);
}

/* Collect all matches, in the order of the heap. */
static void
search_ball(IndexScanDesc scan)
{
	BallScan *state = scan->opaque;
	Ball ball;

	if (scan->numberOfKeys == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a scan of index \"%s\" needs a condition or an order",
						RelationGetRelationName(scan->indexRelation))));
	if (ball_of_keys(scan, &ball))
	{
		SearchQuery query = {ball.centre, -1, ball.header.radius, neardup_search, NULL, 0, 0};
		MemoryContext before = MemoryContextSwitchTo(state->batch);

		index_search(scan->indexRelation, &query, &state->found, NULL, NULL);
		MemoryContextSwitchTo(before);
	}
	if (state->found.count > 1)
		qsort(state->found.match, state->found.count, sizeof(Match), compare_tids);
	state->done = true;
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
	state->ordering = ordering_begin(scan->indexRelation,
									 key->sk_flags & SK_ISNULL ? NULL : &state->origin, limit);
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
	if (scan->numberOfOrderBys > 0)
		begin_ordering(scan);
	else
		search_ball(scan);
	MemoryContextSwitchTo(before);
}

/* The next batch of an ordered scan. */
static void
fetch_batch(BallScan *state)
{
	MemoryContext before;

	MemoryContextReset(state->batch);
	memset(&state->found, 0, sizeof(MatchList));
	state->next = 0;
	before = MemoryContextSwitchTo(state->batch);
	state->done = !ordering_next(state->ordering, &state->found, &state->is_null);
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
	const Match *match;

	if (!state->begun)
		begin(scan);
	while (state->next >= state->found.count && !state->done)
		fetch_batch(state);
	if (state->next >= state->found.count)
		return false;
	match = &state->found.match[state->next++];
	scan->xs_heaptid = match->tid;
	scan->xs_recheck = state->recheck;
	if (scan->numberOfOrderBys > 0)
		set_distance(scan, match->distance);
	return true;
}

int64
neardup_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	BallScan *state = scan->opaque;

	begin(scan);
	for (Size i = 0; i < state->found.count; i++)
	{
		tbm_add_tuples(bitmap, &state->found.match[i].tid, 1, state->recheck);
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return state->found.count;
}
