/*
 * reject_guard.c: neardup_guard(), which makes the triggers of neardup_reject() and checks
 * them at once.
 */
#include "reject/reject.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "trust.h"

/* A table of more blocks, 256 MB, gets no index without being asked. */
#define LARGE_BLOCKS 32768

/* The arguments of neardup_guard(). */
enum
{
	GUARD_TABLE,
	GUARD_SIGNATURE,
	GUARD_THRESHOLD,
	GUARD_ACTION,
	GUARD_GROUP,
	GUARD_KEY,
	GUARD_WITHIN,
	GUARD_WHERE,
	GUARD_LOG,
	GUARD_VERDICTS,
	GUARD_LOCK,
	GUARD_SHOW,
	GUARD_DETAIL,
	GUARD_MESSAGE,
	GUARD_HINT,
	GUARD_NAME,
	GUARD_TRUST
};

typedef struct Guard
{
	FunctionCallInfo call;
	Oid function; /* neardup_reject() */
	Oid table;
	const char *table_name; /* with its schema */
	const char *signature;
	const char *action;
	const char *name;   /* of the trigger */
	const char *schema; /* of the extension, quoted */
	const char *lost;   /* options that the trigger had, and has no longer; NULL if none */
	bool groups;
} Guard;

/* ---- Arguments --------------------------------------------------------------- */

/* Raises an error for an argument. */
static void
refuse_argument(const char *name, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" of neardup_guard() is missing or wrong", name),
			 errhint("%s", hint)));
}

static bool
is_null_argument(FunctionCallInfo call, int argument)
{
	return call->args[argument].isnull;
}

/* Returns an argument of type name, or NULL. */
static const char *
name_argument(const Guard *guard, int argument)
{
	return is_null_argument(guard->call, argument) ?
		NULL :
		pstrdup(NameStr(*DatumGetName(guard->call->args[argument].value)));
}

/* Returns an argument of type text, or NULL. */
static const char *
text_argument(const Guard *guard, int argument)
{
	return is_null_argument(guard->call, argument) ?
		NULL :
		text_to_cstring(DatumGetTextPP(guard->call->args[argument].value));
}

