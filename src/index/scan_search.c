/*
 * scan_search.c: all documents within a distance: the tails, then segment by segment.
 *
 * Matches are collected before the first is returned.  A page with another
 * owner than expected means that upkeep replaced what the metapage listed when
 * it was read: the search goes on by the metapage as it is now, with what has not
 * been searched.
 */
#include "index/scan_postings.h"

#include "miscadmin.h"

typedef struct Search
{
	Relation index;
	const IndexMeta *meta;
	const SearchQuery *query;
	MatchList *found;
	SearchReport *report;
	BlockNumber block; /* whose documents are being compared */
	uint32 stride;
	uint32 per_page;
	int k;
	int b;
	uint32 first_new;              /* owners from here on came after the search began */
	bool tails_done;               /* nothing in a tail is left to be searched */
	uint32 done_count;             /* segments and tails that have been searched, ... */
	uint32 done[SEGMENTS_MAX + 2]; /* ... and are still listed */
} Search;

/* What is asked of memory is so many steps ahead. */
#define EXPECT_AHEAD 4

/* So few are sorted by insertion. */
#define FEW_GROUPS 64

/* ---- Documents ---------------------------------------------------------- */

/* A TID that no row can have would harm whoever follows it. */
static void
add_found(Search *s, const ItemPointerData *tid, int distance)
{
	if (!ItemPointerIsValid(tid) || ItemPointerGetBlockNumberNoCheck(tid) == InvalidBlockNumber)
		page_corrupt(s->index, s->block, "document of a row that cannot be");
	s->report->matches++;
	matches_add(s->found, match_of(s->query->by_distance ? distance : 0, tid));
}

static inline bool
is_match(const SearchQuery *query, int distance, const ItemPointerData *tid)
{
	return distance <= query->radius && !tid_flags(tid);
}

/* Its documents are next; vacuum may have marked some that the snapshot sees. */
static Page
begin_page(Search *s, Buffer buffer)
{
	Page page = BufferGetPage(buffer);

	s->block = BufferGetBlockNumber(buffer);
	compat_test_old_snapshot(s->query->snapshot, s->index, page);
	return page;
}

/* Collect the documents of a page by their flags. */
static void
select_by_flags(Search *s, Page page)
{
	for (int i = 0; i < page_trailer(page)->count; i++)
		if ((tid_flags(page_tid(page, i)) & s->query->flag_mask) == s->query->flags)
		{
			ItemPointerData tid = tid_of_heap(page_tid(page, i));

			add_found(s, &tid, s->query->radius);
		}
}

/* Compare all documents of a page. */
static void
compare_page(Search *s, Page page)
{
	int32_t distance[DOCUMENTS_PER_PAGE_MAX];
	int count = page_trailer(page)->count;

	symbol_distances(s->query->centre.symbols, page_symbols(page, s->stride, 0), s->stride, count,
					 s->k, s->b, distance);
	for (int i = 0; i < count; i++)
		if (is_match(s->query, distance[i], page_tid(page, i)))
			add_found(s, page_tid(page, i), distance[i]);
}

static void
scan_page(Search *s, Buffer buffer)
{
	Page page = begin_page(s, buffer);

	if (s->query->flag_mask != 0)
		select_by_flags(s, page);
	else
		compare_page(s, page);
	s->report->candidates += page_trailer(page)->count;
	s->report->pages++;
}

/* From here on pages of documents have this stride. */
static void
set_stride(Search *s, uint32 stride)
{
	s->stride = stride;
	s->per_page = documents_per_page(stride);
}

