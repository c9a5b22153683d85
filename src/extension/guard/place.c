/*
 * place.c: the tables that a guard searches, and the indexes that it asks.
 *
 * An index is found by its definition: its signature, its keys and its condition.  So it may
 * be renamed, built again or replaced by another one.
 */
#include "guard/rule.h"

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
#include "guard/group.h"

/* ---- Keys of rows --------------------------------------------------------------- */

/* Returns the columns in which a guard compares equal rows and, if asked, those of partition keys. */
static List *
shared_columns(const GuardRule *rule, const GuardTable *of, bool partitions)
{
	List *names = NIL;
	ListCell *cell;

	for (int i = 0; i < rule->withins; i++)
		if (rule->within[i].scope && rule->within[i].column != NULL)
			names = lappend(names, makeString(pstrdup(rule->within[i].column)));
	if (!partitions)
		return names;
	foreach (cell, find_all_inheritors(of->oid, AccessShareLock, NULL))
	{
		Relation table = table_open(lfirst_oid(cell), NoLock);
		PartitionKey key = RelationGetPartitionKey(table);

		for (int i = 0; key != NULL && i < key->partnatts; i++)
			if (key->partattrs[i] > 0)
				names =
					lappend(names,
							makeString(get_attname(lfirst_oid(cell), key->partattrs[i], false)));
		table_close(table, NoLock);
	}
	return names;
}

/*
 * Returns the column that verdicts and groups name rows by: that of the primary key.  If it has
 * several, one must be left without the columns of the option within, or also without the partition key.
 */
static const char *
key_name(const GuardRule *rule, const GuardTable *table)
{
	for (int pass = 0; pass < 2; pass++)
	{
		List *shared = table->keys == 1 ? NIL : shared_columns(rule, table, pass == 1);
		const char *name = NULL;
		int left = 0;

		for (int i = 0; i < table->keys; i++)
			if (!list_member(shared, makeString(pstrdup(table->key[i]))))
			{
				name = table->key[i];
				left++;
			}
		if (left == 1)
			return name;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("table \"%s\" has no primary key of one column", get_rel_name(table->oid)),
			 errdetail("Groups and verdicts name rows by one column, beside those of \"within\" and of partitions."),
			 errhint("Add a primary key.")));
}

/* Finds the columns of the primary key of a table and, if asked, the one that names rows. */
void
guard_find_key(const GuardRule *rule, GuardTable *table, bool by_one_column)
{
	Relation relation = table_open(table->oid, AccessShareLock);
	ListCell *cell;

	foreach (cell, RelationGetIndexList(relation))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		const FormData_pg_index *form = index->rd_index;

		if (form->indisprimary)
		{
			table->key_index = lfirst_oid(cell);
			table->keys = form->indnkeyatts;
			table->key = palloc(table->keys * sizeof(char *));
			for (int i = 0; i < table->keys; i++)
				table->key[i] = get_attname(table->oid, form->indkey.values[i], false);
		}
		index_close(index, AccessShareLock);
	}
	table_close(relation, NoLock);
	if (by_one_column)
		table->name = key_name(rule, table);
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
			found |= rule->within[w].scope && rule->within[w].column != NULL &&
				strcmp(rule->within[w].column, name) == 0 &&
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
	ListCell *cell;

	if (table->rd_rel->relispartition)
		collector.path =
			list_concat(collector.path, get_partition_ancestors(RelationGetRelid(table)));
	foreach (cell, rule->tables)
		collect(&collector, ((const GuardTable *) lfirst(cell))->oid);
	*watched = collector.watched;
	return collector.tables;
}

/* ---- Terms ----------------------------------------------------------------------------- */

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

/* Returns the column or the expression of an option over rows of a table. */
static Expr *
expression_of(const GuardRule *rule, GuardOption option, Relation table, const char *text)
{
	const char *name = guard_column_name(text);

	if (name != NULL)
	{
		(void) column_number(rule, option, table, name);
		text = quote_identifier(name);
	}
	return (Expr *) guard_parse(table, option, text);
}

