/*
 * reject_group.c: triggers of neardup_reject() that group rows.
 *
 * A column holds the number of each row's group: the key of the row that leads it.  Three
 * triggers keep it.  One, BEFORE INSERT OR UPDATE of a row, places the row: it gets the group
 * of the most similar leader, or leads.  One, AFTER, places the members of a group again that
 * has lost its leader, in the order of their keys.  One, BEFORE an UPDATE or DELETE, takes the
 * lock, so that nobody waits for it who has locked rows.  An INSERT signs its row first.
 *
 * A row is placed among the leaders that are there.  So the groups are the stars of
 * neardup_clusters(), with "nearest", of the rows in the order in which they were placed last:
 * a leader that was there then and has gone since has had its members placed again.
 */
#include "reject/reject.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/host.h"

/* What computes a signature before its row is stored; for all rows of a statement. */
typedef struct Signer
{
	EState *state;
	ExprState *expression;
	Bitmapset *columns; /* that the signature is generated from */
} Signer;

/* The check that places the members of a group again, or NULL. */
static const Check *handing_on = NULL;

/* Locks the rows of a scope against other placements until the transaction ends. */
void
lock_groups(Oid guarded, uint16 scope)
{
	LockDatabaseObject(RelationRelationId, guarded, scope, ExclusiveLock);
}

/* ---- The signature of a new row --------------------------------------------- */

static Signer *
get_signer(Check *check)
{
	MemoryContext old_context;
	Signer *signer = check->call->fn_extra;
	Expr *expression;

	if (signer != NULL)
		return signer;
	old_context = MemoryContextSwitchTo(check->call->fn_mcxt);
	signer = palloc0(sizeof(Signer));
	signer->state = CreateExecutorState();
	expression = (Expr *) build_column_default(check->data->tg_relation, check->rule->column);
	pull_varattnos((Node *) expression, 1, &signer->columns);
	signer->expression = ExecPrepareExpr(expression, signer->state);
	MemoryContextSwitchTo(old_context);
	return check->call->fn_extra = signer;
}

/*
 * Returns the signature that the new row will have.  A generated column is computed only after
 * all BEFORE triggers, so here it is computed as it will be then, unless no column that it is
 * made of has changed.
 */
static NullableDatum
new_signature(Check *check, TupleTableSlot *old)
{
	AttrNumber column = check->rule->column;
	NullableDatum signature;
	Signer *signer;
	ExprContext *context;
	bool changed = old == NULL;
	int member = -1;

	if (!TupleDescAttr(RelationGetDescr(check->data->tg_relation), column - 1)->attgenerated)
	{
		signature.value = slot_getattr(check->row, column, &signature.isnull);
		return signature;
	}
	signer = get_signer(check);
	while (!changed && (member = bms_next_member(signer->columns, member)) >= 0)
		changed = !is_same_column(old, check->row, member + FirstLowInvalidHeapAttributeNumber);
	if (!changed)
	{
		signature.value = slot_getattr(old, column, &signature.isnull);
		return signature;
	}
	ResetPerTupleExprContext(signer->state);
	context = GetPerTupleExprContext(signer->state);
	context->ecxt_scantuple = check->row;
	signature.value = ExecEvalExprSwitchContext(signer->expression, context, &signature.isnull);
	return signature;
}

/* ---- Which rows are placed ----------------------------------------------------- */

/* Does a row lead a group? */
static bool
leads(const RejectRule *rule, TupleTableSlot *row)
{
	bool is_null;
	Datum key = slot_getattr(row, rule->group.key, &is_null);

	return !is_null && is_same_value(row, rule->group.column, key);
}

/* Is the signature of an old row, which may be NULL, a given one? */
static bool
has_signature(TupleTableSlot *row, AttrNumber column, NullableDatum signature)
{
	bool is_null;

	if (signature.isnull)
		return (void) slot_getattr(row, column, &is_null), is_null;
	return is_same_value(row, column, signature.value);
}

/* Were both versions of a row compared with the same others, by the same signature and key? */
static bool
is_same_row(const RejectRule *rule, TupleTableSlot *old, TupleTableSlot *new,
			NullableDatum signature)
{
	for (int i = 0; i < rule->scope.columns; i++)
		if (!is_same_column(old, new, rule->scope.column[i].number))
			return false;
	return has_signature(old, rule->column, signature) &&
		is_same_column(old, new, rule->group.key) &&
		satisfies_condition(rule, old) == satisfies_condition(rule, new);
}

/*
 * Sets the parameters of the statements for a row that is placed.  Returns whether it is
 * compared with others.
 */
