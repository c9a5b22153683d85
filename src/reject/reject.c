/*
 * reject.c: neardup_reject(), the trigger that rejects a row which is similar to
 * another, or only reports, records or groups it.
 */
#include "reject/reject.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

/* ---- Which rows are checked --------------------------------------------- */

/* Raises an error unless this is a trigger of a table, or of a partition. */
static void
check_called_as_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("neardup_reject() was not called by a trigger"),
				 errhint("Create a trigger with neardup_guard().")));
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event) &&
		data->tg_relation->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("neardup_reject() cannot guard \"%s\"",
						RelationGetRelationName(data->tg_relation)),
				 errdetail("It is not an ordinary table or a partition.")));
}

/* Raises an error unless the trigger fires after a row. */
static void
check_fires_after_row(const TriggerData *data)
{
	if (TRIGGER_FIRED_AFTER(data->tg_event) && TRIGGER_FIRED_FOR_ROW(data->tg_event) &&
		!TRIGGER_FIRED_BY_DELETE(data->tg_event))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("trigger \"%s\" must fire AFTER INSERT OR UPDATE, FOR EACH ROW",
					data->tg_trigger->tgname),
			 TRIGGER_FIRED_BEFORE(data->tg_event) ?
				 errdetail("BEFORE triggers fire before generated columns are computed.") :
				 0,
			 errhint("Use CREATE CONSTRAINT TRIGGER %s AFTER INSERT OR UPDATE ON %s FOR EACH ROW "
					 "EXECUTE FUNCTION neardup_reject('sig', '0.9').",
					 quote_identifier(data->tg_trigger->tgname),
					 quote_identifier(RelationGetRelationName(data->tg_relation)))));
}

/*
 * Returns whether an update left the signature and the scope of a checked row as they were.  A
 * row version that this transaction made may not have been checked: if its own
 * check was deferred, that finds the version gone.
 */
static bool
is_unchanged(const Check *check)
{
	TupleTableSlot *old = check->data->tg_trigslot;
	bool is_null;
	Datum inserted_by;

	if (!TRIGGER_FIRED_BY_UPDATE(check->data->tg_event))
		return false;
	inserted_by = slot_getsysattr(old, MinTransactionIdAttributeNumber, &is_null);
	if (TransactionIdIsCurrentTransactionId(DatumGetTransactionId(inserted_by)))
		return false;
	return is_same_value(old, check->rule->column, check->values[ROW_SIGNATURE]) &&
		was_in_scope(check->rule, old, check->values + ROW_SCOPE);
}

/* ---- Searching ---------------------------------------------------------- */

static Datum *
key_of_row(const Check *check)
{
	const RejectRule *rule = check->rule;
	Datum *key = palloc(rule->keys * sizeof(Datum));

	for (int i = 0; i < rule->keys; i++)
	{
		AttrNumber column = rule->key[i];
		bool is_null;

		key[i] = column > 0 ? slot_getattr(check->row, column, &is_null) :
							  slot_getsysattr(check->row, column, &is_null);
	}
	return key;
}

/*
 * Runs a statement that sees all committed rows and those of this transaction,
 * at any isolation level, as a unique index does.
 */
void
execute_statement(SPIPlanPtr plan, Datum *values, int expected)
{
	Snapshot snapshot = InvalidSnapshot; /* a new one */
	int result;

	if (IsolationUsesXactSnapshot())
	{
		CommandCounterIncrement();
		snapshot = GetLatestSnapshot();
	}
	result = SPI_execute_snapshot(plan, values, NULL, snapshot, InvalidSnapshot, false, true, 0);
	if (result != expected)
		elog(ERROR, "SPI_execute_snapshot failed: %s", SPI_result_code_string(result));
}

/*
 * Searches for the most similar row.  Returns false if there is none; check->incomparable
 * then tells whether there is a row that cannot be compared with this one.
 */
