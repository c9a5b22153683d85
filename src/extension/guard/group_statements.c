/*
 * group_statements.c: the statements that keep groups, as the current user.
 *
 * In them t is a row that is updated, m a member of a group, l a leader, v a verdict.  The
 * parameters are a key, a group, a choice, and the values of the option within that are a row's scope.
 */
#include "guard/group.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "calls/objects.h"
#include "calls/progress.h"

/* The number of the first parameter of the scope. */
#define SCOPE 4

/* ---- Text --------------------------------------------------------------------------------- */

/* Returns a column of a row, quoted where needed. */
static const char *
column_of(const char *row, const char *column)
{
	return psprintf("%s.%s", row, quote_identifier(column));
}

/* Returns the condition that the group or the key of a row has a value. */
static const char *
has_value(const GuardRule *rule, const char *row, const char *column, const char *value)
{
	return guard_comparison(column_of(row, column), rule->guarded->type, false, value);
}

/* Returns the conditions, each after AND, that a row is of those compared with the row of the check. */
static const char *
in_scope(const GuardCheck *check, const char *row)
{
	int parameter = SCOPE;
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
							 guard_comparison(value, check->leaf->within[i].type->type_id, false,
											  psprintf("$%d", parameter++)));
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
	Oid type = getBaseType(rule->guarded->type);
	Oid left;
	Oid right;

	op_input_types(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr, &left, &right);
	return left == type && type < FirstGenbkiObjectId ? psprintf("%s = %s", group, key) :
														guard_comparison(group, type, false, key);
}

/* Returns the columns of the primary key of a row m, or the condition that rows t and o have the same. */
static const char *
key_columns(const GuardRule *rule, bool condition)
{
	const GuardTable *table = rule->guarded;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < table->keys; i++)
	{
		const char *key = table->key[i];
		const char *part = !condition ?
			column_of("m", key) :
			guard_comparison(column_of("t", key),
							 get_atttype(table->oid, get_attnum(table->oid, key)), false,
							 column_of("o", key));

		appendStringInfo(&text, "%s%s", i == 0 ? "" : condition ? " AND " : ", ", part);
	}
	return text.data;
}

/* Returns an UPDATE that assigns rows m again, in the order of keys, in their newest versions. */
static const char *
reassign_statement(const GuardRule *rule, const char *condition)
{
	return psprintf("UPDATE %s AS t SET %s = NULL FROM (SELECT %s FROM %s AS m WHERE %s "
					"ORDER BY %s OFFSET 0) AS o WHERE %s",
					guarded_table(rule), quote_identifier(rule->group), key_columns(rule, false),
					guarded_table(rule), condition, column_of("m", rule->guarded->name),
					key_columns(rule, true));
}

/* The parameters of a statement. */
typedef struct Parameters
{
	int count;
	Oid *type;
	Datum *value;
} Parameters;

/* Finds the parameters of a statement; returns false if one is NULL: the scope has no other row. */
static bool
find_parameters(const GuardCheck *check, Datum key, Datum group, bool choice, Parameters *list)
{
	int most = SCOPE - 1 + check->rule->withins;
	bool found = true;

	*list = (Parameters){SCOPE - 1, palloc(most * sizeof(Oid)), palloc(most * sizeof(Datum))};
	list->type[0] = list->type[1] = check->rule->guarded->type;
	list->value[0] = key;
	list->value[1] = group;
	list->type[2] = BOOLOID;
	list->value[2] = BoolGetDatum(choice);
	for (int i = 0; i < check->rule->withins; i++)
		if (check->rule->within[i].scope)
		{
			list->type[list->count] = check->leaf->within[i].type->type_id;
			list->value[list->count++] = check->values.within[i].value;
			found &= !check->values.within[i].isnull;
		}
	return found;
}

/* ---- The members of a group ------------------------------------------------------------------- */

/* Returns the statement that creates the index of groups, whose numbers scopes may share. */
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

/* Begins a scan of an index for the rows of a group in the scope of the check's row. */
static IndexScanDesc
scan_group(const GuardCheck *check, const GuardLeaf *leaf, Relation table, Relation index,
		   Datum group)
{
	ScanKeyData key[INDEX_MAX_KEYS];
	int keys = 0;
	IndexScanDesc scan;

	for (int column = 1; column <= IndexRelationGetNumberOfKeyAttributes(index); column++)
	{
		NullableDatum value = {group, column > 1};

		for (int i = 0; column > 1 && i < check->rule->withins; i++)
			if (check->rule->within[i].scope &&
				guard_index_holds(index, column - 1, leaf->within[i].expression))
				value = check->values.within[i];
		if (!value.isnull)
			keys += guard_set_key(&key[keys], index, 0, column, BTEqualStrategyNumber,
								  index->rd_opcintype[column - 1], value.value);
	}
	scan = compat_index_beginscan(table, index, GetActiveSnapshot(), keys, 0);
	index_rescan(scan, key, keys, NULL, 0);
	return scan;
}

