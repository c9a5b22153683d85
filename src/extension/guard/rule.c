/*
 * rule.c: guards as a session keeps them: made when a trigger first fires, and again after one of
 * their tables has changed.
 */
#include "guard/rule.h"

#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "calls/objects.h"

/* ---- The cache --------------------------------------------------------------- */

static List *rules;   /* GuardRule */
static List *watched; /* OIDs of relations */
static MemoryContext cache_context;
static bool stale = true; /* a watched relation has changed, or there is no cache yet */

/* A RelcacheCallbackFunction. */
static void
relation_changes(Datum argument, Oid relation)
{
	stale |= !OidIsValid(relation) || list_member_oid(watched, relation);
}

/* Empties the cache, if it is stale; what it had lives until the transaction ends. */
static void
refresh_cache(void)
{
	if (!stale)
		return;
	if (cache_context == NULL)
		CacheRegisterRelcacheCallback(relation_changes, (Datum) 0);
	else
		MemoryContextSetParent(cache_context, TopTransactionContext);
	cache_context =
		AllocSetContextCreate(TopMemoryContext, "neardup guards", ALLOCSET_DEFAULT_SIZES);
	rules = watched = NIL;
	stale = false;
}

/* Lets a change of a relation empty the cache. */
void
guard_watch(Oid relation)
{
	MemoryContext old_context = MemoryContextSwitchTo(cache_context);

	watched = list_append_unique_oid(watched, relation);
	MemoryContextSwitchTo(old_context);
}

/* ---- Making a rule --------------------------------------------------------------- */

/* Returns a column of the guarded table that an option names; raises an error if there is none. */
static AttrNumber
option_column(const GuardRule *rule, GuardOption option, const char *name, const char *hint)
{
	AttrNumber column = name == NULL ? InvalidAttrNumber : get_attnum(rule->guarded->oid, name);
	const char *value = rule->options.value[option];

	if (column <= 0)
		refuse_option(option,
					  value == NULL ?
						  NULL :
						  psprintf("There is no column \"%s\".", name == NULL ? value : name),
					  hint);
	return column;
}

/* Finds the column of groups; raises an error unless it has the type of the keys, to the modifier. */
static void
find_group_column(GuardRule *rule)
{
	const char *value = rule->options.value[OPTION_GROUP_COLUMN];
	const char *hint = "Name a column of the type of the primary key for action 'group'.";
	const char *key = rule->guarded->name;
	AttrNumber column[2];
	Oid type[2];
	int32 modifier[2];
	Oid collation[2];

	rule->group = value == NULL ? NULL : guard_column_name(value);
	for (int i = 0; i < 2; i++)
	{
		column[i] = option_column(rule, OPTION_GROUP_COLUMN, i == 0 ? rule->group : key, hint);
		get_atttypetypmodcoll(rule->guarded->oid, column[i], &type[i], &modifier[i], &collation[i]);
	}
	if (column[0] == column[1])
		refuse_option(OPTION_GROUP_COLUMN, psprintf("It is '%s'.", value), hint);
	if (type[0] != type[1] || modifier[0] != modifier[1] || collation[0] != collation[1])
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, and column \"%s\" of type %s", rule->group,
						format_type_with_typemod(type[0], modifier[0]), key,
						format_type_with_typemod(type[1], modifier[1])),
				 errdetail("A row's group is the key of the row that leads the group."),
				 errhint("Give both columns the same type and collation.")));
}

/* Finds the boolean column of the option unless, if it is given. */
static void
find_unless(GuardRule *rule)
{
	const char *value = rule->options.value[OPTION_UNLESS];
	const char *hint = "Name a boolean column of the guarded table.";
	Oid type;

	if (value == NULL)
		return;
	rule->unless = guard_column_name(value);
	type = get_atttype(rule->guarded->oid, option_column(rule, OPTION_UNLESS, rule->unless, hint));
	if (type != BOOLOID)
		refuse_option(OPTION_UNLESS,
					  psprintf("Column \"%s\" is of type %s.", rule->unless, format_type_be(type)),
					  hint);
}

/* Returns the table that an option names, and watches it; InvalidOid if the option is not given. */
static Oid
find_table(const GuardRule *rule, GuardOption option)
{
	const char *name = rule->options.value[option];
	Oid table = name == NULL ?
		InvalidOid :
		guard_option_table(option, name, get_rel_namespace(rule->guarded->oid), rule->name);

	guard_watch(table);
	return table;
}

