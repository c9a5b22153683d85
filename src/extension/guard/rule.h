/*
 * rule.h: guards as a session keeps them, until one of their tables changes.
 */
#ifndef NEARDUP_GUARD_RULE_H
#define NEARDUP_GUARD_RULE_H

#include "guard/options.h"

#include "executor/spi.h"
#include "nodes/bitmapset.h"
#include "utils/typcache.h"

/* A table whose rows refuse others: the guarded table, or the one of the option against. */
typedef struct GuardTable
{
	Oid oid;
	int keys; /* columns of its primary key */
	const char **key;
	Oid key_index;
	const char *name;  /* the column by which verdicts and groups name rows, or NULL */
	Oid type;          /* its type */
	Oid collation;     /* its collation */
	SPIPlanPtr judged; /* looks for a verdict on a new row and a row of this table; or NULL */
} GuardTable;

/* What rows are compared by: a column, or an expression. */
typedef struct GuardTerm
{
	Expr *expression;     /* over a stored row, as an index has it; NULL: there is no such term */
	Expr *early;          /* the same over a row whose generated columns are not made yet */
	TypeCacheEntry *type; /* the type below a domain: its equality, its order and its hashes */
	Oid collation;
} GuardTerm;

/* A table that is searched by an index of its own: a GuardTable, or one of its leaf partitions. */
typedef struct GuardLeaf
{
	Oid oid;           /* the key of a hash table */
	GuardTable *table; /* the table, or what it is a partition of */
	List *searched;    /* OIDs of the tables that are searched for a row of this one */
	bool looks_again;  /* a trigger after each statement looks again at rows that are unsure */
	Oid index;         /* InvalidOid: there is none */
	Oid members;       /* the index of groups, or InvalidOid */
	bool of_leaders;   /* the index has only rows that lead groups */
	GuardTerm signature;
	GuardTerm *within;   /* the terms of the option within */
	int *key;            /* the index's column for each of `within`; 0: none */
	GuardTerm condition; /* whether a row is compared */
	GuardTerm unless;    /* whether a row is let in */
	List *predicate;     /* the condition with implicit AND; of groups, on a row that leads, too */
	Bitmapset *columns;  /* columns in the terms, from FirstLowInvalidHeapAttributeNumber on */
	Bitmapset *sources;  /* columns that the signature is made of, in the same way */
	GuardTerm group_key; /* names rows, for groups and verdicts */
	GuardTerm group;     /* the key of the row that leads the row's group */
} GuardLeaf;

/* A guard. */
typedef struct GuardRule
{
	Oid trigger;    /* the trigger on the guarded table */
	List *triggers; /* OIDs of those that fire for its rows and those of partitions */
	MemoryContext context;
	const char *name;
	Oid function; /* neardup_guard_row() */
	Oid ball;     /* the type */
	GuardOptions options;
	const GuardAction *action;
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
	int tables;
	GuardTable table[2]; /* the guarded one, and the one of the option against */
	GuardTable *guarded; /* the first */
	HTAB *leaves;
	SPIPlanPtr record;  /* inserts a pair into the log; NULL: not yet prepared */
	SPIPlanPtr hand_on; /* assigns the members of a group again; or NULL */
	SPIPlanPtr bound;   /* finds the groups of rows that are judged; or NULL */
} GuardRule;

/* ---- The cache (rule.c) ---------------------------------------------------------- */

extern GuardRule *guard_rule(Oid trigger, Relation table, Oid function, GuardLeaf **leaf);
extern const Trigger *guard_main(const Trigger *trigger, Relation table);
extern GuardLeaf *guard_leaf(GuardRule *rule, Relation table);
extern void guard_watch(Oid relation);

/* ---- Tables and indexes (leaf.c) -------------------------------------------------- */

extern void guard_add_table(GuardRule *rule, Oid oid);
extern void guard_find_searched(const GuardRule *rule, GuardLeaf *leaf, Relation table);
extern void guard_fill_leaf(GuardRule *rule, GuardLeaf *leaf, Relation table);
extern bool guard_index_holds(Relation index, int column, const Expr *wanted);
extern const char *guard_index_statement(const GuardRule *rule, const GuardLeaf *leaf);
extern Oid guard_index(const GuardRule *rule, const GuardLeaf *leaf);

#endif
