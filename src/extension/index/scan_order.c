/*
 * scan_order.c: returns all documents in the order of their distance.
 *
 * Searches with growing radii return the near documents, those at distance 0 first.  Each search
 * keeps only the matches after the last one of the search before.  When a search would cost too
 * much, packed scans collect the other documents, each scan more of them than the one before, up to
 * what work_mem holds.  So a near document costs some searches, and the first of the far ones little
 * more than a packed scan.  If the distance is limited, a search takes the place of packed scans
 * where it costs less.
 *
 * If only documents with some keys are wanted, the lists of these keys may take the place of packed
 * scans, too.
 */
#include "index/prices.h"

/*
 * Each search costs about STEP_GROWTH times the one before.  All together cost at most STEPS_PART of
 * a packed scan, since there may be no near documents.
 */
#define STEP_GROWTH 3
#define STEPS_PART 0.15

#define STEPS_MAX 16

/* The prices of at most twice this many radii are looked at. */
#define RADII_TRIED 64

/* The number of sets that the first search for near sets looks for, and the factor to the next. */
#define NEAR_LIMIT_FIRST 16
#define NEAR_GROWTH 16

/*
 * Another search for near sets begins only if those before have read at most half of one in
 * NEAR_PAGES_PART pages of the index.  Documents are compared only until all searches together have
 * read one in NEAR_PAGES_PART, beside the lists of the first search.  There is no such search if the
 * query has more than NEAR_LISTS_PART elements for each page, since it reads a list of each.
 */
#define NEAR_PAGES_PART 4
#define NEAR_LISTS_PART 2

typedef enum OrderStage
{
	STAGE_NEAR,  /* searches with growing radii, or for near sets */
	STAGE_FAR,   /* packed scans, or lists of keys */
	STAGE_EMPTY, /* empty signatures, at the greatest distance */
	STAGE_EQUAL, /* instead of these three, if all distances are equal: all but NULLs */
	STAGE_NULL,  /* NULLs */
	STAGE_DONE
} OrderStage;

/* The radii of the searches, chosen by the prices of searches in an index, in nanoseconds. */
typedef struct Steps
{
	CompatFile file;
	uint64 identity;
	uint32 next_stamp; /* the next stamp of the metapage that the prices are from */
	int method;        /* the setting neardup.search that the prices are for */
	int count;
	int radius[STEPS_MAX];
	double price[STEPS_MAX];
} Steps;

struct Ordering
{
	Relation index;
	Snapshot snapshot;
	Signature centre;
	SetQuery *set;           /* the set, in an index of sets; else NULL */
	int farthest;            /* the greatest distance that signatures, or sets, can have */
	const KeyFilter *filter; /* the conditions on keys; NULL: none */
	bool killed;             /* documents that are marked as killed are found, too */
	bool limited;            /* only documents within a distance are wanted */
	int limit;               /* this distance, or the greatest distance */
	int reached;             /* all documents within this distance have been collected; -1: none */
	int wanted;              /* the radius of the search at hand */
	uint64 after;            /* the last match that has been collected in this stage, or 0 */
	OrderStage stage;
	bool planned; /* steps are set */
	Steps steps;
	int next_step;
	Size far_limit;  /* matches that the next packed scan keeps */
	Size near_limit; /* sets that the next search for near sets looks for */
	uint64 pages;    /* pages that searches for near sets have read */
};

/*
 * Begins a scan of the documents that pass a filter, in the order of their distance from `centre`,
 * NULLs last, or in any order if `centre` is NULL.  If `limit` is not negative, only documents within
 * that many symbols are returned, and no NULL or empty ones.  filter may be NULL.
 */
