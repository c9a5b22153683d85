/*
 * reject_plain.c: whether all that a rule runs with the rights of the table's owner is plain.
 *
 * A role that may only insert must not make code of its own run with the owner's rights.  No
 * search_path prevents that: a type or relation that a function names without a schema may be
 * one of the session's pg_temp.  So only functions of PostgreSQL and of this extension run,
 * and everything that may run is looked at as it is stored: the planner's copies have inlined
 * functions.
 */
#include "reject/reject.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/prs2lock.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* A walk over what may run. */
typedef struct Walk
{
	const RejectRule *rule;
	const char *user; /* what runs the objects, as the subject of a sentence */
	const char *hint;
	bool reread; /* constants are written as text and read again */
} Walk;

/* ---- Functions ------------------------------------------------------------ */

/* Refuses an object. */
static void
refuse(const Walk *walk, const char *object)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("trigger \"%s\" may not run %s with the rights of the owner of table \"%s\"",
					walk->rule->name, object, get_rel_name(walk->rule->guarded)),
			 errdetail("%s uses it.  With these rights only functions and types of PostgreSQL and of "
					   "this extension may run.",
					   walk->user),
			 errhint("%s", walk->hint)));
}

/* Refuses an object of a catalog. */
static void
refuse_object(const Walk *walk, Oid catalog, Oid object)
{
	refuse(walk, getObjectDescriptionOids(catalog, object));
}

/* Was an object made with the database, or does it belong to this extension? */
static bool
is_ours(const Walk *walk, Oid catalog, Oid object)
{
	return object < FirstNormalObjectId ||
		is_extension_object(walk->rule->function, catalog, object);
}

/*
 * Can a function not be told what else to run?  Immutable functions cannot, but for the
 * functions of the types that they are called with; nor functions without arguments, such as
 * now() and functions of triggers, functions of dates and times, and the two named here.
 */
static bool
is_harmless(Form_pg_proc function)
{
	const char *name = NameStr(function->proname);

	if (function->provolatile == PROVOLATILE_IMMUTABLE || function->pronargs == 0 ||
		strcmp(name, "nextval") == 0 || strcmp(name, "regclass") == 0)
		return true;
	for (int i = 0; i < function->pronargs; i++)
	{
		char category;
		bool preferred;

		get_type_category_preferred(function->proargtypes.values[i], &category, &preferred);
		if (function->provolatile == PROVOLATILE_STABLE &&
			(category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN))
			return true;
	}
	return false;
}

/* Is a function one of PostgreSQL or of this extension that runs no other one by name? */
static bool
is_plain_function(const Walk *walk, Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool plain;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	plain = is_ours(walk, ProcedureRelationId, function) &&
		(function >= FirstNormalObjectId || form->pronamespace == PG_CATALOG_NAMESPACE) &&
		is_harmless(form);
	ReleaseSysCache(tuple);
	return plain;
}

/* Is a function written in C?  Only superusers can create such functions. */
static bool
is_written_in_c(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool is_c =
		HeapTupleIsValid(tuple) && ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_c;
}

/*
 * May a function of an operator class run?  Only superusers make operator classes.  The
 * functions written in C of other extensions, such as citext, are not tricked by a type.
 */
static bool
is_plain_support(const Walk *walk, Oid function)
{
	return !OidIsValid(function) || is_ours(walk, ProcedureRelationId, function) ||
		is_written_in_c(function);
}

/* For check_functions_in_node(): stops at a function that may not run. */
static bool
refuse_function(Oid function, void *walk)
{
	if (!is_plain_function(walk, function))
		refuse_object(walk, ProcedureRelationId, function);
	return false;
}

/* Is an expression an operator of an operator class written in C? */
static bool
is_plain_operator(const Walk *walk, const Node *node)
{
	Oid operator= IsA(node, ScalarArrayOpExpr) ? ((const ScalarArrayOpExpr *) node)->opno :
		IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr) ?
												 ((const OpExpr *) node)->opno :
												 InvalidOid;
	CatCList *families;
	bool plain;

	if (!OidIsValid(operator))
		return false;
	families = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	plain = families->n_members > 0 && is_plain_support(walk, get_opcode(operator));
	ReleaseSysCacheList(families);
	return plain;
}

