/*
 * rule.c: guards as a session keeps them: made when a trigger first fires, and again after one of
 * their tables has changed.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "rights.h"
#include "types/objects.h"

/* ---- The cache --------------------------------------------------------------- */

/* An entry of the table of rules. */
typedef struct CachedRule
{
	Oid trigger;
	GuardRule *rule;
} CachedRule;

static HTAB *rules;    /* CachedRule */
static HTAB *triggers; /* GuardTrigger */
static HTAB *watched;  /* OIDs of relations */
static MemoryContext cache_context;
static bool stale;  /* a watched relation has changed */
static List *plans; /* of the rules */

/* What checks in progress may still use. */
static List *discarded_contexts;
static List *discarded_plans;

/* A RelcacheCallbackFunction. */
static void
relation_changes(Datum argument, Oid relation)
{
	if (watched != NULL &&
		(!OidIsValid(relation) || hash_search(watched, &relation, HASH_FIND, NULL) != NULL))
		stale = true;
}

/* An XactCallback: frees what is not used any more. */
static void
end_of_transaction(XactEvent event, void *argument)
{
	ListCell *cell;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	foreach (cell, discarded_plans)
		(void) SPI_freeplan(lfirst(cell));
	foreach (cell, discarded_contexts)
		MemoryContextDelete(lfirst(cell));
	list_free(discarded_plans);
	list_free(discarded_contexts);
	discarded_plans = discarded_contexts = NIL;
}

/* Makes an empty table whose keys are OIDs. */
static HTAB *
new_table(const char *name, Size entry, MemoryContext context)
{
	HASHCTL control = {.keysize = sizeof(Oid), .entrysize = entry, .hcxt = context};

	return hash_create(name, 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Empties the cache, if it is stale; checks in progress keep what they have. */
static void
refresh_cache(void)
{
	static bool registered = false;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(relation_changes, (Datum) 0);
		RegisterXactCallback(end_of_transaction, NULL);
		registered = true;
	}
	if (cache_context != NULL && !stale)
		return;
	if (cache_context != NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(TopMemoryContext);

		discarded_contexts = lappend(discarded_contexts, cache_context);
		discarded_plans = list_concat(discarded_plans, plans);
		list_free(plans);
		plans = NIL;
		MemoryContextSwitchTo(old_context);
	}
	stale = false;
	cache_context =
		AllocSetContextCreate(TopMemoryContext, "neardup guards", ALLOCSET_DEFAULT_SIZES);
	watched = new_table("neardup watched relations", sizeof(Oid), cache_context);
	rules = new_table("neardup rules", sizeof(CachedRule), cache_context);
	triggers = new_table("neardup triggers", sizeof(GuardTrigger), cache_context);
}

/* Has the next trigger make all rules anew. */
void
guard_forget(void)
{
	stale = true;
}

/* Keeps a plan as long as the rules that the cache has now. */
void
guard_keep_plan(SPIPlanPtr plan)
{
	MemoryContext old_context = MemoryContextSwitchTo(TopMemoryContext);

	plans = lappend(plans, plan);
	(void) SPI_keepplan(plan);
	MemoryContextSwitchTo(old_context);
}

/* Lets a change of a relation empty the cache. */
static void
watch(Oid relation)
{
	(void) hash_search(watched, &relation, HASH_ENTER, NULL);
}

/* ---- Making a rule --------------------------------------------------------------- */

/*
 * Returns the table that a guard was made for, and sets the guard's trigger: that of the table
 * itself or, if a partition's trigger is a copy, the one that it is a copy of.
 */
static Oid
guard_root(Oid trigger, Oid *root)
{
	Relation catalog = table_open(TriggerRelationId, AccessShareLock);
	Oid table = InvalidOid;

	while (OidIsValid(trigger))
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(trigger));
		scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
		tuple = systable_getnext(scan);
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "could not find tuple for trigger %u", trigger);
		*root = trigger;
		table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
		trigger = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	return table;
}

