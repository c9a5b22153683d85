/*
 * options.h: what neardup_guard() is told, as the arguments of its triggers keep it.
 *
 * A guard is a trigger of neardup_guard_row(), which refuses, reports, records, skips or groups a
 * row that is similar to another row.
 */
#ifndef NEARDUP_GUARD_OPTIONS_H
#define NEARDUP_GUARD_OPTIONS_H

#include "calls/arguments.h"

#include "commands/trigger.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "sketch/overlap.h"

/* The arguments of neardup_guard(); its triggers keep them as 'name=value'. */
typedef enum GuardOption
{
	OPTION_SIGNATURE,
	OPTION_THRESHOLD,
	OPTION_ACTION,
	OPTION_WITHIN,
	OPTION_UNKNOWN,
	OPTION_CONDITION,
	OPTION_AGAINST,
	OPTION_MEASURE,
	OPTION_LOG_TABLE,
	OPTION_GROUP_COLUMN,
	OPTION_UNLESS, /* options from here on do not decide on groups */
	OPTION_VERDICTS,
	OPTION_SHOW,
	OPTIONS,
	OPTION_NAME = OPTIONS, /* arguments that triggers do not keep */
	OPTION_GUARDED
} GuardOption;

/* The values as written; NULL where none is given. */
typedef struct GuardOptions
{
	const char *value[OPTIONS];
} GuardOptions;

/* What a guard does with a row that is similar to another one. */
typedef struct GuardAction
{
	const char *name;
	int level;     /* the level of the report on it, or 0 */
	bool promises; /* no two similar rows are there: those that came in unchecked are violations */
	bool looks_before; /* a row is looked at before it is inserted, too, and left out */
	bool groups;       /* a row is assigned to a group before it is stored */
	bool drops;        /* guards go */
	GuardOption needs; /* the option that only this action has, and needs; or OPTIONS */
} GuardAction;

/* A column or an expression of the option within. */
typedef struct GuardWithin
{
	const char *text;
	const char *column;   /* NULL: an expression */
	const char *interval; /* the interval as it is written, or NULL */
	Interval *span;       /* how far apart rows may lie in it; NULL: rows must be equal */
	bool unknown;         /* a NULL is compared with all; else with nothing */
	bool scope;           /* rows that differ in it are never compared */
} GuardWithin;

extern const char *const guard_option_names[];

extern GuardOptions guard_options(const Trigger *trigger);
extern const char *guard_arguments(const GuardOptions *options);
extern const GuardAction *guard_action(const GuardOptions *options);
extern Measure guard_measure(const GuardOptions *options);
extern double guard_threshold(const GuardOptions *options);
extern const char *guard_column_name(const char *text);
extern List *guard_names(const GuardOptions *options, GuardOption option);
extern GuardWithin *guard_within(const GuardOptions *options, int *count);
extern Oid guard_option_table(GuardOption option, const char *name, Oid schema, const char *guard);
extern Node *guard_parse(Relation table, GuardOption option, const char *text);
extern _Noreturn void refuse_option(GuardOption option, const char *detail, const char *hint);

#endif