/* ---- Types ---------------------------------------------------------------- */

static bool walk_node(Node *node, void *context);
static void walk_type(Walk *walk, Oid type, bool read);

/* Walks an expression as a catalog stores it. */
static void
walk_stored(Walk *walk, const char *expression)
{
	(void) walk_node(stringToNode(expression), walk);
}

/* Walks an attribute of a catalog's row that holds expressions or NULL. */
static void
walk_attribute(Walk *walk, int cache, HeapTuple tuple, AttrNumber attribute)
{
	bool is_null;
	Datum expression = SysCacheGetAttr(cache, tuple, attribute, &is_null);

	if (!is_null)
		walk_stored(walk, TextDatumGetCString(expression));
}

/* Walks the constraints of a domain, and returns the type that it is over. */
static Oid
walk_domain(Walk *walk, Oid domain)
{
	HeapTuple type = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
	Oid base;
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	if (!HeapTupleIsValid(type))
		elog(ERROR, "cache lookup failed for type %u", domain);
	base = ((Form_pg_type) GETSTRUCT(type))->typbasetype;
	ReleaseSysCache(type);
	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(domain));
	scan = systable_beginscan(constraints, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool is_null;
		Datum check =
			heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(constraints), &is_null);

		if (!is_null)
			walk_stored(walk, TextDatumGetCString(check));
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
	return base;
}

/* Walks a base type that is not PostgreSQL's or this extension's: how its values are compared. */
static void
walk_foreign_type(Walk *walk, Oid type, bool read)
{
	TypeCacheEntry *entry =
		lookup_type_cache(type,
						  TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC |
							  TYPECACHE_HASH_EXTENDED_PROC);

	if (read || (OidIsValid(entry->eq_opr) && !is_plain_support(walk, get_opcode(entry->eq_opr))) ||
		!is_plain_support(walk, entry->cmp_proc) || !is_plain_support(walk, entry->hash_proc) ||
		!is_plain_support(walk, entry->hash_extended_proc))
		refuse_object(walk, TypeRelationId, type);
}

/* Walks a type whose values are compared, shown and, if read, read from text. */
static void
walk_type(Walk *walk, Oid type, bool read)
{
	char kind = get_typtype(type);

	check_stack_depth();
	if (OidIsValid(get_element_type(type)))
		walk_type(walk, get_element_type(type), read);
	else if (kind == TYPTYPE_DOMAIN)
		walk_type(walk, walk_domain(walk, type), read);
	else if (kind == TYPTYPE_COMPOSITE)
	{
		TupleDesc row = lookup_rowtype_tupdesc_copy(type, -1);

		for (int i = 0; i < row->natts; i++)
			if (!TupleDescAttr(row, i)->attisdropped)
				walk_type(walk, TupleDescAttr(row, i)->atttypid, read);
	}
	else if (kind != TYPTYPE_ENUM && !is_ours(walk, TypeRelationId, type))
	{
		if (kind != TYPTYPE_BASE)
			refuse_object(walk, TypeRelationId, type);
		walk_foreign_type(walk, type, read);
	}
}

/* ---- Expressions ---------------------------------------------------------- */

/* Walks expressions and statements.  What is not listed here is refused. */
static bool
walk_node(Node *node, void *context)
{
	Walk *walk = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Query:
			return query_tree_walker((Query *) node, walk_node, walk, 0);
		case T_List:
		case T_TargetEntry:
		case T_FromExpr:
		case T_RangeTblRef:
		case T_SetOperationStmt:
		case T_OnConflictExpr:
		case T_CaseWhen:
			return expression_tree_walker(node, walk_node, walk);
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_RowCompareExpr:
			if (!is_plain_operator(walk, node))
				(void) check_functions_in_node(node, refuse_function, walk);
			break;
		case T_CoerceViaIO:
			walk_type(walk, exprType(node), true);
			break;
		case T_Const:
			walk_type(walk, exprType(node), walk->reread);
			break;
		case T_Var:
		case T_Param:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_RelabelType:
		case T_CollateExpr:
		case T_ArrayCoerceExpr:
		case T_CoerceToDomain:
		case T_CoerceToDomainValue:
		case T_CaseExpr:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_SubLink:
		case T_FieldSelect:
		case T_SubscriptingRef:
		case T_SQLValueFunction:
		case T_NextValueExpr:
			break;
		default:
			refuse(walk, "an expression of its kind");
	}
	walk_type(walk, exprType(node), false);
	return expression_tree_walker(node, walk_node, walk);
}

