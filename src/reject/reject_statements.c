/*
 * reject_statements.c: the statements that a trigger of neardup_reject() runs.
 *
 * In them t is a row of the guarded table, m a row of a group, and j a row that is judged the
 * same as the new row, or different from it.
 */
#include "reject/reject.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "types/objects.h"

/* ---- Statements --------------------------------------------------------- */

/* Returns the name of a relation with its schema, quoted where needed. */
const char *
qualified_name(Relation relation)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
									  RelationGetRelationName(relation));
}

static SPIPlanPtr
prepare(const char *statement, int parameters, Oid *types)
{
	SPIPlanPtr plan = SPI_prepare_cursor(statement, parameters, types, CURSOR_OPT_GENERIC_PLAN);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s for %s", SPI_result_code_string(SPI_result),
			 statement);
	return plan;
}

/* Returns the type that is compared; bit and bigint are cast to it. */
static const char *
kind_of_signature(const Maker *maker)
{
	Oid type = maker->rule->column_type;

	if (type == extension_type(maker->function, "shingles"))
		return "shingles";
	return type == BITOID || type == extension_type(maker->function, "minhash") ? "minhash" :
																				  "simhash";
}

/*
 * Returns the column, cast to the type below its domain: an operator for the
 * domain itself would match better, and anybody who may create operators
 * might have made one.
 */
static const char *
signature_column(const Maker *maker)
{
	Oid type = maker->rule->column_type;

	return psprintf("t.%s::%s.%s", quote_identifier(maker->rule->column_name),
					type == BITOID || type == INT8OID ? "pg_catalog" : maker->schema,
					type == BITOID      ? "bit" :
						type == INT8OID ? "int8" :
										  kind_of_signature(maker));
}

/* Returns the guarded table, with its partitions but without tables that inherit from it. */
static const char *
searched_table(const Maker *maker)
{
	bool partitioned = maker->guarded->rd_rel->relkind != RELKIND_RELATION;

	return psprintf("%s%s", partitioned ? "" : "ONLY ", qualified_name(maker->guarded));
}

/* Returns a condition for rows t in the scope but the new one, beside another condition. */
static const char *
other_rows(const Maker *maker, const char *condition)
{
	return psprintf(" WHERE %s%s AND NOT (t.ctid OPERATOR(pg_catalog.=) $%d"
					" AND t.tableoid OPERATOR(pg_catalog.=) $%d)",
					condition, scope_conditions(maker->rule, ROW_SCOPE + 1), ROW_CTID + 1,
					ROW_TABLE + 1);
}

static SPIPlanPtr
prepare_with_row(const Maker *maker, const char *statement)
{
	const RejectRule *rule = maker->rule;
	int parameters = ROW_SCOPE + rule->scope.columns;
	Oid *types = palloc(parameters * sizeof(Oid));
	bool keyed = OidIsValid(rule->group.type);

	types[ROW_SIGNATURE] = rule->column_type;
	types[ROW_CTID] = TIDOID;
	types[ROW_TABLE] = OIDOID;
	types[ROW_KEY] = types[ROW_GROUP] = keyed ? rule->group.type : INT4OID;
	for (int i = 0; i < rule->scope.columns; i++)
		types[ROW_SCOPE + i] = rule->scope.column[i].type;
	return prepare(statement, parameters, types);
}

/* ---- Groups and verdicts -------------------------------------------------- */

/* Returns that two expressions of the type of keys are equal. */
static const char *
same_key(const Maker *maker, const char *left, const char *right)
{
	return equality(left, maker->rule->group.type, right);
}

static const char *
key_of(const Maker *maker, const char *row)
{
	return psprintf("%s.%s", row, quote_identifier(maker->rule->group.key_name));
}

static const char *
group_of(const Maker *maker, const char *row)
{
	return psprintf("%s.%s", row, quote_identifier(maker->rule->group.name));
}

