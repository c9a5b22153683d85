/*
 * group_statements.c: the statements that keep groups, as the current user.
 *
 * In them t is a row that is updated, m a member of a group, l a leader, j a verdict on a row.
 * The parameters are a key, a group, a choice, and the values of the columns of the option within.
 */
#include "guard/group.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "calls/objects.h"
#include "calls/progress.h"

/* The number of the first parameter of the option within. */
#define SCOPE 4

/* ---- Text --------------------------------------------------------------------------------- */

/* Returns a column of a row, quoted where needed. */
static const char *
column_of(const char *row, const char *column)
{
	return psprintf("%s.%s", row, quote_identifier(column));
}

/* Returns the condition that a row has a group. */
static const char *
in_group(const GuardRule *rule, const char *row, const char *group)
{
	return guard_comparison(column_of(row, rule->group), guard_key_type(rule->guarded), false,
							group);
}

/* Returns the condition that a row has a key. */
static const char *
has_key(const GuardRule *rule, const char *row, const char *key)
{
	return guard_comparison(column_of(row, rule->guarded->name), guard_key_type(rule->guarded),
							false, key);
}

/* Returns the conditions, each after AND, that a row is of those compared with the row of the check. */
static const char *
in_scope(const GuardCheck *check, const char *row)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < check->rule->withins; i++)
	{
		const GuardWithin *within = &check->rule->within[i];
		/* The names in an expression are those of the innermost query. */
		const char *value = within->column != NULL ?
			column_of(row, within->column) :
			psprintf("(SELECT %s FROM (SELECT %s.*) AS x)", within->text, row);

		if (within->scope)
			appendStringInfo(&text, " AND %s",
							 guard_comparison(value, check->place->within[i].type, false,
											  psprintf("$%d", SCOPE + i)));
	}
	return text.data;
}

/* Returns the guarded table, with its partitions but without tables that inherit from it. */
static const char *
guarded_table(const GuardRule *rule)
{
	Oid table = rule->guarded->oid;

	return psprintf("%s%s", get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
					guard_qualified(table));
}

/* Returns the condition that a row leads its group; all its names are found in pg_catalog. */
const char *
guard_leader_condition(const GuardRule *rule)
{
	const char *group = quote_identifier(rule->group);
	const char *key = quote_identifier(rule->guarded->name);
	Oid type = getBaseType(guard_key_type(rule->guarded));
	Oid left;
	Oid right;

	op_input_types(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr, &left, &right);
	return left == type && type < FirstGenbkiObjectId ? psprintf("%s = %s", group, key) :
														guard_comparison(group, type, false, key);
}

/* Returns the columns of the primary key of a row, with commas. */
static const char *
key_columns(const GuardRule *rule, const char *row)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < rule->guarded->keys; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", column_of(row, rule->guarded->key[i]));
	return text.data;
}

/* Returns the condition that the rows t and o have one primary key. */
static const char *
is_row(const GuardRule *rule)
{
	const GuardTable *table = rule->guarded;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < table->keys; i++)
	{
		Oid type = get_atttype(table->oid, get_attnum(table->oid, table->key[i]));

		appendStringInfo(&text, "%s%s", i > 0 ? " AND " : "",
						 guard_comparison(column_of("t", table->key[i]), type, false,
										  column_of("o", table->key[i])));
	}
	return text.data;
}

/*
 * Returns an UPDATE that places the rows m again that satisfy a condition, in the order of their
 * keys.  It joins by the primary key, so that it also finds the newest version of a row.
 */
static const char *
place_again(const GuardRule *rule, const char *condition)
{
	return psprintf("UPDATE %s AS t SET %s = NULL FROM (SELECT %s FROM %s AS m WHERE %s "
					"ORDER BY %s OFFSET 0) AS o WHERE %s",
					guarded_table(rule), quote_identifier(rule->group), key_columns(rule, "m"),
					guarded_table(rule), condition, column_of("m", rule->guarded->name),
					is_row(rule));
}

/*
 * Returns the parameters of a statement about rows that are compared with the row of the check.
 * If any is NULL, there are no such rows.
 */
