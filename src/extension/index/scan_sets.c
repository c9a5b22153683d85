/*
 * scan_sets.c: searching for sets.
 *
 * Documents of a segment are in the order of their sizes, so those that can match have a range
 * of numbers.  Of the query's n elements a match shares at least some number a.  So it is in one
 * of the n - a + 1 shortest lists at least, and in c of the n - a + c shortest (Chaudhuri et al.
 * 2006, Li et al. 2008).  The record of a candidate bounds what it shares by its size and bitmap
 * (Sandes et al. 2020).  The elements of candidates that are left are compared.
 */
#include "index/prices.h"

#include <math.h>

#include "miscadmin.h"

#include "base/sort.h"

/* Returns the query for the sets whose measure with a set is at least a threshold. */
SetQuery *
set_query(const Signature *set, Measure measure, double threshold)
{
	SetQuery *query = palloc(sizeof(SetQuery));

	*query = (SetQuery){.measure = measure,
						.threshold = threshold,
						.count = set->cardinality,
						.element = set_elements(set)};
	query->bitmap = set_bitmap(query->element, query->count);
	return query;
}

/* Begins to search for sets: finds the sizes of those that can match. */
void
sets_begin(Search *s, SetSearch *sets)
{
	const SetQuery *query = s->query->set;
	uint64_t least;
	uint64_t most;

	overlap_sizes(query->measure, query->count, query->threshold, &least, &most);
	*sets = (SetSearch){.least = (uint32) Min(least, PG_UINT32_MAX),
						.most = (uint32) Min(most, PG_UINT32_MAX),
						.elements = {.buffer = InvalidBuffer},
						.pages_left = s->query->pages};
	s->sets = sets;
}

/* Frees what a search for sets has kept. */
void
sets_end(SetSearch *sets)
{
	kept_release(&sets->elements);
	host_free(sets->noted);
}

/* ---- Comparing ---------------------------------------------------------- */

/* Notes a document of a locked page, to compare its elements later, unless it cannot match. */
void
sets_note(Search *s, Page page, uint32 i)
{
	SetSearch *sets = s->sets;
	const SetQuery *query = s->query->set;
	const uint8_t *symbols = page_symbols(page, s->stride, i);
	const SetRecord *record = (const SetRecord *) symbols;
	ItemPointerData tid = tid_of_heap(page_tid(page, i));

	if (match_of(s->query->nearest, &tid) >= s->found->ceiling || record->count < sets->least ||
		record->count > sets->most || (page_tid(page, i)->ip_posid & search_hidden(s)) != 0 ||
		bitmap_shared_most(&query->bitmap, query->count, &record->bitmap, record->count) <
			set_overlap(query, record->count) ||
		!filter_passes(s->query->filter, symbols, s->stride))
		return;
	sets->noted = host_grow(sets->noted, &sets->room, sets->count + 1, sizeof(NotedSet));
	sets->noted[sets->count++] =
		(NotedSet){.position = search_position(s, page, i), .tid = tid, .record = *record};
}

/* A set whose elements are compared with a query's, in parts. */
typedef struct Comparison
{
	const uint64 *element; /* the elements of the query that are left */
	uint32 left;
	uint32 rest; /* elements of the set in later parts */
	uint32 shared;
	uint64 needed;
} Comparison;

/* An ElementVisitor. */
static bool
compare_elements(void *state, const uint64 *element, uint32 count)
{
	Comparison *c = state;
	uint64 later;

	c->rest -= count;
	later = c->shared + (uint64) c->rest;
	c->shared += set_shared(&c->element, &c->left, element, count,
							c->needed > later ? c->needed - later : 0);
	return c->left > 0 && c->shared + (uint64) Min(c->left, c->rest) >= c->needed;
}

/*
 * Counts what a query shares with the set of a record, or less than needed if it is less.  Notes
 * in the search whether maintenance has replaced the set.
 */
static uint32
count_shared(Search *s, const ElementSource *source, const SetQuery *query, const SetRecord *record,
			 uint64 needed)
{
	Comparison c = {.element = query->element,
					.left = query->count,
					.rest = record->count,
					.needed = needed};

	s->replaced = !elements_read(source, record, compare_elements, &c);
	return c.shared;
}

/* Returns the distance that a resemblance stands for. */
int
distance_of_sets(double resemblance)
{
	if (resemblance == 0)
		return SET_DISTANCE_MAX;
	return (int) Min((1 - resemblance) * SET_DISTANCES, SET_DISTANCE_MAX - 1);
}