/* Reads an interval, which must not be negative. */
static Interval *
read_span(char *text)
{
	Datum zero = IntervalPGetDatum(palloc0(sizeof(Interval)));
	Datum span = DirectFunctionCall3(interval_in, CStringGetDatum(text),
									 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	if (DatumGetBool(DirectFunctionCall2(interval_lt, span, zero)))
		refuse_option(OPTION_WITHIN, psprintf("The interval is '%s'.", text),
					  "Pass an interval that is not negative.");
	return DatumGetIntervalP(span);
}

/* Reads one item of the option within: a column, or a column and an interval. */
static WithinColumn
read_within(char *item)
{
	WithinColumn column = {NULL};
	char *end = item;
	List *names;

	if (*item == '"')
		end = strchr(item + 1, '"');
	while (end != NULL && *end != '\0' && !isspace((unsigned char) *end))
		end++;
	if (end != NULL && *end != '\0')
	{
		*end++ = '\0';
		while (isspace((unsigned char) *end))
			end++;
		if (*end != '\0')
			column.span = read_span(end);
	}
	if (end == NULL || !SplitIdentifierString(item, ',', &names) || list_length(names) != 1)
		refuse_option(OPTION_WITHIN, NULL,
					  "Pass columns, as in 'tenant', or 'tenant, submitted_at 10 minutes'.");
	column.name = pstrdup(linitial(names));
	return column;
}

/* Reads the option within. */
static void
read_withins(GuardRule *rule)
{
	List *items = guard_items(rule->options.value[OPTION_WITHIN]);
	ListCell *cell;

	rule->within = palloc((list_length(items) + 1) * sizeof(WithinColumn));
	foreach (cell, items)
		rule->within[rule->withins++] = read_within(lfirst(cell));
}

/* Returns the table of a name, which lies in the schema of the guarded table unless it has one. */
static Oid
named_table(const GuardRule *rule, const char *name)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));
	Oid schema = range->schemaname != NULL ? get_namespace_oid(range->schemaname, true) :
											 get_rel_namespace(rule->side[0].table);

	return OidIsValid(schema) ? get_relname_relid(range->relname, schema) : InvalidOid;
}

/* Returns a table that an option names. */
static Oid
option_table(const GuardRule *rule, GuardOption option, const char *name)
{
	Oid table = named_table(rule, name);

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of argument \"%s\" does not exist", name,
						guard_option_names[option]),
				 errdetail("Guard \"%s\" names it.", rule->name),
				 errhint("Create it, or name another table with neardup_guard().")));
	watch(table);
	return table;
}

/* Reads the option unless: a boolean column, a table of verdicts, or both. */
static void
read_unless(GuardRule *rule)
{
	Oid table = rule->side[0].table;
	ListCell *cell;

	foreach (cell, guard_items(rule->options.value[OPTION_UNLESS]))
	{
		AttrNumber column = guard_named_column(table, lfirst(cell));

		if (column > 0 && get_atttype(table, column) == BOOLOID)
			rule->unless = get_attname(table, column, false);
		else
			rule->verdicts = option_table(rule, OPTION_UNLESS, lfirst(cell));
	}
}

/*
 * Must who writes a row have the right to read the other table?  Not if only the owner of both
 * tables can have made the guard: others would learn what the other table has.
 */
static bool
asks_right(const GuardRule *rule)
{
	Relation guarded = table_open(rule->side[0].table, AccessShareLock);
	Relation other = table_open(rule->side[1].table, AccessShareLock);
	bool asks = guarded->rd_rel->relowner != other->rd_rel->relowner ||
		!owner_alone_makes_triggers(guarded);

	table_close(other, NoLock);
	table_close(guarded, NoLock);
	return asks;
}

/* Raises an error unless rows can have groups: their column has the type of the keys, to the modifier. */
static void
check_group_column(const GuardRule *rule)
{
	Oid table = rule->side[0].table;
	AttrNumber group = get_attnum(table, rule->group);
	Oid type[2];
	int32 modifier[2];
	Oid collation[2];

	if (rule->options.value[OPTION_AGAINST] != NULL)
		refuse_option(OPTION_AGAINST, NULL, "Groups consist of rows of one table.");
	if (group <= 0 || strcmp(rule->group, rule->group_key) == 0)
		refuse_option(OPTION_RECORD_IN,
					  psprintf(group <= 0 ? "There is no column \"%s\"." :
											"Column \"%s\" is the key.",
							   rule->group),
					  "Add a column of the type of the primary key.");
	get_atttypetypmodcoll(table, group, &type[0], &modifier[0], &collation[0]);
	get_atttypetypmodcoll(table, get_attnum(table, rule->group_key), &type[1], &modifier[1],
						  &collation[1]);
	if (type[0] == type[1] && modifier[0] == modifier[1] && collation[0] == collation[1])
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" is of type %s, and column \"%s\" of type %s", rule->group,
					format_type_with_typemod(type[0], modifier[0]), rule->group_key,
					format_type_with_typemod(type[1], modifier[1])),
			 errdetail("A row's group is the key of the row that leads the group."),
			 errhint("Give both columns the same type and collation.")));
}