static GuardParameters
parameters(GuardCheck *check, Datum key, Datum group, bool choice)
{
	GuardParameters list = guard_parameters(SCOPE + check->rule->withins);
	Oid type = guard_key_type(check->rule->guarded);

	guard_add_value(&list, type, (NullableDatum){key});
	guard_add_value(&list, type, (NullableDatum){group});
	guard_add_value(&list, BOOLOID, (NullableDatum){BoolGetDatum(choice)});
	for (int i = 0; i < check->rule->withins; i++)
	{
		const GuardTerm *term = &check->place->within[i];

		/* Others are not used; the value of one may be NULL, and a log of parameters would print it. */
		if (check->rule->within[i].scope)
			guard_add_value(&list, term->type, guard_get(check, check->row, term));
		else
			guard_add_value(&list, BOOLOID, (NullableDatum){0});
	}
	return list;
}

/* ---- The members of a group ------------------------------------------------------------------- */

/* Opens an index of a table whose first column is that of groups, or returns NULL. */
static Relation
open_member_index(const GuardRule *rule, Relation table)
{
	AttrNumber group = get_attnum(RelationGetRelid(table), rule->group);
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indisvalid &&
			index->rd_index->indkey.values[0] == group && RelationGetIndexPredicate(index) == NIL)
			return index;
		index_close(index, AccessShareLock);
	}
	return NULL;
}

/* Returns whether there is an index of the groups of a table. */
bool
guard_has_member_index(const GuardRule *rule)
{
	Relation table = table_open(rule->guarded->oid, AccessShareLock);
	Relation index = open_member_index(rule, table);

	if (index != NULL)
		index_close(index, AccessShareLock);
	table_close(table, NoLock);
	return index != NULL;
}

/*
 * Returns the statement that creates the index of groups.  If the key has several columns, rows
 * that are not compared with each other may have groups of one number.
 */
const char *
guard_member_index_statement(const GuardRule *rule)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s (%s", guard_qualified(rule->guarded->oid),
					 quote_identifier(rule->group));
	for (int i = 0; rule->guarded->keys > 1 && i < rule->withins; i++)
		if (rule->within[i].scope && rule->within[i].column != NULL)
			appendStringInfo(&text, ", %s", quote_identifier(rule->within[i].column));
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Sets the keys of a scan for the rows of a group and a scope; returns how many. */
static int
set_group_keys(const GuardCheck *check, const GuardPlace *place, Relation index, ScanKey key,
			   Datum group, const Datum *scope)
{
	int keys = 0;

	for (int column = 0; column < IndexRelationGetNumberOfKeyAttributes(index); column++)
	{
		Oid type = index->rd_opcintype[column];
		const Datum *value = column == 0 ? &group : NULL;

		for (int i = 0; column > 0 && i < check->rule->withins; i++)
			if (check->rule->within[i].scope &&
				guard_index_holds(index, column, place->within[i].expression))
				value = &scope[i];
		if (value != NULL)
			ScanKeyEntryInitialize(&key[keys++], 0, column + 1, BTEqualStrategyNumber, type,
								   index->rd_indcollation[column],
								   get_opcode(get_opfamily_member(index->rd_opfamily[column], type,
																  type, BTEqualStrategyNumber)),
								   *value);
	}
	return keys;
}

/* Returns whether a row equals some values in the terms of the option within. */
static bool
is_in_scope(GuardCheck *check, const GuardPlace *place, TupleTableSlot *row, const Datum *scope)
{
	for (int i = 0; i < check->rule->withins; i++)
	{
		NullableDatum value = guard_get(check, row, &place->within[i]);

		if (check->rule->within[i].scope &&
			(value.isnull || !guard_is_equal(&place->within[i], value.value, scope[i])))
			return false;
	}
	return true;
}

/*
 * Returns whether a table has a row that leads a group, or else a member that no command of this
 * transaction from `since` on has made.
 */
