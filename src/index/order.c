/*
 * order.c: all documents in the order of their distance.
 *
 * The radius widens step by step, while a step is cheaper than a scan of all
 * documents; each step searches afresh and keeps what is farther than the last.
 * Then the documents that are left are counted by distance, and collected by
 * scans, each for many more documents than the last, as far as work_mem holds
 * them.  So nearby documents come at the price of a search, and where there are
 * none, the first come within that of three scans.
 */
#include "index/index.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* The first step may cost this part of a scan, and each further one as often as much. */
#define FIRST_STEP (1.0 / 64)
#define STEP_GROWTH 4

/* Steps go on up to this part of a scan. */
#define LAST_STEP 0.5

/*
 * Few are wanted as a rule, and a scan is cheap beside collecting and sorting: the
 * first after counting brings so many documents, and each further one so many
 * times as many.
 */
#define FAR_FIRST 1024
#define FAR_GROWTH 16

typedef enum OrderStage
{
	STAGE_NEAR,  /* widening searches */
	STAGE_FAR,   /* scans by the histogram */
	STAGE_EMPTY, /* empty signatures: as far as can be */
	STAGE_EQUAL, /* or, where no order is better: all but NULLs, then */
	STAGE_NULL,  /* NULLs */
	STAGE_DONE
} OrderStage;

struct Ordering
{
	Relation index;
	Signature centre;
	bool limited;
	int limit;   /* farthest distance wanted */
	int reached; /* all up to here have been returned; -1: none */
	OrderStage stage;
	double step; /* part of a scan that the next search may cost */
	uint64 far;  /* documents that the next scan may bring */
	uint64 *histogram;
	MemoryContext context; /* of this and what it keeps */
};

Ordering *
ordering_begin(Relation index, const Signature *centre, int limit)
{
	Ordering *o = palloc0(sizeof(Ordering));

	o->index = index;
	if (centre != NULL)
		o->centre = *centre;
	o->stage = centre == NULL || signature_is_empty(centre) ? STAGE_EQUAL : STAGE_NEAR;
	o->limited = limit >= 0;
	o->limit = limit >= 0 ? limit : o->centre.header.k;
	o->reached = -1;
	o->step = FIRST_STEP;
	o->far = FAR_FIRST;
	o->context = CurrentMemoryContext;
	return o;
}

/* Collect what lies beyond `reached`, up to radius. */
static void
collect(Ordering *o, int radius, MatchMethod method, MatchList *batch)
{
	SearchQuery query = {o->centre, o->reached, radius, method, NULL, 0, 0};

	index_search(o->index, &query, batch, NULL, NULL);
	o->reached = radius;
}

/* Living documents by flags, as far away as can be. */
static void
collect_by_flags(Ordering *o, uint16 mask, uint16 flags, MatchList *batch)
{
	SearchQuery query = {.centre = o->centre, .flag_mask = mask | TID_DEAD, .flags = flags};

	index_search(o->index, &query, batch, NULL, NULL);
	for (Size i = 0; i < batch->count; i++)
		batch->match[i].distance = o->centre.header.k;
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
search_near(Ordering *o, MatchList *batch)
{
	IndexMeta *meta = meta_read(o->index);
	double scan = search_price(meta, -1);
	int radius = o->reached;

	for (; radius <= o->reached && o->step <= LAST_STEP; o->step *= STEP_GROWTH)
		radius = radius_for(meta, o->limit, o->step * scan);
	pfree(meta);
	if (radius > o->reached)
		collect(o, radius, neardup_search, batch);
	else
		o->stage = STAGE_FAR;
}

/* ---- Far ---------------------------------------------------------------- */

/* Count the documents beyond `reached` by distance. */
static void
count_far(Ordering *o)
{
	SearchQuery query = {o->centre, o->reached, o->limit, MATCH_SCAN, NULL, 0, 0};
	MatchList none = {0};

	o->histogram = MemoryContextAllocZero(o->context, (o->centre.header.k + 1) * sizeof(uint64));
	query.histogram = o->histogram;
	index_search(o->index, &query, &none, NULL, NULL);
}

/* So many distances beyond `reached` as one scan may bring, at least one. */
static void
scan_far(Ordering *o, MatchList *batch)
{
	uint64 room = Min(o->far, (uint64) work_mem * 1024 / sizeof(Match));
	uint64 sum = 0;
	int radius = o->reached;

	if (o->histogram == NULL)
		count_far(o);
	while (radius < o->limit && (sum == 0 || sum + o->histogram[radius + 1] <= room))
		sum += o->histogram[++radius];
	o->far = room * FAR_GROWTH;
	if (sum > 0)
		collect(o, radius, MATCH_SCAN, batch);
	else
		o->reached = o->limit;
}

/* ---- Batches ------------------------------------------------------------ */

static int
compare_matches(const void *x, const void *y)
{
	const Match *a = x;
	const Match *b = y;

	if (a->distance != b->distance)
		return a->distance - b->distance;
	return ItemPointerCompare((ItemPointer) &a->tid, (ItemPointer) &b->tid);
}

/* What is next, maybe nothing; moves on to the next stage where one ends. */
static void
advance(Ordering *o, MatchList *batch)
{
	if (o->stage <= STAGE_FAR && o->reached >= o->limit)
		o->stage = o->limited ? STAGE_DONE : STAGE_EMPTY;
	switch (o->stage)
	{
		case STAGE_NEAR:
			search_near(o, batch);
			break;
		case STAGE_FAR:
			scan_far(o, batch);
			break;
		case STAGE_EMPTY:
			collect_by_flags(o, TID_EMPTY, TID_EMPTY, batch);
			o->stage = STAGE_NULL;
			break;
		case STAGE_EQUAL:
			collect_by_flags(o, TID_NULL, 0, batch);
			o->stage = STAGE_NULL;
			break;
		case STAGE_NULL:
			collect_by_flags(o, TID_NULL, TID_NULL, batch);
			o->stage = STAGE_DONE;
			break;
		case STAGE_DONE:
			break;
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
		{
			qsort(batch->match, batch->count, sizeof(Match), compare_matches);
			return true;
		}
	}
	return false;
}
