/*
 * place.c: the tables that a guard searches, and the indexes that it asks.
 *
 * An index is found by its definition: its signature, its keys and its condition.  So it may
 * be renamed, built again or replaced by another one.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "partitioning/partdesc.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "index/index.h"
#include "rights.h"
#include "types/objects.h"

/* ---- Keys of rows --------------------------------------------------------------- */

/* Finds the columns of the primary key of a table. */
void
guard_find_key(GuardSide *side)
{
	Relation table = table_open(side->table, AccessShareLock);
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_index->indisprimary)
		{
			side->keys = index->rd_index->indnkeyatts;
			side->key = palloc(side->keys * sizeof(char *));
			for (int i = 0; i < side->keys; i++)
				side->key[i] = get_attname(side->table, index->rd_index->indkey.values[i], false);
		}
		index_close(index, AccessShareLock);
	}
	table_close(table, NoLock);
}

/* Is a column one in which a guard compares equal rows or, if asked, one that the table is partitioned by? */
static bool
is_shared_column(const GuardRule *rule, const GuardSide *side, const char *name, bool partitions)
{
	Relation table = table_open(side->table, AccessShareLock);
	PartitionKey key = RelationGetPartitionKey(table);
	AttrNumber column = get_attnum(side->table, name);
	bool shared = false;

	for (int i = 0; i < rule->withins; i++)
		shared |= strcmp(rule->within[i].name, name) == 0;
	for (int i = 0; partitions && key != NULL && i < key->partnatts; i++)
		shared |= key->partattrs[i] == column;
	table_close(table, NoLock);
	return shared;
}

/*
 * Returns the column that verdicts and groups name rows by: that of the primary key.  If it has
 * several, one must be left without those of the option within, or also without those of partitions.
 */
const char *
guard_key_column(const GuardRule *rule, const GuardSide *side)
{
	const char *name = NULL;
	int left = 0;

	for (int pass = 0; pass < 2 && left != 1; pass++)
	{
		left = 0;
		for (int i = 0; i < side->keys; i++)
			if (side->keys == 1 || !is_shared_column(rule, side, side->key[i], pass == 1))
			{
				name = side->key[i];
				left++;
			}
	}
	if (left != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table \"%s\" has no primary key of one column", get_rel_name(side->table)),
				 errdetail("Groups and verdicts name rows by one column, beside those of \"within\" and of partitions."),
				 errhint("Add a primary key.")));
	return name;
}

/* ---- Tables ------------------------------------------------------------------------ */

/* The tables that are searched for the rows of one table. */
typedef struct Collector
{
	const GuardRule *rule;
	List *path; /* that table and what it is a partition of */
	List *tables;
	List *watched;
} Collector;

/* Are rows that are equal in the columns of the option within in one partition? */
static bool
is_divided_by_within(const GuardRule *rule, Relation table)
{
	PartitionKey key = RelationGetPartitionKey(table);
	int16 equal =
		key->strategy == PARTITION_STRATEGY_HASH ? HTEqualStrategyNumber : BTEqualStrategyNumber;

	for (int i = 0; i < key->partnatts; i++)
	{
		const char *name = key->partattrs[i] == 0 ?
			NULL :
			get_attname(RelationGetRelid(table), key->partattrs[i], false);
		Oid type = key->partopcintype[i];
		bool found = false;

		for (int w = 0; name != NULL && w < rule->withins; w++)
			found |= rule->within[w].span == NULL && strcmp(rule->within[w].name, name) == 0 &&
				get_opfamily_member(key->partopfamily[i], type, type, equal) ==
					lookup_type_cache(key->parttypid[i], TYPECACHE_EQ_OPR)->eq_opr;
		if (!found)
			return false;
	}
	return true;
}

