/*
 * place.c: the tables that a guard searches, and the indexes that it asks.
 *
 * An index is found by its definition: its signature, its keys and its condition.  So it may
 * be renamed, built again or replaced by another one.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "partitioning/partdesc.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "index/index.h"
#include "rights.h"

/* ---- Keys of rows --------------------------------------------------------------- */

/* Returns the names of columns in which a guard compares equal rows or, if asked, of partition keys. */
static List *
shared_columns(const GuardRule *rule, const GuardSide *side, bool partitions)
{
	List *names = NIL;
	ListCell *cell;

	for (int i = 0; i < rule->withins; i++)
		names = lappend(names, makeString(pstrdup(rule->within[i].name)));
	if (partitions)
		foreach (cell, find_all_inheritors(side->table, AccessShareLock, NULL))
		{
			Relation table = table_open(lfirst_oid(cell), NoLock);
			PartitionKey key = RelationGetPartitionKey(table);

			for (int i = 0; key != NULL && i < key->partnatts; i++)
				if (key->partattrs[i] > 0)
					names = lappend(names,
									makeString(get_attname(lfirst_oid(cell), key->partattrs[i],
														   false)));
			table_close(table, NoLock);
		}
	return names;
}

/*
 * Returns the column that verdicts and groups name rows by: that of the primary key.  If it has
 * several, one must be left without the columns of the option within, or also without the partition key.
 */
static const char *
key_name(const GuardRule *rule, const GuardSide *side)
{
	for (int pass = 0; pass < 2; pass++)
	{
		List *shared = side->keys == 1 ? NIL : shared_columns(rule, side, pass == 1);
		const char *name = NULL;
		int left = 0;

		for (int i = 0; i < side->keys; i++)
			if (!list_member(shared, makeString(pstrdup(side->key[i]))))
			{
				name = side->key[i];
				left++;
			}
		if (left == 1)
			return name;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("table \"%s\" has no primary key of one column", get_rel_name(side->table)),
			 errdetail("Groups and verdicts name rows by one column, beside those of \"within\" and of partitions."),
			 errhint("Add a primary key.")));
}

/* Finds the columns of the primary key of a table and, if asked, the one that names rows. */
void
guard_find_key(const GuardRule *rule, GuardSide *side, bool by_one_column)
{
	Relation table = table_open(side->table, AccessShareLock);
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_index->indisprimary)
		{
			side->key_index = lfirst_oid(cell);
			side->keys = index->rd_index->indnkeyatts;
			side->key = palloc(side->keys * sizeof(char *));
			for (int i = 0; i < side->keys; i++)
				side->key[i] = get_attname(side->table, index->rd_index->indkey.values[i], false);
		}
		index_close(index, AccessShareLock);
	}
	table_close(table, NoLock);
	if (by_one_column)
		side->name = key_name(rule, side);
}

/* ---- Tables ------------------------------------------------------------------------ */

/* The tables that are searched for the rows of one table. */
typedef struct Collector
{
	const GuardRule *rule;
	List *path; /* the table and what it is a partition of */
	List *tables;
	List *watched;
} Collector;

/* Returns whether rows that are equal in the columns of the option within are in one partition. */
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
				key->partcollation[i] == key->parttypcoll[i] &&
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
guard_tables(const GuardRule *rule, Relation table, List **watched)
{
	Collector collector = {.rule = rule, .path = list_make1_oid(RelationGetRelid(table))};

	if (table->rd_rel->relispartition)
		collector.path =
			list_concat(collector.path, get_partition_ancestors(RelationGetRelid(table)));
	for (int i = 0; i < 2 && OidIsValid(rule->side[i].table); i++)
		collect(&collector, rule->side[i].table);
	*watched = collector.watched;
	return collector.tables;
}

/* ---- Indexes ----------------------------------------------------------------------- */

/* Returns the schema of the extension, quoted where needed. */
static const char *
extension_schema(const GuardRule *rule)
{
	return quote_identifier(get_namespace_name(get_func_namespace(rule->function)));
}

/* Adds a hint for a column that an option names and a table lacks. */
static int
hint_at_column(const GuardRule *rule, GuardOption option, Relation table, const char *name)
{
	TupleDesc row_type = RelationGetDescr(table);
	const char *guard = quote_literal_cstr(rule->name);

	for (int i = 0; i < row_type->natts; i++)
	{
		const char *other = NameStr(TupleDescAttr(row_type, i)->attname);

		if (pg_strcasecmp(name, other) == 0)
			return errhint("Put capital letters into double quotes: %s.",
						   quote_literal_cstr(quote_identifier(other)));
	}
	if (option == OPTION_SIGNATURE)
		return errhint("Name a column of signatures, or pass an expression such as 'to_minhash(body)'.  If the column was renamed, pass its name to neardup_guard() again, with name => %s.",
					   guard);
	return errhint("If it was renamed, pass its name to neardup_guard() again, with name => %s.",
				   guard);
}

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
				 hint_at_column(rule, option, table, name)));
	return column;
}