/* Finds the tables that the options name. */
static void
find_tables(GuardRule *rule)
{
	const char *against = rule->options.value[OPTION_AGAINST];
	const char *log = rule->options.value[OPTION_RECORD_IN];

	guard_find_key(&rule->side[0]);
	if (against != NULL)
	{
		rule->side[1].table = option_table(rule, OPTION_AGAINST, against);
		guard_find_key(&rule->side[1]);
		rule->asks_right = asks_right(rule);
	}
	if (rule->action == ACTION_LOG)
	{
		if (log == NULL)
			refuse_option(OPTION_RECORD_IN, NULL,
						  "Name a table with columns row_key and resembles for action 'log'.");
		rule->log = option_table(rule, OPTION_RECORD_IN, log);
	}
	if (rule->action == ACTION_GROUP)
	{
		List *names = guard_names(&rule->options, OPTION_RECORD_IN);

		if (list_length(names) != 1)
			refuse_option(OPTION_RECORD_IN, NULL,
						  "Name a column of the type of the primary key for action 'group'.");
		rule->group = linitial(names);
		rule->group_key = guard_key_column(rule, &rule->side[0]);
		check_group_column(rule);
	}
	read_unless(rule);
}

/* Reads a list of columns to show. */
static void
read_shown(GuardRule *rule)
{
	List *names = guard_names(&rule->options, OPTION_SHOW);
	ListCell *cell;

	rule->show = palloc((list_length(names) + 1) * sizeof(char *));
	foreach (cell, names)
	{
		if (get_attnum(rule->side[0].table, lfirst(cell)) <= 0)
			refuse_option(OPTION_SHOW,
						  psprintf("There is no column \"%s\".", (char *) lfirst(cell)),
						  "Pass names of columns, as in 'title' or 'title, link'.");
		rule->show[rule->shown++] = lfirst(cell);
	}
}

/* Returns the name of the guard to which a trigger belongs: its own, without a helper's label. */
static const char *
guard_name(const Trigger *trigger)
{
	GuardOptions options = guard_options(trigger);
	GuardAction action = guard_action(&options);
	char *name = pstrdup(trigger->tgname);
	char *label = strrchr(name, '_');

	if (label != NULL &&
		(action == ACTION_GROUP ?
			 !TRIGGER_FOR_ROW(trigger->tgtype) || !TRIGGER_FOR_BEFORE(trigger->tgtype) :
			 action == ACTION_SKIP && TRIGGER_FOR_BEFORE(trigger->tgtype)))
		*label = '\0';
	return name;
}

/* Makes the rule of a guard, in the cache's context. */
static GuardRule *
make_rule(Oid root, Oid guarded, const Trigger *trigger, Oid function)
{
	GuardRule *rule = palloc0(sizeof(GuardRule));
	Trigger copy = *trigger;

	copy.tgargs = palloc(trigger->tgnargs * sizeof(char *));
	for (int i = 0; i < trigger->tgnargs; i++)
		copy.tgargs[i] = pstrdup(trigger->tgargs[i]);
	rule->trigger = root;
	rule->context = CurrentMemoryContext;
	rule->name = guard_name(trigger);
	rule->function = function;
	rule->ball = extension_type(function, "ball");
	rule->options = guard_options(&copy);
	rule->action = guard_action(&rule->options);
	rule->measure = guard_measure(&rule->options);
	rule->threshold = guard_threshold(&rule->options);
	rule->signature = rule->options.value[OPTION_SIGNATURE];
	if (rule->signature == NULL)
		refuse_option(OPTION_SIGNATURE, NULL, "Name a column of signatures.");
	rule->side[0].table = guarded;
	watch(guarded);
	read_withins(rule);
	find_tables(rule);
	read_shown(rule);
	rule->place = new_table("neardup places", sizeof(GuardPlace), rule->context);
	return rule;
}

