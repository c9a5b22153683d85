/*
 * reject_report.c: what a trigger of neardup_reject() says of a row, as far as the current
 * user may read it.
 */
#include "reject/reject.h"

#include "access/table.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

/* What the current user sees of the row found. */
typedef struct Shown
{
	const char **value; /* of the columns that the trigger shows; NULL if he may not read one */
	const char *row;    /* the keys as JSON, with these columns */
	const char *found;
} Shown;

/* ---- What may be shown ------------------------------------------------------ */

/* Returns a key as in PostgreSQL's own messages: (a, b)=(1, 2). */
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

/* Returns whether the current user may read a column of rows; 0 and less mean any column. */
static bool
column_is_readable(const RejectRule *rule, AttrNumber column)
{
	return role_may_select(rule->guarded, Max(column, InvalidAttrNumber));
}

/*
 * Returns whether the current user may read the keys of all rows, and what decides which
 * rows are compared: a key says that its row is in the new row's scope.
 */
static bool
keys_are_readable(const RejectRule *rule)
{
	if (!scope_is_readable(rule))
		return false;
	for (int i = 0; i < rule->keys; i++)
		if (!column_is_readable(rule, get_attnum(rule->guarded, rule->key_name[i])))
			return false;
	return true;
}

/*
 * Returns whether the current user may read the signatures of all rows, or what
 * they are generated from.  Otherwise similarities would reveal them, one insert
 * after another.
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

/* ---- The row found ---------------------------------------------------------- */

static AttrNumber
guarded_column(const RejectRule *rule, const char *name)
{
	return get_attnum(rule->guarded, name);
}

/* Appends the name and value of a column to the arguments of json_build_object(). */
static void
append_member(StringInfo list, const char *name, const char *value)
{
	appendStringInfo(list, "%s%s, %s", list->len > 0 ? ", " : "", quote_literal_cstr(name), value);
}

/* Returns the query for the row found, whose key is in the parameters. */
static const char *
query_for_row(const RejectRule *rule)
{
	Relation guarded = table_open(rule->guarded, AccessShareLock);
	const char *table = qualified_name(guarded);
	StringInfoData row;
	StringInfoData found;
	StringInfoData columns;
	StringInfoData where;

	table_close(guarded, NoLock);
	initStringInfo(&row);
	initStringInfo(&found);
	initStringInfo(&columns);
	initStringInfo(&where);
	for (int i = 0; i < rule->keys; i++)
	{
		const char *name = rule->key_name[i];
		const char *column = psprintf("t.%s", quote_identifier(name));
		Oid type = getBaseType(get_atttype(rule->guarded, guarded_column(rule, name)));

		append_member(&row, name, psprintf("$%d", rule->keys + i + 1));
		append_member(&found, name, column);
		appendStringInfo(&where, "%s%s", i > 0 ? " AND " : "",
						 equality(column, type, psprintf("$%d", i + 1)));
	}
	for (int i = 0; i < rule->shown; i++)
	{
		const char *name = rule->shown_name[i];
		const char *column = column_is_readable(rule, guarded_column(rule, name)) ?
			psprintf("t.%s", quote_identifier(name)) :
			"NULL";

		append_member(&found, name, column);
		appendStringInfo(&columns, ", %s::pg_catalog.text", column);
	}
	return psprintf("SELECT pg_catalog.json_build_object(%s)::pg_catalog.text, "
					"pg_catalog.json_build_object(%s)::pg_catalog.text%s FROM %s AS t WHERE %s",
					row.data, found.data, columns.data, table, where.data);
}

/*
 * Reads the row found with the rights of the current user, as it may be shown.  Returns false
 * if he may not see it.  Without row-level security he may, if he may read its key.
 */
static bool
look_at_found(const Check *check, Shown *shown)
{
	const RejectRule *rule = check->rule;
	Oid *types = palloc(2 * rule->keys * sizeof(Oid));
	Datum *values = palloc(2 * rule->keys * sizeof(Datum));

	memset(shown, 0, sizeof(Shown));
	shown->value = palloc0((rule->shown + 1) * sizeof(char *));
	if (!keys_are_readable(rule))
		return false;
	if (rule->shown == 0 && !rule->json &&
		check_enable_rls(rule->guarded, InvalidOid, true) != RLS_ENABLED)
		return true;
	for (int i = 0; i < rule->keys; i++)
	{
		types[i] = types[rule->keys + i] =
			get_atttype(rule->guarded, guarded_column(rule, rule->key_name[i]));
		values[i] = check->found_key[i];
		values[rule->keys + i] = check->row_key[i];
	}
	if (SPI_execute_with_args(query_for_row(rule), 2 * rule->keys, types, values, NULL, false, 1) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed");
	if (SPI_processed == 0)
		return false;
	shown->row = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	shown->found = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2);
	for (int i = 0; i < rule->shown; i++)
		shown->value[i] = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 3);
	return true;
}

/* ---- Messages ----------------------------------------------------------------- */