/* Makes the rule of a guard, in the cache's context. */
static GuardRule *
make_rule(Oid root, Oid guarded, const char *name, const GuardOptions *options, Oid function)
{
	GuardRule *rule = palloc0(sizeof(GuardRule));
	HASHCTL control = {.keysize = sizeof(Oid),
					   .entrysize = sizeof(GuardLeaf),
					   .hcxt = CurrentMemoryContext};
	Oid against;
	ListCell *cell;

	rule->trigger = root;
	rule->context = CurrentMemoryContext;
	rule->name = name;
	rule->function = function;
	rule->ball = extension_type(function, "ball");
	rule->options = *options;
	rule->action = guard_action(options);
	rule->measure = guard_measure(options);
	rule->threshold = guard_threshold(options);
	rule->signature = options->value[OPTION_SIGNATURE];
	if (rule->signature == NULL)
		refuse_option(OPTION_SIGNATURE, NULL, "Name a column of signatures.");
	rule->within = guard_within(options, &rule->withins);
	rule->guarded = &rule->table[0];
	guard_add_table(rule, guarded);
	rule->verdicts = find_table(rule, OPTION_VERDICTS);
	against = find_table(rule, OPTION_AGAINST);
	if (OidIsValid(against) && rule->action->groups)
		refuse_option(OPTION_AGAINST, NULL, "Groups consist of rows of one table.");
	if (OidIsValid(against))
		guard_add_table(rule, against);
	if (rule->action->needs == OPTION_LOG_TABLE)
	{
		rule->log = find_table(rule, OPTION_LOG_TABLE);
		if (!OidIsValid(rule->log))
			refuse_option(OPTION_LOG_TABLE, NULL,
						  "Name a table with columns row_key and resembles for action 'log'.");
	}
	if (rule->action->groups)
		find_group_column(rule);
	find_unless(rule);
	rule->show = guard_names(options, OPTION_SHOW);
	foreach (cell, rule->show)
		(void) option_column(rule, OPTION_SHOW, lfirst(cell),
							 "Pass names of columns, as in 'title' or 'title, link'.");
	rule->leaves =
		hash_create("neardup guard leaves", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return rule;
}

/* Returns the leaf of a rule that is an open table. */
GuardLeaf *
guard_leaf(GuardRule *rule, Relation table)
{
	GuardLeaf made = {.oid = RelationGetRelid(table)};
	GuardLeaf *leaf = hash_search(rule->leaves, &made.oid, HASH_FIND, NULL);
	MemoryContext old_context;

	if (leaf != NULL)
		return leaf;
	guard_watch(made.oid);
	old_context = MemoryContextSwitchTo(rule->context);
	guard_fill_leaf(rule, &made, table);
	MemoryContextSwitchTo(old_context);
	leaf = hash_search(rule->leaves, &made.oid, HASH_ENTER, NULL);
	*leaf = made;
	return leaf;
}

/* Returns the rule of a guard, or of that which a trigger of a partition is a copy of. */
static GuardRule *
find_rule(Oid trigger, const char *name, const GuardOptions *options, Oid function)
{
	Relation catalog = table_open(TriggerRelationId, AccessShareLock);
	Oid root = InvalidOid;
	Oid guarded = InvalidOid;
	GuardRule *rule;
	ListCell *cell;

	while (OidIsValid(trigger))
	{
		HeapTuple tuple = get_catalog_object_by_oid(catalog, Anum_pg_trigger_oid, trigger);
		Form_pg_trigger form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "could not find tuple for trigger %u", trigger);
		form = (Form_pg_trigger) GETSTRUCT(tuple);
		root = trigger;
		guarded = form->tgrelid;
		trigger = form->tgparentid;
	}
	table_close(catalog, AccessShareLock);
	foreach (cell, rules)
		if (((GuardRule *) lfirst(cell))->trigger == root)
			return lfirst(cell);
	rule = make_rule(root, guarded, name, options, function);
	rules = lappend(rules, rule);
	return rule;
}

/* ---- The triggers of a guard --------------------------------------------------------- */

