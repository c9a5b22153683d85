/*
 * violations.c: neardup_guard_violations(), which lists what came into a guarded table unchecked.
 *
 * It looks at each row as the guard would, by the same search, but all in one snapshot.
 */
#include "guard/group.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_trigger.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "rights.h"
#include "trust.h"
#include "calls/objects.h"

/* Columns of the result: guard, problem, row_key, resembles, similarity. */
#define COLUMNS 5

/* The list of violations of one guard. */
typedef struct Lister
{
	ReturnSetInfo *result;
	GuardCheck check;
	bool near_leader; /* the row is near the leader of its group */
} Lister;

/* Adds a violation; the other row may be NULL. */
static void
add(Lister *lister, const char *problem, const GuardHit *other)
{
	const GuardCheck *check = &lister->check;
	Datum values[COLUMNS];
	bool nulls[COLUMNS] = {[3] = other == NULL, [4] = other == NULL};

	values[0] = DirectFunctionCall1(namein, CStringGetDatum(check->rule->name));
	values[1] = CStringGetTextDatum(problem);
	values[2] = guard_key_text(check->leaf, check->row);
	if (other != NULL)
	{
		values[3] = guard_key_text(other->leaf, other->row);
		values[4] = Float8GetDatum(other->similarity);
	}
	tuplestore_putvalues(lister->result->setResult, lister->result->setDesc, values, nulls);
}

/* Returns whether verdicts bind the row of a key to a group or, if not same, keep it out. */
static bool
binds(const GuardCheck *check, bool same, Datum key, Datum group)
{
	GuardCheck of_key = *check;

	guard_find_judged(&of_key, key, key, false);
	return guard_is_bound(&of_key, same, group);
}

/*
 * A GuardVisitor: lists two rows, or leaders, that are similar, or notes that a row is near its leader.
 * A pair is listed when its first row is looked at or, of a measure in one direction, the second,
 * which takes the place of the new row.
 */
static GuardStep
look_at_similar(GuardCheck *check, const GuardHit *hit, void *state)
{
	const GuardLeaf *leaf = check->leaf;
	Measure measure = check->rule->measure;
	bool directed = measure == MEASURE_CONTAINED || measure == MEASURE_CONTAINS;
	bool groups = check->rule->action->groups;
	bool first = hit->leaf->oid != leaf->oid ?
		leaf->oid < hit->leaf->oid :
		ItemPointerCompare(&check->row->tts_tid, &hit->row->tts_tid) < 0;
	Lister *lister = state;
	NullableDatum group;
	NullableDatum other;

	if (groups)
	{
		group = guard_get(check, check->row, &leaf->group);
		other = guard_get(check, hit->row, &hit->leaf->group_key);
		if (!guard_leads(check, leaf, check->row))
		{
			lister->near_leader |= guard_is_same(&leaf->group, group, other);
			return STEP_ON;
		}
	}
	/* Of a measure in one direction, the later row may rightly lead. */
	if ((groups ? first && !directed : hit->leaf->table != leaf->table || first != directed) &&
		!guard_is_true(check, hit->row, &hit->leaf->unless) &&
		!(groups && binds(check, false, other.value, group.value)))
		add(lister, groups ? "similar leaders" : "similar rows", hit);
	return STEP_ON;
}

/* Looks at a row that a guard groups. */
static void
look_at_grouped(Lister *lister, bool compared)
{
	GuardCheck *check = &lister->check;
	bool leads = guard_leads(check, check->leaf, check->row);
	NullableDatum group = guard_get(check, check->row, &check->leaf->group);
	Datum key = guard_get(check, check->row, &check->leaf->group_key).value;

	lister->near_leader = false;
	if (compared && leads)
		guard_find_judged(check, key, key, false);
	if (compared)
		guard_visit(check, false, look_at_similar, lister);
	if (leads || lister->near_leader)
		return;
	if (group.isnull)
		add(lister, "no group", NULL);
	else if (!guard_group_has(check, group.value, true, InvalidCommandId))
		add(lister, "no leader", NULL);
	else if (!binds(check, true, key, group.value))
		add(lister, "not similar to its leader", NULL);
}

/* Looks at all rows of a table. */
static void
look_at_table(Lister *lister, GuardRule *rule, Relation table)
{
	GuardCheck *check = &lister->check;
	GuardLeaf *leaf = guard_leaf(rule, table);
	TupleTableSlot *row = table_slot_create(table, NULL);
	TableScanDesc scan = compat_begin_scan(table, GetActiveSnapshot());
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup row", ALLOCSET_DEFAULT_SIZES);

	guard_find_searched(rule, leaf, table);
	while (table_scan_getnextslot(scan, ForwardScanDirection, row))
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);
		bool compared;

		CHECK_FOR_INTERRUPTS();
		*check = (GuardCheck){.rule = rule,
							  .leaf = leaf,
							  .table = table,
							  .row = row,
							  .stored = true,
							  .snapshot = GetActiveSnapshot()};
		compared = guard_begin_search(check);
		if (rule->action->groups)
			look_at_grouped(lister, compared);
		else if (compared)
			guard_visit(check, false, look_at_similar, lister);
		if (check->state != NULL)
			FreeExecutorState(check->state);
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(context);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	MemoryContextDelete(context);
}

/* Raises an error unless the user may read all rows of a guard's tables. */
static void
check_rights(const GuardRule *rule)
{
	for (int i = 0; i < rule->tables; i++)
		if (!role_may_read(rule->table[i].oid, InvalidAttrNumber))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for table %s", get_rel_name(rule->table[i].oid)),
					 errdetail("neardup_guard_violations() reads all its rows.")));
	if (OidIsValid(rule->verdicts))
		require_trust(rule->verdicts, false);
}

/* neardup_guard_violations(guarded regclass) → table: what came into a guarded table unchecked. */
PG_FUNCTION_INFO_V1(neardup_guard_violations);
Datum
neardup_guard_violations(PG_FUNCTION_ARGS)
{
	Oid oid = PG_GETARG_OID(0);
	Oid function =
		extension_function(fcinfo->flinfo->fn_oid, "neardup_guard_row", InvalidOid, InvalidOid);
	Relation table = relation_open(oid, AccessShareLock);
	Lister lister = {.result = (ReturnSetInfo *) fcinfo->resultinfo};
	GuardRule *rule;
	GuardLeaf *leaf;
	ListCell *cell;

	/* The signature and the condition of a guard may call any function. */
	require_trust(oid, true);
	begin_rows(fcinfo);
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid != function || !TRIGGER_FOR_ROW(trigger->tgtype) ||
			guard_main(trigger, table) != trigger)
			continue;
		rule = guard_rule(trigger->tgoid, table, function, &leaf);
		if (!rule->action->promises)
			continue;
		check_rights(rule);
		foreach (cell, leaf->searched)
		{
			Relation searched = table_open(lfirst_oid(cell), AccessShareLock);

			if (guard_leaf(rule, searched)->table == rule->guarded)
				look_at_table(&lister, rule, searched);
			table_close(searched, NoLock);
		}
	}
	relation_close(table, NoLock);
	return (Datum) 0;
}
