/*
 * scan_order.c: all documents in the order of their distance.
 *
 * Searches with growing radii return the nearby documents.  Each search keeps the matches
 * after those of the one before.  When a search would cost too much, packed scans
 * collect the other documents, each scan more than the one before, up to what work_mem
 * holds.  So nearby documents cost a search.  If there are none, the first document costs
 * less than two packed scans.
 */
#include "index/scan.h"

/*
 * The cost of a search, as a part of a packed scan: of the first search, the factor from
 * one to the next, and of the last.
 */
#define FIRST_STEP (1.0 / 64)
#define STEP_GROWTH 4
#define LAST_STEP 0.5

/*
 * The matches that a packed scan keeps: the first one, the factor from one to the next,
 * and a bound against overflow.  Usually few are wanted, and the scan itself costs less
 * than sorting all documents.
 */
#define FAR_LIMIT_FIRST 1024
#define FAR_GROWTH 16
#define FAR_LIMIT_MAX (SIZE_MAX / FAR_GROWTH)

typedef enum OrderStage
{
	STAGE_NEAR,  /* searches with growing radii */
	STAGE_FAR,   /* packed scans */
	STAGE_EMPTY, /* empty signatures, at the greatest distance */
	STAGE_EQUAL, /* instead of these three, if all distances are equal: all but NULLs */
	STAGE_NULL,  /* NULLs */
	STAGE_DONE
} OrderStage;

struct Ordering
{
	Relation index;
	Snapshot snapshot;
	Signature centre;
	bool limited;
	int limit;    /* the greatest distance */
	int reached;  /* all documents within this distance have been collected; -1: none */
	int wanted;   /* the radius of the search at hand */
	uint64 after; /* the last match that has been collected in this stage, or 0 */
	OrderStage stage;
	double step;    /* part of a packed scan that the next search may cost */
	Size far_limit; /* matches that the next packed scan keeps */
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
	o->far_limit = FAR_LIMIT_FIRST;
	return o;
}

/* ---- Radii -------------------------------------------------------------- */

/* Returns the greatest radius whose search costs at most `cost`; -1 if there is none. */
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

/* Chooses the radius of the next search, or packed scans if that would cost too much. */
static void
choose_radius(Ordering *o)
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

/* Collects the nearest documents of those that have not been collected. */
static void
collect_by_distance(Ordering *o, MatchList *batch)
{
	SearchQuery query = {.centre = o->centre, .by_distance = true, .snapshot = o->snapshot};

	if (o->stage == STAGE_NEAR && o->wanted == o->reached)
		choose_radius(o);
	query.radius = o->wanted;
	query.method = neardup_search;
	if (o->stage == STAGE_FAR)
	{
		query.method = SEARCH_SCAN;
		query.limit = o->far_limit;
		o->far_limit = Min(o->far_limit, FAR_LIMIT_MAX) * FAR_GROWTH;
	}
	if (index_search(o->index, &query, batch, &o->after, NULL, NULL))
	{
		o->reached = o->wanted;
		o->after = MATCH_LAST(o->reached);
	}
	if (o->reached >= o->limit)
	{
		o->stage = o->limited ? STAGE_DONE : STAGE_EMPTY;
		o->after = 0;
	}
}

/*
 * Collects living documents whose flags within the mask are `flags`, all at the greatest
 * distance.  After the last of them the next stage comes.
 */
static void
collect_by_flags(Ordering *o, uint16 mask, uint16 flags, OrderStage next, MatchList *batch)
{
	SearchQuery query = {.centre = o->centre,
						 .radius = o->centre.header.k,
						 .by_distance = true,
						 .flag_mask = mask | TID_DEAD,
						 .flags = flags,
						 .snapshot = o->snapshot};

	if (index_search(o->index, &query, batch, &o->after, NULL, NULL))
	{
		o->stage = next;
		o->after = 0;
	}
}

bool
ordering_next(Ordering *o, MatchList *batch, bool *is_null)
{
	*is_null = false;
	matches_begin_round(batch, 0, 0); /* empties it, in case nothing is left */
	while (batch->count == 0 && o->stage != STAGE_DONE)
	{
		*is_null = o->stage == STAGE_NULL;
		if (o->stage == STAGE_EMPTY)
			collect_by_flags(o, TID_EMPTY, TID_EMPTY, STAGE_NULL, batch);
		else if (o->stage == STAGE_EQUAL)
			collect_by_flags(o, TID_NULL, 0, STAGE_NULL, batch);
		else if (o->stage == STAGE_NULL)
			collect_by_flags(o, TID_NULL, TID_NULL, STAGE_DONE, batch);
		else
			collect_by_distance(o, batch);
	}
	return batch->count > 0;
}