bool
find_similar(Check *check)
{
	RejectRule *rule = check->rule;
	HeapTuple found;
	Datum similarity;
	bool is_null;

	execute_statement(rule->statement[SEARCH], check->values, SPI_OK_SELECT);
	if (SPI_processed == 0)
		return false;

	found = SPI_tuptable->vals[0];
	similarity = SPI_getbinval(found, SPI_tuptable->tupdesc, 1, &check->incomparable);
	check->row_key = key_of_row(check);
	check->found_key = palloc(rule->keys * sizeof(Datum));
	for (int i = 0; i < rule->keys; i++)
		check->found_key[i] = SPI_getbinval(found, SPI_tuptable->tupdesc, i + 2, &is_null);
	if (check->incomparable)
	{
		execute_statement(rule->statement[MATCH], check->values, SPI_OK_SELECT);
		check->all_incomparable = SPI_processed == 0;
		return false;
	}
	check->similarity = DatumGetFloat8(similarity);
	return true;
}

/* ---- Recording ---------------------------------------------------------- */

/* Refuses to use a table with its owner's rights. */
static void
refuse_use(const Check *check, Oid used, bool writes)
{
	const char *table = get_rel_name(check->rule->guarded);

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 writes ? errmsg("trigger \"%s\" may not write to table \"%s\"",
							 check->data->tg_trigger->tgname, get_rel_name(used)) :
					  errmsg("trigger \"%s\" may not read table \"%s\"",
							 check->data->tg_trigger->tgname, get_rel_name(used)),
			 errdetail("Roles other than the owner of table \"%s\" have the TRIGGER privilege on it, "
					   "and one of them may have made the trigger to use the owner's rights.",
					   table),
			 errhint("If the trigger is the owner's, REVOKE TRIGGER ON %s from the other roles, or "
					 "GRANT %s ON %s to the roles that change the table.",
					 quote_identifier(table), writes ? "INSERT" : "SELECT",
					 quote_identifier(get_rel_name(used)))));
}

/*
 * Checks that log and verdicts may be used with their owner's rights.  Either only the owner can
 * have made the trigger, or the current user may use them himself.
 */
static void
check_may_use(const Check *check)
{
	const RejectRule *rule = check->rule;

	if (rule->trusted)
		return;
	if (OidIsValid(rule->log_table) &&
		(pg_class_aclcheck(rule->log_table, GetUserId(), ACL_INSERT) != ACLCHECK_OK ||
		 check_enable_rls(rule->log_table, InvalidOid, true) == RLS_ENABLED))
		refuse_use(check, rule->log_table, true);
	if (OidIsValid(rule->verdict_table) && !role_may_read(rule->verdict_table, InvalidAttrNumber))
		refuse_use(check, rule->verdict_table, false);
}

/*
 * Returns the text of a key, independent of the session's settings for dates and
 * numbers, so that a row has the same key in the log whatever session inserts it.
 */
static Datum
plain_text(const RejectRule *rule, int i, Datum key)
{
	static const char *const setting[][2] = {{"DateStyle", "ISO"}, {"IntervalStyle", "postgres"},
											 {"TimeZone", "UTC"},  {"bytea_output", "hex"},
											 {"lc_monetary", "C"}, {"extra_float_digits", "1"}};
	int nest_level = NewGUCNestLevel();
	Datum shown;

	for (int s = 0; s < lengthof(setting); s++)
		set_locally(setting[s][0], setting[s][1]);
	shown = CStringGetTextDatum(OidOutputFunctionCall(rule->key_output[i], key));
	AtEOXact_GUC(false, nest_level);
	return shown;
}

/*
 * Writes a row to the log.  The user is the role that logged in: the current user may have
 * become another role since the row was inserted.
 */
static void
record(const Check *check)
{
	const RejectRule *rule = check->rule;
	Datum *values = palloc((RECORD_KEYS + 2 * rule->keys) * sizeof(Datum));

