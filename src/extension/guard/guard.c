/*
 * guard.c: neardup_guard(), which makes, changes and drops guards.
 */
#include "guard/group.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "rights.h"
#include "trust.h"
#include "calls/objects.h"

/* A table of more bytes gets no index without being asked. */
#define LARGE_TABLE (256 * 1024 * 1024)

/* What neardup_guard() is called for. */
typedef struct Guard
{
	Oid table;
	Oid function; /* neardup_guard_row() */
	const char *table_name;
	const char *name; /* the name of the guard */
	GuardOptions options;
	GuardOptions old; /* the options of the guard of that name; all NULL: there is none */
	const GuardAction *action;
} Guard;

/* ---- Arguments ------------------------------------------------------------------------ */

/* Returns an argument as text; NULL if it is not given. */
static const char *
argument_text(FunctionCallInfo call, GuardOption option)
{
	NullableDatum argument = call->args[option + 1];

	if (argument.isnull)
		return NULL;
	if (option == OPTION_THRESHOLD)
		return DatumGetCString(DirectFunctionCall1(float8out, argument.value));
	if (option == OPTION_NAME)
		return pstrdup(NameStr(*DatumGetName(argument.value)));
	return text_to_cstring(DatumGetTextPP(argument.value));
}

/* Gives an option that names a table, whose code may run, the table's schema, by the search_path. */
static void
qualify_table(Guard *guard, GuardOption option)
{
	const char **value = &guard->options.value[option];
	Oid table;

	if (*value == NULL)
		return;
	table = guard_option_table(option, *value, InvalidOid, NULL);
	require_trust(table, option == OPTION_LOG_TABLE);
	if (get_rel_persistence(table) == RELPERSISTENCE_TEMP &&
		get_rel_persistence(guard->table) != RELPERSISTENCE_TEMP)
		refuse_option(option, psprintf("\"%s\" is a temporary table.", get_rel_name(table)),
					  "Name a table that all sessions have.");
	*value = guard_qualified(table);
}

/* Returns an expression or a condition with the schemas of its names; NULL for NULL. */
static const char *
qualified(const Guard *guard, GuardOption option, const char *text)
{
	const char *name = text == NULL || option == OPTION_CONDITION ? NULL : guard_column_name(text);
	Relation table;
	Node *expression;
	int settings;

	if (text == NULL || name != NULL)
		return text == NULL ? NULL : quote_identifier(name);
	table = table_open(guard->table, AccessShareLock);
	expression = guard_parse(table, option, text);
	if (option == OPTION_CONDITION)
		expression = (Node *) make_ands_explicit((List *) expression);
	settings = NewGUCNestLevel();
	set_locally("search_path", SAFE_SEARCH_PATH);
	text = deparse_expression(expression,
							  deparse_context_for(RelationGetRelationName(table), guard->table),
							  false, false);
	AtEOXact_GUC(false, settings);
	table_close(table, NoLock);
	return text;
}

/* Gives the names in the option within their schemas. */
static void
qualify_within(Guard *guard)
{
	int count;
	GuardWithin *within = guard_within(&guard->options, &count);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < count; i++)
	{
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "",
						 qualified(guard, OPTION_WITHIN, within[i].text));
		if (within[i].interval != NULL)
			appendStringInfo(&text, " %s", within[i].interval);
	}
	if (count > 0)
		guard->options.value[OPTION_WITHIN] = text.data;
}

/* ---- Triggers ------------------------------------------------------------------------------ */

/* Runs a command; returns whether it had rows. */
static bool
run_command(const char *command)
{
	int result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "SPI_execute failed: %s for %s", SPI_result_code_string(result), command);
	return SPI_processed > 0;
}

/* Takes the options that are not given from the guard of that name, if there is one. */
static void
keep_options(Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);

	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid == guard->function && strcmp(trigger->tgname, guard->name) == 0 &&
			guard_main(trigger, table) == trigger)
			guard->old = guard_options(trigger);
	}
	for (int i = 0; i < OPTIONS; i++)
	{
		const char **value = &guard->options.value[i];

		if (*value == NULL)
			*value = guard->old.value[i];
		else if (**value == '\0')
			*value = NULL;
	}
	table_close(table, NoLock);
}