/* Returns the table j(k, same) of the verdicts on the new row. */
static const char *
judged(const Maker *maker, const char *verdicts)
{
	const char *type = type_name(maker->rule->group.type);
	const char *key = psprintf("$%d", ROW_KEY + 1);
	const char *half =
		"SELECT v.%s::%s AS k, v.same::pg_catalog.bool AS same FROM ONLY %s AS v WHERE %s";

	return psprintf("(%s UNION ALL %s) AS j",
					psprintf(half, "b", type, verdicts, same_key(maker, "v.a", key)),
					psprintf(half, "a", type, verdicts, same_key(maker, "v.b", key)));
}

/*
 * Returns " AND ..." for rows t that are not judged different from the new one; for groups, t
 * has a group in which no row is.
 */
static const char *
not_different(const Maker *maker, const char *verdicts)
{
	if (verdicts == NULL)
		return "";
	if (maker->rule->group.name == NULL)
		return psprintf(" AND NOT EXISTS (SELECT 1 FROM %s WHERE NOT j.same AND %s)",
						judged(maker, verdicts), same_key(maker, "j.k", key_of(maker, "t")));
	return psprintf(" AND NOT EXISTS (SELECT 1 FROM %s, %s AS m WHERE NOT j.same AND %s AND %s)",
					judged(maker, verdicts), searched_table(maker),
					same_key(maker, "j.k", key_of(maker, "m")),
					same_key(maker, group_of(maker, "m"), group_of(maker, "t")));
}

/* Prepares what finds rows by verdicts that they are the same. */
static void
prepare_bound(Maker *maker, const char *verdicts)
{
	RejectRule *rule = maker->rule;
	const char *bound =
		psprintf(" FROM %s, %s AS t%s%s", judged(maker, verdicts), searched_table(maker),
				 other_rows(maker,
							psprintf("j.same AND %s", same_key(maker, key_of(maker, "t"), "j.k"))),
				 not_different(maker, verdicts));
	const char *group = group_of(maker, "t");
	const char *other = psprintf("$%d", ROW_GROUP + 1);

	rule->statement[BOUND] =
		prepare_with_row(maker,
						 psprintf("SELECT %s%s AND (NOT %s OR %s) ORDER BY 1 LIMIT 1", group, bound,
								  same_key(maker, group, other),
								  same_key(maker, key_of(maker, "t"), other)));
	rule->statement[PARTNERS] =
		prepare_with_row(maker,
						 psprintf("SELECT t.ctid, t.tableoid%s AND NOT %s ORDER BY %s", bound,
								  same_key(maker, group, other), key_of(maker, "t")));
}

/* Prepares what finds the members of the group of a row that leads it no longer. */
static void
prepare_members(Maker *maker)
{
	const char *key = psprintf("$%d", ROW_KEY + 1);

	maker->rule->statement[MEMBERS] =
		prepare_with_row(maker,
						 psprintf("SELECT t.ctid, t.tableoid FROM %s AS t WHERE %s AND NOT %s%s "
								  "ORDER BY %s",
								  searched_table(maker), same_key(maker, group_of(maker, "t"), key),
								  same_key(maker, key_of(maker, "t"), key),
								  scope_conditions(maker->rule, ROW_SCOPE + 1),
								  key_of(maker, "t")));
}

/* ---- Searching ------------------------------------------------------------- */

/*
 * Prepares the search for the most similar row, or leader of a group; among equals the least
 * key counts.
 *
 * All signatures in an index have one shape.  Without an index there may be
 * others, and comparing those would be an error.  So if no row is similar, the
 * search returns one that cannot be compared, with a similarity of NULL.  All sets can be
 * compared.
 */