static bool
group_has_rows(GuardCheck *check, Relation table, Datum group, const Datum *scope, bool leads,
			   CommandId since)
{
	GuardPlace *place = guard_place(check->rule, table);
	Relation index = open_member_index(check->rule, table);
	TupleTableSlot *row;
	ScanKeyData key[INDEX_MAX_KEYS];
	int keys;
	IndexScanDesc scan;
	bool found = false;

	if (index == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no index of its groups", RelationGetRelationName(table)),
				 errhint("Use %s.", guard_member_index_statement(check->rule))));
	row = table_slot_create(table, NULL);
	keys = set_group_keys(check, place, index, key, group, scope);
	scan = compat_index_beginscan(table, index, GetActiveSnapshot(), keys, 0);
	index_rescan(scan, key, keys, NULL, 0);
	while (!found && index_getnext_slot(scan, ForwardScanDirection, row))
	{
		CommandId made = guard_command_of(row);

		CHECK_FOR_INTERRUPTS();
		found = (made == InvalidCommandId || made < since) &&
			guard_leads(check, place, row) == leads && is_in_scope(check, place, row, scope);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	index_close(index, NoLock);
	return found;
}

/*
 * Returns whether any table that is searched has such a row of the parameters' group and scope.  It
 * looks in one snapshot, new if the check has none: a member may be updated in another column meanwhile.
 */
static bool
any_has_rows(GuardCheck *check, const GuardParameters *list, bool leads, CommandId since)
{
	bool found = false;
	ListCell *cell;

	CommandCounterIncrement();
	PushActiveSnapshot(check->snapshot != NULL ? check->snapshot : GetLatestSnapshot());
	foreach (cell, check->place->searched)
	{
		Relation table = table_open(lfirst_oid(cell), AccessShareLock);

		found = found ||
			group_has_rows(check, table, list->value[0], list->value + SCOPE - 1, leads, since);
		table_close(table, NoLock);
	}
	PopActiveSnapshot();
	return found;
}

/* Returns whether a row that is compared with the row of the check leads a group. */
bool
guard_has_leader(GuardCheck *check, Datum group)
{
	GuardParameters list = parameters(check, group, group, false);

	return !list.any_null && any_has_rows(check, &list, true, InvalidCommandId);
}

/*
 * Places the members of a group again, whose leader has gone or changed, if there are any that no
 * command from `since` on has placed.  It is a group of rows compared with the row of the check.
 */
void
guard_hand_on(GuardCheck *check, Datum key, CommandId since)
{
	GuardRule *rule = check->rule;
	Oid table = rule->guarded->oid;
	GuardParameters list = parameters(check, key, key, false);

	if (list.any_null || !any_has_rows(check, &list, false, since))
		return;
	guard_check_right(rule, table, get_attnum(table, rule->group), ACL_UPDATE, OPTION_GROUP_COLUMN);
	since = GetCurrentCommandId(true);
	SPI_connect();
	if (rule->hand_on == NULL)
		rule->hand_on =
			guard_prepare(rule,
						  place_again(rule,
									  psprintf("%s AND NOT %s%s", in_group(rule, "m", "$1"),
											   has_key(rule, "m", "$1"), in_scope(check, "m"))),
						  &list);
	guard_place_again(rule, rule->hand_on, &list, PLACING_MEMBERS, key);
	SPI_finish();
	if (!any_has_rows(check, &list, false, since))
		return;
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access: a group has got members since this transaction began"),
				 errhint("Try the transaction again.")));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("the row leads a group with members that the current user may not update"),
			 errdetail("The members get other leaders in column \"%s\", as the current user.",
					   rule->group),
			 errhint("Let a role do it that sees and may update all rows of table \"%s\".",
					 get_rel_name(table))));
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

/*
 * Returns a query of the groups of the rows that are judged with the row $1, and whether as the same.
 * Nobody is bound by a group that nobody leads, by members of the row itself, and by rows that
 * follow it in a statement that places the members of $2 again or, if $3, all rows.
 */
