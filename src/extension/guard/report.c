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
guard_key_text(const GuardLeaf *leaf, TupleTableSlot *row)
{
	const GuardTable *table = leaf->table;
	AttrNumber columns[INDEX_MAX_KEYS];
	Datum key = PointerGetDatum(&row->tts_tid);
	Oid output = F_TIDOUT;
	bool is_varlena;
	bool is_null;

	for (int i = 0; i < table->keys; i++)
		columns[i] = get_attnum(leaf->oid, table->key[i]);
	if (table->keys == 1)
	{
		key = slot_getattr(row, columns[0], &is_null);
		getTypeOutputInfo(get_atttype(leaf->oid, columns[0]), &output, &is_varlena);
	}
	else if (table->keys > 1)
	{
		key = record_of(row, columns, table->keys);
		output = F_RECORD_OUT;
	}
	return CStringGetTextDatum(OidOutputFunctionCall(output, key));
}

/* ---- What may be shown ------------------------------------------------------------------ */

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
	int most = keys + list_length(rule->show);
	AttrNumber *columns = palloc((most + 1) * sizeof(AttrNumber));
	int count = 0;

	for (int i = 0; i < most; i++)
	{
		const char *name = i < keys ? leaf->table->key[i] : list_nth(rule->show, i - keys);
		int known = 0;

		columns[count] = readable(leaf, name);
		while (columns[known] != columns[count])
			known++;
		count += columns[count] > 0 && known == count;
	}
	return count == 0 ?
		NULL :
		TextDatumGetCString(DirectFunctionCall1(row_to_json, record_of(row, columns, count)));
}

/* ---- Messages ----------------------------------------------------------------------------------- */

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
	const char *row[2];
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < 2; i++)
	{
		const GuardLeaf *leaf = i == 0 ? check->leaf : hit->leaf;
		TupleTableSlot *slot = i == 0 ? check->row : hit->row;

		row[i] = hidden       ? NULL :
			rule->show != NIL ? row_json(rule, leaf, slot) :
								key_text(leaf, slot);
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
	if (rule->action->level == ERROR)
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

	ereport(check->rule->action->level,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 errmsg("row of table \"%s\" is a near-duplicate", RelationGetRelationName(table)),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 errtableconstraint(table, check->rule->name)));
}
