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
#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "sketch/overlap.h"

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

extern const char *const guard_option_names[OPTIONS];

extern GuardOptions guard_options(const Trigger *trigger);
extern const char *guard_arguments(const GuardOptions *options);
extern GuardAction guard_action(const GuardOptions *options);
extern Measure guard_measure(const GuardOptions *options);
extern double guard_threshold(const GuardOptions *options);
extern List *guard_names(const GuardOptions *options, GuardOption option);
extern List *guard_items(const char *text);
extern AttrNumber guard_named_column(Oid table, const char *name);
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
	Expr *signature;    /* of a row: a column, or the expression of the index */
	List *condition;    /* on a row, with implicit AND; NIL: none */
	AttrNumber unless;  /* a boolean column, or InvalidAttrNumber */
	AttrNumber *within; /* the columns of the option within */
	int *key;           /* and which columns of the index they are; 0: none */
	Node *generation;   /* of a signature that is a generated column, or NULL */
	Bitmapset *sources; /* columns that the signature is made of, from FirstLowInvalid... on */

	/* Of a guard that groups rows. */
	AttrNumber group_key; /* names rows */
	AttrNumber group;     /* the key of the row that leads the row's group */
	List *leads;          /* on a row: it leads a group */
} GuardPlace;

typedef struct GuardCounts GuardCounts;

/* A guard, as a session keeps it until one of its tables changes. */
typedef struct GuardRule
{
	Oid trigger; /* on the guarded table: the key of a hash table */
	MemoryContext context;
	const char *name;
	Oid function; /* neardup_guard_row() */
	Oid ball;     /* the type */
	GuardOptions options;
	GuardAction action;
	Measure measure;
	double threshold;
	const char *signature; /* a column, or an expression */
	int withins;
	WithinColumn *within;
	const char *unless;    /* a boolean column, or NULL */
	Oid verdicts;          /* a table, or InvalidOid */
	Oid log;               /* the same */
	const char *group;     /* the column of groups, or NULL */
	const char *group_key; /* the column that names rows in it */
	int shown;
	const char **show;
	GuardSide side[2]; /* that of the guarded table; the other table, or InvalidOid */
	bool asks_right;   /* who writes a row must have the right to read the other table */
	HTAB *place;
	GuardCounts *counts;
	SPIPlanPtr hand_on; /* places the members of a group again; NULL: not yet prepared */
	SPIPlanPtr bound;   /* finds the groups of rows that are judged; the same */
	SPIPlanPtr follow;  /* places rows that are judged the same again; the same */
	SPIPlanPtr leader;  /* finds the leader of a group; the same */
} GuardRule;

/* A trigger that fires for the rows of a table: the guard's, or a partition's copy of it. */
typedef struct GuardTrigger
{
	Oid trigger; /* the key of a hash table */
	GuardRule *rule;
	List *tables;     /* OIDs of the tables that are searched for a row of the trigger's table */
	bool looks_again; /* a trigger after each statement looks again at rows that are unsure */
} GuardTrigger;

extern GuardTrigger *guard_trigger(const Trigger *trigger, Relation table, Oid function);
extern GuardPlace *guard_place(GuardRule *rule, Relation table);
extern void guard_keep_plan(SPIPlanPtr plan);
extern void guard_forget(void);
extern const char *guard_helper_name(const char *guard, const char *label);

/* ---- Tables and indexes (place.c) -------------------------------------------- */

extern void guard_find_key(GuardSide *side);
extern const char *guard_key_column(const GuardRule *rule, const GuardSide *side);
extern List *guard_tables(const GuardRule *rule, Relation table, Oid **watched, int *count);
extern void guard_fill_place(GuardRule *rule, GuardPlace *place, Relation table);
extern bool guard_has_index(const GuardRule *rule, Relation table);
extern const char *guard_index_statement(const GuardRule *rule, const GuardSide *side);

/* ---- Checks -------------------------------------------------------------------- */

/* A row that is similar to the new one. */
typedef struct GuardHit
{
	TupleTableSlot *row; /* NULL: there is none */
	const GuardPlace *place;
	double similarity;
	bool same_statement;
} GuardHit;

