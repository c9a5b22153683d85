/*
 * guard.h: guards: triggers of neardup_guard_row(), which refuse, report, record, skip or group
 * a row that is similar to another row.
 *
 * A guard works as an exclusion constraint does: it asks an index, with a dirty snapshot, after
 * the row has its own entry there.  It waits only for the transaction of a similar row that is
 * in progress.  It runs no SQL to search, and all that it does it does as the current user.
 */
#ifndef NEARDUP_GUARD_GUARD_H
#define NEARDUP_GUARD_GUARD_H

#include "calls/arguments.h"

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
	OPTION_LOG_TABLE,
	OPTION_GROUP_COLUMN,
	OPTION_UNLESS, /* options from here on do not decide on groups */
	OPTION_VERDICTS,
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

/* A column of the option within. */
typedef struct GuardWithin
{
	const char *name;
	Interval *span; /* how far apart rows may lie in the column; NULL: rows must be equal */
} GuardWithin;

typedef struct GuardRule GuardRule;

extern const char *const guard_option_names[OPTIONS];

extern GuardOptions guard_options(const Trigger *trigger);
extern const char *guard_arguments(const GuardOptions *options);
extern GuardAction guard_action(const GuardOptions *options);
extern Measure guard_measure(const GuardOptions *options);
extern double guard_threshold(const GuardOptions *options);
extern bool guard_is_expression(const char *signature);
extern List *guard_names(const GuardOptions *options, GuardOption option);
extern GuardWithin *guard_within(const GuardOptions *options, int *count);
extern Oid guard_option_table(GuardOption option, const char *name, const GuardRule *rule);
extern AttrNumber guard_named_column(Oid table, const char *name);
extern Node *guard_parse(Relation table, const char *text, bool condition);
extern _Noreturn void refuse_option(GuardOption option, const char *detail, const char *hint);

/* ---- Rules (rule.c) -------------------------------------------------------- */

/* A table whose rows refuse others: the guarded table or the one of the option against. */
typedef struct GuardSide
{
	Oid table;
	int keys; /* columns of its primary key */
	const char **key;
	Oid key_index;
	const char *name;  /* the column by which verdicts and groups name rows, or NULL */
	SPIPlanPtr record; /* inserts a pair into the log; NULL: not yet prepared */
	SPIPlanPtr judged; /* looks for a verdict on a pair; or NULL */
} GuardSide;

/* A column of a table, or an expression. */
typedef struct GuardColumn
{
	AttrNumber number;
	Oid type; /* the type below a domain */
	Oid collation;
	int16 length;
	bool by_value;
} GuardColumn;

/* What a search needs to know of an ordinary table or partition. */
typedef struct GuardPlace
{
	Oid table; /* the key of a hash table */
	GuardSide *side;
	Oid index;
	Expr *signature; /* the signature of a row: a column, or the expression of the index */
	GuardColumn value;
	List *condition;     /* the condition on a row, with implicit AND; NIL: none */
	AttrNumber unless;   /* a boolean column, or InvalidAttrNumber */
	GuardColumn *within; /* the columns of the option within */
	int *key;            /* the index's column for each of `within`; 0: none */
	List *generated;     /* the generated columns that options name: TargetEntry nodes */
	Bitmapset *sources;  /* columns that the signature is made of, from FirstLowInvalid... on */

	/* Of a guard that groups rows. */
	GuardColumn group_key; /* names rows */
	GuardColumn group;     /* the key of the row that leads the row's group */
	List *leads;           /* the condition on a row that leads a group */
} GuardPlace;

/* A guard, as a session keeps it until one of its tables changes. */
struct GuardRule
{
	Oid trigger; /* the trigger on the guarded table: the key of a hash table */
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
	GuardWithin *within;
	const char *unless; /* a boolean column, or NULL */
	Oid verdicts;       /* a table, or InvalidOid */
	Oid log;            /* a table, or InvalidOid */
	const char *group;  /* the column of groups, or NULL */
	List *show;         /* names of columns */
	GuardSide side[2];  /* the guarded table, and the other one, which may be InvalidOid */
	HTAB *place;
	SPIPlanPtr hand_on; /* places the members of a group again; NULL: not yet prepared */
	SPIPlanPtr bound;   /* finds the groups of rows that are judged; or NULL */
	SPIPlanPtr leader;  /* finds the leader of a group; or NULL */
};