static void
prepare_search(Maker *maker, const char *verdicts)
{
	RejectRule *rule = maker->rule;
	const char *schema = maker->schema;
	const char *column = signature_column(maker);
	const char *kind = kind_of_signature(maker);
	const char *pair = psprintf("(%s::%s.%s, $1::%s.%s)", column, schema, kind, schema, kind);
	const char *similarity = psprintf("%s.similarity%s", schema, pair);
	const char *from = psprintf(" FROM %s AS t", searched_table(maker));
	const char *condition =
		psprintf("%s OPERATOR(%s.<@) %s.near($1::%s.%s, '%.17g'::pg_catalog.float8)", column,
				 schema, schema, schema, kind, rule->threshold);
	StringInfoData columns;
	StringInfoData order;

	initStringInfo(&columns);
	initStringInfo(&order);
	for (int i = 0; i < rule->keys; i++)
	{
		appendStringInfo(&columns, ", t.%s", quote_identifier(rule->key_name[i]));
		appendStringInfo(&order, ", %d", i + 2);
	}
	if (!rule->indexed && strcmp(kind, "shingles") != 0)
	{
		const char *comparable = psprintf("%s.is_comparable%s", schema, pair);

		similarity = psprintf("CASE WHEN %s THEN %s END", comparable, similarity);
		condition =
			psprintf("CASE WHEN %s THEN %s ELSE %s IS NOT NULL END", comparable, condition, column);
		rule->statement[MATCH] =
			prepare_with_row(maker,
							 psprintf("SELECT 1%s%s LIMIT 1", from, other_rows(maker, comparable)));
	}
	if (rule->group.name != NULL)
		condition = psprintf("%s AND %s", condition,
							 same_key(maker, group_of(maker, "t"), key_of(maker, "t")));
	rule->statement[SEARCH] =
		prepare_with_row(maker,
						 psprintf("SELECT %s%s%s%s%s ORDER BY 1 DESC NULLS LAST%s LIMIT 1",
								  similarity, columns.data, from, other_rows(maker, condition),
								  not_different(maker, verdicts), order.data));
}

/* ---- Recording ---------------------------------------------------------- */

/* Returns an expression for a key's text: that of its column, or of a row of its columns. */
static const char *
key_expression(const RejectRule *rule, int first)
{
	StringInfoData keys;

	if (rule->keys == 1)
		return psprintf("$%d", first + 1);
	initStringInfo(&keys);
	for (int i = 0; i < rule->keys; i++)
		appendStringInfo(&keys, "%s$%d", i > 0 ? ", " : "", first + i + 1);
	return psprintf("ROW(%s)::pg_catalog.text", keys.data);
}

/* Raises an error that shows how to create the log. */
static void
report_missing_log(const Maker *maker, const RangeVar *name)
{
	const RejectRule *rule = maker->rule;
	AttrNumber key = get_attnum(rule->guarded, rule->key_name[0]);
	const char *type =
		rule->keys == 1 && key > 0 ? format_type_be(get_atttype(rule->guarded, key)) : "text";

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("table \"%s\" of option \"log\" does not exist", rule->log),
			 errdetail("Trigger \"%s\" records near-duplicates in it.", maker->trigger->tgname),
			 errhint("Use CREATE TABLE %s (row_key %s, resembles %s, similarity float8, noticed_at "
					 "timestamptz, noticed_by text).",
					 quote_qualified_identifier(name->schemaname, name->relname), type, type)));
}

/*
 * Opens a table that an option names, or returns NULL.  It lies in the schema of the guarded
 * table unless its name has a schema.
 */
static Relation
open_option_table(const Maker *maker, RangeVar *name, LOCKMODE lock)
{
	Relation table;

	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(RelationGetNamespace(maker->guarded));
	/* The lock keeps triggers and the like from coming to the table. */
	table = table_openrv_extended(name, lock, true);
	if (table != NULL && table->rd_rel->relowner != maker->guarded->rd_rel->relowner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables \"%s\" and \"%s\" must have the same owner",
						RelationGetRelationName(table), RelationGetRelationName(maker->guarded)),
				 errdetail("Trigger \"%s\" uses the first with the rights of the second's owner.",
						   maker->trigger->tgname),
				 errhint("Use ALTER TABLE ... OWNER TO to change one of them.")));
	return table;
}

/* Returns the name of a table, as an option has it. */
static RangeVar *
option_table(const char *option)
{
	return makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(option)));
}

