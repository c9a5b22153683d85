/*
 * dedup.h: neardup_pairs() and neardup_clusters(): the pairs and clusters of
 * near-duplicates among the rows of a query.
 *
 * A call reads its query once into a Source.  Rows whose signatures are equal
 * form one document, and documents are numbered in the order of their first
 * rows.  documents_join() finds the pairs of similar documents; the caller
 * turns them back into pairs or clusters of rows.  With "verify" the query also
 * returns evidence for each row, a set of shingles by which pairs are verified.
 * With "within", rows are compared only within their class.  Verdicts are read
 * first; for clusters, each row that they name is a document of its own.
 */
#ifndef NEARDUP_DEDUP_DEDUP_H
#define NEARDUP_DEDUP_DEDUP_H

#include "types/calls.h"
#include "types/objects.h"
#include "types/schemes.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/resowner.h"

#include "base/table.h"
#include "join/join.h"
#include "join/set_plan.h"
#include "join/stars.h"
#include "progress.h"
#include "sketch/bag.h"
#include "types/judged.h"
#include "types/shingles.h"
#include "types/signature_type.h"

/* ---- Options and statistics of a call (call.c) --------------------------- */

/*
 * What a call did, which it reports at DEBUG1.  A call for stars, or whose
 * signatures do not fit into memory, makes several joins.
 */
typedef struct CallStats
{
	int64 rows;
	int64 documents;
	int64 joins;
	bool sets;  /* sets were joined, not signatures */
	int groups; /* plan of the first join of signatures */
	int radius;
	int one_more;              /* groups whose radius is one more */
	int workers;               /* workers of the join that had most */
	int64 partitions;          /* partitions of the first join of sets */
	int64 candidates;          /* candidates: pairs with a common list or neighbouring buckets */
	int64 pruned_by_length;    /* candidates ruled out by their lengths */
	int64 pruned_by_frequency; /* candidates ruled out by the frequencies of their elements */
	int64 compared;            /* candidates compared in full */
	int64 pairs;               /* pairs found */
} CallStats;

typedef struct Options
{
	Oid function; /* the SQL function called */
	IdType ids;
	JudgedPairs *verdicts; /* NULL if there are none */
	bool judged_alone;     /* each row that has a verdict is a document of its own */
	struct Within *within; /* the columns in which rows must be equal, or NULL */
	double threshold;
	bool multiset; /* compare shingles as multisets */
	Measure measure;
	double verify; /* least similarity of the evidence; 0 if there is none */
	double recall;
	CallStats *stats;
} Options;

/* ---- Temporary files (store.c) --------------------------------------------- */

extern BufFile *file_create(MemoryContext context, ResourceOwner owner);
extern void file_seek(BufFile *file, int64 position);
extern void file_read(BufFile *file, void *bytes, size_t size);

/* ---- Records of one size (store.c) ---------------------------------------- */

/*
 * Records in memory up to a limit, then in a temporary file.  The file holds
 * records 0 .. flushed - 1, memory the others.
 */
typedef struct Records
{
	MemoryContext context;
	ResourceOwner owner; /* of the file */
	size_t stride;
	uint32 limit; /* records that memory may hold */
	uint32 count;
	uint32 flushed;  /* records in the file */
	uint8 *memory;   /* the others */
	uint32 room;     /* records that memory has room for */
	BufFile *file;   /* NULL if there is none */
	uint32 position; /* record that the file's position is at */
} Records;

extern Records *records_begin(MemoryContext context, ResourceOwner owner, size_t stride,
							  uint32 limit);
extern uint8 *records_next(Records *records);
extern void records_add(Records *records);
extern void records_flush(Records *records);
extern void records_free_memory(Records *records);
extern const uint8 *records_get(Records *records, uint32 record, uint8 *buffer);
extern void records_copy(Records *records, uint32 record, uint8 *to);
extern void records_end(Records *records);

/* ---- Byte strings of any length (store.c) --------------------------------- */

/* A temporary file of byte strings, made when the first is added. */
typedef struct Blobs
{
	MemoryContext context;
	ResourceOwner owner;
	BufFile *file;
	int64 end;
	bool moved; /* has it been read since it was written? */
} Blobs;

extern int64 blobs_add(Blobs *blobs, const void *bytes, size_t size);
extern void *blobs_get(Blobs *blobs, int64 position);
extern void blobs_end(Blobs *blobs);

/* ---- The rows of a query (source.c) --------------------------------------- */

/* A document that is a set. */
typedef struct StoredSet
{
	uint64 length; /* by which it is compared */
	uint32 count;  /* of its elements */
	bool in_file;
	union
	{
		Shingles *shingles;
		int64 position; /* in blobs */
	} at;
} StoredSet;