/* A trigger that fires for the rows of a table: the guard's, or a partition's copy of it. */
typedef struct GuardTrigger
{
	Oid trigger; /* the key of a hash table */
	GuardRule *rule;
	List *tables;     /* OIDs of the tables that are searched for a row of the trigger's table */
	bool looks_again; /* a trigger after each statement looks again at rows that are unsure */
} GuardTrigger;

extern GuardTrigger *guard_trigger(Oid trigger, Relation table, Oid function);
extern const Trigger *guard_main(const Trigger *trigger, Relation table);
extern GuardPlace *guard_place(GuardRule *rule, Relation table);
extern void guard_keep_plan(const GuardRule *rule, SPIPlanPtr plan);
extern void guard_forget(void);

/* ---- Tables and indexes (place.c) -------------------------------------------- */

extern void guard_find_key(const GuardRule *rule, GuardSide *side, bool by_one_column);
extern List *guard_tables(const GuardRule *rule, Relation table, List **watched);
extern void guard_fill_place(GuardRule *rule, GuardPlace *place, Relation table);
extern bool guard_has_index(const GuardRule *rule, Relation table);
extern const char *guard_index_statement(const GuardRule *rule, const GuardSide *side);

/* ---- Checks -------------------------------------------------------------------- */

typedef struct GuardScan GuardScan;

