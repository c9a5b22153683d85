/*
 * report.c: what a guard says of a row, as far as the current user may read it.
 */
#include "guard/guard.h"

#include "funcapi.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "rights.h"

/* A row to be shown. */
typedef struct Shown
{
	const GuardSide *side;
	Oid table; /* of the row: that of the side or a partition */
	TupleTableSlot *row;
} Shown;

/* ---- What may be shown ------------------------------------------------------------------ */

/* May the current user read a column of the rows that he sees? */
static bool
may_read(const GuardSide *side, const char *column)
{
	AttrNumber number = get_attnum(side->table, column);

	return number > 0 && role_may_select(side->table, number);
}

/* May the current user read some columns of a place? */
static bool
may_read_all(const GuardPlace *place, const Bitmapset *columns)
{
	int member = -1;

	while ((member = bms_next_member(columns, member)) >= 0)
	{
		AttrNumber column = member + FirstLowInvalidHeapAttributeNumber;
		const char *name = get_attname(place->table, column, true);

		if (column <= 0 || name == NULL || !may_read(place->side, name))
			return false;
	}
	return !bms_is_empty(columns);
}

/*
 * May the current user read signatures, or what they are made of?  Otherwise similarities would
 * reveal them, one insert after another.
 */
static bool
may_read_signature(const GuardPlace *place)
{
	Bitmapset *columns = NULL;

	pull_varattnos((Node *) place->signature, 1, &columns);
	return may_read_all(place, columns) || may_read_all(place, place->sources);
}

