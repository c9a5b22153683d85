/*
 * group_statements.c: the statements that keep groups, as the current user.
 *
 * In them t is a row that is updated, m a member of a group, l a leader, v a verdict.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "rights.h"

/* ---- Text --------------------------------------------------------------------------------- */

/* Returns the type of keys, below a domain. */
static Oid
key_type(const GuardRule *rule)
{
	Oid table = rule->side[0].table;

	return getBaseType(get_atttype(table, get_attnum(table, rule->group_key)));
}

/* Returns a column of a row, quoted where needed. */
static const char *
column_of(const char *row, const char *column)
{
	return psprintf("%s.%s", row, quote_identifier(column));
}

/* Returns that two expressions of the type of keys are equal. */
static const char *
same_key(const GuardRule *rule, const char *left, const char *right)
{
	return guard_equality(left, key_type(rule), right);
}

/*
 * Returns that a row is equal to parameters from a number on, in the columns of the option within,
 * as conditions that each begin with AND.
 */
static const char *
same_scope(const GuardRule *rule, const char *row, int first)
{
	Oid table = rule->side[0].table;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < rule->withins; i++)
	{
		const char *name = rule->within[i].name;

		if (rule->within[i].span == NULL)
			appendStringInfo(&text, " AND %s",
							 guard_equality(column_of(row, name),
											getBaseType(get_atttype(table,
																	get_attnum(table, name))),
											psprintf("$%d", first + i)));
	}
	return text.data;
}

/* The parameters of a statement: keys, and the values of the columns of the option within. */
typedef struct Parameters
{
	int count;
	Oid *type;
	Datum *value;
} Parameters;

/*
 * Returns the parameters of a statement about rows that are compared with the row of the check;
 * its own go first.  Without value, there are no such rows.
 */
static Parameters
parameters(const GuardCheck *check, TupleTableSlot *row, int own)
{
	const GuardRule *rule = check->rule;
	Parameters result = {own + rule->withins, palloc((own + rule->withins) * sizeof(Oid)),
						 palloc((own + rule->withins) * sizeof(Datum))};
	bool any_null = false;

	for (int i = 0; i < own; i++)
		result.type[i] =
			TupleDescAttr(row->tts_tupleDescriptor, check->place->group_key - 1)->atttypid;
	for (int i = 0; i < rule->withins; i++)
	{
		bool is_null;

		result.type[own + i] =
			TupleDescAttr(row->tts_tupleDescriptor, check->place->within[i] - 1)->atttypid;
		result.value[own + i] = slot_getattr(row, check->place->within[i], &is_null);
		any_null |= is_null;
	}
	if (any_null)
		result.value = NULL;
	return result;
}

/* Returns the guarded table, with its partitions but without tables that inherit from it. */
static const char *
guarded_table(const GuardRule *rule)
{
	Oid table = rule->side[0].table;

	return psprintf("%s%s", get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
					guard_qualified(table));
}

/* Returns the condition that a row leads its group; all its names are found in pg_catalog. */
const char *
guard_leader_condition(const GuardRule *rule)
{
	const char *group = quote_identifier(rule->group);
	const char *key = quote_identifier(rule->group_key);
	Oid type = key_type(rule);
	Oid left;
	Oid right;

	op_input_types(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr, &left, &right);
	return left == type && type < FirstGenbkiObjectId ? psprintf("%s = %s", group, key) :
														guard_equality(group, type, key);
}

/*
 * Returns an UPDATE that places the rows m again that satisfy a condition, in the order of their
 * keys; `before` goes before the table of m, and is otherwise "".  It joins by the primary key, so
 * that it also finds the newest version of a row.
 */
static const char *
place_again(const GuardRule *rule, const char *before, const char *condition)
{
	const GuardSide *side = &rule->side[0];
	StringInfoData columns;
	StringInfoData join;

	initStringInfo(&columns);
	initStringInfo(&join);
	for (int i = 0; i < side->keys; i++)
	{
		Oid type = getBaseType(get_atttype(side->table, get_attnum(side->table, side->key[i])));

		appendStringInfo(&columns, "%s%s", i > 0 ? ", " : "", column_of("m", side->key[i]));
		appendStringInfo(&join, "%s%s", i > 0 ? " AND " : "",
						 guard_equality(column_of("t", side->key[i]), type,
										column_of("o", side->key[i])));
	}
	return psprintf("UPDATE %s AS t SET %s = NULL FROM (SELECT %s FROM %s%s AS m WHERE %s "
					"ORDER BY %s OFFSET 0) AS o WHERE %s",
					guarded_table(rule), quote_identifier(rule->group), columns.data, before,
					guarded_table(rule), condition, column_of("m", rule->group_key), join.data);
}