static const char *
bound(const GuardCheck *check)
{
	const GuardRule *rule = check->rule;
	const char *group = column_of("m", rule->group);
	const char *key = column_of("m", rule->guarded->name);

	return psprintf("SELECT DISTINCT %s, j.same FROM %s AS j JOIN %s AS m ON %s "
					"WHERE j.same IS NOT NULL AND NOT %s AND NOT %s AND (%s OR NOT ($3 OR %s AND NOT %s)) "
					"AND EXISTS (SELECT FROM %s AS l WHERE %s AND %s%s)%s ORDER BY 1",
					group, guard_verdicts(rule), guarded_table(rule),
					guard_names_key(rule, "j.k", guard_judged_type(rule), rule->guarded, key),
					has_key(rule, "m", "$1"), in_group(rule, "m", "$1"),
					guard_comparison(key, guard_key_type(rule->guarded), true, "$1"),
					in_group(rule, "m", "$2"), has_key(rule, "m", "$2"), guarded_table(rule),
					has_key(rule, "l", group), in_group(rule, "l", group), in_scope(check, "l"),
					in_scope(check, "m"));
}

/*
 * Finds the groups to which verdicts bind the row of a key, in their order, while the members of the
 * group `gone`, or else the row's own key, or all rows are placed again.
 */
GuardJudged
guard_find_judged(GuardCheck *check, Datum key, Datum gone, bool all)
{
	GuardRule *rule = check->rule;
	GuardParameters list = parameters(check, key, gone, all);
	GuardJudged judged = {0};
	MemoryContext context = CurrentMemoryContext;

	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_VERDICTS);
	if (list.any_null)
		return judged;
	SPI_connect();
	if (rule->bound == NULL)
		rule->bound = guard_prepare(rule, bound(check), &list);
	(void) guard_run(rule->bound, &list, SPI_OK_SELECT, true);
	context = MemoryContextSwitchTo(context);
	judged.group = palloc((SPI_processed + 1) * sizeof(Datum));
	judged.same = palloc(SPI_processed + 1);
	for (; judged.count < SPI_processed; judged.count++)
	{
		HeapTuple row = SPI_tuptable->vals[judged.count];
		TupleDesc row_type = SPI_tuptable->tupdesc;
		bool is_null;

		judged.group[judged.count] =
			guard_copy(&check->place->group, SPI_getbinval(row, row_type, 1, &is_null));
		judged.same[judged.count] = DatumGetBool(SPI_getbinval(row, row_type, 2, &is_null));
	}
	MemoryContextSwitchTo(context);
	SPI_finish();
	return judged;
}

/* Returns whether verdicts bind a row to a group, or keep it out. */
bool
guard_judges(const GuardTerm *group, const GuardJudged *judged, Datum value, bool same)
{
	for (int i = 0; i < judged->count; i++)
		if (judged->same[i] == same && guard_is_same(group, value, judged->group[i]))
			return true;
	return false;
}

/* ---- Groups of rows that are there ------------------------------------------------------------------ */

/* Returns the condition that neardup_guard_violations() lists a row m. */
static const char *
is_listed(const GuardRule *rule)
{
	return psprintf("pg_catalog.format('%%s', %s(%s)) OPERATOR(pg_catalog.=) ANY (SELECT v.row_key FROM "
					"%s.neardup_guard_violations(%u::pg_catalog.oid::pg_catalog.regclass) AS v "
					"WHERE v.guard OPERATOR(pg_catalog.=) %s::pg_catalog.name)",
					rule->guarded->keys > 1 ? "ROW" : "", key_columns(rule, "m"),
					guard_extension_schema(rule), rule->guarded->oid,
					quote_literal_cstr(rule->name));
}

/*
 * Returns an UPDATE that gives all rows the groups that they would get one after another, in the
 * order of their keys: the stars of the batch.  Rows are numbered, since keys may be equal in
 * different scopes.
 */
