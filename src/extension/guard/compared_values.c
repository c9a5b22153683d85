/*
 * compared_values.c: what a guard compares rows by.
 */
#include "guard/guard.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ---- Columns ------------------------------------------------------------------------- */

/* Returns what is to be known of a column of rows. */
GuardColumn
guard_column(TupleDesc row_type, AttrNumber number)
{
	const FormData_pg_attribute *attribute = TupleDescAttr(row_type, number - 1);

	return (GuardColumn){number, getBaseType(attribute->atttypid), attribute->attcollation,
						 attribute->attlen, attribute->attbyval};
}

/* Returns the value of a column. */
NullableDatum
guard_get(TupleTableSlot *row, const GuardColumn *column)
{
	NullableDatum value;

	value.value = slot_getattr(row, column->number, &value.isnull);
	return value;
}

/* Returns whether two values are the same, to the byte. */
bool
guard_is_same(const GuardColumn *column, Datum a, Datum b)
{
	return datum_image_eq(a, b, column->by_value, column->length);
}

/* Returns whether a column has the same bytes in two versions of a row. */
bool
guard_is_kept(const GuardColumn *column, TupleTableSlot *old, TupleTableSlot *new)
{
	NullableDatum a = guard_get(old, column);
	NullableDatum b = guard_get(new, column);

	return a.isnull == b.isnull && (a.isnull || guard_is_same(column, a.value, b.value));
}

/* Returns whether two values are equal, by the default equality of their type. */
bool
guard_is_equal(const GuardColumn *column, Datum a, Datum b)
{
	TypeCacheEntry *type = lookup_type_cache(column->type, TYPECACHE_EQ_OPR_FINFO);

	return DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, column->collation, a, b));
}

/* Returns a copy of a value. */
Datum
guard_copy(const GuardColumn *column, Datum value)
{
	return datumCopy(value, column->by_value, column->length);
}

/* Returns whether a boolean column is true; false if there is no column. */
bool
guard_is_true(TupleTableSlot *row, AttrNumber column)
{
	bool is_null = true;
	Datum value = column > 0 ? slot_getattr(row, column, &is_null) : (Datum) 0;

	return !is_null && DatumGetBool(value);
}

/* ---- Expressions --------------------------------------------------------------------- */

/* An expression or a condition that is prepared, for one check. */
typedef struct Prepared
{
	const void *expression;
	ExprState *state;
} Prepared;

/* Returns an expression, or a condition, which is a list, prepared to be evaluated for a row. */
static ExprState *
compared_prepare(GuardCheck *check, const void *expression, TupleTableSlot *row)
{
	Prepared *prepared;
	ListCell *cell;

	if (check->state == NULL)
		check->state = CreateExecutorState();
	GetPerTupleExprContext(check->state)->ecxt_scantuple = row;
	foreach (cell, check->prepared)
	{
		prepared = lfirst(cell);
		if (prepared->expression == expression)
			return prepared->state;
	}
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

	if (IsA(expression, Var))
		value.value = slot_getattr(row, ((Var *) expression)->varattno, &value.isnull);
	else
	{
		ExprState *prepared = compared_prepare(check, expression, row);

		value.value = ExecEvalExprSwitchContext(prepared, GetPerTupleExprContext(check->state),
												&value.isnull);
	}
	return value;
}

/* Returns whether a row satisfies a condition. */
bool
guard_holds(GuardCheck *check, const List *condition, TupleTableSlot *row)
{
	ExprState *prepared = condition == NIL ? NULL : compared_prepare(check, condition, row);

	return prepared == NULL || ExecQual(prepared, GetPerTupleExprContext(check->state));
}

/* ---- The new row --------------------------------------------------------------------- */