/* Collects a table or its partitions, in the order of their bounds. */
static void
collect(Collector *collector, Oid oid)
{
	Relation table = table_open(oid, AccessShareLock);
	PartitionDesc partitions;
	bool one;

	if (table->rd_rel->relkind == RELKIND_RELATION)
		collector->tables = lappend_oid(collector->tables, oid);
	else if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("guard \"%s\" cannot search \"%s\"", collector->rule->name,
						RelationGetRelationName(table)),
				 errdetail("It is neither a table nor a partition in this database."),
				 errhint("Make a guard for each of the other partitions, or detach this one.")));
	else
	{
		collector->watched = lappend_oid(collector->watched, oid);
		partitions = RelationGetPartitionDesc(table, true);
		one = linitial_oid(collector->path) != oid && list_member_oid(collector->path, oid) &&
			is_divided_by_within(collector->rule, table);
		for (int i = 0; i < partitions->nparts; i++)
			if (!one || list_member_oid(collector->path, partitions->oids[i]))
				collect(collector, partitions->oids[i]);
	}
	table_close(table, NoLock);
}

/*
 * Returns the OIDs of the tables that are searched for rows of an open table, and the
 * partitioned tables that they depend on.
 */
List *
guard_tables(const GuardRule *rule, Relation table, Oid **watched, int *count)
{
	Collector collector = {.rule = rule};
	ListCell *cell;

	collector.path = list_make1_oid(RelationGetRelid(table));
	if (table->rd_rel->relispartition)
		collector.path =
			list_concat(collector.path, get_partition_ancestors(RelationGetRelid(table)));
	collect(&collector, rule->side[0].table);
	if (OidIsValid(rule->side[1].table))
		collect(&collector, rule->side[1].table);
	*count = 0;
	*watched = palloc((list_length(collector.watched) + 1) * sizeof(Oid));
	foreach (cell, collector.watched)
		(*watched)[(*count)++] = lfirst_oid(cell);
	return collector.tables;
}

/* ---- Indexes ----------------------------------------------------------------------- */

/* Returns the number of a column; raises an error if there is none. */
static AttrNumber
column_number(const GuardRule *rule, GuardOption option, Relation table, const char *name)
{
	AttrNumber column = get_attnum(RelationGetRelid(table), name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(table)),
				 errdetail("Argument \"%s\" of guard \"%s\" names it.", guard_option_names[option],
						   rule->name),
				 errhint("If it was renamed, pass its name to neardup_guard() again, with name => %s.",
						 quote_literal_cstr(rule->name))));
	return column;
}

/* Returns the signature of rows of a table: a column if there is one of that name. */
static Expr *
signature_of(const GuardRule *rule, Relation table)
{
	List *names;
	AttrNumber column = InvalidAttrNumber;
	const FormData_pg_attribute *attribute;
	bool parsed = SplitIdentifierString(pstrdup(rule->signature), ',', &names);

	if (parsed && list_length(names) == 1)
		column = get_attnum(RelationGetRelid(table), linitial(names));
	if (parsed && list_length(names) > 1)
		refuse_option(OPTION_SIGNATURE, psprintf("It is '%s'.", rule->signature),
					  "Name one column, or pass an expression as an index has it.");
	if (column <= 0 && parsed && list_length(names) == 1 && strchr(rule->signature, '(') == NULL)
		column = column_number(rule, OPTION_SIGNATURE, table, linitial(names));
	if (column <= 0)
		return (Expr *) guard_parse(table, rule->signature, false);
	attribute = TupleDescAttr(RelationGetDescr(table), column - 1);
	return (Expr *) makeVar(1, column, attribute->atttypid, attribute->atttypmod,
							attribute->attcollation, 0);
}

/* Returns the expression of a column of an index, on rows of its table. */
static Expr *
index_expression(Relation index, int column)
{
	List *expressions = RelationGetIndexExpressions(index);
	const int2vector *keys = &index->rd_index->indkey;
	int expression = 0;

	for (int i = 0; i < column - 1; i++)
		expression += keys->values[i] == 0;
	return list_nth(expressions, expression);
}

/* Is a column of an index the given column or expression? */
static bool
is_column(Relation index, int column, const Expr *wanted)
{
	AttrNumber number = index->rd_index->indkey.values[column - 1];

	if (IsA(wanted, Var))
		return number == ((const Var *) wanted)->varattno;
	return number == 0 && equal(index_expression(index, column), wanted);
}

