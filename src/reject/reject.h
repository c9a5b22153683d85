/*
 * reject.h: the rule of a trigger of neardup_reject(): its arguments, checked, and
 * its statements, prepared.
 */
#ifndef NEARDUP_REJECT_REJECT_H
#define NEARDUP_REJECT_REJECT_H

#include "types/calls.h"
#include "types/objects.h"

#include "commands/trigger.h"
#include "executor/spi.h"

#include "rights.h"

/*
 * Parameters of the search: the signature, ctid and tableoid of the new row;
 * the columns of its scope follow.
 */
enum
{
	SEARCH_SIGNATURE,
	SEARCH_CTID,
	SEARCH_TABLE,
	SEARCH_SCOPE
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
	SEARCH, /* returns similarity and key of the most similar row */
	MATCH,  /* finds any row of the same shape; none if indexed, as all have that */
	RECORD, /* inserts into the log */
	STATEMENTS
};

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

/*
 * The guarded table is the trigger's table or, if that trigger is a partition's
 * copy, the partitioned table.  Numbers of columns are those of the trigger's
 * table, except in source.
 */
typedef struct RejectRule
{
	MemoryContext context; /* of all that follows */
	const char *name;      /* of the trigger */
	Oid extension;         /* this one */
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
	const char *message; /* NULL: the default */
	const char *hint;    /* or NULL */
	const char *log;     /* name of the log, or NULL */
	Oid log_table;
	bool trusted;        /* only the owner can have made the trigger */
	List *prepared;      /* indexes whose expressions PostgreSQL prepares */
	uint64 seen_changes; /* when trusted, and that all is plain, was found out */

	/* The columns of the primary key, or ctid if there is none. */
	int keys;
	AttrNumber *key;
	const char **key_name;
	Oid *key_output; /* output functions */

	bool indexed;                     /* an index serves the search */
	SPIPlanPtr statement[STATEMENTS]; /* or NULL */
	int running;                      /* calls that use the rule now */
	bool replaced;                    /* by a new rule, while it ran */
	bool warned;                      /* that some rows cannot be compared */
} RejectRule;

extern RejectRule *reject_rule(Trigger *trigger, Relation table, Oid function);
extern bool rule_is_current(const RejectRule *rule);
extern void hold_rule(RejectRule *rule);
extern void release_rule(RejectRule *rule);

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
extern const char *qualified_name(Relation relation);
extern const char *type_name(Oid type);

/* ---- The scope of a rule ------------------------------------------------- */

extern void find_guarded(Oid trigger, RejectRule *rule);
extern void find_scope(RejectRule *rule, const char *trigger, Relation table, Relation guarded);
extern const char *scope_conditions(const RejectRule *rule, int first);
extern bool in_scope(const RejectRule *rule, TupleTableSlot *row, Datum *values);
extern bool is_same_value(TupleTableSlot *row, AttrNumber column, Datum value);
extern bool was_in_scope(const RejectRule *rule, TupleTableSlot *old, const Datum *values);
extern uint16 scope_lock(const RejectRule *rule, const Datum *values);
extern bool scope_is_readable(const RejectRule *rule);

#endif