/* Walks a prepared statement. */
static void
walk_statement(Walk *walk, SPIPlanPtr statement)
{
	ListCell *cell;

	if (statement == NULL)
		return;
	foreach (cell, SPI_plan_get_plan_sources(statement))
		(void) walk_node((Node *) ((CachedPlanSource *) lfirst(cell))->query_list, walk);
}

/* ---- The guarded table ---------------------------------------------------- */

/* Walks the condition of an index. */
static void
walk_condition(Walk *walk, Oid index)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	walk->user = psprintf("The condition of index \"%s\"", get_rel_name(index));
	walk->hint = "Use a partial index whose condition calls only operators and functions of "
				 "PostgreSQL.";
	walk->reread = true;
	walk_attribute(walk, INDEXRELID, tuple, Anum_pg_index_indpred);
	walk->reread = false;
	ReleaseSysCache(tuple);
}

/* Walks what the planner makes of a table that is searched: statistics and keys of partitions. */
static void
walk_searched(Walk *walk, Relation table)
{
	ListCell *cell;

	walk->hint = "Use only functions of PostgreSQL there.";
	foreach (cell, RelationGetStatExtList(table))
	{
		HeapTuple tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			continue;
		walk->user = psprintf("Statistics object \"%s\"",
							  NameStr(((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxname));
		walk_attribute(walk, STATEXTOID, tuple, Anum_pg_statistic_ext_stxexprs);
		ReleaseSysCache(tuple);
	}
	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
	{
		HeapTuple tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(RelationGetRelid(table)));

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for partition key of %u", RelationGetRelid(table));
		walk->user = psprintf("The partition key of table \"%s\"", RelationGetRelationName(table));
		walk_attribute(walk, PARTRELID, tuple, Anum_pg_partitioned_table_partexprs);
		ReleaseSysCache(tuple);
	}
}

/* ---- The log -------------------------------------------------------------- */

/* Walks the columns of a log: their types, defaults, and constraints. */
static void
walk_columns(Walk *walk, Relation log)
{
	TupleDesc row = RelationGetDescr(log);
	const TupleConstr *constraints = row->constr;
	const char *table = RelationGetRelationName(log);

	for (int i = 0; i < row->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(row, i);

		if (column->attisdropped)
			continue;
		walk->user = psprintf("Column \"%s\" of table \"%s\"", NameStr(column->attname), table);
		walk_type(walk, column->atttypid, false);
	}
	for (int i = 0; constraints != NULL && i < constraints->num_defval; i++)
	{
		Form_pg_attribute column = TupleDescAttr(row, constraints->defval[i].adnum - 1);

		walk->user = psprintf("Column \"%s\" of table \"%s\"", NameStr(column->attname), table);
		walk_stored(walk, constraints->defval[i].adbin);
	}
	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
	{
		walk->user =
			psprintf("Constraint \"%s\" of table \"%s\"", constraints->check[i].ccname, table);
		walk_stored(walk, constraints->check[i].ccbin);
	}
}

/* Walks an index of a log: its expressions, its condition, and how it compares. */
static void
walk_index(Walk *walk, Relation index)
{
	int supports = IndexRelationGetNumberOfKeyAttributes(index) * index->rd_indam->amsupport;
	HeapTuple tuple = index->rd_indextuple;

	walk->user = psprintf("Index \"%s\"", RelationGetRelationName(index));
	walk_attribute(walk, INDEXRELID, tuple, Anum_pg_index_indexprs);
	walk_attribute(walk, INDEXRELID, tuple, Anum_pg_index_indpred);
	for (int i = 0; i < supports; i++)
		if (!is_plain_support(walk, index->rd_support[i]))
			refuse_object(walk, ProcedureRelationId, index->rd_support[i]);
	if (index->rd_index->indisexclusion)
	{
		Oid *operators;
		Oid *functions;
		uint16 *strategies;

		RelationGetExclusionInfo(index, &operators, &functions, &strategies);
		for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
			if (!is_plain_support(walk, functions[i]))
				refuse_object(walk, ProcedureRelationId, functions[i]);
	}
}

/* Walks the indexes of a log. */
static void
walk_indexes(Walk *walk, Relation log)
{
	List *indexes = RelationGetIndexList(log);
	ListCell *cell;

	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		walk_index(walk, index);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
}

/*
 * Walks the foreign keys of a log.  Where the columns have two types, there may be a cast
 * between them, which the owner of either type has made.
 */
static void
walk_foreign_keys(Walk *walk, Relation log)
{
	ListCell *cell;

	foreach (cell, RelationGetFKeyList(log))
	{
		ForeignKeyCacheInfo *key = lfirst(cell);

		walk->user = psprintf("Foreign key \"%s\"", get_constraint_name(key->conoid));
		for (int i = 0; i < key->nkeys; i++)
		{
			Oid from = get_atttype(key->conrelid, key->conkey[i]);
			Oid to = get_atttype(key->confrelid, key->confkey[i]);

			if (!is_plain_support(walk, get_opcode(key->conpfeqop[i])))
				refuse_object(walk, OperatorRelationId, key->conpfeqop[i]);
			if (from != to &&
				(getBaseType(from) >= FirstNormalObjectId ||
				 getBaseType(to) >= FirstNormalObjectId))
				refuse_object(walk, TypeRelationId, from);
		}
	}
}

/* Walks the triggers and rules of a log that an insert fires. */
static void
walk_triggers(Walk *walk, Relation log)
{
	const char *table = RelationGetRelationName(log);

	for (int i = 0; log->trigdesc != NULL && i < log->trigdesc->numtriggers; i++)
	{
		Trigger *trigger = &log->trigdesc->triggers[i];

		if (!TRIGGER_FOR_INSERT(trigger->tgtype) || trigger->tgenabled == TRIGGER_DISABLED)
			continue;
		walk->user = psprintf("Trigger \"%s\" of table \"%s\"", trigger->tgname, table);
		(void) refuse_function(trigger->tgfoid, walk);
		if (trigger->tgqual != NULL)
			walk_stored(walk, trigger->tgqual);
	}
	for (int i = 0; log->rd_rules != NULL && i < log->rd_rules->numLocks; i++)
		if (log->rd_rules->rules[i]->event == CMD_INSERT)
		{
			walk->user = psprintf("Table \"%s\"", table);
			refuse_object(walk, RewriteRelationId, log->rd_rules->rules[i]->ruleId);
		}
}

/* Walks a log. */
static void
walk_log(Walk *walk, Relation log)
{
	if (log->rd_rel->relkind != RELKIND_RELATION || log->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" cannot write to \"%s\"", walk->rule->name,
						RelationGetRelationName(log)),
				 errdetail("It is not an ordinary table, or it is a partition."),
				 errhint("Name an ordinary table in the option \"log\".")));
	walk->hint = "Remove it from the log, or name another table in the option \"log\".";
	walk_columns(walk, log);
	walk_indexes(walk, log);
	walk_foreign_keys(walk, log);
	walk_triggers(walk, log);
}

