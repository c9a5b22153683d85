/*
 * statements.c: what a guard does in SQL, as the current user: it inserts into a log, and
 * reads verdicts.
 */
#include "guard/statements.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/ruleutils.h"

#include "rights.h"

/* ---- Text of statements --------------------------------------------------------------- */

/* Returns the name of a relation with its schema, quoted where needed. */
const char *
guard_qualified(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  get_rel_name(relation));
}

/* Returns the schema of the extension, quoted where needed. */
const char *
guard_extension_schema(const GuardRule *rule)
{
	return quote_identifier(get_namespace_name(get_func_namespace(rule->function)));
}

/* Returns the name of a type with its schema, which stands for any modifier. */
static const char *
type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* Returns the condition that two expressions of a type are equal, or the left one less. */
const char *
guard_comparison(const char *left, Oid type, bool less, const char *right)
{
	const TypeCacheEntry *cache =
		lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	Oid compare = less ? cache->lt_opr : cache->eq_opr;
	StringInfoData text;

	if (!OidIsValid(compare))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s",
						format_type_be(cache->type_id)),
				 errhint("Name a column of another type.")));
	initStringInfo(&text);
	generate_operator_clause(&text, left, type, compare, right, type);
	return text.data;
}

/* ---- Running statements ----------------------------------------------------------------- */

/* Begins settings in which texts are alike, and no LOG message shows values of other rows. */
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

/* A MemoryContextCallbackFunction. */
static void
free_plan(void *plan)
{
	(void) SPI_freeplan(plan);
}

/* Prepares a statement, whose plan lives as long as a rule.  SPI must be connected. */
SPIPlanPtr
guard_prepare(const GuardRule *rule, const char *text, int count, Oid *type)
{
	MemoryContextCallback *callback =
		MemoryContextAllocZero(rule->context, sizeof(MemoryContextCallback));
	int settings = begin_settings();

	set_locally("search_path", SAFE_SEARCH_PATH);
	callback->func = free_plan;
	callback->arg = SPI_prepare(text, count, type);
	AtEOXact_GUC(true, settings);
	if (callback->arg == NULL)
		elog(ERROR, "SPI_prepare failed: %s for %s", SPI_result_code_string(SPI_result), text);
	(void) SPI_keepplan(callback->arg);
	MemoryContextRegisterResetCallback(rule->context, callback);
	return callback->arg;
}

/*
 * Runs a statement, and checks its result code; returns whether it had rows.  A query sees all
 * committed rows.  If asked, the plan keeps the order of rows, and looks few of them up by their
 * keys, however small the tables were when it was made.
 */
bool
guard_run(SPIPlanPtr plan, Datum *value, int expected, bool in_order)
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
	result = SPI_execute_snapshot(plan, value, NULL, snapshot, InvalidSnapshot, false, true, 0);
	if (result != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
	/* What triggers of the statement have set stays. */
	AtEOXact_GUC(true, settings);
	return SPI_processed > 0;
}

/* ---- Rights ------------------------------------------------------------------------------- */

/* The columns of a log that a guard fills, if they exist, with texts: the first two must. */
static const char *const log_columns[][2] = {{"row_key", "$1"},
											 {"resembles", "$2"},
											 {"similarity", "$3"},
											 {"noticed_by", "$4"},
											 {"in_table",
											  "$5::pg_catalog.oid::pg_catalog.regclass"},
											 {"noticed_at", "pg_catalog.now()"}};

/* Raises an error if the user lacks a privilege on a column of a table; 0 is the whole table. */
void
guard_check_right(const GuardRule *rule, Oid table, AttrNumber column, AclMode right,
				  GuardOption option)
{
	Oid user = GetUserId();
	const char *privilege = right == ACL_INSERT ? "INSERT" : "SELECT";
	bool may = right == ACL_INSERT ||
		(column > 0 && pg_attribute_aclcheck(table, column, user, right) == ACLCHECK_OK);

	for (int i = 0; right == ACL_INSERT && i < lengthof(log_columns); i++)
	{
		AttrNumber filled = get_attnum(table, log_columns[i][0]);

		may &= filled <= 0 || pg_attribute_aclcheck(table, filled, user, right) == ACLCHECK_OK;
	}
	if (may || pg_class_aclcheck(table, user, right) == ACLCHECK_OK)
		return;
	if (right == ACL_UPDATE)
		privilege = psprintf("UPDATE (%s)", quote_identifier(get_attname(table, column, false)));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for table %s", get_rel_name(table)),
			 errdetail("Guard \"%s\" uses argument \"%s\" as the user who writes a row.",
					   rule->name, guard_option_names[option]),
			 errhint("Use GRANT %s ON %s TO %s.", privilege, guard_qualified(table),
					 quote_identifier(GetUserNameFromId(user, false)))));
}

