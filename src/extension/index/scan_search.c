/*
 * scan_search.c: all documents within a radius: the tails, then each segment.
 *
 * A page with an unexpected stamp means that maintenance has replaced a tail or segment since
 * the metapage was read.  The search then reads the metapage again, and searches what it
 * has not searched yet.
 */
#include "index/scan.h"

#include <math.h>

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/spccache.h"

#include "base/sort.h"

/* ---- Segments ----------------------------------------------------------- */

/* Sets a plan for the lengths of the query's own buckets, and sorts these by length. */
static void
plan_for_lengths(Search *s, Segment *segment, QueryBucket *bucket)
{
	int groups = segment->grouping.groups;
	SegmentStats stats = segment_stats(segment);
	double *sum;

	postings_lengths(s->index, segment, s->report, bucket, groups);
	sort_records(bucket, groups, sizeof(QueryBucket), sort_key_pair);
	sum = palloc((groups + 1) * sizeof(double));
	sum[0] = 0;
	for (int g = 0; g < groups; g++)
		sum[g + 1] = sum[g] + bucket[g].length;
	stats.length_sum = sum;
	s->report->plan = search_plan(&segment->grouping, &stats, s->query->radius, s->query->method);
	pfree(sum);
}

/*
 * Reads the plan's buckets and compares the candidates; scans the segment if there are too many:
 * of sets, of which each hit may be a candidate, more than memory has room for.  Returns false
 * instead if there are more postings than postings_max.
 */
bool
search_probe(Search *s, Segment *segment, const QueryBucket *bucket, double postings_max)
{
	PostingReader r;

	postings_read(&r, s->index, segment, s->report, &s->report->plan, bucket, postings_max,
				  s->sets != NULL ? candidates_room() : postings_candidates_max(segment));
	if (r.too_many)
	{
		s->report->plan.method = SEARCH_SCAN;
		search_scan_segment(s, segment);
	}
	else if (!r.too_long && !segment->replaced)
	{
		size_t count;
		const uint32 *candidate;

		if (s->sets != NULL && s->report->plan.method != SEARCH_KEYS)
			sets_expect_hits(s, segment, &r.counter);
		candidate = counter_candidates(&r.counter, &count);

		s->report->candidates += count;
		search_candidates(s, segment, candidate, count);
	}
	postings_end(&r);
	return r.too_many || !r.too_long;
}

/* Buckets are looked at first if their mean length is this many times that of an even spread. */
#define UNEVEN 2

/* A search goes on with another plan if it meets this many times the postings expected. */
#define FAR_MORE 4

/*
 * Returns whether a search looks at the lengths of its buckets before it uses the usual plan:
 * they may be shorter than usual.
 */
static bool
looks_first(const Search *s, const Segment *segment)
{
	return s->query->method != SEARCH_SCAN && segment->grouping.groups > 0 &&
		s->report->plan.cost > LOOK_NS * segment->grouping.groups &&
		segment->root.own_length >
		UNEVEN * (even_length(&segment->grouping, segment->root.grouped) + 1);
}

/*
 * Looks at the first page of a segment where many documents are alike, if some matches may be enough;
 * returns whether they are.  If not, what follows leaves out the documents of that page.
 */
static bool
look_at_page(Search *s, Segment *segment)
{
	if (s->found->some == 0)
		return false;
	search_scan_pages(s, segment, 0, 1);
	s->looked_at = s->per_page;
	return segment->replaced || matches_suffice(s->found, segment->root.document_pages - 1);
}

/*
 * Searches a segment by groups.  Where buckets are of about the same length, it begins with
 * the usual plan; if the query's are much longer, or if they differ anyway, it plans by their
 * lengths.
 */
static void
search_groups(Search *s, Segment *segment, QueryBucket *bucket)
{
	SearchPlan *plan = &s->report->plan;

	if (!looks_first(s, segment) &&
		search_probe(s, segment, bucket, FAR_MORE * (plan->postings + 16 * plan->groups)))
		return;
	plan_for_lengths(s, segment, bucket);
	if (plan->method == SEARCH_SCAN)
		search_scan_segment(s, segment);
	else
		search_probe(s, segment, bucket, INFINITY);
}

/*
 * Searches a segment by the lists of a key, if that costs less than the plan of the report.
 * Returns false if it does not.
 */
bool
search_by_keys(Search *s, Segment *segment)
{
	KeyLists lists =
		find_key_lists(s->index, segment, s->query->filter, s->report->plan.cost, s->report);

	if (lists.bucket == NULL)
		return false;
	s->report->plan = lists.plan;
	search_probe(s, segment, lists.bucket, INFINITY);
	return true;
}