/* Are rows of a table hidden from the current user? */
static bool
is_hidden(const GuardSide *side)
{
	return check_enable_rls(side->table, InvalidOid, true) == RLS_ENABLED;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Returns a column of a row, or false if it is missing or may not be read. */
static bool
find_column(const Shown *shown, const char *name, AttrNumber *column)
{
	*column = get_attnum(shown->table, name);
	return *column > 0 && may_read(shown->side, name);
}

/* Returns the text of a value of a row. */
const char *
guard_value_text(TupleTableSlot *row, AttrNumber column)
{
	bool is_null;
	Datum value = slot_getattr(row, column, &is_null);
	Oid output;
	bool is_varlena;

	if (is_null)
		return "null";
	getTypeOutputInfo(TupleDescAttr(row->tts_tupleDescriptor, column - 1)->atttypid, &output,
					  &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/*
 * Returns a key as in PostgreSQL's own messages, (a, b)=(1, 2), or its ctid if the table has no
 * primary key; NULL if the user may not read the key.
 */
static const char *
key_text(const Shown *shown)
{
	StringInfoData names;
	StringInfoData values;

	if (shown->side->keys == 0)
		return role_may_select(shown->side->table, InvalidAttrNumber) ?
			psprintf("(ctid)=%s",
					 DatumGetCString(DirectFunctionCall1(tidout,
														 PointerGetDatum(&shown->row->tts_tid)))) :
			NULL;
	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < shown->side->keys; i++)
	{
		AttrNumber column;

		if (!find_column(shown, shown->side->key[i], &column))
			return NULL;
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", shown->side->key[i]);
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "", guard_value_text(shown->row, column));
	}
	return psprintf("(%s)=(%s)", names.data, values.data);
}

/* Finds the columns of key and option show that the user may read; returns how many. */
static int
find_shown(const GuardRule *rule, const Shown *shown, AttrNumber *columns)
{
	int keys = shown->side->keys;
	int count = 0;

	for (int i = 0; i < keys + rule->shown; i++)
	{
		bool is_known = false;

		if (!find_column(shown, i < keys ? shown->side->key[i] : rule->show[i - keys],
						 &columns[count]))
			continue;
		for (int k = 0; k < count; k++)
			is_known |= columns[k] == columns[count];
		count += !is_known;
	}
	return count;
}

/* Returns key and shown columns of a row as a JSON object, or NULL if the user may read none. */
static const char *
row_json(const GuardRule *rule, const Shown *shown)
{
	int most = shown->side->keys + rule->shown;
	AttrNumber *columns = palloc((most + 1) * sizeof(AttrNumber));
	Datum *values = palloc((most + 1) * sizeof(Datum));
	bool *nulls = palloc((most + 1) * sizeof(bool));
	int count = find_shown(rule, shown, columns);
	TupleDesc row_type = CreateTemplateTupleDesc(count);
	HeapTuple tuple;

	if (count == 0)
		return NULL;
	for (int i = 0; i < count; i++)
	{
		TupleDescCopyEntry(row_type, i + 1, shown->row->tts_tupleDescriptor, columns[i]);
		values[i] = slot_getattr(shown->row, columns[i], &nulls[i]);
	}
	compat_finish_row_type(row_type);
	BlessTupleDesc(row_type);
	tuple = heap_form_tuple(row_type, values, nulls);
	return TextDatumGetCString(DirectFunctionCall1(row_to_json, HeapTupleGetDatum(tuple)));
}

/* ---- Messages ----------------------------------------------------------------------------------- */

/* Returns the table of the other row, if it is another than that of the new row. */
static const char *
other_table(const GuardRule *rule, const GuardHit *hit)
{
	return hit->place->side == &rule->side[0] ? NULL : get_rel_name(hit->place->side->table);
}

/* Returns what is said of both rows as a sentence. */
static const char *
sentence(const GuardRule *rule, const GuardHit *hit, const Shown *new, const Shown *other)
{
	const char *new_key = key_text(new);
	const char *other_key = key_text(other);
	const char *table = other_table(rule, hit);
	const char *noun = rule->measure == MEASURE_RESEMBLANCE ? "similarity" : "containment";
	bool tells = may_read_signature(hit->place);

	if (new_key == NULL || other_key == NULL)
		return NULL;
	return psprintf("Row %s %s to row %s%s%s.", new_key,
					tells ? psprintf("has %s %.3f", noun, hit->similarity) : "is similar",
					other_key, table != NULL ? psprintf(" of table \"%s\"", table) : "",
					hit->same_statement ? " of the same statement" : "");
}

/* Returns what is said of both rows as JSON. */
static const char *
object(const GuardRule *rule, const GuardHit *hit, const Shown *new, const Shown *other)
{
	bool visible = other != NULL;
	const char *row = visible ? row_json(rule, new) : NULL;
	const char *similar = visible ? row_json(rule, other) : NULL;
	const char *table = other_table(rule, hit);
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoString(&json, "{\"guard\": ");
	escape_json(&json, rule->name);
	appendStringInfo(&json, ", \"threshold\": %.15g", rule->threshold);
	if (visible && may_read_signature(hit->place))
		appendStringInfo(&json, ", \"%s\": %.6f",
						 rule->measure == MEASURE_RESEMBLANCE ? "similarity" : "containment",
						 hit->similarity);
	appendStringInfo(&json, ", \"same_statement\": %s", hit->same_statement ? "true" : "false");
	if (table != NULL)
	{
		appendStringInfoString(&json, ", \"table\": ");
		escape_json(&json, table);
	}
	if (row != NULL)
		appendStringInfo(&json, ", \"row\": %s", row);
	if (similar != NULL)
		appendStringInfo(&json, ", \"similar\": %s", similar);
	appendStringInfoChar(&json, '}');
	return json.data;
}

/* Returns the detail of a report, or NULL. */
static const char *
detail_of(const GuardCheck *check, const GuardHit *hit)
{
	const GuardRule *rule = check->rule;
	Shown new = {&rule->side[0], check->place->table, check->row};
	Shown other = {hit->place->side, hit->place->table, hit->row};
	bool hidden = is_hidden(new.side) || is_hidden(other.side);
	const char *rows;
	const char *rejects = rule->action != ACTION_REJECT && rule->action != ACTION_SKIP ?
		NULL :
		psprintf("Guard \"%s\" refuses rows with %s %g or more.", rule->name,
				 rule->measure == MEASURE_RESEMBLANCE ? "similarity" : "containment",
				 rule->threshold);

	if (rule->shown > 0)
		return object(rule, hit, &new, hidden ? NULL : &other);
	rows = hidden ? NULL : sentence(rule, hit, &new, &other);
	return rows == NULL || rejects == NULL ? (rows == NULL ? rejects : rows) :
											 psprintf("%s %s", rows, rejects);
}

/* Reports the row that is similar to the new one. */
void
guard_report(const GuardCheck *check, const GuardHit *hit, int level)
{
	Relation table = check->data->tg_relation;
	const char *detail = detail_of(check, hit);

	ereport(level,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 errmsg("row of table \"%s\" is a near-duplicate", RelationGetRelationName(table)),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 errtableconstraint(table, check->rule->name)));
}
