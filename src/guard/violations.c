/*
 * violations.c: neardup_guard_violations(), which lists what came into a guarded table unchecked.
 *
 * It looks at each row as the guard would, by the same search.
 */
#include "guard/guard.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_trigger.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "rights.h"
#include "types/objects.h"

/* Columns of the result: guard, problem, row_key, resembles, similarity. */
#define COLUMNS 5

/* The list of violations of one guard. */
typedef struct Lister
{
	ReturnSetInfo *result;
	GuardCheck check;
	bool near_leader; /* the row is near the leader of its group */
} Lister;

/* ---- The result -------------------------------------------------------------------------- */

/* Returns the key of a row as text: its column, or its columns as those of a row. */
static Datum
key_text(const GuardSide *side, Oid table, TupleTableSlot *row)
{
	StringInfoData text;

	initStringInfo(&text);
	if (side->keys == 0)
		return CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(tidout,
																	   PointerGetDatum(&row->tts_tid))));
	for (int i = 0; i < side->keys; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "",
						 guard_value_text(row, get_attnum(table, side->key[i])));
	return CStringGetTextDatum(side->keys == 1 ? text.data : psprintf("(%s)", text.data));
}

/* Adds a violation; the other row may be NULL. */
static void
add(Lister *lister, const char *problem, const GuardHit *other)
{
	const GuardCheck *check = &lister->check;
	Datum values[COLUMNS];
	bool nulls[COLUMNS] = {false};
	NameData name;

	namestrcpy(&name, check->rule->name);
	values[0] = NameGetDatum(&name);
	values[1] = CStringGetTextDatum(problem);
	values[2] = key_text(check->place->side, check->place->table, check->row);
	nulls[3] = nulls[4] = other == NULL;
	if (other != NULL)
	{
		values[3] = key_text(other->place->side, other->place->table, other->row);
		values[4] = Float8GetDatum(other->similarity);
	}
	tuplestore_putvalues(lister->result->setResult, lister->result->setDesc, values, nulls);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

/* Is the pair listed when the row, not the other one, is looked at? */
static bool
is_first(const GuardCheck *check, const GuardHit *hit)
{
	if (hit->place->side != check->place->side)
		return true;
	if (hit->place->table != check->place->table)
		return check->place->table < hit->place->table;
	return ItemPointerCompare(&check->row->tts_tid, &hit->row->tts_tid) < 0;
}

/* Is a row let in whatever it is similar to? */
static bool
is_exempt(const GuardHit *hit)
{
	bool is_null = true;
	Datum exempt = (Datum) 0;

	if (hit->place->unless > 0)
		exempt = slot_getattr(hit->row, hit->place->unless, &is_null);
	return !is_null && DatumGetBool(exempt);
}

/* A GuardVisitor: lists a pair that is similar. */
static void
list_pair(GuardCheck *check, const GuardHit *hit, void *state)
{
	if (is_first(check, hit) && !is_exempt(hit))
		add(state, "similar rows", hit);
}

/* ---- Groups ------------------------------------------------------------------------------------ */

/* May two leaders not be in one group, by verdicts? */
static bool
are_apart(GuardCheck *check, const GuardHit *hit)
{
	bool is_null;
	Datum key = slot_getattr(check->row, check->place->group_key, &is_null);
	Datum other = slot_getattr(hit->row, hit->place->group_key, &is_null);
	Datum *groups;
	int count;

	if (!OidIsValid(check->rule->verdicts))
		return false;
	count = guard_find_judged(check, false, other, other, &groups);
	for (int i = 0; i < count; i++)
		if (guard_is_same_key(check->place, check->row, groups[i], key))
			return true;
	return false;
}

/* A GuardVisitor: lists two leaders that are similar, and notes that a row is near its leader. */
static void
look_at_leader(GuardCheck *check, const GuardHit *hit, void *state)
{
	Lister *lister = state;
	bool is_null;

	if (!guard_leads(check->place, check->row))
		lister->near_leader |=
			guard_is_same_key(check->place, check->row,
							  slot_getattr(check->row, check->place->group, &is_null),
							  slot_getattr(hit->row, hit->place->group_key, &is_null));
	/* Of a measure in one direction, the later row may rightly lead. */
	else if (check->rule->measure != MEASURE_CONTAINED &&
			 check->rule->measure != MEASURE_CONTAINS && is_first(check, hit) && !is_exempt(hit) &&
			 !are_apart(check, hit))
		add(lister, "similar leaders", hit);
}

/* Returns whether verdicts say that a row is in its group. */
static bool
is_judged_to_be(GuardCheck *check, Datum key, Datum group)
{
	Datum *groups;
	int count =
		OidIsValid(check->rule->verdicts) ? guard_find_judged(check, true, key, key, &groups) : 0;

	for (int i = 0; i < count; i++)
		if (guard_is_same_key(check->place, check->row, groups[i], group))
			return true;
	return false;
}

/* Looks at a row that guard groups. */
static void
look_at_grouped(Lister *lister, bool compared)
{
	GuardCheck *check = &lister->check;
	bool leads = guard_leads(check->place, check->row);
	bool no_group;
	bool no_key;
	Datum group = slot_getattr(check->row, check->place->group, &no_group);
	Datum key = slot_getattr(check->row, check->place->group_key, &no_key);

	lister->near_leader = false;
	if (compared && leads && OidIsValid(check->rule->verdicts))
		check->barred = guard_find_judged(check, false, key, key, &check->bar);
	if (compared)
		guard_visit(check, look_at_leader, lister);
	if (leads || lister->near_leader)
		return;
	if (no_group)
		add(lister, "no group", NULL);
	else if (!guard_has_leader(check, group))
		add(lister, "no leader", NULL);
	else if (!is_judged_to_be(check, key, group))
		add(lister, "not similar to its leader", NULL);
}

/* ---- All rows ----------------------------------------------------------------------------------- */

/* Looks at all rows of a table. */
static void
look_at_table(Lister *lister, Oid oid)
{
	Relation table = table_open(oid, AccessShareLock);
	GuardTrigger trigger = {.rule = lister->check.rule};
	TriggerData data = {.tg_relation = table, .tg_event = TRIGGER_EVENT_INSERT | TRIGGER_EVENT_ROW};
	TupleTableSlot *row = table_slot_create(table, NULL);
	TableScanDesc scan = compat_begin_scan(table, GetActiveSnapshot());
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup row", ALLOCSET_DEFAULT_SIZES);
	Oid *watched;
	int count;

	trigger.tables = guard_tables(lister->check.rule, table, &watched, &count);
	while (table_scan_getnextslot(scan, ForwardScanDirection, row))
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);
		GuardCheck *check = &lister->check;
		bool compared;

		CHECK_FOR_INTERRUPTS();
		*check = (GuardCheck){.trigger = &trigger,
							  .rule = check->rule,
							  .data = &data,
							  .row = row,
							  .stored = true};
		check->place = guard_place(check->rule, table);
		compared = guard_begin_search(check);
		if (check->rule->action == ACTION_GROUP)
			look_at_grouped(lister, compared);
		else if (compared)
			guard_visit(check, list_pair, lister);
		if (check->state != NULL)
			FreeExecutorState(check->state);
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(context);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	MemoryContextDelete(context);
	table_close(table, NoLock);
}