/* Returns an argument of type name[] as a list of columns in SQL, or NULL if there are none. */
static const char *
columns_argument(const Guard *guard, int argument)
{
	StringInfoData list;
	char **names;
	int count;

	if (is_null_argument(guard->call, argument))
		return NULL;
	names =
		names_argument(guard->call, argument, argument == GUARD_WITHIN ? "within" : "show", &count);
	initStringInfo(&list);
	for (int i = 0; i < count; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", quote_identifier(names[i]));
	return count == 0 ? NULL : list.data;
}

/* Returns an argument of type regclass as a name with its schema, or NULL. */
static const char *
table_argument(const Guard *guard, int argument)
{
	Oid table;

	if (is_null_argument(guard->call, argument))
		return NULL;
	table = DatumGetObjectId(guard->call->args[argument].value);
	if (get_rel_name(table) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", table), errhint("Name a table.")));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
									  get_rel_name(table));
}

/* Appends an option of the trigger, NAME=value, unless the value is NULL. */
static void
append_option(StringInfo list, const char *name, const char *value)
{
	if (value != NULL)
		appendStringInfo(list, ", %s", quote_literal_cstr(psprintf("%s=%s", name, value)));
}

/* Returns the arguments of the trigger. */
static const char *
trigger_arguments(const Guard *guard)
{
	FunctionCallInfo call = guard->call;
	const char *detail = text_argument(guard, GUARD_DETAIL);
	StringInfoData list;

	if (is_null_argument(call, GUARD_THRESHOLD))
		refuse_argument("threshold",
						"Pass a similarity, as in neardup_guard('proposals', 'sig', 0.9).");
	if (detail == NULL || (strcmp(detail, "text") != 0 && strcmp(detail, "json") != 0))
		refuse_argument("detail", "Use 'text' or 'json'.");
	if (guard->groups != !is_null_argument(call, GUARD_GROUP))
		refuse_argument("group_column",
						"Name a column of the type of the key for action 'group', and only for that.");
	if (strcmp(guard->action, "log") == 0 && is_null_argument(call, GUARD_LOG))
		refuse_argument("log", "Name a table with columns row_key and resembles for action 'log'.");
	if (strcmp(guard->action, "reject") == 0 && !is_null_argument(call, GUARD_LOG))
		refuse_argument("log",
						"Use action 'log', since the record of a rejected row is rolled back with it.");
	initStringInfo(&list);
	appendStringInfo(&list, "%s, %s", quote_literal_cstr(guard->signature),
					 quote_literal_cstr(DatumGetCString(DirectFunctionCall1(float8out,
																			call->args
																				[GUARD_THRESHOLD]
																					.value))));
	if (strcmp(guard->action, "warn") == 0)
		appendStringInfoString(&list, ", 'warn'");
	append_option(&list, "group", name_argument(guard, GUARD_GROUP));
	append_option(&list, "key", name_argument(guard, GUARD_KEY));
	append_option(&list, "within", columns_argument(guard, GUARD_WITHIN));
	append_option(&list, "where",
				  is_null_argument(call, GUARD_WHERE) ?
					  NULL :
					  quote_identifier(name_argument(guard, GUARD_WHERE)));
	append_option(&list, "log", table_argument(guard, GUARD_LOG));
	append_option(&list, "verdicts", table_argument(guard, GUARD_VERDICTS));
	if (!is_null_argument(call, GUARD_LOCK) && !DatumGetBool(call->args[GUARD_LOCK].value))
		appendStringInfoString(&list, ", 'no_lock'");
	append_option(&list, "show", columns_argument(guard, GUARD_SHOW));
	if (strcmp(detail, "json") == 0)
		appendStringInfoString(&list, ", 'detail=json'");
	append_option(&list, "message", text_argument(guard, GUARD_MESSAGE));
	append_option(&list, "hint", text_argument(guard, GUARD_HINT));
	return list.data;
}

/* Raises an error if a superuser would run code of others, and locks the tables against that. */
static void
check_trust(const Guard *guard)
{
	FunctionCallInfo call = guard->call;

	/* The lock that CREATE TRIGGER takes. */
	LockRelationOid(guard->table, ShareRowExclusiveLock);
	if (!is_null_argument(call, GUARD_TRUST) && DatumGetBool(call->args[GUARD_TRUST].value))
		return;
	require_trust(guard->table, true);
	if (!is_null_argument(call, GUARD_LOG))
		require_trust(DatumGetObjectId(call->args[GUARD_LOG].value), true);
	if (!is_null_argument(call, GUARD_VERDICTS))
		require_trust(DatumGetObjectId(call->args[GUARD_VERDICTS].value), false);
}

/* Reads the arguments that every action has. */
static Guard
read_guard(FunctionCallInfo call)
{
	static const char *const actions[] = {"reject", "warn", "log", "group", "none"};
	Guard guard = {.call = call};
	bool known = false;

	if (is_null_argument(call, GUARD_TABLE))
		refuse_argument("guarded", "Name a table.");
	guard.table = DatumGetObjectId(call->args[GUARD_TABLE].value);
	guard.table_name = table_argument(&guard, GUARD_TABLE);
	guard.signature = name_argument(&guard, GUARD_SIGNATURE);
	if (guard.signature == NULL)
		refuse_argument("signature", "Name a column of signatures.");
	guard.action = text_argument(&guard, GUARD_ACTION);
	for (int i = 0; guard.action != NULL && i < lengthof(actions); i++)
		known |= strcmp(guard.action, actions[i]) == 0;
	if (!known)
		refuse_argument("action", "Use 'reject', 'warn', 'log', 'group' or 'none'.");
	guard.groups = strcmp(guard.action, "group") == 0;
	guard.name = name_argument(&guard, GUARD_NAME);
	if (guard.name == NULL && strcmp(guard.action, "none") != 0)
		guard.name = makeObjectName(get_rel_name(guard.table), guard.signature, guard.action);
	guard.schema = quote_identifier(get_namespace_name(get_func_namespace(call->flinfo->fn_oid)));
	guard.function =
		extension_function(call->flinfo->fn_oid, "neardup_reject", InvalidOid, InvalidOid);
	return guard;
}

/* ---- Triggers ---------------------------------------------------------------------- */

/* Runs a command. */
static void
run_command(const char *command)
{
	int result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "SPI_execute failed: %s for %s", SPI_result_code_string(result), command);
}

/* Returns the name of a trigger that helps the one that groups rows. */
static const char *
helper_name(const Guard *guard, const char *label)
{
	return makeObjectName(guard->name, NULL, label);
}

/* Is a trigger one of the guard, or if the guard has no name, of the column? */
static bool
is_of_guard(const Guard *guard, const Trigger *trigger)
{
	if (guard->name == NULL)
		return trigger->tgnargs > 0 && strcmp(trigger->tgargs[0], guard->signature) == 0;
	return strcmp(trigger->tgname, guard->name) == 0 ||
		(makes_groups(trigger) &&
		 (strcmp(trigger->tgname, helper_name(guard, "lock")) == 0 ||
		  strcmp(trigger->tgname, helper_name(guard, "after")) == 0));
}