static bool
set_placed(Check *check)
{
	TriggerData *data = check->data;
	TupleTableSlot *old = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_trigslot : NULL;
	NullableDatum signature = new_signature(check, old);
	bool compared = set_parameters(check, check->row, signature, &data->tg_trigtuple->t_self);
	bool orphan = handing_on != NULL && handing_on->rule->guarded == check->rule->guarded;

	/* The rows of a group without a leader bind nobody until they are placed. */
	check->values[ROW_GROUP] = (orphan ? handing_on : check)->values[ROW_KEY];
	check->placed = old == NULL || slot_attisnull(check->row, check->rule->group.column) ||
		!is_same_row(check->rule, old, check->row, signature);
	return compared && check->placed;
}

/* Raises an error if an update gives a row that has a group another one. */
static void
check_group_is_kept(const Check *check)
{
	const RejectRule *rule = check->rule;

	if (slot_attisnull(check->data->tg_trigslot, rule->group.column) ||
		is_same_column(check->data->tg_trigslot, check->row, rule->group.column))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_GENERATED_ALWAYS),
			 errmsg("column \"%s\" can only be updated to NULL", rule->group.name),
			 errdetail("Trigger \"%s\" sets it.  A NULL lets it place the row again.",
					   check->data->tg_trigger->tgname),
			 rule->verdicts == NULL ?
				 errhint("To say which rows belong together, use the option \"verdicts\".") :
				 errhint("Write into table \"%s\" which rows are the same.", rule->verdicts)));
}

/* ---- Placing a row --------------------------------------------------------------- */

/* Finds the group of a row that is judged the same, or of the most similar leader. */
static bool
find_group(Check *check)
{
	const RejectRule *rule = check->rule;
	bool is_null;

	if (rule->statement[BOUND] == NULL)
		return find_similar(check);
	execute_statement(rule->statement[BOUND], check->values, SPI_OK_SELECT);
	if (SPI_processed == 0)
		return find_similar(check);
	check->found_key = palloc(sizeof(Datum));
	check->found_key[0] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
	return true;
}

/* Places a row that is compared with others. */
static void
place(Check *check)
{
	bool found = run_as_owner(check, find_group);

	guard_count(check->rule, found ? GUARD_GROUPED : GUARD_PASSED);
	if (found)
		return;
	if (check->incomparable)
		report_incomparable(check);
	check->found_key = NULL;
}

/* Returns a row that is about to be stored, with its group. */
static HeapTuple
place_row(Check *check)
{
	TriggerData *data = check->data;
	bool update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	HeapTuple row = update ? data->tg_newtuple : data->tg_trigtuple;
	int column;
	bool is_null = false;

	check->row = update ? data->tg_newslot : data->tg_trigslot;
	if (begin_check(check, check->call->fn_oid, set_placed))
		hold_and_run(check, place);
	if (!check->placed)
	{
		check_group_is_kept(check);
		return row;
	}
	column = check->rule->group.column;
	return heap_modify_tuple_by_cols(row, RelationGetDescr(data->tg_relation), 1, &column,
									 check->found_key != NULL ? check->found_key :
																check->values + ROW_KEY,
									 &is_null);
}

/* ---- Placing other rows again ------------------------------------------------------- */

/* Runs a statement that returns places. */
static bool
find_places(Check *check)
{
	execute_statement(check->rule->statement[check->wanted], check->values, SPI_OK_SELECT);
	check->places = MemoryContextAllocHuge(check->context, (SPI_processed + 1) * sizeof(RowPlace));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple found = SPI_tuptable->vals[i];
		bool is_null;
		RowPlace *place = &check->places[check->count++];

		place->tid = *(ItemPointer) DatumGetPointer(SPI_getbinval(found, SPI_tuptable->tupdesc, 1,
																  &is_null));
		place->table = DatumGetObjectId(SPI_getbinval(found, SPI_tuptable->tupdesc, 2, &is_null));
	}
	SPI_freetuptable(SPI_tuptable);
	return true;
}

/* Sets the group of a locked row to NULL, so that the trigger BEFORE UPDATE places it. */
static void
forget_group(Relation table, TupleTableSlot *row, AttrNumber column)
{
	EState *state = CreateExecutorState();
	ResultRelInfo *target = compat_update_begin(state, table, column);
	TupleDesc row_type = RelationGetDescr(table);
	TupleTableSlot *new = ExecInitExtraTupleSlot(state, row_type, &TTSOpsVirtual);

	state->es_snapshot = GetActiveSnapshot();
	state->es_output_cid = GetCurrentCommandId(true);
	slot_getallattrs(row);
	memcpy(new->tts_values, row->tts_values, row_type->natts * sizeof(Datum));
	memcpy(new->tts_isnull, row->tts_isnull, row_type->natts * sizeof(bool));
	new->tts_isnull[column - 1] = true;
	ExecStoreVirtualTuple(new);
	AfterTriggerBeginQuery();
	compat_update(state, target, row, new);
	AfterTriggerEndQuery(state);
	compat_update_end(state, target);
	CommandCounterIncrement();
}