	values[RECORD_SIMILARITY] = Float8GetDatum(check->similarity);
	values[RECORD_USER] = CStringGetTextDatum(GetUserNameFromId(GetSessionUserId(), false));
	values[RECORD_TABLE] = CStringGetTextDatum(qualified_name(check->data->tg_relation));
	for (int i = 0; i < rule->keys; i++)
	{
		values[RECORD_KEYS + i] = plain_text(rule, i, check->row_key[i]);
		values[RECORD_KEYS + rule->keys + i] = plain_text(rule, i, check->found_key[i]);
	}
	execute_statement(rule->statement[RECORD], values, SPI_OK_INSERT);
}

/* ---- The trigger -------------------------------------------------------- */

/*
 * Sets the parameters of the statements: of a row, its signature, and the place of the version
 * that is not to be found.  Returns whether the row is compared with others.
 */
bool
set_parameters(Check *check, TupleTableSlot *row, NullableDatum signature, ItemPointer place)
{
	RejectRule *rule = check->rule;
	Datum *values = palloc0((ROW_SCOPE + rule->scope.columns) * sizeof(Datum));

	check->values = values;
	values[ROW_SIGNATURE] = signature.value;
	values[ROW_CTID] = PointerGetDatum(place);
	values[ROW_TABLE] = ObjectIdGetDatum(RelationGetRelid(check->data->tg_relation));
	if (rule->group.key != InvalidAttrNumber)
	{
		bool is_null;

		values[ROW_KEY] = slot_getattr(row, rule->group.key, &is_null);
		if (is_null)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"%s\" of relation \"%s\"", rule->group.key_name,
							RelationGetRelationName(check->data->tg_relation)),
					 errdetail("Trigger \"%s\" names rows by it.", check->data->tg_trigger->tgname),
					 errhint("Declare the column NOT NULL, with a default.")));
	}
	return !signature.isnull && in_scope(rule, row, values + ROW_SCOPE);
}

/* Returns whether the row is to be compared with others, and the parameters of the search. */
static bool
is_to_be_checked(Check *check)
{
	NullableDatum signature;

	signature.value = slot_getattr(check->row, check->rule->column, &signature.isnull);
	/* When a deferred check runs, the row version may not exist any more. */
	return set_parameters(check, check->row, signature, &check->row->tts_tid) &&
		!is_unchanged(check) &&
		table_tuple_satisfies_snapshot(check->data->tg_relation, check->row, SnapshotSelf);
}

/*
 * Raises the error that a statement has raised with the owner's rights.  It may show values of
 * rows that the current user may not read, so for another role than the owner it becomes an
 * error without them, unless it is of a class that shows none.
 */
static void
report_failure(const Check *check, MemoryContext context)
{
	const RejectRule *rule = check->rule;
	ErrorData *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_TRANSACTION_ROLLBACK):
		case ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES):
		case ERRCODE_TO_CATEGORY(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE):
		case ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION):
		case ERRCODE_TO_CATEGORY(ERRCODE_SYSTEM_ERROR):
		case ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR):
			ReThrowError(error);
	}
	if (role_owns(rule->guarded))
		ReThrowError(error);
	FlushErrorState();
	ereport(LOG_SERVER_ONLY,
			(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
			 errmsg("trigger \"%s\" failed: %s", check->data->tg_trigger->tgname, error->message),
			 error->detail != NULL ? errdetail_internal("%s", error->detail) : 0));
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
			 rule->log != NULL ?
				 errmsg("trigger \"%s\" could not search table \"%s\" or write to table \"%s\"",
						check->data->tg_trigger->tgname, get_rel_name(rule->guarded),
						get_rel_name(rule->log_table)) :
				 errmsg("trigger \"%s\" could not search table \"%s\"",
						check->data->tg_trigger->tgname, get_rel_name(rule->guarded)),
			 errhint("The server's log has the error, and the owner of the table is shown it.")));
}

