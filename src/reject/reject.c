/*
 * reject.c: neardup_reject(), the trigger that refuses a row which resembles
 * another, or only says so, or records it.
 */
#include "reject/reject.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

/* One row under one rule. */
typedef struct Check
{
	TriggerData *data;
	RejectRule *rule;
	TupleTableSlot *row; /* the new one */
	Datum signature;
	double similarity; /* of what was found ... */
	Datum *row_key;    /* ... to this row ... */
	Datum *resembles;  /* ... and its key */
	bool odd;          /* was that row of another shape ... */
	bool all_odd;      /* ... as all are? */
} Check;

/* ---- Which rows to look at ---------------------------------------------- */

static void
check_called_as_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("neardup_reject() was not called by a trigger"),
				 errhint("Use it with CREATE CONSTRAINT TRIGGER.")));
	if (!TRIGGER_FIRED_AFTER(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must fire AFTER INSERT OR UPDATE, FOR EACH ROW",
						data->tg_trigger->tgname),
				 errdetail("Before that, generated columns are not set yet.")));
	if (data->tg_relation->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("neardup_reject() cannot guard \"%s\"",
						RelationGetRelationName(data->tg_relation)),
				 errdetail("It is not a table of this database.")));
}

/*
 * Did an update leave the signature as it was, in a row that has been looked
 * at?  A version made by this very transaction may not have been: its own
 * check, if deferred, finds it gone.
 */
static bool
is_unchanged(const Check *check)
{
	TupleTableSlot *old = check->data->tg_trigslot;
	AttrNumber column = check->rule->column;
	Form_pg_attribute attribute =
		TupleDescAttr(RelationGetDescr(check->data->tg_relation), column - 1);
	bool is_null;
	Datum before;
	Datum inserted_by;

	if (!TRIGGER_FIRED_BY_UPDATE(check->data->tg_event))
		return false;
	inserted_by = slot_getsysattr(old, MinTransactionIdAttributeNumber, &is_null);
	if (TransactionIdIsCurrentTransactionId(DatumGetTransactionId(inserted_by)))
		return false;
	before = slot_getattr(old, column, &is_null);
	return !is_null &&
		datum_image_eq(before, check->signature, attribute->attbyval, attribute->attlen);
}

/* Is the row still as it was when the check was asked for? */
static bool
is_current(const Check *check)
{
	return table_tuple_satisfies_snapshot(check->data->tg_relation, check->row, SnapshotSelf);
}

/* ---- Looking ------------------------------------------------------------ */

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
 * Run a statement that sees whatever is committed now, and all that this
 * transaction did, as a unique index would.
 */
static void
execute(SPIPlanPtr plan, Datum *values, int expected)
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

