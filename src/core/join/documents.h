/*
 * documents.h: documents, of rows whose values are equal, and how they are compared.
 */
#ifndef NEARDUP_JOIN_DOCUMENTS_H
#define NEARDUP_JOIN_DOCUMENTS_H

#include "base/table.h"
#include "join/labels.h"
#include "join/records.h"
#include "join/stats.h"
#include "join/stored_sets.h"
#include "sketch/bag.h"
#include "sketch/signature.h"

#define NO_ROW UINT32_MAX
#define NO_DOCUMENT UINT32_MAX
#define NO_PARTITION UINT32_MAX

/* ---- Options and counts ---------------------------------------------------- */

struct PairJoin;
struct Documents;

/*
 * Takes a pair: a is of the first list, b of the second; within one list a comes before b.
 * Returns false to end the join.
 */
typedef bool (*PairSink)(void *state, uint32_t a, uint32_t b, double similarity);

/* Returns the part to join next, or -1.  Then the part that it returned before is done. */
typedef int (*PairNext)(void *state);

/* Does numbered work: for each number that `next` returns, until it returns -1. */
typedef void (*PairWork)(void *state, PairNext next, void *next_state);

/* What a call did. */
typedef struct PairStats
{
	uint64_t joins;
	bool spilled; /* a join went by way of files */
	bool slow;    /* a join was said to be slow */
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
	void (*run)(void *state, struct PairJoin *join, PairSink sink, void *sink_state);
	/* Does work with the numbers below `count` in some threads at once.  NULL: there is one. */
	void (*share)(void *state, int count, PairWork work, void *work_state);
	/* Reads the set of a row, whose arrays are the caller's, where parts of a join run.  NULL: rows
	   bring their sets along. */
	Bag (*read_set)(void *state, const struct Documents *documents, uint32_t row);
	/* Is called while a join runs, with the number of parts that are done; or NULL. */
	void (*progress)(void *state, int done, int parts);
	/* Is called when documents outgrow memory, with the bytes that would hold them; or NULL. */
	void (*spilled)(void *state, const char *what, double bytes);
	/* Is called once if a join takes more than a minute, with about the number of documents that are
	   compared with each other, and the minutes; or NULL. */
	void (*slow)(void *state, double family, double minutes);
	void *state; /* the state of these functions */
	PairStats *stats;
} PairOptions;

/* The least bytes of memory.  Options with less have the effect of this. */
#define MEMORY_MIN ((size_t) 256 * 1024)

/* The bytes for documents and their join, and for pairs that are kept. */
#define DOCUMENT_MEMORY(options) (Max((options)->memory, MEMORY_MIN) / 4 * 3)
#define DOCUMENT_MEMORY_MIN (MEMORY_MIN / 4 * 3)
#define EDGE_MEMORY(options) (Max((options)->memory, MEMORY_MIN) / 4)

/* ---- Documents (documents.c) ---------------------------------------------- */

typedef struct Documents
{
	const PairOptions *options;
	/* Rows, in the order in which they were added. */
	uint32_t rows;
	uint32_t rows_max; /* the most rows that come, which the caller may set first; 0: unknown */
	size_t row_room;
	uint32_t *next;      /* the next row of the same document, or NO_ROW */
	uint32_t *partition; /* the partition of each row; NULL if rows have no partitions */
	const uint32_t
		*scope; /* the scope of each partition, whose documents are joined; NULL: the partition */
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
	uint32_t partition; /* only rows of a partition are compared; NO_PARTITION: joins no document */
	bool separate;      /* it is a document of its own, whatever values are equal */
	const uint8_t *symbols; /* the symbols of a signature of the documents' shape, or NULL */
	const Bag *bag;         /* a set, or NULL */
	const Bag *evidence;    /* a set that belongs to the signature, or NULL */
	uint64_t digest;        /* the digest of the evidence */
} DocumentRow;

extern Documents *documents_begin(const PairOptions *options, bool sets, bool partitions);
extern void documents_add(Documents *documents, const DocumentRow *row);
extern void documents_done(Documents *documents);
extern void documents_end(Documents *documents);

/* Loops over the rows of a document in ascending order. */
#define for_each_row(documents, document, row) \
	for (uint32_t row = (documents)->first[document]; row != NO_ROW; row = (documents)->next[row])

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

/* ---- How documents are stored ------------------------------------------------ */

/* Memory holds at least this many signatures before any go to a file. */
#define DOCUMENTS_MIN 1024

typedef struct DocumentStore
{
	Table table;     /* the documents in memory, by their values */
	uint32_t base;   /* the number of the first of these documents */
	uint64_t secret; /* the secret seed of digests, so that nobody can make equal ones */
	bool *separate;  /* whether rows of equal values do not join each document */
	Records records; /* signatures: symbols, then the digest of the evidence, if there is any */
	SetStore sets;   /* the sets of documents, or their evidence if rows bring it along */
} DocumentStore;

/* Returns the document at a position of a list. */
static inline uint32_t
list_at(const DocumentList *list, uint32_t position)
{
	return list->doc == NULL ? position : list->doc[position];
}

/* Returns the partition of a document. */
static inline uint32_t
document_partition(const Documents *documents, uint32_t document)
{
	return documents->partition[documents->first[document]];
}

extern Bag documents_evidence(const Documents *documents, uint32_t document, void **copy);

/* Frees evidence of documents; `copy` is the copy that has its arrays, or NULL. */
static inline void
evidence_free(const Documents *documents, Bag *bag, void *copy)
{
	if (documents->options->read_set != NULL)
		bag_free(bag);
	host_free(copy);
}

/* Returns whether the frequencies of sets count, or of evidence, as for signatures of weighted sets. */
static inline bool
evidence_weighs(const Documents *documents)
{
	return documents->options->multiset ||
		(!documents->sets && scheme_is_weighted(documents->shape.scheme));
}

#endif
