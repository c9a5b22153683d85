/*
 * check.h: what the files of neardup_check() share.
 */
#ifndef NEARDUP_INDEX_CHECK_H
#define NEARDUP_INDEX_CHECK_H

#include "base/hash.h"
#include "index/inspect.h"
#include "store/sets.h"

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

/*
 * Sorts rows in bounded memory.  A row is a tuple of three bigints: its position, by which rows are
 * sorted, the hash of its signature and that of its keys.
 */
typedef struct RowSort
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
} RowSort;

/* Compares the rows of an index with the rows of its table. */
typedef struct RowCheck
{
	Relation index;
	bool evaluate; /* expressions and the predicate are evaluated; set by the caller */
	bool all_rows; /* each row of the table must have a document; set by the caller */
	RowSort in_index;
	RowSort in_table;
	MemoryContext context; /* the context of one row */
	int64 documents;       /* documents of the index that were put */
	int64 read;            /* rows of the table that were read */
	int64 compared;        /* rows compared with their documents */
} RowCheck;

extern void check_rows_begin(RowCheck *check, Relation index);
extern void check_rows_put(RowCheck *check, const Document *document);
extern void check_rows_compare(RowCheck *check, Relation heap, Snapshot snapshot);

/* ---- Sets (check_sets.c) ----------------------------------------------------- */

/* What a check knows of the sets of a segment or tail. */
typedef struct SetCheck
{
	ElementSource source;
	const Grouping *grouping; /* NULL: there are no postings */
	uint64 wanted;            /* the sum of the postings that the elements of its documents need */
	uint64 found;             /* the sum of the postings that are found, which must be equal */
} SetCheck;

/* Returns what a posting adds to a sum of postings. */
static inline uint64
sum_of_posting(uint32 bucket, uint32 document)
{
	return mix64((uint64) bucket << 32 | document);
}

extern void set_check(SetCheck *check, Document *document, uint32 number, BlockNumber block);

#endif
