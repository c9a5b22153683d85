/*
 * reject_rule.c: rules: made when a trigger first fires in a session, and cached.
 *
 * A change of the tables may make any part of a rule wrong, so it is made again as soon as
 * PostgreSQL finds the plan of one of its statements invalid.
 */
#include "reject/reject.h"

#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/syscache.h"

/* ---- What a rule depends on ----------------------------------------------- */

/* Counts the changes of types, roles and memberships. */
static uint64 changes = 1;

static void
count_change(Datum argument, int cache, uint32 hash)
{
	changes++;
}

/* Looks again at whom and what the rule may trust. */
static void
refresh_rule(RejectRule *rule, Relation guarded)
{
	uint64 seen_changes = changes;
	MemoryContext old_context;
	List *prepared;

	rule->trusted = owner_alone_makes_triggers(guarded);
	prepared = check_plain(rule);
	old_context = MemoryContextSwitchTo(rule->context);
	list_free(rule->prepared);
	rule->prepared = list_copy(prepared);
	MemoryContextSwitchTo(old_context);
	rule->seen_changes = seen_changes;
}

/* Raises an error unless a trigger that places rows has one beside it that hands groups on. */
static void
check_company(const Maker *maker)
{
	const TriggerDesc *triggers = maker->table->trigdesc;

	if (maker->rule->group.name == NULL)
		return;
	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgfoid == maker->function && makes_groups(trigger) &&
			strcmp(trigger->tgargs[0], maker->rule->column_name) == 0 &&
			TRIGGER_FOR_AFTER(trigger->tgtype) && TRIGGER_FOR_DELETE(trigger->tgtype))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("trigger \"%s\" has no trigger beside it that hands groups on",
					maker->rule->name),
			 errhint("Create them with neardup_guard().")));
}

/* Makes a rule in a memory context of its own, which is kept once nothing can fail. */
static RejectRule *
make_rule(Trigger *trigger, Relation table, Oid function)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup_reject rule", ALLOCSET_SMALL_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	RejectRule *rule = palloc0(sizeof(RejectRule));
	Maker maker = {.trigger = trigger, .table = table, .function = function, .rule = rule};
	AsOwner as;

	rule->context = context;
	rule->name = pstrdup(trigger->tgname);
	rule->function = function;
	maker.schema = quote_identifier(get_namespace_name(get_func_namespace(function)));
	rule->lock = true;
	read_arguments(rule, trigger);
	find_guarded(trigger->tgoid, rule);
	maker.guarded = table_open(rule->guarded, AccessShareLock);
	rule->owner = maker.guarded->rd_rel->relowner;
	find_signatures(&maker);
	find_scope(rule, trigger->tgname, table, maker.guarded);
	find_indexes(&maker);
	check_company(&maker);
	/* Statements are made of the condition, so that is checked before. */
	refresh_rule(rule, maker.guarded);
	/* The current user may lack USAGE on the schemas that the statements name. */
	begin_as_owner(rule, &as);
	prepare_statements(&maker);
	end_as_owner(&as);
	refresh_rule(rule, maker.guarded);
	table_close(maker.guarded, NoLock);
	MemoryContextSwitchTo(old_context);

	MemoryContextSetParent(context, TopMemoryContext);
	for (int i = 0; i < STATEMENTS; i++)
		if (rule->statement[i] != NULL)
			SPI_keepplan(rule->statement[i]);
	return rule;
}

static void
free_rule(RejectRule *rule)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (rule->statement[i] != NULL)
			SPI_freeplan(rule->statement[i]);
	MemoryContextDelete(rule->context);
}

/* Are the statements still right? */
static bool
rule_is_valid(const RejectRule *rule)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (rule->statement[i] != NULL && !SPI_plan_is_valid(rule->statement[i]))
			return false;
	return true;
}

/* Has the search a plan that needs not be made again, as after a change of a partition? */
static bool
search_is_planned(const RejectRule *rule)
{
	const CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(rule->statement[SEARCH]));

	return source->gplan != NULL && source->gplan->is_valid;
}

/* Has nothing changed since reject_rule() returned the rule? */
bool
rule_is_current(const RejectRule *rule)
{
	return rule_is_valid(rule) && rule->seen_changes == changes;
}

/* Keeps a rule from being freed until release_rule(). */
void
hold_rule(RejectRule *rule)
{
	rule->running++;
}

/* Lets a rule of hold_rule() be freed. */
void
release_rule(RejectRule *rule)
{
	if (--rule->running == 0 && rule->replaced)
		free_rule(rule);
}

/* ---- The cache ---------------------------------------------------------- */

typedef struct CachedRule
{
	Oid trigger;
	RejectRule *rule; /* or NULL */
} CachedRule;

static HTAB *cache = NULL;

/* Returns the entry of a trigger, a new one if there is none. */
static CachedRule *
cached_rule(Oid trigger)
{
	CachedRule *entry;
	bool found;

	if (cache == NULL)
	{
		HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(CachedRule)};

		cache = hash_create("neardup_reject rules", 16, &control, HASH_ELEM | HASH_BLOBS);
		CacheRegisterSyscacheCallback(TYPEOID, count_change, 0);
		CacheRegisterSyscacheCallback(AUTHOID, count_change, 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, count_change, 0);
	}
	entry = hash_search(cache, &trigger, HASH_ENTER, &found);
	if (!found)
		entry->rule = NULL;
	return entry;
}

/*
 * Frees all rules that are neither valid nor running.  These include the rules
 * of dropped triggers, as nothing reports the drop of a trigger.
 */
static void
free_invalid_rules(void)
{
	HASH_SEQ_STATUS scan;
	CachedRule *entry;

	hash_seq_init(&scan, cache);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->rule != NULL && (entry->rule->running > 0 || rule_is_valid(entry->rule)))
			continue;
		if (entry->rule != NULL)
			free_rule(entry->rule);
		hash_search(cache, &entry->trigger, HASH_REMOVE, NULL);
	}
}

/*
 * Returns the rule of a trigger that fires for a row of table; function is
 * neardup_reject().  Locks the tables that it names.  SPI must be connected.
 */
RejectRule *
reject_rule(Trigger *trigger, Relation table, Oid function)
{
	RejectRule *rule = cached_rule(trigger->tgoid)->rule;

	if (rule != NULL)
	{
		/* Under the locks, all changes of what the rule reads and writes are known. */
		LockRelationOid(rule->guarded, AccessShareLock);
		if (OidIsValid(rule->log_table))
			LockRelationOid(rule->log_table, RowExclusiveLock);
		if (OidIsValid(rule->verdict_table))
			LockRelationOid(rule->verdict_table, AccessShareLock);
		if (rule_is_valid(rule))
		{
			if (rule->seen_changes != changes || !search_is_planned(rule))
			{
				Relation guarded = table_open(rule->guarded, NoLock);

				refresh_rule(rule, guarded);
				table_close(guarded, NoLock);
			}
			return rule;
		}
		cached_rule(trigger->tgoid)->rule = NULL;
		/* A rule that an outer call uses is freed by that. */
		rule->replaced = true;
		if (rule->running == 0)
			free_rule(rule);
	}
	free_invalid_rules();
	rule = make_rule(trigger, table, function);
	cached_rule(trigger->tgoid)->rule = rule;
	return rule;
}
