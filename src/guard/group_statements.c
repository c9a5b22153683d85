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
 * keys.  It joins by the primary key, so that it also finds the newest version of a row.
 */
static const char *
place_again(const GuardRule *rule, const char *condition)
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
	return psprintf("UPDATE %s AS t SET %s = NULL FROM (SELECT %s FROM %s AS m WHERE %s "
					"ORDER BY %s OFFSET 0) AS o WHERE %s",
					guarded_table(rule), quote_identifier(rule->group), columns.data,
					guarded_table(rule), condition, column_of("m", rule->group_key), join.data);
}

/* Executes an UPDATE of place_again(): a plan that keeps the order of the rows. */
static void
execute_in_order(SPIPlanPtr plan, Datum *values)
{
	int settings = NewGUCNestLevel();

	set_locally("enable_hashjoin", "off");
	set_locally("enable_mergejoin", "off");
	set_locally("enable_material", "off");
	guard_execute(plan, values, SPI_OK_UPDATE);
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

/* Is there a row of a group in a table that does not lead it? */
static bool
has_members(GuardCheck *check, Relation table, Datum key)
{
	GuardPlace *place = guard_place(check->rule, table);
	Relation index = open_member_index(table, place->group);
	TupleTableSlot *row;
	ScanKeyData equal;
	IndexScanDesc scan;
	bool found = false;

	if (index == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no index of its groups", RelationGetRelationName(table)),
				 errhint("Use CREATE INDEX ON %s (%s).",
						 guard_qualified(check->rule->side[0].table),
						 quote_identifier(check->rule->group))));
	row = table_slot_create(table, NULL);
	ScanKeyEntryInitialize(&equal, 0, 1, BTEqualStrategyNumber, index->rd_opcintype[0],
						   index->rd_indcollation[0],
						   get_opcode(get_opfamily_member(index->rd_opfamily[0],
														  index->rd_opcintype[0],
														  index->rd_opcintype[0],
														  BTEqualStrategyNumber)),
						   key);
	scan = compat_index_beginscan(table, index, SnapshotSelf, 1, 0);
	index_rescan(scan, &equal, 1, NULL, 0);
	while (!found && index_getnext_slot(scan, ForwardScanDirection, row))
		found = !guard_leads(place, row);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
	index_close(index, NoLock);
	return found;
}

/* Raises an error if members of a group were left behind that has lost its leader. */
static void
check_none_is_left(GuardCheck *check, Datum key)
{
	ListCell *cell;

	foreach (cell, check->trigger->tables)
	{
		Relation table = table_open(lfirst_oid(cell), AccessShareLock);
		bool left = has_members(check, table, key);

		table_close(table, NoLock);
		if (left && IsolationUsesXactSnapshot())
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access: a group has got members since this transaction began"),
					 errhint("Try the transaction again.")));
		if (left)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("the row leads a group with members that the current user may not update"),
					 errdetail("Guard \"%s\" hands the group on as the current user.",
							   check->rule->name),
					 errhint("Let a role do it that sees all rows of table \"%s\".",
							 get_rel_name(check->rule->side[0].table))));
	}
}

