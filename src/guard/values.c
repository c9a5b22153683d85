/*
 * values.c: what a guard compares rows by.
 */
#include "guard/guard.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

/* An expression or a condition that is prepared, for one check. */
typedef struct Prepared
{
	const void *expression;
	ExprState *state;
} Prepared;

/* Returns a prepared expression; a condition is a list. */
static ExprState *
prepare(GuardCheck *check, const void *expression)
{
	Prepared *prepared;
	ListCell *cell;

	foreach (cell, check->prepared)
	{
		prepared = lfirst(cell);
		if (prepared->expression == expression)
			return prepared->state;
	}
	if (check->state == NULL)
		check->state = CreateExecutorState();
	prepared = palloc(sizeof(Prepared));
	prepared->expression = expression;
	prepared->state = IsA(expression, List) ? ExecPrepareQual((List *) expression, check->state) :
											  ExecPrepareExpr((Expr *) expression, check->state);
	check->prepared = lappend(check->prepared, prepared);
	return prepared->state;
}

/* Returns the value of a column or an expression for a row. */
NullableDatum
guard_value(GuardCheck *check, Expr *expression, TupleTableSlot *row)
{
	NullableDatum value;
	ExprState *prepared;
	ExprContext *context;

	if (IsA(expression, Var))
	{
		value.value = slot_getattr(row, ((Var *) expression)->varattno, &value.isnull);
		return value;
	}
	prepared = prepare(check, expression);
	context = GetPerTupleExprContext(check->state);
	context->ecxt_scantuple = row;
	value.value = ExecEvalExprSwitchContext(prepared, context, &value.isnull);
	return value;
}

/* Does a row satisfy a condition? */
bool
guard_holds(GuardCheck *check, const List *condition, TupleTableSlot *row)
{
	ExprState *prepared;
	ExprContext *context;

	if (condition == NIL)
		return true;
	prepared = prepare(check, condition);
	context = GetPerTupleExprContext(check->state);
	context->ecxt_scantuple = row;
	return ExecQual(prepared, context);
}

/* Do two versions of a row have the same bytes in a value? */
bool
guard_is_same(const Expr *expression, NullableDatum a, NullableDatum b)
{
	int16 length;
	bool by_value;

	get_typlenbyval(exprType((const Node *) expression), &length, &by_value);
	return a.isnull == b.isnull && (a.isnull || datum_image_eq(a.value, b.value, by_value, length));
}

/* Returns a copy of a value of an expression. */
Datum
guard_copy(const Expr *expression, Datum value)
{
	int16 length;
	bool by_value;

	get_typlenbyval(exprType((const Node *) expression), &length, &by_value);
	return datumCopy(value, by_value, length);
}

/* Does a column have the same bytes in two versions of a row? */
bool
guard_is_same_column(TupleTableSlot *old, TupleTableSlot *new, AttrNumber column)
{
	Form_pg_attribute attribute = TupleDescAttr(new->tts_tupleDescriptor, column - 1);
	NullableDatum a;
	NullableDatum b;

	a.value = slot_getattr(old, column, &a.isnull);
	b.value = slot_getattr(new, column, &b.isnull);
	return a.isnull == b.isnull &&
		(a.isnull || datum_image_eq(a.value, b.value, attribute->attbyval, attribute->attlen));
}

/* Were all columns that the signature is made of left as they were? */
static bool
are_sources_unchanged(const GuardCheck *check)
{
	int member = -1;

	if (!TRIGGER_FIRED_BY_UPDATE(check->data->tg_event))
		return false;
	while ((member = bms_next_member(check->place->sources, member)) >= 0)
		if (!guard_is_same_column(check->data->tg_trigslot, check->row,
								  member + FirstLowInvalidHeapAttributeNumber))
			return false;
	return true;
}

/*
 * Returns the signature of the new row.  A generated column is computed only after all BEFORE
 * triggers; before that it is computed here, as it will be then.
 */
static NullableDatum
new_signature(GuardCheck *check)
{
	const GuardPlace *place = check->place;

	if (check->stored || place->generation == NULL)
		return guard_value(check, place->signature, check->row);
	if (are_sources_unchanged(check))
		return guard_value(check, place->signature, check->data->tg_trigslot);
	return guard_value(check, (Expr *) place->generation, check->row);
}

/*
 * Reads what the new row is compared by.  Returns whether it is compared: it has a signature,
 * no NULL in the columns of the option within, satisfies the condition, and is not let in
 * whatever it is similar to.
 */
bool
guard_begin_search(GuardCheck *check)
{
	const GuardRule *rule = check->rule;
	const GuardPlace *place = check->place;
	bool is_null;

	if (place->unless > 0 && DatumGetBool(slot_getattr(check->row, place->unless, &is_null)) &&
		!is_null)
		return false;
	check->within = palloc(rule->withins * sizeof(Datum) + 1);
	for (int i = 0; i < rule->withins; i++)
	{
		check->within[i] = slot_getattr(check->row, place->within[i], &is_null);
		if (is_null)
			return false;
	}
	if (!guard_holds(check, place->condition, check->row))
		return false;
	check->signature = new_signature(check);
	return !check->signature.isnull;
}
