/*
 * reject.h: triggers of neardup_reject(), which reject, report, record or group rows.
 *
 * A rule is the arguments of a trigger, checked, and its statements, prepared.
 */
#ifndef NEARDUP_REJECT_REJECT_H
#define NEARDUP_REJECT_REJECT_H

#include "types/calls.h"
#include "types/objects.h"

#include "commands/trigger.h"
#include "executor/spi.h"

#include "rights.h"

/*
 * Parameters of the statements: the signature, ctid and tableoid of the new row, with
 * verdicts or groups its key and group, and the columns of its scope.
 */
enum
{
	ROW_SIGNATURE,
	ROW_CTID,
	ROW_TABLE,
	ROW_KEY,
	ROW_GROUP,
	ROW_SCOPE
};

/* Parameters of the insert into the log; the keys of both rows follow. */
enum
{
	RECORD_SIMILARITY,
	RECORD_USER,
	RECORD_TABLE,
	RECORD_KEYS
};

/* The statements of a rule. */
enum
{
	SEARCH,   /* returns similarity and key of the most similar row; for groups, of a leader */
	MATCH,    /* finds any row of the same shape; none if indexed, as all have that */
	RECORD,   /* inserts into the log */
	MEMBERS,  /* returns the places of the members of the group that a row led */
	BOUND,    /* returns the group of a row that is judged the same */
	PARTNERS, /* returns the places of rows judged the same that are in other groups */
	STATEMENTS
};

/* What happens to a row that is compared. */
typedef enum GuardEvent
{
	GUARD_PASSED,
	GUARD_REFUSED,
	GUARD_REPORTED, /* let in, with a notice or a record */
	GUARD_GROUPED,  /* let in, into a group that was there */
	GUARD_EVENTS
} GuardEvent;

typedef struct GuardCounts GuardCounts;

/* A column in which rows must be equal to be compared. */
typedef struct ScopeColumn
{
	const char *name;
	AttrNumber number; /* in the trigger's table */
	Oid type;          /* below a domain */
	Oid collation;
} ScopeColumn;

/* The rows that are compared: equal in some columns, and those that satisfy a condition. */
typedef struct RejectScope
{
	const char *within; /* the options as written, or NULL */
	const char *where;
	int columns;
	ScopeColumn *column;
	Oid index;           /* of that condition, or InvalidOid */
	List *condition;     /* on rows of the guarded table, as an index's, or NIL */
	List *row_condition; /* the same, on rows of the trigger's table */
} RejectScope;

/* The column of a row's group, and the key of rows that groups are numbered by. */
typedef struct GroupColumns
{
	const char *name;     /* as written, or NULL: the trigger makes no groups */
	const char *key_name; /* NULL: the primary key */
	AttrNumber column;    /* numbers in the trigger's table */
	AttrNumber key;
	Oid type; /* of both, below domains */
	Oid collation;
	bool by_value;
	int16 length;
} GroupColumns;

/*
 * The guarded table is the trigger's table or, if that trigger is a partition's
 * copy, the partitioned table.  Numbers of columns are those of the trigger's
 * table, except in source.
 */
typedef struct RejectRule
{
	MemoryContext context; /* of all that follows */
	const char *name;      /* of the trigger */
	Oid function;          /* the one that reads the rule, an object of the extension */
	Oid guarded;           /* table whose rows are searched */
	Oid owner;             /* of the guarded table */
	Oid trigger;           /* on the guarded table */
	AttrNumber column;     /* of signatures */
	const char *column_name;
	int sources;
	AttrNumber *source; /* columns of the guarded table that column is generated from */
	Oid column_type;    /* below a domain */
	double threshold;
	bool warn;
	bool lock;
	RejectScope scope;
	const char *message;  /* NULL: the default */
	const char *hint;     /* or NULL */
	const char *log;      /* name of the log, or NULL */
	const char *verdicts; /* name of the table of verdicts, or NULL */
	const char *show;     /* columns of the similar row that are shown, or NULL */
	int shown;
	const char **shown_name;
	bool json; /* DETAIL is JSON */
	Oid log_table;
	Oid verdict_table;
	bool trusted;        /* only the owner can have made the trigger */
	List *prepared;      /* indexes whose expressions PostgreSQL prepares */
	uint64 seen_changes; /* when trusted, and that all is plain, was found out */

	/* The columns of the primary key, or ctid if there is none. */
	int keys;
	AttrNumber *key;
	const char **key_name;
	Oid *key_output; /* output functions */

	GroupColumns group;

	GuardCounts *counts;              /* or NULL */
	bool indexed;                     /* an index serves the search */
	SPIPlanPtr statement[STATEMENTS]; /* or NULL */
	int running;                      /* calls that use the rule now */
	bool replaced;                    /* by a new rule, while it ran */
	bool warned;                      /* that some rows cannot be compared ... */
	bool told;                        /* ... and that there is no index */
} RejectRule;

