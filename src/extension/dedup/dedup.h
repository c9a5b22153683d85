/*
 * dedup.h: neardup_pairs() and neardup_clusters(): the pairs and clusters of
 * near-duplicates among the rows of a query.
 *
 * A call reads its query once into a Source, whose rows form documents
 * (join/pairs.h).  That engine finds the pairs of similar documents, or their
 * clusters; the caller turns them back into pairs or clusters of rows.  What only
 * the server has is here: queries and ids, parallel workers (workers.c), partitions of rows
 * ("within") and verdicts.  The query may also return evidence for each row, a set of shingles
 * beside its signature, which decides on pairs.  Verdicts are read first; for
 * clusters, each row that they name is a document of its own.
 */
#ifndef NEARDUP_DEDUP_DEDUP_H
#define NEARDUP_DEDUP_DEDUP_H

#include "calls/arguments.h"
#include "calls/objects.h"
#include "calls/schemes.h"

#include "funcapi.h"

#include "base/table.h"
#include "join/pairs.h"
#include "calls/progress.h"
#include "calls/judged.h"
#include "types/shingles_type.h"
#include "types/signature_type.h"

/* ---- Options of a call (call.c) ------------------------------------------ */

typedef struct PairCallOptions
{
	PairOptions pair; /* the first, so that both are one address */
	PairStats stats;
	Oid function; /* the SQL function called */
	IdType ids;
	JudgedPairs *verdicts; /* NULL if there are none */
	bool judged_separate;  /* each row that has a verdict is a document of its own */
	struct Within *within; /* the columns in which rows must be equal, or NULL */
	int workers;           /* workers of the join that had most */
} PairCallOptions;

/* ---- Partitions of rows (within.c) --------------------------------------------- */

/* A column in which rows must be equal, and how values are compared. */
typedef struct WithinColumn
{
	const char *name;
	bool unknown; /* a NULL is equal to all values */
	int position; /* the column's position in the query that is read */
	Oid type;     /* the type below a domain */
	Oid collation;
	bool by_value;
	int16 length;
	FmgrInfo *equal;
	FmgrInfo *hash;
} WithinColumn;

/* The partitions of the rows of a call. */
typedef struct Within
{
	MemoryContext context;
	int columns;
	WithinColumn *column;
	Table table;          /* the table of the partitions */
	NullableDatum *value; /* `columns` values of each partition */
	uint32 room;
	struct Within
		*scopes;   /* the partitions by the columns that are not unknown; NULL: all are such */
	uint32 *scope; /* the scope of each partition */
} Within;

extern Within *within_begin(char **name, int columns, char **unknown, int unknowns);
extern void within_columns(Within *within, const char *query, TupleDesc row_type, int first);
extern bool within_meet(const Within *within, uint32 a, uint32 b);
extern bool within_share_scope(const Within *within, uint32 a, uint32 b);
extern uint32 within_partition(Within *within, const Datum *values, const bool *nulls);

/* ---- The rows of a query (source.c) --------------------------------------- */

typedef struct Source
{
	MemoryContext context;
	const char *name; /* the argument's name, for messages */
	PairCallOptions *options;
	uint32 row_room;
	Datum *id;          /* the id of each row */
	uint32 *judged;     /* position of the row's id in the verdicts, or NOT_JUDGED */
	uint32 *judged_row; /* row of each id in the verdicts, or NO_ROW */
	bool sets;          /* values are sets of shingles, not signatures */
	bool shaped;        /* there has been a value, and so a shape */
	Documents *documents;
} Source;

extern Source *source_read(const char *name, const char *query, PairCallOptions *options,
						   const Source *like);
extern void source_end(Source *source);
extern uint32 *documents_of_rows(const Documents *documents);

/* Returns whether two rows, of which one may be NO_ROW, are compared. */
static inline bool
rows_may_meet(const Source *left, uint32 a, const Source *right, uint32 b)
{
	const uint32 *partition = left->documents->partition;

	if (a == NO_ROW || b == NO_ROW)
		return false;
	return partition == NULL ||
		within_meet(left->options->within, partition[a], right->documents->partition[b]);
}

/*
 * Returns whether a verdict on two rows, of which one may be NO_ROW, counts: if a column is unknown, rows
 * that are not compared may be near a third one, and so in one cluster.
 */
static inline bool
rows_share_scope(const Source *left, uint32 a, const Source *right, uint32 b)
{
	const uint32 *partition = left->documents->partition;

	if (a == NO_ROW || b == NO_ROW)
		return false;
	return partition == NULL ||
		within_share_scope(left->options->within, partition[a], right->documents->partition[b]);
}

/* ---- Parallel workers (workers.c) ------------------------------------------- */

extern void workers_run(void *options, PairJoin *join, PairSink sink, void *state);

/* ---- Units (units.c) --------------------------------------------------------- */

/*
 * A row that has verdicts, as a member of its unit: the rows that are judged the same,
 * directly or by way of others.  Its number is the position of its id, plus the number of
 * positions if the row is of the second source.
 */
typedef struct UnitMember
{
	uint32 row;   /* its row in its source, or NO_ROW */
	uint32 unit;  /* number of the unit's first member */
	uint32 first; /* the first pair of a unit with another unit in different */
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
	uint32 positions;
	UnitMember *member;
	UnitPair *different; /* the pairs in both orders, ascending by unit */
	uint32 pairs;
} Units;

extern Units *units_make(const JudgedPairs *verdicts, Source *keepers, Source *other);
extern uint32 units_of_row(const Units *units, const Source *source, uint32 row);

/* ---- Clusters (neardup_clusters.c, judged_components.c) ------------------------------------- */

/* The similarity of a row to a keeper if one of them has no signature. */
#define NO_SIMILARITY (-1)

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

extern void components_by_similarity(Clusters *clusters);

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
	ARGUMENT_CONTAINED,
	ARGUMENT_RECALL,
	ARGUMENT_MEASURE,
	ARGUMENT_VERDICTS,
	ARGUMENT_WITHIN,
	ARGUMENT_UNKNOWN,
	CALL_ARGUMENTS
} CallArgument;

#define ARGUMENT_BIT(argument) (UINT32_C(1) << (argument))

typedef struct Call
{
	int position[CALL_ARGUMENTS]; /* the position of each argument, from 0 */
	PairCallOptions *options;
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
