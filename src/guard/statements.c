/*
 * statements.c: what a guard does in SQL, as the current user: it inserts into a log, and
 * reads verdicts.
 */
#include "guard/guard.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "rights.h"

/* Parameters of the insert into a log; the keys of both rows follow. */
enum
{
	RECORD_SIMILARITY,
	RECORD_USER,
	RECORD_TABLE,
	RECORD_KEYS
};

/* ---- Text of statements --------------------------------------------------------------- */

/* Returns the name of a relation with its schema, quoted where needed. */
const char *
guard_qualified(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  get_rel_name(relation));
}

/* Returns the name of a type with its schema, which stands for any modifier. */
static const char *
type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* Returns that two expressions are equal, by the default equality of a type. */
const char *
guard_equality(const char *left, Oid type, const char *right)
{
	Oid equal = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
	Oid left_type;
	Oid right_type;
	const char *cast;

	if (!OidIsValid(equal))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s",
						format_type_be(type)),
				 errhint("Name a column of another type.")));
	op_input_types(equal, &left_type, &right_type);
	cast = type_name(get_typtype(left_type) == TYPTYPE_PSEUDO ? type : left_type);
	return psprintf("%s::%s OPERATOR(%s.%s) %s::%s", left, cast,
					quote_identifier(get_namespace_name(get_func_namespace(get_opcode(equal)))),
					get_opname(equal), right, cast);
}

/* Prepares a statement, for as long as its rule lives.  SPI must be connected. */
SPIPlanPtr
guard_prepare(const char *statement, int parameters, Oid *types)
{
	SPIPlanPtr plan = SPI_prepare(statement, parameters, types);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s for %s", SPI_result_code_string(SPI_result), statement);
	guard_keep_plan(plan);
	return plan;
}