/* What early_mutator() needs. */
typedef struct Early
{
	const GuardRule *rule;
	Relation table;
} Early;

/* A mutator: puts what generated columns are made of in their places. */
static Node *
early_mutator(Node *node, void *state)
{
	const Early *early = state;

	if (node != NULL && IsA(node, Var))
	{
		AttrNumber number = ((Var *) node)->varattno;
		const FormData_pg_attribute *column =
			number > 0 ? TupleDescAttr(RelationGetDescr(early->table), number - 1) : NULL;

		if (column == NULL || column->attgenerated == '\0')
			return node;
		if (column->attgenerated != ATTRIBUTE_GENERATED_STORED)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("guard \"%s\" cannot read column \"%s\", which is not stored",
							early->rule->name, NameStr(column->attname)),
					 errhint("Make it STORED, or name the columns that it is made of.")));
		return build_column_default(early->table, number);
	}
	return node == NULL ? NULL : expression_tree_mutator(node, early_mutator, state);
}

/* Returns what is to be known of a column or an expression over rows of a table. */
static GuardTerm
term_of(const GuardRule *rule, Relation table, Expr *expression)
{
	Early early = {rule, table};
	GuardTerm term = {.expression = expression};

	term.early = (Expr *) early_mutator((Node *) expression, &early);
	term.type = getBaseType(exprType((Node *) expression));
	term.collation = exprCollation((Node *) expression);
	get_typlenbyval(term.type, &term.length, &term.by_value);
	return term;
}

/* Returns the term of a column that an option names. */
static GuardTerm
column_term(const GuardRule *rule, GuardOption option, Relation table, const char *name)
{
	return term_of(rule, table, expression_of(rule, option, table, quote_identifier(name)));
}

/* ---- Indexes ------------------------------------------------------------------------ */