/*
 * Executes a statement with a plan that keeps the order of rows, and that looks few of them up by
 * their keys, however small the tables were when it was made.
 */
void
guard_execute_in_order(SPIPlanPtr plan, Datum *values, int expected)
{
	int settings = NewGUCNestLevel();

	set_locally("enable_hashjoin", "off");
	set_locally("enable_mergejoin", "off");
	set_locally("enable_material", "off");
	guard_execute(plan, values, expected);
	AtEOXact_GUC(false, settings);
}

/* ---- A leader that goes ----------------------------------------------------------------------- */

/* Opens an index of a table whose first column is that of groups, or returns NULL. */
static Relation
open_member_index(Relation table, AttrNumber group)
{
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

/* Is there an index of the groups of a table? */
bool
guard_has_member_index(const GuardRule *rule)
{
	Oid oid = rule->side[0].table;
	Relation table = table_open(oid, AccessShareLock);
	Relation index = open_member_index(table, get_attnum(oid, rule->group));
	bool found = index != NULL;

	if (found)
		index_close(index, AccessShareLock);
	table_close(table, NoLock);
	return found;
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
	appendStringInfo(&text, "CREATE INDEX ON %s (%s", guard_qualified(rule->side[0].table),
					 quote_identifier(rule->group));
	for (int i = 0; rule->side[0].keys > 1 && i < rule->withins; i++)
		if (rule->within[i].span == NULL)
			appendStringInfo(&text, ", %s", quote_identifier(rule->within[i].name));
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Sets the keys of a scan for the rows of a group; returns how many. */
static int
set_group_keys(const GuardCheck *check, const GuardPlace *place, Relation index, ScanKey key,
			   const Datum *group)
{
	int keys = 0;

	for (int column = 0; column < IndexRelationGetNumberOfKeyAttributes(index); column++)
	{
		Oid type = index->rd_opcintype[column];
		const Datum *value = column == 0 ? group : NULL;

		for (int i = 0; column > 0 && i < check->rule->withins; i++)
			if (check->rule->within[i].span == NULL &&
				index->rd_index->indkey.values[column] == place->within[i])
				value = &group[1 + i];
		if (value != NULL)
			ScanKeyEntryInitialize(&key[keys++], 0, column + 1, BTEqualStrategyNumber, type,
								   index->rd_indcollation[column],
								   get_opcode(get_opfamily_member(index->rd_opfamily[column], type,
																  type, BTEqualStrategyNumber)),
								   *value);
	}
	return keys;
}

/* Is a row equal to values in the columns of the option within? */
static bool
is_in_scope(const GuardCheck *check, const GuardPlace *place, TupleTableSlot *row,
			const Datum *values)
{
	for (int i = 0; i < check->rule->withins; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row->tts_tupleDescriptor, place->within[i] - 1);
		TypeCacheEntry *type =
			lookup_type_cache(getBaseType(attribute->atttypid), TYPECACHE_EQ_OPR_FINFO);
		bool is_null;
		Datum value = slot_getattr(row, place->within[i], &is_null);

		if (check->rule->within[i].span == NULL &&
			(is_null ||
			 !DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, attribute->attcollation, value,
											 values[i]))))
			return false;
	}
	return true;
}

/*
 * Is there a row of a group in a table that does not lead it, and that no command of this
 * transaction from `since` on has made?  The values are the group and its scope.
 */
static bool
has_members(GuardCheck *check, Relation table, const Datum *values, CommandId since)
{
	GuardPlace *place = guard_place(check->rule, table);
	Relation index = open_member_index(table, place->group);
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
	keys = set_group_keys(check, place, index, key, values);
	scan = compat_index_beginscan(table, index, SnapshotSelf, keys, 0);
	index_rescan(scan, key, keys, NULL, 0);
	while (!found && index_getnext_slot(scan, ForwardScanDirection, row))
	{
		CommandId made = guard_command_of(row);

		CHECK_FOR_INTERRUPTS();
		found = (made == InvalidCommandId || made < since) && !guard_leads(place, row) &&
			is_in_scope(check, place, row, values + 1);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	index_close(index, NoLock);
	return found;
}

/* Has any table that is searched such a row? */
static bool
any_has_members(GuardCheck *check, const Datum *values, CommandId since)
{
	ListCell *cell;

	foreach (cell, check->trigger->tables)
	{
		Relation table = table_open(lfirst_oid(cell), AccessShareLock);
		bool found = has_members(check, table, values, since);

		table_close(table, NoLock);
		if (found)
			return true;
	}
	return false;
}

/* Raises an error if members of a group were left behind that was handed on by a command. */
static void
check_none_is_left(GuardCheck *check, const Datum *values, CommandId since)
{
	const char *table = get_rel_name(check->rule->side[0].table);

	if (!any_has_members(check, values, since))
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
					   check->rule->group),
			 errhint("Let a role do it that sees and may update all rows of table \"%s\".",
					 table)));
}

