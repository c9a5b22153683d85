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
	bool		searched;
	TidList		found;
	Size		next;
	MemoryContext context;		/* of found; reset by a rescan */
} BallScan;

IndexScanDesc
neardup_beginscan(Relation index, int keys, int orderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, orderbys);
	BallScan  *state = palloc0(sizeof(BallScan));

	state->context = AllocSetContextCreate(CurrentMemoryContext, "neardup scan",
										   ALLOCSET_SMALL_SIZES);
	scan->opaque = state;
	return scan;
}

void
neardup_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	BallScan  *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	state->searched = false;
	state->next = 0;
	memset(&state->found, 0, sizeof(TidList));
	MemoryContextReset(state->context);
}

void
neardup_endscan(IndexScanDesc scan)
{
	BallScan  *state = scan->opaque;

	MemoryContextDelete(state->context);
	pfree(state);
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
		ScanKey		key = &scan->keyData[i];
		Ball		other;

		if (key->sk_flags & SK_ISNULL)
			return false;
		other = ball_of_datum(key->sk_argument);
		if (signature_is_empty(&other.centre))
			return false;
		if (other.header.radius < ball->header.radius)
			*ball = other;
	}
	return scan->numberOfKeys > 0;
}

static int
compare_tids(const void *x, const void *y)
{
	return ItemPointerCompare((ItemPointer) x, (ItemPointer) y);
}

/* Collect all matches, in the order of the heap. */
static void
search(IndexScanDesc scan)
{
	BallScan  *state = scan->opaque;
	MemoryContext before = MemoryContextSwitchTo(state->context);
	Ball		ball;

	pgstat_count_index_scan(scan->indexRelation);
	if (ball_of_keys(scan, &ball))
		index_search(scan->indexRelation, &ball, neardup_search, &state->found, NULL, NULL);
	if (state->found.count > 1)
		qsort(state->found.tid, state->found.count, sizeof(ItemPointerData), compare_tids);
	MemoryContextSwitchTo(before);
	state->searched = true;
}

/*
 * Distances in the index are those of the operator.  But matches are collected
 * ahead, so only a snapshot that cannot see what has come since may trust them.
 */
static bool
needs_recheck(IndexScanDesc scan)
{
	return scan->numberOfKeys > 1 || !IsMVCCSnapshot(scan->xs_snapshot);
}

bool
neardup_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	BallScan  *state = scan->opaque;

	if (!state->searched)
		search(scan);
	if (state->next >= state->found.count)
		return false;
	scan->xs_heaptid = state->found.tid[state->next++];
	scan->xs_recheck = needs_recheck(scan);
	return true;
}

int64
neardup_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	BallScan  *state = scan->opaque;

	search(scan);
	for (Size done = 0; done < state->found.count;)
	{
		int			n = (int) Min(state->found.count - done, 1024);

		tbm_add_tuples(bitmap, state->found.tid + done, n, scan->numberOfKeys > 1);
		done += n;
		CHECK_FOR_INTERRUPTS();
	}
	return state->found.count;
}