/* Returns the signature of rows of a table: a column, or an expression. */
static Expr *
guard_signature_of(const GuardRule *rule, Relation table)
{
	const char *text = rule->signature;

	if (!guard_is_expression(text))
	{
		List *names = guard_names(&rule->options, OPTION_SIGNATURE);

		if (list_length(names) != 1)
			refuse_option(OPTION_SIGNATURE, psprintf("It is '%s'.", text),
						  "Name one column, or pass an expression as an index has it.");
		(void) column_number(rule, OPTION_SIGNATURE, table, linitial(names));
		text = quote_identifier(linitial(names));
	}
	return (Expr *) guard_parse(table, text, false);
}

/* Returns whether the signature of an index is the given column or expression. */
static bool
guard_is_signature(Relation index, const Expr *wanted)
{
	const int16 *number = index->rd_index->indkey.values;
	int last = index_cache(index)->signature - 1;
	int expression = 0;

	if (IsA(wanted, Var) || number[last] != 0)
		return IsA(wanted, Var) && number[last] == ((const Var *) wanted)->varattno;
	for (int i = 0; i < last; i++)
		expression += number[i] == 0;
	return equal(list_nth(RelationGetIndexExpressions(index), expression), wanted);
}

/* Returns whether a class of keys has the default equality of a type: text has not that of citext. */
static bool
is_default_equality(Oid family, Oid input, Oid type)
{
	return get_opfamily_member(family, input, input, STRATEGY_EQUAL) ==
		lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
}

/* Returns the key of an index that compares a column of its table as the guard does, or 0. */
static int
key_column(Relation index, const GuardColumn *wanted)
{
	for (int column = 1; column <= IndexRelationGetNumberOfKeyAttributes(index); column++)
		if (index->rd_index->indkey.values[column - 1] == wanted->number &&
			column != index_cache(index)->signature &&
			index->rd_indcollation[column - 1] == wanted->collation &&
			is_default_equality(index->rd_opfamily[column - 1], index->rd_opcintype[column - 1],
								wanted->type))
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
	List *predicate = RelationGetIndexPredicate(index);
	int column;
	int fits = predicate != NIL ? 2 * INDEX_MAX_KEYS : INDEX_MAX_KEYS;

	if (index->rd_indam->ambuild != neardup_build || !index->rd_index->indisvalid ||
		!index->rd_index->indislive || index->rd_opfamily == NULL)
		return -1;
	column = index_cache(index)->signature - 1;
	if (!guard_is_signature(index, place->signature) ||
		!OidIsValid(get_opfamily_member(index->rd_opfamily[column], index->rd_opcintype[column],
										rule->ball, STRATEGY_IN_BALL)) ||
		!predicate_implied_by(predicate, list_concat_copy(place->condition, place->leads), false))
		return -1;
	for (int i = 0; i < rule->withins; i++)
		if (rule->within[i].span == NULL && key_column(index, &place->within[i]) > 0)
			fits += 2 * INDEX_MAX_KEYS;
	return fits - IndexRelationGetNumberOfKeyAttributes(index);
}

/* Finds the index that serves the search of a place best, if there is one. */
static void
find_index(const GuardRule *rule, GuardPlace *place, Relation table)
{
	int best = -1;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		int fits = fitness(rule, place, index);

		if (fits > best)
		{
			best = fits;
			place->index = RelationGetRelid(index);
			for (int i = 0; i < rule->withins; i++)
				place->key[i] =
					rule->within[i].span == NULL ? key_column(index, &place->within[i]) : 0;
			if (!index_cache(index)->sets && rule->measure != MEASURE_RESEMBLANCE)
				refuse_option(OPTION_MEASURE,
							  "A signature does not tell which part of a text is in another.",
							  "Name a column of type shingles, made with to_shingles().");
		}
		index_close(index, AccessShareLock);
	}
}