/* Plans and searches a segment for signatures or flags. */
static void
search_signatures(Search *s, Segment *segment)
{
	int groups = segment->grouping.groups;
	bool all = s->query->flag_mask != 0 || s->query->method == SEARCH_KEYS;
	QueryBucket *bucket;

	s->report->plan =
		segment_usual_plan(segment, s->query->radius, all ? SEARCH_SCAN : s->query->method);
	if (s->query->filter != NULL &&
		(s->query->method == SEARCH_KEYS || s->query->method == SEARCH_AUTO) &&
		search_by_keys(s, segment))
		return;
	if (all || (s->report->plan.method == SEARCH_SCAN && !looks_first(s, segment)))
	{
		search_scan_segment(s, segment);
		return;
	}
	if (looks_first(s, segment) && look_at_page(s, segment))
		return;
	bucket = palloc(groups * sizeof(QueryBucket));
	for (int g = 0; g < groups; g++)
		bucket[g] =
			(QueryBucket){.group = g,
						  .bucket = group_bucket(&segment->grouping, g, s->query->centre.symbols)};
	search_groups(s, segment, bucket);
	pfree(bucket);
}

/*
 * Searches a segment, and learns what its pages cost.  Looks at the clock only if pages had
 * to be read in lately.
 */
static void
search_segment(Search *s, Segment *segment)
{
	PagePrice *price = &segment->page_price;
	bool timed = price->share > 0;
	double ns = 0;
	instr_time start;
	instr_time end;
	uint64 read;

	s->read_before = pages_read_in();
	search_set_stride(s, segment->root.stride);
	s->looked_at = 0;
	if (timed)
		INSTR_TIME_SET_CURRENT(start);
	if (s->sets != NULL)
		sets_search(s, segment);
	else
		search_signatures(s, segment);
	read = pages_read_in() - s->read_before;
	/* A scan reads pages in their order, which takes less time. */
	if (timed && read > 0 && s->report->plan.method != SEARCH_SCAN)
	{
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_SUBTRACT(end, start);
		ns = INSTR_TIME_GET_DOUBLE(end) * 1e9;
	}
	page_price_learn(price, s->report->pages, read, ns);
}

/* Returns whether a segment may hold a match: whether it has documents with the flags. */
static bool
may_match(const SearchQuery *query, const SegmentEntry *entry)
{
	uint16 mask = query->flag_mask != 0 ? query->flag_mask : TID_FLAGS;

	return (entry->grouped > 0 && query->flags == 0) ||
		(entry->empty > 0 && (TID_EMPTY & mask) == query->flags) ||
		(entry->nulls > 0 && (TID_NULL & mask) == query->flags);
}

/* Searches a segment that the metapage lists. */
static void
search_entry(Search *s, const SegmentEntry *entry)
{
	Segment *segment;

	s->report->stamp = entry->stamp;
	s->report->documents = entry->documents;
	s->report->plan.method = SEARCH_SCAN;
	if (!may_match(s->query, entry))
		return;
	segment = segment_open(s->index, s->meta, entry);
	if (segment != NULL)
		search_segment(s, segment);
	s->replaced |= segment == NULL || segment->replaced;
}

/* ---- The whole index ---------------------------------------------------- */

static void
search_visit_tail_page(void *state, Buffer buffer)
{
	Search *s = state;

	const PageInfo *info = page_info(BufferGetPage(buffer));

	s->report->documents += info->count;
	search_compares(s, info->stamp, (uint64) BufferGetBlockNumber(buffer) << 16, info->count);
	search_scan_page(s, buffer, NULL);
}

/* Returns true if a tail or segment has been searched. */
static bool
is_done(const Search *s, uint32 stamp)
{
	for (uint32 i = 0; i < s->done_count; i++)
		if (s->done[i] == stamp)
			return true;
	return false;
}

/*
 * Searches a tail.  Skips a tail that was begun after the search, since the snapshot does
 * not see its rows, and one with another stride than the index's, since it holds only
 * NULLs.
 */
static void
search_tail(Search *s, const TailEntry *tail)
{
	if (tail->stamp == 0 || tail->stamp >= s->first_new || is_done(s, tail->stamp) ||
		(s->query->flag_mask == 0 && tail->stride != meta_stride(s->meta)))
		return;
	search_set_stride(s, tail->stride);
	s->replaced = !tail_walk(s->index, tail, search_visit_tail_page, s);
	if (s->sets != NULL)
		sets_compare(s, NULL, tail->stamp);
	if (!s->replaced)
		s->done[s->done_count++] = tail->stamp;
}