/*
 * Returns whether any table that is searched has a row that leads a group in the scope of the
 * check's row, or else a member that no command of this transaction from `since` on has made.  It looks
 * in one snapshot, new if the check has none: a member may be updated in another column meanwhile.
 */
bool
guard_group_has(GuardCheck *check, Datum group, bool leads, CommandId since)
{
	bool found = false;
	ListCell *cell;

	CommandCounterIncrement();
	PushActiveSnapshot(check->snapshot != NULL ? check->snapshot : GetLatestSnapshot());
	foreach (cell, check->leaf->searched)
	{
		Relation table = table_open(lfirst_oid(cell), AccessShareLock);
		const GuardLeaf *leaf = guard_leaf(check->rule, table);
		TupleTableSlot *row = table_slot_create(table, NULL);
		Relation index;
		IndexScanDesc scan;

		if (!OidIsValid(leaf->members))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" has no index of its groups",
							RelationGetRelationName(table)),
					 errhint("Use %s.", guard_member_index_statement(check->rule))));
		index = index_open(leaf->members, AccessShareLock);
		scan = scan_group(check, leaf, table, index, group);
		while (!found && index_getnext_slot(scan, ForwardScanDirection, row))
		{
			CommandId made = guard_command_of(row);

			CHECK_FOR_INTERRUPTS();
			found = (made == InvalidCommandId || made < since) &&
				guard_leads(check, leaf, row) == leads && guard_is_within(check, leaf, row, true);
		}
		index_endscan(scan);
		ExecDropSingleTupleTableSlot(row);
		index_close(index, NoLock);
		table_close(table, NoLock);
	}
	PopActiveSnapshot();
	return found;
}

/* Assigns the members of a group again that has lost its leader, made by commands before `since`. */
void
guard_hand_on(GuardCheck *check, Datum key, CommandId since)
{
	GuardRule *rule = check->rule;
	Oid table = rule->guarded->oid;
	Parameters list;

	check->values.within = palloc(rule->withins * sizeof(NullableDatum) + 1);
	for (int i = 0; i < rule->withins; i++)
		check->values.within[i] = guard_get(check, check->row, &check->leaf->within[i]);
	if (!find_parameters(check, key, key, false, &list) ||
		!guard_group_has(check, key, false, since))
		return;
	guard_check_right(rule, table, get_attnum(table, rule->group), ACL_UPDATE, OPTION_GROUP_COLUMN);
	since = GetCurrentCommandId(true);
	SPI_connect();
	if (rule->hand_on == NULL)
		rule->hand_on =
			guard_prepare(rule,
						  reassign_statement(rule,
											 psprintf("%s AND NOT %s%s",
													  has_value(rule, "m", rule->group, "$1"),
													  has_value(rule, "m", rule->guarded->name,
																"$1"),
													  in_scope(check, "m"))),
						  list.count, list.type);
	guard_reassign(rule, rule->hand_on, list.value, REASSIGNED_SOME, (NullableDatum){key});
	SPI_finish();
	if (!guard_group_has(check, key, false, since))
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
 * follow it in a statement that assigns the members of $2 again or, if $3, all rows.
 */
static const char *
bound(const GuardCheck *check)
{
	const GuardRule *rule = check->rule;
	const char *name = rule->guarded->name;
	const char *group = column_of("m", rule->group);
	const char *key = column_of("m", name);

	return psprintf("SELECT DISTINCT %s, v.same FROM %s AS v JOIN %s AS m ON %s "
					"WHERE v.same IS NOT NULL AND NOT %s AND NOT %s AND (%s OR NOT ($3 OR %s AND NOT %s)) "
					"AND EXISTS (SELECT FROM %s AS l WHERE %s AND %s%s)%s ORDER BY 1",
					group, guard_qualified(rule->verdicts), guarded_table(rule),
					guard_verdict(rule, rule->guarded, key), has_value(rule, "m", name, "$1"),
					has_value(rule, "m", rule->group, "$1"),
					guard_comparison(key, rule->guarded->type, true, "$1"),
					has_value(rule, "m", rule->group, "$2"), has_value(rule, "m", name, "$2"),
					guarded_table(rule), has_value(rule, "l", name, group),
					has_value(rule, "l", rule->group, group), in_scope(check, "l"),
					in_scope(check, "m"));
}

/* Finds the groups to which verdicts bind the row of a key, while rows are assigned (bound()). */
void
guard_find_judged(GuardCheck *check, Datum key, Datum gone, bool all)
{
	GuardRule *rule = check->rule;
	const TypeCacheEntry *type = check->leaf->group.type;
	MemoryContext context = CurrentMemoryContext;
	Parameters list;

	check->judged[false] = check->judged[true] = NIL;
	if (!OidIsValid(rule->verdicts))
		return;
	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_VERDICTS);
	if (!find_parameters(check, key, gone, all, &list))
		return;
	SPI_connect();
	if (rule->bound == NULL)
		rule->bound = guard_prepare(rule, bound(check), list.count, list.type);
	(void) guard_run(rule->bound, list.value, SPI_OK_SELECT, true);
	context = MemoryContextSwitchTo(context);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple row = SPI_tuptable->vals[i];
		bool is_null;
		bool same = DatumGetBool(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &is_null));
		Datum group = SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &is_null);

		group = datumCopy(group, type->typbyval, type->typlen);
		check->judged[same] = lappend(check->judged[same], DatumGetPointer(group));
	}
	MemoryContextSwitchTo(context);
	SPI_finish();
}