/* Finds the columns of the option within in a table. */
static void
find_withins(const GuardRule *rule, GuardPlace *place, Relation table)
{
	place->within = palloc(rule->withins * sizeof(GuardColumn) + 1);
	place->key = palloc0(rule->withins * sizeof(int) + 1);
	for (int i = 0; i < rule->withins; i++)
	{
		const GuardWithin *within = &rule->within[i];
		Oid type;

		place->within[i] = guard_column(RelationGetDescr(table),
										column_number(rule, OPTION_WITHIN, table, within->name));
		type = place->within[i].type;
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

/*
 * Returns whether a column of a table is its primary key, alone or beside columns of the option
 * within.
 */
static bool
is_key(const GuardRule *rule, Relation table, AttrNumber column)
{
	Bitmapset *key = RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_PRIMARY_KEY);
	bool found = bms_is_member(column - FirstLowInvalidHeapAttributeNumber, key);

	key = bms_del_member(key, column - FirstLowInvalidHeapAttributeNumber);
	for (int i = 0; i < rule->withins; i++)
		key = bms_del_member(key,
							 get_attnum(RelationGetRelid(table), rule->within[i].name) -
								 FirstLowInvalidHeapAttributeNumber);
	return found && bms_is_empty(key);
}

/* Refuses numbers that name rows as hashes: any two of them may differ in few bits. */
static void
refuse_key(const GuardRule *rule, Relation table, AttrNumber column)
{
	const char *name = quote_identifier(get_attname(RelationGetRelid(table), column, false));
	Oid type = getBaseType(get_atttype(RelationGetRelid(table), column));

	if (type == INT8OID && is_key(rule, table, column))
		refuse_option(OPTION_SIGNATURE,
					  psprintf("Column %s is the primary key of table \"%s\".", name,
							   RelationGetRelationName(table)),
					  psprintf("Name a column of signatures.  If the key is a hash, pass %s.",
							   quote_literal_cstr(psprintf("(%s::%s.simhash)", name,
														   extension_schema(rule)))));
}

/* Finds the signature, and what it is made of. */
static void
find_signature(const GuardRule *rule, GuardPlace *place, Relation table)
{
	TupleDesc row_type = RelationGetDescr(table);
	AttrNumber column;

	place->signature = guard_signature_of(rule, table);
	if (TypeCategory(exprType((Node *) place->signature)) == TYPCATEGORY_STRING)
		refuse_option(OPTION_SIGNATURE, psprintf("\"%s\" is a text.", rule->signature),
					  psprintf("Pass a column of signatures, or sign the text: %s.",
							   quote_literal_cstr(psprintf("%s.to_minhash(%s)",
														   extension_schema(rule),
														   rule->signature))));
	column = IsA(place->signature, Var) ? ((Var *) place->signature)->varattno : 0;
	if (column > 0)
		refuse_key(rule, table, column);
	get_typlenbyval(exprType((Node *) place->signature), &place->value.length,
					&place->value.by_value);
	if (column > 0 && TupleDescAttr(row_type, column - 1)->attgenerated)
		pull_varattnos(build_column_default(table, column), 1, &place->sources);
	else
		pull_varattnos((Node *) place->signature, 1, &place->sources);
}

/* Finds the generated columns among those that options name. */
static void
find_generated(const GuardRule *rule, GuardPlace *place, Relation table)
{
	Bitmapset *columns = NULL;
	int member = -1;

	pull_varattnos((Node *) place->signature, 1, &columns);
	pull_varattnos((Node *) place->condition, 1, &columns);
	for (int i = 0; i < rule->withins; i++)
		columns =
			bms_add_member(columns, place->within[i].number - FirstLowInvalidHeapAttributeNumber);
	columns = bms_add_member(columns, place->unless - FirstLowInvalidHeapAttributeNumber);
	while ((member = bms_next_member(columns, member)) >= 0)
	{
		AttrNumber number = member + FirstLowInvalidHeapAttributeNumber;
		const FormData_pg_attribute *column =
			number > 0 ? TupleDescAttr(RelationGetDescr(table), number - 1) : NULL;

		if (column == NULL || column->attgenerated == '\0')
			continue;
		if (column->attgenerated != ATTRIBUTE_GENERATED_STORED)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("guard \"%s\" cannot read column \"%s\", which is not stored",
							rule->name, NameStr(column->attname)),
					 errhint("Make it STORED, or name the columns that it is made of.")));
		place->generated = lappend(place->generated,
								   makeTargetEntry((Expr *) build_column_default(table, number),
												   number, NULL, false));
	}
}

/* Raises an error unless a column or the signature of the other table has the type of the guarded one. */
static void
check_type(const GuardPlace *place, const char *name, Oid type, Oid wanted)
{
	if (!IsBinaryCoercible(type, getBaseType(wanted)))
		refuse_option(OPTION_AGAINST,
					  psprintf("\"%s\" of table \"%s\" is of type %s, not %s.", name,
							   get_rel_name(place->table), format_type_be(type),
							   format_type_be(wanted)),
					  "Name a table whose columns have the types of the guarded one.");
}