/* A rule in the making. */
typedef struct Maker
{
	Trigger *trigger;
	Relation table;     /* the trigger's table */
	Relation guarded;   /* the rule's guarded table */
	Oid function;       /* neardup_reject() */
	const char *schema; /* of the extension, quoted */
	RejectRule *rule;
} Maker;

/* Where a version of a row is. */
typedef struct RowPlace
{
	Oid table;
	ItemPointerData tid;
} RowPlace;

/* The check of one row by one rule. */
typedef struct Check
{
	TriggerData *data;
	FmgrInfo *call; /* of the trigger's function, for all rows of a statement */
	RejectRule *rule;
	TupleTableSlot *row;   /* the new row; if it is deleted, the old one */
	Datum *values;         /* parameters of the statements */
	double similarity;     /* of the row found */
	Datum *row_key;        /* key of the new row */
	Datum *found_key;      /* key of the row found */
	bool incomparable;     /* the row found has another shape ... */
	bool all_incomparable; /* ... as have all others */

	/* Groups. */
	MemoryContext context; /* of the call */
	bool placed;           /* the new row is placed */
	bool left;             /* the old row led a group that is to be placed again */
	bool joined;           /* rows judged the same may have to follow the new row */
	int wanted;            /* statement that finds places */
	RowPlace *places;
	uint64 count;
} Check;

/* ---- Rules (reject_rule.c) ---------------------------------------------- */

extern RejectRule *reject_rule(Trigger *trigger, Relation table, Oid function);
extern bool rule_is_current(const RejectRule *rule);
extern void hold_rule(RejectRule *rule);
extern void release_rule(RejectRule *rule);

/* ---- Making a rule (reject_arguments.c, reject_statements.c) ------------ */

extern bool makes_groups(const Trigger *trigger);
extern void read_arguments(RejectRule *rule, const Trigger *trigger);
extern void find_signatures(Maker *maker);
extern void find_indexes(Maker *maker);
extern const char *missing_index(const RejectRule *rule);
extern void prepare_statements(Maker *maker);
extern const char *qualified_name(Relation relation);
extern const char *type_name(Oid type);

/* ---- Acting as the owner (reject_plain.c) --------------------------------- */

/* What end_as_owner() restores. */
typedef struct AsOwner
{
	Acting acting;
	List *indexes; /* open */
} AsOwner;

extern void begin_as_owner(const RejectRule *rule, AsOwner *as);
extern void end_as_owner(const AsOwner *as);
extern List *check_plain(const RejectRule *rule);
extern void check_plain_condition(const RejectRule *rule, Oid index);

/* ---- The scope of a rule (reject_scope.c) ------------------------------------------------- */

extern void find_guarded(Oid trigger, RejectRule *rule);
extern void find_scope(RejectRule *rule, const char *trigger, Relation table, Relation guarded);
extern const char *equality(const char *left, Oid type, const char *right);
extern const char *scope_conditions(const RejectRule *rule, int first);
extern bool in_scope(const RejectRule *rule, TupleTableSlot *row, Datum *values);
extern bool satisfies_condition(const RejectRule *rule, TupleTableSlot *row);
extern bool is_same_value(TupleTableSlot *row, AttrNumber column, Datum value);
extern bool is_same_column(TupleTableSlot *old, TupleTableSlot *new, AttrNumber column);
extern bool was_in_scope(const RejectRule *rule, TupleTableSlot *old, const Datum *values);
extern uint16 scope_lock(const RejectRule *rule, const Datum *values);
extern bool scope_is_readable(const RejectRule *rule);

/* ---- Checking rows (reject.c) -------------------------------------------- */

extern bool begin_check(Check *check, Oid function, bool (*is_to_be_checked)(Check *check));
extern bool set_parameters(Check *check, TupleTableSlot *row, NullableDatum signature,
						   ItemPointer place);
extern void hold_and_run(Check *check, void (*run)(Check *check));
extern bool run_as_owner(Check *check, bool (*run)(Check *check));
extern void execute_statement(SPIPlanPtr plan, Datum *values, int expected);
extern bool find_similar(Check *check);

/* ---- What is said of them (reject_report.c) ------------------------------- */

extern int shown_place(const RejectRule *rule, const char *name, size_t length);
extern void report_similar(const Check *check, int level);
extern void report_incomparable(const Check *check);

/* ---- Counts (reject_counts.c) ------------------------------------------------ */

extern void guard_count(RejectRule *rule, GuardEvent event);

/* ---- Groups (reject_group.c) ----------------------------------------------- */

extern void lock_groups(Oid guarded, uint16 scope);
extern HeapTuple group_rows(Check *check);

#endif
