/*
 * row.c: neardup_guard_row(), the trigger of a guard.
 *
 * It looks at a row after the row is stored, when its own entry is in the index: of two rows
 * that are inserted at the same time, one at least sees the other.  To skip a row, it also looks
 * before the row is stored.
 */
#include "guard/group.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

/*
 * Returns whether an update left all that a checked row is compared by.  A row version that this
 * transaction made may not have been checked: a deferred check of its own finds the version gone.
 */
static bool
is_unchanged(GuardCheck *check)
{
	bool is_null;

	return check->old != NULL &&
		!TransactionIdIsCurrentTransactionId(DatumGetTransactionId(slot_getsysattr(check->old,
																				   MinTransactionIdAttributeNumber,
																				   &is_null))) &&
		!guard_is_true(check, check->old, &check->leaf->unless) &&
		guard_compares_alike(check, true, check->old);
}

/* Searches for rows similar to a row that is stored, and acts. */
static void
search_and_act(GuardCheck *check)
{
	GuardHit hit;

	/* The search in order costs more: it is for the row that is named. */
	do
	{
		if (!guard_search(check))
			return;
	} while (!guard_finds_nearest(check, &hit));
	if (OidIsValid(check->rule->log))
		guard_record(check, &hit);
	else
		guard_report(check, &hit);
	ExecDropSingleTupleTableSlot(hit.row);
}

/*
 * A row of this transaction whose guard waits for other transactions.  A statement that waits for
 * each of its rows in turn would soon wait in a circle with another one, though most statements
 * that are refused have a row similar to one that is there to stay.
 */
typedef struct UnsureRow
{
	Oid trigger;
	Oid table;
	ItemPointerData tid;
	TransactionId later; /* the `later` of the check */
} UnsureRow;

static List *unsure; /* rows that are not sure, in the transaction's context */

/* An XactCallback: forgets the rows. */
static void
forget_unsure(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		unsure = NIL;
}

/* Keeps a row until the statement ends. */
static void
keep_unsure(const GuardCheck *check, Oid trigger)
{
	static bool registered = false;
	MemoryContext old_context = MemoryContextSwitchTo(TopTransactionContext);
	UnsureRow *row = palloc(sizeof(UnsureRow));

	if (!registered)
		RegisterXactCallback(forget_unsure, NULL);
	registered = true;
	*row = (UnsureRow){trigger, check->leaf->oid, check->row->tts_tid, check->later};
	unsure = lappend(unsure, row);
	MemoryContextSwitchTo(old_context);
}

/* Looks again at a row that was unsure, unless a savepoint was rolled back and it is gone. */
static void
look_again(UnsureRow *unsure_row, Oid function)
{
	Relation table = try_relation_open(unsure_row->table, AccessShareLock);
	GuardCheck check = {.table = table, .stored = true, .later = unsure_row->later};

	if (table == NULL)
		return;
	check.row = table_slot_create(table, NULL);
	if (table->trigdesc != NULL)
		check.rule = guard_rule(unsure_row->trigger, table, function, &check.leaf);
	if (check.rule != NULL &&
		table_tuple_fetch_row_version(table, &unsure_row->tid, SnapshotSelf, check.row))
	{
		guard_check_search(check.rule);
		if (guard_begin_search(&check))
			search_and_act(&check);
	}
	if (check.state != NULL)
		FreeExecutorState(check.state);
	ExecDropSingleTupleTableSlot(check.row);
	table_close(table, NoLock);
}

/* Checks a row that is stored. */
static void
check_stored(GuardCheck *check, const Trigger *trigger)
{
	/* When a deferred check runs, the row version may not exist any more. */
	if (!guard_begin_search(check) || is_unchanged(check) ||
		!table_tuple_satisfies_snapshot(check->table, check->row, SnapshotSelf))
		return;
	/*
	 * Guards that may be deferred look one after another.  So a transaction in progress that has a
	 * similar row has not looked yet.  If each waited for the other, both at their commits, one
	 * would fail that could commit.
	 */
	if (trigger->tgdeferrable)
	{
		LockDatabaseObject(TriggerRelationId, check->rule->trigger, 0, ExclusiveLock);
		check->unfinished = UNFINISHED_IGNORE;
	}
	/* A worker that applies changes of a publication fires no triggers for statements. */
	else if (check->leaf->looks_again && SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA)
		check->unfinished = UNFINISHED_TELL;
	search_and_act(check);
	if (check->unsure)
		keep_unsure(check, trigger->tgoid);
}

/* Runs a guard for a row, and returns the row to store, or NULL for none. */
static HeapTuple
guard_row(GuardCheck *check, const TriggerData *data)
{
	TriggerEvent event = data->tg_event;
	const GuardAction *action = check->rule->action;
	HeapTuple result = TRIGGER_FIRED_BY_UPDATE(event) ? data->tg_newtuple : data->tg_trigtuple;

	if (!TRIGGER_FIRED_FOR_ROW(event) || (TRIGGER_FIRED_BY_DELETE(event) && !action->groups) ||
		!(TRIGGER_FIRED_AFTER(event) || (action->groups && !TRIGGER_FIRED_BY_DELETE(event)) ||
		  (action->looks_before && TRIGGER_FIRED_BY_INSERT(event))))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must fire AFTER INSERT OR UPDATE, FOR EACH ROW",
						data->tg_trigger->tgname),
				 errhint("Create it with neardup_guard().")));
	guard_check_search(check->rule);
	(void) guard_index(check->rule, check->leaf);
	check->stored = TRIGGER_FIRED_AFTER(event);
	check->old = TRIGGER_FIRED_BY_INSERT(event) ? NULL : data->tg_trigslot;
	check->row = TRIGGER_FIRED_BY_UPDATE(event) ? data->tg_newslot :
		TRIGGER_FIRED_BY_DELETE(event)          ? NULL :
												  data->tg_trigslot;
	/* An update sets it only after its BEFORE triggers; generated columns may be made of it. */
	if (check->row != NULL)
		check->row->tts_tableOid = check->leaf->oid;
	if (action->groups && check->stored)
		guard_follow_row(check);
	else if (action->groups)
		result = guard_assign_row(check, result);
	else if (check->stored)
		check_stored(check, data->tg_trigger);
	else if (guard_begin_search(check) && guard_search(check))
		result = NULL; /* the row is skipped */
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
	GuardCheck check = {0};
	Oid function = fcinfo->flinfo->fn_oid;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("neardup_guard_row() was not called by a trigger"),
				 errhint("Create a trigger with neardup_guard().")));
	if (TRIGGER_FIRED_FOR_STATEMENT(data->tg_event) && TRIGGER_FIRED_AFTER(data->tg_event) &&
		guard_main(data->tg_trigger, data->tg_relation)->tgoid != data->tg_trigger->tgoid)
	{
		while (unsure != NIL)
		{
			UnsureRow row = *(UnsureRow *) linitial(unsure);

			unsure = list_delete_first(unsure);
			look_again(&row, function);
		}
		return PointerGetDatum(NULL);
	}
	check.table = data->tg_relation;
	check.rule = guard_rule(data->tg_trigger->tgoid, data->tg_relation, function, &check.leaf);
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event) || !check.rule->action->groups)
		return PointerGetDatum(guard_row(&check, data));
	guard_lock_table(check.rule);
	return PointerGetDatum(NULL);
}