/* Returns the column of an index that is a column of its table, or 0. */
static int
key_column(Relation index, AttrNumber number)
{
	for (int column = 1; column <= IndexRelationGetNumberOfKeyAttributes(index); column++)
		if (index->rd_index->indkey.values[column - 1] == number &&
			column != index_cache(index)->signature)
			return column;
	return 0;
}

/*
 * Returns how well an index serves the search of a place: -1 if not at all.  Each key that rows
 * must be equal in counts for it, then a condition, and each other key against it.
 */
static int
fitness(const GuardRule *rule, const GuardPlace *place, Relation index)
{
	const FormData_pg_index *form = index->rd_index;
	int fits;

	/* The index of a partitioned table itself has no pages. */
	if (index->rd_indam->ambuild != neardup_build || !form->indisvalid || !form->indislive ||
		index->rd_opfamily == NULL ||
		!is_column(index, index_cache(index)->signature, place->signature) ||
		!OidIsValid(get_opfamily_member(index->rd_opfamily[index_cache(index)->signature - 1],
										index->rd_opcintype[index_cache(index)->signature - 1],
										rule->ball, STRATEGY_IN_BALL)))
		return -1;
	if (!predicate_implied_by(RelationGetIndexPredicate(index),
							  list_concat_copy(place->condition, place->leads), false))
		return -1;
	fits = (RelationGetIndexPredicate(index) != NIL ? 2 : 1) * INDEX_MAX_KEYS -
		IndexRelationGetNumberOfKeyAttributes(index);
	for (int i = 0; i < rule->withins; i++)
		if (rule->within[i].span == NULL && key_column(index, place->within[i]) > 0)
			fits += 2 * INDEX_MAX_KEYS;
	return fits;
}

/* Finds the index that serves the search of a place best. */
static void
find_index(const GuardRule *rule, GuardPlace *place, Relation table)
{
	int best = -1;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		int fits = index->rd_rel->relkind == RELKIND_INDEX ? fitness(rule, place, index) : -1;

		if (fits > best)
		{
			best = fits;
			place->index = RelationGetRelid(index);
			for (int i = 0; i < rule->withins; i++)
				place->key[i] =
					rule->within[i].span == NULL ? key_column(index, place->within[i]) : 0;
		}
		index_close(index, AccessShareLock);
	}
}

/* Checks the columns of the option within in a table. */
static void
find_withins(const GuardRule *rule, GuardPlace *place, Relation table)
{
	place->within = palloc0(rule->withins * sizeof(AttrNumber) + 1);
	place->key = palloc0(rule->withins * sizeof(int) + 1);
	for (int i = 0; i < rule->withins; i++)
	{
		const WithinColumn *within = &rule->within[i];
		Oid type;

		place->within[i] = column_number(rule, OPTION_WITHIN, table, within->name);
		type = getBaseType(get_atttype(RelationGetRelid(table), place->within[i]));
		if (within->span != NULL ?
				type != TIMESTAMPOID && type != TIMESTAMPTZOID && type != DATEOID :
				!OidIsValid(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr))
			refuse_option(OPTION_WITHIN,
						  psprintf("Column \"%s\" is of type %s.", within->name,
								   format_type_be(type)),
						  within->span != NULL ?
							  "Name a column of type timestamptz, timestamp or date for an interval." :
							  "Name a column of a type that has an equality operator.");
	}
}

/* Finds what the signature is made of. */
static void
find_sources(GuardPlace *place, Relation table)
{
	TupleDesc row_type = RelationGetDescr(table);
	AttrNumber column = IsA(place->signature, Var) ? ((Var *) place->signature)->varattno : 0;

	if (column > 0 && TupleDescAttr(row_type, column - 1)->attgenerated)
		place->generation = build_column_default(table, column);
	pull_varattnos(place->generation != NULL ? place->generation : (Node *) place->signature, 1,
				   &place->sources);
}

