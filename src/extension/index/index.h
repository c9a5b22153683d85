/*
 * index.h: what the files of index/ share.
 */
#ifndef NEARDUP_INDEX_INDEX_H
#define NEARDUP_INDEX_INDEX_H

#include "index/maintenance.h"
#include "settings.h"
#include "store/store.h"
#include "types/ball.h"

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* ---- Operator classes --------------------------------------------------- */

#define STRATEGY_IN_BALL 1    /* signature <@ ball */
#define STRATEGY_DISTANCE 2   /* ORDER BY signature <-> signature */
#define STRATEGY_SYMBOLS 3    /* ORDER BY value <~> signature */
#define STRATEGY_BALLS_MEET 4 /* ball && ball */
#define STRATEGY_EQUAL 5      /* key = key */
#define STRATEGIES 5

#define SUPPORT_SIGNATURE 1 /* (column type, internal Signature *) returns void */
#define SUPPORTS 1

/* ---- Columns (columns.c) ------------------------------------------------ */

/*
 * What a backend remembers of the tail, to append to it (insert.c).  The page in `slot` is also the
 * relation's target block.  PostgreSQL resets that when the file is truncated, as it does for
 * heaps; then these blocks may not exist any more.
 */
typedef struct TailHint
{
	uint32 stamp; /* the stamp of the tail; 0: nothing is remembered */
	int slot;     /* the slot of the page that this backend appends to */
	BlockNumber open[TAIL_SLOTS];
	SignatureHeader shape;
} TailHint;

/* A column of keys. */
typedef struct KeyColumn
{
	int column; /* the column, from 1 */
	Oid hash;   /* the hash function of its type */
} KeyColumn;

/* What a backend keeps of an index in rd_amcache, which an invalidation frees. */
typedef struct IndexCache
{
	TailHint tail;
	int signature; /* the column of signatures */
	int keys;      /* the number of the other columns, which are keys */
	bool sets;     /* the signatures are sets */
	KeyColumn key[FLEXIBLE_ARRAY_MEMBER];
} IndexCache;

extern IndexCache *index_cache(Relation index);
extern void index_check_keys(Relation index);
extern Signature index_signature(Relation index, Datum value);
extern uint64 *set_elements(const Signature *set);

/* The document of a row. */
typedef struct RowDocument
{
	Document document;     /* the document; its keys are those below */
	SignatureHeader shape; /* the shape of its signature; k = 0 for a NULL */
	uint32 key[INDEX_MAX_KEYS];

	/* Of an index of sets, where the record takes the place of symbols. */
	SetRecord record;
	const uint64 *element; /* the elements, whose number the record says */
	uint32 placed;         /* the tail whose pages have them, as the record says; 0: none */
} RowDocument;

extern void index_document(Relation index, const ItemPointerData *tid, const Datum *values,
						   const bool *isnull, RowDocument *row);

extern Oid key_hash_function(Oid equality);

/* Hashes values that are compared with a key. */
typedef struct KeyHasher
{
	int key; /* the key, from 0 */
	Oid collation;
	FmgrInfo function;
} KeyHasher;

/* The hash of a NULL. */
#define HASH_OF_NULL 0

extern KeyHasher index_key_hasher(Relation index, int column, Oid type);
extern uint32 key_hash(KeyHasher *hasher, Datum value);

/* ---- Inserting (insert.c, insert_sets.c) ---------------------------------- */

extern void insert_append(Relation index, Buffer buffer, uint32 stride, Buffer elements,
						  const RowDocument *doc);
extern bool set_append(Relation index, Buffer buffer, uint32 stride, RowDocument *doc);
extern bool set_position(Relation index, uint32 stamp, RowDocument *doc, TailGrowth *growth);

/* ---- Building (build.c) ------------------------------------------------- */

extern bool index_is_ours(Relation relation);
extern IndexBuildResult *neardup_build(Relation heap, Relation index, IndexInfo *info);
extern void neardup_buildempty(Relation index);
extern char *neardup_buildphasename(int64 phase);

/* The phases of a build.  1 is PostgreSQL's own, "initializing". */
#define PHASE_DOCUMENTS 2
#define PHASE_GROUPS 3
#define PHASE_WAL 4

/* ---- Free pages (free_pages.c) ------------------------------------------ */

extern BlockNumber free_pages_find(Maintenance *maintenance, BufferAccessStrategy strategy);

/* ---- Background workers (maintenance_worker.c) -------------------------------------- */

extern bool worker_start(Relation index);

/* ---- Callbacks ---------------------------------------------------------- */

extern bool neardup_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid,
						   Relation heap, IndexUniqueCheck check_unique, bool index_unchanged,
						   IndexInfo *info);
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
