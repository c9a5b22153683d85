/*
 * index.h: what the files of index/ share above single pages and segments.
 */
#ifndef NEARDUP_INDEX_INDEX_H
#define NEARDUP_INDEX_INDEX_H

#include "index/upkeep.h"
#include "sql/ball.h"

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* ---- Settings (neardup.c) ----------------------------------------------- */

extern int neardup_cache_size;    /* kB a backend may keep of segments */
extern int neardup_search;        /* a SearchMethod */
extern bool neardup_background;   /* may inserts leave upkeep to a worker? */
extern int neardup_segment_pages; /* the most that a new segment may have, for tests */

/* ---- Operator classes --------------------------------------------------- */

#define STRATEGY_IN_BALL 1    /* signature <@ ball */
#define STRATEGY_DISTANCE 2   /* ORDER BY signature <-> signature */
#define STRATEGY_SYMBOLS 3    /* ORDER BY signature <~> signature */
#define STRATEGY_BALLS_MEET 4 /* ball && ball */
#define STRATEGIES 4

#define SUPPORT_SIGNATURE 1 /* (column type, internal Signature *) returns void */
#define SUPPORTS 1

/* Is a relation an index of this access method? */
extern bool index_is_ours(Relation relation);

/* How a new segment of n documents is to be grouped, as the index's options say. */
extern Grouping index_grouping(Relation index, const SignatureHeader *shape, uint32 n);

/* The signature of a column's value, by the operator class's function. */
extern Signature index_signature(Relation index, Datum value);

/*
 * The shape that a first signature fixes: its header without what only that
 * signature is.  An error where signatures of it do not fit on a page.
 */
extern SignatureHeader index_shape(Relation index, const SignatureHeader *header);

/* An error, naming both, unless a signature is of the index's shape. */
extern void index_check_shape(Relation index, const SignatureHeader *shape,
							  const SignatureHeader *other);

/* ---- Matches (scan_matches.c) ------------------------------------------------ */

/* A document found: distance (16 bits), heap block (32), offset (16); never 0. */
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

/* The last that a match at a distance can be. */
#define MATCH_LAST(distance) ((uint64) (distance) << 48 | UINT64_C(0xFFFFFFFFFFFF))

/*
 * The least matches greater than `after`, as many as memory allows, in no order
 * until sorted.  All less than `ceiling` are there; matches_is_cut says that
 * there are others.  With a spill that takes them, all pass through instead.
 */
typedef struct MatchList
{
	uint64 *match;
	Size count;
	Size room;
	Size most;
	uint64 after;
	uint64 ceiling;
	bool repeats; /* there may be some twice, until sorted */
	void (*spill)(void *state, const uint64 *match, Size count);
	void *spill_state;
} MatchList;

/* An empty list, in the current memory context. */
extern void matches_begin(MatchList *list);

/* Forget what was found, to look for it again. */
extern void matches_restart(MatchList *list);
extern void matches_add(MatchList *list, uint64 match);

/* Each once. */
extern void matches_sort(MatchList *list);
extern void matches_spill(MatchList *list);

static inline bool
matches_is_cut(const MatchList *list)
{
	return list->ceiling != PG_UINT64_MAX;
}

/* ---- Searching (scan_search.c) ----------------------------------------------- */

/* What is looked for. */
typedef struct SearchQuery
{
	Signature centre;
	int radius;
	bool by_distance; /* else all matches have distance 0: the heap's order */
	SearchMethod method;

	/*
	 * Instead, and without a centre: documents whose TID_... flags within this
	 * mask are these, all at distance `radius`.  A mask of 0: within it.
	 */
	uint16 flag_mask;
	uint16 flags;

	/* Who asks; NULL: nobody who could be too late. */
	Snapshot snapshot;
} SearchQuery;

/* What a search did in one segment (or, owner 0, in the tails, which come first). */
typedef struct SearchReport
{
	uint32 owner;
	uint32 documents;
	SearchPlan plan;
	uint64 lookups;
	uint64 postings;
	uint64 candidates;
	uint64 pages;
	uint64 matches;
} SearchReport;

typedef void (*ReportSink)(void *state, const SearchReport *report);

