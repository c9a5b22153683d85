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

#include "join/set_join.h"
#include "join/stats.h"
#include "sketch/bag.h"
#include "sketch/signature.h"

#define NO_ROW UINT32_MAX
#define NO_DOCUMENT UINT32_MAX
#define NO_CLASS UINT32_MAX

/* ---- Options and counts ---------------------------------------------------- */

typedef struct PairJoin PairJoin;
struct Documents;

/*
 * Takes a pair: a is of the first list, b of the second; within one list a comes before b.
 * Returns false to end the join.
 */
typedef bool (*PairSink)(void *state, uint32_t a, uint32_t b, double similarity);

/* Returns the part to join next, or -1.  Then the part that it returned before is done. */
typedef int (*PairNext)(void *state);

/* What a call did. */
typedef struct PairStats
{
	uint64_t joins;
	bool spilled; /* a join went by way of files */
	int groups;   /* these three: the plan of the first join of signatures, as in JoinPlan */
	int radius;
	int one_more;
	JoinStats join; /* the figures of all joins */
	uint64_t pairs; /* pairs that were passed on */
} PairStats;

/* How documents are compared, with how much memory, and which functions help. */
typedef struct PairOptions
{
	double threshold; /* the threshold, above 0 and at most 1 */
	double recall;    /* the probability of finding a pair of signatures at the threshold; 1: all */
	bool evidence;    /* sets that belong to the signatures decide which documents are similar */
	double contained; /* evidence, if above 0: a document is similar to one before, or to a keeper,
						 that has at least this share of it */
	bool multiset;    /* compare sets as multisets */
	Measure measure;
	size_t memory; /* about how many bytes documents and a join may take */
	int sides;     /* the sides that share the memory, 1 or 2 */
	/* Runs a join and passes its pairs on, as pairs_run() does.  NULL: this thread does it. */
	void (*run)(void *state, PairJoin *join, PairSink sink, void *sink_state);
	/* Reads the set of a row, whose arrays are the caller's, where parts of a join run.  NULL: rows
	   bring their sets along. */
	Bag (*read_set)(void *state, const struct Documents *documents, uint32_t row);
	/* Is called while a join runs, with the number of parts that are done; or NULL. */
	void (*progress)(void *state, int done, int parts);
	/* Is called when documents outgrow memory, with the bytes that would hold them; or NULL. */
	void (*spilled)(void *state, const char *what, double bytes);
	void *state; /* the state of these functions */
	PairStats *stats;
} PairOptions;

/* The least bytes of memory.  Options with less have the effect of this. */
#define MEMORY_MIN ((size_t) 256 * 1024)

/* The bytes for documents and their join, and for pairs that are kept. */
#define DOCUMENT_MEMORY(options) (Max((options)->memory, MEMORY_MIN) / 4 * 3)
#define EDGE_MEMORY(options) (Max((options)->memory, MEMORY_MIN) / 4)

/* ---- Documents (documents.c) ---------------------------------------------- */

typedef struct Documents
{
	const PairOptions *options;
	/* Rows, in the order in which they were added. */
	uint32_t rows;
	uint32_t rows_max; /* the most rows that come, which the caller may set first; 0: unknown */
	size_t row_room;
	uint32_t *next;  /* the next row of the same document, or NO_ROW */
	uint32_t *class; /* the class of each row; NULL if rows have no classes */
	/* Documents. */
	bool sets;             /* values are sets, not signatures */
	SignatureHeader shape; /* the shape of all values; the caller sets it before the first */
	uint32_t count;
	size_t room;
	uint32_t *first; /* first row of each */
	uint32_t *last;
	struct DocumentStore *store;
} Documents;

/* A row that is added. */
typedef struct DocumentRow
{
	uint32_t class;         /* only rows of a class are compared; NO_CLASS: joins no document */
	bool alone;             /* it is a document of its own, whatever values are equal */
	const uint8_t *symbols; /* the symbols of a signature of the documents' shape, or NULL */
	const Bag *bag;         /* a set, or NULL */
	const Bag *evidence;    /* a set that belongs to the signature, or NULL */
	uint64_t digest;        /* the digest of the evidence: equal sets have equal 56 bits */
	bool lone;              /* the row's set is similar to none of another lone row */
} DocumentRow;

extern Documents *documents_begin(const PairOptions *options, bool sets, bool classes);
extern void documents_add(Documents *documents, const DocumentRow *row);
extern void documents_done(Documents *documents);
extern void documents_end(Documents *documents);
extern double documents_similarity(const Documents *left, uint32_t a, const Documents *right,
								   uint32_t b);

/* Loops over the rows of a document in ascending order. */
#define for_each_row(documents, document, row) \
	for (uint32_t row = (documents)->first[document]; row != NO_ROW; row = (documents)->next[row])

/* ---- Pairs (pairs.c) ------------------------------------------------------- */

/* Some documents; all of them where doc is NULL. */
typedef struct DocumentList
{
	Documents *documents;
	const uint32_t *doc;
	uint32_t count;
	const JoinLabels *labels; /* the labels of a list that is joined with itself, or NULL */
	bool unjudged;            /* the left list is not judged: the sink judges its pairs */
	bool members;             /* the left list joins keepers, which the right one has */
} DocumentList;

/* Returns all documents. */
static inline DocumentList
all_documents(Documents *documents)
{
	return (DocumentList){documents, NULL, documents->count};
}

/* A join that is planned and loaded. */
struct PairJoin
{
	int parts;
	double cost;          /* nanoseconds, estimated */
	size_t process_bytes; /* bytes that each process needs at least, beyond the arrays */
	size_t held;          /* bytes that documents take beside the arrays */
	uint64_t most;        /* pairs that the sink takes, at most */
	size_t memory;        /* bytes that a process may take */
	bool files;           /* memory does not hold the documents */
};

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
	PairSink sink; /* takes places in the lists */
	void *state;
	PairNext next; /* NULL: all parts in turn */
	void *next_state;
	bool apart;       /* the pairs of a part are passed on before the next part begins */
	JoinStats *stats; /* the figures that a run adds to */
	bool reports;     /* the options' progress is called; in the process that made the join only */
} PairRun;

extern bool pairs_join(const DocumentList *left, const DocumentList *right, uint64_t most,
					   PairSink sink, void *state);
extern void pairs_arrays(const PairJoin *join, PairArray array[PAIR_ARRAYS]);
extern PairJoin *pairs_attach(const PairArray array[PAIR_ARRAYS]);
extern bool pairs_run(const PairJoin *join, const PairRun *run);

/* ---- Pairs judged by their evidence (evidence.c) --------------------------- */

typedef struct Judge Judge;

extern Judge *judge_begin(const DocumentList *left, const DocumentList *right, size_t memory);
extern bool judge_pair(Judge *judge, uint32_t a, uint32_t b, double *similarity);
extern void judge_end(Judge *judge);

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