Ordering *
ordering_begin(Relation index, const Signature *centre, int limit, const KeyFilter *filter,
			   bool killed, Snapshot snapshot)
{
	Ordering *o = palloc0(sizeof(Ordering));

	o->index = index;
	o->snapshot = snapshot;
	o->filter = filter;
	o->killed = killed;
	if (centre != NULL)
		o->centre = *centre;
	o->farthest = o->centre.header.k;
	if (shape_is_set(&o->centre.header))
	{
		o->set = set_query(centre, MEASURE_RESEMBLANCE, 0);
		o->farthest = SET_DISTANCE_MAX;
	}
	o->stage = centre == NULL || signature_is_empty(centre) ? STAGE_EQUAL : STAGE_NEAR;
	o->limited = limit >= 0;
	o->limit = limit >= 0 ? limit : o->farthest;
	o->reached = o->wanted = -1;
	o->far_limit = host_limit(FAR_LIMIT_FIRST);
	o->near_limit = host_limit(NEAR_LIMIT_FIRST);
	return o;
}

/* ---- Radii -------------------------------------------------------------- */

/* Returns the greatest radius, at most `most`, whose search costs at most `price`; -1 if there is none. */
static int
radius_of_price(const double *prices, int most, double price)
{
	while (most >= 0 && prices[most] > price)
		most--;
	return most;
}

/*
 * Adds a step with radius `last`, and steps before it.  Each of these has the greatest radius whose
 * price is at most that of the next step divided by STEP_GROWTH.  Distance 0 comes first if it costs
 * at most half of the next step.  Prices are by radius; steps have `stride` times these radii.
 */
static void
add_steps(Steps *steps, const double *prices, int last, int stride)
{
	int before = radius_of_price(prices, last - 1, prices[last] / STEP_GROWTH);

	if (before < 0 && last > 0 && prices[0] <= prices[last] / 2)
		before = 0;
	if (before >= 0)
		add_steps(steps, prices, before, stride);
	if (steps->count == STEPS_MAX)
		return;
	steps->radius[steps->count] = last * stride;
	steps->price[steps->count++] = prices[last];
}

/* Chooses steps.  The last one has the greatest radius whose price leaves enough for those before. */
static void
choose_steps(const IndexMeta *meta, Steps *steps)
{
	int stride = Max(meta->shape.k / RADII_TRIED, 1);
	double most = price_search(meta, -1, NO_KEYS).ns * STEPS_PART * (1 - 1.0 / STEP_GROWTH);
	double prices[2 * RADII_TRIED];
	int tried = 0;

	do
	{
		prices[tried] = price_search(meta, tried * stride, NO_KEYS).ns;
	} while (prices[tried] <= most && ++tried * stride <= meta->shape.k);
	steps->count = 0;
	if (tried > 0)
		add_steps(steps, prices, tried - 1, stride);
}

/* Drops steps that cost too much, where it costs `all` to read all documents that pass the filter. */
static void
cut_steps(Steps *steps, double all)
{
	double left = all * STEPS_PART;
	int kept = 0;

	while (kept < steps->count && steps->price[kept] <= left)
		left -= steps->price[kept++];
	steps->count = kept;
}

/* Sets the steps of an ordering.  A backend keeps the steps of the index that it used last. */
static void
set_steps(Ordering *o)
{
	static Steps kept;
	IndexMeta *meta = meta_read(o->index);

	if (kept.identity != meta->identity || kept.next_stamp != meta->next_stamp ||
		kept.method != neardup_search || !compat_same_file(kept.file, compat_file(o->index)))
	{
		kept.identity = 0;
		choose_steps(meta, &kept);
		kept.file = compat_file(o->index);
		kept.next_stamp = meta->next_stamp;
		kept.method = neardup_search;
		kept.identity = meta->identity;
	}
	o->steps = kept;
	if (o->filter != NULL)
		cut_steps(&o->steps, filter_price(o->index, meta, o->filter));
	o->planned = true;
	pfree(meta);
}