/*
 * Places the members of a group again, whose leader has gone or changed, if there are any that no
 * command from `since` on has placed.  It is a group of rows compared with the row of the check.
 */
void
guard_hand_on(GuardCheck *check, Datum key, CommandId since)
{
	GuardRule *rule = check->rule;
	Oid table = rule->side[0].table;
	Parameters all = parameters(check, check->row, 1);

	if (all.value == NULL)
		return;
	all.value[0] = key;
	if (!any_has_members(check, all.value, since))
		return;
	guard_check_right(rule, table, get_attnum(table, rule->group), ACL_UPDATE, OPTION_RECORD_IN);
	SPI_connect();
	if (rule->hand_on == NULL)
		rule->hand_on =
			guard_prepare(place_again(rule, "",
									  psprintf("%s AND NOT %s%s",
											   same_key(rule, column_of("m", rule->group), "$1"),
											   same_key(rule, column_of("m", rule->group_key),
														"$1"),
											   same_scope(rule, "m", 2))),
						  all.count, all.type);
	CommandCounterIncrement();
	since = GetCurrentCommandId(true);
	guard_place_again(rule, rule->hand_on, all.value, &key);
	SPI_finish();
	CommandCounterIncrement();
	check_none_is_left(check, all.value, since);
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

/* Returns the query of the keys that are judged with the key $1, as columns k and same. */
static const char *
judged(const GuardRule *rule)
{
	const char *verdicts = guard_qualified(rule->verdicts);
	const char *half = "SELECT v.%s AS k, v.same FROM %s AS v WHERE %s";

	return psprintf("(%s UNION ALL %s)", psprintf(half, "b", verdicts, same_key(rule, "v.a", "$1")),
					psprintf(half, "a", verdicts, same_key(rule, "v.b", "$1")));
}

/* May a row not join a group? */
static bool
is_barred(const GuardCheck *check, Datum group, bool by_value, int16 length)
{
	for (int i = 0; i < check->barred; i++)
		if (datum_image_eq(group, check->bar[i], by_value, length))
			return true;
	return false;
}

/* Returns the parameters of a statement about verdicts on a row: $1 a key, $2 a choice, $3 a group. */
static Parameters
judged_parameters(const GuardCheck *check, Datum key, bool choice, Datum group)
{
	Parameters all = parameters(check, check->row, 3);

	all.type[1] = BOOLOID;
	if (all.value == NULL)
		return all;
	all.value[0] = key;
	all.value[1] = BoolGetDatum(choice);
	all.value[2] = group;
	return all;
}

/* Prepares the query of guard_find_judged(). */
static SPIPlanPtr
prepare_bound(const GuardRule *rule, const Parameters *all)
{
	const char *group = column_of("m", rule->group);
	const char *key = column_of("m", rule->group_key);
	const char *led =
		psprintf("EXISTS (SELECT FROM %s AS l WHERE %s AND %s%s)", guarded_table(rule),
				 same_key(rule, column_of("l", rule->group_key), group),
				 same_key(rule, column_of("l", rule->group), group), same_scope(rule, "l", 4));

	return guard_prepare(psprintf("SELECT DISTINCT %s FROM %s AS j JOIN %s AS m ON %s "
								  "WHERE j.same OPERATOR(pg_catalog.=) $2 AND NOT %s "
								  "AND (NOT %s OR %s) AND %s%s ORDER BY 1",
								  group, judged(rule), guarded_table(rule),
								  same_key(rule, key, "j.k"), same_key(rule, key, "$1"),
								  same_key(rule, group, "$3"), same_key(rule, key, "$3"), led,
								  same_scope(rule, "m", 4)),
						 all->count, all->type);
}

/*
 * Finds the groups of the rows that are judged the same as the row of a key, or different from
 * it, in their order; returns how many.  A group that nobody leads binds nobody; nor do members
 * of `led`, the group that is handed on, or the one that the row itself leads.
 */
int
guard_find_judged(GuardCheck *check, bool same, Datum key, Datum led, Datum **groups)
{
	GuardRule *rule = check->rule;
	Parameters all = judged_parameters(check, key, same, led);
	MemoryContext context = CurrentMemoryContext;
	int16 length;
	bool by_value;
	int count = 0;

	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_UNLESS);
	SPI_connect();
	if (rule->bound == NULL)
		rule->bound = prepare_bound(rule, &all);
	guard_execute_in_order(rule->bound, all.value, SPI_OK_SELECT);
	get_typlenbyval(all.type[0], &length, &by_value);
	*groups = MemoryContextAlloc(context, (SPI_processed + 1) * sizeof(Datum));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool is_null;
		Datum group = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null);
		MemoryContext old_context = MemoryContextSwitchTo(context);

		(*groups)[count] = datumCopy(group, by_value, length);
		MemoryContextSwitchTo(old_context);
		/* A group with a row judged different takes the row in no case. */
		if (!same || !is_barred(check, (*groups)[count], by_value, length))
			count++;
	}
	SPI_finish();
	return count;
}

