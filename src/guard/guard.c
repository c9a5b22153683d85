/*
 * guard.c: neardup_guard(), which makes, changes and drops guards.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/varlena.h"
#include "nodes/makefuncs.h"

#include "rights.h"
#include "trust.h"
#include "types/objects.h"

/* A table of more blocks, 256 MB, gets no index without being asked. */
#define LARGE_BLOCKS 32768

/* Arguments of neardup_guard() that are no options: the first and the last. */
#define ARGUMENT_TABLE 0
#define ARGUMENT_NAME (OPTIONS + 1)

/* What neardup_guard() is called for. */
typedef struct Guard
{
	Oid table;
	Oid function; /* neardup_guard_row() */
	const char *table_name;
	const char *schema; /* of the extension, quoted */
	const char *name;   /* of the guard */
	GuardOptions options;
	GuardAction action;
	GuardOptions old; /* of the guard of that name */
} Guard;

/* ---- Arguments ------------------------------------------------------------------------ */

/* Returns an argument that is text, or the threshold, as text; NULL if it is not given. */
static const char *
argument_text(FunctionCallInfo call, int argument)
{
	Datum value = call->args[argument].value;

	if (call->args[argument].isnull)
		return NULL;
	if (argument == OPTION_THRESHOLD + 1)
		return DatumGetCString(DirectFunctionCall1(float8out, value));
	if (argument == ARGUMENT_NAME)
		return pstrdup(NameStr(*DatumGetName(value)));
	return text_to_cstring(DatumGetTextPP(value));
}

/* Returns an option with a table's name given its schema, by the search_path. */
static const char *
qualified_table(GuardOption option, const char *value)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(value)));
	Oid table = RangeVarGetRelid(range, NoLock, true);

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of argument \"%s\" does not exist", value,
						guard_option_names[option]),
				 errhint("Create the table first, or name another one.")));
	require_trust(table, option == OPTION_RECORD_IN);
	return guard_qualified(table);
}

/* Returns an expression or condition with all names given their schemas. */
static const char *
qualified_expression(const Guard *guard, const char *value, bool condition)
{
	Relation table = table_open(guard->table, AccessShareLock);
	Node *expression = guard_parse(table, value, condition);
	List *context = deparse_context_for(RelationGetRelationName(table), guard->table);
	int settings = NewGUCNestLevel();
	const char *text;

	set_locally("search_path", SAFE_SEARCH_PATH);
	if (condition)
		expression = (Node *) make_ands_explicit((List *) expression);
	text = deparse_expression(expression, context, false, false);
	AtEOXact_GUC(false, settings);
	table_close(table, NoLock);
	return text;
}

/* Returns the option unless with the name of a table given its schema. */
static const char *
qualified_unless(const Guard *guard, const char *value)
{
	StringInfoData list;
	ListCell *cell;

	initStringInfo(&list);
	foreach (cell, guard_items(value))
	{
		AttrNumber column = guard_named_column(guard->table, lfirst(cell));

		appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "",
						 column > 0 && get_atttype(guard->table, column) == BOOLOID ?
							 (const char *) lfirst(cell) :
							 qualified_table(OPTION_UNLESS, lfirst(cell)));
	}
	return list.data;
}

/* Gives the names in a signature that is an expression their schemas. */
static void
qualify_signature(Guard *guard)
{
	const char **value = &guard->options.value[OPTION_SIGNATURE];

	if (*value != NULL && strchr(*value, '(') != NULL)
		*value = qualified_expression(guard, *value, false);
}

/* Gives the names in the options their schemas: a trigger fires with any search_path. */
static void
qualify(Guard *guard)
{
	const char **value = guard->options.value;

	if (value[OPTION_AGAINST] != NULL)
		value[OPTION_AGAINST] = qualified_table(OPTION_AGAINST, value[OPTION_AGAINST]);
	if (value[OPTION_RECORD_IN] != NULL && guard->action == ACTION_LOG)
		value[OPTION_RECORD_IN] = qualified_table(OPTION_RECORD_IN, value[OPTION_RECORD_IN]);
	if (value[OPTION_UNLESS] != NULL)
		value[OPTION_UNLESS] = qualified_unless(guard, value[OPTION_UNLESS]);
	if (value[OPTION_CONDITION] != NULL)
		value[OPTION_CONDITION] = qualified_expression(guard, value[OPTION_CONDITION], true);
	qualify_signature(guard);
}