/* Returns whether an update leaves all columns that an expression is made of as they were. */
static bool
are_sources_kept(const GuardCheck *check, TupleTableSlot *row, const Expr *expression)
{
	Bitmapset *sources = NULL;
	int member = -1;

	if (!TRIGGER_FIRED_BY_UPDATE(check->data->tg_event))
		return false;
	pull_varattnos((Node *) expression, 1, &sources);
	while ((member = bms_next_member(sources, member)) >= 0)
	{
		GuardColumn column =
			guard_column(row->tts_tupleDescriptor, member + FirstLowInvalidHeapAttributeNumber);

		if (!guard_is_kept(&column, check->data->tg_trigslot, row))
			return false;
	}
	return true;
}

/*
 * Returns the new row as it will be stored.  Generated columns are computed only after all BEFORE
 * triggers; before that, those that options name are computed here.
 */
TupleTableSlot *
guard_as_stored(GuardCheck *check, TupleTableSlot *row)
{
	TupleTableSlot *stored;
	ListCell *cell;

	if (check->stored || check->place->generated == NIL)
		return row;
	stored =
		MakeSingleTupleTableSlot(CreateTupleDescCopy(row->tts_tupleDescriptor), &TTSOpsVirtual);
	slot_getallattrs(row);
	memcpy(stored->tts_values, row->tts_values, row->tts_nvalid * sizeof(Datum));
	memcpy(stored->tts_isnull, row->tts_isnull, row->tts_nvalid * sizeof(bool));
	foreach (cell, check->place->generated)
	{
		const TargetEntry *column = lfirst(cell);
		Datum *value = &stored->tts_values[column->resno - 1];
		bool *is_null = &stored->tts_isnull[column->resno - 1];
		NullableDatum made;

		if (are_sources_kept(check, row, column->expr))
		{
			*value = slot_getattr(check->data->tg_trigslot, column->resno, is_null);
			continue;
		}
		made = guard_value(check, column->expr, row);
		*value = made.value;
		*is_null = made.isnull;
	}
	return ExecStoreVirtualTuple(stored);
}

/*
 * Reads what a row of the new row's table is compared by.  Returns whether others are compared with
 * it: it has a signature, no NULL in the columns of the option within, and satisfies the condition.
 */
static bool
read_values(GuardCheck *check, TupleTableSlot *row, GuardValues *values)
{
	const GuardPlace *place = check->place;
	NullableDatum value;

	values->within = palloc(check->rule->withins * sizeof(Datum) + 1);
	for (int i = 0; i < check->rule->withins; i++)
	{
		value = guard_get(row, &place->within[i]);
		values->within[i] = value.value;
		if (value.isnull)
			return false;
	}
	if (!guard_holds(check, place->condition, row))
		return false;
	value = guard_value(check, place->signature, row);
	values->signature = value.value;
	return !value.isnull;
}

/* Reads what the new row is compared by.  Returns whether others are compared with it. */
bool
guard_read_values(GuardCheck *check)
{
	return read_values(check, check->row, &check->values);
}

/*
 * Reads what the new row is compared by.  Returns whether it is compared itself: it is not let in
 * whatever it is similar to.
 */
bool
guard_begin_search(GuardCheck *check)
{
	return !guard_is_true(check->row, check->place->unless) && guard_read_values(check);
}

/* Returns whether the new row is compared by the given values. */
bool
guard_has_values(const GuardCheck *check, const GuardValues *values)
{
	const GuardPlace *place = check->place;

	for (int i = 0; i < check->rule->withins; i++)
		if (!guard_is_same(&place->within[i], check->values.within[i], values->within[i]))
			return false;
	return guard_is_same(&place->value, check->values.signature, values->signature);
}

/* Returns whether an old version of a row was compared, by the values of the new one. */
bool
guard_compares_alike(GuardCheck *check, TupleTableSlot *old)
{
	GuardValues values;

	return !guard_is_true(old, check->place->unless) && read_values(check, old, &values) &&
		guard_has_values(check, &values);
}

/*
 * Returns whether others are compared with both versions of a row by the same values, or with
 * neither; `found` tells whether they are with the new one.
 */
bool
guard_is_found_alike(GuardCheck *check, bool found, TupleTableSlot *old)
{
	GuardValues values;
	bool was_found = read_values(check, old, &values);

	return found == was_found && (!found || guard_has_values(check, &values));
}