/* Opens the log. */
static Relation
open_log(const Maker *maker)
{
	RangeVar *name = option_table(maker->rule->log);
	Relation log = open_option_table(maker, name, RowExclusiveLock);

	if (log == NULL)
		report_missing_log(maker, name);
	return log;
}

/* Finds the table of verdicts, and returns its name. */
static const char *
find_verdicts(Maker *maker)
{
	RejectRule *rule = maker->rule;
	RangeVar *name = option_table(rule->verdicts);
	Relation table = open_option_table(maker, name, AccessShareLock);
	const char *qualified;

	if (table == NULL || table->rd_rel->relkind != RELKIND_RELATION ||
		get_attnum(RelationGetRelid(table), "a") <= 0 ||
		get_attnum(RelationGetRelid(table), "b") <= 0 ||
		get_attnum(RelationGetRelid(table), "same") <= 0)
	{
		const char *type = format_type_be(rule->group.type);

		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("option \"verdicts=%s\" names no table with columns a, b and same",
						rule->verdicts),
				 errdetail("Trigger \"%s\" reads there which rows are the same.",
						   maker->trigger->tgname),
				 errhint("Use CREATE TABLE %s (a %s, b %s, same boolean, PRIMARY KEY (a, b)).",
						 quote_qualified_identifier(name->schemaname, name->relname), type, type)));
	}
	rule->verdict_table = RelationGetRelid(table);
	qualified = qualified_name(table);
	table_close(table, NoLock);
	return qualified;
}

/* Adds a column and its value to the INSERT if the log has that column. */
static bool
record_column(Relation log, const char *name, const char *value, StringInfo names,
			  StringInfo values)
{
	AttrNumber column = get_attnum(RelationGetRelid(log), name);
	const char *comma = names->len > 0 ? ", " : "";

	if (column <= 0)
		return false;
	appendStringInfo(names, "%s%s", comma, name);
	appendStringInfo(values, "%sCAST(%s AS %s)", comma, value,
					 type_name(get_atttype(RelationGetRelid(log), column)));
	return true;
}

/* Prepares the INSERT into the log. */
static void
prepare_record(Maker *maker)
{
	RejectRule *rule = maker->rule;
	int parameters = RECORD_KEYS + 2 * rule->keys;
	Oid *types = palloc(parameters * sizeof(Oid));
	Relation log = open_log(maker);
	StringInfoData names;
	StringInfoData values;

	for (int i = 0; i < parameters; i++)
		types[i] = i == RECORD_SIMILARITY ? FLOAT8OID : TEXTOID;
	initStringInfo(&names);
	initStringInfo(&values);
	if (!record_column(log, "row_key", key_expression(rule, RECORD_KEYS), &names, &values) ||
		!record_column(log, "resembles", key_expression(rule, RECORD_KEYS + rule->keys), &names,
					   &values))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"row_key\" or no column \"resembles\"",
						RelationGetRelationName(log)),
				 errdetail("Trigger \"%s\" fills these columns, and if they exist similarity, "
						   "noticed_at, noticed_by and in_table.",
						   maker->trigger->tgname),
				 errhint("Add the columns, or name another table.")));
	rule->log_table = RelationGetRelid(log);
	record_column(log, "similarity", "$1", &names, &values);
	record_column(log, "noticed_by", "$2", &names, &values);
	record_column(log, "in_table", "$3", &names, &values);
	record_column(log, "noticed_at", "pg_catalog.now()", &names, &values);
	rule->statement[RECORD] =
		prepare(psprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING",
						 qualified_name(log), names.data, values.data),
				parameters, types);
	table_close(log, NoLock);
}

/* Prepares all statements of a rule. */
void
prepare_statements(Maker *maker)
{
	RejectRule *rule = maker->rule;
	const char *verdicts = rule->verdicts == NULL ? NULL : find_verdicts(maker);

	prepare_search(maker, verdicts);
	if (rule->group.name != NULL)
		prepare_members(maker);
	if (rule->group.name != NULL && verdicts != NULL)
		prepare_bound(maker, verdicts);
	if (rule->log != NULL)
		prepare_record(maker);
}