/* A row that is similar to the new one. */
typedef struct GuardHit
{
	TupleTableSlot *row; /* NULL: there is none */
	const GuardPlace *place;
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

/* What a search says. */
typedef enum GuardAnswer
{
	ANSWER_NONE, /* no row is similar */
	ANSWER_SIMILAR,
	ANSWER_UNSURE /* it depends on a transaction in progress */
} GuardAnswer;

/* What a row is compared by. */
typedef struct GuardValues
{
	Datum signature;
	Datum *within; /* values of the columns of the option within */
} GuardValues;

/* Groups of rows that are judged with one row. */
typedef struct GuardJudged
{
	int count;
	Datum *group; /* ascending */
	bool *same;   /* a row of the group is judged the same; else different */
} GuardJudged;

/* The check of a row. */
typedef struct GuardCheck
{
	GuardTrigger *trigger;
	GuardRule *rule;
	GuardPlace *place; /* the place of the row's own table */
	TriggerData *data;
	TupleTableSlot *row;
	bool stored; /* the row is stored, not about to be */
	Snapshot
		snapshot; /* the snapshot that is searched; NULL: all that is committed or in progress */
	Unfinished unfinished;
	TransactionId later; /* transactions from here on began after the row was stored; 0: unknown */
	GuardValues values;  /* the values of the row */
	EState *state;       /* the state for expressions; NULL until one is needed */
	List *prepared;      /* expressions */
	GuardJudged judged;  /* the groups of rows that are judged with the row */
} GuardCheck;

/* ---- Values of rows (compared_values.c) ------------------------------------------------ */

extern GuardColumn guard_column(TupleDesc row_type, AttrNumber number);
extern NullableDatum guard_get(TupleTableSlot *row, const GuardColumn *column);
extern bool guard_is_same(const GuardColumn *column, Datum a, Datum b);
extern bool guard_is_kept(const GuardColumn *column, TupleTableSlot *old, TupleTableSlot *new);
extern bool guard_is_equal(const GuardColumn *column, Datum a, Datum b);
extern Datum guard_copy(const GuardColumn *column, Datum value);
extern bool guard_is_true(TupleTableSlot *row, AttrNumber column);
extern NullableDatum guard_value(GuardCheck *check, Expr *expression, TupleTableSlot *row);
extern bool guard_holds(GuardCheck *check, const List *condition, TupleTableSlot *row);
extern TupleTableSlot *guard_as_stored(GuardCheck *check, TupleTableSlot *row);
extern bool guard_read_values(GuardCheck *check);
extern bool guard_begin_search(GuardCheck *check);
extern bool guard_has_values(const GuardCheck *check, const GuardValues *values);
extern bool guard_compares_alike(GuardCheck *check, TupleTableSlot *old);
extern bool guard_is_found_alike(GuardCheck *check, bool found, TupleTableSlot *old);

/* ---- Searching (search.c) ------------------------------------------------------ */

extern GuardAnswer guard_search(GuardCheck *check);
extern CommandId guard_command_of(TupleTableSlot *row);
extern bool guard_finds_nearest(GuardCheck *check, GuardHit *hit);

/* What a visitor of similar rows decides. */
typedef enum GuardStep
{
	STEP_ON,
	STEP_OVER, /* the rest of the scan */
	STEP_OUT   /* the search ends */
} GuardStep;

typedef GuardStep (*GuardVisitor)(GuardCheck *check, const GuardHit *hit, void *state);
extern void guard_visit(GuardCheck *check, bool ordered, GuardVisitor visit, void *state);

/* ---- Statements as the current user (statements.c) ------------------------------- */

/* The parameters of a statement. */
typedef struct GuardParameters
{
	int count;
	bool any_null;
	Oid *type;
	Datum *value;
} GuardParameters;

/* Returns the text of a statement about the rows of a side. */
typedef const char *(*GuardStatement)(const GuardRule *rule, const GuardSide *side);

extern GuardParameters guard_parameters(int most);
extern void guard_add_value(GuardParameters *list, Oid type, Datum value);
extern void guard_add_column(GuardParameters *list, const GuardSide *side, const char *name,
							 const GuardPlace *place, TupleTableSlot *row);
extern SPIPlanPtr guard_plan(SPIPlanPtr *plan, GuardStatement statement, const GuardRule *rule,
							 const GuardSide *side, const GuardParameters *list);
extern bool guard_run(SPIPlanPtr plan, const GuardParameters *list, int expected, bool in_order);
extern const char *guard_qualified(Oid relation);
extern const char *guard_comparison(const char *left, Oid type, bool less, const char *right);
extern const char *guard_equality(const char *left, Oid type, const char *right);
extern Oid guard_key_type(const GuardSide *side);
extern const char *guard_names_key(const GuardRule *rule, const char *value, Oid type,
								   const GuardSide *side, const char *key);
extern Oid guard_judged_type(const GuardRule *rule);
extern const char *guard_verdicts(const GuardRule *rule);
extern void guard_check_right(const GuardRule *rule, Oid table, AttrNumber column, AclMode right,
							  GuardOption option);
extern void guard_check_search(const GuardRule *rule);
extern bool guard_is_judged(GuardCheck *check, const GuardPlace *place, TupleTableSlot *other);
extern void guard_check_statements(GuardRule *rule);
extern void guard_record(GuardCheck *check, const GuardHit *hit);

/* ---- Groups (group.c, group_statements.c) ------------------------------------------ */

extern bool guard_leads(const GuardPlace *place, TupleTableSlot *row);
extern bool guard_is_to_be_placed(const GuardRule *rule, TupleTableSlot *row);
extern HeapTuple guard_place_row(GuardCheck *check);
extern void guard_place_again(GuardRule *rule, SPIPlanPtr plan, const GuardParameters *list,
							  const Datum *group);
extern void guard_follow_row(GuardCheck *check);
extern void guard_lock_table(const GuardRule *rule);

extern const char *guard_leader_condition(const GuardRule *rule);
extern GuardJudged guard_find_judged(GuardCheck *check, Datum key, Datum gone, bool all);
extern bool guard_judges(const GuardColumn *column, const GuardJudged *judged, Datum group,
						 bool same);
extern void guard_hand_on(GuardCheck *check, Datum key, CommandId since);
extern void guard_fill_groups(GuardRule *rule, bool all);
extern bool guard_has_member_index(const GuardRule *rule);
extern const char *guard_member_index_statement(const GuardRule *rule);
extern bool guard_has_leader(GuardCheck *check, Datum group);

/* ---- Messages (report.c) ----------------------------------------------------------- */

extern Datum guard_key_text(const GuardPlace *place, TupleTableSlot *row);
extern void guard_report(const GuardCheck *check, const GuardHit *hit);

#endif
