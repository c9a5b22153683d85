/*
 * reject.h: what a trigger of neardup_reject() was told, made ready to run.
 */
#ifndef NEARDUP_REJECT_REJECT_H
#define NEARDUP_REJECT_REJECT_H

#include "sql/sql.h"

#include "commands/trigger.h"
#include "executor/spi.h"

#include "rights.h"

/* Parameters of RejectRule.search: the signature, and where its row is. */
enum
{
	SEARCH_SIGNATURE,
	SEARCH_CTID,
	SEARCH_TABLE,
	SEARCH_PARAMETERS
};

/* Parameters of RejectRule.record, before the keys of the new row and of the other. */
enum
{
	RECORD_SIMILARITY,
	RECORD_USER,
	RECORD_TABLE,
	RECORD_KEYS
};

/*
 * A row is known by its primary key, where there is one, else by its ctid.
 * Numbers of columns, but for source, are those of the table that the trigger is
 * on; guarded is that table, or the partitioned one whose trigger this one is a
 * copy of.
 */
typedef struct RejectRule
{
	MemoryContext context; /* holds all that follows */
	Oid guarded;           /* whose rows are searched */
	Oid owner;             /* of it */
	Oid trigger;           /* the one on it */
	AttrNumber column;     /* of signatures */
	const char *column_name;
	int sources; /* columns that it is generated from */
	AttrNumber *source;
	Oid column_type; /* below a domain */
	double threshold;
	bool warn;
	bool lock;
	const char *message; /* NULL: ours */
	const char *hint;    /* NULL: ours */
	const char *log;     /* the name of a table, or NULL */
	Oid log_table;
	bool trusted; /* can the trigger only be the owner's? */
	int keys;
	AttrNumber *key;
	const char **key_name;
	Oid *key_output;   /* functions that show them */
	bool indexed;      /* is there an index for the search? */
	SPIPlanPtr search; /* (similarity, keys) of the row most like one */
	SPIPlanPtr match;  /* some row of the same shape; NULL where the index has no others */
	SPIPlanPtr record; /* NULL where nothing is recorded */
	int running;       /* calls that use it now */
	bool warned;       /* of rows that cannot be compared */
} RejectRule;

/* Made anew (rule.c); needs SPI. */
extern RejectRule *make_reject_rule(Trigger *trigger, Relation table, Oid function);

/*
 * Go on in the name of the table's owner, as foreign keys do, until act_end():
 * whoever may insert is checked against all rows, whether he sees them or not.
 */
extern void act_as_owner(const RejectRule *rule, Acting *acting);

/* With its schema, and quoted where that is needed. */
extern const char *qualified_name(Relation relation);

/*
 * The rule of a trigger that runs for a row of table; function is
 * neardup_reject.  Locks the guarded table; needs SPI.
 */
extern RejectRule *reject_rule(Trigger *trigger, Relation table, Oid function);

#endif
