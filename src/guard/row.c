/*
 * row.c: neardup_guard_row(), the trigger of a guard.
 *
 * It looks at a row after the row is stored, when its own entry is in the index: of two rows
 * that are inserted at the same time, one at least sees the other.  To skip a row, it also looks
 * before the row is stored.
 */
#include "guard/guard.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"


/* Raises an error unless this is a trigger of rows of a table that fires when it should. */
static void
check_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("neardup_guard_row() was not called by a trigger"),
				 errhint("Create a trigger with neardup_guard().")));
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event) &&
		data->tg_relation->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" cannot guard \"%s\"", data->tg_trigger->tgname,
						RelationGetRelationName(data->tg_relation)),
				 errdetail("It is not an ordinary table or a partition.")));
}

/* Raises an error unless the trigger fires at the time that its action is for. */
static void
check_time(const GuardCheck *check)
{
	TriggerEvent event = check->data->tg_event;
	GuardAction action = check->rule->action;
	const TriggerData *data = check->data;
	bool fits = TRIGGER_FIRED_AFTER(event) && !TRIGGER_FIRED_BY_DELETE(event);

	if (action == ACTION_SKIP)
		fits |= TRIGGER_FIRED_BEFORE(event) && TRIGGER_FIRED_BY_INSERT(event);
	if (action == ACTION_GROUP)
		fits = TRIGGER_FIRED_AFTER(event) || !TRIGGER_FIRED_BY_DELETE(event);
	if (fits && TRIGGER_FIRED_FOR_ROW(event))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("trigger \"%s\" must fire AFTER INSERT OR UPDATE, FOR EACH ROW",
					data->tg_trigger->tgname),
			 errhint("Create it with neardup_guard().")));
}

/*
 * Returns whether an update left all that a checked row is compared by.  A row version that this
 * transaction made may not have been checked: if its own check was deferred, that finds the
 * version gone.
 */
static bool
is_unchanged(GuardCheck *check)
{
	const GuardPlace *place = check->place;
	TupleTableSlot *old = check->data->tg_trigslot;
	bool is_null;
	Datum made_by;

	if (!TRIGGER_FIRED_BY_UPDATE(check->data->tg_event))
		return false;
	made_by = slot_getsysattr(old, MinTransactionIdAttributeNumber, &is_null);
	if (TransactionIdIsCurrentTransactionId(DatumGetTransactionId(made_by)))
		return false;
	for (int i = 0; i < check->rule->withins; i++)
		if (!guard_is_same_column(old, check->row, place->within[i]))
			return false;
	if (place->unless > 0 && !guard_is_same_column(old, check->row, place->unless))
		return false;
	return guard_holds(check, place->condition, old) &&
		guard_is_same(place->signature, guard_value(check, place->signature, old),
					  check->signature);
}

/* Counts the row. */
static void
count(const GuardCheck *check, GuardEvent event)
{
	GuardRule *rule = check->rule;

	guard_count(&rule->counts, rule->trigger, rule->side[0].table, event);
}

/* Checks a row that is stored. */
static void
check_stored(GuardCheck *check)
{
	GuardAction action = check->rule->action;
	GuardHit hit;
	bool refuses = action == ACTION_REJECT || action == ACTION_SKIP;

	/* When a deferred check runs, the row version may not exist any more. */
	if (!guard_begin_search(check) || is_unchanged(check) ||
		!table_tuple_satisfies_snapshot(check->data->tg_relation, check->row, SnapshotSelf))
		return;
	/*
	 * Guards that may be deferred look one after another.  So a transaction in progress that has a
	 * similar row has not looked yet.  If each waited for the other, both at their commits, one
	 * would fail that could commit.
	 */
	check->last = check->data->tg_trigger->tgdeferrable;
	if (check->last)
		LockDatabaseObject(TriggerRelationId, check->rule->trigger, 0, ExclusiveLock);
	/* The search in order costs more: it is for the row that is named. */
	while (guard_finds(check))
	{
		if (!guard_finds_nearest(check, &hit))
			continue;
		count(check, refuses ? GUARD_REFUSED : GUARD_REPORTED);
		if (action == ACTION_LOG)
			guard_record(check, &hit);
		else
			guard_report(check, &hit, refuses ? ERROR : NOTICE);
		ExecDropSingleTupleTableSlot(hit.row);
		return;
	}
	count(check, GUARD_PASSED);
}

/* Returns whether a row that is about to be stored is to be skipped. */
static bool
is_skipped(GuardCheck *check)
{
	if (!guard_begin_search(check) || !guard_finds(check))
		return false;
	count(check, GUARD_REFUSED);
	return true;
}

/* Runs a guard for a row, and returns the row to store, or NULL for none. */
static HeapTuple
guard_row(GuardCheck *check)
{
	TriggerData *data = check->data;
	HeapTuple result = data->tg_trigtuple;

	check_time(check);
	check->place = guard_place(check->rule, data->tg_relation);
	if (check->rule->asks_right)
		guard_check_right(check->rule, check->rule->side[1].table, InvalidAttrNumber, ACL_SELECT,
						  OPTION_AGAINST);
	check->stored = TRIGGER_FIRED_AFTER(data->tg_event);
	check->row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot : data->tg_trigslot;
	if (check->rule->action == ACTION_GROUP && check->stored)
		guard_follow_row(check);
	else if (check->rule->action == ACTION_GROUP)
		result = guard_place_row(check);
	else if (check->stored)
		check_stored(check);
	else if (is_skipped(check))
		result = NULL;
	if (check->state != NULL)
		FreeExecutorState(check->state);
	return result;
}

/* neardup_guard_row(option, ...): a trigger function. */
PG_FUNCTION_INFO_V1(neardup_guard_row);
Datum
neardup_guard_row(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	GuardCheck check = {.data = data};

	check_trigger(fcinfo);
	check.trigger = guard_trigger(data->tg_trigger, data->tg_relation, fcinfo->flinfo->fn_oid);
	check.rule = check.trigger->rule;
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event) || check.rule->action != ACTION_GROUP)
		return PointerGetDatum(guard_row(&check));
	guard_lock_statement(check.rule);
	return PointerGetDatum(NULL);
}