/* Checks that rows of the other table can be compared with rows of the guarded one. */
static void
check_types(const GuardRule *rule, const GuardPlace *place)
{
	Relation guarded;

	if (place->side != &rule->side[1])
		return;
	guarded = table_open(rule->side[0].table, AccessShareLock);
	check_type(place, rule->signature, exprType((Node *) place->signature),
			   exprType((Node *) guard_signature_of(rule, guarded)));
	for (int i = 0; i < rule->withins; i++)
	{
		const char *name = rule->within[i].name;
		AttrNumber number = column_number(rule, OPTION_WITHIN, guarded, name);

		check_type(place, name, place->within[i].type, get_atttype(rule->side[0].table, number));
	}
	table_close(guarded, NoLock);
}

/* Finds columns, expressions, condition, whose names are those of safe schemas, and index. */
static void
find_all(const GuardRule *rule, GuardPlace *place, Relation table)
{
	int settings = NewGUCNestLevel();

	set_locally("search_path", SAFE_SEARCH_PATH);
	find_signature(rule, place, table);
	if (rule->options.value[OPTION_CONDITION] != NULL)
		place->condition = (List *) guard_parse(table, rule->options.value[OPTION_CONDITION], true);
	if (rule->group != NULL)
	{
		place->group = guard_column(RelationGetDescr(table),
									column_number(rule, OPTION_GROUP_COLUMN, table, rule->group));
		place->group_key =
			guard_column(RelationGetDescr(table),
						 column_number(rule, OPTION_GROUP_COLUMN, table, rule->side[0].name));
		place->leads = (List *) guard_parse(table, guard_leader_condition(rule), true);
	}
	find_withins(rule, place, table);
	check_types(rule, place);
	AtEOXact_GUC(false, settings);
	if (rule->unless != NULL)
		place->unless = get_attnum(RelationGetRelid(table), rule->unless);
	if (place->unless > 0 && get_atttype(RelationGetRelid(table), place->unless) != BOOLOID)
		place->unless = InvalidAttrNumber;
	find_generated(rule, place, table);
	find_index(rule, place, table);
}

/* Returns whether a table has an index that a guard can ask. */
bool
guard_has_index(const GuardRule *rule, Relation table)
{
	GuardPlace place = {.table = RelationGetRelid(table)};

	find_all(rule, &place, table);
	return OidIsValid(place.index);
}

/* Finds what a search needs to know of an open table. */
void
guard_fill_place(GuardRule *rule, GuardPlace *place, Relation table)
{
	Oid oid = RelationGetRelid(table);
	Oid other = rule->side[1].table;
	bool is_other = OidIsValid(other) && oid != rule->side[0].table &&
		(oid == other ||
		 (table->rd_rel->relispartition && list_member_oid(get_partition_ancestors(oid), other)));

	place->side = &rule->side[is_other];
	find_all(rule, place, table);
	if (OidIsValid(place->index))
		return;
	/* Each row that fails would leave something in the rule's memory. */
	guard_forget();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" has no index that guard \"%s\" can ask",
					RelationGetRelationName(table), rule->name),
			 errdetail("Nobody can write rows to the table until it has one."),
			 errhint("Use %s.", guard_index_statement(rule, place->side))));
}

/* Returns the statement that creates the index that a guard asks. */
const char *
guard_index_statement(const GuardRule *rule, const GuardSide *side)
{
	Relation table = table_open(side->table, AccessShareLock);
	bool bigint = exprType((Node *) guard_signature_of(rule, table)) == INT8OID;
	const char *key_class = psprintf(" %s.bigint_key_ops", extension_schema(rule));
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s USING neardup (", guard_qualified(side->table));
	for (int i = 0; i < rule->withins; i++)
	{
		const char *name = rule->within[i].name;
		Oid type = get_atttype(side->table, get_attnum(side->table, name));
		Oid class = GetDefaultOpClass(type, get_index_am_oid("neardup", false));

		/* Of two columns of type bigint, the class says which is the key. */
		if (rule->within[i].span == NULL && OidIsValid(class) &&
			is_default_equality(get_opclass_family(class), get_opclass_input_type(class), type))
			appendStringInfo(&text, "%s%s, ", quote_identifier(name),
							 bigint && type == INT8OID ? key_class : "");
	}
	appendStringInfo(&text, guard_is_expression(rule->signature) ? "(%s))" : "%s)",
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