static const char *
place_by_batch(const GuardRule *rule)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	const char *numbered =
		psprintf("(SELECT m.*, pg_catalog.row_number() OVER (ORDER BY %s, %s) AS \"row number\" FROM %s AS m) AS m",
				 column_of("m", rule->guarded->name), key_columns(rule, "m"), guarded_table(rule));
	StringInfoData query;
	StringInfoData names;
	StringInfoData unknown;

	initStringInfo(&query);
	initStringInfo(&names);
	initStringInfo(&unknown);
	appendStringInfo(&query, "SELECT \"row number\", %s", rule->signature);
	for (int i = 0; i < rule->withins; i++)
	{
		appendStringInfo(&query, ", %s AS \"within %d\"", rule->within[i].text, i);
		appendStringInfo(&names, "%s\"within %d\"", i > 0 ? ", " : "", i);
		if (rule->within[i].unknown)
			appendStringInfo(&unknown, "%s\"within %d\"", unknown.len > 0 ? ", " : "", i);
	}
	appendStringInfo(&query, " FROM %s WHERE %s ORDER BY 1", numbered,
					 condition != NULL ? condition : "true");
	return psprintf("WITH n AS MATERIALIZED (SELECT %s, m.\"row number\" FROM %s) "
					"UPDATE %s AS t SET %s = %s FROM n AS o LEFT JOIN %s.neardup_clusters(%s::pg_catalog.text, "
					"%.17g::pg_catalog.float8, nearest => true, within => %s::pg_catalog.name[], unknown => %s::pg_catalog.name[]) AS c ON c.id = o.\"row number\" "
					"JOIN n AS l ON l.\"row number\" = coalesce(c.keeper, o.\"row number\") WHERE %s AND (%s) IS NOT TRUE",
					key_columns(rule, "m"), numbered, guarded_table(rule),
					quote_identifier(rule->group), column_of("l", rule->guarded->name),
					guard_extension_schema(rule), quote_literal_cstr(query.data), rule->threshold,
					quote_literal_cstr(psprintf("{%s}", names.data)),
					quote_literal_cstr(psprintf("{%s}", unknown.data)), is_row(rule),
					in_group(rule, "t", column_of("l", rule->guarded->name)));
}

/* Returns whether the session's search_path reads the expressions of a rule as the guard does. */
static bool
are_read_alike(const GuardRule *rule, const GuardPlace *place, Relation table)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	bool alike =
		equal(guard_parse(table, OPTION_SIGNATURE, rule->signature), place->signature.expression);

	for (int i = 0; i < rule->withins; i++)
		alike &= equal(guard_parse(table, OPTION_WITHIN, rule->within[i].text),
					   place->within[i].expression);
	return alike &&
		(condition == NULL ||
		 equal(make_ands_explicit((List *) guard_parse(table, OPTION_CONDITION, condition)),
			   place->condition.expression));
}

/* Returns whether the batch gives rows the groups that they would get one after another. */
static bool
is_batchable(GuardRule *rule)
{
	Relation table = table_open(rule->guarded->oid, AccessShareLock);
	const GuardPlace *place = guard_place(rule, table);
	Oid type = place->signature.type;
	bool can = type == extension_type(rule->function, "minhash") ||
		type == extension_type(rule->function, "simhash") ||
		type == extension_type(rule->function, "shingles");

	can = can && are_read_alike(rule, place, table);
	table_close(table, NoLock);
	for (int i = 0; i < rule->withins; i++)
		can &= rule->within[i].span == NULL &&
			OidIsValid(lookup_type_cache(place->within[i].type, TYPECACHE_HASH_EXTENDED_PROC)
						   ->hash_extended_proc);
	return can && rule->measure == MEASURE_RESEMBLANCE && rule->unless == NULL &&
		!OidIsValid(rule->verdicts);
}

/* Places all rows, or those that have no group or came in unchecked.  SPI must be connected. */
void
guard_fill_groups(GuardRule *rule, bool all)
{
	GuardParameters none = {0};
	bool batch = all && is_batchable(rule);
	const char *text = batch ?
		place_by_batch(rule) :
		place_again(rule,
					all ?
						"true" :
						psprintf("%s IS NULL OR %s", column_of("m", rule->group), is_listed(rule)));
	SPIPlanPtr plan = guard_prepare(rule, text, &none);

	if (!all)
	{
		(void) guard_run(plan, &none, SPI_OK_UPDATE, true);
		return;
	}
	if (!batch)
	{
		progress_begin();
		progress_phase(PHASE_CLUSTERING);
	}
	guard_place_again(rule, plan, &none, batch ? PLACING_GIVEN : PLACING_ALL, (Datum) 0);
	if (!batch)
		progress_end();
}