/*
 * Places a row again, with the rights of the current user as far as code runs, but whether or
 * not he may update or see the row: groups are kept as foreign keys are.
 */
static void
place_again(const Check *check, const RowPlace *place)
{
	Relation table = table_open(place->table, RowExclusiveLock);
	TupleTableSlot *row = table_slot_create(table, NULL);
	ItemPointerData tid = place->tid;
	TM_FailureData failure;
	TM_Result result = table_tuple_lock(table, &tid, GetActiveSnapshot(), row,
										GetCurrentCommandId(false), LockTupleNoKeyExclusive,
										LockWaitBlock, TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);

	host_check_interrupts();
	/* A row that is gone, or was placed since, needs nothing. */
	if (result == TM_Ok)
		forget_group(table, row, get_attnum(place->table, check->rule->group.name));
	ExecDropSingleTupleTableSlot(row);
	table_close(table, NoLock);
}

/* Places again what a statement returns. */
static void
place_found(Check *check, int statement)
{
	check->wanted = statement;
	check->count = 0;
	run_as_owner(check, find_places);
	for (uint64 i = 0; i < check->count; i++)
		place_again(check, &check->places[i]);
}

/* Places the members of the group again that the old row led. */
static pg_noinline void
hand_on(Check *check)
{
	const Check *outer = handing_on;

	handing_on = check;
	PG_TRY();
	{
		place_found(check, MEMBERS);
	}
	PG_FINALLY();
	{
		handing_on = outer;
	}
	PG_END_TRY();
}

/* Did the old row lead a group that it does not lead any more, or by another signature? */
static bool
has_left(Check *check, TupleTableSlot *old, TupleTableSlot *new)
{
	const RejectRule *rule = check->rule;
	NullableDatum signature;

	if (old == NULL || !leads(rule, old))
		return false;
	if (new == NULL || !leads(rule, new))
		return true;
	signature.value = slot_getattr(new, rule->column, &signature.isnull);
	return !is_same_row(rule, old, new, signature);
}

/* Sets the parameters of the statements for a stored row, and returns whether it is compared. */
static bool
set_stored(Check *check, TupleTableSlot *row)
{
	NullableDatum signature;

	signature.value = slot_getattr(row, check->rule->column, &signature.isnull);
	return set_parameters(check, row, signature, &row->tts_tid);
}

/* Places rows again after a row was stored or deleted. */
static void
follow(Check *check)
{
	const RejectRule *rule = check->rule;

	if (check->left)
		hand_on(check);
	if (check->joined && set_stored(check, check->row))
	{
		bool is_null;

		check->values[ROW_GROUP] = slot_getattr(check->row, rule->group.column, &is_null);
		place_found(check, PARTNERS);
	}
}

/* Returns whether other rows are to be placed again, and the parameters to find them. */
static bool
is_followed(Check *check)
{
	TriggerData *data = check->data;
	const RejectRule *rule = check->rule;
	bool inserted = TRIGGER_FIRED_BY_INSERT(data->tg_event);
	TupleTableSlot *old = inserted ? NULL : data->tg_trigslot;
	TupleTableSlot *new = inserted              ? data->tg_trigslot :
		TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot :
												  NULL;

	check->row = new;
	check->left = has_left(check, old, new) && set_stored(check, old);
	check->joined = new != NULL && rule->statement[PARTNERS] != NULL &&
		(old == NULL || !is_same_column(old, new, rule->group.column));
	if (check->joined && !check->left && !set_stored(check, new))
		check->joined = false;
	return check->left || check->joined;
}

/* ---- The triggers ------------------------------------------------------------------- */

/* Takes the lock before a statement, unless there is one for each tenant. */
static void
lock_statement(const TriggerData *data)
{
	RejectRule rule = {.lock = true};

	read_arguments(&rule, data->tg_trigger);
	if (rule.lock && rule.scope.within == NULL)
		lock_groups(RelationGetRelid(data->tg_relation), 0);
}

/* Runs a trigger that groups rows, and returns the row to store. */
HeapTuple
group_rows(Check *check)
{
	TriggerData *data = check->data;
	HeapTuple row = NULL;

	if (TRIGGER_FIRED_FOR_STATEMENT(data->tg_event))
	{
		lock_statement(data);
		return NULL;
	}
	check->context = CurrentMemoryContext;
	SPI_connect();
	if (!TRIGGER_FIRED_BEFORE(data->tg_event))
	{
		if (begin_check(check, check->call->fn_oid, is_followed))
			hold_and_run(check, follow);
	}
	else if (TRIGGER_FIRED_BY_DELETE(data->tg_event))
		row = data->tg_trigtuple;
	else
	{
		row = place_row(check);
		if (row != data->tg_trigtuple && row != data->tg_newtuple)
			row = SPI_copytuple(row);
	}
	SPI_finish();
	return row;
}
