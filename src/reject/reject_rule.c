/*
 * reject_rule.c: rules: the arguments of a trigger, checked, and the statements
 * that it runs, prepared.
 *
 * A rule is made when its trigger first fires in a session and cached.  A change
 * of the tables may make any part of it wrong, so it is made again as soon as
 * PostgreSQL finds the plan of one of its statements invalid.
 */
#include "reject/reject.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "index/index.h"

/* A rule in the making. */
typedef struct Maker
{
	Trigger *trigger;
	Relation table;     /* the trigger's table */
	Relation guarded;   /* the rule's guarded table */
	Oid function;       /* neardup_reject() */
	const char *schema; /* of the extension, quoted */
	RejectRule *rule;
} Maker;

/* ---- Arguments ---------------------------------------------------------- */

/* Returns the value of an option NAME=value, or NULL. */
static const char *
option_value(const char *option, const char *name)
{
	size_t length = strlen(name);

	return strncmp(option, name, length) == 0 && option[length] == '=' ? option + length + 1 : NULL;
}

/* Reads the trigger's arguments: column, threshold, options. */
static void
read_arguments(Maker *maker)
{
	RejectRule *rule = maker->rule;
	const Trigger *trigger = maker->trigger;
	char *end;

	if (trigger->tgnargs < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neardup_reject() needs a column and a threshold"),
				 errhint("Create the trigger with EXECUTE FUNCTION neardup_reject('sig', '0.9').")));
	rule->threshold = strtod(trigger->tgargs[1], &end);
	if (end == trigger->tgargs[1] || *end != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("threshold of neardup_reject() is not a number: \"%s\"",
						trigger->tgargs[1]),
				 errhint("Pass a similarity as the second argument, as in neardup_reject('sig', "
						 "'0.9').")));
	check_threshold(rule->threshold, NULL);
	rule->lock = true;
	for (int i = 2; i < trigger->tgnargs; i++)
	{
		const char *option = trigger->tgargs[i];
		const char *value;

		if (strcmp(option, "warn") == 0)
			rule->warn = true;
		else if (strcmp(option, "no_lock") == 0)
			rule->lock = false;
		else if ((value = option_value(option, "within")) != NULL)
			rule->scope.within = pstrdup(value);
		else if ((value = option_value(option, "where")) != NULL)
			rule->scope.where = pstrdup(value);
		else if ((value = option_value(option, "log")) != NULL)
			rule->log = pstrdup(value);
		else if ((value = option_value(option, "message")) != NULL)
			rule->message = pstrdup(value);
		else if ((value = option_value(option, "hint")) != NULL)
			rule->hint = pstrdup(value);
		else
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("neardup_reject() has no option \"%s\"", option),
					 errhint("Use 'warn', 'log=TABLE', 'no_lock', 'within=COLUMNS', 'where=INDEX', "
							 "'message=TEXT' or 'hint=TEXT'.")));
	}
}

/* ---- The table ---------------------------------------------------------- */

/* Finds the column of signatures and checks its type. */
static void
find_column(Maker *maker)
{
	RejectRule *rule = maker->rule;
	const char *name = maker->trigger->tgargs[0];
	Oid type;

	rule->column = get_attnum(RelationGetRelid(maker->table), name);
	if (rule->column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(maker->table)),
				 errdetail("Trigger \"%s\" compares signatures in it.", maker->trigger->tgname),
				 errhint("If the column was renamed, create the trigger again with the new name.")));
	type = getBaseType(get_atttype(RelationGetRelid(maker->table), rule->column));
	if (!is_signature_type(maker->function, type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, not a signature", name, format_type_be(type)),
				 errdetail("neardup_reject() compares columns of type minhash, simhash, bit or bigint."),
				 errhint("Add a column such as \"sig minhash GENERATED ALWAYS AS (to_minhash(body)) "
						 "STORED\", and pass its name.")));
	rule->column_type = type;
	rule->column_name = pstrdup(name);
}

/*
 * Finds the columns that the signatures are generated from: a role that may
 * read these can compute the signatures.
 */
static void
find_source_columns(Maker *maker)
{
	RejectRule *rule = maker->rule;
	AttrNumber column = get_attnum(rule->guarded, rule->column_name);
	TupleDesc row_type = RelationGetDescr(maker->guarded);
	Bitmapset *columns = NULL;
	int member = -1;

	if (!TupleDescAttr(row_type, column - 1)->attgenerated)
		return;
	for (int i = 0; i < row_type->constr->num_defval; i++)
		if (row_type->constr->defval[i].adnum == column)
			pull_varattnos(stringToNode(row_type->constr->defval[i].adbin), 1, &columns);
	rule->source = palloc(bms_num_members(columns) * sizeof(AttrNumber) + 1);
	while ((member = bms_next_member(columns, member)) >= 0)
		rule->source[rule->sources++] = member + FirstLowInvalidHeapAttributeNumber;
}