/* Places the members of a group again, whose leader has gone or changed. */
void
guard_hand_on(GuardCheck *check, Datum key)
{
	GuardRule *rule = check->rule;
	Oid table = rule->side[0].table;
	bool any = false;
	ListCell *cell;

	foreach (cell, check->trigger->tables)
	{
		Relation searched = table_open(lfirst_oid(cell), AccessShareLock);

		any |= has_members(check, searched, key);
		table_close(searched, NoLock);
	}
	if (!any)
		return;
	guard_check_right(rule, table, get_attnum(table, rule->group), ACL_UPDATE, OPTION_RECORD_IN);
	SPI_connect();
	if (rule->hand_on == NULL)
	{
		Oid type = get_atttype(table, get_attnum(table, rule->group_key));

		rule->hand_on =
			guard_prepare(place_again(rule,
									  psprintf("%s AND NOT %s",
											   same_key(rule, column_of("m", rule->group), "$1"),
											   same_key(rule, column_of("m", rule->group_key),
														"$1"))),
						  1, &type);
	}
	execute_in_order(rule->hand_on, &key);
	SPI_finish();
	CommandCounterIncrement();
	check_none_is_left(check, key);
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

/*
 * Returns the query of the keys that are judged with the key $1, as column k: the same if $2,
 * else different.
 */
static const char *
judged(const GuardRule *rule)
{
	const char *verdicts = guard_qualified(rule->verdicts);
	const char *half =
		"SELECT v.%s AS k FROM %s AS v WHERE %s AND v.same OPERATOR(pg_catalog.=) $2";

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

/*
 * Finds the groups of the rows that are judged the same as the row of a key, or different from
 * it, in their order; returns how many.  A group that has no leader binds nobody: `led` is the
 * group that is handed on, or the one that the row itself leads.
 */
int
guard_find_judged(GuardCheck *check, bool same, Datum key, Datum led, Datum **groups)
{
	GuardRule *rule = check->rule;
	Oid table = rule->side[0].table;
	Oid type = get_atttype(table, get_attnum(table, rule->group_key));
	Datum values[3] = {key, BoolGetDatum(same), led};
	MemoryContext context = CurrentMemoryContext;
	int16 length;
	bool by_value;
	int count = 0;

	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_UNLESS);
	SPI_connect();
	if (rule->bound == NULL)
	{
		Oid types[3] = {type, BOOLOID, type};
		const char *group = column_of("m", rule->group);

		rule->bound =
			guard_prepare(psprintf("SELECT DISTINCT %s FROM %s AS j JOIN %s AS m ON %s WHERE NOT %s "
								   "AND (NOT %s OR %s) AND %s IS NOT NULL ORDER BY 1",
								   group, judged(rule), guarded_table(rule),
								   same_key(rule, column_of("m", rule->group_key), "j.k"),
								   same_key(rule, column_of("m", rule->group_key), "$1"),
								   same_key(rule, group, "$3"),
								   same_key(rule, column_of("m", rule->group_key), "$3"), group),
						  3, types);
	}
	guard_execute(rule->bound, values, SPI_OK_SELECT);
	get_typlenbyval(type, &length, &by_value);
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

/* Places the rows again that are judged the same as a row and are in other groups. */
void
guard_follow_judged(GuardCheck *check, Datum key, Datum group)
{
	GuardRule *rule = check->rule;
	Oid table = rule->side[0].table;
	Datum values[3] = {key, BoolGetDatum(true), group};

	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_UNLESS);
	SPI_connect();
	if (rule->follow == NULL)
	{
		Oid type = get_atttype(table, get_attnum(table, rule->group_key));
		Oid types[3] = {type, BOOLOID, type};

		rule->follow =
			guard_prepare(place_again(rule,
									  psprintf("EXISTS (SELECT FROM %s AS j WHERE %s) AND NOT %s",
											   judged(rule),
											   same_key(rule, column_of("m", rule->group_key),
														"j.k"),
											   same_key(rule, column_of("m", rule->group), "$3"))),
						  3, types);
	}
	execute_in_order(rule->follow, values);
	SPI_finish();
}

/* Does a row lead a group? */
bool
guard_has_leader(GuardRule *rule, Datum group)
{
	Oid table = rule->side[0].table;
	Oid type = get_atttype(table, get_attnum(table, rule->group_key));
	bool found;

	SPI_connect();
	if (rule->leader == NULL)
		rule->leader = guard_prepare(psprintf("SELECT FROM %s AS l WHERE %s AND %s LIMIT 1",
											  guarded_table(rule),
											  same_key(rule, column_of("l", rule->group_key), "$1"),
											  same_key(rule, column_of("l", rule->group), "$1")),
									 1, &type);
	guard_execute(rule->leader, &group, SPI_OK_SELECT);
	found = SPI_processed > 0;
	SPI_finish();
	return found;
}

/* ---- Groups of rows that are there ------------------------------------------------------------------ */

/* Places the rows that have no group, or a group that no row leads.  SPI must be connected. */
void
guard_fill_groups(GuardRule *rule)
{
	const char *leader =
		psprintf("SELECT FROM %s AS l WHERE %s AND %s", guarded_table(rule),
				 same_key(rule, column_of("l", rule->group_key), column_of("m", rule->group)),
				 same_key(rule, column_of("l", rule->group), column_of("l", rule->group_key)));
	const char *statement =
		place_again(rule,
					psprintf("%s IS NULL OR NOT EXISTS (%s)", column_of("m", rule->group), leader));

	execute_in_order(guard_prepare(statement, 0, NULL), NULL);
}