/* Returns which options of a trigger the one that replaces it has no longer, or NULL. */
static const char *
lost_options(const Guard *guard, const Trigger *trigger)
{
	const char *arguments = trigger_arguments(guard);
	StringInfoData lost;

	initStringInfo(&lost);
	for (int i = 2; i < trigger->tgnargs; i++)
	{
		const char *option = trigger->tgargs[i];
		int length = strcspn(option, "=");

		if (strstr(arguments, psprintf("'%.*s", length, option)) == NULL)
			appendStringInfo(&lost, "%s%s", lost.len > 0 ? ", " : "", quote_literal_cstr(option));
	}
	return lost.len > 0 ? lost.data : NULL;
}

/* Tells what a trigger has lost, once nothing can fail. */
static void
tell_lost_options(const Guard *guard)
{
	if (guard->lost != NULL)
		ereport(NOTICE,
				(errmsg("trigger \"%s\" loses options", guard->name),
				 errdetail("They were %s.", guard->lost),
				 errhint("Pass them to neardup_guard() again to keep them.")));
}

/* Drops the triggers of a guard. */
static void
drop_triggers(Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);
	StringInfoData commands;

	initStringInfo(&commands);
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid != guard->function || !is_of_guard(guard, trigger))
			continue;
		if (strcmp(guard->action, "none") != 0 && strcmp(trigger->tgname, guard->name) == 0)
			guard->lost = lost_options(guard, trigger);
		appendStringInfo(&commands, "DROP TRIGGER %s ON %s;", quote_identifier(trigger->tgname),
						 guard->table_name);
	}
	table_close(table, AccessShareLock);
	run_command(commands.data);
}

/* Creates a trigger. */
static void
create_trigger(const Guard *guard, const char *name, const char *constraint, const char *events,
			   const char *each, const char *arguments)
{
	run_command(psprintf("CREATE %sTRIGGER %s %s ON %s FOR EACH %s EXECUTE FUNCTION "
						 "%s.neardup_reject(%s)",
						 constraint, quote_identifier(name), events, guard->table_name, each,
						 guard->schema, arguments));
}

static void
create_triggers(const Guard *guard)
{
	const char *arguments = trigger_arguments(guard);
	const char *after = is_null_argument(guard->call, GUARD_VERDICTS) ?
		"AFTER UPDATE OR DELETE" :
		"AFTER INSERT OR UPDATE OR DELETE";

	if (!guard->groups)
	{
		create_trigger(guard, guard->name, "CONSTRAINT ", "AFTER INSERT OR UPDATE", "ROW",
					   arguments);
		return;
	}
	create_trigger(guard, guard->name, "", "BEFORE INSERT OR UPDATE", "ROW", arguments);
	create_trigger(guard, helper_name(guard, "after"), "", after, "ROW", arguments);
}

/*
 * Creates the trigger that takes the lock, before deletions, and before updates of a column that
 * may move a row.
 */
static void
create_lock_trigger(const Guard *guard, const RejectRule *rule)
{
	StringInfoData events;

	initStringInfo(&events);
	appendStringInfo(&events, "BEFORE DELETE OR UPDATE OF %s, ",
					 quote_identifier(rule->column_name));
	appendStringInfo(&events, "%s, ", quote_identifier(rule->group.key_name));
	appendStringInfoString(&events, quote_identifier(rule->group.name));
	for (int i = 0; i < rule->scope.columns; i++)
		appendStringInfo(&events, ", %s", quote_identifier(rule->scope.column[i].name));
	create_trigger(guard, helper_name(guard, "lock"), "",
				   rule->scope.where == NULL ? events.data : "BEFORE DELETE OR UPDATE", "STATEMENT",
				   trigger_arguments(guard));
}

/* Warns of a trigger that may change a row after it was placed. */
static void
warn_of_later_triggers(const Guard *guard, Relation table)
{
	for (int i = 0; guard->groups && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (TRIGGER_FOR_BEFORE(trigger->tgtype) && TRIGGER_FOR_ROW(trigger->tgtype) &&
			trigger->tgfoid != guard->function && strcmp(trigger->tgname, guard->name) > 0 &&
			(TRIGGER_FOR_INSERT(trigger->tgtype) || TRIGGER_FOR_UPDATE(trigger->tgtype)))
			ereport(WARNING,
					(errmsg("trigger \"%s\" fires after trigger \"%s\"", trigger->tgname,
							guard->name),
					 errdetail("If it changes what the signature is made of, the row is in the "
							   "wrong group."),
					 errhint("Triggers fire in the order of their names.  Pass a later \"name\".")));
	}
}