#define NO_ROW UINT32_MAX
#define NO_DOCUMENT UINT32_MAX
#define NO_CLASS UINT32_MAX

typedef struct Source
{
	MemoryContext context;
	ResourceOwner owner; /* of the temporary files */
	const char *name;    /* the argument's name, for messages */
	const Options *options;

	/* Rows, in the query's order. */
	uint32 rows;
	uint32 row_room;
	Datum *id;
	uint32 *next;       /* next row of the same document, or NO_ROW */
	uint32 *class;      /* of each row; NULL without "within" */
	uint32 *judged;     /* place of the row's id in the verdicts, or NOT_JUDGED */
	uint32 *judged_row; /* row of each id in the verdicts, or NO_ROW */

	/* Documents. */
	bool sets; /* documents are sets of shingles, not signatures */
	uint32 documents;
	uint32 document_room;
	uint32 *first;             /* first row of a document */
	uint32 *last;              /* last row of a document */
	bool shaped;               /* is the shape known? */
	SignatureHeader shape;     /* for sets: version and scheme */
	Records *records;          /* signatures: symbols, then a digest of the evidence */
	StoredSet *set;            /* sets */
	MemoryContext set_context; /* of the sets in memory */
	uint32 sets_flushed;       /* the first sets, in blobs */
	uint64 elements;           /* of the others */
	int64 *evidence;           /* positions in blobs */
	Blobs blobs;               /* the evidence, or sets that outgrew memory */
	Table table;               /* documents from table_base on, by what they hold */
	uint32 table_base;
} Source;

extern Source *source_read(const char *name, const char *query, const Options *options,
						   const Source *like);
extern void source_end(Source *source);

/* Returns whether two rows, of which one may be NO_ROW, are compared. */
static inline bool
rows_may_meet(const Source *left, uint32 a, const Source *right, uint32 b)
{
	if (a == NO_ROW || b == NO_ROW)
		return false;
	return left->class == NULL || (left->class[a] == right->class[b] && left->class[a] != NO_CLASS);
}

/* ---- Classes of rows (within.c) --------------------------------------------- */

/* A column in which rows must be equal, and how values are compared. */
typedef struct WithinColumn
{
	const char *name;
	int place; /* in the query that is read */
	Oid type;  /* below a domain */
	Oid collation;
	bool by_value;
	int16 length;
	FmgrInfo *equal;
	FmgrInfo *hash;
} WithinColumn;

/* The classes of the rows of a call. */
typedef struct Within
{
	MemoryContext context;
	int columns;
	WithinColumn *column;
	Table table;  /* of the classes */
	Datum *value; /* of each class, `columns` values */
	uint32 room;
} Within;

extern Within *within_begin(char **name, int columns);
extern void within_columns(Within *within, const char *query, TupleDesc row_type, int first);
extern uint32 within_class(Within *within, const Datum *values, const bool *nulls);

/* ---- Units (units.c) --------------------------------------------------------- */

/*
 * A row that has verdicts, as a member of its unit: the rows that are judged the same,
 * directly or by way of others.  Its number is the place of its id, plus the number of
 * places if the row is of the second source.
 */
typedef struct UnitMember
{
	uint32 row;   /* in its source, or NO_ROW */
	uint32 unit;  /* number of the unit's first member */
	uint32 first; /* for a unit: in different, the first pair with another unit */
	uint32 end;
} UnitMember;

/* Two units that are judged different. */
typedef struct UnitPair
{
	uint32 unit;
	uint32 other;
} UnitPair;

/* Within units, the rows of the first source come before those of the second. */
typedef struct Units
{
	const JudgedPairs *verdicts;
	Source *source[2]; /* the keepers' source first; the second may be NULL */
	uint32 places;
	UnitMember *member;
	UnitPair *different; /* each pair in both orders, ascending by unit */
	uint32 pairs;
} Units;

extern Units *units_make(const JudgedPairs *verdicts, Source *keepers, Source *other);
extern uint32 units_of_row(const Units *units, const Source *source, uint32 row);

/* ---- The documents of a source (documents.c) ------------------------------ */

extern void documents_begin(Source *source);
extern void documents_add(Source *source, uint32 row, Datum value, const Datum *evidence);
extern void documents_end(Source *source);
extern uint32 *documents_of_rows(const Source *source);
extern Bag documents_bag(Source *source, uint32 document, void **copy);

/* Loops over the rows of a document in ascending order. */
#define for_each_row(source, document, row) \
	for (uint32 row = (source)->first[document]; row != NO_ROW; row = (source)->next[row])

/* ---- Joins (join_documents.c, join_parallel.c, join_spilled.c) ------------ */

/* Bytes that set_plan() and the sets take for each of their elements, at most. */
#define SET_BYTES 80

