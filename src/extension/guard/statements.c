/*
 * statements.c: what a guard does in SQL, as the current user: it inserts into a log, and
 * reads verdicts.
 */
#include "guard/guard.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "rights.h"

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

/*
 * Returns the condition that two expressions are equal, or the left one is less, by the default
 * operator below a domain.
 */
const char *
guard_comparison(const char *left, Oid type, bool less, const char *right)
{
	Oid base = getBaseType(type);
	const TypeCacheEntry *cache = lookup_type_cache(base, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	Oid compare = less ? cache->lt_opr : cache->eq_opr;
	Oid left_type;
	Oid right_type;
	const char *cast;

	if (!OidIsValid(compare))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s",
						format_type_be(base)),
				 errhint("Name a column of another type.")));
	op_input_types(compare, &left_type, &right_type);
	cast = type_name(get_typtype(left_type) == TYPTYPE_PSEUDO ? base : left_type);
	return psprintf("%s::%s OPERATOR(%s.%s) %s::%s", left, cast,
					quote_identifier(get_namespace_name(get_func_namespace(get_opcode(compare)))),
					get_opname(compare), right, cast);
}

/* Returns the condition that two expressions are equal. */
const char *
guard_equality(const char *left, Oid type, const char *right)
{
	return guard_comparison(left, type, false, right);
}

/* Returns the type of the column that names rows of a side. */
Oid
guard_key_type(const GuardSide *side)
{
	return get_atttype(side->table, get_attnum(side->table, side->name));
}

/* ---- Running statements ----------------------------------------------------------------- */

/* Returns an empty list of parameters, with room for some. */
GuardParameters
guard_parameters(int most)
{
	return (GuardParameters){.type = palloc(most * sizeof(Oid)),
							 .value = palloc(most * sizeof(Datum))};
}

/* Adds a value. */
void
guard_add_value(GuardParameters *list, Oid type, Datum value)
{
	list->type[list->count] = type;
	list->value[list->count++] = value;
}

/* Adds a column of a row of a place, or without a name the row's ctid; without a row, only its type. */
void
guard_add_column(GuardParameters *list, const GuardSide *side, const char *name,
				 const GuardPlace *place, TupleTableSlot *row)
{
	bool is_null = false;
	Datum value = (Datum) 0;

	if (row != NULL)
		value = name == NULL ? slot_getsysattr(row, SelfItemPointerAttributeNumber, &is_null) :
							   slot_getattr(row, get_attnum(place->table, name), &is_null);
	list->any_null |= is_null;
	guard_add_value(list,
					name == NULL ? TIDOID : get_atttype(side->table, get_attnum(side->table, name)),
					value);
}

/*
 * Begins a level of settings in which all statements of guards run, whatever the session has set: a
 * row has the same key in the log, and no LOG message, such as a plan, shows the user values of
 * other rows.
 */
static int
begin_settings(void)
{
	static const char *const setting[][2] = {{"DateStyle", "ISO"},
											 {"IntervalStyle", "postgres"},
											 {"TimeZone", "UTC"},
											 {"bytea_output", "hex"},
											 {"lc_monetary", "C"},
											 {"extra_float_digits", "1"},
											 {"debug_print_parse", "off"},
											 {"debug_print_rewritten", "off"},
											 {"debug_print_plan", "off"}};
	int level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(setting); i++)
		set_locally(setting[i][0], setting[i][1]);
	if (client_min_messages < NOTICE)
		set_locally("client_min_messages", "notice");
	return level;
}

/* Returns a plan of a rule, which is prepared if it is not yet.  SPI must be connected. */
SPIPlanPtr
guard_plan(SPIPlanPtr *plan, GuardStatement statement, const GuardRule *rule, const GuardSide *side,
		   const GuardParameters *list)
{
	if (*plan == NULL)
	{
		const char *text = statement(rule, side);
		int settings = begin_settings();

		*plan = SPI_prepare(text, list->count, list->type);
		AtEOXact_GUC(true, settings);
		if (*plan == NULL)
			elog(ERROR, "SPI_prepare failed: %s for %s", SPI_result_code_string(SPI_result), text);
		guard_keep_plan(rule, *plan);
	}
	return *plan;
}

/*
 * Runs a statement, and checks its result code; returns whether it had rows.  A query sees all
 * committed rows.  If asked, the plan keeps the order of rows, and looks few of them up by their
 * keys, however small the tables were when it was made.
 */
