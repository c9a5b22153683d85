/*
 * report.c: what a guard says of a row, as far as the current user may read it.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "funcapi.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "rights.h"

/* Returns some columns of a row as a row of their own. */
static Datum
record_of(TupleTableSlot *row, const AttrNumber *columns, int count)
{
	TupleDesc row_type = CreateTemplateTupleDesc(count);
	Datum *values = palloc(count * sizeof(Datum));
	bool *nulls = palloc(count * sizeof(bool));

	for (int i = 0; i < count; i++)
	{
		TupleDescCopyEntry(row_type, i + 1, row->tts_tupleDescriptor, columns[i]);
		values[i] = slot_getattr(row, columns[i], &nulls[i]);
	}
	compat_finish_row_type(row_type);
	BlessTupleDesc(row_type);
	return HeapTupleGetDatum(heap_form_tuple(row_type, values, nulls));
}

/* Returns the key of a row as text: its column, or several columns as a row, or its ctid. */
Datum
guard_key_text(const GuardPlace *place, TupleTableSlot *row)
{
	const GuardSide *side = place->side;
	AttrNumber *columns = palloc((side->keys + 1) * sizeof(AttrNumber));
	Oid output;
	bool is_varlena;
	bool is_null;

	for (int i = 0; i < side->keys; i++)
		columns[i] = get_attnum(place->table, side->key[i]);
	if (side->keys > 1)
		return CStringGetTextDatum(OidOutputFunctionCall(F_RECORD_OUT,
														 record_of(row, columns, side->keys)));
	if (side->keys == 0)
		return CStringGetTextDatum(OidOutputFunctionCall(F_TIDOUT, PointerGetDatum(&row->tts_tid)));
	getTypeOutputInfo(get_atttype(place->table, columns[0]), &output, &is_varlena);
	return CStringGetTextDatum(OidOutputFunctionCall(output,
													 slot_getattr(row, columns[0], &is_null)));
}

/* ---- What may be shown ------------------------------------------------------------------ */

/* Returns whether rows of a table are hidden from the current user. */
static bool
is_hidden(const GuardSide *side)
{
	return check_enable_rls(side->table, InvalidOid, true) == RLS_ENABLED;
}

/* Returns a column of rows of a place, or InvalidAttrNumber if it is missing or may not be read. */
static AttrNumber
readable(const GuardPlace *place, const char *name)
{
	AttrNumber number = get_attnum(place->side->table, name);

	return number > 0 && role_may_select(place->side->table, number) ?
		get_attnum(place->table, name) :
		InvalidAttrNumber;
}

/* Returns whether the current user may read some columns of a place. */
static bool
may_read_all(const GuardPlace *place, const Bitmapset *columns)
{
	int member = -1;

	while ((member = bms_next_member(columns, member)) >= 0)
	{
		AttrNumber column = member + FirstLowInvalidHeapAttributeNumber;

		if (column <= 0 || readable(place, get_attname(place->table, column, false)) <= 0)
			return false;
	}
	return !bms_is_empty(columns);
}

/*
 * Returns whether the current user may read signatures, or what they are made of.  Otherwise
 * similarities would reveal them, one insert after another.
 */
static bool
may_read_signature(const GuardPlace *place)
{
	Bitmapset *columns = NULL;

	pull_varattnos((Node *) place->signature, 1, &columns);
	return may_read_all(place, columns) || may_read_all(place, place->sources);
}

/*
 * Returns a key as in PostgreSQL's own messages, (a, b)=(1, 2), or its ctid if the table has no
 * primary key; NULL if the user may not read the key.
 */
static const char *
key_text(const GuardPlace *place, TupleTableSlot *row)
{
	const GuardSide *side = place->side;
	Datum values[INDEX_MAX_KEYS];
	bool nulls[INDEX_MAX_KEYS];
	Relation index;
	const char *key;

	if (side->keys == 0)
		return is_hidden(side) || !role_may_select(side->table, InvalidAttrNumber) ?
			NULL :
			psprintf("(ctid)=%s", TextDatumGetCString(guard_key_text(place, row)));
	for (int i = 0; i < side->keys; i++)
		values[i] = slot_getattr(row, get_attnum(place->table, side->key[i]), &nulls[i]);
	index = index_open(side->key_index, AccessShareLock);
	key = BuildIndexValueDescription(index, values, nulls);
	index_close(index, NoLock);
	return key;
}

