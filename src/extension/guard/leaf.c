/*
 * leaf.c: the tables that a guard searches, and the indexes that it asks.
 *
 * An index is found by its definition: its signature, its keys and its condition.  So it may
 * be renamed, built again or replaced by another one.
 */
#include "guard/rule.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_constraint.h"
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

#include "index/index.h"
#include "rights.h"
#include "guard/group.h"

/* ---- Keys of rows --------------------------------------------------------------- */

/* Returns whether only rows that are equal in a column are compared. */
static bool
is_scope(const GuardRule *rule, const char *column)
{
	for (int i = 0; i < rule->withins; i++)
		if (rule->within[i].scope && rule->within[i].column != NULL &&
			strcmp(rule->within[i].column, column) == 0)
			return true;
	return false;
}

/* Returns whether a column of a table is in its partition key, or in that of a partition. */
static bool
divides(Oid oid, const char *column)
{
	bool found = false;
	ListCell *cell;

	foreach (cell, find_all_inheritors(oid, AccessShareLock, NULL))
	{
		Relation table = table_open(lfirst_oid(cell), NoLock);
		int number = get_attnum(lfirst_oid(cell), column) - FirstLowInvalidHeapAttributeNumber;

		found |= has_partition_attrs(table, bms_make_singleton(number), NULL);
		table_close(table, NoLock);
	}
	return found;
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
		const char *name = NULL;
		int left = 0;

		for (int i = 0; i < table->keys; i++)
			if (table->keys == 1 ||
				!(is_scope(rule, table->key[i]) ||
				  (pass == 1 && divides(table->oid, table->key[i]))))
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

/* Adds a table whose rows refuse others, with the columns of its primary key. */
void
guard_add_table(GuardRule *rule, Oid oid)
{
	GuardTable *table = &rule->table[rule->tables++];
	Oid constraint;
	int32 modifier;

	guard_watch(oid);
	table->oid = oid;
	(void) get_primary_key_attnos(oid, true, &constraint);
	if (OidIsValid(constraint))
	{
		Relation index = index_open(get_constraint_index(constraint), AccessShareLock);

		table->key_index = RelationGetRelid(index);
		table->keys = index->rd_index->indnkeyatts;
		table->key = palloc(table->keys * sizeof(char *));
		for (int i = 0; i < table->keys; i++)
			table->key[i] = get_attname(oid, index->rd_index->indkey.values[i], false);
		index_close(index, AccessShareLock);
	}
	if (rule->action->groups || rule->options.value[OPTION_VERDICTS] != NULL)
	{
		table->name = key_name(rule, table);
		get_atttypetypmodcoll(oid, get_attnum(oid, table->name), &table->type, &modifier,
							  &table->collation);
	}
}

/* ---- Tables ------------------------------------------------------------------------ */

/* Returns whether rows that are equal in the columns of the option within are in one partition. */
static bool
is_divided_by_within(const GuardRule *rule, Relation table)
{
	PartitionKey key = RelationGetPartitionKey(table);

	for (int i = 0; i < key->partnatts; i++)
		if (key->partattrs[i] == 0 ||
			!is_scope(rule, get_attname(RelationGetRelid(table), key->partattrs[i], false)) ||
			key->partcollation[i] != key->parttypcoll[i] ||
			!op_in_opfamily(lookup_type_cache(key->parttypid[i], TYPECACHE_EQ_OPR)->eq_opr,
							key->partopfamily[i]))
			return false;
	return true;
}

/* Adds a table, or its partitions by their bounds; `path` has the leaf and its parents. */
static void
add_searched(const GuardRule *rule, GuardLeaf *leaf, List *path, Oid oid)
{
	Relation table = table_open(oid, AccessShareLock);
	PartitionDesc partitions;
	bool one;

	if (table->rd_rel->relkind == RELKIND_RELATION)
		leaf->searched = lappend_oid(leaf->searched, oid);
	else if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("guard \"%s\" cannot search \"%s\"", rule->name,
						RelationGetRelationName(table)),
				 errdetail("It is neither a table nor a partition in this database."),
				 errhint("Make a guard for each of the other partitions, or detach this one.")));
	else
	{
		guard_watch(oid);
		partitions = RelationGetPartitionDesc(table, true);
		one = leaf->oid != oid && list_member_oid(path, oid) && is_divided_by_within(rule, table);
		for (int i = 0; i < partitions->nparts; i++)
			if (!one || list_member_oid(path, partitions->oids[i]))
				add_searched(rule, leaf, path, partitions->oids[i]);
	}
	table_close(table, NoLock);
}