/* Reads column, expression and condition, whose names are those of safe schemas. */
static void
parse_place(const GuardRule *rule, GuardPlace *place, Relation table)
{
	int settings = NewGUCNestLevel();

	set_locally("search_path", SAFE_SEARCH_PATH);
	place->signature = signature_of(rule, table);
	find_sources(place, table);
	if (rule->options.value[OPTION_CONDITION] != NULL)
		place->condition = (List *) guard_parse(table, rule->options.value[OPTION_CONDITION], true);
	if (rule->group != NULL)
	{
		place->group = column_number(rule, OPTION_RECORD_IN, table, rule->group);
		place->group_key = column_number(rule, OPTION_RECORD_IN, table, rule->group_key);
		place->leads = (List *) guard_parse(table, guard_leader_condition(rule), true);
	}
	AtEOXact_GUC(false, settings);
}

/* Returns whether a table has an index that a guard can ask. */
bool
guard_has_index(const GuardRule *rule, Relation table)
{
	GuardPlace place = {.table = RelationGetRelid(table)};
	ListCell *cell;
	bool found = false;

	parse_place(rule, &place, table);
	find_withins(rule, &place, table);
	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		found |= fitness(rule, &place, index) >= 0;
		index_close(index, AccessShareLock);
	}
	return found;
}

/* Raises an error if the measure is not one of the signatures of an index. */
static void
check_measure(const GuardRule *rule, Oid oid)
{
	Relation index = index_open(oid, AccessShareLock);

	if (!index_cache(index)->sets && rule->measure != MEASURE_RESEMBLANCE)
		refuse_option(OPTION_MEASURE,
					  "A signature does not tell which part of a text is in another.",
					  "Name a column of type shingles, made with to_shingles().");
	index_close(index, AccessShareLock);
}

/* Finds what a search needs to know of an open table. */
void
guard_fill_place(GuardRule *rule, GuardPlace *place, Relation table)
{
	Oid oid = RelationGetRelid(table);
	const GuardSide *other = &rule->side[1];
	bool is_other = OidIsValid(other->table) && oid != rule->side[0].table &&
		(oid == other->table ||
		 (table->rd_rel->relispartition &&
		  list_member_oid(get_partition_ancestors(oid), other->table)));

	place->side = &rule->side[is_other];
	parse_place(rule, place, table);
	find_withins(rule, place, table);
	if (rule->unless != NULL)
		place->unless = get_attnum(oid, rule->unless);
	find_index(rule, place, table);
	if (OidIsValid(place->index))
		check_measure(rule, place->index);
	else
	{
		/* Each row that fails would leave something in the rule's memory. */
		guard_forget();
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no index that guard \"%s\" can ask",
						RelationGetRelationName(table), rule->name),
				 errdetail("Nobody can write rows to the table until it has one."),
				 errhint("Use %s.", guard_index_statement(rule, place->side))));
	}
}

/* Returns the statement that creates the index that a guard asks. */
const char *
guard_index_statement(const GuardRule *rule, const GuardSide *side)
{
	Relation table = table_open(side->table, AccessShareLock);
	bool bigint = exprType((Node *) signature_of(rule, table)) == INT8OID;
	const char *key_class =
		psprintf(" %s.bigint_key_ops",
				 quote_identifier(get_namespace_name(get_func_namespace(rule->function))));
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s USING neardup (", guard_qualified(side->table));
	for (int i = 0; i < rule->withins; i++)
	{
		const char *name = rule->within[i].name;
		Oid type = get_atttype(side->table, get_attnum(side->table, name));

		/* Of two columns of type bigint, the class says which is the key. */
		if (rule->within[i].span == NULL &&
			OidIsValid(GetDefaultOpClass(type, get_index_am_oid("neardup", false))))
			appendStringInfo(&text, "%s%s, ", quote_identifier(name),
							 bigint && type == INT8OID ? key_class : "");
	}
	appendStringInfo(&text, strchr(rule->signature, '(') != NULL ? "(%s))" : "%s)",
					 rule->signature);
	if (rule->options.value[OPTION_CONDITION] != NULL)
		appendStringInfo(&text, " WHERE %s", rule->options.value[OPTION_CONDITION]);
	if (rule->group != NULL)
		appendStringInfo(&text, "%s %s",
						 rule->options.value[OPTION_CONDITION] != NULL ? " AND" : " WHERE",
						 guard_leader_condition(rule));
	table_close(table, NoLock);
	return text.data;
}