/*
 * Raises an error unless the current user may read all rows of the tables that are searched, or nobody
 * but their owner can have made the guard, which tells of them: a trigger has no owner of its own.
 */
void
guard_check_search(const GuardRule *rule)
{
	for (int i = 0; i < rule->tables; i++)
	{
		Oid table = rule->table[i].oid;
		Relation guarded;
		Relation searched;
		const char *makers = NULL;
		bool one_owner;
		bool hidden;

		if (role_may_read(table, InvalidAttrNumber))
			continue;
		guarded = table_open(rule->guarded->oid, AccessShareLock);
		searched = table_open(table, AccessShareLock);
		one_owner = guarded->rd_rel->relowner == searched->rd_rel->relowner;
		if (one_owner)
			makers = others_who_make_triggers(guarded);
		table_close(searched, NoLock);
		table_close(guarded, NoLock);
		if (one_owner && makers == NULL)
			continue;
		hidden = role_may_select(table, InvalidAttrNumber);
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 hidden ?
					 errmsg("row-level security hides rows of table \"%s\"", get_rel_name(table)) :
					 errmsg("permission denied for table %s", get_rel_name(table)),
				 errdetail("Guard \"%s\" tells which rows are there, and roles other than their owner may have made it.",
						   rule->name),
				 makers != NULL ?
					 errhint("Use REVOKE TRIGGER ON %s FROM %s, and drop the triggers that are not yours.",
							 guard_qualified(rule->guarded->oid), makers) :
					 hidden ?
					 errhint("Give both tables one owner.") :
					 errhint("Use GRANT SELECT ON %s TO %s, or give both tables one owner.",
							 guard_qualified(table),
							 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	}
}

/* ---- Verdicts ------------------------------------------------------------------------------ */

/*
 * Returns the condition that a column of a verdict v names the row of a key of a table, by the equality
 * of the key's type and collation.  A type that the same operator family compares with it, as
 * bigint with integer, is compared so; any other is read from its text, and what is no value of the
 * key's type names no row.
 */
static const char *
names_key(const GuardRule *rule, const char *column, const GuardTable *table, const char *key)
{
	const char *value = psprintf("v.%s", column);
	Oid type = get_atttype(rule->verdicts, get_attnum(rule->verdicts, column));
	const TypeCacheEntry *cache =
		lookup_type_cache(getBaseType(table->type), TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR);
	bool as_is = IsBinaryCoercible(type, cache->type_id);
	Oid across = as_is ? InvalidOid :
						 get_opfamily_member(cache->btree_opf, getBaseType(type), cache->type_id,
											 BTEqualStrategyNumber);
	StringInfoData text;

	if (!as_is && !OidIsValid(across))
	{
		value = psprintf("%s.neardup_as_id(%s::pg_catalog.text, NULL::%s)",
						 guard_extension_schema(rule), value, type_name(cache->type_id));
		type = cache->type_id;
	}
	if (!OidIsValid(across) && OidIsValid(table->collation))
		value = psprintf("(%s COLLATE %s)", value, generate_collation_name(table->collation));
	initStringInfo(&text);
	generate_operator_clause(&text, value, type, OidIsValid(across) ? across : cache->eq_opr, key,
							 table->type);
	return text.data;
}

/* Returns the condition that a verdict v is on the new row $1 and the row of a key of a table. */
const char *
guard_verdict(const GuardRule *rule, const GuardTable *table, const char *key)
{
	const char *type = format_type_be(rule->guarded->type);
	Oid verdicts = rule->verdicts;

	if (get_attnum(verdicts, "a") <= 0 || get_attnum(verdicts, "b") <= 0 ||
		get_attnum(verdicts, "same") <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" of argument \"verdicts\" has no columns a, b and same",
						get_rel_name(verdicts)),
				 errdetail("Guard \"%s\" reads there which rows are the same.", rule->name),
				 errhint("Use CREATE TABLE verdicts (a %s, b %s, same boolean, PRIMARY KEY (a, b)).",
						 type, type)));
	return psprintf("(%s AND %s OR %s AND %s)", names_key(rule, "a", rule->guarded, "$1"),
					names_key(rule, "b", table, key), names_key(rule, "b", rule->guarded, "$1"),
					names_key(rule, "a", table, key));
}

