/*
 * scan_order.c: all documents in the order of their distance.
 *
 * The radius widens step by step, while a step is cheaper than a scan of all
 * documents; each step searches afresh and keeps what comes after the last.
 * Then scans collect what is left, each more than the last, up to what work_mem
 * holds.  So nearby documents come at the price of a search, and where there are
 * none, the price of the first stays within that of two scans.
 */
#include "index/index.h"

/* The first step may cost this part of a scan, and each further one as often as much. */
#define FIRST_STEP (1.0 / 64)
#define STEP_GROWTH 4

/* Steps go on up to this part of a scan. */
#define LAST_STEP 0.5

/*
 * As a rule few are wanted, and a scan is cheap beside sorting all that it finds:
 * the first of them holds so many matches, and each further one so many times as
 * many.
 */
#define FAR_FIRST 1024
#define FAR_GROWTH 16

typedef enum OrderStage
{
	STAGE_NEAR,  /* widening searches */
	STAGE_FAR,   /* scans */
	STAGE_EMPTY, /* empty signatures: as far as can be */
	STAGE_EQUAL, /* or, where no order is better: all but NULLs, then */
	STAGE_NULL,  /* NULLs */
	STAGE_DONE
} OrderStage;

struct Ordering
{
	Relation index;
	Snapshot snapshot;
	Signature centre;
	bool limited;
	int limit;   /* farthest distance wanted */
	int reached; /* all up to here have been returned; -1: none */
	int wanted;  /* how far the search at hand goes */
	OrderStage stage;
	double step; /* part of a scan that the next search may cost */
	Size far;    /* matches that the next scan may hold */
};

Ordering *
ordering_begin(Relation index, const Signature *centre, int limit, Snapshot snapshot)
{
	Ordering *o = palloc0(sizeof(Ordering));

	o->index = index;
	o->snapshot = snapshot;
	if (centre != NULL)
		o->centre = *centre;
	o->stage = centre == NULL || signature_is_empty(centre) ? STAGE_EQUAL : STAGE_NEAR;
	o->limited = limit >= 0;
	o->limit = limit >= 0 ? limit : o->centre.header.k;
	o->reached = o->wanted = -1;
	o->step = FIRST_STEP;
	o->far = FAR_FIRST;
	return o;
}

/*
 * Collect what has not been returned.  False where there is more of it than
 * memory holds.
 */
static bool
collect(Ordering *o, const SearchQuery *query, MatchList *batch)
{
	bool whole;

	index_search(o->index, query, batch, NULL, NULL);
	whole = !matches_is_cut(batch);
	batch->after = whole ? 0 : batch->ceiling - 1;
	matches_sort(batch);
	return whole;
}

/* By distance, as far as is wanted. */
static void
collect_near(Ordering *o, SearchMethod method, MatchList *batch)
{
	SearchQuery query = {o->centre, o->wanted, true, method, 0, 0, o->snapshot};

	if (collect(o, &query, batch))
	{
		o->reached = o->wanted;
		batch->after = MATCH_LAST(o->reached);
	}
}

/* The same by a scan, which holds the nearest of what is left. */
static void
collect_far(Ordering *o, MatchList *batch)
{
	Size most = batch->most;

	batch->most = o->far = Min(o->far, most);
	collect_near(o, SEARCH_SCAN, batch);
	batch->most = most;
	o->far *= FAR_GROWTH;
}

/* Living documents by flags, as far away as can be; then comes the next stage. */
static void
collect_by_flags(Ordering *o, uint16 mask, uint16 flags, OrderStage next, MatchList *batch)
{
	SearchQuery query = {.centre = o->centre,
						 .radius = o->centre.header.k,
						 .by_distance = true,
						 .flag_mask = mask | TID_DEAD,
						 .flags = flags,
						 .snapshot = o->snapshot};

	if (collect(o, &query, batch))
		o->stage = next;
}

/* ---- Near --------------------------------------------------------------- */

/* The widest radius whose search costs at most so much; -1 for none. */
static int
radius_for(const IndexMeta *meta, int limit, double cost)
{
	int low = -1;
	int high = limit;

	while (low < high)
	{
		int middle = low + (high - low + 1) / 2;

		if (search_price(meta, middle) <= cost)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* One step farther; the stage ends where a step costs too much. */
static void
widen(Ordering *o)
{
	IndexMeta *meta = meta_read(o->index);
	double scan = search_price(meta, -1);

	for (; o->wanted <= o->reached && o->step <= LAST_STEP; o->step *= STEP_GROWTH)
		o->wanted = radius_for(meta, o->limit, o->step * scan);
	pfree(meta);
	if (o->wanted > o->reached)
		return;
	o->wanted = o->limit;
	o->stage = STAGE_FAR;
}

/* ---- Batches ------------------------------------------------------------ */

/* What is next, maybe nothing; moves on to the next stage where one ends. */
static void
advance(Ordering *o, MatchList *batch)
{
	switch (o->stage)
	{
		case STAGE_NEAR:
			if (o->wanted == o->reached)
				widen(o);
			if (o->stage == STAGE_NEAR)
				collect_near(o, neardup_search, batch);
			else
				collect_far(o, batch);
			break;
		case STAGE_FAR:
			collect_far(o, batch);
			break;
		case STAGE_EMPTY:
			collect_by_flags(o, TID_EMPTY, TID_EMPTY, STAGE_NULL, batch);
			break;
		case STAGE_EQUAL:
			collect_by_flags(o, TID_NULL, 0, STAGE_NULL, batch);
			break;
		case STAGE_NULL:
			collect_by_flags(o, TID_NULL, TID_NULL, STAGE_DONE, batch);
			break;
		case STAGE_DONE:
			break;
	}
	if (o->stage <= STAGE_FAR && o->reached >= o->limit)
	{
		o->stage = o->limited ? STAGE_DONE : STAGE_EMPTY;
		batch->after = 0;
	}
}

bool
ordering_next(Ordering *o, MatchList *batch, bool *is_null)
{
	*is_null = false;
	while (o->stage != STAGE_DONE)
	{
		*is_null = o->stage == STAGE_NULL;
		advance(o, batch);
		if (batch->count > 0)
			return true;
	}
	matches_restart(batch);
	return false;
}
