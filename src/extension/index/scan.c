/*
 * scan.c: the callbacks of an index scan: rescan, gettuple, getbitmap.
 */
#include "index/scan.h"

#include "access/relscan.h"
#include "access/table.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "types/shingles_type.h"

typedef struct NeardupScan
{
	bool begun;
	bool done; /* there are no matches after those in found */
	bool recheck;
	MatchList found;
	Size next;          /* the match of found that is returned next */
	uint8 *killed;      /* a bit for each of found: its row is dead to all transactions; or NULL */
	bool is_null;       /* the documents in found are NULLs */
	SearchQuery *query; /* the query of a scan in heap order */
	int queries;        /* the number of queries, one for each ball */
	int distance;       /* the distance of the match that was returned last */
	uint64 after;       /* the position where the next round begins */
	Signature origin;   /* the signature from which an ordered scan measures distances */
	Ordering *ordering; /* the state of an ordered scan, else NULL */
	MemoryContext context; /* the context of matches, queries and ordering; reset by a rescan */
} NeardupScan;

/* ambeginscan: allocates the state of a scan. */
IndexScanDesc
neardup_beginscan(Relation index, int keys, int orderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, orderbys);
	NeardupScan *state = palloc0(sizeof(NeardupScan));

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

/* ---- Killing -------------------------------------------------------------- */

/* Notes that the row of the match returned last is dead to all transactions. */
static void
note_killed(NeardupScan *state)
{
	Size match = state->next - 1;

	if (state->killed == NULL)
		state->killed = MemoryContextAllocZero(state->context, state->found.count / 8 + 1);
	state->killed[match / 8] |= 1 << match % 8;
}

/* Marks the documents of these rows, before the matches are forgotten. */
static void
kill_noted(IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;

	if (state->killed == NULL)
		return;
	matches_kill(scan->indexRelation, &state->found, state->killed);
	pfree(state->killed);
	state->killed = NULL;
}

/* amrescan: copies the keys; the next call searches afresh. */
void
neardup_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	NeardupScan *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, scan->numberOfOrderBys * sizeof(ScanKeyData));
	kill_noted(scan);
	MemoryContextReset(state->context);
	*state = (NeardupScan){.context = state->context};
}

/* amendscan: frees the state. */
void
neardup_endscan(IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;

	kill_noted(scan);
	MemoryContextDelete(state->context);
	pfree(state);
}

/* ---- Searching ---------------------------------------------------------- */

/*
 * Begins a search of each ball or, if there are conditions on keys only, of all living documents.
 * Matches are returned in the order of their distance from an origin, or in heap order if that
 * is NULL.
 */
static void
begin_search(IndexScanDesc scan, const ScanConditions *conditions, const Signature *origin)
{
	NeardupScan *state = scan->opaque;
	SearchQuery query = {.filter = conditions->filter,
						 .by_distance = origin != NULL,
						 .origin = origin,
						 .method = neardup_search,
						 .killed = !scan->ignore_killed_tuples,
						 .snapshot = scan->xs_snapshot};

	if (scan->numberOfKeys == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a scan of index \"%s\" needs a condition or an order",
						RelationGetRelationName(scan->indexRelation))));
	state->queries = Max(conditions->balls, 1);
	state->query = palloc(state->queries * sizeof(SearchQuery));
	for (int i = 0; i < conditions->balls; i++)
	{
		const Ball *ball = &conditions->ball[i];

		query.centre = ball->centre;
		query.radius = ball->header.radius;
		if (ball->set != NULL)
		{
			query.set = set_query(&ball->centre, ball_measure(ball), ball->header.threshold);
			query.radius = SET_DISTANCE_MAX;
		}
		if (ball->set != NULL && origin != NULL)
			query.set_origin = set_query(origin, MEASURE_RESEMBLANCE, 0);
		state->query[i] = query;
	}
	if (conditions->ball == NULL)
	{
		query.flag_mask = TID_DEAD;
		state->query[0] = query;
	}
}

/*
 * Begins a scan in the order of distances.  If the signature to order by is NULL, every
 * distance is NULL.  If the scan also has a ball, only documents within it are returned: those
 * near its own centre by searches with growing radii, others by a search and a sort.
 */
static void
begin_ordering(IndexScanDesc scan, const ScanConditions *conditions)
{
	NeardupScan *state = scan->opaque;
	ScanKey key = &scan->orderByData[0];
	bool is_null = (key->sk_flags & SK_ISNULL) != 0;
	int limit = -1;

	if (scan->numberOfOrderBys > 1 || key->sk_attno != index_cache(scan->indexRelation)->signature)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" can order by one distance only",
						RelationGetRelationName(scan->indexRelation))));
	if (!is_null && index_cache(scan->indexRelation)->sets)
		state->origin = signature_of_set(shingles_to_sketch(key->sk_argument));
	else if (!is_null)
		state->origin = signature_of_datum(key->sk_argument);
	if (conditions->balls == 1 && conditions->ball[0].set == NULL && !is_null &&
		signature_compare(&conditions->ball[0].centre, &state->origin) == 0)
		limit = conditions->ball[0].header.radius;
	else if (conditions->ball != NULL)
	{
		begin_search(scan, conditions, is_null ? NULL : &state->origin);
		return;
	}
	state->ordering =
		ordering_begin(scan->indexRelation, is_null ? NULL : &state->origin, limit,
					   conditions->filter, !scan->ignore_killed_tuples, scan->xs_snapshot);
}

