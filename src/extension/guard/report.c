/*
 * report.c: what a guard says of a row, as far as the current user may read it.
 */
#include "guard/check.h"

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

/* Returns some columns of a row, a list of their numbers, as a row of their own. */
static Datum
record_of(TupleTableSlot *row, const List *columns)
{
	int count = list_length(columns);
	TupleDesc row_type = CreateTemplateTupleDesc(count);
	Datum *values = palloc(count * sizeof(Datum));
	bool *nulls = palloc(count * sizeof(bool));

	for (int i = 0; i < count; i++)
	{
		AttrNumber column = list_nth_int(columns, i);

		TupleDescCopyEntry(row_type, i + 1, row->tts_tupleDescriptor, column);
		values[i] = slot_getattr(row, column, &nulls[i]);
	}
	compat_finish_row_type(row_type);
	BlessTupleDesc(row_type);
	return HeapTupleGetDatum(heap_form_tuple(row_type, values, nulls));
}

/* Returns the key of a row as text: its column, or several columns as a row, or its ctid. */
Datum
guard_key_text(const GuardLeaf *leaf, TupleTableSlot *row)
{
	Datum key = PointerGetDatum(&row->tts_tid);
	Oid output = F_TIDOUT;
	List *columns = NIL;
	bool is_varlena;
	bool is_null;

	for (int i = 0; i < leaf->table->keys; i++)
		columns = lappend_int(columns, get_attnum(leaf->oid, leaf->table->key[i]));
	if (list_length(columns) == 1)
	{
		key = slot_getattr(row, linitial_int(columns), &is_null);
		getTypeOutputInfo(get_atttype(leaf->oid, linitial_int(columns)), &output, &is_varlena);
	}
	else if (columns != NIL)
	{
		key = record_of(row, columns);
		output = F_RECORD_OUT;
	}
	return CStringGetTextDatum(OidOutputFunctionCall(output, key));
}

/* Returns whether rows of a table are hidden from the current user. */
static bool
is_hidden(const GuardTable *table)
{
	return check_enable_rls(table->oid, InvalidOid, true) == RLS_ENABLED;
}

/* Returns a column of rows of a leaf, or InvalidAttrNumber if it is missing or may not be read. */
static AttrNumber
readable(const GuardLeaf *leaf, const char *name)
{
	AttrNumber number = get_attnum(leaf->table->oid, name);

	return number > 0 && role_may_select(leaf->table->oid, number) ? get_attnum(leaf->oid, name) :
																	 InvalidAttrNumber;
}

/* Returns whether the user may read signatures, which similarities reveal, or their sources. */
static bool
may_read_signature(const GuardLeaf *leaf)
{
	Bitmapset *columns[2] = {NULL, leaf->sources};
	bool may = false;

	pull_varattnos((Node *) leaf->signature.expression, 1, &columns[0]);
	for (int i = 0; i < 2 && !may; i++)
	{
		int member = -1;

		may = !bms_is_empty(columns[i]);
		while (may && (member = bms_next_member(columns[i], member)) >= 0)
		{
			AttrNumber column = member + FirstLowInvalidHeapAttributeNumber;

			may = column > 0 && readable(leaf, get_attname(leaf->oid, column, false)) > 0;
		}
	}
	return may;
}

/* Returns a key as in PostgreSQL's messages, (a, b)=(1, 2); NULL if the user may not read it. */
static const char *
key_text(const GuardLeaf *leaf, TupleTableSlot *row)
{
	const GuardTable *table = leaf->table;
	Datum values[INDEX_MAX_KEYS];
	bool nulls[INDEX_MAX_KEYS];
	Relation index;
	const char *key;

	if (table->keys == 0)
		return is_hidden(table) || !role_may_select(table->oid, InvalidAttrNumber) ?
			NULL :
			psprintf("(ctid)=%s", TextDatumGetCString(guard_key_text(leaf, row)));
	for (int i = 0; i < table->keys; i++)
		values[i] = slot_getattr(row, get_attnum(leaf->oid, table->key[i]), &nulls[i]);
	index = index_open(table->key_index, AccessShareLock);
	key = BuildIndexValueDescription(index, values, nulls);
	index_close(index, NoLock);
	return key;
}

/* Returns key and shown columns of a row as a JSON object, or NULL if the user may read none. */
static const char *
row_json(const GuardRule *rule, const GuardLeaf *leaf, TupleTableSlot *row)
{
	int keys = leaf->table->keys;
	List *columns = NIL;

	for (int i = 0; i < keys + list_length(rule->show); i++)
	{
		AttrNumber column =
			readable(leaf, i < keys ? leaf->table->key[i] : list_nth(rule->show, i - keys));

		if (column > 0)
			columns = list_append_unique_int(columns, column);
	}
	return columns == NIL ?
		NULL :
		TextDatumGetCString(DirectFunctionCall1(row_to_json, record_of(row, columns)));
}

/* Returns what a report says of a row: a JSON object if the option show is given, or the key. */
static const char *
describe(const GuardRule *rule, const GuardLeaf *leaf, TupleTableSlot *row)
{
	return rule->show != NIL ? row_json(rule, leaf, row) : key_text(leaf, row);
}

/* Returns the detail of a report, or NULL. */
static const char *
detail_of(const GuardCheck *check, const GuardHit *hit)
{
	const GuardRule *rule = check->rule;
	const char *noun = rule->measure == MEASURE_RESEMBLANCE ? "similarity" : "containment";
	bool hidden = is_hidden(rule->guarded) || is_hidden(hit->leaf->table);
	bool tells = !hidden && may_read_signature(hit->leaf);
	const char *table =
		hit->leaf->table == rule->guarded ? NULL : get_rel_name(hit->leaf->table->oid);
	const char *row = hidden ? NULL : describe(rule, check->leaf, check->row);
	const char *similar = hidden ? NULL : describe(rule, hit->leaf, hit->row);
	StringInfoData text;

	initStringInfo(&text);
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
		if (row != NULL)
			appendStringInfo(&text, ", \"row\": %s", row);
		if (similar != NULL)
			appendStringInfo(&text, ", \"similar\": %s", similar);
		appendStringInfoChar(&text, '}');
		return text.data;
	}
	if (row != NULL && similar != NULL)
		appendStringInfo(&text, "Row %s %s to row %s%s%s.", row,
						 tells ? psprintf("has %s %.3f", noun, hit->similarity) : "is similar",
						 similar, table != NULL ? psprintf(" of table \"%s\"", table) : "",
						 hit->same_statement ? " of the same statement" : "");
	if (rule->action->level == ERROR)
		appendStringInfo(&text, "%sGuard \"%s\" refuses rows with %s %g or more.",
						 text.len > 0 ? " " : "", rule->name, noun, rule->threshold);
	return text.len > 0 ? text.data : NULL;
}

/* Refuses a row, or reports it, because of the row that is similar. */
void
guard_report(const GuardCheck *check, const GuardHit *hit)
{
	const char *detail = detail_of(check, hit);

	ereport(check->rule->action->level,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 errmsg("row of table \"%s\" is a near-duplicate",
					RelationGetRelationName(check->table)),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 errtableconstraint(check->table, check->rule->name)));
}