/* Searches, and records what is found.  Returns whether a row is found. */
static bool
search_and_record(Check *check)
{
	bool found = find_similar(check);

	if (found && check->rule->statement[RECORD] != NULL)
		record(check);
	return found;
}

/* Runs a function with the owner's rights. */
pg_noinline bool
run_as_owner(Check *check, bool (*run)(Check *check))
{
	MemoryContext context = CurrentMemoryContext;
	Oid user;
	int security;
	volatile bool found = false;

	GetUserIdAndSecContext(&user, &security);
	PG_TRY();
	{
		AsOwner as;

		begin_as_owner(check->rule, &as);
		found = run(check);
		end_as_owner(&as);
	}
	PG_CATCH();
	{
		SetUserIdAndSecContext(user, security);
		report_failure(check, context);
	}
	PG_END_TRY();
	return found;
}

/* Checks a row, and reports the row that it is similar to. */
static void
check_row(Check *check)
{
	const RejectRule *rule = check->rule;
	bool found;

	found = run_as_owner(check, search_and_record);
	guard_count(check->rule,
				!found                              ? GUARD_PASSED :
					rule->warn || rule->log != NULL ? GUARD_REPORTED :
													  GUARD_REFUSED);
	if (found && (rule->warn || rule->log == NULL))
		report_similar(check, rule->warn ? NOTICE : ERROR);
	else if (!found && check->incomparable)
		report_incomparable(check);
}

/* Runs a function while the rule is held. */
pg_noinline void
hold_and_run(Check *check, void (*run)(Check *check))
{
	hold_rule(check->rule);
	PG_TRY();
	{
		run(check);
	}
	PG_FINALLY();
	{
		release_rule(check->rule);
	}
	PG_END_TRY();
}

/* Tells once that a trigger has no index. */
static void
warn_of_missing_index(RejectRule *rule)
{
	if (rule->indexed || rule->told)
		return;
	rule->told = true;
	ereport(WARNING,
			(errmsg("there is no neardup index on column \"%s\" of table \"%s\"", rule->column_name,
					get_rel_name(rule->guarded)),
			 errdetail("Trigger \"%s\" reads the whole table for each row.", rule->name),
			 errhint("Use %s.", missing_index(rule))));
}

/* Locks the rows of a scope against other checks until the transaction ends. */
static void
lock_scope(const Check *check)
{
	const RejectRule *rule = check->rule;
	uint16 scope = scope_lock(rule, check->values + ROW_SCOPE);

	if (rule->lock && rule->group.name != NULL)
		lock_groups(rule->guarded, scope);
	else if (rule->lock)
		LockDatabaseObject(TriggerRelationId, rule->trigger, scope, ExclusiveLock);
}

/*
 * Gets the rule, and returns whether the row is to be checked; then takes the lock.  While that
 * waited, the tables may have changed.
 */
bool
begin_check(Check *check, Oid function, bool (*is_to_be_checked)(Check *check))
{
	TriggerData *data = check->data;

	do
	{
		check->rule = reject_rule(data->tg_trigger, data->tg_relation, function);
		if (!is_to_be_checked(check))
			return false;
		check_may_use(check);
		warn_of_missing_index(check->rule);
		lock_scope(check);
	} while (!rule_is_current(check->rule));
	return true;
}

/* neardup_reject(column, threshold, option, ...): a trigger function. */
PG_FUNCTION_INFO_V1(neardup_reject);
Datum
neardup_reject(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Check check = {.data = data, .call = fcinfo->flinfo};

	check_called_as_trigger(fcinfo);
	if (makes_groups(data->tg_trigger))
		return PointerGetDatum(group_rows(&check));
	check_fires_after_row(data);
	SPI_connect();
	check.row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot : data->tg_trigslot;
	if (begin_check(&check, fcinfo->flinfo->fn_oid, is_to_be_checked))
		hold_and_run(&check, check_row);
	SPI_finish();
	return PointerGetDatum(NULL);
}