/* Returns whether a column of an index, from 0, holds a column or an expression. */
bool
guard_index_holds(Relation index, int column, const Expr *wanted)
{
	const int16 *number = index->rd_index->indkey.values;
	int expression = 0;

	if (IsA(wanted, Var) || number[column] != 0)
		return IsA(wanted, Var) && number[column] == ((const Var *) wanted)->varattno;
	for (int i = 0; i < column; i++)
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

/* Returns the key of an index that compares rows as a term of the option within does, or 0. */
static int
key_column(Relation index, const GuardTerm *wanted)
{
	for (int column = 1; column <= IndexRelationGetNumberOfKeyAttributes(index); column++)
		if (column != index_cache(index)->signature &&
			guard_index_holds(index, column - 1, wanted->expression) &&
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
	if (!guard_index_holds(index, column, place->signature.expression) ||
		!OidIsValid(get_opfamily_member(index->rd_opfamily[column], index->rd_opcintype[column],
										rule->ball, STRATEGY_IN_BALL)) ||
		!predicate_implied_by(predicate, place->predicate, false))
		return -1;
	for (int i = 0; i < rule->withins; i++)
		if (rule->within[i].span == NULL && key_column(index, &place->within[i]) > 0)
			fits += 2 * INDEX_MAX_KEYS;
	return fits - IndexRelationGetNumberOfKeyAttributes(index);
}

/* Returns whether a condition names the column of a term, if there is one. */
static bool
names_column(List *condition, const GuardTerm *term)
{
	Bitmapset *columns = NULL;

	pull_varattnos((Node *) condition, 1, &columns);
	return term->expression != NULL &&
		bms_is_member(((const Var *) term->expression)->varattno -
						  FirstLowInvalidHeapAttributeNumber,
					  columns);
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
			place->of_leaders = names_column(RelationGetIndexPredicate(index), &place->group);
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

/* Finds the terms of the option within in a table. */
static void
find_withins(const GuardRule *rule, GuardPlace *place, Relation table)
{
	place->within = palloc(rule->withins * sizeof(GuardTerm) + 1);
	place->key = palloc0(rule->withins * sizeof(int) + 1);
	for (int i = 0; i < rule->withins; i++)
	{
		const GuardWithin *within = &rule->within[i];
		Oid type;

		place->within[i] =
			term_of(rule, table, expression_of(rule, OPTION_WITHIN, table, within->text));
		type = place->within[i].type;
		if (within->span != NULL ?
				type != TIMESTAMPOID && type != TIMESTAMPTZOID && type != DATEOID :
				!OidIsValid(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr))
			refuse_option(OPTION_WITHIN,
						  psprintf("Column \"%s\" is of type %s.", within->text,
								   format_type_be(type)),
						  within->span != NULL ?
							  "Name a column of type timestamptz, timestamp or date for an interval." :
							  "Name a column of a type that has an equality operator.");
	}
}

/* Refuses numbers that name rows as hashes: any two of them may differ in few bits. */
static void
refuse_key(const GuardRule *rule, Relation table, AttrNumber column)
{
	const char *name = quote_identifier(get_attname(RelationGetRelid(table), column, false));
	Oid type = getBaseType(get_atttype(RelationGetRelid(table), column));
	Bitmapset *key = RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_PRIMARY_KEY);

	if (type == INT8OID && bms_is_member(column - FirstLowInvalidHeapAttributeNumber, key))
		refuse_option(OPTION_SIGNATURE,
					  psprintf("Column %s is in the primary key of table \"%s\".", name,
							   RelationGetRelationName(table)),
					  psprintf("Name a column of signatures.  If the key is a hash, pass %s.",
							   quote_literal_cstr(psprintf("(%s::%s.simhash)", name,
														   guard_extension_schema(rule)))));
}

/* Finds the signature, and what it is made of. */
static void
find_signature(const GuardRule *rule, GuardPlace *place, Relation table)
{
	Expr *signature = expression_of(rule, OPTION_SIGNATURE, table, rule->signature);

	if (TypeCategory(exprType((Node *) signature)) == TYPCATEGORY_STRING)
		refuse_option(OPTION_SIGNATURE, psprintf("\"%s\" is a text.", rule->signature),
					  psprintf("Pass a column of signatures, or sign the text: %s.",
							   quote_literal_cstr(psprintf("%s.to_minhash(%s)",
														   guard_extension_schema(rule),
														   rule->signature))));
	if (IsA(signature, Var))
		refuse_key(rule, table, ((Var *) signature)->varattno);
	place->signature = term_of(rule, table, signature);
	pull_varattnos((Node *) place->signature.early, 1, &place->sources);
}

/* Raises an error unless a term of the other table has the type of that of the guarded one. */
static void
check_type(const GuardPlace *place, const char *text, const GuardTerm *term, Expr *guarded)
{
	Oid wanted = getBaseType(exprType((Node *) guarded));

	if (!IsBinaryCoercible(term->type, wanted))
		refuse_option(OPTION_AGAINST,
					  psprintf("\"%s\" of table \"%s\" is of type %s, not %s.", text,
							   get_rel_name(place->oid), format_type_be(term->type),
							   format_type_be(wanted)),
					  "Name a table whose columns have the types of the guarded one.");
}

/* Checks that rows of the other table can be compared with rows of the guarded one. */
static void
check_types(const GuardRule *rule, const GuardPlace *place)
{
	Relation guarded;

	if (place->table == rule->guarded)
		return;
	guarded = table_open(rule->guarded->oid, AccessShareLock);
	check_type(place, rule->signature, &place->signature,
			   expression_of(rule, OPTION_SIGNATURE, guarded, rule->signature));
	for (int i = 0; i < rule->withins; i++)
		check_type(place, rule->within[i].text, &place->within[i],
				   expression_of(rule, OPTION_WITHIN, guarded, rule->within[i].text));
	table_close(guarded, NoLock);
}

/*
 * Finds what a search needs to know of an open table; returns whether there is an index.  The names in
 * expressions are those of safe schemas.
 */
bool
guard_fill_place(const GuardRule *rule, GuardPlace *place, Relation table)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	const GuardTable *last = llast(rule->tables);
	bool is_last = place->oid == last->oid ||
		(table->rd_rel->relispartition &&
		 list_member_oid(get_partition_ancestors(place->oid), last->oid));
	int settings = NewGUCNestLevel();

	place->table =
		is_last && place->oid != rule->guarded->oid ? llast(rule->tables) : rule->guarded;
	set_locally("search_path", SAFE_SEARCH_PATH);
	find_signature(rule, place, table);
	if (condition != NULL)
	{
		place->predicate = (List *) guard_parse(table, OPTION_CONDITION, condition);
		place->condition = term_of(rule, table, make_ands_explicit(place->predicate));
	}
	if (rule->group != NULL)
	{
		place->group = column_term(rule, OPTION_GROUP_COLUMN, table, rule->group);
		place->group_key = column_term(rule, OPTION_GROUP_COLUMN, table, rule->guarded->name);
		place->predicate = list_concat(place->predicate,
									   (List *) guard_parse(table, OPTION_CONDITION,
															guard_leader_condition(rule)));
	}
	if (rule->unless != NULL && get_attnum(place->oid, rule->unless) > 0 &&
		get_atttype(place->oid, get_attnum(place->oid, rule->unless)) == BOOLOID)
		place->unless = column_term(rule, OPTION_UNLESS, table, rule->unless);
	find_withins(rule, place, table);
	check_types(rule, place);
	AtEOXact_GUC(false, settings);
	find_index(rule, place, table);
	return OidIsValid(place->index);
}

/* Returns what a search would need to know of an open table, with the index if there is one. */
const GuardPlace *
guard_describe(const GuardRule *rule, Relation table)
{
	GuardPlace *place = palloc0(sizeof(GuardPlace));

	place->oid = RelationGetRelid(table);
	(void) guard_fill_place(rule, place, table);
	return place;
}

/* Returns the statement that creates the index that a guard asks. */
const char *
guard_index_statement(const GuardRule *rule, const GuardTable *of)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	const char *key_class = psprintf(" %s.bigint_key_ops", guard_extension_schema(rule));
	Relation table = table_open(of->oid, AccessShareLock);
	bool bigint =
		exprType((Node *) expression_of(rule, OPTION_SIGNATURE, table, rule->signature)) == INT8OID;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s USING neardup (", guard_qualified(of->oid));
	for (int i = 0; i < rule->withins; i++)
	{
		const GuardWithin *within = &rule->within[i];
		Oid type =
			getBaseType(exprType((Node *) expression_of(rule, OPTION_WITHIN, table, within->text)));
		Oid class = GetDefaultOpClass(type, get_index_am_oid("neardup", false));

		/* Of two columns of type bigint, the class says which is the key. */
		if (within->span == NULL && OidIsValid(class) &&
			is_default_equality(get_opclass_family(class), get_opclass_input_type(class), type))
			appendStringInfo(&text, within->column != NULL ? "%s%s, " : "(%s)%s, ",
							 within->column != NULL ? quote_identifier(within->column) :
													  within->text,
							 bigint && type == INT8OID ? key_class : "");
	}
	appendStringInfo(&text, guard_column_name(rule->signature) == NULL ? "(%s))" : "%s)",
					 rule->signature);
	if (condition != NULL)
		appendStringInfo(&text, " WHERE %s", condition);
	if (rule->group != NULL)
		appendStringInfo(&text, "%s %s", condition != NULL ? " AND" : " WHERE",
						 guard_leader_condition(rule));
	table_close(table, NoLock);
	return text.data;
}