/* Returns whether an earlier query has found a set. */
static bool
is_found(Search *s, const ElementSource *source, const SetRecord *record)
{
	bool found = false;

	for (const SearchQuery *query = s->earlier; query < s->query && !found && !s->replaced; query++)
	{
		uint64 needed = set_overlap(query->set, record->count);

		found = count_shared(s, source, query->set, record, needed) >= needed;
	}
	return found;
}

/* Compares a document that was noted, and adds it if it matches and no earlier query has found it. */
static void
compare_noted(Search *s, const ElementSource *source, const NotedSet *noted)
{
	const SetQuery *query = s->query->set;
	const SetQuery *origin = s->query->set_origin;
	uint32 size = noted->record.count;
	uint64 needed = set_overlap(query, size);
	uint32 shared;
	int distance = 0;

	if (match_of(s->query->nearest, &noted->tid) >= s->found->ceiling)
		return;
	shared = count_shared(s, source, query, &noted->record, needed);
	if (s->replaced || shared < needed || is_found(s, source, &noted->record) || s->replaced)
		return;
	if (origin != NULL)
		shared = count_shared(s, source, origin, &noted->record, 0);
	if (s->query->by_distance)
		distance =
			distance_of_sets(overlap_similarity(MEASURE_RESEMBLANCE, shared,
												origin != NULL ? origin->count : query->count,
												size));
	if (!s->replaced && (distance <= s->query->radius || !s->query->by_distance))
		search_add_match(s, &noted->tid, distance, noted->position);
}

/*
 * Compares the documents that were noted, of a segment or of a tail of this stamp.  No page is
 * locked.
 */
void
sets_compare(Search *s, Segment *segment, uint32 stamp)
{
	SetSearch *sets = s->sets;
	ElementSource source = {.index = s->index,
							.stamp = stamp,
							.segment = segment,
							.kept = &sets->elements};

	for (Size i = 0; i < sets->count && !s->replaced; i++)
		compare_noted(s, &source, &sets->noted[i]);
	s->report->pages += sets->elements.pages;
	sets->elements.pages = 0;
	sets->count = 0;
}

/* ---- Hits --------------------------------------------------------------- */

/*
 * Returns in how many lists that were read a document must be: in as many as sets of the size
 * that its page begins with must share elements, except for the lists that were not read.
 */
static uint32
least_hits(Search *s, uint32 document)
{
	SetSearch *sets = s->sets;
	uint32 page = document / s->per_page;
	uint32 unread = s->query->set->count - s->report->plan.groups;
	uint32 size;
	uint64 overlap;

	if (page == sets->hits_page)
		return sets->least_hits;
	sets->hits_page = page;
	sets->least_hits = 0;
	if (page >= sets->segment->root.document_pages ||
		!segment_size_of_page(s->index, sets->segment, page, &size))
		return 0;
	overlap = set_overlap(s->query->set, Max(size, sets->least));
	sets->least_hits = overlap > unread ? (uint32) (overlap - unread) : 0;
	return sets->least_hits;
}

/* Returns whether a document is in enough lists for its size. */
static bool
has_enough_hits(void *state, uint32 document, uint32 hits)
{
	return hits >= least_hits(state, document);
}

/* Has a counter drop the documents that are of too few lists for their sizes. */
void
sets_expect_hits(Search *s, Segment *segment, HitCounter *counter)
{
	s->sets->segment = segment;
	s->sets->hits_page = PG_UINT32_MAX;
	counter->keeps = has_enough_hits;
	counter->keeps_state = s;
}

/* ---- Segments ----------------------------------------------------------- */

/* Nanoseconds to sort a hit, and to find the document of a candidate. */
#define SORT_NS 8.0
#define CANDIDATE_NS 60.0

/* Returns how many pages of documents begin with a size less than this; or false. */
static bool
pages_below(Search *s, Segment *segment, uint64 size, uint32 *pages)
{
	uint32 low = 0;
	uint32 high = segment->root.document_pages;

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;
		uint32 first;

		if (!segment_size_of_page(s->index, segment, middle, &first))
			return false;
		if (first < size)
			low = middle + 1;
		else
			high = middle;
	}
	*pages = low;
	return true;
}

/* Returns the probability that a variable of Poisson's distribution is at least c. */
static double
poisson_tail(double mean, int c)
{
	double term = exp(-mean);
	double below = 0;

	for (int i = 0; i < c; i++)
	{
		below += term;
		term *= mean / (i + 1);
	}
	return Max(0, 1 - below);
}

/* A counter holds no more hits. */
#define HITS_MAX 255

/*
 * Sets the cheapest plan for the query's lists in the order of their lengths, which were looked up,
 * if `overlap` elements must be shared and `documents` documents, a share of all, have the right
 * size, and this price each.
 */