/* ---- Triggers ------------------------------------------------------------------------------ */

/* Runs a command. */
static void
run_command(const char *command)
{
	int result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "SPI_execute failed: %s for %s", SPI_result_code_string(result), command);
}

/* Returns the name of a trigger that a guard has beside its own. */
const char *
guard_helper_name(const char *guard, const char *label)
{
	return makeObjectName(guard, NULL, label);
}

/* Is it the trigger of a guard itself, not one of its helpers? */
static bool
is_own(const Trigger *trigger)
{
	return TRIGGER_FOR_ROW(trigger->tgtype) && !TRIGGER_FOR_DELETE(trigger->tgtype) &&
		(TRIGGER_FOR_AFTER(trigger->tgtype) || TRIGGER_FOR_UPDATE(trigger->tgtype));
}

/* Is a trigger one of the guard of that name?  Another guard's name may be that of a helper. */
static bool
has_name(const Trigger *trigger, const char *name)
{
	static const char *const label[] = {"before", "lock", "after"};

	if (is_own(trigger))
		return strcmp(trigger->tgname, name) == 0;
	for (int i = 0; i < lengthof(label); i++)
		if (strcmp(trigger->tgname, guard_helper_name(name, label[i])) == 0)
			return true;
	return false;
}

/* Is a trigger one of the guard of that name or, without a name, of a guard of that signature? */
static bool
is_of_guard(const Trigger *trigger, const Guard *guard)
{
	const char *wanted = guard->options.value[OPTION_SIGNATURE];
	const char *signature;

	if (trigger->tgfoid != guard->function)
		return false;
	if (guard->name != NULL)
		return has_name(trigger, guard->name);
	if (wanted == NULL)
		return true;
	signature = guard_options(trigger).value[OPTION_SIGNATURE];
	return signature != NULL && strcmp(signature, wanted) == 0;
}

/* Takes the options that are not given from the guard of that name, if there is one. */
static void
keep_options(Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);

	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid == guard->function && strcmp(trigger->tgname, guard->name) == 0)
			guard->old = guard_options(trigger);
	}
	for (int i = 0; i < OPTIONS; i++)
	{
		const char **value = &guard->options.value[i];

		if (guard->old.value[i] != NULL)
			guard->old.value[i] = pstrdup(guard->old.value[i]);
		if (*value == NULL)
			*value = guard->old.value[i];
		else if (*value != NULL && **value == '\0')
			*value = NULL;
	}
	table_close(table, NoLock);
}

/* Drops the triggers of a guard or, if it has no name, those of all guards of a signature. */
static void
drop_triggers(const Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);
	StringInfoData commands;

	initStringInfo(&commands);
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (is_of_guard(trigger, guard))
			appendStringInfo(&commands, "DROP TRIGGER %s ON %s;", quote_identifier(trigger->tgname),
							 guard->table_name);
	}
	table_close(table, NoLock);
	run_command(commands.data);
}

/* Creates a trigger. */
static void
create_trigger(const Guard *guard, const char *constraint, const char *name, const char *events,
			   const char *each)
{
	run_command(psprintf("CREATE %sTRIGGER %s %s ON %s FOR EACH %s EXECUTE FUNCTION "
						 "%s.neardup_guard_row(%s)",
						 constraint, quote_identifier(name), events, guard->table_name, each,
						 guard->schema, guard_arguments(&guard->options)));
}

/*
 * Creates the trigger that takes the lock, before deletions, and before updates of a column that
 * may move a row.
 */