/* Begins to search, when the first match is asked for. */
static void
scan_begin(IndexScanDesc scan, MatchReceiver receiver, void *receiver_state)
{
	NeardupScan *state = scan->opaque;
	MemoryContext old_context = MemoryContextSwitchTo(state->context);
	ScanConditions conditions;

	pgstat_count_index_scan(scan->indexRelation);
	compat_count_search(scan);
	state->begun = true;
	state->found = (MatchList){.receiver = receiver,
							   .receiver_state = receiver_state,
							   .some = receiver == NULL ? host_limit(SOME_FIRST) : 0,
							   .positions_most = receiver == NULL ? host_limit(POSITIONS_MOST) : 0};
	conditions = scan_conditions(scan);
	/*
	 * The index computes the operator's own distances.  But it collects matches ahead, which
	 * only an MVCC snapshot allows: that does not see what was inserted since.
	 */
	state->recheck = !conditions.complete || !IsMVCCSnapshot(scan->xs_snapshot);
	state->done = conditions.nothing;
	if (state->done)
		;
	else if (scan->numberOfOrderBys > 0)
		begin_ordering(scan, &conditions);
	else
		begin_search(scan, &conditions, NULL);
	MemoryContextSwitchTo(old_context);
}

/* Collects the next matches, as many as memory holds. */
static void
fetch_batch(IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;
	MemoryContext old_context = MemoryContextSwitchTo(state->context);

	kill_noted(scan);
	state->next = 0;
	if (state->ordering != NULL)
		state->done = !ordering_next(state->ordering, &state->found, &state->is_null);
	else
		state->done = index_search(scan->indexRelation, state->query, state->queries, &state->found,
								   &state->after, NULL, NULL);
	MemoryContextSwitchTo(old_context);
}

/* Sets the distance of a match, as the operator returns it. */
static void
set_distance(IndexScanDesc scan, int distance)
{
	NeardupScan *state = scan->opaque;
	bool is_null = state->is_null || (scan->orderByData[0].sk_flags & SK_ISNULL);
	bool sets = index_cache(scan->indexRelation)->sets;
	double value = 1;

	/* A distance of sets is a lower bound, but 1: the executor sorts rows whose bounds are equal. */
	scan->xs_recheckorderby = sets && !is_null;
	scan->xs_orderbynulls[0] = is_null;
	if (is_null)
		scan->xs_orderbyvals[0] = (Datum) 0;
	else if (!sets && scan->orderByData[0].sk_strategy == STRATEGY_SYMBOLS)
		scan->xs_orderbyvals[0] = Int32GetDatum(distance);
	else
	{
		if (!sets)
			value -= signature_similarity(&state->origin.header, distance);
		else if (distance < SET_DISTANCE_MAX)
			value = (double) distance / SET_DISTANCES;
		if (!FLOAT8PASSBYVAL && DatumGetPointer(scan->xs_orderbyvals[0]) != NULL)
			pfree(DatumGetPointer(scan->xs_orderbyvals[0]));
		scan->xs_orderbyvals[0] = Float8GetDatum(value);
	}
}

/*
 * Takes the next match of a batch, or returns 0 if none is left.  Raises an error if it is less than
 * the one before, or nearer than those of the batch before.  A TID that VACUUM has let be used again may
 * have two entries, whose matches are taken once.
 */
static uint64
take_match(const IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;
	const MatchList *found = &state->found;

	while (state->next < found->count)
	{
		uint64 before =
			state->next == 0 ? MATCH_FIRST(state->distance) : found->match[state->next - 1];
		uint64 match = found->match[state->next++];

		if (match < before)
			elog(ERROR, "rows of index \"%s\" are out of order",
				 RelationGetRelationName(scan->indexRelation));
		state->distance = match_distance(match);
		if (match > before)
			return match;
	}
	return 0;
}

/* amgettuple: returns the next match, and searches for matches first if there are none left. */
bool
neardup_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	NeardupScan *state = scan->opaque;
	uint64 match;

	if (!state->begun)
		scan_begin(scan, NULL, NULL);
	else if (scan->kill_prior_tuple && state->next > 0)
		note_killed(state);
	while ((match = take_match(scan)) == 0 && !state->done)
		fetch_batch(scan);
	if (match == 0)
		return false;
	scan->xs_heaptid = match_tid(match);
	scan->xs_recheck = state->recheck;
	if (scan->numberOfOrderBys > 0)
		set_distance(scan, match_distance(match));
	return true;
}

/* ---- Bitmaps ------------------------------------------------------------ */

/* Matches that are added to a bitmap at a time. */
#define BITMAP_BATCH 256

typedef struct BitmapState
{
	TIDBitmap *bitmap;
	NeardupScan *scan;
	int64 count;
} BitmapState;

/* A MatchReceiver.  A bitmap is a set: a search that starts again may add a match twice. */
static void
add_to_bitmap(void *state, const uint64 *match, Size count)
{
	BitmapState *target = state;
	ItemPointerData tid[BITMAP_BATCH];

	for (Size i = 0; i < count; i++)
		tid[i] = match_tid(match[i]);
	tbm_add_tuples(target->bitmap, tid, (int) count, target->scan->recheck);
	target->count += count;
}

/*
 * Adds all pages of the table, whose rows the executor then tests.  The planner may scan
 * a partial index only for its predicate.  No search returns NULLs and empty signatures,
 * but their rows may satisfy the predicate.
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

/* amgetbitmap: adds all matches to a bitmap. */
int64
neardup_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	NeardupScan *state = scan->opaque;
	BitmapState target = {.bitmap = bitmap, .scan = state};

	if (scan->numberOfKeys == 0)
		return add_all_pages(scan, bitmap);
	scan_begin(scan, add_to_bitmap, &target);
	if (!state->done)
	{
		state->query[0].limit = BITMAP_BATCH;
		fetch_batch(scan);
	}
	return target.count;
}