static void
choose_lists(SearchPlan *plan, const SetQuery *query, const QueryBucket *bucket, uint64 overlap,
			 double documents, double share, double price)
{
	uint32 n = query->count;
	uint64 usual = set_overlap(query, n);
	double postings = 0;

	plan->cost += n * SET_LENGTH_NS;
	for (uint32 lists = 1; lists <= n; lists++)
	{
		int count = lists + overlap <= n ? 0 : (int) Min(lists + overlap - n, HITS_MAX);
		double mean;
		double sorted;
		double candidates;
		double cost;

		postings += bucket[lists - 1].length;
		if (count == 0)
			continue;
		mean = postings * share / Max(documents, 1);
		sorted = count == 1 ? postings * share : documents * poisson_tail(mean, count);
		/* Sets of the query's size stand for all. */
		candidates = documents * poisson_tail(mean, Min(usual + lists - n, HITS_MAX));
		cost = n * SET_LENGTH_NS + lists * SET_LIST_NS + postings * SET_POSTING_NS +
			sorted * SORT_NS + candidates * (CANDIDATE_NS + price);
		if (cost < plan->cost)
			*plan = (SearchPlan){.method = lists == n ? SEARCH_MERGE : SEARCH_PROBE,
								 .groups = lists,
								 .count = count,
								 .from = plan->from,
								 .end = plan->end,
								 .lookups = lists,
								 .postings = postings,
								 .candidates = candidates,
								 .cost = cost};
		if (postings * SET_POSTING_NS > plan->cost || count == HITS_MAX)
			break;
	}
}

/* Returns the query's buckets in a segment, without their lengths. */
QueryBucket *
set_buckets(const SetQuery *query, const Grouping *g)
{
	QueryBucket *bucket = palloc_extended(query->count * sizeof(QueryBucket), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < query->count; i++)
	{
		uint32 number = set_bucket(g, query->element[i]);

		bucket[i] = (QueryBucket){.group = number >> g->bucket_bits,
								  .bucket = number & ((UINT32_C(1) << g->bucket_bits) - 1)};
	}
	return bucket;
}

/* Searches the pages first .. end - 1 of a segment, by lists or by a scan. */
static void
search_pages(Search *s, Segment *segment, uint32 first, uint32 end)
{
	const SetQuery *query = s->query->set;
	const Grouping *g = &segment->grouping;
	SearchPlan *plan = &s->report->plan;
	double documents = (double) (end - first) * s->per_page;
	uint64 overlap = set_overlap(query, s->sets->least);
	double size = Max(s->sets->least, Min(s->sets->most, segment->root.near_length));
	SetPrice price = set_price(query->measure, query->count, size, query->threshold);
	QueryBucket *bucket = NULL;

	*plan = (SearchPlan){.method = SEARCH_SCAN,
						 .from = first * s->per_page,
						 .end = end * s->per_page,
						 .candidates = documents,
						 .cost = documents * price.ns};
	/* A method that reads lists is taken at its word. */
	if (s->query->method == SEARCH_MERGE || s->query->method == SEARCH_PROBE)
		plan->cost = INFINITY;
	if (g->groups > 0 && overlap > 0 && s->query->method != SEARCH_SCAN &&
		s->query->method != SEARCH_KEYS && query->count * SET_LENGTH_NS < plan->cost)
	{
		bucket = set_buckets(query, g);
		postings_lengths(s->index, segment, s->report, bucket, query->count);
		sort_records(bucket, query->count, sizeof(QueryBucket), sort_key_pair);
		choose_lists(plan, query, bucket, overlap, documents, documents / Max(segment->numbers, 1),
					 price.ns);
	}
	if (s->query->filter != NULL &&
		(s->query->method == SEARCH_KEYS || s->query->method == SEARCH_AUTO) &&
		search_by_keys(s, segment))
		return;
	if (plan->method == SEARCH_SCAN)
		search_scan_pages(s, segment, first, end);
	else
		search_probe(s, segment, bucket, INFINITY);
	if (bucket != NULL)
		pfree(bucket);
}

/* Searches a segment of sets. */
void
sets_search(Search *s, Segment *segment)
{
	uint32 first;
	uint32 end;

	s->report->plan.method = SEARCH_SCAN;
	if (s->sets->least > s->sets->most || !pages_below(s, segment, s->sets->least, &first) ||
		!pages_below(s, segment, (uint64) s->sets->most + 1, &end))
		return;
	/* The last page that begins with a smaller set may go on with larger ones. */
	if (first > 0)
		first--;
	if (first < end && s->query->enough > 0)
		sets_search_nearest(s, segment);
	else if (first < end)
		search_pages(s, segment, first, end);
}
