/*
 * compared_values.c: what a guard compares rows by.
 */
#include "guard/check.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"

/* Returns whether two values of a type are the same, to the byte, or both NULL. */
static bool
is_same(NullableDatum a, NullableDatum b, bool by_value, int16 length)
{
	return a.isnull == b.isnull && (a.isnull || datum_image_eq(a.value, b.value, by_value, length));
}

/* Returns whether two values of a term are the same, to the byte, or both NULL. */
bool
guard_is_same(const GuardTerm *term, NullableDatum a, NullableDatum b)
{
	return is_same(a, b, term->type->typbyval, term->type->typlen);
}

/* Returns whether an update leaves all columns that an expression is made of as they were. */
static bool
are_sources_kept(const GuardCheck *check, const Expr *expression)
{
	TupleDesc row_type = check->row->tts_tupleDescriptor;
	Bitmapset *sources = NULL;
	int member = -1;
	bool kept;

	pull_varattnos((Node *) expression, 1, &sources);
	/* The whole row and system columns come first. */
	kept = check->old != NULL && bms_next_member(sources, -1) > -FirstLowInvalidHeapAttributeNumber;
	while (kept && (member = bms_next_member(sources, member)) >= 0)
	{
		AttrNumber number = member + FirstLowInvalidHeapAttributeNumber;
		const FormData_pg_attribute *column = TupleDescAttr(row_type, number - 1);
		NullableDatum was;
		NullableDatum is;

		was.value = slot_getattr(check->old, number, &was.isnull);
		is.value = slot_getattr(check->row, number, &is.isnull);
		kept = is_same(was, is, column->attbyval, column->attlen);
	}
	return kept;
}

/* An expression that is prepared, for one check. */
typedef struct Prepared
{
	const Expr *expression;
	ExprState *state;
} Prepared;

/* Returns the value of a term for a row.  Generated columns of a row to be stored are made here. */
NullableDatum
guard_get(GuardCheck *check, TupleTableSlot *row, const GuardTerm *term)
{
	Expr *expression = term->expression;
	Prepared *prepared = NULL;
	NullableDatum value;
	ListCell *cell;

	if (row == check->row && !check->stored && term->early != expression)
	{
		if (are_sources_kept(check, term->early))
			row = check->old;
		else
			expression = term->early;
	}
	if (IsA(expression, Var))
	{
		value.value = slot_getattr(row, ((Var *) expression)->varattno, &value.isnull);
		return value;
	}
	if (check->state == NULL)
		check->state = CreateExecutorState();
	GetPerTupleExprContext(check->state)->ecxt_scantuple = row;
	foreach (cell, check->prepared)
		if (((Prepared *) lfirst(cell))->expression == expression)
			prepared = lfirst(cell);
	if (prepared == NULL)
	{
		prepared = palloc(sizeof(Prepared));
		*prepared = (Prepared){expression, ExecPrepareExpr(expression, check->state)};
		check->prepared = lappend(check->prepared, prepared);
	}
	value.value = ExecEvalExprSwitchContext(prepared->state, GetPerTupleExprContext(check->state),
											&value.isnull);
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
	NullableDatum was = guard_get(check, old, term);

	return guard_is_same(term, was, guard_get(check, new, term));
}

/* Reads what a row is compared by; returns whether others are compared with it. */
bool
guard_read_values(GuardCheck *check, TupleTableSlot *row, GuardValues *values)
{
	const GuardLeaf *leaf = check->leaf;
	bool found = true;

	values->within = palloc(check->rule->withins * sizeof(NullableDatum) + 1);
	for (int i = 0; i < check->rule->withins; i++)
	{
		values->within[i] = guard_get(check, row, &leaf->within[i]);
		found &= !values->within[i].isnull || check->rule->within[i].unknown;
	}
	if (!found ||
		(leaf->condition.expression != NULL && !guard_is_true(check, row, &leaf->condition)))
		return false;
	values->signature = guard_get(check, row, &leaf->signature);
	return !values->signature.isnull;
}

/* Reads what the new row is compared by; returns whether it is not let in whatever it resembles. */
bool
guard_begin_search(GuardCheck *check)
{
	return guard_read_values(check, check->row, &check->values) &&
		!guard_is_true(check, check->row, &check->leaf->unless);
}

/*
 * Returns whether two versions of a row are compared alike, and groups and verdicts name both alike;
 * `found`: the new one is compared at all.
 */
bool
guard_compares_alike(GuardCheck *check, bool found, TupleTableSlot *old)
{
	const GuardLeaf *leaf = check->leaf;
	GuardValues values;
	bool alike = guard_read_values(check, old, &values) == found &&
		(leaf->group_key.expression == NULL ||
		 guard_is_kept(check, old, check->row, &leaf->group_key));

	for (int i = 0; found && alike && i < check->rule->withins; i++)
		alike = guard_is_same(&leaf->within[i], check->values.within[i], values.within[i]);
	return alike &&
		(!found || guard_is_same(&leaf->signature, check->values.signature, values.signature));
}
