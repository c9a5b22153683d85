/*
 * scan_documents.c: comparing documents with a query: all on a page or of a segment, or
 * candidates.
 */
#include "index/scan.h"

#include "miscadmin.h"

#include "store/segment_postings.h"

/* How many candidates ahead documents are prefetched: fewer if these take many bytes. */
#define PREFETCH_AHEAD 32
#define PREFETCH_AHEAD_LEAST 4
#define PREFETCH_BYTES 4096

/* Adds a match, and notes its position.  The executor must not get a TID that no row can have. */
void
search_add_match(Search *s, const ItemPointerData *tid, int distance, MatchPosition position)
{
	if (!ItemPointerIsValid(tid) || ItemPointerGetBlockNumberNoCheck(tid) == InvalidBlockNumber)
		page_corrupt(s->index, s->block, "document with an invalid TID");
	s->report->matches++;
	position.match = match_of(s->query->by_distance ? distance : 0, tid);
	matches_add(s->found, position.match);
	matches_note_position(s->found, position);
}

/* Returns the position of a document of a locked page. */
MatchPosition
search_position(const Search *s, Page page, uint32 slot)
{
	return (MatchPosition){.block = s->block, .stamp = page_info(page)->stamp, .slot = slot};
}

/* A document: a tail's by its block and slot, a segment's by its number. */
typedef struct Compared
{
	uint64 number;
	uint64 stamp; /* the stamp of the tail or segment */
} Compared;

/*
 * Where tests limit lists, raises an error if a search compares a document of a tail or segment
 * twice.
 */