static void
make_key_room(RejectRule *rule, int keys)
{
	rule->keys = keys;
	rule->key = palloc(keys * sizeof(AttrNumber));
	rule->key_name = palloc(keys * sizeof(char *));
	rule->key_output = palloc(keys * sizeof(Oid));
}

/* Identifies rows by the columns of a primary key. */
static void
use_primary_key(Maker *maker, Form_pg_index index)
{
	RejectRule *rule = maker->rule;

	make_key_room(rule, index->indnkeyatts);
	for (int i = 0; i < rule->keys; i++)
	{
		AttrNumber column = index->indkey.values[i];
		char *name = get_attname(rule->guarded, column, false);
		bool is_varlena;

		getTypeOutputInfo(get_atttype(rule->guarded, column), &rule->key_output[i], &is_varlena);
		rule->key[i] = get_attnum(RelationGetRelid(maker->table), name);
		rule->key_name[i] = name;
	}
}

/* Returns whether an index finds similar rows among all that are searched. */
static bool
serves_search(const Maker *maker, Relation index)
{
	const RejectRule *rule = maker->rule;

	return index->rd_rel->relam == get_index_am_oid("neardup", true) &&
		index->rd_index->indisvalid &&
		index->rd_index->indkey.values[index_cache(index)->signature - 1] ==
		get_attnum(rule->guarded, rule->column_name) &&
		predicate_implied_by(RelationGetIndexPredicate(index), rule->scope.condition, false);
}

/* Looks for a primary key, in place of the ctid, and for an index for the search. */
static void
find_indexes(Maker *maker)
{
	RejectRule *rule = maker->rule;
	List *indexes = RelationGetIndexList(maker->guarded);
	ListCell *cell;

	make_key_room(rule, 1);
	rule->key[0] = SelfItemPointerAttributeNumber;
	rule->key_name[0] = "ctid";
	rule->key_output[0] = F_TIDOUT;
	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_index->indisprimary)
			use_primary_key(maker, index->rd_index);
		rule->indexed |= serves_search(maker, index);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
}

static void
warn_of_missing_index(const Maker *maker)
{
	const RejectScope *scope = &maker->rule->scope;
	const char *table = RelationGetRelationName(maker->guarded);
	const char *column = maker->trigger->tgargs[0];
	StringInfoData keys;

	initStringInfo(&keys);
	/* Of two columns of type bigint, the class says which is the key. */
	for (int i = 0; i < scope->columns; i++)
		appendStringInfo(&keys, "%s%s, ", quote_identifier(scope->column[i].name),
						 maker->rule->column_type == INT8OID && scope->column[i].type == INT8OID ?
							 " bigint_key_ops" :
							 "");
	appendStringInfoString(&keys, quote_identifier(column));
	ereport(WARNING,
			(errmsg("there is no neardup index on column \"%s\" of table \"%s\"", column, table),
			 errdetail("Trigger \"%s\" reads the whole table for each row.",
					   maker->trigger->tgname),
			 errhint("Use CREATE INDEX ON %s USING neardup (%s).", quote_identifier(table),
					 keys.data)));
}

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

/* Returns FROM and WHERE for all rows in the scope but the new one. */
static const char *
other_rows(const Maker *maker, const char *condition)
{
	bool partitioned = maker->guarded->rd_rel->relkind != RELKIND_RELATION;

	return psprintf(" FROM %s%s AS t WHERE %s%s AND NOT (t.ctid OPERATOR(pg_catalog.=) $2"
					" AND t.tableoid OPERATOR(pg_catalog.=) $3)",
					partitioned ? "" : "ONLY ", qualified_name(maker->guarded), condition,
					scope_conditions(maker->rule, SEARCH_SCOPE + 1));
}

/*
 * Prepares the search for the most similar row; among equals the least key
 * counts.
 *
 * All signatures in an index have one shape.  Without an index there may be
 * others, and comparing those would be an error.  So if no row is similar, the
 * search returns one that cannot be compared, with a similarity of NULL.
 */