/* Find the row most like this one, or else one that cannot be compared with it. */
static bool
search(Check *check)
{
	RejectRule *rule = check->rule;
	Datum values[SEARCH_PARAMETERS];
	int nest_level = NewGUCNestLevel();
	HeapTuple found;
	Datum similarity;
	bool is_null;

	/* A plan made while the table was small must do when it is large. */
	if (rule->indexed)
		(void) set_config_option("enable_seqscan", "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	values[SEARCH_SIGNATURE] = check->signature;
	values[SEARCH_CTID] = PointerGetDatum(&check->row->tts_tid);
	values[SEARCH_TABLE] = ObjectIdGetDatum(RelationGetRelid(check->data->tg_relation));
	execute(rule->search, values, SPI_OK_SELECT);
	AtEOXact_GUC(true, nest_level);
	if (SPI_processed == 0)
		return false;

	found = SPI_tuptable->vals[0];
	similarity = SPI_getbinval(found, SPI_tuptable->tupdesc, 1, &check->odd);
	check->row_key = key_of_row(check);
	check->resembles = palloc(rule->keys * sizeof(Datum));
	for (int i = 0; i < rule->keys; i++)
		check->resembles[i] = SPI_getbinval(found, SPI_tuptable->tupdesc, i + 2, &is_null);
	if (check->odd)
	{
		execute(rule->match, values, SPI_OK_SELECT);
		check->all_odd = SPI_processed == 0;
		return false;
	}
	check->similarity = DatumGetFloat8(similarity);
	return true;
}

/* ---- Telling ------------------------------------------------------------ */

/* As in PostgreSQL's own messages: (a, b)=(1, 2). */
static const char *
show_key(const RejectRule *rule, const Datum *key)
{
	StringInfoData shown;

	initStringInfo(&shown);
	for (int i = 0; i < rule->keys; i++)
		appendStringInfo(&shown, "%s%s", i == 0 ? "(" : ", ", rule->key_name[i]);
	for (int i = 0; i < rule->keys; i++)
		appendStringInfo(&shown, "%s%s", i == 0 ? ")=(" : ", ",
						 OidOutputFunctionCall(rule->key_output[i], key[i]));
	appendStringInfoChar(&shown, ')');
	return shown.data;
}

/* A column by its number, if it is one that can be granted. */
static bool
column_is_readable(const RejectRule *rule, AttrNumber column)
{
	return role_may_read(rule->guarded, Max(column, InvalidAttrNumber));
}

/* May who changes the table read the keys of all its rows? */
static bool
keys_are_readable(const RejectRule *rule)
{
	for (int i = 0; i < rule->keys; i++)
		if (!column_is_readable(rule, get_attnum(rule->guarded, rule->key_name[i])))
			return false;
	return true;
}

/*
 * And the signatures, or what they are made of?  Else numbers would tell him what
 * they are, one insert after another.
 */
static bool
similarity_is_readable(const RejectRule *rule)
{
	if (column_is_readable(rule, get_attnum(rule->guarded, rule->column_name)))
		return true;
	for (int i = 0; i < rule->sources; i++)
		if (!column_is_readable(rule, rule->source[i]))
			return false;
	return rule->sources > 0;
}

static int
detail(const Check *check)
{
	const RejectRule *rule = check->rule;

	if (!keys_are_readable(rule))
		return 0;
	if (!similarity_is_readable(rule))
		return errdetail("Row %s resembles row %s.", show_key(rule, check->row_key),
						 show_key(rule, check->resembles));
	return errdetail("Row %s resembles row %s by %.3f.", show_key(rule, check->row_key),
					 show_key(rule, check->resembles), check->similarity);
}

static int
hint(const Check *check)
{
	const RejectRule *rule = check->rule;

	if (rule->hint != NULL)
		return errhint("%s", rule->hint);
	if (rule->warn || rule->log != NULL)
		return 0;
	return errhint("Trigger \"%s\" refuses what resembles another row by %g or more.",
				   check->data->tg_trigger->tgname, rule->threshold);
}

static void
report(const Check *check, int level)
{
	const RejectRule *rule = check->rule;
	Relation table = check->data->tg_relation;

	ereport(level,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 rule->message != NULL ?
				 errmsg("%s", rule->message) :
				 errmsg("row of table \"%s\" is a near-duplicate", RelationGetRelationName(table)),
			 detail(check), hint(check),
			 errtableconstraint(table, check->data->tg_trigger->tgname)));
}

/*
 * A row that was there before, of another shape, is passed over; the new one is
 * refused where it is the odd one.
 */
static void
report_odd(const Check *check)
{
	RejectRule *rule = check->rule;
	const char *table = get_rel_name(rule->guarded);
	bool refused = check->all_odd && !rule->warn && rule->log == NULL;

	if (rule->warned && !refused)
		return;
	rule->warned = true;
	ereport(refused ? ERROR : WARNING,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 check->all_odd ?
				 errmsg("signature of the new row cannot be compared with any in table \"%s\"",
						table) :
				 errmsg("table \"%s\" has signatures that cannot be compared with others", table),
			 keys_are_readable(rule) ?
				 errdetail("That of row %s has another shape or scheme than that of row %s.",
						   show_key(rule, check->resembles), show_key(rule, check->row_key)) :
				 0,
			 errhint("Make all signatures of column \"%s\" alike; a column of a type such as "
					 "minhash(512) takes no others.",
					 rule->column_name)));
}

/* ---- Recording ---------------------------------------------------------- */

/*
 * The log is written in its owner's name.  The trigger must be his, then: nobody
 * else can have made it, or who fires it might write there by himself.
 */