/* Find what query asks for, beyond found->after; report may be NULL. */
extern void index_search(Relation index, const SearchQuery *query, MatchList *found,
						 ReportSink report, void *state);

/* ---- Ordered search (scan_order.c) ------------------------------------------- */

typedef struct Ordering Ordering;

/*
 * All documents by distance from centre, NULLs last; in any order where centre
 * is NULL.  limit: only those within so many symbols, and no NULL nor empty
 * ones; or -1.
 */
extern Ordering *ordering_begin(Relation index, const Signature *centre, int limit,
								Snapshot snapshot);

/*
 * The next documents in order, at least one; false where there are no more.
 * *is_null: they are NULLs.
 */
extern bool ordering_next(Ordering *ordering, MatchList *batch, bool *is_null);

/* ---- Prices (cost.c) ---------------------------------------------------- */

/* Nanoseconds that a search within a radius takes; radius < 0: a packed scan. */
extern double search_price(const IndexMeta *meta, int radius);

/* ---- Tails (tail.c) ----------------------------------------------------- */

/* Append a document: TID with flags, and symbols unless flags say it has none. */
extern void tail_append(Relation index, const SignatureHeader *shape, const ItemPointerData *tid,
						const uint8_t *symbols);

/* Does the tail want to be sealed? */
extern bool tail_is_due(const IndexMeta *meta);

/*
 * Call visit for each page of a chain, as the copy of the metapage lists them,
 * share-locked; false where a page was freed meanwhile.  What was begun later
 * holds rows that no snapshot taken before the copy sees.
 */
typedef void (*TailVisitor)(void *state, Buffer buffer);
extern bool tail_walk(Relation index, const TailEntry *tail, TailVisitor visit, void *state);

/* ---- Building (build.c) ------------------------------------------------- */

extern IndexBuildResult *neardup_build(Relation heap, Relation index, IndexInfo *info);
extern void neardup_buildempty(Relation index);
extern char *neardup_buildphasename(int64 phase);

/* 1 is PostgreSQL's own, "initializing". */
#define PHASE_DOCUMENTS 2
#define PHASE_GROUPS 3
#define PHASE_WAL 4

/* ---- Size (shrink.c) ---------------------------------------------------- */

/* Write the index again where much of it is dead or free; the caller has the upkeep lock. */
extern void shrink_gather(Upkeep *upkeep, BufferAccessStrategy strategy);

/*
 * Give what is free at the end of the file back, where nobody is at the index
 * for a moment; the caller does not have the upkeep lock.
 */
extern void shrink_truncate(Relation index);

/* One attempt at it: false where somebody is at the index. */
extern bool shrink_try(Relation index);

/* As patient as PostgreSQL is with the end of a table. */
#define SHRINK_TRIES 100
#define SHRINK_PAUSE 50 /* ms */
extern void shrink_pause(void);

/*
 * Put pages that nobody owns, freed long since or lost to a crash, into the
 * free space map; returns how many.
 */
extern BlockNumber shrink_find_free(Upkeep *upkeep, BufferAccessStrategy strategy);

/* ---- In the background (worker.c) --------------------------------------- */

/*
 * Ask a background worker to keep the index up, and to truncate it.  False
 * where none can: there is no free slot.
 */
extern bool worker_start(Relation index, bool truncate);

/* Does somebody wait for what a worker, this process, has locked to be at the index? */
extern bool worker_keeps_waiting(Relation index);

/* ---- Callbacks ---------------------------------------------------------- */

extern bool neardup_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid,
						   Relation heap, IndexUniqueCheck check_unique,
						   COMPAT_INDEX_UNCHANGED IndexInfo *info);
extern IndexScanDesc neardup_beginscan(Relation index, int keys, int orderbys);
extern void neardup_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
						   int norderbys);
extern bool neardup_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 neardup_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void neardup_endscan(IndexScanDesc scan);
extern IndexBulkDeleteResult *neardup_bulkdelete(IndexVacuumInfo *info,
												 IndexBulkDeleteResult *stats,
												 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *neardup_vacuumcleanup(IndexVacuumInfo *info,
													IndexBulkDeleteResult *stats);
extern void neardup_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
								 Cost *startup, Cost *total, Selectivity *selectivity,
								 double *correlation, double *pages);
extern bool neardup_validate(Oid opclass);

#endif