/* Returns what a search needs to know of an open table of a rule. */
GuardPlace *
guard_place(GuardRule *rule, Relation table)
{
	Oid oid = RelationGetRelid(table);
	GuardPlace *place = hash_search(rule->place, &oid, HASH_FIND, NULL);
	GuardPlace made = {.table = oid};
	MemoryContext old_context;

	if (place != NULL)
		return place;
	old_context = MemoryContextSwitchTo(rule->context);
	guard_fill_place(rule, &made, table);
	watch(oid);
	MemoryContextSwitchTo(old_context);
	place = hash_search(rule->place, &oid, HASH_ENTER, NULL);
	*place = made;
	return place;
}

/* Returns the rule of a guard, from the cache or newly made. */
static GuardRule *
find_rule(const Trigger *trigger, Oid function)
{
	Oid root = InvalidOid;
	Oid guarded = guard_root(trigger->tgoid, &root);
	CachedRule *cached = hash_search(rules, &root, HASH_FIND, NULL);
	GuardRule *rule;

	if (cached != NULL)
		return cached->rule;
	rule = make_rule(root, guarded, trigger, function);
	cached = hash_search(rules, &root, HASH_ENTER, NULL);
	cached->rule = rule;
	return rule;
}

/* Returns the trigger of the guard to which a trigger of an open table belongs. */
static const Trigger *
guard_of(const Trigger *trigger, Relation table)
{
	const Trigger *all = table->trigdesc->triggers;

	for (int i = 0; i < table->trigdesc->numtriggers; i++)
		if (all[i].tgfoid == trigger->tgfoid && OidIsValid(all[i].tgconstraint) &&
			TRIGGER_FOR_BEFORE(trigger->tgtype) && !TRIGGER_FOR_UPDATE(trigger->tgtype) &&
			strcmp(trigger->tgname, guard_helper_name(all[i].tgname, "before")) == 0)
			return &all[i];
	return trigger;
}

/*
 * Does a trigger after each statement that writes to a table look again?  That of a partition's
 * parent fires only for statements that name the parent.
 */
static bool
looks_again(const Trigger *guard, Relation table)
{
	const TriggerDesc *triggers = table->trigdesc;
	const char *name = guard_helper_name(guard->tgname, "after");
	bool may_be_child = table->rd_rel->relispartition || has_superclass(RelationGetRelid(table));

	for (int i = 0; !may_be_child && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgfoid == guard->tgfoid && trigger->tgenabled == guard->tgenabled &&
			strcmp(trigger->tgname, name) == 0 && !TRIGGER_FOR_ROW(trigger->tgtype) &&
			TRIGGER_FOR_AFTER(trigger->tgtype) && TRIGGER_FOR_INSERT(trigger->tgtype) &&
			TRIGGER_FOR_UPDATE(trigger->tgtype) && trigger->tgnattr == 0 && trigger->tgqual == NULL)
			return true;
	}
	return false;
}

/* Returns a trigger that fires for rows of an open table, from the cache or newly made. */
static GuardTrigger *
find_trigger(const Trigger *trigger, Relation table, Oid function)
{
	GuardTrigger *found;
	GuardTrigger made = {.trigger = trigger->tgoid};
	MemoryContext old_context;
	Oid *relation;
	int relations;

	refresh_cache();
	found = hash_search(triggers, &made.trigger, HASH_FIND, NULL);
	if (found != NULL)
		return found;
	old_context = MemoryContextSwitchTo(cache_context);
	made.rule = find_rule(guard_of(trigger, table), function);
	made.tables = guard_tables(made.rule, table, &relation, &relations);
	made.looks_again = looks_again(trigger, table);
	for (int i = 0; i < relations; i++)
		watch(relation[i]);
	MemoryContextSwitchTo(old_context);
	found = hash_search(triggers, &made.trigger, HASH_ENTER, NULL);
	*found = made;
	return found;
}

/* Locks the tables that are searched; returns whether none had changed since they were found. */
static bool
lock_tables(const GuardTrigger *trigger)
{
	ListCell *cell;

	foreach (cell, trigger->tables)
		LockRelationOid(lfirst_oid(cell), AccessShareLock);
	return !stale;
}

/*
 * Returns a trigger that fires for rows of an open table, with its rule.  What it points to
 * lives until the transaction ends at least.
 */
GuardTrigger *
guard_trigger(const Trigger *trigger, Relation table, Oid function)
{
	GuardTrigger *found;

	do
		found = find_trigger(trigger, table, function);
	while (!lock_tables(found));
	return found;
}