static void
prepare_search(Maker *maker)
{
	RejectRule *rule = maker->rule;
	int parameters = SEARCH_SCOPE + rule->scope.columns;
	Oid *types = palloc(parameters * sizeof(Oid));
	const char *schema = maker->schema;
	const char *column = signature_column(maker);
	const char *kind = kind_of_signature(maker);
	const char *pair = psprintf("(%s::%s.%s, $1::%s.%s)", column, schema, kind, schema, kind);
	const char *similarity = psprintf("%s.similarity%s", schema, pair);
	const char *condition =
		psprintf("%s OPERATOR(%s.<@) %s.near($1::%s.%s, '%.17g'::pg_catalog.float8)", column,
				 schema, schema, schema, kind, rule->threshold);
	StringInfoData columns;
	StringInfoData order;

	types[SEARCH_SIGNATURE] = rule->column_type;
	types[SEARCH_CTID] = TIDOID;
	types[SEARCH_TABLE] = OIDOID;
	for (int i = 0; i < rule->scope.columns; i++)
		types[SEARCH_SCOPE + i] = rule->scope.column[i].type;
	initStringInfo(&columns);
	initStringInfo(&order);
	for (int i = 0; i < rule->keys; i++)
	{
		appendStringInfo(&columns, ", t.%s", quote_identifier(rule->key_name[i]));
		appendStringInfo(&order, ", %d", i + 2);
	}
	if (!rule->indexed)
	{
		const char *comparable = psprintf("%s.is_comparable%s", schema, pair);

		similarity = psprintf("CASE WHEN %s THEN %s END", comparable, similarity);
		condition =
			psprintf("CASE WHEN %s THEN %s ELSE %s IS NOT NULL END", comparable, condition, column);
		rule->statement[MATCH] =
			prepare(psprintf("SELECT 1%s LIMIT 1", other_rows(maker, comparable)), parameters,
					types);
	}
	rule->statement[SEARCH] =
		prepare(psprintf("SELECT %s%s%s ORDER BY 1 DESC NULLS LAST%s LIMIT 1", similarity,
						 columns.data, other_rows(maker, condition), order.data),
				parameters, types);
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

/* Opens the log.  It lies in the schema of the guarded table unless its name has a schema. */
static Relation
open_log(const Maker *maker)
{
	RangeVar *name =
		makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(maker->rule->log)));
	Relation log;

	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(RelationGetNamespace(maker->guarded));
	/* The lock keeps triggers and the like from coming to the log. */
	log = table_openrv_extended(name, RowExclusiveLock, true);
	if (log == NULL)
		report_missing_log(maker, name);
	if (log->rd_rel->relowner != maker->guarded->rd_rel->relowner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables \"%s\" and \"%s\" must have the same owner",
						RelationGetRelationName(log), RelationGetRelationName(maker->guarded)),
				 errdetail("Trigger \"%s\" writes to the first in the name of the second's owner.",
						   maker->trigger->tgname),
				 errhint("Use ALTER TABLE ... OWNER TO to change one of them.")));
	return log;
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

/* ---- What a rule depends on ----------------------------------------------- */

/* Counts the changes of types, roles and memberships. */
static uint64 changes = 1;

static void
count_change(Datum argument, int cache, uint32 hash)
{
	changes++;
}

/* Looks again at whom and what the rule may trust. */
static void
refresh_rule(RejectRule *rule, Relation guarded)
{
	uint64 seen_changes = changes;
	MemoryContext old_context;
	List *prepared;

	rule->trusted = owner_alone_makes_triggers(guarded);
	prepared = check_plain(rule);
	old_context = MemoryContextSwitchTo(rule->context);
	list_free(rule->prepared);
	rule->prepared = list_copy(prepared);
	MemoryContextSwitchTo(old_context);
	rule->seen_changes = seen_changes;
}

/* Makes a rule in a memory context of its own, which is kept once nothing can fail. */
static RejectRule *
make_rule(Trigger *trigger, Relation table, Oid function)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup_reject rule", ALLOCSET_SMALL_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	RejectRule *rule = palloc0(sizeof(RejectRule));
	Maker maker = {.trigger = trigger, .table = table, .function = function, .rule = rule};
	AsOwner as;

	rule->context = context;
	rule->name = pstrdup(trigger->tgname);
	rule->extension = getExtensionOfObject(ProcedureRelationId, function);
	maker.schema = quote_identifier(get_namespace_name(get_func_namespace(function)));
	read_arguments(&maker);
	find_column(&maker);
	find_guarded(trigger->tgoid, rule);
	maker.guarded = table_open(rule->guarded, AccessShareLock);
	rule->owner = maker.guarded->rd_rel->relowner;
	find_source_columns(&maker);
	find_scope(rule, trigger->tgname, table, maker.guarded);
	find_indexes(&maker);
	/* Statements are made of the condition, so that is checked before. */
	refresh_rule(rule, maker.guarded);
	/* The current user may lack USAGE on the schemas that the statements name. */
	begin_as_owner(rule, &as);
	prepare_search(&maker);
	if (rule->log != NULL)
		prepare_record(&maker);
	end_as_owner(&as);
	refresh_rule(rule, maker.guarded);
	if (!rule->indexed)
		warn_of_missing_index(&maker);
	table_close(maker.guarded, NoLock);
	MemoryContextSwitchTo(old_context);

	MemoryContextSetParent(context, TopMemoryContext);
	for (int i = 0; i < STATEMENTS; i++)
		if (rule->statement[i] != NULL)
			SPI_keepplan(rule->statement[i]);
	return rule;
}