void
search_compares(Search *s, uint32 stamp, uint64 first, uint32 count)
{
	if (neardup_limit == INT_MAX)
		return;
	if (s->compared == NULL)
	{
		HASHCTL control = {.keysize = sizeof(Compared),
						   .entrysize = sizeof(Compared),
						   .hcxt = CurrentMemoryContext};

		s->compared =
			hash_create("neardup compared", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	for (uint32 i = 0; i < count; i++)
	{
		Compared key = {.number = first + i, .stamp = stamp};
		bool found;

		hash_search(s->compared, &key, HASH_ENTER, &found);
		if (found)
			elog(ERROR, "a search has compared document " UINT64_FORMAT " of %u twice", key.number,
				 stamp);
	}
}

/* Returns the greatest distance of matches that the list may still keep. */
static int
distance_wanted(const Search *s)
{
	if (!s->query->by_distance || s->query->origin != NULL)
		return s->query->radius;
	return Min(s->query->radius, match_distance(s->found->ceiling));
}

/* Adds a document within the radius, unless an earlier query has found it. */
static void
match_document(Search *s, Page page, uint32 slot, int distance)
{
	const Signature *origin = s->query->origin;
	const uint8_t *symbols = page_symbols(page, s->stride, slot);
	ItemPointerData tid = tid_of_heap(page_tid(page, slot));

	for (const SearchQuery *query = s->earlier; query < s->query; query++)
		if (symbol_distance(query->centre.symbols, symbols, s->k, s->b) <= query->radius)
			return;
	if (origin != NULL)
		distance = signature_is_empty(origin) ?
			s->k :
			symbol_distance(origin->symbols, symbols, s->k, s->b);
	search_add_match(s, &tid, distance, search_position(s, page, slot));
}

/*
 * Begins to read a page of documents.  The snapshot must not be too old, since vacuum may
 * have marked documents that it sees.
 */
static Page
begin_page(Search *s, Buffer buffer)
{
	Page page = BufferGetPage(buffer);

	s->block = BufferGetBlockNumber(buffer);
	compat_test_old_snapshot(s->query->snapshot, s->index, page);
	s->report->pages++;
	return page;
}

/* Adds a document that passes the filter, if its flags are those that the query asks for. */
static void
match_flags(Search *s, Page page, int i)
{
	ItemPointerData tid = tid_of_heap(page_tid(page, i));

	if ((tid_flags(page_tid(page, i)) & s->query->flag_mask) == s->query->flags &&
		(page_tid(page, i)->ip_posid & TID_KILLED & search_hidden(s)) == 0 &&
		filter_passes(s->query->filter, page_symbols(page, s->stride, i), s->stride))
		search_add_match(s, &tid, s->query->radius, search_position(s, page, i));
}

/*
 * A scan compares this number of documents at a time, fewer if they take more than SCANNED_BYTES.
 * Meanwhile it prefetches as many of the next page: a whole page at once would wait for memory.
 */
#define SCANNED_AT_ONCE 128
#define SCANNED_BYTES 1024

/* A kernel that compares eight documents at a time is slower with what is left. */
#define SCANNED_EIGHT 8

/* Prefetches bytes of the next page of a scan into the second of the processor's caches. */
static void
prefetch_ahead(const char *ahead, Size from, Size to)
{
	for (Size at = from; ahead != NULL && at < to; at += CACHE_LINE)
		__builtin_prefetch(ahead + at, 0, 2);
}

/* Documents of a page that are within the radius, and whose TIDs are fetched meanwhile. */
typedef struct NearDocuments
{
	int count;
	uint16 slot[SCANNED_AT_ONCE];
	int32 distance[SCANNED_AT_ONCE];
} NearDocuments;

/* Adds those of the near documents that pass the filter and are not hidden. */
static void
match_near(Search *s, Page page, NearDocuments *near)
{
	uint16 hidden = search_hidden(s);

	for (int i = 0; i < near->count; i++)
	{
		uint32 slot = near->slot[i];

		if ((page_tid(page, slot)->ip_posid & hidden) == 0 &&
			filter_passes(s->query->filter, page_symbols(page, s->stride, slot), s->stride))
			match_document(s, page, slot, near->distance[i]);
	}
	near->count = 0;
}

/* Finds the near ones among some documents of a page, at most SCANNED_AT_ONCE. */
static void
scan_some(Search *s, Page page, int first, int count, NearDocuments *near)
{
	int32_t distance[SCANNED_AT_ONCE];
	int within = distance_wanted(s);

	if (symbol_distances(s->query->centre.symbols, page_symbols(page, s->stride, first), s->stride,
						 count, s->k, s->b, distance) > within)
		return;
	if (near->count + count > SCANNED_AT_ONCE)
		match_near(s, page, near);
	for (int i = 0; i < count; i++)
		if (distance[i] <= within)
		{
			__builtin_prefetch(page_tid(page, first + i));
			near->slot[near->count] = (uint16) (first + i);
			near->distance[near->count++] = distance[i];
		}
}

/*
 * Finds the matches on a page, by flags or by distances.  The page that is scanned next may be
 * `ahead`.
 */
void
search_scan_page(Search *s, Buffer buffer, const char *ahead)
{
	Page page = begin_page(s, buffer);
	int count = page_info(page)->count;
	int at_once = host_limit(Min(TYPEALIGN(SCANNED_EIGHT, Max(SCANNED_BYTES / s->stride, 1)),
								 SCANNED_AT_ONCE));

	if (s->query->flag_mask != 0)
	{
		for (int i = 0; i < count; i++)
			match_flags(s, page, i);
	}
	else if (s->sets != NULL)
	{
		for (int i = 0; i < count; i++)
			sets_note(s, page, i);
	}
	else
	{
		NearDocuments near;

		near.count = 0;
		for (int i = 0; i < count; i += at_once)
		{
			prefetch_ahead(ahead, CONTENTS_OFFSET + i * s->stride,
						   CONTENTS_OFFSET + (i + at_once) * s->stride);
			scan_some(s, page, i, Min(at_once, count - i), &near);
		}
		match_near(s, page, &near);
	}
	s->report->candidates += count;
}

/* Sets the stride of the documents that are read next. */
void
search_set_stride(Search *s, uint32 stride)
{
	s->stride = stride;
	s->per_page = documents_per_page(stride);
}

/* Returns a page of documents without a pin, for prefetching only, if it is known; prefetches its header. */
static Page
find_ahead(const Segment *segment, uint32 page)
{
	MapSlot slot = segment_documents_slot(segment, page);

	if (slot.block == InvalidBlockNumber)
		return NULL;
	slot_prefetch(&slot, 0, 0);
	return slot_page_unpinned(&slot);
}

/* Asks for a page of documents, if its map is at hand. */
static void
ask_for_page(const Search *s, const Segment *segment, uint32 page)
{
	MapSlot slot = segment_documents_slot(segment, page);

	if (slot.block != InvalidBlockNumber)
		PrefetchBuffer(s->index, MAIN_FORKNUM, slot.block);
}

/*
 * Unlocks a page of a segment, and compares the sets that were noted on it.  Returns whether to
 * search no further, with about `pages` pages left.
 */
static bool
end_page(Search *s, Segment *segment, Buffer buffer, Size pages)
{
	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	if (s->sets != NULL)
		sets_compare(s, segment, 0);
	return s->replaced || matches_suffice(s->found, (uint32) pages);
}

/* Scans a segment, but for what was looked at. */
void
search_scan_segment(Search *s, Segment *segment)
{
	search_scan_pages(s, segment, s->looked_at / s->per_page, segment->root.document_pages);
}

/* Scans some pages of a segment.  Once one had to be read in, prefetches those that come next. */
void
search_scan_pages(Search *s, Segment *segment, uint32 first, uint32 pages)
{
	uint32 asked = 0;

	for (uint32 p = first; p < pages && !segment->replaced; p++)
	{
		const char *ahead = NULL;
		Buffer buffer;

		if (pages_read_in() != s->read_before)
			for (asked = Max(asked, p + 1); asked < Min(p + 1 + s->io_concurrency, pages); asked++)
				ask_for_page(s, segment, asked);
		buffer = segment_documents(s->index, segment, p);
		if (!BufferIsValid(buffer))
			return;
		if (p + 1 < pages)
			ahead = find_ahead(segment, p + 1);
		search_compares(s, s->report->stamp, (uint64) p * s->per_page,
						page_info(BufferGetPage(buffer))->count);
		search_scan_page(s, buffer, ahead);
		if (end_page(s, segment, buffer, pages - p - 1))
			return;
	}
}

/* The page of documents that candidates to prefetch are on: its first document, and the page. */
typedef struct CandidatePage
{
	uint32 first;
	uint32 documents; /* 0 before the first */
	Page page;        /* NULL: not known */
} CandidatePage;

/* Prefetches a candidate into the processor's cache; `on` is the page of the one before. */
static void
prefetch_document(const Search *s, const Segment *segment, uint32 document, CandidatePage *on)
{
	Size at;

	if (document - on->first >= on->documents)
	{
		uint32 number = document / s->per_page;

		*on = (CandidatePage){.first = number * s->per_page, .documents = s->per_page};
		if (document < segment->numbers)
			on->page = find_ahead(segment, number);
	}
	at = CONTENTS_OFFSET + (Size) (document - on->first) * s->stride;
	if (on->page != NULL)
		page_prefetch(on->page, at, at + s->stride);
}

/* Asks for the pages of the candidates up to `end`. */
static void
ask_for_documents(const Search *s, const Segment *segment, const uint32 *candidate, size_t *asked,
				  size_t end)
{
	for (; *asked < end; (*asked)++)
		if (candidate[*asked] < segment->numbers &&
			candidate[*asked] / s->per_page != candidate[*asked - 1] / s->per_page)
			ask_for_page(s, segment, candidate[*asked] / s->per_page);
}

/* Adds a candidate that passes the filter, if it matches the query. */
static void
match_candidate(Search *s, Page page, uint32 slot)
{
	const uint8_t *symbols = page_symbols(page, s->stride, slot);
	int distance;

	if (s->query->flag_mask != 0)
	{
		match_flags(s, page, slot);
		return;
	}
	if (s->sets != NULL)
	{
		sets_note(s, page, slot);
		return;
	}
	if (!filter_passes(s->query->filter, symbols, s->stride))
		return;
	/* The flags are on another line of the processor's cache than the symbols. */
	distance = symbol_distance(s->query->centre.symbols, symbols, s->k, s->b);
	if (distance <= s->query->radius && (page_tid(page, slot)->ip_posid & search_hidden(s)) == 0)
		match_document(s, page, slot, distance);
}

/* To compare this number of candidates takes about as long as to find and read a page. */
#define CANDIDATES_AS_PAGE 32

/*
 * Finds the matches among candidates, which ascend, so that each page is visited once, but for what
 * was looked at.
 */
void
search_candidates(Search *s, Segment *segment, const uint32 *candidate, size_t count)
{
	CandidatePage on = {.documents = 0};
	size_t ahead = Min(Max(PREFETCH_BYTES / s->stride, PREFETCH_AHEAD_LEAST), PREFETCH_AHEAD);
	size_t asked = 1;
	size_t i = 0;

	while (count > 0 && candidate[0] < s->looked_at)
	{
		candidate++;
		count--;
	}
	for (size_t first = 0; first < Min(count, ahead); first++)
		prefetch_document(s, segment, candidate[first], &on);
	while (i < count)
	{
		uint32 number = candidate[i] / s->per_page;
		uint32 first = number * s->per_page;
		Buffer buffer;
		Page page;

		if (candidate[i] >= segment->numbers)
			page_corrupt(s->index, segment->root_block,
						 "posting of a document that does not exist");
		if (pages_read_in() != s->read_before)
		{
			asked = Max(asked, i + 1);
			ask_for_documents(s, segment, candidate, &asked, Min(i + 1 + s->io_concurrency, count));
		}
		buffer = segment_documents(s->index, segment, number);
		if (!BufferIsValid(buffer))
			return;
		page = begin_page(s, buffer);
		for (; i < count && candidate[i] - first < s->per_page; i++)
		{
			uint32 slot = candidate[i] - first;

			if (i + ahead < count)
				prefetch_document(s, segment, candidate[i + ahead], &on);
			if (slot >= page_info(page)->count)
				page_corrupt(s->index, s->block, "posting of a document that does not exist");
			search_compares(s, s->report->stamp, candidate[i], 1);
			match_candidate(s, page, slot);
		}
		if (end_page(s, segment, buffer, (count - i) / CANDIDATES_AS_PAGE))
			return;
	}
}
