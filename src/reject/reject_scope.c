/*
 * reject_scope.c: the scope of a rule: the options within and where of a trigger,
 * which say the rows that a new row is compared with.
 *
 * within names columns in which the rows are equal.  where names a partial index,
 * whose condition the rows satisfy.  It is no expression: that would run with the
 * rights of the table's owner, though a role that may only create triggers wrote it.
 * The condition of an index is the owner's.
 */
#include "reject/reject.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

/* A transaction that changes rows of many tenants takes at most that many locks. */
#define LOCKS 256

/*
 * Finds the guarded table: that of the trigger, or if a partition's trigger is
 * a copy, that of the trigger it was copied from.
 */
void
find_guarded(Oid trigger, RejectRule *rule)
{
	Relation triggers = table_open(TriggerRelationId, AccessShareLock);

	while (OidIsValid(trigger))
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;
		Form_pg_trigger form;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(trigger));
		scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1, &key);
		tuple = systable_getnext(scan);
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "could not find tuple for trigger %u", trigger);
		form = (Form_pg_trigger) GETSTRUCT(tuple);
		rule->trigger = trigger;
		rule->guarded = form->tgrelid;
		trigger = form->tgparentid;
		systable_endscan(scan);
	}
	table_close(triggers, AccessShareLock);
}

/* ---- Reading the options ------------------------------------------------- */

/* Finds the columns of the option within. */
static void
find_columns(RejectScope *scope, const char *trigger, Relation table)
{
	List *names;
	ListCell *cell;

	if (!SplitIdentifierString(pstrdup(scope->within), ',', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"within\" of neardup_reject() is not a list of columns: \"%s\"",
						scope->within),
				 errhint("Pass names of columns, as in 'within=tenant' or 'within=tenant, call'.")));
	scope->column = palloc(list_length(names) * sizeof(ScopeColumn));
	foreach (cell, names)
	{
		ScopeColumn *column = &scope->column[scope->columns++];

		column->name = pstrdup(lfirst(cell));
		column->number = get_attnum(RelationGetRelid(table), column->name);
		if (column->number <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", column->name,
							RelationGetRelationName(table)),
					 errdetail("Trigger \"%s\" compares rows that are equal in it.", trigger),
					 errhint("If the column was renamed, create the trigger again with the new "
							 "name.  A name with capital letters needs double quotes.")));
		get_atttypetypmodcoll(RelationGetRelid(table), column->number, &column->type, &(int32){0},
							  &column->collation);
		column->type = getBaseType(column->type);
	}
}

/* Returns the open index that the option where names, or NULL. */
static Relation
open_named_index(const RejectScope *scope, Relation guarded)
{
	List *names;
	List *indexes = RelationGetIndexList(guarded);
	ListCell *cell;

	if (!SplitIdentifierString(pstrdup(scope->where), ',', &names) || list_length(names) != 1)
		return NULL;
	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (strcmp(RelationGetRelationName(index), linitial(names)) == 0)
			return index;
		index_close(index, AccessShareLock);
	}
	return NULL;
}

/* Finds the condition of the option where. */
static void
find_condition(RejectScope *scope, const char *trigger, Relation table, Relation guarded)
{
	Relation index = open_named_index(scope, guarded);

	if (index == NULL || RelationGetIndexPredicate(index) == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("option \"where=%s\" of neardup_reject() names no partial index of table \"%s\"",
						scope->where, RelationGetRelationName(guarded)),
				 errdetail("Trigger \"%s\" compares rows that satisfy the condition of that index.",
						   trigger),
				 errhint("Use CREATE INDEX name ON %s USING neardup (...) WHERE condition, and pass "
						 "its name in 'where=name'.",
						 quote_identifier(RelationGetRelationName(guarded)))));
	scope->index = RelationGetRelid(index);
	scope->condition = RelationGetIndexPredicate(index);
	scope->row_condition = table == guarded ?
		scope->condition :
		map_partition_varattnos(scope->condition, 1, table, guarded);
	index_close(index, NoLock);
}

/* Finds what the options of a scope name. */
void
find_scope(RejectRule *rule, const char *trigger, Relation table, Relation guarded)
{
	RejectScope *scope = &rule->scope;

	if (scope->within != NULL)
		find_columns(scope, trigger, table);
	if (scope->where != NULL)
		find_condition(scope, trigger, table, guarded);
}

/* Returns the name of a type with its schema, which stands for any modifier. */
const char *
type_name(Oid type)
{
	/* Without FORMAT_TYPE_TYPEMOD_GIVEN, char of any length would be character, which is char(1). */
	return format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* ---- The statement ------------------------------------------------------- */

/*
 * Returns that two expressions are equal, by the equality of a type, which is that of indexes.
 * As in signature_column(), casts keep other operators out.
 */
const char *
equality(const char *left, Oid type, const char *right)
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
				 errdetail("neardup_reject() compares values of that type."),
				 errhint("Name another column in the trigger's options.")));
	op_input_types(equal, &left_type, &right_type);
	cast = type_name(get_typtype(left_type) == TYPTYPE_PSEUDO ? type : left_type);
	return psprintf("%s::%s OPERATOR(%s.%s) %s::%s", left, cast,
					quote_identifier(get_namespace_name(get_func_namespace(get_opcode(equal)))),
					get_opname(equal), right, cast);
}

