/*
 * guard.h: guards: triggers of neardup_guard_row(), which refuse, report, record or skip a row
 * that is similar to another row.
 *
 * A guard works as an exclusion constraint does: it asks an index, with a dirty snapshot, after
 * the row has its own entry there.  It waits only for the transaction of a similar row that is
 * in progress.  It runs no SQL to search, and all that it does it does as the current user.
 */
#ifndef NEARDUP_GUARD_GUARD_H
#define NEARDUP_GUARD_GUARD_H

#include "types/calls.h"

#include "commands/trigger.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* ---- Options (options.c) -------------------------------------------------- */

/* The arguments of neardup_guard() that its triggers keep, as 'name=value'. */
typedef enum GuardOption
{
	OPTION_SIGNATURE,
	OPTION_THRESHOLD,
	OPTION_ACTION,
	OPTION_WITHIN,
	OPTION_CONDITION,
	OPTION_AGAINST,
	OPTION_MEASURE,
	OPTION_RECORD_IN,
	OPTION_UNLESS,
	OPTION_SHOW,
	OPTIONS
} GuardOption;

/* The values as written; NULL where none is given. */
typedef struct GuardOptions
{
	const char *value[OPTIONS];
} GuardOptions;

typedef enum GuardAction
{
	ACTION_REJECT,
	ACTION_WARN,
	ACTION_LOG,
	ACTION_SKIP,
	ACTION_GROUP,
	ACTION_NONE, /* drops guards */
	ACTIONS
} GuardAction;

/* What the threshold bounds. */
typedef enum GuardMeasure
{
	MEASURE_SIMILARITY,
	MEASURE_CONTAINED,   /* the part of the new row's set that is in the other */
	MEASURE_CONTAINS,    /* the part of the other row's set that is in the new row's */
	MEASURE_CONTAINMENT, /* the greater of both */
	MEASURES
} GuardMeasure;

extern const char *const guard_option_names[OPTIONS];

extern GuardOptions guard_options(const Trigger *trigger);
extern const char *guard_arguments(const GuardOptions *options);
extern GuardAction guard_action(const GuardOptions *options);
extern GuardMeasure guard_measure(const GuardOptions *options);
extern double guard_threshold(const GuardOptions *options);
extern List *guard_names(const GuardOptions *options, GuardOption option);
extern List *guard_items(const GuardOptions *options, GuardOption option);
extern const char *guard_unless_column(Oid table, const char *item);
extern Node *guard_parse(Relation table, const char *text, bool condition);
extern _Noreturn void refuse_option(GuardOption option, const char *detail, const char *hint);

/* ---- Rules (rule.c) -------------------------------------------------------- */

/* A column of the option within. */
typedef struct WithinColumn
{
	const char *name;
	Interval *span; /* NULL: rows must be equal in it; else they lie at most so far apart */
} WithinColumn;

/* A table whose rows refuse others: the guarded table or the one of the option against. */
typedef struct GuardSide
{
	Oid table;
	int keys; /* columns of its primary key */
	const char **key;
	SPIPlanPtr record; /* inserts a pair into the log; NULL: not yet prepared */
	SPIPlanPtr judged; /* looks for a verdict on a pair; the same */
} GuardSide;

/* What a search needs to know of an ordinary table or partition. */
typedef struct GuardPlace
{
	Oid table; /* the key of a hash table */
	GuardSide *side;
	Oid index;
	Expr *signature;  /* of a row: a column, or the expression of the index */
	List *condition;  /* on a row, with implicit AND; NIL: none */
	AttrNumber unless; /* a boolean column, or InvalidAttrNumber */
	AttrNumber *within; /* the columns of the option within */
	int *key;           /* and which columns of the index they are; 0: none */
} GuardPlace;

typedef struct GuardCounts GuardCounts;