/* Prepares the statement of guard_follow_judged(). */
static SPIPlanPtr
prepare_follow(const GuardRule *rule, const Parameters *all)
{
	const char *group = column_of("m", rule->group);
	const char *key = column_of("m", rule->group_key);
	const char *leads = same_key(rule, group, key);
	const char *is_in = same_key(rule, group, "$3");

	return guard_prepare(place_again(rule, psprintf("%s AS j CROSS JOIN ", judged(rule)),
									 psprintf("%s AND CASE WHEN $2 THEN j.same AND NOT %s "
											  "WHEN j.same THEN %s AND NOT %s ELSE %s END%s",
											  same_key(rule, key, "j.k"), is_in, is_in, leads,
											  leads, same_scope(rule, "m", 4))),
						 all->count, all->type);
}

/*
 * Places rows again after a row has got a group: those judged the same that are in other groups.
 * Or after it has lost one: the members judged the same, which may be there for that row alone,
 * and all leaders judged different, which that row alone may have kept out.
 */
void
guard_follow_judged(GuardCheck *check, bool got, TupleTableSlot *row)
{
	GuardRule *rule = check->rule;
	Parameters all;
	bool no_key;
	bool no_group;

	check->row = row;
	all = judged_parameters(check, slot_getattr(row, check->place->group_key, &no_key), got,
							slot_getattr(row, check->place->group, &no_group));
	if (all.value == NULL || no_key || no_group)
		return;
	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_UNLESS);
	SPI_connect();
	if (rule->follow == NULL)
		rule->follow = prepare_follow(rule, &all);
	guard_execute_in_order(rule->follow, all.value, SPI_OK_UPDATE);
	SPI_finish();
}

/* Does a row lead a group, of those compared with the row of the check? */
bool
guard_has_leader(GuardCheck *check, Datum group)
{
	GuardRule *rule = check->rule;
	Parameters all = parameters(check, check->row, 1);
	bool found;

	if (all.value == NULL)
		return false;
	all.value[0] = group;
	SPI_connect();
	if (rule->leader == NULL)
		rule->leader = guard_prepare(psprintf("SELECT FROM %s AS l WHERE %s AND %s%s LIMIT 1",
											  guarded_table(rule),
											  same_key(rule, column_of("l", rule->group_key), "$1"),
											  same_key(rule, column_of("l", rule->group), "$1"),
											  same_scope(rule, "l", 2)),
									 all.count, all.type);
	guard_execute(rule->leader, all.value, SPI_OK_SELECT);
	found = SPI_processed > 0;
	SPI_finish();
	return found;
}

/* ---- Groups of rows that are there ------------------------------------------------------------------ */

/* Returns the condition that neardup_guard_violations() lists a row m. */
static const char *
is_listed(const GuardRule *rule)
{
	const GuardSide *side = &rule->side[0];
	const char *schema = get_namespace_name(get_func_namespace(rule->function));
	StringInfoData format;
	StringInfoData keys;

	initStringInfo(&format);
	initStringInfo(&keys);
	for (int i = 0; i < side->keys; i++)
	{
		appendStringInfoString(&format, i > 0 ? ", %s" : "%s");
		appendStringInfo(&keys, ", %s", column_of("m", side->key[i]));
	}
	return psprintf("pg_catalog.format('%s'%s) OPERATOR(pg_catalog.=) ANY (SELECT v.row_key FROM "
					"%s.neardup_guard_violations(%u::pg_catalog.oid::pg_catalog.regclass) AS v WHERE v.guard OPERATOR(pg_catalog.=) %s::pg_catalog.name)",
					side->keys == 1 ? format.data : psprintf("(%s)", format.data), keys.data,
					quote_identifier(schema), side->table, quote_literal_cstr(rule->name));
}

/* Places all rows, or those that have no group or came in unchecked.  SPI must be connected. */
void
guard_fill_groups(GuardRule *rule, bool all)
{
	const char *condition =
		all ? "true" : psprintf("%s IS NULL OR %s", column_of("m", rule->group), is_listed(rule));
	SPIPlanPtr plan = guard_prepare(place_again(rule, "", condition), 0, NULL);

	if (all)
		guard_place_again(rule, plan, NULL, NULL);
	else
		guard_execute_in_order(plan, NULL, SPI_OK_UPDATE);
}