static void
check_may_record(const Check *check)
{
	const RejectRule *rule = check->rule;
	const char *table = get_rel_name(rule->guarded);

	if (rule->record == NULL || rule->trusted ||
		(pg_class_aclcheck(rule->log_table, GetUserId(), ACL_INSERT) == ACLCHECK_OK &&
		 check_enable_rls(rule->log_table, InvalidOid, true) != RLS_ENABLED))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("trigger \"%s\" may not write to table \"%s\"", check->data->tg_trigger->tgname,
					get_rel_name(rule->log_table)),
			 errdetail("Others than the owner of table \"%s\" have the right TRIGGER on it, and "
					   "may have made this one to write in the owner's name.",
					   table),
			 errhint("REVOKE TRIGGER ON %s from them, once you know that the trigger is the "
					 "owner's; or GRANT INSERT on the log to those who change the table.",
					 quote_identifier(table))));
}

/*
 * The text of a key, the same whoever inserts: it must not depend on how the
 * session shows dates and numbers.
 */
static Datum
plain_text(const RejectRule *rule, int i, Datum key)
{
	static const char *const setting[][2] = {{"DateStyle", "ISO"},
											 {"IntervalStyle", "postgres"},
											 {"TimeZone", "UTC"},
											 {"bytea_output", "hex"},
											 {"extra_float_digits", "1"}};
	int nest_level = NewGUCNestLevel();
	Datum shown;

	for (int s = 0; s < lengthof(setting); s++)
		(void) set_config_option(setting[s][0], setting[s][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	shown = CStringGetTextDatum(OidOutputFunctionCall(rule->key_output[i], key));
	AtEOXact_GUC(false, nest_level);
	return shown;
}

static void
record(const Check *check, Oid user)
{
	const RejectRule *rule = check->rule;
	Datum *values = palloc((RECORD_KEYS + 2 * rule->keys) * sizeof(Datum));

	values[RECORD_SIMILARITY] = Float8GetDatum(check->similarity);
	values[RECORD_USER] = CStringGetTextDatum(GetUserNameFromId(user, false));
	values[RECORD_TABLE] = CStringGetTextDatum(qualified_name(check->data->tg_relation));
	for (int i = 0; i < rule->keys; i++)
	{
		values[RECORD_KEYS + i] = plain_text(rule, i, check->row_key[i]);
		values[RECORD_KEYS + rule->keys + i] = plain_text(rule, i, check->resembles[i]);
	}
	execute(rule->record, values, SPI_OK_INSERT);
}

/* ---- The trigger -------------------------------------------------------- */

/* Search, and record. */
static bool
check_as_owner(Check *check)
{
	Acting acting;
	bool found;

	act_as_owner(check->rule, &acting);
	found = search(check);
	if (found && check->rule->record != NULL)
		record(check, acting.user);
	act_end(&acting);
	return found;
}

static void
check_row(Check *check)
{
	RejectRule *rule = check->rule;
	bool is_null;

	check->signature = slot_getattr(check->row, rule->column, &is_null);
	if (is_null || is_unchanged(check) || !is_current(check))
		return;
	check_may_record(check);
	if (rule->lock)
		LockDatabaseObject(TriggerRelationId, rule->trigger, 0, ExclusiveLock);
	if (!check_as_owner(check))
	{
		if (check->odd)
			report_odd(check);
		return;
	}
	if (rule->warn || rule->log == NULL)
		report(check, rule->warn ? NOTICE : ERROR);
}

PG_FUNCTION_INFO_V1(neardup_reject);
Datum
neardup_reject(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Check check = {.data = data};

	check_called_as_trigger(fcinfo);
	SPI_connect();
	check.rule = reject_rule(data->tg_trigger, data->tg_relation, fcinfo->flinfo->fn_oid);
	check.row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot : data->tg_trigslot;
	check.rule->running++;
	PG_TRY();
	{
		check_row(&check);
	}
	PG_FINALLY();
	{
		check.rule->running--;
	}
	PG_END_TRY();
	SPI_finish();
	return PointerGetDatum(NULL);
}