/* Returns the columns that are shown, as a key is: (title, link)=(A roof, /p/1). */
static const char *
show_columns(const RejectRule *rule, const Shown *shown)
{
	StringInfoData names;
	StringInfoData values;

	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < rule->shown; i++)
		if (shown->value[i] != NULL)
		{
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", rule->shown_name[i]);
			appendStringInfo(&values, "%s%s", values.len > 0 ? ", " : "", shown->value[i]);
		}
	return names.len == 0 ? "" : psprintf(", (%s)=(%s)", names.data, values.data);
}

/* Returns the rows and their similarity, as far as the current user may read them. */
static const char *
describe(const Check *check, bool visible, const Shown *shown)
{
	const RejectRule *rule = check->rule;
	bool rejects = !rule->warn && rule->log == NULL && rule->hint == NULL;
	const char *trigger = psprintf("Trigger \"%s\" rejects rows with similarity %g or more.",
								   check->data->tg_trigger->tgname, rule->threshold);
	const char *verb = "is similar";
	const char *rows;

	if (!visible)
		return rejects ? trigger : NULL;
	if (similarity_is_readable(rule))
		verb = psprintf("has similarity %.3f", check->similarity);
	rows = psprintf("Row %s %s to row %s%s.", show_key(rule, check->row_key), verb,
					show_key(rule, check->found_key), show_columns(rule, shown));
	return rejects ? psprintf("%s %s", rows, trigger) : rows;
}

/* Returns the rows and their similarity as JSON, as far as the current user may read them. */
static const char *
describe_as_json(const Check *check, bool visible, const Shown *shown)
{
	const RejectRule *rule = check->rule;
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoString(&json, "{\"trigger\": ");
	escape_json(&json, check->data->tg_trigger->tgname);
	appendStringInfo(&json, ", \"threshold\": %.15g", rule->threshold);
	if (visible && similarity_is_readable(rule))
		appendStringInfo(&json, ", \"similarity\": %.6f", check->similarity);
	if (visible)
		appendStringInfo(&json, ", \"row\": %s, \"similar\": %s", shown->row, shown->found);
	appendStringInfoChar(&json, '}');
	return json.data;
}

/* Returns the place of a column among those that the trigger shows, or -1. */
int
shown_place(const RejectRule *rule, const char *name, size_t length)
{
	for (int i = 0; i < rule->shown; i++)
		if (strlen(rule->shown_name[i]) == length &&
			strncmp(rule->shown_name[i], name, length) == 0)
			return i;
	return -1;
}

/*
 * Returns the trigger's message or hint with the columns that it shows in place of their
 * names in braces, or NULL if there is none, or the current user may not read a column.
 */
static const char *
expand(const RejectRule *rule, const char *rest, const Shown *shown)
{
	StringInfoData text;

	if (rest == NULL)
		return NULL;
	initStringInfo(&text);
	for (const char *open; rule->shown > 0 && (open = strchr(rest, '{')) != NULL;)
	{
		const char *close = strchr(open, '}');
		int place = close == NULL ? -1 : shown_place(rule, open + 1, close - open - 1);

		if (place < 0 || shown->value[place] == NULL)
			return NULL;
		appendBinaryStringInfo(&text, rest, open - rest);
		appendStringInfoString(&text, shown->value[place]);
		rest = close + 1;
	}
	appendStringInfoString(&text, rest);
	return text.data;
}

/* Reports the similar row, and what the trigger rejects unless it has a hint of its own. */
void
report_similar(const Check *check, int level)
{
	const RejectRule *rule = check->rule;
	Relation table = check->data->tg_relation;
	Shown shown;
	bool visible = look_at_found(check, &shown);
	const char *detail =
		rule->json ? describe_as_json(check, visible, &shown) : describe(check, visible, &shown);
	const char *message = expand(rule, rule->message, &shown);
	const char *hint = expand(rule, rule->hint, &shown);

	ereport(level,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 message != NULL ?
				 errmsg("%s", message) :
				 errmsg("row of table \"%s\" is a near-duplicate", RelationGetRelationName(table)),
			 detail != NULL ? errdetail("%s", detail) : 0, hint != NULL ? errhint("%s", hint) : 0,
			 errtableconstraint(table, check->data->tg_trigger->tgname)));
}

/*
 * Reports signatures that cannot be compared.  The new row is rejected if it
 * cannot be compared with any other; otherwise one warning says that some were
 * skipped.
 */
void
report_incomparable(const Check *check)
{
	RejectRule *rule = check->rule;
	const char *table = get_rel_name(rule->guarded);
	bool rejected = check->all_incomparable && !rule->warn && rule->log == NULL;
	Shown shown;

	if (rule->warned && !rejected)
		return;
	rule->warned = true;
	ereport(rejected ? ERROR : WARNING,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 check->all_incomparable ?
				 errmsg("signature of the new row cannot be compared with any in table \"%s\"",
						table) :
				 errmsg("table \"%s\" has signatures that cannot be compared with others", table),
			 look_at_found(check, &shown) ?
				 errdetail("The signatures of rows %s and %s have different shapes or schemes.",
						   show_key(rule, check->found_key), show_key(rule, check->row_key)) :
				 0,
			 errhint("Make all signatures of column \"%s\" alike, for instance by giving the "
					 "column the type minhash(512).",
					 rule->column_name)));
}
