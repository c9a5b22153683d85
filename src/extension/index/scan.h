/*
 * scan.h: searching an index.
 *
 * A search finds the matches of a query: documents within a radius of its centre.  It
 * collects them in a MatchList before the first is returned.
 */
#ifndef NEARDUP_INDEX_SCAN_H
#define NEARDUP_INDEX_SCAN_H

#include "index/index.h"
#include "store/sets.h"

/* ---- Matches (scan_matches.c) ------------------------------------------- */

/*
 * A match is a number that is never 0: distance (16 bits), heap block (32), offset (16).
 * Matches ascend in the order in which a scan returns them.
 */
static inline uint64
match_of(int distance, const ItemPointerData *tid)
{
	return (uint64) distance << 48 | (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline int
match_distance(uint64 match)
{
	return (int) (match >> 48);
}

static inline ItemPointerData
match_tid(uint64 match)
{
	ItemPointerData tid;

	ItemPointerSet(&tid, (BlockNumber) (match >> 16), (OffsetNumber) match);
	return tid;
}

/* The least and the greatest number that a match at a distance can have. */
#define MATCH_FIRST(distance) ((uint64) (distance) << 48)
#define MATCH_LAST(distance) (MATCH_FIRST(distance) | UINT64_C(0xFFFFFFFFFFFF))

/* Where the document of a match is: on a page that has it as long as it has this stamp. */
typedef struct MatchPosition
{
	uint64 match;
	BlockNumber block;
	uint32 stamp;
	uint32 slot;
} MatchPosition;

/* Receives some of the matches of a search. */
typedef void (*MatchReceiver)(void *state, const uint64 *match, Size count);

/*
 * The matches of a round: the least that are greater than `after`, as many as have room.  Their order
 * is arbitrary until the round ends.  A list with a receiver passes all matches on and keeps none.
 */
typedef struct MatchList
{
	uint64 *match;
	Size count;
	Size allocated;
	MatchReceiver receiver;
	void *receiver_state;

	/* The round at hand. */
	Size capacity;
	uint64 after;
	uint64 ceiling; /* matches from here on were dropped; PG_UINT64_MAX if none were */
	Size settled;   /* the first matches, which are sorted and may be found again */

	/*
	 * If `some` is not 0, a round may end early: when it has found that many matches at the least
	 * distance that any can have, and many pages are left to search.  Matches that such rounds have
	 * returned are not returned again.
	 */
	Size some;
	uint64 least;  /* the greatest number of a match at this distance */
	Size nearest;  /* how many matches of the list are not above it */
	bool ended;    /* the round has ended early */
	uint64 *given; /* the matches that rounds that ended early have returned, ascending */
	Size givens;
	Size given_room;

	/* The positions of the first matches that the round has found. */
	MatchPosition *position;
	Size positions;
	Size position_room;
	Size positions_most; /* 0: they are not noted */
} MatchList;

/* The most positions that a scan notes in a round. */
#define POSITIONS_MOST 256

/* The number of matches that the first round that may end early looks for (`some`). */
#define SOME_FIRST 32

extern Size matches_room(void);
extern void matches_begin_round(MatchList *list, uint64 after, Size limit);
extern void matches_add(MatchList *list, uint64 match);
extern void matches_settle(MatchList *list);
extern bool matches_suffice(MatchList *list, uint32 pages);
extern int matches_nth_distance(MatchList *list, Size n);
extern void matches_lower_ceiling(MatchList *list, uint64 ceiling);
extern bool matches_end_round(MatchList *list, uint64 *after);

extern void matches_note_position(MatchList *list, MatchPosition position);
extern void matches_kill(Relation index, MatchList *list, const uint8 *killed);

/* ---- Keys (scan_keys.c) ------------------------------------------------- */

/* A condition on a key: its hash is one of some hashes. */
typedef struct KeyCondition
{
	int key; /* the number of the key, from 0 */
	int count;
	uint32 *hash; /* the hashes, ascending */
} KeyCondition;

/* Conditions that all hold. */
typedef struct KeyFilter
{
	uint32 keys; /* how many keys each document has */
	int conditions;
	KeyCondition condition[FLEXIBLE_ARRAY_MEMBER];
} KeyFilter;

extern bool condition_holds(const KeyCondition *condition, uint32 hash);

/* Returns whether a document passes a filter, which may be NULL. */
static inline bool
filter_passes(const KeyFilter *filter, const uint8_t *symbols, uint32 stride)
{
	if (filter == NULL)
		return true;
	for (int i = 0; i < filter->conditions; i++)
	{
		const KeyCondition *condition = &filter->condition[i];
		uint32 hash = document_keys(symbols, stride, filter->keys)[condition->key];

		if (condition->count == 1 ? hash != condition->hash[0] : !condition_holds(condition, hash))
			return false;
	}
	return true;
}

/* What the keys of a scan ask for. */
typedef struct ScanConditions
{
	bool nothing;  /* no row can satisfy them */
	bool complete; /* there is nothing but the balls, so no row needs a recheck */
	Ball *ball;    /* documents in one of these balls; NULL: in any position */
	int balls;
	KeyFilter *filter; /* the conditions on keys; NULL: none */
} ScanConditions;

extern ScanConditions scan_conditions(IndexScanDesc scan);

/* ---- Sets (scan_sets.c) -------------------------------------------------- */

/*
 * The distance of two sets is one minus their resemblance, in units of 1 / SET_DISTANCES, rounded
 * down, but below SET_DISTANCE_MAX.  That is the distance of sets that share nothing.
 */
#define SET_DISTANCES 65536
#define SET_DISTANCE_MAX (SET_DISTANCES - 1)

extern SetQuery *set_query(const Signature *set, Measure measure, double threshold);

/* Returns the distance of two sets of a resemblance from 0 to 1. */
extern int distance_of_sets(double resemblance);

/* A document that may match: its record, and the TID without flags. */
typedef struct NotedSet
{
	MatchPosition position; /* the position without the match */
	ItemPointerData tid;
	SetRecord record;
} NotedSet;

/* What only a search of sets has. */
typedef struct SetSearch
{
	uint32 least; /* the sizes of sets that can match */
	uint32 most;
	NotedSet *noted; /* documents whose elements are to be compared when no page is locked */
	Size count;
	Size room;
	KeptPage elements; /* the page of elements that was read last */
	uint64 pages_left; /* how many of query->pages may still be read */
	Segment *segment;  /* the segment whose lists were read */
	uint32 hits_page;  /* the page of documents that least_hits is for */
	uint32 least_hits; /* the least number of hits of a candidate on that page */
} SetSearch;

/* ---- Searching (scan_search.c) ------------------------------------------ */

typedef struct SearchQuery
{
	Signature centre;
	int radius;
	const KeyFilter *filter; /* the conditions on keys; NULL: none */
	bool by_distance; /* matches have their distances; if not, all are 0, so they ascend by TID */
	const Signature *origin; /* distances of matches are measured from here; NULL: the centre */

	/*
	 * In an index of sets: the query that sets match, and, if by_distance, the set from which
	 * distances are measured, and the least distance that is wanted.
	 */
	const SetQuery *set;
	const SetQuery *set_origin;
	int nearest;
	SearchMethod method;

	/*
	 * Of sets, if `enough` is not 0: the search may end when it has found that many that are nearer
	 * than all others, or when comparing more documents could read more than `pages` pages.
	 */
	Size enough;
	uint64 pages;

	/*
	 * If flag_mask is not 0, the search ignores centre and radius.  It finds the documents
	 * whose TID_... flags within the mask are `flags`, at distance `radius`.
	 */
	uint16 flag_mask;
	uint16 flags;

	bool killed;       /* finds documents that are marked as killed, too */
	Size limit;        /* matches that a round keeps at most; 0 if only memory limits them */
	Snapshot snapshot; /* the snapshot to test for being too old, or NULL */
} SearchQuery;

/* What a search did in one segment, or, with stamp 0, in the tails. */
typedef struct SearchReport
{
	uint32 stamp;
	uint32 documents;
	SearchPlan plan;
	uint64 postings;
	uint64 candidates;
	uint64 pages;
	uint64 matches;
} SearchReport;

/* Receives the reports of a search, the tails' first. */
typedef void (*ReportReceiver)(void *state, const SearchReport *report);

extern bool index_search(Relation index, const SearchQuery *query, int queries, MatchList *found,
						 uint64 *after, ReportReceiver receiver, void *state);

/* The query's bucket in a group.  sort_key_pair() sorts buckets by their length. */
typedef struct QueryBucket
{
	uint32 length; /* the number of its postings */
	int group;
	uint32 bucket;
} QueryBucket;

extern QueryBucket *set_buckets(const SetQuery *query, const Grouping *g);

/* ---- Documents of a search (scan_documents.c) ---------------------------- */

/* A search of an index. */
typedef struct Search
{
	Relation index;
	const IndexMeta *meta;
	const SearchQuery *query;
	const SearchQuery *earlier; /* queries that were searched for before, to this one */
	MatchList *found;
	ReportReceiver receiver; /* the function that takes reports; NULL: none */
	void *receiver_state;
	SearchReport *report;
	BlockNumber block; /* the block of the page of documents at hand */
	uint32 stride;     /* the stride of these documents */
	uint32 per_page;
	int k;
	int b;
	uint32 io_concurrency; /* the pages that are asked for ahead */
	int64 read_before;     /* pages_read_in() when the search of the segment began */
	uint32 first_new;      /* stamps from here on began after the search */
	uint32 looked_at;      /* how many documents of the segment at hand were looked at first */
	HTAB *compared;        /* documents that were compared, where tests limit lists; or NULL */
	bool tails_done;       /* both tails have been searched */
	bool replaced;         /* maintenance has replaced the tail or segment at hand */
	SetSearch *sets;       /* NULL: the search compares signatures, or only flags */
	uint32 done_count;     /* tails and segments that have been searched and are still listed */
	uint32 done[SEGMENTS_MAX + 2];
} Search;

extern void search_set_stride(Search *s, uint32 stride);
extern void search_scan_page(Search *s, Buffer buffer, const char *ahead);
extern void search_compares(Search *s, uint32 stamp, uint64 first, uint32 count);
extern void search_scan_segment(Search *s, Segment *segment);
extern void search_candidates(Search *s, Segment *segment, const uint32 *candidate, size_t count);
extern MatchPosition search_position(const Search *s, Page page, uint32 slot);
extern void search_add_match(Search *s, const ItemPointerData *tid, int distance,
							 MatchPosition position);
extern void search_scan_pages(Search *s, Segment *segment, uint32 first, uint32 end);
extern bool search_probe(Search *s, Segment *segment, const QueryBucket *bucket,
						 double postings_max);
extern bool search_by_keys(Search *s, Segment *segment);

/* Returns the flags, or the mark, that keep a document from being found. */
static inline uint16
search_hidden(const Search *s)
{
	return s->query->killed ? TID_FLAGS : TID_FLAGS | TID_KILLED;
}

extern void sets_begin(Search *s, SetSearch *sets);
extern void sets_expect_hits(Search *s, Segment *segment, HitCounter *counter);
extern void sets_note(Search *s, Page page, uint32 i);
extern void sets_compare(Search *s, Segment *segment, uint32 stamp);
extern void sets_search(Search *s, Segment *segment);
extern void sets_end(SetSearch *sets);
extern void sets_search_nearest(Search *s, Segment *segment);

/* ---- Postings (scan_postings.c) ----------------------------------------- */

/* Reads buckets of a segment and counts their documents. */
typedef struct PostingReader
{
	Relation index;
	Segment *segment;
	SearchReport *report; /* the report that counts its postings and pages */
	HitCounter counter;   /* holds the candidates in the end */
	Chooser *chooser;     /* takes the postings instead of counter, or NULL */
	Buffer buffer;        /* a locked page of postings, or InvalidBuffer */
	BlockNumber block;    /* the block of this page */
	int64 read_before;    /* pages_read_in() when reading began */
	uint64 postings;
	double postings_max;
	size_t candidates_max;
	bool too_many; /* candidates_max was exceeded: reading has ended */
	bool too_long; /* postings_max was exceeded: reading has ended */
} PostingReader;

extern void postings_read(PostingReader *r, Relation index, Segment *segment, SearchReport *report,
						  const SearchPlan *plan, const QueryBucket *bucket, double postings_max,
						  size_t candidates_max);
extern void postings_end(PostingReader *r);
extern size_t candidates_room(void);
extern size_t postings_candidates_max(const Segment *segment);
extern void postings_lengths(Relation index, Segment *segment, SearchReport *report,
							 QueryBucket *bucket, int buckets);

/* ---- Lists of keys (scan_keys.c) ---------------------------------------- */

/*
 * A search looks up the lengths of buckets only if its plan takes more than this number of
 * nanoseconds for each bucket, since to look one up takes about half of that.
 */
#define LOOK_NS 300.0

/* The lists with the documents that satisfy a condition on a key; they may have others, too. */
typedef struct KeyLists
{
	QueryBucket *bucket; /* NULL: there are none */
	int count;
	double postings;
	SearchPlan plan;
} KeyLists;

extern KeyLists find_key_lists(Relation index, Segment *segment, const KeyFilter *filter,
							   double cost, SearchReport *report);
extern double filter_price(Relation index, const IndexMeta *meta, const KeyFilter *filter);

/* ---- Ordered scans (scan_order.c) --------------------------------------- */

typedef struct Ordering Ordering;

extern Ordering *ordering_begin(Relation index, const Signature *centre, int limit,
								const KeyFilter *filter, bool killed, Snapshot snapshot);
extern bool ordering_next(Ordering *ordering, MatchList *batch, bool *is_null);

#endif