/* ---- Rules ---------------------------------------------------------------- */

/* Has a relation expressions that PostgreSQL prepares when it loads the relation? */
static bool
has_expressions(Oid index)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool found;

	if (!HeapTupleIsValid(tuple))
		return false;
	found = !heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) ||
		!heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	ReleaseSysCache(tuple);
	return found;
}

/* Walks a table that is searched, and appends its indexes with expressions to a list. */
static List *
look_at_searched(Walk *walk, Oid oid, List *prepared)
{
	Relation table = table_open(oid, AccessShareLock);
	List *indexes = RelationGetIndexList(table);
	ListCell *cell;

	walk_searched(walk, table);
	foreach (cell, indexes)
		if (has_expressions(lfirst_oid(cell)))
			prepared = lappend_oid(prepared, lfirst_oid(cell));
	list_free(indexes);
	table_close(table, NoLock);
	return prepared;
}

/* Raises an error unless the condition of an index is plain. */
void
check_plain_condition(const RejectRule *rule, Oid index)
{
	Walk walk = {.rule = rule};

	walk_condition(&walk, index);
}

/*
 * Raises an error unless all that the rule's statements, as far as they are prepared, and its
 * condition run is plain: functions and types of PostgreSQL and of this extension.  Returns
 * the indexes of the searched tables that have expressions or conditions.
 */