/* Returns how many elements of sets memory can hold and join. */
static inline uint64
sets_limit(void)
{
	return (uint64) maintenance_work_mem * 1024 / SET_BYTES;
}

/* Fewer signatures never go to a file. */
#define DOCUMENTS_MIN 1024

/* Documents of a source; all of them where doc is NULL. */
typedef struct Documents
{
	Source *source;
	const uint32 *doc;
	uint32 count;
} Documents;

static inline uint32
document_at(const Documents *list, uint32 place)
{
	return list->doc == NULL ? place : list->doc[place];
}

/* Returns all documents of a source. */
static inline Documents
all_documents(Source *source)
{
	return (Documents){source, NULL, source->documents};
}

/*
 * Takes a pair: a is a document of the first list, b of the second; within one
 * list a comes before b.  Returns false to end the join.
 */
typedef bool (*PairSink)(void *state, uint32 a, uint32 b, double similarity);

/* A join of signatures or of sets, whose documents are in memory. */
typedef struct AnyJoin
{
	bool sets;
	SymbolJoin symbols;
	JoinPlan plan;
	SetJoin set_join;
	SetPlan set_plan;
	SetJoinStats *set_stats;  /* added to */
	size_t held;              /* bytes that the documents take beyond the plan's arrays */
	bool files;               /* signatures, which memory does not hold */
	size_t memory;            /* for files: bytes that a process may take */
	const Documents *list[2]; /* for files; equal to join a list with itself */
	JoinProgress progress;
	void *state; /* of progress */
} AnyJoin;

extern bool documents_join(const Documents *left, const Documents *right, PairSink sink,
						   void *state);
extern bool join_spread(const AnyJoin *join);
extern bool join_spilled(const SetJoin *join, const Documents *left, const Documents *right,
						 uint64 elements, SetJoinStats *stats);
extern uint64 document_length(const Source *source, uint32 document);
extern double documents_similarity(Source *left, uint32 a, Source *right, uint32 b);
extern void join_in_parallel(const AnyJoin *join, int *workers);

/* ---- Pairs to compare as a whole (join_hits.c) ------------------------------ */

typedef struct Hits Hits;

extern Hits *hits_begin(const AnyJoin *join, const JoinPrefix *prefixes, size_t memory);
extern bool hits_add(Hits *hits, int group, uint32 left, uint32 right);
extern bool hits_flush(Hits *hits, int group);

/* ---- Clusters (clusters.c, components.c) ------------------------------------- */

/* The similarity of a row to a keeper if one of them has no signature. */
#define NO_SIMILARITY (-1)

/* Room for pairs that there always is. */
#define EDGES_MIN (256 * 256 / 2)

typedef struct Clusters
{
	Stars stars; /* the first, so that its functions find the others */
	Source *source;
	Source *keepers; /* source of the keepers */
	Units *units;    /* NULL without verdicts */
} Clusters;

/* Returns a zeroed array of any size. */
static inline void *
clusters_allocate(size_t count, size_t size)
{
	return palloc_extended(Max(count, 1) * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

extern void make_components(Clusters *clusters);

/* ---- The SQL functions (call.c) ------------------------------------------- */

/*
 * The arguments of neardup_pairs(), which lacks method and nearest, and of
 * neardup_clusters(), which lacks equal, in their order.  Both exist without
 * id_type, too.
 */
typedef enum CallArgument
{
	ARGUMENT_QUERY,
	ARGUMENT_THRESHOLD,
	ARGUMENT_ID_TYPE,
	ARGUMENT_MULTISET,
	ARGUMENT_AGAINST,
	ARGUMENT_EQUAL,
	ARGUMENT_METHOD,
	ARGUMENT_NEAREST,
	ARGUMENT_VERIFY,
	ARGUMENT_RECALL,
	ARGUMENT_MEASURE,
	ARGUMENT_VERDICTS,
	ARGUMENT_WITHIN,
	CALL_ARGUMENTS
} CallArgument;

#define ARGUMENT_BIT(argument) (UINT32_C(1) << (argument))

typedef struct Call
{
	int place[CALL_ARGUMENTS]; /* of each argument, from 0 */
	Options *options;
	Oid id_type;
	const char *query;
	const char *against_query;  /* NULL if there is none */
	const char *verdicts_query; /* NULL if there is none */
	Source *source;
	Source *against; /* NULL if there is none */
} Call;

extern Call call_begin(FunctionCallInfo fcinfo, uint32 absent);
extern bool call_choice(FunctionCallInfo fcinfo, const Call *call, CallArgument argument,
						const char *name, const char *first, const char *second);
extern void call_read(Call *call);
extern void call_end(Call *call);

#endif
