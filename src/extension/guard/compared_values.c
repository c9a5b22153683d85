/*
 * compared_values.c: what a guard compares rows by.
 */
#include "guard/check.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/typcache.h"

/* ---- Values -------------------------------------------------------------------------- */

/* Returns whether two values are the same, to the byte. */
bool
guard_is_same(const GuardTerm *term, Datum a, Datum b)
{
	return datum_image_eq(a, b, term->by_value, term->length);
}

/* Returns whether two values, which may be NULL, are the same. */
static bool
is_same(const GuardTerm *term, NullableDatum a, NullableDatum b)
{
	return a.isnull == b.isnull && (a.isnull || guard_is_same(term, a.value, b.value));
}

/* Returns whether two values are equal, by the default equality of their type. */
bool
guard_is_equal(const GuardTerm *term, Datum a, Datum b)
{
	TypeCacheEntry *type = lookup_type_cache(term->type, TYPECACHE_EQ_OPR_FINFO);

	return DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, term->collation, a, b));
}

/* Returns a copy of a value. */
Datum
guard_copy(const GuardTerm *term, Datum value)
{
	return datumCopy(value, term->by_value, term->length);
}

/* ---- Terms of rows --------------------------------------------------------------------- */

/* An expression that is prepared, for one check. */
typedef struct Prepared
{
	const Expr *expression;
	ExprState *state;
} Prepared;

/* Returns an expression prepared to be evaluated for a row. */
static ExprState *
compared_prepare(GuardCheck *check, Expr *expression, TupleTableSlot *row)
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
	prepared->state = ExecPrepareExpr(expression, check->state);
	check->prepared = lappend(check->prepared, prepared);
	return prepared->state;
}

/* Returns whether an update leaves all columns that an expression is made of as they were. */
static bool
are_sources_kept(const GuardCheck *check, const Expr *expression)
{
	TupleDesc row_type = check->row->tts_tupleDescriptor;
	Bitmapset *sources = NULL;
	int member = -1;

	if (!TRIGGER_FIRED_BY_UPDATE(check->data->tg_event))
		return false;
	pull_varattnos((Node *) expression, 1, &sources);
	while ((member = bms_next_member(sources, member)) >= 0)
	{
		AttrNumber number = member + FirstLowInvalidHeapAttributeNumber;
		const FormData_pg_attribute *column = TupleDescAttr(row_type, number - 1);
		bool was_null;
		bool is_null;
		Datum was = slot_getattr(check->data->tg_trigslot, number, &was_null);
		Datum is = slot_getattr(check->row, number, &is_null);

		if (was_null != is_null ||
			(!is_null && !datum_image_eq(was, is, column->attbyval, column->attlen)))
			return false;
	}
	return true;
}

/* Returns the value of a term for a row.  Generated columns of a row to be stored are made here. */
NullableDatum
guard_get(GuardCheck *check, TupleTableSlot *row, const GuardTerm *term)
{
	Expr *expression = term->expression;
	NullableDatum value;

	if (row == check->row && !check->stored && term->early != expression)
	{
		if (are_sources_kept(check, term->early))
			row = check->data->tg_trigslot;
		else
			expression = term->early;
	}
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

/* Returns whether a boolean term is true for a row; false if there is no such term. */
bool
guard_is_true(GuardCheck *check, TupleTableSlot *row, const GuardTerm *term)
{
	NullableDatum value = {.isnull = true};

	if (term->expression != NULL)
		value = guard_get(check, row, term);
	return !value.isnull && DatumGetBool(value.value);
}

/* Returns whether a term has the same bytes in two versions of a row. */
bool
guard_is_kept(GuardCheck *check, TupleTableSlot *old, TupleTableSlot *new, const GuardTerm *term)
{
	NullableDatum a = guard_get(check, old, term);
	NullableDatum b = guard_get(check, new, term);

	return is_same(term, a, b);
}

/* ---- What a row is compared by --------------------------------------------------------- */

/* Reads what a row is compared by; returns whether others are compared with it. */
static bool
read_values(GuardCheck *check, TupleTableSlot *row, GuardValues *values)
{
	const GuardPlace *place = check->place;
	bool found = true;
	NullableDatum value;

	values->within = palloc(check->rule->withins * sizeof(NullableDatum) + 1);
	for (int i = 0; i < check->rule->withins; i++)
	{
		values->within[i] = guard_get(check, row, &place->within[i]);
		found &= !values->within[i].isnull || check->rule->within[i].unknown;
	}
	if (!found ||
		(place->condition.expression != NULL && !guard_is_true(check, row, &place->condition)))
		return false;
	value = guard_get(check, row, &place->signature);
	values->signature = value.value;
	return !value.isnull;
}

/* Reads what the new row is compared by.  Returns whether others are compared with it. */
bool
guard_read_values(GuardCheck *check)
{
	return read_values(check, check->row, &check->values);
}

/* Reads what the new row is compared by; returns whether it is not let in whatever it resembles. */
bool
guard_begin_search(GuardCheck *check)
{
	return guard_read_values(check) && !guard_is_true(check, check->row, &check->place->unless);
}

/* Returns whether two versions of a row are compared alike; `found`: the new one is at all. */
bool
guard_compares_alike(GuardCheck *check, bool found, TupleTableSlot *old)
{
	const GuardPlace *place = check->place;
	GuardValues values;
	bool alike = read_values(check, old, &values) == found;

	for (int i = 0; found && alike && i < check->rule->withins; i++)
		alike = is_same(&place->within[i], check->values.within[i], values.within[i]);
	return alike &&
		(!found || guard_is_same(&place->signature, check->values.signature, values.signature));
}