/* Finds the tables that are searched for rows of a leaf, an open table. */
void
guard_find_searched(const GuardRule *rule, GuardLeaf *leaf, Relation table)
{
	List *path =
		lcons_oid(leaf->oid,
				  table->rd_rel->relispartition ? get_partition_ancestors(leaf->oid) : NIL);
	MemoryContext old_context = MemoryContextSwitchTo(rule->context);

	leaf->searched = NIL;
	for (int i = 0; i < rule->tables; i++)
		add_searched(rule, leaf, path, rule->table[i].oid);
	MemoryContextSwitchTo(old_context);
}

/* ---- Terms ----------------------------------------------------------------------------- */

/* Raises an error for a column that an option names and a table lacks. */
static _Noreturn void
refuse_column(const GuardRule *rule, GuardOption option, Relation table, const char *name)
{
	const char *guard = quote_literal_cstr(rule->name);
	const char *other = NULL;

	for (int i = 0; i < RelationGetDescr(table)->natts; i++)
	{
		const char *column = NameStr(TupleDescAttr(RelationGetDescr(table), i)->attname);

		if (pg_strcasecmp(name, column) == 0)
			other = column;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					RelationGetRelationName(table)),
			 errdetail("Argument \"%s\" of guard \"%s\" names it.", guard_option_names[option],
					   rule->name),
			 other != NULL ?
				 errhint("Put capital letters into double quotes: %s.",
						 quote_literal_cstr(quote_identifier(other))) :
				 option == OPTION_SIGNATURE ?
				 errhint("Name a column of signatures, or pass an expression such as 'to_minhash(body)'.  If the column was renamed, pass its name to neardup_guard() again, with name => %s.",
						 guard) :
				 errhint("If it was renamed, pass its name to neardup_guard() again, with name => %s.",
						 guard)));
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

/* Returns what is to be known of an expression over rows of a leaf, and adds what it is made of. */
static GuardTerm
term_of(const GuardRule *rule, GuardLeaf *leaf, Relation table, Expr *expression)
{
	Early early = {rule, table};
	GuardTerm term = {.expression = expression};

	term.early = (Expr *) early_mutator((Node *) expression, &early);
	term.type = lookup_type_cache(getBaseType(exprType((Node *) expression)),
								  TYPECACHE_EQ_OPR | TYPECACHE_EQ_OPR_FINFO |
									  TYPECACHE_CMP_PROC_FINFO | TYPECACHE_HASH_PROC |
									  TYPECACHE_HASH_PROC_FINFO | TYPECACHE_HASH_EXTENDED_PROC);
	term.collation = exprCollation((Node *) expression);
	pull_varattnos((Node *) expression, 1, &leaf->columns);
	return term;
}