/* Raises an error unless the current user may read all rows of a table. */
static void
check_may_read(Oid table)
{
	if (role_may_read(table, InvalidAttrNumber))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for table %s", get_rel_name(table)),
			 errdetail("neardup_guard_violations() reads all its rows.")));
}

/* Looks at all rows of a guard. */
static void
look_at_guard(Lister *lister, GuardTrigger *trigger)
{
	GuardRule *rule = trigger->rule;
	ListCell *cell;

	for (int i = 0; i < 2; i++)
		if (OidIsValid(rule->side[i].table))
			check_may_read(rule->side[i].table);
	lister->check.rule = rule;
	foreach (cell, trigger->tables)
	{
		Relation table = table_open(lfirst_oid(cell), AccessShareLock);
		bool is_guarded = guard_place(rule, table)->side == &rule->side[0];

		table_close(table, NoLock);
		if (is_guarded)
			look_at_table(lister, lfirst_oid(cell));
	}
}

/*
 * neardup_guard_violations(guarded regclass) → table: the rows that are there although the guards
 * of a table would not have let them in, or would have placed them in other groups.
 */
PG_FUNCTION_INFO_V1(neardup_guard_violations);
Datum
neardup_guard_violations(PG_FUNCTION_ARGS)
{
	Oid oid = PG_GETARG_OID(0);
	Oid function =
		extension_function(fcinfo->flinfo->fn_oid, "neardup_guard_row", InvalidOid, InvalidOid);
	Relation table = relation_open(oid, AccessShareLock);
	Lister lister = {.result = (ReturnSetInfo *) fcinfo->resultinfo};

	begin_rows(fcinfo);
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &table->trigdesc->triggers[i];
		GuardAction action;
		GuardOptions options;

		if (trigger->tgfoid != function || !TRIGGER_FOR_ROW(trigger->tgtype))
			continue;
		options = guard_options(trigger);
		action = guard_action(&options);
		/* One of the triggers of each guard. */
		if (TRIGGER_FOR_BEFORE(trigger->tgtype) ? action == ACTION_GROUP : action != ACTION_GROUP)
			look_at_guard(&lister, guard_trigger(trigger, table, function));
	}
	relation_close(table, NoLock);
	return (Datum) 0;
}
