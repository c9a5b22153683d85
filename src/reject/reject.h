/*
 * reject.h: the rule of a trigger of neardup_reject(): its arguments, checked, and
 * its statements, prepared.
 */
#ifndef NEARDUP_REJECT_REJECT_H
#define NEARDUP_REJECT_REJECT_H

#include "sql/sql.h"

#include "commands/trigger.h"
#include "executor/spi.h"

#include "rights.h"

/* Parameters of RejectRule.search: the signature, ctid and tableoid of the new row. */
enum
{
	SEARCH_SIGNATURE,
	SEARCH_CTID,
	SEARCH_TABLE,
	SEARCH_PARAMETERS
};

/* Parameters of RejectRule.record; the keys of both rows follow. */
enum
{
	RECORD_SIMILARITY,
	RECORD_USER,
	RECORD_TABLE,
	RECORD_KEYS
};

/*
 * The guarded table is the trigger's table or, if that trigger is a partition's
 * copy, the partitioned table.  Numbers of columns are those of the trigger's
 * table, except in source.
 */
typedef struct RejectRule
{
	MemoryContext context; /* of all that follows */
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
	const char *message; /* NULL: the default */
	const char *hint;    /* or NULL */
	const char *log;     /* name of the log, or NULL */
	Oid log_table;
	bool trusted; /* only the owner can have made the trigger */

	/* The columns of the primary key, or ctid if there is none. */
	int keys;
	AttrNumber *key;
	const char **key_name;
	Oid *key_output; /* output functions */

	bool indexed;      /* an index serves the search */
	SPIPlanPtr search; /* returns similarity and key of the most similar row */
	SPIPlanPtr match;  /* finds any row of the same shape; NULL if indexed, as all have that */
	SPIPlanPtr record; /* inserts into the log, or NULL */
	int running;       /* calls that use the rule now */
	bool warned;       /* that some rows cannot be compared */
} RejectRule;

/*
 * Returns the rule of a trigger that fires for a row of table; function is
 * neardup_reject().  Locks the guarded table.  SPI must be connected.
 */
extern RejectRule *reject_rule(Trigger *trigger, Relation table, Oid function);

/*
 * Switches to the table's owner until act_end(), as foreign keys do: a row is
 * checked against all rows, those that the current user cannot see included.
 */
extern void act_as_owner(const RejectRule *rule, Acting *acting);

/* Returns the name of a relation with its schema, quoted where needed. */
extern const char *qualified_name(Relation relation);

#endif