/* Drops the triggers of a guard or, without a name, of all of a signature; returns whether any. */
static bool
drop_triggers(const Guard *guard)
{
	const char *wanted = guard->options.value[OPTION_SIGNATURE];
	Relation table = table_open(guard->table, AccessShareLock);
	StringInfoData commands;

	initStringInfo(&commands);
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];
		const char *signature = NULL;

		if (trigger->tgfoid != guard->function)
			continue;
		if (guard->name == NULL && wanted != NULL)
			signature = guard_options(trigger).value[OPTION_SIGNATURE];
		if (guard->name != NULL ?
				strcmp(guard_main(trigger, table)->tgname, guard->name) == 0 :
				wanted == NULL || (signature != NULL && strcmp(signature, wanted) == 0))
			appendStringInfo(&commands, "DROP TRIGGER %s ON %s;", quote_identifier(trigger->tgname),
							 guard->table_name);
	}
	table_close(table, NoLock);
	(void) run_command(commands.data);
	return commands.len > 0;
}

/* Creates a trigger; one with a label is a helper. */
static void
create_trigger(const Guard *guard, const char *label, const char *events, const char *each)
{
	const char *schema = get_namespace_name(get_func_namespace(guard->function));
	const char *name = guard->name;

	if (label != NULL)
		name = makeObjectName(name, NULL, label);
	(void)
		run_command(psprintf("CREATE TRIGGER %s %s ON %s FOR EACH %s EXECUTE FUNCTION %s.neardup_guard_row(%s)",
							 quote_identifier(name), events, guard->table_name, each,
							 quote_identifier(schema), guard_arguments(&guard->options)));
}

/* Creates the triggers of a guard, but that of the lock. */
static void
create_triggers(const Guard *guard)
{
	if (guard->action->groups)
	{
		create_trigger(guard, NULL, "BEFORE INSERT OR UPDATE", "ROW");
		create_trigger(guard, "after", "AFTER INSERT OR UPDATE OR DELETE", "ROW");
		return;
	}
	create_trigger(guard, NULL, "AFTER INSERT OR UPDATE", "ROW");
	create_trigger(guard, "after", "AFTER INSERT OR UPDATE", "STATEMENT");
	if (guard->action->looks_before)
		create_trigger(guard, "before", "BEFORE INSERT", "ROW");
}

/* Creates the trigger that locks groups before a row may go to another group or partition. */
static void
create_lock_trigger(const Guard *guard, const GuardRule *rule, const GuardLeaf *leaf)
{
	Bitmapset *columns = bms_copy(leaf->columns);
	StringInfoData events;
	int member = -FirstLowInvalidHeapAttributeNumber; /* the whole row, behind system columns */

	if (bms_is_member(member, columns))
		refuse_option(OPTION_SIGNATURE, "The whole row has the column of groups, too.",
					  "Name the columns that are compared.");
	for (int i = 0; i < rule->guarded->keys; i++)
		columns = bms_add_member(columns,
								 get_attnum(guard->table, rule->guarded->key[i]) -
									 FirstLowInvalidHeapAttributeNumber);
	initStringInfo(&events);
	while ((member = bms_next_member(columns, member)) >= 0)
		appendStringInfo(&events, "%s %s", events.len == 0 ? "BEFORE DELETE OR UPDATE OF" : ",",
						 quote_identifier(get_attname(guard->table,
													  member + FirstLowInvalidHeapAttributeNumber,
													  false)));
	create_trigger(guard, "lock", events.data, "STATEMENT");
}