/* Prepares the search for a verdict that a new row $1 and a row $2 of a table are different. */
static void
prepare_judged(const GuardRule *rule, GuardTable *table)
{
	Oid type[] = {rule->guarded->type, table->type};

	table->judged =
		guard_prepare(rule,
					  psprintf("SELECT FROM %s AS v WHERE NOT v.same AND %s LIMIT 1",
							   guard_qualified(rule->verdicts), guard_verdict(rule, table, "$2")),
					  2, type);
}

/* Returns whether people have judged that a row that is found and the new one are different. */
bool
guard_is_judged(GuardCheck *check, const GuardHit *hit)
{
	GuardRule *rule = check->rule;
	GuardTable *table = hit->leaf->table;
	NullableDatum own = guard_get(check, check->row, &check->leaf->group_key);
	NullableDatum other = guard_get(check, hit->row, &hit->leaf->group_key);
	Datum value[] = {own.value, other.value};
	bool found;

	guard_check_right(rule, rule->verdicts, InvalidAttrNumber, ACL_SELECT, OPTION_VERDICTS);
	if (own.isnull || other.isnull)
		return false;
	SPI_connect();
	if (table->judged == NULL)
		prepare_judged(rule, table);
	found = guard_run(table->judged, value, SPI_OK_SELECT, false);
	SPI_finish();
	return found;
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Prepares the insert of a pair of rows into the log. */
static void
prepare_record(GuardRule *rule)
{
	Oid type[] = {TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID};
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
			appendStringInfo(&values, "%sCAST(%s AS %s)", i > 0 ? ", " : "", log_columns[i][1],
							 type_name(get_atttype(rule->log, column)));
		}
		else if (i < 2)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("table \"%s\" has no column \"row_key\" or no column \"resembles\"",
							get_rel_name(rule->log)),
					 errdetail("Guard \"%s\" fills these columns, and if they exist similarity, "
							   "noticed_at, noticed_by and in_table.",
							   rule->name),
					 errhint("Add the columns, or name another table.")));
	}
	rule->record = guard_prepare(rule,
								 psprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING",
										  guard_qualified(rule->log), names.data, values.data),
								 lengthof(type), type);
}

/* Prepares the statements of a rule, to find mistakes.  SPI must be connected. */
void
guard_check_statements(GuardRule *rule)
{
	for (int i = 0; i < rule->tables && OidIsValid(rule->verdicts); i++)
		prepare_judged(rule, &rule->table[i]);
	if (OidIsValid(rule->log))
		prepare_record(rule);
}

/* Writes a pair to the log, with texts that do not depend on settings. */
void
guard_record(const GuardCheck *check, const GuardHit *hit)
{
	GuardRule *rule = check->rule;
	/* The role that logged in: the current user may have become another since the row was inserted. */
	const char *user = GetUserNameFromId(GetSessionUserId(), false);
	int settings = begin_settings();
	Datum value[] = {guard_key_text(check->leaf, check->row), guard_key_text(hit->leaf, hit->row),
					 CStringGetTextDatum(psprintf("%.17g", hit->similarity)),
					 CStringGetTextDatum(user),
					 CStringGetTextDatum(psprintf("%u", check->leaf->oid))};

	AtEOXact_GUC(true, settings);
	guard_check_right(rule, rule->log, InvalidAttrNumber, ACL_INSERT, OPTION_LOG_TABLE);
	SPI_connect();
	if (rule->record == NULL)
		prepare_record(rule);
	(void) guard_run(rule->record, value, SPI_OK_INSERT, false);
	SPI_finish();
}
