/*
 * check.h: what neardup_check() does with the rows of an index and of its table.
 */
#ifndef NEARDUP_INDEX_CHECK_H
#define NEARDUP_INDEX_CHECK_H

#include "index/inspect.h"

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

/*
 * Sorts rows in bounded memory.  A row is a tuple of three bigints, its place and the hashes
 * of its signature and its keys, and the place is the key.
 */
typedef struct RowSort
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
} RowSort;

/* Compares the rows of an index with those of its table. */
typedef struct RowCheck
{
	Relation index;
	bool evaluate; /* expressions and the predicate; set by the caller ... */
	bool all_rows; /* ... as this: each row of the table must have a document */
	RowSort in_index;
	RowSort in_table;
	MemoryContext context; /* of one row */
	int64 documents;       /* put */
	int64 read;            /* rows of the table */
	int64 compared;        /* with their documents */
} RowCheck;

extern void check_rows_begin(RowCheck *check, Relation index);
extern void check_rows_put(RowCheck *check, const Document *document);
extern void check_rows_compare(RowCheck *check, Relation heap, Snapshot snapshot);

#endif