static bool
scan_segment(Search *s, const Segment *segment)
{
	for (uint32 p = 0; p < segment->root.document_pages; p++)
	{
		Buffer buffer = segment_page(s->index, segment, p, PAGE_DOCUMENTS);

		if (!BufferIsValid(buffer))
			return false;
		if (p + 1 < segment->root.document_pages)
			segment_expect(segment, p + 1, 0, BLCKSZ);
		scan_page(s, buffer);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* A candidate that will be compared soon. */
static void
expect_document(const Search *s, const Segment *segment, uint32 document)
{
	if (document < segment->root.documents)
		segment_expect(segment, document / s->per_page,
					   SizeOfPageHeaderData + (Size) (document % s->per_page) * s->stride,
					   s->stride);
}

/* Compare candidates, in ascending order: each page is visited once. */
static bool
verify(Search *s, const Segment *segment, const uint32 *candidate, size_t count)
{
	size_t i = 0;

	for (size_t first = 0; first < Min(count, EXPECT_AHEAD); first++)
		expect_document(s, segment, candidate[first]);
	while (i < count)
	{
		uint32 logical = candidate[i] / s->per_page;
		Buffer buffer;
		Page page;

		if (candidate[i] >= segment->root.documents)
			page_corrupt(s->index, segment->map[0], "posting of a document that is not there");
		if (i + EXPECT_AHEAD < count)
			expect_document(s, segment, candidate[i + EXPECT_AHEAD]);
		buffer = segment_page(s->index, segment, logical, PAGE_DOCUMENTS);
		if (!BufferIsValid(buffer))
			return false;
		page = begin_page(s, buffer);
		for (; i < count && candidate[i] / s->per_page == logical; i++)
		{
			uint32 slot = candidate[i] % s->per_page;
			int distance = symbol_distance(s->query->centre.symbols,
										   page_symbols(page, s->stride, slot), s->k, s->b);

			if (is_match(s->query, distance, page_tid(page, slot)))
				add_found(s, page_tid(page, slot), distance);
		}
		UnlockReleaseBuffer(buffer);
		s->report->pages++;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* ---- One segment -------------------------------------------------------- */

static int
compare_lengths(const void *x, const void *y)
{
	const OwnBucket *a = x;
	const OwnBucket *b = y;

	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return a->group - b->group;
}

/* Shortest first. */
static void
sort_by_length(OwnBucket *own, int n)
{
	if (n > FEW_GROUPS)
	{
		qsort(own, n, sizeof(OwnBucket), compare_lengths);
		return;
	}
	for (int i = 1; i < n; i++)
	{
		OwnBucket moved = own[i];
		int j = i;

		for (; j > 0 && own[j - 1].length > moved.length; j--)
			own[j] = own[j - 1];
		own[j] = moved;
	}
}

/* The query's buckets; all places of the directory are asked for before one is read. */
static bool
own_buckets(Search *s, const Segment *segment, OwnBucket *own, double *sum)
{
	int groups = segment->grouping.groups;

	for (int g = 0; g < groups; g++)
	{
		own[g].group = g;
		own[g].bucket = group_bucket(&segment->grouping, g, s->query->centre.symbols);
		if (segment->directory != NULL)
			__builtin_prefetch(segment->directory + segment->first_offset[g] + own[g].bucket);
	}
	*sum = 0;
	for (int g = 0; g < groups; g++)
	{
		uint32 from;
		uint32 to;

		if (!segment_bucket(s->index, segment, g, own[g].bucket, &from, &to))
			return false;
		own[g].length = to - from;
		*sum += own[g].length;
	}
	return true;
}

/* The plan for a distance where the query's own buckets are like any. */
static SearchPlan
usual_plan(Search *s, Segment *segment)
{
	if (segment->planned_for != s->query->radius ||
		segment->planned_method != (int) s->query->method)
	{
		SegmentStats stats = segment_stats(segment);

		segment->plan = search_plan(&segment->grouping, &stats, s->query->radius, s->query->method);
		segment->planned_for = s->query->radius;
		segment->planned_method = s->query->method;
	}
	return segment->plan;
}

/* The usual plan, or one for these buckets where they are much longer. */
static SearchPlan
plan_for_lengths(Search *s, Segment *segment, const OwnBucket *own, double sum)
{
	SearchPlan plan = usual_plan(s, segment);
	SegmentStats stats = segment_stats(segment);
	float *length;

	if (sum <= 4 * (plan.usual_length * segment->grouping.groups + 16))
		return plan;
	length = palloc(segment->grouping.groups * sizeof(float));
	for (int g = 0; g < segment->grouping.groups; g++)
		length[g] = own[g].length;
	stats.bucket_length = length;
	plan = search_plan(&segment->grouping, &stats, s->query->radius, s->query->method);
	pfree(length);
	return plan;
}

/* Look up the plan's groups, those with the shortest buckets, and verify, or scan. */
static bool
probe_segment(Search *s, const Segment *segment, const SearchPlan *plan, const OwnBucket *own)
{
	PostingReader r;
	const uint32 *candidate;
	size_t count;
	bool whole;

	whole = postings_read(&r, s->index, segment, s->report, plan, own);
	if (r.too_many)
	{
		s->report->plan.method = SEARCH_SCAN;
		whole = whole && scan_segment(s, segment);
	}
	else if (whole)
	{
		candidate = counter_candidates(&r.counter, &count);
		s->report->candidates += count;
		whole = verify(s, segment, candidate, count);
	}
	postings_end(&r);
	return whole;
}

static bool
search_segment(Search *s, Segment *segment)
{
	OwnBucket *own;
	double sum;
	bool whole;

	s->report->owner = segment->owner;
	s->report->documents = segment->root.documents;
	s->report->plan.method = SEARCH_SCAN;
	set_stride(s, segment->root.stride);
	if (s->query->flag_mask != 0)
		return scan_segment(s, segment);
	if (segment->root.grouped == 0)
		return true;
	s->report->plan = usual_plan(s, segment);
	if (s->report->plan.method == SEARCH_SCAN)
		return scan_segment(s, segment);
	own = palloc(segment->grouping.groups * sizeof(OwnBucket));
	whole = own_buckets(s, segment, own, &sum);
	if (whole)
	{
		s->report->plan = plan_for_lengths(s, segment, own, sum);
		if (s->report->plan.groups < segment->grouping.groups || s->report->plan.one_more > 0)
			sort_by_length(own, segment->grouping.groups);
		whole = s->report->plan.method == SEARCH_SCAN ?
			scan_segment(s, segment) :
			probe_segment(s, segment, &s->report->plan, own);
	}
	pfree(own);
	return whole;
}

/* ---- All of it ---------------------------------------------------------- */

static void
visit_tail_page(void *state, Buffer buffer)
{
	Search *s = state;

	s->report->documents += page_trailer(BufferGetPage(buffer))->count;
	scan_page(s, buffer);
}

static bool
is_done(const Search *s, uint32 owner)
{
	for (uint32 i = 0; i < s->done_count; i++)
		if (s->done[i] == owner)
			return true;
	return false;
}

/*
 * What was inserted into a tail begun since is not looked for.  A tail of another stride
 * than the index's holds NULLs only.
 */
static bool
search_tail(Search *s, const TailEntry *tail)
{
	if (tail->owner == 0 || tail->owner >= s->first_new || is_done(s, tail->owner) ||
		(s->query->flag_mask == 0 && tail->stride != document_stride(&s->meta->shape)))
		return true;
	set_stride(s, tail->stride);
	if (!tail_walk(s->index, tail, visit_tail_page, s))
		return false;
	s->done[s->done_count++] = tail->owner;
	return true;
}

static void
finish_report(Search *s, ReportSink sink, void *state)
{
	if (sink != NULL)
		sink(state, s->report);
	memset(s->report, 0, sizeof(SearchReport));
}

/* Those that have come last go last: nearly always that is their order. */
static void
sort_by_owner(IndexMeta *meta)
{
	for (uint32 i = 1; i < meta->segments; i++)
	{
		SegmentEntry entry = meta->segment[i];
		uint32 j = i;

		for (; j > 0 && meta->segment[j - 1].owner > entry.owner; j--)
			meta->segment[j] = meta->segment[j - 1];
		meta->segment[j] = entry;
	}
}

/*
 * Search what the metapage lists and has not been searched, the soonest to be replaced
 * first: tails, then the youngest segments.  Returns 0, or the owner of the segment or
 * tail that is not there any more.
 */
static uint32
search_once(Search *s, ReportSink sink, void *state)
{
	const IndexMeta *meta = s->meta;

	if (!s->tails_done)
	{
		s->report->plan.method = SEARCH_SCAN;
		if (!search_tail(s, &meta->frozen))
			return meta->frozen.owner;
		if (!search_tail(s, &meta->tail))
			return meta->tail.owner;
		s->tails_done = true;
		finish_report(s, sink, state);
	}
	for (uint32 i = meta->segments; i-- > 0;)
	{
		const SegmentEntry *entry = &meta->segment[i];
		Segment *segment;

		if (is_done(s, entry->owner))
			continue;
		segment = segment_open(s->index, meta, entry);
		if (segment == NULL || !search_segment(s, segment))
			return entry->owner;
		s->done[s->done_count++] = entry->owner;
		finish_report(s, sink, state);
	}
	return 0;
}

/*
 * Go on by another copy of the metapage, the first or one after what was listed has been
 * replaced.  What has been found stays, also in what is replaced: if it is met again
 * in what has replaced it, it is found twice, once of which is removed.
 */
static void
go_on_by(Search *s, IndexMeta *meta)
{
	uint32 listed = 0;

	sort_by_owner(meta);
	s->meta = meta;
	s->k = meta->shape.k;
	s->b = signature_bits(&meta->shape);
	for (uint32 i = 0; i < s->done_count; i++)
		if (meta_owns(meta, s->done[i]))
			s->done[listed++] = s->done[i];
	s->done_count = listed;
	memset(s->report, 0, sizeof(SearchReport));
}

/* Complain where what is gone is still listed; else the search starts again. */
static void
note_gone(Search *s, const IndexMeta *meta, uint32 gone)
{
	if (meta_owns(meta, gone))
		page_corrupt(s->index, page_refused(),
					 "page of a listed segment or tail belongs to another");
	s->found->repeats = true;
	ereport(DEBUG1,
			(errmsg_internal("search of index \"%s\" starts again: %u has been replaced",
							 RelationGetRelationName(s->index), gone)));
}

void
index_search(Relation index, const SearchQuery *query, MatchList *found, ReportSink report,
			 void *state)
{
	Search s;
	SearchReport current;
	uint32 gone = 0;

	s.index = index;
	s.query = query;
	s.found = found;
	s.report = &current;
	s.first_new = 0;
	s.tails_done = false;
	s.done_count = 0;
	matches_restart(found);
	do
	{
		IndexMeta *meta = meta_read_as_of(index, query->snapshot);

		if (gone != 0)
			note_gone(&s, meta, gone);
		if (s.first_new == 0)
			s.first_new = meta->next_owner;
		if (meta->shape.k != 0 && query->centre.header.k != 0)
			index_check_shape(index, &meta->shape, &query->centre.header);
		go_on_by(&s, meta);
		gone = s.k != 0 || query->flag_mask != 0 ? search_once(&s, report, state) : 0;
		pfree(meta);
	} while (gone != 0);
}