List *
check_plain(const RejectRule *rule)
{
	Walk walk = {.rule = rule};
	List *searched = get_rel_relkind(rule->guarded) == RELKIND_PARTITIONED_TABLE ?
		find_all_inheritors(rule->guarded, AccessShareLock, NULL) :
		list_make1_oid(rule->guarded);
	List *prepared = NIL;
	ListCell *cell;

	if (OidIsValid(rule->scope.index))
		walk_condition(&walk, rule->scope.index);
	if (OidIsValid(rule->verdict_table))
		searched = lappend_oid(searched, rule->verdict_table);
	foreach (cell, searched)
		prepared = look_at_searched(&walk, lfirst_oid(cell), prepared);
	walk.user = psprintf("The search of table \"%s\"", get_rel_name(rule->guarded));
	walk.hint = "Let the key and the columns of the option \"within\" have other types.";
	for (int i = 0; i < STATEMENTS; i++)
		if (i != RECORD)
			walk_statement(&walk, rule->statement[i]);
	if (OidIsValid(rule->log_table))
	{
		Relation log = table_open(rule->log_table, NoLock);

		walk_log(&walk, log);
		walk.user = psprintf("The insert into table \"%s\"", RelationGetRelationName(log));
		walk_statement(&walk, rule->statement[RECORD]);
		table_close(log, NoLock);
	}
	return prepared;
}

/* ---- Acting as the owner ---------------------------------------------------- */

/*
 * Opens the indexes that have expressions.  When PostgreSQL loads these, it calls and inlines
 * functions of the table's owner.  That happens here, with the rights of the current user, and
 * while an index is open it is not loaded again.
 */
static List *
open_prepared(const RejectRule *rule)
{
	List *opened = NIL;
	ListCell *cell;

	foreach (cell, rule->prepared)
	{
		Relation index = try_relation_open(lfirst_oid(cell), AccessShareLock);

		if (index == NULL)
			continue;
		(void) RelationGetIndexExpressions(index);
		/* A condition that is always true is not kept, but computed each time. */
		if (RelationGetIndexPredicate(index) == NIL)
			check_plain_condition(rule, RelationGetRelid(index));
		opened = lappend(opened, index);
	}
	return opened;
}

/*
 * Switches to the table's owner until end_as_owner(), as foreign keys do: a row is
 * checked against all rows, also rows that the current user cannot see.  Nothing may
 * run meanwhile that check_plain() has not looked at.
 */
void
begin_as_owner(const RejectRule *rule, AsOwner *as)
{
	as->indexes = open_prepared(rule);
	act_begin(&as->acting, rule->owner, SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS);
	/* The planner shall neither call functions of CHECK constraints nor of other indexes. */
	set_locally("constraint_exclusion", "off");
	set_locally("enable_bitmapscan", "off");
	/* A plan made while the table is small must use the index when it is large. */
	if (rule->indexed)
		set_locally("enable_seqscan", "off");
}

/* Switches back from the table's owner. */
void
end_as_owner(const AsOwner *as)
{
	ListCell *cell;

	act_end(&as->acting);
	foreach (cell, as->indexes)
		relation_close(lfirst(cell), NoLock);
	list_free(as->indexes);
}
