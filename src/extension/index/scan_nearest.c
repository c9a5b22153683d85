/*
 * scan_nearest.c: the sets of a segment that are nearest to a query.
 *
 * The lists of the query's elements are read once.  In how many of them a document is, and its
 * size, bound how near it may be.  Documents are compared in the order of this bound, some at a
 * time, until enough are found that are nearer than all that are left.  So few documents are
 * compared that are not among the nearest.
 */
#include "index/prices.h"

#include <math.h>

/* A document, and the least distance that it may have. */
typedef struct Bounded
{
	uint32 document;
	int distance;
} Bounded;

/* Documents are counted by their least distances, in parts of this width. */
#define PART_WIDTH 64
#define PARTS (SET_DISTANCES / PART_WIDTH)

/*
 * How many documents are compared at first, and how many of the counted ones have bounds, for each
 * document that is wanted; and how many times more are compared each time.
 */
#define COMPARED_FIRST 2
#define BOUNDED_FIRST 64
#define COMPARED_GROWTH 4

/* Hits are counted where a document is expected to be in more lists than a part of one. */
#define COUNTED_PART 16

/* More hits than any document gets. */
#define COUNT_ALL (UINT8_MAX + 1)

typedef struct Nearest
{
	Search *s;
	Segment *segment;
	int end;     /* documents without a bound are no nearer than this */
	uint32 page; /* the page of the document at hand */
	uint32 size; /* the size of the first set of that page */
	Bounded *bounded;
	size_t count;
	uint32 in_part[PARTS]; /* the number of these in each part */
	uint32 *chosen;        /* the documents that are compared next */
} Nearest;

/* ---- Lists -------------------------------------------------------------- */

/* Returns the size of the first set on a page of documents, or 1 if it is not known. */
static uint32
size_of_page(const Nearest *n, uint32 page)
{
	uint32 size;

	return page < n->segment->root.document_pages &&
			segment_size_of_page(n->s->index, n->segment, page, &size) ?
		size :
		1;
}

/* Returns the least distance of a set that shares at most some elements with the query. */
static int
least_distance(const Nearest *n, uint32 shared, uint32 size)
{
	const SetQuery *query = n->s->query->set;

	shared = Min(shared, query->count);
	return distance_of_sets(set_measure(query, shared, Max(size, shared)));
}

/* Notes a document that is in some of the lists, unless it is too far.  It is no candidate yet. */
static bool
note_document(void *state, uint32 document, uint32 hits)
{
	Nearest *n = state;
	uint32 page = document / n->s->per_page;
	int distance;

	if (page != n->page)
		n->size = size_of_page(n, page);
	n->page = page;
	distance = least_distance(n, hits, n->size);
	if (MATCH_FIRST(distance) >= n->s->found->ceiling)
		return false;
	n->bounded[n->count++] = (Bounded){.document = document, .distance = distance};
	n->in_part[distance / PART_WIDTH]++;
	return false;
}

/* Returns the first document from d on that may have hits; most have none, so eight are looked at at once. */
static inline uint32
next_hit(const uint8 *hits, uint32 d, uint32 numbers, uint32 mask)
{
	uint64 eight = 0;

	for (; d < numbers && d % sizeof(eight) == 0; d += sizeof(eight))
	{
		memcpy(&eight, hits + (d & mask), sizeof(eight));
		if (eight != 0)
			break;
	}
	return d;
}

/* Returns the hits that documents must have, so that about `count` have them, or all if they are fewer. */
static uint32
hits_of_most(const uint8 *hits, uint32 numbers, uint32 mask, size_t *count)
{
	size_t with[UINT8_MAX + 1] = {0};
	size_t sum = 0;
	uint32 least;

	for (uint32 d = 0; (d = next_hit(hits, d, numbers, mask)) < numbers; d++)
		with[hits[d & mask]]++;
	for (least = UINT8_MAX; least > 1 && sum + with[least] < *count; least--)
		sum += with[least];
	*count = sum + with[least];
	return least;
}

/* Notes the documents that have most hits. */
static void
note_most(Nearest *n, HitCounter *counter)
{
	uint32 numbers = n->segment->numbers;
	size_t count = n->s->query->enough * BOUNDED_FIRST;
	uint32 mask;
	const uint8 *hits = counter_hits(counter, &mask);
	uint32 least = hits_of_most(hits, numbers, mask, &count);

	n->bounded = palloc_extended((count + 1) * sizeof(Bounded), MCXT_ALLOC_HUGE);
	for (uint32 d = 0; (d = next_hit(hits, d, numbers, mask)) < numbers; d++)
		if (hits[d & mask] >= least)
			note_document(n, d, hits[d & mask] == UINT8_MAX ? PG_UINT32_MAX : hits[d & mask]);
	if (least > 1)
		n->end = least_distance(n, least - 1, 0);
}