/* Returns the term of a column or an expression that an option names. */
static GuardTerm
find_term(const GuardRule *rule, GuardOption option, GuardLeaf *leaf, Relation table,
		  const char *text)
{
	const char *name = guard_column_name(text);

	if (name != NULL && get_attnum(leaf->oid, name) <= 0)
		refuse_column(rule, option, table, name);
	return term_of(rule, leaf, table,
				   (Expr *) guard_parse(table, option,
										name != NULL ? quote_identifier(name) : text));
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
is_default_equality(Oid family, Oid input, const TypeCacheEntry *type)
{
	return get_opfamily_member(family, input, input, STRATEGY_EQUAL) == type->eq_opr;
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

/* Returns how well an index serves a leaf by its keys, then its condition; -1 if not at all. */
static int
fitness(const GuardRule *rule, const GuardLeaf *leaf, Relation index)
{
	List *predicate = RelationGetIndexPredicate(index);
	int column;
	int fits = predicate != NIL ? 2 * INDEX_MAX_KEYS : INDEX_MAX_KEYS;

	if (index->rd_indam->ambuild != neardup_build || !index->rd_index->indisvalid ||
		!index->rd_index->indislive || index->rd_opfamily == NULL)
		return -1;
	column = index_cache(index)->signature - 1;
	if (!guard_index_holds(index, column, leaf->signature.expression) ||
		!OidIsValid(get_opfamily_member(index->rd_opfamily[column], index->rd_opcintype[column],
										rule->ball, STRATEGY_IN_BALL)) ||
		!predicate_implied_by(predicate, leaf->predicate, false))
		return -1;
	for (int i = 0; i < rule->withins; i++)
		if (rule->within[i].span == NULL && key_column(index, &leaf->within[i]) > 0)
			fits += 2 * INDEX_MAX_KEYS;
	return fits - IndexRelationGetNumberOfKeyAttributes(index);
}

/* Finds the index that serves the search of a leaf best, and that of groups, if there are any. */
static void
find_index(const GuardRule *rule, GuardLeaf *leaf, Relation table)
{
	int best = -1;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		int fits = fitness(rule, leaf, index);
		Bitmapset *columns = NULL;

		if (fits > best)
		{
			best = fits;
			leaf->index = RelationGetRelid(index);
			pull_varattnos((Node *) RelationGetIndexPredicate(index), 1, &columns);
			leaf->of_leaders = rule->group != NULL &&
				bms_is_member(((const Var *) leaf->group.expression)->varattno -
								  FirstLowInvalidHeapAttributeNumber,
							  columns);
			for (int i = 0; i < rule->withins; i++)
				leaf->key[i] =
					rule->within[i].span == NULL ? key_column(index, &leaf->within[i]) : 0;
			if (!index_cache(index)->sets && rule->measure != MEASURE_RESEMBLANCE)
				refuse_option(OPTION_MEASURE,
							  "A signature does not tell which part of a text is in another.",
							  "Name a column of type shingles, made with to_shingles().");
		}
		if (rule->group != NULL && !OidIsValid(leaf->members) &&
			index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indisvalid &&
			index->rd_index->indkey.values[0] == get_attnum(leaf->oid, rule->group) &&
			RelationGetIndexPredicate(index) == NIL)
			leaf->members = RelationGetRelid(index);
		index_close(index, AccessShareLock);
	}
}

/* Returns the index that a guard asks for rows of a leaf; raises an error if there is none. */
Oid
guard_index(const GuardRule *rule, const GuardLeaf *leaf)
{
	if (!OidIsValid(leaf->index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no index that guard \"%s\" can ask",
						get_rel_name(leaf->oid), rule->name),
				 errdetail("Nobody can write rows to the table until it has one."),
				 errhint("Use %s.", guard_index_statement(rule, leaf))));
	return leaf->index;
}

/* Returns the statement that creates the index of a leaf's table. */
const char *
guard_index_statement(const GuardRule *rule, const GuardLeaf *leaf)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s USING neardup (",
					 guard_qualified(leaf->table->oid));
	for (int i = 0; i < rule->withins; i++)
	{
		const char *column = rule->within[i].column;
		const TypeCacheEntry *type = leaf->within[i].type;
		Oid class = GetDefaultOpClass(type->type_id, get_index_am_oid("neardup", false));

		if (rule->within[i].span != NULL || !OidIsValid(class) ||
			!is_default_equality(get_opclass_family(class), get_opclass_input_type(class), type))
			continue;
		appendStringInfo(&text, column != NULL ? "%s" : "(%s)",
						 column != NULL ? quote_identifier(column) : rule->within[i].text);
		/* Of two columns of type bigint, the class says which is the key. */
		if (leaf->signature.type->type_id == INT8OID && type->type_id == INT8OID)
			appendStringInfo(&text, " %s.bigint_key_ops", guard_extension_schema(rule));
		appendStringInfoString(&text, ", ");
	}
	appendStringInfo(&text, guard_column_name(rule->signature) == NULL ? "(%s))" : "%s)",
					 rule->signature);
	if (condition != NULL)
		appendStringInfo(&text, " WHERE %s", condition);
	if (rule->group != NULL)
		appendStringInfo(&text, "%s %s", condition != NULL ? " AND" : " WHERE",
						 guard_leader_condition(rule));
	return text.data;
}

/* ---- Leaves ------------------------------------------------------------------------- */

/* Finds the signature, and what it is made of. */
static void
find_signature(const GuardRule *rule, GuardLeaf *leaf, Relation table)
{
	GuardTerm *term = &leaf->signature;
	const char *schema = guard_extension_schema(rule);
	Bitmapset *key = RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_PRIMARY_KEY);

	*term = find_term(rule, OPTION_SIGNATURE, leaf, table, rule->signature);
	pull_varattnos((Node *) term->early, 1, &leaf->sources);
	if (TypeCategory(term->type->type_id) == TYPCATEGORY_STRING)
		refuse_option(OPTION_SIGNATURE, psprintf("\"%s\" is a text.", rule->signature),
					  psprintf("Pass a column of signatures, or sign the text: %s.",
							   quote_literal_cstr(psprintf("%s.to_minhash(%s)", schema,
														   rule->signature))));
	/* Any two numbers that name rows may differ in few bits. */
	if (IsA(term->expression, Var) && term->type->type_id == INT8OID &&
		bms_is_subset(leaf->columns, key))
		refuse_option(OPTION_SIGNATURE,
					  psprintf("Column %s is in the primary key of table \"%s\".", rule->signature,
							   RelationGetRelationName(table)),
					  psprintf("Name a column of signatures.  If the key is a hash, pass %s.",
							   quote_literal_cstr(psprintf("(%s::%s.simhash)", rule->signature,
														   schema))));
}