/* What a search does about similar rows of transactions in progress, if no other is similar. */
typedef enum Unfinished
{
	UNFINISHED_WAIT,
	UNFINISHED_TELL,
	UNFINISHED_IGNORE /* these transactions look later, and will see the new row */
} Unfinished;

/* What a search says. */
typedef enum GuardAnswer
{
	ANSWER_NONE, /* no row is similar */
	ANSWER_SIMILAR,
	ANSWER_UNSURE /* it depends on a transaction in progress */
} GuardAnswer;

/* The check of a row. */
typedef struct GuardCheck
{
	GuardTrigger *trigger;
	GuardRule *rule;
	GuardPlace *place; /* of the row's own table */
	TriggerData *data;
	TupleTableSlot *row;
	bool stored; /* else it is about to be */
	Unfinished unfinished;
	NullableDatum signature;
	Datum *within;
	EState *state;  /* for expressions; NULL until one is needed */
	List *prepared; /* expressions */
	int barred;     /* groups that the row may not join, and their numbers */
	Datum *bar;
} GuardCheck;

/* ---- Values of rows (values.c) ------------------------------------------------ */

extern NullableDatum guard_value(GuardCheck *check, Expr *expression, TupleTableSlot *row);
extern bool guard_holds(GuardCheck *check, const List *condition, TupleTableSlot *row);
extern bool guard_is_same_column(TupleTableSlot *old, TupleTableSlot *new, AttrNumber column);
extern bool guard_is_same(const Expr *expression, NullableDatum a, NullableDatum b);
extern Datum guard_copy(const Expr *expression, Datum value);
extern bool guard_begin_search(GuardCheck *check);

/* ---- Searching (search.c) ------------------------------------------------------ */

extern GuardAnswer guard_search(GuardCheck *check);
extern CommandId guard_command_of(TupleTableSlot *row);
extern bool guard_finds_nearest(GuardCheck *check, GuardHit *hit);

/* What guard_visit() calls for each row that is similar. */
typedef void (*GuardVisitor)(GuardCheck *check, const GuardHit *hit, void *state);
extern void guard_visit(GuardCheck *check, GuardVisitor visit, void *state);

/* ---- Statements as the current user (statements.c) ------------------------------- */

extern bool guard_is_judged(GuardCheck *check, const GuardPlace *place, TupleTableSlot *other);
extern void guard_check_statements(GuardRule *rule);
extern void guard_record(GuardCheck *check, const GuardHit *hit);
extern void guard_check_right(const GuardRule *rule, Oid table, AttrNumber column, AclMode right,
							  GuardOption option);
extern SPIPlanPtr guard_prepare(const char *statement, int parameters, Oid *types);
extern void guard_execute(SPIPlanPtr plan, Datum *values, int expected);
extern const char *guard_equality(const char *left, Oid type, const char *right);
extern const char *guard_qualified(Oid relation);

/* ---- Groups (group.c, group_statements.c) ------------------------------------------ */

extern bool guard_leads(const GuardPlace *place, TupleTableSlot *row);
extern bool guard_is_same_key(const GuardPlace *place, TupleTableSlot *row, Datum a, Datum b);
extern bool guard_is_to_be_placed(const GuardRule *rule, TupleTableSlot *row);
extern HeapTuple guard_place_row(GuardCheck *check);
extern void guard_place_again(const GuardRule *rule, SPIPlanPtr plan, Datum *values,
							  const Datum *group);
extern void guard_follow_row(GuardCheck *check);
extern void guard_lock_statement(const GuardRule *rule);

extern const char *guard_leader_condition(const GuardRule *rule);
extern int guard_find_judged(GuardCheck *check, bool same, Datum key, Datum led, Datum **groups);
extern void guard_execute_in_order(SPIPlanPtr plan, Datum *values, int expected);
extern void guard_hand_on(GuardCheck *check, Datum key, CommandId since);
extern void guard_follow_judged(GuardCheck *check, bool got, TupleTableSlot *row);
extern void guard_fill_groups(GuardRule *rule, bool all);
extern bool guard_has_member_index(const GuardRule *rule);
extern const char *guard_member_index_statement(const GuardRule *rule);
extern bool guard_has_leader(GuardCheck *check, Datum group);

/* ---- Messages (report.c) ----------------------------------------------------------- */

extern const char *guard_value_text(TupleTableSlot *row, AttrNumber column);
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
