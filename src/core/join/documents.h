/*
 * documents.h: how documents are stored (documents.c), for pairs.c and its joins.
 */
#ifndef NEARDUP_JOIN_DOCUMENTS_H
#define NEARDUP_JOIN_DOCUMENTS_H

#include "base/table.h"
#include "join/pairs.h"
#include "join/records.h"

/* The most bytes that a join takes for each element of its sets, the sets included. */
#define SET_BYTES 80

/* Memory holds at least this many signatures before any go to a file. */
#define DOCUMENTS_MIN 1024

/* A set in memory: its elements, then their frequencies if not all are 1. */
typedef struct StoredBag
{
	uint32_t count; /* the number of elements */
	bool weighted;  /* frequencies follow */
	int64_t element[];
} StoredBag;

/* Where the set of a document is. */
typedef struct StoredSet
{
	uint64_t length; /* the length by which it is compared */
	uint32_t count;  /* the number of its elements */
	bool in_file;
	union
	{
		StoredBag *bag;
		uint64_t position; /* the position in blobs */
	} at;
} StoredSet;

/* A piece of memory for sets.  All chunks are freed together. */
typedef struct Chunk
{
	struct Chunk *next;
	size_t used;
	size_t room;
	uint64_t bytes[];
} Chunk;

typedef struct DocumentStore
{
	Table table;     /* the documents in memory, by their values */
	uint32_t base;   /* the number of the first of these documents */
	uint64_t secret; /* the secret seed of digests, so that nobody can make equal ones */
	bool *alone;     /* whether rows of equal values do not join each document */
	/* Signatures: symbols, then the digest of the evidence, if there is any.  If rows do not bring
	   their evidence, the last byte of the digest is DocumentRow.lone. */
	Records records;
	bool lone;          /* some documents are lone */
	StoredSet *set;     /* the sets of documents, if they are sets */
	Chunk *chunks;      /* the chunks of the sets in memory */
	uint64_t elements;  /* the elements of these sets */
	uint64_t limit;     /* the most elements that memory may hold and join */
	uint32_t flushed;   /* the sets in blobs, which are the first ones */
	uint64_t *evidence; /* the position of each document's evidence in blobs; NULL: there is none */
	Blobs blobs;        /* evidence, or sets that outgrew memory */
} DocumentStore;

/* Returns the bytes of a record by which documents differ: all but the byte of lone documents. */
static inline size_t
record_key_bytes(const Documents *documents)
{
	return documents->store->records.stride - (documents->options->read_set != NULL);
}

/* Returns the document at a place of a list. */
static inline uint32_t
list_at(const DocumentList *list, uint32_t place)
{
	return list->doc == NULL ? place : list->doc[place];
}

/* Returns the class of a document. */
static inline uint32_t
document_class(const Documents *documents, uint32_t document)
{
	return documents->class[documents->first[document]];
}

extern bool join_lists(const DocumentList *left, const DocumentList *right, uint64_t most,
					   PairSink sink, void *state);
extern bool join_classes(const DocumentList *left, const DocumentList *right, uint64_t most,
						 PairSink sink, void *state);
extern Bag documents_bag(const Documents *documents, uint32_t document, void **copy);
extern Bag documents_evidence(const Documents *documents, uint32_t document, void **copy);
extern double evidence_similarity(const Documents *left, uint32_t a, const Documents *right,
								  uint32_t b);

/* Frees evidence; `copy` is the copy that has its arrays, or NULL. */
static inline void
evidence_free(Bag *bag, void *copy)
{
	if (copy == NULL)
		bag_free(bag);
	host_free(copy);
}

/* Returns whether the frequencies of evidence count, as for signatures of weighted sets. */
static inline bool
evidence_weighs(const Documents *documents)
{
	return documents->options->multiset || scheme_is_weighted(documents->shape.scheme);
}

extern int candidate_radius(const PairOptions *options, const SignatureHeader *shape);

/* ---- Documents joined by their evidence (evidence_join.c) ------------------ */

extern bool evidence_joins(const DocumentList *left, const DocumentList *right, double cost);
extern bool join_evidence(const DocumentList *left, const DocumentList *right, uint64_t most,
						  PairSink sink, void *state);

#endif