/*
 * Checks that the trigger shows the columns that its message or hint names in braces.  One
 * that shows no column may have other text in braces.
 */
static void
check_names(const Guard *guard, const RejectRule *rule, const char *argument, const char *rest)
{
	while (rest != NULL && (rest = strchr(rest, '{')) != NULL)
	{
		const char *name = pnstrdup(rest + 1, strcspn(rest + 1, "}"));

		if (shown_place(rule, name, strlen(name)) < 0 &&
			(rule->shown > 0 || get_attnum(guard->table, name) != InvalidAttrNumber))
			refuse_argument(argument,
							psprintf("It names \"{%s}\".  Name this column in \"show\", too.",
									 name));
		rest++;
	}
}

/* Checks the triggers, as when they fire, and returns the rule of the one that searches. */
static RejectRule *
check_triggers(const Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);
	RejectRule *rule = NULL;

	warn_of_later_triggers(guard, table);
	for (int i = 0; i < table->trigdesc->numtriggers; i++)
	{
		Trigger *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid == guard->function && strcmp(trigger->tgname, guard->name) == 0)
			rule = reject_rule(trigger, table, guard->function);
	}
	table_close(table, NoLock);
	if (rule == NULL)
		elog(ERROR, "could not find trigger \"%s\"", guard->name);
	check_names(guard, rule, "message", rule->message);
	check_names(guard, rule, "hint", rule->hint);
	if ((rule->log != NULL || rule->verdicts != NULL) && !rule->trusted)
		ereport(WARNING,
				(errmsg("roles other than the owner of table \"%s\" have the TRIGGER privilege on it",
						get_rel_name(guard->table)),
				 errdetail("So a role that inserts rows needs INSERT on the log, and SELECT on the verdicts."),
				 errhint("Use REVOKE TRIGGER ON %s.", guard->table_name)));
	return rule;
}

/* ---- Indexes ----------------------------------------------------------------------- */

/* Returns the number of blocks of a table and its partitions. */
static BlockNumber
table_blocks(Oid oid)
{
	BlockNumber blocks = 0;
	ListCell *cell;

	foreach (cell, find_all_inheritors(oid, AccessShareLock, NULL))
	{
		Relation table = table_open(lfirst_oid(cell), NoLock);

		if (table->rd_rel->relkind == RELKIND_RELATION)
			blocks += RelationGetNumberOfBlocks(table);
		table_close(table, NoLock);
	}
	return blocks;
}

/* Refuses to create an index if that takes long. */
static void
check_size(const Guard *guard, const char *statement)
{
	if (statement != NULL && table_blocks(guard->table) > LARGE_BLOCKS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is large and has no index that the trigger can use",
						get_rel_name(guard->table)),
				 errhint("Create it first, with CONCURRENTLY if the table is in use: %s.",
						 statement)));
}

/* Is there an index of a column of the table? */
static bool
has_index(const Guard *guard, const char *column)
{
	Relation table = table_open(guard->table, AccessShareLock);
	AttrNumber number = get_attnum(guard->table, column);
	ListCell *cell;
	bool found = false;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		found |= index->rd_index->indkey.values[0] == number && index->rd_index->indisvalid &&
			RelationGetIndexPredicate(index) == NIL;
		index_close(index, AccessShareLock);
	}
	table_close(table, NoLock);
	return found;
}

/* ---- Groups of rows that are there ---------------------------------------------------- */

/* Does a query return a row? */
static bool
any_row(const Guard *guard, const char *condition)
{
	run_command(psprintf("SELECT 1 FROM %s AS t WHERE %s LIMIT 1", guard->table_name, condition));
	return SPI_processed > 0;
}

/* Returns a column of a row, quoted where needed. */
static const char *
column_of(const char *row, const char *column)
{
	return psprintf("%s.%s", row, quote_identifier(column));
}

