/*
 * check.h: the check of a row: what it is compared by, the search for similar rows, and reports.
 *
 * A guard works as an exclusion constraint does: it asks an index, with a dirty snapshot, after
 * the row has its own entry there.  It waits only for the transaction of a similar row that is
 * in progress.  It runs no SQL to search, and all that it does it does as the current user.
 */
#ifndef NEARDUP_GUARD_CHECK_H
#define NEARDUP_GUARD_CHECK_H

#include "guard/rule.h"

#include "access/skey.h"
#include "executor/tuptable.h"

/* ---- Checks -------------------------------------------------------------------- */

typedef struct GuardScan GuardScan;

/* A row that is similar to the new one. */
typedef struct GuardHit
{
	TupleTableSlot *row; /* NULL: there is none */
	const GuardLeaf *leaf;
	double similarity;
	TransactionId transaction; /* the transaction in progress that made or deletes the row, or 0 */
	bool same_statement;
	const GuardScan *scan; /* the scan that has found the row */
} GuardHit;

/* What a search does about similar rows of transactions in progress, if no other is similar. */
typedef enum Unfinished
{
	UNFINISHED_WAIT,
	UNFINISHED_TELL,
	UNFINISHED_IGNORE /* these transactions look later, and will see the new row */
} Unfinished;

/* What a row is compared by. */
typedef struct GuardValues
{
	NullableDatum signature;
	NullableDatum *within; /* values of the terms of the option within */
} GuardValues;

/* The check of a row. */
typedef struct GuardCheck
{
	GuardRule *rule;
	GuardLeaf *leaf;     /* the row's own table */
	Relation table;      /* this table, open */
	TupleTableSlot *row; /* NULL: it was deleted */
	TupleTableSlot *old; /* the row before an update or a deletion, or NULL */
	bool stored;         /* the row is stored, not about to be */
	Snapshot snapshot;   /* what is searched; NULL: all that is committed or in progress */
	Unfinished unfinished;
	bool unsure;         /* the search has met a transaction in progress, and told of it */
	TransactionId later; /* transactions from here on began after the row was stored; 0: unknown */
	GuardValues values;  /* the values of the row */
	EState *state;       /* the state for expressions; NULL until one is needed */
	List *prepared;      /* expressions */
	List *judged[2];     /* Datum: groups of rows judged different, and the same; ascending */
} GuardCheck;

/* ---- Values of rows (compared_values.c) ------------------------------------------------ */

extern bool guard_is_same(const GuardTerm *term, NullableDatum a, NullableDatum b);
extern NullableDatum guard_get(GuardCheck *check, TupleTableSlot *row, const GuardTerm *term);
extern bool guard_is_true(GuardCheck *check, TupleTableSlot *row, const GuardTerm *term);
extern bool guard_is_kept(GuardCheck *check, TupleTableSlot *old, TupleTableSlot *new,
						  const GuardTerm *term);
extern bool guard_read_values(GuardCheck *check, TupleTableSlot *row, GuardValues *values);
extern bool guard_begin_search(GuardCheck *check);
extern bool guard_compares_alike(GuardCheck *check, bool found, TupleTableSlot *old);

/* ---- Searching (search.c) ------------------------------------------------------ */

/* What a visitor of similar rows decides. */
typedef enum GuardStep
{
	STEP_ON,
	STEP_OVER, /* the rest of the scan */
	STEP_OUT   /* the search ends */
} GuardStep;

typedef GuardStep (*GuardVisitor)(GuardCheck *check, const GuardHit *hit, void *state);

extern bool guard_set_key(ScanKey key, Relation index, int flags, int column, int strategy,
						  Oid right, Datum argument);
extern bool guard_is_within(GuardCheck *check, const GuardLeaf *leaf, TupleTableSlot *row,
							bool scope);
extern void guard_visit(GuardCheck *check, bool ordered, GuardVisitor visit, void *state);
extern bool guard_search(GuardCheck *check);
extern CommandId guard_command_of(TupleTableSlot *row);
extern bool guard_finds_nearest(GuardCheck *check, GuardHit *hit);

/* ---- Messages (report.c) ----------------------------------------------------------- */

extern Datum guard_key_text(const GuardLeaf *leaf, TupleTableSlot *row);
extern void guard_report(const GuardCheck *check, const GuardHit *hit);

#endif