/* Warns of triggers that may change a row after it was assigned, or found to be no duplicate. */
static void
warn_of_later_triggers(const Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);
	const char *name =
		guard->action->looks_before ? makeObjectName(guard->name, NULL, "before") : guard->name;

	for (int i = 0; i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (TRIGGER_FOR_BEFORE(trigger->tgtype) && TRIGGER_FOR_ROW(trigger->tgtype) &&
			trigger->tgfoid != guard->function && strcmp(trigger->tgname, name) > 0 &&
			(TRIGGER_FOR_INSERT(trigger->tgtype) || TRIGGER_FOR_UPDATE(trigger->tgtype)))
			ereport(WARNING,
					(errmsg("trigger \"%s\" fires after trigger \"%s\"", trigger->tgname, name),
					 errdetail("If it changes what the signature is made of, the guard has looked at another row."),
					 errhint("Triggers fire in the order of their names.  Pass a later \"name\".")));
	}
	table_close(table, NoLock);
}

/* ---- Indexes ----------------------------------------------------------------------------------- */

/* Creates an index, with names of safe schemas; raises an error if that takes long. */
static void
create_index(const Guard *guard, const char *statement)
{
	int settings = NewGUCNestLevel();
	int64 bytes = 0;
	ListCell *cell;

	foreach (cell, find_all_inheritors(guard->table, AccessShareLock, NULL))
		bytes +=
			DatumGetInt64(DirectFunctionCall2(pg_relation_size, ObjectIdGetDatum(lfirst_oid(cell)),
											  CStringGetTextDatum("main")));
	if (bytes > LARGE_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is large and has no index that the guard can ask",
						get_rel_name(guard->table)),
				 errhint("Create it first, with CONCURRENTLY if the table is in use: %s.",
						 statement)));
	set_locally("search_path", SAFE_SEARCH_PATH);
	(void) run_command(statement);
	AtEOXact_GUC(false, settings);
}

/* Returns the guard's rule in this session, with the leaf of its table. */
static GuardRule *
open_rule(const Guard *guard, GuardLeaf **leaf)
{
	Oid trigger = get_trigger_oid(guard->table, guard->name, false);
	Relation table = table_open(guard->table, AccessShareLock);
	GuardRule *rule = guard_rule(trigger, table, guard->function, leaf);

	table_close(table, NoLock);
	return rule;
}

/* Returns whether the guard grouped rows by other options; verdicts concern rows assigned later. */
static bool
regroups(const Guard *guard)
{
	GuardOptions new = guard->options;
	GuardOptions old = guard->old;

	for (int i = OPTION_UNLESS; i < OPTIONS; i++)
		new.value[i] = old.value[i] = NULL;
	return guard_action(&old)->groups && strcmp(guard_arguments(&new), guard_arguments(&old)) != 0;
}

/* Checks a guard as when it fires, makes what it lacks, and assigns the rows that have no group. */
static void
complete(const Guard *guard)
{
	GuardLeaf *leaf;
	GuardRule *rule = open_rule(guard, &leaf);
	ListCell *cell;

	/* Of groups, it is to hold only leaders if it can: equal rows are many, and one of them leads. */
	if (!OidIsValid(leaf->index) ||
		(rule->group != NULL && !leaf->of_leaders &&
		 !contain_mutable_functions((Node *) leaf->condition.expression)))
		create_index(guard, guard_index_statement(rule, leaf));
	if (rule->group != NULL && !OidIsValid(leaf->members))
		create_index(guard, guard_member_index_statement(rule));
	rule = open_rule(guard, &leaf);
	foreach (cell, leaf->searched)
	{
		Relation searched = table_open(lfirst_oid(cell), AccessShareLock);

		(void) guard_index(rule, guard_leaf(rule, searched));
		table_close(searched, NoLock);
	}
	guard_check_statements(rule);
	if (guard->action->groups)
	{
		create_lock_trigger(guard, rule, leaf);
		if (run_command(psprintf("SELECT FROM %s LIMIT 1", guard->table_name)))
			guard_fill_groups(rule,
							  regroups(guard) ||
								  !run_command(psprintf("SELECT FROM %s WHERE %s LIMIT 1",
														guard->table_name,
														guard_leader_condition(rule))));
	}
	if (guard->action->groups || guard->action->looks_before)
		warn_of_later_triggers(guard);
}

/* ---- The function --------------------------------------------------------------------------------- */