/* Notes the documents of all lists, whose numbers are sorted. */
static void
note_all(Nearest *n, HitCounter *counter)
{
	size_t count;

	n->bounded = palloc_extended((counter->candidates + 1) * sizeof(Bounded), MCXT_ALLOC_HUGE);
	counter->keeps = note_document;
	counter->keeps_state = n;
	counter_candidates(counter, &count);
}

/*
 * Reads the lists of the query, and notes the documents in them.  Where postings are few beside
 * documents, and have room, they are sorted, else counted.
 */
static void
read_lists(Nearest *n)
{
	Search *s = n->s;
	Segment *segment = n->segment;
	uint32 lists = s->query->set->count;
	double postings = lists * (segment->root.own_length + 1.0);
	bool counted = postings * COUNTED_PART > segment->numbers;
	QueryBucket *bucket = set_buckets(s->query->set, &segment->grouping);
	PostingReader r;

	for (;;)
	{
		s->report->plan = (SearchPlan){.method = SEARCH_MERGE,
									   .groups = lists,
									   .count = counted ? COUNT_ALL : 1,
									   .postings = counted ? segment->numbers : postings};
		postings_read(&r, s->index, segment, s->report, &s->report->plan, bucket, INFINITY,
					  counted ? SIZE_MAX : candidates_room());
		if (!r.too_many)
			break;
		postings_end(&r);
		counted = true;
	}
	if (!segment->replaced && counted)
		note_most(n, &r.counter);
	else if (!segment->replaced)
		note_all(n, &r.counter);
	postings_end(&r);
	pfree(bucket);
}

/* ---- Comparing ---------------------------------------------------------- */

/*
 * Returns up to which least distance to compare documents next, after those up to `done`: about
 * `count` of them, no farther than `last`.  Sets *count to how many these are.
 */
static int
next_distance(const Nearest *n, int done, int last, size_t *count)
{
	int part = (done + 1) / PART_WIDTH;
	size_t sum = 0;

	for (; part * PART_WIDTH <= last && (sum == 0 || sum + n->in_part[part] <= *count); part++)
		sum += n->in_part[part];
	*count = sum;
	return part * PART_WIDTH - 1;
}

/* Takes the pages that were read since there were `before` from those that are left. */
static void
use_pages(Search *s, uint64 before)
{
	s->sets->pages_left -= Min(s->sets->pages_left, s->report->pages - before);
}

/* Compares the documents whose least distance is greater than `done` and at most `until`. */
static void
compare_some(Nearest *n, int done, int until)
{
	Search *s = n->s;
	uint64 before = s->report->pages;
	size_t count = 0;

	for (size_t i = 0; i < n->count; i++)
		if (n->bounded[i].distance > done && n->bounded[i].distance <= until)
			n->chosen[count++] = n->bounded[i].document;
	s->report->candidates += count;
	search_candidates(s, n->segment, n->chosen, count);
	use_pages(s, before);
}

/*
 * Compares documents until enough are found, or too many pages were read.  Lowers the ceiling of
 * the matches to what is certain.
 */
static void
compare_nearest(Nearest *n)
{
	Search *s = n->s;
	size_t more = s->query->enough * COMPARED_FIRST;
	int done = -1;

	n->chosen = palloc_extended((n->count + 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	while (done < n->end - 1 && !n->segment->replaced && !s->found->ended)
	{
		int last = Min(matches_nth_distance(s->found, s->query->enough), n->end - 1);
		/* Each may be on two pages that no other is on. */
		size_t room = s->sets->pages_left / 2;
		size_t count = Min(more, room);
		int until;

		if (done >= last)
			break;
		until = next_distance(n, done, last, &count);
		if (count > room)
			break;
		compare_some(n, done, until);
		done = until;
		more *= COMPARED_GROWTH;
	}
	if (done < SET_DISTANCE_MAX - 1 && !s->found->ended)
		matches_lower_ceiling(s->found, MATCH_FIRST(Min(done + 1, n->end)));
	pfree(n->chosen);
}

/* Finds the nearest sets of a segment, as many as `enough` of the query. */
void
sets_search_nearest(Search *s, Segment *segment)
{
	Nearest n = {.s = s, .segment = segment, .end = SET_DISTANCE_MAX, .page = PG_UINT32_MAX};
	uint64 before = s->report->pages;

	s->report->plan.cost = s->query->set->count *
		(SET_LENGTH_NS + SET_LIST_NS + (segment->root.own_length + 1) * SET_POSTING_NS);
	if (s->query->filter != NULL && s->query->method == SEARCH_AUTO && search_by_keys(s, segment))
		return;
	if (segment->grouping.groups == 0)
	{
		search_scan_segment(s, segment);
		return;
	}
	read_lists(&n);
	if (segment->replaced)
		return;
	use_pages(s, before);
	compare_nearest(&n);
	pfree(n.bounded);
}
