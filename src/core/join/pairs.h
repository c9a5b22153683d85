/*
 * pairs.h: the pairs and the clusters of similar documents, for SQL, the command and the library.
 *
 * Rows are added one after the other.  Rows whose values are equal form one document, so that
 * thousands of copies cost no more than one; documents are numbered in the order of their first
 * rows.  Rows of two documents may alternate, so a measure that depends on the order of two rows is
 * that of rows, not of documents.  A value is a signature or a set.  Documents that outgrow memory go
 * to temporary files.
 *
 * Signatures only estimate.  If each has a set, its evidence, pairs that may be similar are only
 * candidates, and their sets decide.  Then the answer is exact, except that one in 30,000 of the
 * pairs just at the threshold is no candidate.
 *
 * pairs_join() passes the pairs of similar documents of one list or two.  It makes a join, of
 * signatures or of sets, in memory or by way of files, which is done in parts.  A runner may give
 * the parts to threads or processes: pairs_arrays() lists what they read, pairs_attach() makes
 * the join from these arrays in each of them, and pairs_run() joins the parts that it is given.
 *
 * stars_make() makes clusters around keepers.
 */
#ifndef NEARDUP_JOIN_PAIRS_H
#define NEARDUP_JOIN_PAIRS_H

#include "join/documents.h"
#include "join/evidence.h"
#include "join/forecast.h"

/* ---- Pairs (pairs.c) ------------------------------------------------------- */

/* A join that is planned and loaded. */
typedef struct PairJoin
{
	int parts;
	double cost;          /* nanoseconds, estimated */
	size_t process_bytes; /* bytes that each process needs at least, beyond the arrays */
	size_t held;          /* bytes that documents take beside the arrays */
	uint64_t most;        /* pairs that the sink takes, at most */
	size_t memory;        /* bytes that a process may take */
	int processes;        /* processes that join parts at once */
	bool files;           /* memory does not hold the documents */
} PairJoin;

/* What all processes of a join read: memory, or a file. */
typedef struct PairArray
{
	const void *memory;
	size_t bytes;
	HostFile *file;
} PairArray;

#define PAIR_ARRAYS 9

/* How a process runs parts of a join. */
typedef struct PairRun
{
	PairSink sink; /* takes positions in the lists */
	void *state;
	PairNext next; /* NULL: all parts in turn */
	void *next_state;
	bool by_part;     /* the pairs of a part are passed on before the next part begins */
	JoinStats *stats; /* the figures that a run adds to */
	bool reports;     /* the options are told how the join goes; in the process that made it only */
	Forecast *forecast; /* set by pairs_run() */
} PairRun;

extern bool pairs_join(const DocumentList *left, const DocumentList *right, uint64_t most,
					   PairSink sink, void *state);
extern void pairs_arrays(const PairJoin *join, PairArray array[PAIR_ARRAYS]);
extern PairJoin *pairs_attach(const PairArray array[PAIR_ARRAYS]);
extern bool pairs_run(const PairJoin *join, const PairRun *run);

/* ---- Clusters (stars.c, components.c) -------------------------------------- */

/* Two rows that stand for similar documents. */
typedef struct Edge
{
	uint32_t second; /* edges are sorted by it, then by the first */
	uint32_t first;
	double similarity;
} Edge;

/*
 * Clusters around keepers.  Some documents may form a unit, which joins as a whole: one row
 * stands for all of them.  A document may also wait for its turn, if the documents that joined
 * before decide which keepers it may join.
 */
typedef struct Stars
{
	Documents *documents;
	Documents *keepers;    /* other documents that are the keepers; NULL: `documents` has them */
	const uint32_t *order; /* documents in the order of their rows; NULL: all in turn */
	uint32_t count;        /* the number of documents in `order` */
	const uint32_t *first; /* row that stands for each document */
	const uint32_t *keeper_first; /* row that stands for each document of `keepers` */
	bool nearest;                 /* documents join the most similar keeper, not the first */
	uint32_t *keeper;             /* the keeper of each row, NO_ROW at first */
	double *similarity;           /* the similarity of each row to its keeper */
	/* Returns whether a document waits for its turn.  NULL: none does. */
	bool (*waits)(const struct Stars *stars, uint32_t document);
	/* Returns whether a document that waits may join a keeper, a row, now. */
	bool (*is_allowed)(const struct Stars *stars, uint32_t document, uint32_t keeper);
	/* Returns whether a document and a keeper are compared.  NULL: all of one partition are. */
	bool (*may_meet)(const struct Stars *stars, uint32_t document, uint32_t keeper);
	Judge *judge; /* the judge of candidates; NULL: edges are of similar documents */
	/* The edges that stars_make() keeps. */
	Edge *edge;
	size_t edges;
	size_t room;
	size_t limit;
	uint64_t begun; /* pairs that were compared before the last try to find edges */
} Stars;

extern void stars_make(Stars *stars);
extern void components_make(Stars *stars);
extern void components_set(Stars *stars, uint32_t *parent);

#endif