/* Returns key and shown columns of a row as a JSON object, or NULL if the user may read none. */
static const char *
row_json(const GuardRule *rule, const GuardPlace *place, TupleTableSlot *row)
{
	int keys = place->side->keys;
	int most = keys + list_length(rule->show);
	AttrNumber *columns = palloc((most + 1) * sizeof(AttrNumber));
	int count = 0;

	for (int i = 0; i < most; i++)
	{
		const char *name = i < keys ? place->side->key[i] : list_nth(rule->show, i - keys);
		int known = 0;

		columns[count] = readable(place, name);
		while (columns[known] != columns[count])
			known++;
		count += columns[count] > 0 && known == count;
	}
	return count == 0 ?
		NULL :
		TextDatumGetCString(DirectFunctionCall1(row_to_json, record_of(row, columns, count)));
}

/* ---- Messages ----------------------------------------------------------------------------------- */

/* Returns whether a similar row is refused. */
static bool
refuses(const GuardRule *rule)
{
	return rule->action == ACTION_REJECT || rule->action == ACTION_SKIP;
}

/* Returns the detail of a report, or NULL. */
static const char *
detail_of(const GuardCheck *check, const GuardHit *hit)
{
	const GuardRule *rule = check->rule;
	const char *noun = rule->measure == MEASURE_RESEMBLANCE ? "similarity" : "containment";
	bool hidden = is_hidden(&rule->side[0]) || is_hidden(hit->place->side);
	bool tells = !hidden && may_read_signature(hit->place);
	const char *table =
		hit->place->side == &rule->side[0] ? NULL : get_rel_name(hit->place->side->table);
	const char *row[2];
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < 2; i++)
	{
		const GuardPlace *place = i == 0 ? check->place : hit->place;
		TupleTableSlot *slot = i == 0 ? check->row : hit->row;

		row[i] = hidden       ? NULL :
			rule->show != NIL ? row_json(rule, place, slot) :
								key_text(place, slot);
	}
	if (rule->show != NIL)
	{
		appendStringInfoString(&text, "{\"guard\": ");
		escape_json(&text, rule->name);
		appendStringInfo(&text, ", \"threshold\": %.15g", rule->threshold);
		if (tells)
			appendStringInfo(&text, ", \"%s\": %.6f", noun, hit->similarity);
		appendStringInfo(&text, ", \"same_statement\": %s", hit->same_statement ? "true" : "false");
		if (table != NULL)
		{
			appendStringInfoString(&text, ", \"table\": ");
			escape_json(&text, table);
		}
		for (int i = 0; i < 2; i++)
			if (row[i] != NULL)
				appendStringInfo(&text, ", \"%s\": %s", i == 0 ? "row" : "similar", row[i]);
		appendStringInfoChar(&text, '}');
		return text.data;
	}
	if (row[0] != NULL && row[1] != NULL)
		appendStringInfo(&text, "Row %s %s to row %s%s%s.", row[0],
						 tells ? psprintf("has %s %.3f", noun, hit->similarity) : "is similar",
						 row[1], table != NULL ? psprintf(" of table \"%s\"", table) : "",
						 hit->same_statement ? " of the same statement" : "");
	if (refuses(rule))
		appendStringInfo(&text, "%sGuard \"%s\" refuses rows with %s %g or more.",
						 text.len > 0 ? " " : "", rule->name, noun, rule->threshold);
	return text.len > 0 ? text.data : NULL;
}

/* Refuses a row, or reports it, because of the row that is similar. */
void
guard_report(const GuardCheck *check, const GuardHit *hit)
{
	Relation table = check->data->tg_relation;
	const char *detail = detail_of(check, hit);

	ereport(refuses(check->rule) ? ERROR : NOTICE,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 errmsg("row of table \"%s\" is a near-duplicate", RelationGetRelationName(table)),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 errtableconstraint(table, check->rule->name)));
}