/* Returns whether two triggers have the same arguments. */
static bool
has_same_arguments(const Trigger *a, const Trigger *b)
{
	bool same = a->tgfoid == b->tgfoid && a->tgnargs == b->tgnargs;

	for (int i = 0; same && i < a->tgnargs; i++)
		same = strcmp(a->tgargs[i], b->tgargs[i]) == 0;
	return same;
}

/* Returns the guard of a trigger: helpers have its arguments, and it may have been renamed. */
const Trigger *
guard_main(const Trigger *trigger, Relation table)
{
	const Trigger *found = NULL;

	for (int i = 0; i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *other = &table->trigdesc->triggers[i];

		if (!TRIGGER_FOR_ROW(other->tgtype) || TRIGGER_FOR_DELETE(other->tgtype) ||
			(TRIGGER_FOR_BEFORE(other->tgtype) && !TRIGGER_FOR_UPDATE(other->tgtype)) ||
			!has_same_arguments(trigger, other))
			continue;
		if (other->tgoid == trigger->tgoid)
			return other;
		/* Of two guards with the same arguments, the helper's name begins with its guard's name. */
		if (found == NULL || strncmp(trigger->tgname, other->tgname, strlen(other->tgname)) == 0)
			found = other;
	}
	return found != NULL ? found : trigger;
}

/* Returns whether a trigger looks again after each statement that writes to a table. */
static bool
looks_again(const Trigger *guard, Relation table)
{
	for (int i = 0; i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (!TRIGGER_FOR_ROW(trigger->tgtype) && TRIGGER_FOR_AFTER(trigger->tgtype) &&
			TRIGGER_FOR_INSERT(trigger->tgtype) && TRIGGER_FOR_UPDATE(trigger->tgtype) &&
			trigger->tgnattr == 0 && trigger->tgqual == NULL &&
			trigger->tgenabled == guard->tgenabled && has_same_arguments(trigger, guard))
			return !table->rd_rel->relispartition && !has_superclass(RelationGetRelid(table));
	}
	return false;
}

/*
 * Returns the rule of a trigger of an open table, from the cache or newly made; NULL if there is no
 * such trigger.  When other tables are opened, the relation cache may build its triggers anew.
 */
static GuardRule *
cached_rule(Oid trigger, Relation table, Oid function)
{
	MemoryContext old_context;
	GuardRule *rule = NULL;
	ListCell *cell;

	foreach (cell, rules)
		if (list_member_oid(((GuardRule *) lfirst(cell))->triggers, trigger))
			return lfirst(cell);
	old_context = MemoryContextSwitchTo(cache_context);
	for (int i = 0; rule == NULL && i < table->trigdesc->numtriggers; i++)
		if (table->trigdesc->triggers[i].tgoid == trigger)
		{
			const Trigger *guard = guard_main(&table->trigdesc->triggers[i], table);
			Oid main_trigger = guard->tgoid;
			const char *name = pstrdup(guard->tgname);
			GuardOptions options = guard_options(guard);
			bool again = looks_again(guard, table);
			GuardLeaf *leaf;

			rule = find_rule(main_trigger, name, &options, function);
			leaf = guard_leaf(rule, table);
			leaf->looks_again = again;
			guard_find_searched(rule, leaf, table);
			rule->triggers = lappend_oid(rule->triggers, trigger);
		}
	MemoryContextSwitchTo(old_context);
	return rule;
}

/*
 * Returns the rule of a trigger that fires for rows of an open table, with the table's leaf, and
 * locks the tables that are searched; NULL if there is no such trigger.  What was found before the
 * locks were taken may have changed, and is made again; what was made under them is returned even if
 * the cache is stale, as it always is with debug_discard_caches.  It lives until the transaction ends.
 */
GuardRule *
guard_rule(Oid trigger, Relation table, Oid function, GuardLeaf **leaf)
{
	List *locked = NIL;
	GuardRule *rule;
	ListCell *cell;

	for (;;)
	{
		refresh_cache();
		rule = cached_rule(trigger, table, function);
		if (rule == NULL)
			return NULL;
		*leaf = guard_leaf(rule, table);
		foreach (cell, (*leaf)->searched)
			LockRelationOid(lfirst_oid(cell), AccessShareLock);
		if (!stale || list_difference_oid((*leaf)->searched, locked) == NIL)
			return rule;
		locked = list_concat_unique_oid(locked, (*leaf)->searched);
	}
}