/* Finds the terms of the option within in a table. */
static void
find_withins(const GuardRule *rule, GuardLeaf *leaf, Relation table)
{
	leaf->within = palloc(rule->withins * sizeof(GuardTerm) + 1);
	leaf->key = palloc0(rule->withins * sizeof(int) + 1);
	for (int i = 0; i < rule->withins; i++)
	{
		const GuardWithin *within = &rule->within[i];
		Oid type;

		leaf->within[i] = find_term(rule, OPTION_WITHIN, leaf, table, within->text);
		type = leaf->within[i].type->type_id;
		if (within->span != NULL ?
				type != TIMESTAMPOID && type != TIMESTAMPTZOID && type != DATEOID :
				!OidIsValid(leaf->within[i].type->eq_opr))
			refuse_option(OPTION_WITHIN,
						  psprintf("Column \"%s\" is of type %s.", within->text,
								   format_type_be(type)),
						  within->span != NULL ?
							  "Name a column of type timestamptz, timestamp or date for an interval." :
							  "Name a column of a type that has an equality operator.");
	}
}

/* Checks that rows of the other table can be compared with rows of the guarded one. */
static void
check_types(GuardRule *rule, const GuardLeaf *leaf)
{
	Relation table = table_open(rule->guarded->oid, AccessShareLock);
	const GuardLeaf *guarded = guard_leaf(rule, table);

	for (int i = -1; i < rule->withins; i++)
	{
		Oid type = (i < 0 ? leaf->signature : leaf->within[i]).type->type_id;
		Oid wanted = (i < 0 ? guarded->signature : guarded->within[i]).type->type_id;

		if (!IsBinaryCoercible(type, wanted))
			refuse_option(OPTION_AGAINST,
						  psprintf("\"%s\" of table \"%s\" is of type %s, not %s.",
								   i < 0 ? rule->signature : rule->within[i].text,
								   get_rel_name(leaf->oid), format_type_be(type),
								   format_type_be(wanted)),
						  "Name a table whose columns have the types of the guarded one.");
	}
	table_close(table, NoLock);
}

/* Finds what a search needs to know of an open table; names are those of safe schemas. */
void
guard_fill_leaf(GuardRule *rule, GuardLeaf *leaf, Relation table)
{
	const char *condition = rule->options.value[OPTION_CONDITION];
	GuardTable *last = &rule->table[rule->tables - 1];
	int settings = NewGUCNestLevel();

	leaf->table = rule->guarded;
	if (leaf->oid != rule->guarded->oid &&
		(leaf->oid == last->oid ||
		 (table->rd_rel->relispartition &&
		  list_member_oid(get_partition_ancestors(leaf->oid), last->oid))))
		leaf->table = last;
	set_locally("search_path", SAFE_SEARCH_PATH);
	find_signature(rule, leaf, table);
	if (condition != NULL)
	{
		leaf->predicate = (List *) guard_parse(table, OPTION_CONDITION, condition);
		leaf->condition = term_of(rule, leaf, table, make_ands_explicit(leaf->predicate));
	}
	if (rule->group != NULL)
	{
		leaf->group =
			find_term(rule, OPTION_GROUP_COLUMN, leaf, table, quote_identifier(rule->group));
		leaf->predicate = list_concat_copy(leaf->predicate,
										   (List *) guard_parse(table, OPTION_CONDITION,
																guard_leader_condition(rule)));
	}
	if (leaf->table->name != NULL)
		leaf->group_key =
			find_term(rule, OPTION_GROUP_COLUMN, leaf, table, quote_identifier(leaf->table->name));
	if (rule->unless != NULL && get_attnum(leaf->oid, rule->unless) > 0 &&
		get_atttype(leaf->oid, get_attnum(leaf->oid, rule->unless)) == BOOLOID)
		leaf->unless = find_term(rule, OPTION_UNLESS, leaf, table, quote_identifier(rule->unless));
	find_withins(rule, leaf, table);
	if (leaf->table != rule->guarded)
		check_types(rule, leaf);
	AtEOXact_GUC(false, settings);
	find_index(rule, leaf, table);
}