/* Groups all rows by neardup_clusters(). */
static void
group_by_clusters(const Guard *guard, const RejectRule *rule)
{
	const GroupColumns *group = &rule->group;
	const char *key = column_of("r", group->key_name);
	const char *verdicts = table_argument(guard, GUARD_VERDICTS);
	StringInfoData query;
	StringInfoData within;

	initStringInfo(&query);
	initStringInfo(&within);
	appendStringInfo(&query, "SELECT %s, %s", key, column_of("r", rule->column_name));
	for (int i = 0; i < rule->scope.columns; i++)
	{
		appendStringInfo(&query, ", %s", column_of("r", rule->scope.column[i].name));
		appendStringInfo(&within, "%s%s", i > 0 ? "," : "",
						 quote_literal_cstr(rule->scope.column[i].name));
	}
	appendStringInfo(&query, " FROM %s AS r ORDER BY 1", guard->table_name);
	verdicts = verdicts == NULL ?
		"NULL" :
		quote_literal_cstr(psprintf("SELECT a, b, same FROM %s", verdicts));
	run_command(psprintf("UPDATE %s AS t SET %s = coalesce(c.keeper, %s) FROM %s AS r "
						 "LEFT JOIN %s.neardup_clusters(%s, '%.17g', NULL::%s, nearest => true, "
						 "verdicts => %s, within => ARRAY[%s]::pg_catalog.name[]) AS c ON %s WHERE %s",
						 guard->table_name, quote_identifier(group->name), key, guard->table_name,
						 guard->schema, quote_literal_cstr(query.data), rule->threshold,
						 type_name(group->type), verdicts, within.data,
						 equality("c.id", group->type, key),
						 equality(column_of("t", group->key_name), group->type, key)));
}

/* Places the rows that have no group, and checks that the groups of the others are led. */
static void
group_rest(const Guard *guard, const RejectRule *rule)
{
	const GroupColumns *group = &rule->group;
	const char *name = quote_identifier(group->name);
	const char *leader = column_of("l", group->key_name);

	if (any_row(guard, psprintf("t.%s IS NULL", name)))
		run_command(psprintf("UPDATE %s SET %s = NULL WHERE %s IS NULL", guard->table_name, name,
							 name));
	if (any_row(guard,
				psprintf("NOT EXISTS (SELECT 1 FROM %s AS l WHERE %s AND %s)", guard->table_name,
						 equality(leader, group->type, column_of("t", group->name)),
						 equality(leader, group->type, column_of("l", group->name)))))
		ereport(ERROR,
				(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
				 errmsg("column \"%s\" of table \"%s\" has groups that no row leads", group->name,
						get_rel_name(guard->table)),
				 errdetail("The number of a group is the key of a row that has this number too."),
				 errhint("Set the column to NULL in all rows, and call neardup_guard() again.")));
}

/*
 * Makes the indexes that a rule lacks, and groups the rows that are there.
 *
 * Grouping comes first, as the indexes are built faster afterwards, but takes long: so what
 * may be refused is checked before.
 */
static void
complete(const Guard *guard, RejectRule *rule)
{
	const char *index = rule->indexed ? NULL : missing_index(rule);
	const char *members = !guard->groups || has_index(guard, rule->group.name) ?
		NULL :
		psprintf("CREATE INDEX ON %s (%s)", guard->table_name, quote_identifier(rule->group.name));
	bool fresh = guard->groups && rule->scope.where == NULL &&
		!any_row(guard, psprintf("t.%s IS NOT NULL", quote_identifier(rule->group.name)));

	check_size(guard, index);
	check_size(guard, members);
	hold_rule(rule);
	if (guard->groups)
		create_lock_trigger(guard, rule);
	if (fresh)
		group_by_clusters(guard, rule);
	if (index != NULL)
		run_command(index);
	if (members != NULL)
		run_command(members);
	if (guard->groups)
		group_rest(guard, rule);
	release_rule(rule);
}

/*
 * neardup_guard(guarded, signature, threshold, action, ...) → name: makes or replaces the
 * triggers that guard a table, and checks them; returns the name of the trigger.
 */
PG_FUNCTION_INFO_V1(neardup_guard);
Datum
neardup_guard(PG_FUNCTION_ARGS)
{
	Guard guard = read_guard(fcinfo);
	Name name;

	if (strcmp(guard.action, "none") != 0)
		check_trust(&guard);
	SPI_connect();
	drop_triggers(&guard);
	if (strcmp(guard.action, "none") != 0)
	{
		create_triggers(&guard);
		complete(&guard, check_triggers(&guard));
		tell_lost_options(&guard);
	}
	SPI_finish();
	if (guard.name == NULL)
		PG_RETURN_NULL();
	name = palloc(NAMEDATALEN);
	namestrcpy(name, guard.name);
	PG_RETURN_NAME(name);
}