/* A guard, as a session keeps it until one of its tables changes. */
typedef struct GuardRule
{
	Oid trigger; /* on the guarded table: the key of a hash table */
	MemoryContext context;
	const char *name;
	Oid function; /* neardup_guard_row() */
	GuardOptions options;
	GuardAction action;
	GuardMeasure measure;
	double threshold;
	const char *signature; /* a column, or an expression */
	int withins;
	WithinColumn *within;
	const char *unless;   /* a boolean column, or NULL */
	Oid verdicts;         /* a table, or InvalidOid */
	Oid log;              /* the same */
	int shown;
	const char **show;
	GuardSide side[2]; /* that of the guarded table; the other table, or InvalidOid */
	HTAB *place;
	GuardCounts *counts;
} GuardRule;

/* A trigger that fires for the rows of a table: the guard's, or a partition's copy of it. */
typedef struct GuardTrigger
{
	Oid trigger; /* the key of a hash table */
	GuardRule *rule;
	List *tables; /* OIDs of the tables that are searched for a row of the trigger's table */
} GuardTrigger;

extern GuardTrigger *guard_trigger(const Trigger *trigger, Relation table, Oid function);
extern GuardPlace *guard_place(GuardRule *rule, Relation table);
extern Oid guard_root(Oid trigger, Oid *root);
extern void guard_keep_plan(SPIPlanPtr plan);

/* ---- Tables and indexes (place.c) -------------------------------------------- */

extern void guard_find_key(GuardSide *side);
extern bool guard_key_column(const GuardRule *rule, const GuardSide *side, const char **name);
extern List *guard_tables(const GuardRule *rule, Relation table, Oid **watched, int *count);
extern void guard_fill_place(GuardRule *rule, GuardPlace *place, Relation table);
extern bool guard_has_index(const GuardRule *rule, Relation table);
extern const char *guard_index_statement(const GuardRule *rule, const GuardSide *side);

/* ---- Searching (search.c) ------------------------------------------------------ */

/* A row that is similar to the new one. */
typedef struct GuardHit
{
	TupleTableSlot *row; /* NULL: there is none */
	const GuardPlace *place;
	double similarity;
	bool same_statement;
} GuardHit;

/* The check of a row. */
typedef struct GuardCheck
{
	GuardTrigger *trigger;
	GuardRule *rule;
	GuardPlace *place; /* of the row's own table */
	TriggerData *data;
	TupleTableSlot *row;
	bool stored; /* else it is about to be */
	NullableDatum signature;
	Datum *within;
	EState *state; /* for expressions; NULL until one is needed */
} GuardCheck;

extern NullableDatum guard_value(GuardCheck *check, Expr *expression, TupleTableSlot *row);
extern bool guard_holds(GuardCheck *check, const List *condition, TupleTableSlot *row);
extern bool guard_begin_search(GuardCheck *check);
extern bool guard_finds(GuardCheck *check);
extern bool guard_finds_nearest(GuardCheck *check, GuardHit *hit);

/* ---- Statements as the current user (statements.c) ------------------------------- */

extern bool guard_is_judged(GuardCheck *check, const GuardPlace *place, TupleTableSlot *other);
extern void guard_check_statements(GuardRule *rule);
extern void guard_record(GuardCheck *check, const GuardHit *hit);
extern const char *guard_equality(const char *left, Oid type, const char *right);
extern const char *guard_qualified(Oid relation);

/* ---- Messages (report.c) ----------------------------------------------------------- */

extern void guard_report(const GuardCheck *check, const GuardHit *hit, int level);

/* ---- Counts (counts.c) --------------------------------------------------------------- */

/* What happens to a row that is compared. */
typedef enum GuardEvent
{
	GUARD_PASSED,
	GUARD_REFUSED,
	GUARD_REPORTED, /* let in, with a notice or a record */
	GUARD_GROUPED,  /* let in, into a group that was there */
	GUARD_EVENTS
} GuardEvent;

extern void guard_count(GuardCounts **counts, Oid trigger, Oid guarded, GuardEvent event);

#endif