/* Hands on the report of a segment or of the tails, and begins the next one. */
static void
finish_report(Search *s)
{
	if (s->receiver != NULL)
		s->receiver(s->receiver_state, s->report);
	memset(s->report, 0, sizeof(SearchReport));
}

/*
 * Searches what the metapage lists and has not been searched, until one of it turns out to be
 * replaced.  What maintenance replaces soonest goes first: the tails, then the youngest segments.
 * Where tests set neardup.debug_limit, a copy of the metapage counts as replaced after that many segments.
 */
static void
search_listed(Search *s)
{
	const IndexMeta *meta = s->meta;
	size_t left = host_limit(meta->segments + 1);

	if (!s->tails_done)
	{
		s->report->plan.method = SEARCH_SCAN;
		search_tail(s, &meta->closed);
		if (!s->replaced)
			search_tail(s, &meta->tail);
		if (s->replaced)
			return;
		s->tails_done = true;
		finish_report(s);
	}
	for (uint32 i = meta->segments; i-- > 0;)
	{
		const SegmentEntry *entry = &meta->segment[i];

		if (is_done(s, entry->stamp))
			continue;
		if (matches_suffice(s->found, entry->document_pages))
			return;
		search_entry(s, entry);
		if (s->replaced)
			return;
		s->done[s->done_count++] = entry->stamp;
		finish_report(s);
		s->replaced = --left == 0;
		if (s->replaced)
			return;
	}
}

/* Begins to search by a copy of the metapage. */
static void
use_meta(Search *s, IndexMeta *meta)
{
	uint32 listed = 0;

	if (meta->shape.k != 0 && s->query->centre.header.k != 0)
		index_check_shape(s->index, &meta->shape, &s->query->centre.header, false);
	if (meta->shape.k != 0 && s->query->origin != NULL)
		index_check_shape(s->index, &meta->shape, &s->query->origin->header, false);
	/* By age, the oldest first. */
	sort_records(meta->segment, meta->segments, sizeof(SegmentEntry), sort_key_32);
	s->meta = meta;
	s->k = meta->shape.k;
	s->b = signature_bits(&meta->shape);
	if (s->first_new == 0)
		s->first_new = meta->next_stamp;
	for (uint32 i = 0; i < s->done_count; i++)
		if (meta_lists(meta, s->done[i]))
			s->done[listed++] = s->done[i];
	s->done_count = listed;
	memset(s->report, 0, sizeof(SearchReport));
}

/*
 * Searches for what matches a query and none of the `earlier` ones before it in an array, and adds it
 * to `found`.  Matches in replaced segments stay when the search starts again.
 */
static void
search_query(Relation index, const SearchQuery *earlier, const SearchQuery *query, MatchList *found,
			 ReportReceiver receiver, void *state)
{
	Search s;
	SetSearch sets;
	SearchReport report;

	/* Clears all but the last member, which is long. */
	memset(&s, 0, offsetof(Search, done));
	s.index = index;
	s.query = query;
	s.earlier = earlier;
	s.found = found;
	s.receiver = receiver;
	s.receiver_state = state;
	s.report = &report;
	s.io_concurrency = get_tablespace_io_concurrency(index->rd_rel->reltablespace);
	if (query->set != NULL && query->flag_mask == 0)
		sets_begin(&s, &sets);
	do
	{
		IndexMeta *meta = meta_read_as_of(index, query->snapshot);

		s.replaced = false;
		use_meta(&s, meta);
		if (s.k != 0 || query->flag_mask != 0)
			search_listed(&s);
		pfree(meta);
		if (s.replaced)
		{
			matches_settle(found);
			ereport(DEBUG1,
					(errmsg_internal("search of index \"%s\" starts again",
									 RelationGetRelationName(index))));
		}
	} while (s.replaced);
	if (s.sets != NULL)
		sets_end(s.sets);
	hash_destroy(s.compared);
}

/*
 * Searches for what matches any of some queries, greater than *after, as one round of
 * `found`.  Returns true if these are all, else sets *after for the next round.  The receiver
 * may be NULL.
 */
bool
index_search(Relation index, const SearchQuery *query, int queries, MatchList *found, uint64 *after,
			 ReportReceiver receiver, void *state)
{
	matches_begin_round(found, *after, query->limit);
	for (int i = 0; i < queries && !found->ended; i++)
		search_query(index, query, &query[i], found, receiver, state);
	return matches_end_round(found, after);
}