static void
free_rule(RejectRule *rule)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (rule->statement[i] != NULL)
			SPI_freeplan(rule->statement[i]);
	MemoryContextDelete(rule->context);
}

/* Are the statements still right? */
static bool
rule_is_valid(const RejectRule *rule)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (rule->statement[i] != NULL && !SPI_plan_is_valid(rule->statement[i]))
			return false;
	return true;
}

/* Has the search a plan that needs not be made again, as after a change of a partition? */
static bool
search_is_planned(const RejectRule *rule)
{
	const CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(rule->statement[SEARCH]));

	return source->gplan != NULL && source->gplan->is_valid;
}

/* Has nothing changed since reject_rule() returned the rule? */
bool
rule_is_current(const RejectRule *rule)
{
	return rule_is_valid(rule) && rule->seen_changes == changes;
}

/* Keeps a rule from being freed until release_rule(). */
void
hold_rule(RejectRule *rule)
{
	rule->running++;
}

/* Lets a rule of hold_rule() be freed. */
void
release_rule(RejectRule *rule)
{
	if (--rule->running == 0 && rule->replaced)
		free_rule(rule);
}

/* ---- The cache ---------------------------------------------------------- */

typedef struct CachedRule
{
	Oid trigger;
	RejectRule *rule; /* or NULL */
} CachedRule;

static HTAB *cache = NULL;

/* Returns the entry of a trigger, a new one if there is none. */
static CachedRule *
cached_rule(Oid trigger)
{
	CachedRule *entry;
	bool found;

	if (cache == NULL)
	{
		HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(CachedRule)};

		cache = hash_create("neardup_reject rules", 16, &control, HASH_ELEM | HASH_BLOBS);
		CacheRegisterSyscacheCallback(TYPEOID, count_change, 0);
		CacheRegisterSyscacheCallback(AUTHOID, count_change, 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, count_change, 0);
	}
	entry = hash_search(cache, &trigger, HASH_ENTER, &found);
	if (!found)
		entry->rule = NULL;
	return entry;
}

/*
 * Frees all rules that are neither valid nor running.  These include the rules
 * of dropped triggers, as nothing reports the drop of a trigger.
 */
static void
free_invalid_rules(void)
{
	HASH_SEQ_STATUS scan;
	CachedRule *entry;

	hash_seq_init(&scan, cache);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->rule != NULL && (entry->rule->running > 0 || rule_is_valid(entry->rule)))
			continue;
		if (entry->rule != NULL)
			free_rule(entry->rule);
		hash_search(cache, &entry->trigger, HASH_REMOVE, NULL);
	}
}

/*
 * Returns the rule of a trigger that fires for a row of table; function is
 * neardup_reject().  Locks the guarded table and the log.  SPI must be connected.
 */
RejectRule *
reject_rule(Trigger *trigger, Relation table, Oid function)
{
	RejectRule *rule = cached_rule(trigger->tgoid)->rule;

	if (rule != NULL)
	{
		/* Under the locks, all changes of what the rule reads and writes are known. */
		LockRelationOid(rule->guarded, AccessShareLock);
		if (OidIsValid(rule->log_table))
			LockRelationOid(rule->log_table, RowExclusiveLock);
		if (rule_is_valid(rule))
		{
			if (rule->seen_changes != changes || !search_is_planned(rule))
			{
				Relation guarded = table_open(rule->guarded, NoLock);

				refresh_rule(rule, guarded);
				table_close(guarded, NoLock);
			}
			return rule;
		}
		cached_rule(trigger->tgoid)->rule = NULL;
		/* A rule that an outer call uses is freed by that. */
		rule->replaced = true;
		if (rule->running == 0)
			free_rule(rule);
	}
	free_invalid_rules();
	rule = make_rule(trigger, table, function);
	cached_rule(trigger->tgoid)->rule = rule;
	return rule;
}