bool
guard_run(SPIPlanPtr plan, const GuardParameters *list, int expected, bool in_order)
{
	Snapshot snapshot = expected == SPI_OK_SELECT ? GetLatestSnapshot() : InvalidSnapshot;
	int settings = begin_settings();
	int result;

	if (in_order)
	{
		set_locally("enable_hashjoin", "off");
		set_locally("enable_mergejoin", "off");
		set_locally("enable_material", "off");
	}
	result =
		SPI_execute_snapshot(plan, list->value, NULL, snapshot, InvalidSnapshot, false, true, 0);
	if (result != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
	/* What triggers of the statement have set stays. */
	AtEOXact_GUC(true, settings);
	return SPI_processed > 0;
}

/* ---- Rights ------------------------------------------------------------------------------- */

/* The columns of a log that a guard fills, if they exist, and their values; keys are set apart. */
static const char *const log_columns[][2] = {{"row_key", NULL},
											 {"resembles", NULL},
											 {"similarity", "$1"},
											 {"noticed_by", "$2"},
											 {"in_table", "$3"},
											 {"noticed_at", "pg_catalog.now()"}};

/* Returns whether the current user may insert values into the columns of a log that a guard fills. */
static bool
may_fill(Oid log)
{
	for (int i = 0; i < lengthof(log_columns); i++)
	{
		AttrNumber column = get_attnum(log, log_columns[i][0]);

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
	const char *privilege = right == ACL_INSERT ? "INSERT" : "SELECT";

	if (pg_class_aclcheck(table, GetUserId(), right) == ACLCHECK_OK ||
		(right == ACL_INSERT && may_fill(table)) ||
		(column != InvalidAttrNumber &&
		 pg_attribute_aclcheck(table, column, GetUserId(), right) == ACLCHECK_OK))
		return;
	if (right == ACL_UPDATE)
		privilege = psprintf("UPDATE (%s)", quote_identifier(get_attname(table, column, false)));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for table %s", get_rel_name(table)),
			 errdetail("Guard \"%s\" uses the table of argument \"%s\" as the user who writes a row.",
					   rule->name, guard_option_names[option]),
			 errhint("Use GRANT %s ON %s TO %s.", privilege, guard_qualified(table),
					 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/* Raises an error because the current user may not read all rows of a table that is searched. */
static _Noreturn void
refuse_search(const GuardRule *rule, Oid table, const char *makers)
{
	bool hidden = role_may_select(table, InvalidAttrNumber);

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 hidden ? errmsg("row-level security hides rows of table \"%s\"", get_rel_name(table)) :
					  errmsg("permission denied for table %s", get_rel_name(table)),
			 errdetail("Guard \"%s\" tells which rows are there, and roles other than their owner may have made it.",
					   rule->name),
			 makers != NULL ?
				 errhint("Use REVOKE TRIGGER ON %s FROM %s, and drop the triggers that are not yours.",
						 guard_qualified(rule->side[0].table), makers) :
				 hidden ? errhint("Give both tables one owner.") :
						  errhint("Use GRANT SELECT ON %s TO %s, or give both tables one owner.",
								  guard_qualified(table),
								  quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/*
 * Raises an error unless the current user may read all rows of the tables that are searched, or
 * nobody but their owner can have made the guard.  Every option is evaluated on rows that are found,
 * or tells of them.  A trigger has no owner of its own: each role that may create triggers on the
 * guarded table counts as one that has made the guard.
 */
void
guard_check_search(const GuardRule *rule)
{
	for (int i = 0; i < 2 && OidIsValid(rule->side[i].table); i++)
	{
		Oid table = rule->side[i].table;
		Relation guarded;
		Relation searched;
		const char *makers;
		bool one_owner;

		if (role_may_read(table, InvalidAttrNumber))
			continue;
		guarded = table_open(rule->side[0].table, AccessShareLock);
		searched = table_open(table, AccessShareLock);
		one_owner = guarded->rd_rel->relowner == searched->rd_rel->relowner;
		makers = one_owner ? others_who_make_triggers(guarded) : NULL;
		table_close(searched, NoLock);
		table_close(guarded, NoLock);
		if (!one_owner || makers != NULL)
			refuse_search(rule, table, makers);
	}
}

/* ---- Verdicts ------------------------------------------------------------------------------ */

/*
 * Returns the condition that a value of a type, as verdicts have it, is a key of a side, by the
 * equality of the key's type and collation.  A type that the same operator family compares with it, as
 * bigint with integer, is compared so; any other is read from its text, and what is no value of the
 * key's type names no row.
 */
const char *
guard_names_key(const GuardRule *rule, const char *value, Oid type, const GuardSide *side,
				const char *key)
{
	Oid key_type;
	int32 modifier;
	Oid collation;
	Oid across;

	get_atttypetypmodcoll(side->table, get_attnum(side->table, side->name), &key_type, &modifier,
						  &collation);
	key_type = getBaseType(key_type);
	type = getBaseType(type);
	across = get_opfamily_member(lookup_type_cache(key_type, TYPECACHE_BTREE_OPFAMILY)->btree_opf,
								 type, key_type, BTEqualStrategyNumber);
	if (!IsBinaryCoercible(type, key_type) && OidIsValid(across))
		return psprintf("%s OPERATOR(%s.%s) %s::%s", value,
						quote_identifier(get_namespace_name(get_func_namespace(get_opcode(across)))),
						get_opname(across), key, type_name(key_type));
	if (!IsBinaryCoercible(type, key_type))
		value = psprintf("%s.neardup_as_id(%s::pg_catalog.text, NULL::%s)",
						 quote_identifier(get_namespace_name(get_func_namespace(rule->function))),
						 value, type_name(key_type));
	if (OidIsValid(collation))
		value = psprintf("(%s COLLATE %s)", value, generate_collation_name(collation));
	return guard_equality(value, key_type, key);
}

/* Returns the type of a column of the table of verdicts, which has a, b and same. */
static Oid
verdict_type(const GuardRule *rule, const char *column)
{
	Oid table = rule->verdicts;
	const char *type = format_type_be(guard_key_type(&rule->side[0]));

	if (get_attnum(table, "a") <= 0 || get_attnum(table, "b") <= 0 ||
		get_attnum(table, "same") <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" of argument \"verdicts\" has no columns a, b and same",
						get_rel_name(table)),
				 errdetail("Guard \"%s\" reads there which rows are the same.", rule->name),
				 errhint("Use CREATE TABLE verdicts (a %s, b %s, same boolean, PRIMARY KEY (a, b)).",
						 type, type)));
	return get_atttype(table, get_attnum(table, column));
}

/* Returns the type of the column k of guard_verdicts(). */
Oid
guard_judged_type(const GuardRule *rule)
{
	Oid type = verdict_type(rule, "a");

	return type == verdict_type(rule, "b") ? type : TEXTOID;
}

/* Returns the query of the keys that are judged with the key $1, as columns k and same. */
const char *
guard_verdicts(const GuardRule *rule)
{
	const GuardSide *side = &rule->side[0];
	const char *cast = type_name(guard_judged_type(rule));
	const char *table = guard_qualified(rule->verdicts);

	return psprintf("(SELECT v.b::%s AS k, v.same FROM %s AS v WHERE %s UNION ALL SELECT v.a::%s, v.same FROM %s AS v WHERE %s)",
					cast, table, guard_names_key(rule, "v.a", verdict_type(rule, "a"), side, "$1"),
					cast, table, guard_names_key(rule, "v.b", verdict_type(rule, "b"), side, "$1"));
}

/* A GuardStatement: looks for a verdict that a new row and a row of a side are different. */
static const char *
judged(const GuardRule *rule, const GuardSide *side)
{
	return psprintf("SELECT FROM %s AS j WHERE NOT j.same AND %s LIMIT 1", guard_verdicts(rule),
					guard_names_key(rule, "j.k", guard_judged_type(rule), side, "$2"));
}

/* Returns the parameters of judged(): the names of both rows. */
static GuardParameters
names_of(const GuardRule *rule, const GuardSide *side, const GuardCheck *check,
		 const GuardPlace *place, TupleTableSlot *other)
{
	GuardParameters list = guard_parameters(2);

	guard_add_column(&list, &rule->side[0], rule->side[0].name, other == NULL ? NULL : check->place,
					 other == NULL ? NULL : check->row);
	guard_add_column(&list, side, side->name, place, other);
	return list;
}

/* Returns whether people have judged that another row and the new one are different. */
bool
guard_is_judged(GuardCheck *check, const GuardPlace *place, TupleTableSlot *other)
{
	GuardRule *rule = check->rule;
	GuardSide *side = place->side;
	GuardParameters list = names_of(rule, side, check, place, other);
	bool found;

	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_VERDICTS);
	if (list.any_null)
		return false;
	SPI_connect();
	found = guard_run(guard_plan(&side->judged, judged, rule, side, &list), &list, SPI_OK_SELECT,
					  false);
	SPI_finish();
	return found;
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Returns the parameters of an insert into the log; without a row, only their types. */
static GuardParameters
statements_record_of(const GuardRule *rule, const GuardSide *side, const GuardCheck *check,
					 const GuardHit *hit)
{
	const GuardSide *sides[2] = {&rule->side[0], side};
	const GuardPlace *place[2] = {check == NULL ? NULL : check->place,
								  check == NULL ? NULL : hit->place};
	TupleTableSlot *row[2] = {check == NULL ? NULL : check->row, check == NULL ? NULL : hit->row};
	GuardParameters list = guard_parameters(5 + sides[0]->keys + side->keys);

	guard_add_value(&list, FLOAT8OID, check == NULL ? 0 : Float8GetDatum(hit->similarity));
	/* The role that logged in: the current user may have become another since the row was inserted. */
	guard_add_value(&list, TEXTOID,
					CStringGetTextDatum(GetUserNameFromId(GetSessionUserId(), false)));
	guard_add_value(&list, REGCLASSOID,
					ObjectIdGetDatum(check == NULL ? InvalidOid : check->place->table));
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < Max(sides[i]->keys, 1); k++)
			guard_add_column(&list, sides[i], sides[i]->keys == 0 ? NULL : sides[i]->key[k],
							 place[i], row[i]);
	return list;
}

/* Returns an expression for a key: its parameter, or a row of its parameters as text. */
static const char *
key_expression(int keys, int first)
{
	StringInfoData list;

	if (keys <= 1)
		return psprintf("$%d", first);
	initStringInfo(&list);
	for (int i = 0; i < keys; i++)
		appendStringInfo(&list, "%s$%d", i > 0 ? ", " : "", first + i);
	return psprintf("ROW(%s)::pg_catalog.text", list.data);
}

/* A GuardStatement: inserts a pair of rows into the log. */
static const char *
record(const GuardRule *rule, const GuardSide *side)
{
	const char *key[2] = {key_expression(rule->side[0].keys, 4),
						  key_expression(side->keys, 4 + Max(rule->side[0].keys, 1))};
	StringInfoData names;
	StringInfoData values;

	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < lengthof(log_columns); i++)
	{
		AttrNumber column = get_attnum(rule->log, log_columns[i][0]);

		if (column > 0)
		{
			appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", log_columns[i][0]);
			appendStringInfo(&values, "%sCAST(%s AS %s)", i > 0 ? ", " : "",
							 i < lengthof(key) ? key[i] : log_columns[i][1],
							 type_name(get_atttype(rule->log, column)));
		}
		else if (i < lengthof(key))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("table \"%s\" has no column \"row_key\" or no column \"resembles\"",
							get_rel_name(rule->log)),
					 errdetail("Guard \"%s\" fills these columns, and if they exist similarity, "
							   "noticed_at, noticed_by and in_table.",
							   rule->name),
					 errhint("Add the columns, or name another table.")));
	}
	return psprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING",
					guard_qualified(rule->log), names.data, values.data);
}

/* Prepares the statements of a rule, to find mistakes.  SPI must be connected. */
void
guard_check_statements(GuardRule *rule)
{
	for (int i = 0; i < 2 && OidIsValid(rule->side[i].table); i++)
	{
		GuardSide *side = &rule->side[i];
		GuardParameters list;

		if (OidIsValid(rule->verdicts))
		{
			list = names_of(rule, side, NULL, NULL, NULL);
			(void) guard_plan(&side->judged, judged, rule, side, &list);
		}
		if (OidIsValid(rule->log))
		{
			list = statements_record_of(rule, side, NULL, NULL);
			(void) guard_plan(&side->record, record, rule, side, &list);
		}
	}
}

/* Writes a pair to the log. */
void
guard_record(GuardCheck *check, const GuardHit *hit)
{
	GuardRule *rule = check->rule;
	GuardSide *side = hit->place->side;
	GuardParameters list = statements_record_of(rule, side, check, hit);

	guard_check_right(rule, rule->log, InvalidAttrNumber, ACL_INSERT, OPTION_LOG_TABLE);
	SPI_connect();
	(void) guard_run(guard_plan(&side->record, record, rule, side, &list), &list, SPI_OK_INSERT,
					 false);
	SPI_finish();
}