/* Chooses the radius of the next search, or packed scans if that would cost too much. */
static void
choose_radius(Ordering *o)
{
	if (!o->planned)
		set_steps(o);
	while (o->wanted <= o->reached && o->next_step < o->steps.count)
	{
		int radius = o->steps.radius[o->next_step++];

		o->wanted = Min(radius, o->limit);
	}
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
	SearchQuery query = {.centre = o->centre,
						 .filter = o->filter,
						 .killed = o->killed,
						 .by_distance = true,
						 .snapshot = o->snapshot};

	if (o->stage == STAGE_NEAR && o->wanted == o->reached)
		choose_radius(o);
	query.radius = o->wanted;
	query.method = neardup_search;
	if (o->stage == STAGE_FAR)
	{
		/* If the distance is limited, the cheapest search costs no more than a packed scan. */
		if (!o->limited)
			query.method =
				o->filter != NULL && neardup_search == SEARCH_AUTO ? SEARCH_KEYS : SEARCH_SCAN;
		query.limit = o->far_limit;
		o->far_limit = Min(o->far_limit, FAR_LIMIT_MAX) * FAR_GROWTH;
	}
	if (index_search(o->index, &query, 1, batch, &o->after, NULL, NULL))
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

/* A resemblance below that of any two sets that share an element. */
#define SHARES_ANYTHING 1e-12

/* A ReportReceiver: counts the pages that an ordering has read. */
static void
add_pages(void *state, const SearchReport *report)
{
	Ordering *o = state;

	o->pages += report->pages;
}

/*
 * Collects the nearest sets of those that have not been collected.  Searches for near sets come
 * first, each for more of them than the one before, as long as they read few pages.  Then a search
 * reads all sets.  So together they read little more than each page once.
 */
static void
collect_sets(Ordering *o, MatchList *batch)
{
	BlockNumber pages = RelationGetNumberOfBlocks(o->index);
	SearchQuery query = {.centre = o->centre,
						 .filter = o->filter,
						 .killed = o->killed,
						 .by_distance = true,
						 .set = o->set,
						 .nearest = match_distance(o->after + 1),
						 .method = neardup_search,
						 .snapshot = o->snapshot};
	uint64 before = o->after;
	Size some = batch->some;
	bool complete;

	if (neardup_search == SEARCH_SCAN || o->pages > pages / NEAR_PAGES_PART / 2 ||
		o->set->count > pages * NEAR_LISTS_PART)
		o->stage = STAGE_FAR;
	if (o->stage == STAGE_NEAR)
	{
		o->set->threshold = SHARES_ANYTHING;
		query.radius = SET_DISTANCE_MAX - 1;
		query.enough = o->near_limit;
		query.pages = pages / NEAR_PAGES_PART - o->pages;
		o->near_limit *= NEAR_GROWTH;
	}
	else
	{
		o->set->threshold = 0;
		query.radius = SET_DISTANCE_MAX;
		if (o->filter != NULL && neardup_search == SEARCH_AUTO)
			query.method = SEARCH_KEYS;
	}
	/* A search that reads all sets ends early only if all sets that are left share nothing. */
	if (o->stage == STAGE_FAR && query.nearest < SET_DISTANCE_MAX)
		batch->some = 0;
	complete = index_search(o->index, &query, 1, batch, &o->after, add_pages, o);
	batch->some = batch->ended ? batch->some : some;
	if (complete)
		o->after = MATCH_LAST(query.radius);
	if (complete && o->stage == STAGE_FAR)
	{
		o->stage = STAGE_EMPTY;
		o->after = 0;
	}
	else if (complete || (o->after == before && !batch->ended))
		o->stage = STAGE_FAR;
}

/*
 * Collects the documents, but for dead ones, whose flags within the mask are `flags`, all at the
 * greatest distance.  Stage `next` follows after the last of them.
 */
static void
collect_by_flags(Ordering *o, uint16 mask, uint16 flags, OrderStage next, MatchList *batch)
{
	SearchQuery query = {.centre = o->centre,
						 .radius = o->farthest,
						 .filter = o->filter,
						 .killed = o->killed,
						 .by_distance = true,
						 .method = neardup_search,
						 .flag_mask = mask | TID_DEAD,
						 .flags = flags,
						 .snapshot = o->snapshot};

	if (index_search(o->index, &query, 1, batch, &o->after, NULL, NULL))
	{
		o->stage = next;
		o->after = 0;
	}
}

/*
 * Collects the next documents in order, at least one, in `batch`, which it empties first.  Returns
 * false if there are no more.  Sets *is_null to whether they are NULLs.
 */
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
		else if (o->set != NULL)
			collect_sets(o, batch);
		else
			collect_by_distance(o, batch);
	}
	return batch->count > 0;
}