/* Executes a statement, and checks its result code.  A query sees all committed rows. */
void
guard_execute(SPIPlanPtr plan, Datum *values, int expected)
{
	Snapshot snapshot = expected == SPI_OK_SELECT ? GetLatestSnapshot() : InvalidSnapshot;
	int result =
		SPI_execute_snapshot(plan, values, NULL, snapshot, InvalidSnapshot, false, true, 0);

	if (result != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
}

/* The columns of a log that a guard fills, if they exist. */
static const char *const log_columns[] = {"row_key",    "resembles", "similarity",
										  "noticed_by", "in_table",  "noticed_at"};

/* May the current user insert values into the columns of a log that a guard fills? */
static bool
may_fill(Oid log)
{
	for (int i = 0; i < lengthof(log_columns); i++)
	{
		AttrNumber column = get_attnum(log, log_columns[i]);

		if (column > 0 &&
			pg_attribute_aclcheck(log, column, GetUserId(), ACL_INSERT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

/*
 * Raises an error if the current user lacks a privilege on a column of a table that an option
 * names; 0 is the whole table.
 */
void
guard_check_right(const GuardRule *rule, Oid table, AttrNumber column, AclMode right,
				  GuardOption option)
{
	static const char *const names[] = {"INSERT", "SELECT", "UPDATE"};
	const char *privilege = names[right == ACL_INSERT ? 0 : right == ACL_SELECT ? 1 : 2];

	if (pg_class_aclcheck(table, GetUserId(), right) == ACLCHECK_OK ||
		(right == ACL_INSERT && may_fill(table)) ||
		(column != InvalidAttrNumber &&
		 pg_attribute_aclcheck(table, column, GetUserId(), right) == ACLCHECK_OK))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for table %s", get_rel_name(table)),
			 errdetail("Guard \"%s\" uses the table of argument \"%s\" as the user who writes a row.",
					   rule->name, guard_option_names[option]),
			 errhint("Use GRANT %s%s ON %s TO %s.", privilege,
					 column == InvalidAttrNumber ?
						 "" :
						 psprintf(" (%s)", quote_identifier(get_attname(table, column, false))),
					 guard_qualified(table),
					 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/* ---- Keys ------------------------------------------------------------------------------- */

/* Returns the type of a column of the key of a table. */
static Oid
key_type(const GuardSide *side, int i)
{
	return side->keys == 0 ? TIDOID :
							 get_atttype(side->table, get_attnum(side->table, side->key[i]));
}

/* Sets the key of a row, or its ctid if the table has no primary key. */
static void
set_key(const GuardSide *side, Oid table, TupleTableSlot *row, Datum *values)
{
	bool is_null;

	if (side->keys == 0)
		values[0] = slot_getsysattr(row, SelfItemPointerAttributeNumber, &is_null);
	for (int i = 0; i < side->keys; i++)
		values[i] = slot_getattr(row, get_attnum(table, side->key[i]), &is_null);
}

/* Returns an expression for a key: its column, or a row of its columns as text. */
static const char *
key_expression(int keys, int first)
{
	StringInfoData list;

	if (keys <= 1)
		return psprintf("$%d", first + 1);
	initStringInfo(&list);
	for (int i = 0; i < keys; i++)
		appendStringInfo(&list, "%s$%d", i > 0 ? ", " : "", first + i + 1);
	return psprintf("ROW(%s)::pg_catalog.text", list.data);
}

/* ---- Verdicts ------------------------------------------------------------------------------ */

/* Raises an error unless a table can have verdicts. */
static void
check_verdicts(const GuardRule *rule, Oid type)
{
	if (get_attnum(rule->verdicts, "a") > 0 && get_attnum(rule->verdicts, "b") > 0 &&
		get_attnum(rule->verdicts, "same") > 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("table \"%s\" of argument \"unless\" has no columns a, b and same",
					get_rel_name(rule->verdicts)),
			 errdetail("Guard \"%s\" reads there which rows are the same.", rule->name),
			 errhint("Use CREATE TABLE verdicts (a %s, b %s, same boolean, PRIMARY KEY (a, b)).",
					 format_type_be(type), format_type_be(type))));
}

/* Prepares the look for a verdict that a new row and a row of a side are different. */
static SPIPlanPtr
prepare_judged(const GuardRule *rule, const GuardSide *side)
{
	const GuardSide *sides[2] = {&rule->side[0], side};
	Oid type[2];
	Oid base[2];

	for (int i = 0; i < 2; i++)
	{
		type[i] = get_atttype(sides[i]->table,
							  get_attnum(sides[i]->table, guard_key_column(rule, sides[i])));
		base[i] = getBaseType(type[i]);
	}
	check_verdicts(rule, type[0]);
	return guard_prepare(psprintf("SELECT FROM %s AS v WHERE NOT v.same AND (%s AND %s OR %s AND %s) LIMIT 1",
								  guard_qualified(rule->verdicts),
								  guard_equality("v.a", base[0], "$1"),
								  guard_equality("v.b", base[1], "$2"),
								  guard_equality("v.a", base[1], "$2"),
								  guard_equality("v.b", base[0], "$1")),
						 2, type);
}

/* Returns whether people have judged that another row and the new one are different. */
bool
guard_is_judged(GuardCheck *check, const GuardPlace *place, TupleTableSlot *other)
{
	GuardRule *rule = check->rule;
	GuardSide *side = place->side;
	const char *name[2] = {guard_key_column(rule, &rule->side[0]), guard_key_column(rule, side)};
	Datum value[2];
	bool is_null;
	bool judged;

	value[0] = slot_getattr(check->row, get_attnum(check->place->table, name[0]), &is_null);
	value[1] = slot_getattr(other, get_attnum(place->table, name[1]), &is_null);
	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_UNLESS);
	SPI_connect();
	if (side->judged == NULL)
		side->judged = prepare_judged(rule, side);
	guard_execute(side->judged, value, SPI_OK_SELECT);
	judged = SPI_processed > 0;
	SPI_finish();
	return judged;
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Adds a column and its value to an INSERT if the log has that column. */
static bool
add_column(Oid log, const char *name, const char *value, StringInfo names, StringInfo values)
{
	AttrNumber column = get_attnum(log, name);
	const char *comma = names->len > 0 ? ", " : "";

	if (column <= 0)
		return false;
	appendStringInfo(names, "%s%s", comma, name);
	appendStringInfo(values, "%sCAST(%s AS %s)", comma, value, type_name(get_atttype(log, column)));
	return true;
}

/* Prepares the INSERT into the log for a row that is similar to a row of a side. */
static SPIPlanPtr
prepare_record(const GuardRule *rule, const GuardSide *side)
{
	Oid log = rule->log;
	int keys = Max(rule->side[0].keys, 1);
	int others = Max(side->keys, 1);
	Oid *types = palloc((RECORD_KEYS + keys + others) * sizeof(Oid));
	StringInfoData names;
	StringInfoData values;

	types[RECORD_SIMILARITY] = FLOAT8OID;
	types[RECORD_USER] = TEXTOID;
	types[RECORD_TABLE] = REGCLASSOID;
	for (int i = 0; i < keys; i++)
		types[RECORD_KEYS + i] = key_type(&rule->side[0], i);
	for (int i = 0; i < others; i++)
		types[RECORD_KEYS + keys + i] = key_type(side, i);
	initStringInfo(&names);
	initStringInfo(&values);
	if (!add_column(log, "row_key", key_expression(keys, RECORD_KEYS), &names, &values) ||
		!add_column(log, "resembles", key_expression(others, RECORD_KEYS + keys), &names, &values))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"row_key\" or no column \"resembles\"",
						get_rel_name(log)),
				 errdetail("Guard \"%s\" fills these columns, and if they exist similarity, "
						   "noticed_at, noticed_by and in_table.",
						   rule->name),
				 errhint("Add the columns, or name another table.")));
	add_column(log, "similarity", "$1", &names, &values);
	add_column(log, "noticed_by", "$2", &names, &values);
	add_column(log, "in_table", "$3", &names, &values);
	add_column(log, "noticed_at", "pg_catalog.now()", &names, &values);
	return guard_prepare(psprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING",
								  guard_qualified(log), names.data, values.data),
						 RECORD_KEYS + keys + others, types);
}

/* Prepares the statements of a rule, to find mistakes.  SPI must be connected. */
void
guard_check_statements(GuardRule *rule)
{
	for (int i = 0; i < 2; i++)
	{
		GuardSide *side = &rule->side[i];

		if (OidIsValid(side->table) && OidIsValid(rule->verdicts) && side->judged == NULL)
			side->judged = prepare_judged(rule, side);
		if (OidIsValid(side->table) && OidIsValid(rule->log) && side->record == NULL)
			side->record = prepare_record(rule, side);
	}
}

/*
 * Makes the text of a key independent of the session's settings, until the nest level ends: a row
 * has the same key in the log whatever session inserts it.
 */
static void
set_plain_texts(void)
{
	static const char *const setting[][2] = {{"DateStyle", "ISO"}, {"IntervalStyle", "postgres"},
											 {"TimeZone", "UTC"},  {"bytea_output", "hex"},
											 {"lc_monetary", "C"}, {"extra_float_digits", "1"}};

	for (int i = 0; i < lengthof(setting); i++)
		set_locally(setting[i][0], setting[i][1]);
}

/*
 * Writes a pair to the log.  The user recorded is the role that logged in: the current user may
 * have become another role since the row was inserted.
 */
void
guard_record(GuardCheck *check, const GuardHit *hit)
{
	GuardRule *rule = check->rule;
	GuardSide *side = hit->place->side;
	int keys = Max(rule->side[0].keys, 1);
	Datum *values = palloc((RECORD_KEYS + keys + Max(side->keys, 1)) * sizeof(Datum));
	int settings;

	guard_check_right(rule, rule->log, InvalidAttrNumber, ACL_INSERT, OPTION_RECORD_IN);
	values[RECORD_SIMILARITY] = Float8GetDatum(hit->similarity);
	values[RECORD_USER] = CStringGetTextDatum(GetUserNameFromId(GetSessionUserId(), false));
	values[RECORD_TABLE] = ObjectIdGetDatum(RelationGetRelid(check->data->tg_relation));
	set_key(&rule->side[0], check->place->table, check->row, values + RECORD_KEYS);
	set_key(side, hit->place->table, hit->row, values + RECORD_KEYS + keys);
	SPI_connect();
	if (side->record == NULL)
		side->record = prepare_record(rule, side);
	settings = NewGUCNestLevel();
	set_plain_texts();
	guard_execute(side->record, values, SPI_OK_INSERT);
	AtEOXact_GUC(false, settings);
	SPI_finish();
}