/*
 * Returns " AND ..." for rows t of the guarded table that are in the scope.  The values
 * of columns are parameters, the first of which has the given number.
 */
const char *
scope_conditions(const RejectRule *rule, int first)
{
	const RejectScope *scope = &rule->scope;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < scope->columns; i++)
		appendStringInfo(&text, " AND %s",
						 equality(psprintf("t.%s", quote_identifier(scope->column[i].name)),
								  scope->column[i].type, psprintf("$%d", first + i)));
	if (scope->condition != NIL)
		appendStringInfo(&text, " AND (%s)",
						 deparse_expression((Node *) make_ands_explicit(scope->condition),
											deparse_context_for("t", rule->guarded), true, false));
	return text.data;
}

/* ---- Rows ---------------------------------------------------------------- */

/* Returns whether a row satisfies the condition of the option where. */
bool
satisfies_condition(const RejectRule *rule, TupleTableSlot *row)
{
	EState *state;
	ExprContext *context;
	bool satisfied;

	if (rule->scope.row_condition == NIL)
		return true;
	state = CreateExecutorState();
	context = GetPerTupleExprContext(state);
	context->ecxt_scantuple = row;
	satisfied = ExecQual(ExecPrepareQual(rule->scope.row_condition, state), context);
	FreeExecutorState(state);
	return satisfied;
}

/*
 * Returns whether a row is compared with others, and the values of its columns.  A NULL
 * is equal to nothing.
 */
bool
in_scope(const RejectRule *rule, TupleTableSlot *row, Datum *values)
{
	const RejectScope *scope = &rule->scope;

	for (int i = 0; i < scope->columns; i++)
	{
		bool is_null;

		values[i] = slot_getattr(row, scope->column[i].number, &is_null);
		if (is_null)
			return false;
	}
	return satisfies_condition(rule, row);
}

/* Returns whether a column of a row has a value, to the byte. */
bool
is_same_value(TupleTableSlot *row, AttrNumber column, Datum value)
{
	Form_pg_attribute attribute = TupleDescAttr(row->tts_tupleDescriptor, column - 1);
	bool is_null;
	Datum has = slot_getattr(row, column, &is_null);

	return !is_null && datum_image_eq(has, value, attribute->attbyval, attribute->attlen);
}

/* Returns whether two versions of a row have the same bytes in a column. */
bool
is_same_column(TupleTableSlot *old, TupleTableSlot *new, AttrNumber column)
{
	bool is_null;
	Datum value = slot_getattr(new, column, &is_null);

	return is_null ? slot_attisnull(old, column) : is_same_value(old, column, value);
}

/* Returns whether the old version of a row was compared with the same others. */
bool
was_in_scope(const RejectRule *rule, TupleTableSlot *old, const Datum *values)
{
	const RejectScope *scope = &rule->scope;

	for (int i = 0; i < scope->columns; i++)
		if (!is_same_value(old, scope->column[i].number, values[i]))
			return false;
	return satisfies_condition(rule, old);
}

/* Returns the number of the lock for rows with these values; equal values have the same. */
uint16
scope_lock(const RejectRule *rule, const Datum *values)
{
	const RejectScope *scope = &rule->scope;
	uint32 hash = 0;

	for (int i = 0; i < scope->columns; i++)
	{
		const ScopeColumn *column = &scope->column[i];
		TypeCacheEntry *type = lookup_type_cache(column->type, TYPECACHE_HASH_PROC_FINFO);

		if (OidIsValid(type->hash_proc))
			hash = hash_combine(hash,
								DatumGetUInt32(FunctionCall1Coll(&type->hash_proc_finfo,
																 column->collation, values[i])));
	}
	return hash % LOCKS;
}

/* Returns whether the current user may read what decides whether a row is in the scope. */
bool
scope_is_readable(const RejectRule *rule)
{
	const RejectScope *scope = &rule->scope;
	Bitmapset *columns = NULL;
	int member = -1;

	for (int i = 0; i < scope->columns; i++)
		if (!role_may_select(rule->guarded, get_attnum(rule->guarded, scope->column[i].name)))
			return false;
	pull_varattnos((Node *) scope->condition, 1, &columns);
	while ((member = bms_next_member(columns, member)) >= 0)
		if (!role_may_select(rule->guarded,
							 Max(member + FirstLowInvalidHeapAttributeNumber, InvalidAttrNumber)))
			return false;
	return true;
}
