/*
 * prices.c: what the searches of an index take, from its metapage alone.
 */
#include "index/prices.h"

/* Nanoseconds before the first document of any search: executor, metapage, tail. */
#define START_NS 2000.0

static void
add_plan(SearchPrice *price, const SearchPlan *plan)
{
	price->ns += plan->cost;
	price->pages += plan->pages;
}

/* Returns the price of a search in the tails, which are scanned, and of what comes before. */
SearchPrice
price_tails(const IndexMeta *meta)
{
	uint32 per_page = documents_per_page(meta_stride(meta));
	SegmentStats tails = {.documents = (meta->tail.pages + meta->closed.pages) * per_page,
						  .documents_per_page = per_page};
	Grouping ungrouped = {.k = meta->shape.k, .b = signature_bits(&meta->shape)};
	SearchPlan plan = search_plan(&ungrouped, &tails, 0, SEARCH_SCAN);
	SearchPrice price = {.ns = START_NS, .pages = 1};

	add_plan(&price, &plan);
	return price;
}

/* Nanoseconds to look at a record, to find a page of elements, and for a step through them. */
#define RECORD_NS 15.0
#define PAGE_NS 300.0
#define STEP_NS 4.0

/* Returns the price of a set of y elements for a query of x, both of which look random. */
SetPrice
set_price(Measure measure, double x, double y, double threshold)
{
	double needed = (double) overlap_needed(measure, (uint64_t) x, (uint64_t) y, threshold);
	double passes = bitmap_passes(x, y, needed);
	double steps = overlap_steps(x, y, needed);
	double pages = passes * (1 + y / ELEMENTS_PER_PAGE * steps / overlap_steps(x, y, 0));

	return (SetPrice){.ns = RECORD_NS + pages * PAGE_NS + passes * steps * STEP_NS, .pages = pages};
}

/*
 * Returns the plan of a search among sets, within a distance in SET_DISTANCES, or of a scan if
 * that is negative.  The query is as large as sets are on average.
 */
static SearchPlan
plan_of_sets(const IndexMeta *meta, const SegmentEntry *entry, int distance)
{
	uint32 per_page = documents_per_page(meta_stride(meta));
	double part = distance < 0 ? 1 : (double) distance / SET_DISTANCES;
	double size = entry->near_length;
	double lists = size * part + 1;
	SetPrice price = set_price(MEASURE_RESEMBLANCE, size, size, 1 - part);
	SearchPlan scan = {.method = SEARCH_SCAN,
					   .pages = entry->documents / per_page + entry->documents * price.pages,
					   .cost = entry->documents * price.ns};
	SearchPlan plan = {.method = SEARCH_PROBE, .groups = (int) lists};

	/* The lists that are read are the shortest. */
	plan.postings = lists * (1 + entry->own_length * part);
	plan.pages = size + 2 * part * lists + 1;
	plan.cost = size * SET_LENGTH_NS + lists * (SET_LIST_NS + part * price.ns) +
		plan.postings * SET_POSTING_NS;
	return distance < 0 || entry->groups == 0 || plan.cost > scan.cost ? scan : plan;
}

/*
 * Adds the price of a search of a segment, or of a packed scan if radius < 0.  It reads the
 * lists of keys instead where these cost less.
 */
static void
prices_add_segment(SearchPrice *price, const IndexMeta *meta, const SegmentEntry *entry, int radius,
				   KeyShare keys)
{
	SearchMethod method = radius < 0 ? SEARCH_SCAN : neardup_search;
	Grouping grouping =
		grouping_with_keys(grouping_with(meta->shape.k, signature_bits(&meta->shape),
										 entry->grouped, entry->groups),
						   meta->keys, entry->grouped + entry->empty + entry->nulls);
	SegmentStats stats = {.documents = entry->grouped,
						  .stored = entry->documents,
						  .documents_per_page = documents_per_page(meta_stride(meta)),
						  .posting_pages = entry->other_pages,
						  .own_length = entry->own_length,
						  .near_length = entry->near_length};
	SearchPlan plan = shape_is_set(&meta->shape) ? plan_of_sets(meta, entry, radius) :
												   search_plan(&grouping, &stats, radius, method);

	if (keys.lists > 0 && grouping.keys > 0 && neardup_search == SEARCH_AUTO)
	{
		SearchPlan by_keys = keys_plan(&grouping, &stats, (int) Min(keys.lists, INT_MAX),
									   entry->documents * keys.share);

		if (by_keys.cost < plan.cost)
			plan = by_keys;
	}
	add_plan(price, &plan);
}

/* Returns the price of a search within a radius; of a packed scan if radius < 0. */
SearchPrice
price_search(const IndexMeta *meta, int radius, KeyShare keys)
{
	SearchPrice price = price_tails(meta);

	for (uint32 i = 0; i < meta->segments; i++)
		if (meta->segment[i].grouped > 0)
			prices_add_segment(&price, meta, &meta->segment[i], radius, keys);
	return price;
}

/* Returns the price of the end of an ordered scan: first empty signatures, then NULLs. */
SearchPrice
price_end(const IndexMeta *meta, KeyShare keys)
{
	SearchPrice price = price_tails(meta);
	SearchPrice tails = price;

	price.ns += tails.ns;
	for (uint32 i = 0; i < meta->segments; i++)
	{
		const SegmentEntry *entry = &meta->segment[i];

		if (entry->empty > 0)
			prices_add_segment(&price, meta, entry, -1, keys);
		if (entry->nulls > 0)
			prices_add_segment(&price, meta, entry, -1, keys);
	}
	return price;
}

/* Returns the price of collecting all documents that have some keys. */
SearchPrice
price_all(const IndexMeta *meta, KeyShare keys)
{
	SearchPrice price = price_tails(meta);

	for (uint32 i = 0; i < meta->segments; i++)
		prices_add_segment(&price, meta, &meta->segment[i], -1, keys);
	return price;
}

/* ---- Ordered scans -------------------------------------------------------- */

/* Returns how many packed scans follow the first one before so many documents are collected. */
int
ordering_repeats(double documents)
{
	int repeats = 0;

	for (Size limit = FAR_LIMIT_FIRST; documents > limit && limit < FAR_LIMIT_MAX; repeats++)
	{
		documents -= limit;
		limit *= FAR_GROWTH;
	}
	return repeats;
}