static void
create_lock_trigger(const Guard *guard, const GuardRule *rule)
{
	AttrNumber signature = strchr(rule->signature, '(') != NULL ?
		0 :
		guard_named_column(guard->table, rule->signature);
	const char *columns = "";

	if (rule->options.value[OPTION_CONDITION] == NULL && signature > 0)
		columns = psprintf(" OF %s, %s, %s",
						   quote_identifier(get_attname(guard->table, signature, false)),
						   quote_identifier(rule->group_key), quote_identifier(rule->group));
	if (rule->withins == 0)
		create_trigger(guard, "", guard_helper_name(guard->name, "lock"),
					   psprintf("BEFORE DELETE OR UPDATE%s", columns), "STATEMENT");
}

/* Creates the triggers of a guard. */
static void
create_triggers(const Guard *guard)
{
	if (guard->action == ACTION_GROUP)
	{
		create_trigger(guard, "", guard->name, "BEFORE INSERT OR UPDATE", "ROW");
		create_trigger(guard, "", guard_helper_name(guard->name, "after"),
					   "AFTER INSERT OR UPDATE OR DELETE", "ROW");
		return;
	}
	create_trigger(guard, "CONSTRAINT ", guard->name, "AFTER INSERT OR UPDATE", "ROW");
	create_trigger(guard, "", guard_helper_name(guard->name, "after"), "AFTER INSERT OR UPDATE",
				   "STATEMENT");
	if (guard->action == ACTION_SKIP)
		create_trigger(guard, "", guard_helper_name(guard->name, "before"), "BEFORE INSERT", "ROW");
}

/* Warns of triggers that may change a row after it was placed, or found to be no duplicate. */
static void
warn_of_later_triggers(const Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);
	const char *name =
		guard->action == ACTION_SKIP ? guard_helper_name(guard->name, "before") : guard->name;

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

/*
 * Creates an index; raises an error if that takes long.  The names in the statement are those of
 * safe schemas.
 */
static void
create_index(const Guard *guard, const char *statement)
{
	int settings = NewGUCNestLevel();

	if (table_blocks(guard->table) > LARGE_BLOCKS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is large and has no index that the guard can ask",
						get_rel_name(guard->table)),
				 errhint("Create it first, with CONCURRENTLY if the table is in use: %s.",
						 statement)));
	set_locally("search_path", SAFE_SEARCH_PATH);
	run_command(statement);
	AtEOXact_GUC(false, settings);
}

/* Returns the guard's trigger in the rules of this session. */
static GuardTrigger *
find_trigger(const Guard *guard)
{
	Relation table = table_open(guard->table, AccessShareLock);
	GuardTrigger *found = NULL;

	for (int i = 0; i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid == guard->function && strcmp(trigger->tgname, guard->name) == 0)
			found = guard_trigger(trigger, table, guard->function);
	}
	table_close(table, NoLock);
	if (found != NULL)
		return found;
	elog(ERROR, "could not find trigger \"%s\"", guard->name);
}

/* Returns whether a table and all its partitions have an index that a guard can ask. */
static bool
has_indexes(const GuardRule *rule, const GuardSide *side)
{
	bool all = true;
	ListCell *cell;

	foreach (cell, find_all_inheritors(side->table, AccessShareLock, NULL))
	{
		Relation table = table_open(lfirst_oid(cell), NoLock);

		/* Children that inherit are no partitions, and not searched. */
		if (RelationGetRelid(table) == side->table || table->rd_rel->relispartition)
			all &= guard_has_index(rule, table);
		table_close(table, NoLock);
	}
	return all;
}

/* Does a query return a row? */
static bool
any_row(const char *query)
{
	run_command(query);
	return SPI_processed > 0;
}

/* Did the guard group rows by other options?  Verdicts are those of the rows that are placed next. */
static bool
regroups(const Guard *guard)
{
	if (guard_action(&guard->old) != ACTION_GROUP)
		return false;
	for (int i = 0; i < OPTION_UNLESS; i++)
	{
		const char *value = guard->options.value[i];
		const char *old = guard->old.value[i];

		if (strcmp(value == NULL ? "" : value, old == NULL ? "" : old) != 0)
			return true;
	}
	return false;
}