/* Returns whether the verdicts that were found bind a row to a group or, if not same, keep it out. */
bool
guard_is_bound(const GuardCheck *check, bool same, Datum group)
{
	ListCell *cell;

	foreach (cell, check->judged[same])
		if (guard_is_same(&check->leaf->group, (NullableDatum){group},
						  (NullableDatum){PointerGetDatum(lfirst(cell))}))
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
					rule->guarded->keys > 1 ? "ROW" : "", key_columns(rule, false),
					guard_extension_schema(rule), rule->guarded->oid,
					quote_literal_cstr(rule->name));
}

/* Returns an UPDATE that gives all rows the groups of the batch, in the order of their keys. */
static const char *
assign_by_batch(const GuardRule *rule)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	const char *numbered =
		psprintf("(SELECT m.*, pg_catalog.row_number() OVER (ORDER BY %s, %s) AS \"row number\" FROM %s AS m) AS m",
				 column_of("m", rule->guarded->name), key_columns(rule, false),
				 guarded_table(rule));
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
					key_columns(rule, false), numbered, guarded_table(rule),
					quote_identifier(rule->group), column_of("l", rule->guarded->name),
					guard_extension_schema(rule), quote_literal_cstr(query.data), rule->threshold,
					quote_literal_cstr(psprintf("{%s}", names.data)),
					quote_literal_cstr(psprintf("{%s}", unknown.data)), key_columns(rule, true),
					has_value(rule, "t", rule->group, column_of("l", rule->guarded->name)));
}

/* Returns whether the session's search_path reads the expressions of a rule as the guard does. */
static bool
are_read_alike(const GuardRule *rule, const GuardLeaf *leaf, Relation table)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	bool alike =
		equal(guard_parse(table, OPTION_SIGNATURE, rule->signature), leaf->signature.expression);

	for (int i = 0; i < rule->withins; i++)
		alike &= equal(guard_parse(table, OPTION_WITHIN, rule->within[i].text),
					   leaf->within[i].expression);
	return alike &&
		(condition == NULL ||
		 equal(make_ands_explicit((List *) guard_parse(table, OPTION_CONDITION, condition)),
			   leaf->condition.expression));
}

/* Returns whether the batch gives rows the groups that they would get one after another. */
static bool
is_batchable(GuardRule *rule)
{
	Relation table = table_open(rule->guarded->oid, AccessShareLock);
	const GuardLeaf *leaf = guard_leaf(rule, table);
	Oid type = leaf->signature.type->type_id;
	bool can = type == extension_type(rule->function, "minhash") ||
		type == extension_type(rule->function, "simhash") ||
		type == extension_type(rule->function, "shingles");

	can = can && are_read_alike(rule, leaf, table);
	table_close(table, NoLock);
	for (int i = 0; i < rule->withins; i++)
		can &= rule->within[i].span == NULL && OidIsValid(leaf->within[i].type->hash_extended_proc);
	return can && rule->measure == MEASURE_RESEMBLANCE && rule->unless == NULL &&
		!OidIsValid(rule->verdicts);
}

/* Assigns all rows, or those that have no group or came in unchecked.  SPI must be connected. */
void
guard_fill_groups(GuardRule *rule, bool all)
{
	NullableDatum none = {.isnull = true};
	const char *rows = "true";

	if (all && is_batchable(rule))
	{
		guard_reassign(rule, guard_prepare(rule, assign_by_batch(rule), 0, NULL), NULL,
					   REASSIGNED_GIVEN, none);
		return;
	}
	if (!all)
		rows = psprintf("%s IS NULL OR %s", column_of("m", rule->group), is_listed(rule));
	progress_begin();
	progress_phase(PHASE_CLUSTERING);
	guard_reassign(rule, guard_prepare(rule, reassign_statement(rule, rows), 0, NULL), NULL,
				   all ? REASSIGNED_ALL : REASSIGNED_SOME, none);
	progress_end();
}