/* Reads the arguments. */
static Guard
read_guard(FunctionCallInfo call)
{
	Guard guard = {.name = argument_text(call, OPTION_NAME)};

	if (call->args[0].isnull)
		refuse_option(OPTION_GUARDED, NULL, "Name a table.");
	guard.table = DatumGetObjectId(call->args[0].value);
	if (get_rel_name(guard.table) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", guard.table),
				 errhint("Name a table.")));
	guard.table_name = guard_qualified(guard.table);
	guard.function =
		extension_function(call->flinfo->fn_oid, "neardup_guard_row", InvalidOid, InvalidOid);
	for (int i = 0; i < OPTIONS; i++)
		guard.options.value[i] = argument_text(call, i);
	guard.action = guard_action(&guard.options);
	if (guard.name != NULL && *guard.name == '\0')
		refuse_option(OPTION_NAME, NULL, "Name a guard, or pass no name.");
	if (guard.name != NULL || guard.action->drops)
		return guard;
	if (guard.options.value[OPTION_SIGNATURE] == NULL)
		refuse_option(OPTION_SIGNATURE, NULL,
					  "Name a column of signatures, or with name => ... the guard to change.");
	guard.name = makeObjectName(get_rel_name(guard.table),
								guard_column_name(guard.options.value[OPTION_SIGNATURE]),
								guard.action->name);
	return guard;
}

/* Makes a guard, or changes the one of that name. */
static void
make_guard(Guard *guard)
{
	const char **value = guard->options.value;
	GuardOptions given = guard->options;

	/* The lock that CREATE TRIGGER takes. */
	LockRelationOid(guard->table, ShareRowExclusiveLock);
	require_trust(guard->table, true);
	keep_options(guard);
	if (value[OPTION_SIGNATURE] == NULL && guard->old.value[OPTION_SIGNATURE] == NULL)
		refuse_option(OPTION_SIGNATURE, psprintf("There is no guard \"%s\" yet.", guard->name),
					  "Name a column of signatures, or the guard to change: the view neardup_guards names all guards.");
	guard->action = guard_action(&guard->options);
	for (GuardOption i = OPTION_LOG_TABLE; i <= OPTION_GROUP_COLUMN; i++)
		if (given.value[i] != NULL && *given.value[i] != '\0' && guard->action->needs != i)
			refuse_option(i, psprintf("It is '%s'.", given.value[i]),
						  i == OPTION_LOG_TABLE ? "Use it with action 'log'." :
												  "Use it with action 'group'.");
	qualify_table(guard, OPTION_AGAINST);
	qualify_table(guard, OPTION_VERDICTS);
	if (guard->action->needs == OPTION_LOG_TABLE)
		qualify_table(guard, OPTION_LOG_TABLE);
	value[OPTION_CONDITION] = qualified(guard, OPTION_CONDITION, value[OPTION_CONDITION]);
	value[OPTION_SIGNATURE] = qualified(guard, OPTION_SIGNATURE, value[OPTION_SIGNATURE]);
	qualify_within(guard);
	(void) guard_threshold(&guard->options);
	(void) drop_triggers(guard);
	create_triggers(guard);
	complete(guard);
}

/* neardup_guard(guarded, signature, ...) → name: makes, changes or drops guards of a table. */
PG_FUNCTION_INFO_V1(neardup_guard);
Datum
neardup_guard(PG_FUNCTION_ARGS)
{
	Guard guard = read_guard(fcinfo);
	const char **signature = &guard.options.value[OPTION_SIGNATURE];

	SPI_connect();
	if (!guard.action->drops)
		make_guard(&guard);
	else
	{
		*signature = qualified(&guard, OPTION_SIGNATURE, *signature);
		if (!drop_triggers(&guard))
			ereport(NOTICE,
					(errmsg("table \"%s\" has no such guard", get_rel_name(guard.table)),
					 errhint("The view neardup_guards names all guards.")));
	}
	SPI_finish();
	if (guard.name == NULL)
		PG_RETURN_NULL();
	return DirectFunctionCall1(namein, CStringGetDatum(guard.name));
}