/* Makes what groups need beside the triggers, and places the rows that have no group. */
static void
complete_groups(const Guard *guard)
{
	GuardRule *rule = find_trigger(guard)->rule;

	create_lock_trigger(guard, rule);
	if (!guard_has_member_index(rule))
		create_index(guard, guard_member_index_statement(rule));
	if (any_row(psprintf("SELECT FROM %s LIMIT 1", guard->table_name)))
		guard_fill_groups(find_trigger(guard)->rule, regroups(guard));
}

/* Checks a guard as when it fires, and makes the index that it lacks. */
static void
complete(const Guard *guard)
{
	GuardTrigger *trigger = find_trigger(guard);
	ListCell *cell;

	if (!has_indexes(trigger->rule, &trigger->rule->side[0]))
		create_index(guard, guard_index_statement(trigger->rule, &trigger->rule->side[0]));
	trigger = find_trigger(guard);
	foreach (cell, trigger->tables)
	{
		Relation searched = table_open(lfirst_oid(cell), AccessShareLock);

		(void) guard_place(trigger->rule, searched);
		table_close(searched, NoLock);
	}
	guard_check_statements(trigger->rule);
	if (guard->action == ACTION_GROUP)
		complete_groups(guard);
	if (guard->action == ACTION_GROUP || guard->action == ACTION_SKIP)
		warn_of_later_triggers(guard);
}

/* ---- The function --------------------------------------------------------------------------------- */

/* Reads the arguments. */
static Guard
read_guard(FunctionCallInfo call)
{
	Guard guard = {.name = argument_text(call, ARGUMENT_NAME)};

	if (call->args[ARGUMENT_TABLE].isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"guarded\" of neardup_guard() is missing or wrong"),
				 errhint("Name a table.")));
	guard.table = DatumGetObjectId(call->args[ARGUMENT_TABLE].value);
	if (get_rel_name(guard.table) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", guard.table),
				 errhint("Name a table.")));
	guard.table_name = guard_qualified(guard.table);
	guard.schema = quote_identifier(get_namespace_name(get_func_namespace(call->flinfo->fn_oid)));
	guard.function =
		extension_function(call->flinfo->fn_oid, "neardup_guard_row", InvalidOid, InvalidOid);
	for (int i = 0; i < OPTIONS; i++)
		guard.options.value[i] = argument_text(call, i + 1);
	guard.action = guard_action(&guard.options);
	if (guard.name == NULL && guard.action != ACTION_NONE)
	{
		const char *signature = guard.options.value[OPTION_SIGNATURE];
		const char *action = guard.options.value[OPTION_ACTION];

		if (signature == NULL)
			refuse_option(OPTION_SIGNATURE, NULL, "Name a column of signatures.");
		guard.name = makeObjectName(get_rel_name(guard.table),
									strchr(signature, '(') != NULL ? NULL : signature,
									action == NULL ? "reject" : action);
	}
	return guard;
}

/* Makes a guard, or changes the one of that name. */
static void
make_guard(Guard *guard)
{
	/* The lock that CREATE TRIGGER takes. */
	LockRelationOid(guard->table, ShareRowExclusiveLock);
	require_trust(guard->table, true);
	keep_options(guard);
	guard->action = guard_action(&guard->options);
	qualify(guard);
	(void) guard_threshold(&guard->options);
	drop_triggers(guard);
	create_triggers(guard);
	complete(guard);
}

/*
 * neardup_guard(guarded, signature, threshold, action, ...) → name: makes, changes or drops the
 * triggers that guard a table, and checks them; returns the name of the guard.
 */
PG_FUNCTION_INFO_V1(neardup_guard);
Datum
neardup_guard(PG_FUNCTION_ARGS)
{
	Guard guard = read_guard(fcinfo);
	Name name;

	SPI_connect();
	if (guard.action == ACTION_NONE)
	{
		qualify_signature(&guard);
		drop_triggers(&guard);
	}
	else
		make_guard(&guard);
	SPI_finish();
	if (guard.name == NULL)
		PG_RETURN_NULL();
	name = palloc(NAMEDATALEN);
	namestrcpy(name, guard.name);
	PG_RETURN_NAME(name);
}
