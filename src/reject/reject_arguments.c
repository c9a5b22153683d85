/*
 * reject_arguments.c: the arguments of a trigger of neardup_reject(), and the columns and
 * indexes that they name.
 */
#include "reject/reject.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "index/index.h"

/* ---- Arguments ---------------------------------------------------------- */

/* Returns the value of an option NAME=value, or NULL. */
static const char *
option_value(const char *option, const char *name)
{
	size_t length = strlen(name);

	return strncmp(option, name, length) == 0 && option[length] == '=' ? option + length + 1 : NULL;
}

/* An option NAME=value, and where its value goes. */
typedef struct ValueOption
{
	const char *name;
	const char **value;
} ValueOption;

/* Reads an option of a trigger.  Returns false if there is none of that name. */
static bool
read_option(RejectRule *rule, const char *option)
{
	const ValueOption options[] = {
		{"within", &rule->scope.within},
		{"where", &rule->scope.where},
		{"log", &rule->log},
		{"message", &rule->message},
		{"hint", &rule->hint},
		{"group", &rule->group.name},
		{"key", &rule->group.key_name},
		{"verdicts", &rule->verdicts},
		{"show", &rule->show},
	};

	for (int i = 0; i < lengthof(options); i++)
	{
		const char *value = option_value(option, options[i].name);

		if (value == NULL)
			continue;
		*options[i].value = pstrdup(value);
		return true;
	}
	if (strcmp(option, "warn") == 0)
		rule->warn = true;
	else if (strcmp(option, "no_lock") == 0)
		rule->lock = false;
	else if (strcmp(option, "detail=json") == 0)
		rule->json = true;
	else
		return false;
	return true;
}

/* Does a trigger group rows? */
bool
makes_groups(const Trigger *trigger)
{
	for (int i = 2; i < trigger->tgnargs; i++)
		if (option_value(trigger->tgargs[i], "group") != NULL)
			return true;
	return false;
}

/* Reads the trigger's arguments: column, threshold, options. */
void
read_arguments(RejectRule *rule, const Trigger *trigger)
{
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
	for (int i = 2; i < trigger->tgnargs; i++)
		if (!read_option(rule, trigger->tgargs[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("neardup_reject() has no option \"%s\"", trigger->tgargs[i]),
					 errhint("Use 'warn', 'log=TABLE', 'group=COLUMN', 'key=COLUMN', "
							 "'verdicts=TABLE', 'within=COLUMNS', 'where=INDEX', 'no_lock', "
							 "'show=COLUMNS', 'detail=json', 'message=TEXT' or 'hint=TEXT'.")));
	if (rule->group.name != NULL && (rule->warn || rule->log != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a trigger of neardup_reject() cannot group rows and also warn or log"),
				 errhint("Use two triggers, one of them with 'group=%s'.", rule->group.name)));
}

/* ---- The table ---------------------------------------------------------- */

/* Finds the column of signatures and checks its type. */
static void
find_signature(Maker *maker)
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
	if (!is_signature_type(maker->function, type) &&
		type != extension_type(maker->function, "shingles"))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, not a signature", name, format_type_be(type)),
				 errdetail("neardup_reject() compares columns of type minhash, simhash, bit, bigint or "
						   "shingles."),
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

/* Finds the columns of signatures and what they are generated from. */
void
find_signatures(Maker *maker)
{
	find_signature(maker);
	find_source_columns(maker);
}

/* ---- Keys ---------------------------------------------------------------- */

static void
make_key_room(RejectRule *rule, int keys)
{
	rule->keys = keys;
	rule->key = palloc(keys * sizeof(AttrNumber));
	rule->key_name = palloc(keys * sizeof(char *));
	rule->key_output = palloc(keys * sizeof(Oid));
}

/* Makes a column a part of what identifies rows. */
static void
use_key_column(Maker *maker, int i, const char *name)
{
	RejectRule *rule = maker->rule;
	Oid type = get_atttype(rule->guarded, get_attnum(rule->guarded, name));
	bool is_varlena;

	getTypeOutputInfo(type, &rule->key_output[i], &is_varlena);
	rule->key[i] = get_attnum(RelationGetRelid(maker->table), name);
	rule->key_name[i] = name;
}

/* Identifies rows by the columns of a primary key. */
static void
use_primary_key(Maker *maker, Form_pg_index index)
{
	RejectRule *rule = maker->rule;

	make_key_room(rule, index->indnkeyatts);
	for (int i = 0; i < rule->keys; i++)
		use_key_column(maker, i, get_attname(rule->guarded, index->indkey.values[i], false));
}

/* Returns the number of a column that an option names. */
static AttrNumber
option_column(const Maker *maker, const char *option, const char *name)
{
	AttrNumber column = get_attnum(RelationGetRelid(maker->table), name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(maker->table)),
				 errdetail("Option \"%s\" of trigger \"%s\" names it.", option,
						   maker->trigger->tgname),
				 errhint("Add the column, or create the trigger again and name another column.")));
	return column;
}

/* Finds the column that identifies rows in groups and verdicts: by default, the primary key. */
static void
find_group_key(Maker *maker)
{
	RejectRule *rule = maker->rule;
	GroupColumns *group = &rule->group;
	Oid table = RelationGetRelid(maker->table);
	Oid type;

	if (group->key_name == NULL && rule->keys == 1 && rule->key[0] > 0)
		group->key_name = rule->key_name[0];
	if (group->key_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table \"%s\" has no primary key of one column",
						RelationGetRelationName(maker->guarded)),
				 errdetail("Groups and verdicts name rows by one column."),
				 errhint("Name a column that is unique, with the option 'key=COLUMN'.")));
	group->key = option_column(maker, "key", group->key_name);
	type = get_atttype(table, group->key);
	group->type = getBaseType(type);
	get_typlenbyval(group->type, &group->length, &group->by_value);
	group->collation = TupleDescAttr(RelationGetDescr(maker->table), group->key - 1)->attcollation;
}

/* Finds the column of groups, which identifies rows by their group's key. */
static void
find_group_column(Maker *maker)
{
	RejectRule *rule = maker->rule;
	GroupColumns *group = &rule->group;
	Oid type;

	group->column = option_column(maker, "group", group->name);
	type = get_atttype(RelationGetRelid(maker->table), group->column);
	if (getBaseType(type) != group->type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, and column \"%s\" of type %s", group->name,
						format_type_be(type), group->key_name, format_type_be(group->type)),
				 errdetail("A row's group is the key of the row that leads the group."),
				 errhint("Give both columns the same type.")));
	make_key_room(rule, 1);
	use_key_column(maker, 0, group->key_name);
}

/* ---- Indexes ------------------------------------------------------------- */

/* Returns a column of the guarded table as an operand of an operator. */
static Expr *
operand(const RejectRule *rule, const char *name, Oid type)
{
	AttrNumber number = get_attnum(rule->guarded, name);
	Oid own;
	int32 modifier;
	Oid collation;
	Expr *column;

	get_atttypetypmodcoll(rule->guarded, number, &own, &modifier, &collation);
	column = (Expr *) makeVar(1, number, own, modifier, collation, 0);
	if (own == type)
		return column;
	return (Expr *) makeRelabelType(column, type, -1, collation, COERCE_IMPLICIT_CAST);
}

/* Returns the conditions that all rows which are searched satisfy. */
static List *
searched_condition(const RejectRule *rule)
{
	const GroupColumns *group = &rule->group;
	Oid equal;
	Oid left;
	Oid right;
	Expr *leads;

	if (group->name == NULL)
		return rule->scope.condition;
	equal = lookup_type_cache(group->type, TYPECACHE_EQ_OPR)->eq_opr;
	if (!OidIsValid(equal))
		return rule->scope.condition; /* an error when statements are made */
	op_input_types(equal, &left, &right);
	left = get_typtype(left) == TYPTYPE_PSEUDO ? group->type : left;
	leads = make_opclause(equal, BOOLOID, false, operand(rule, group->name, left),
						  operand(rule, group->key_name, left), InvalidOid, group->collation);
	set_opfuncid((OpExpr *) leads);
	return lappend(list_copy(rule->scope.condition), leads);
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
		predicate_implied_by(RelationGetIndexPredicate(index), searched_condition(rule), false);
}

/* Looks for a primary key, in place of the ctid. */
static void
find_key(Maker *maker, const List *indexes)
{
	RejectRule *rule = maker->rule;
	const ListCell *cell;

	make_key_room(rule, 1);
	rule->key[0] = SelfItemPointerAttributeNumber;
	rule->key_name[0] = "ctid";
	rule->key_output[0] = F_TIDOUT;
	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_index->indisprimary)
			use_primary_key(maker, index->rd_index);
		index_close(index, AccessShareLock);
	}
	if (rule->group.name != NULL || rule->verdicts != NULL)
		find_group_key(maker);
	if (rule->group.name != NULL)
		find_group_column(maker);
}

/* Finds the columns of the similar row that are shown. */
static void
find_shown(Maker *maker)
{
	RejectRule *rule = maker->rule;
	List *names;
	ListCell *cell;

	if (rule->show == NULL)
		return;
	if (!SplitIdentifierString(pstrdup(rule->show), ',', &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"show\" of neardup_reject() is not a list of columns: \"%s\"",
						rule->show),
				 errhint("Pass names of columns, as in 'show=title' or 'show=title, link'.")));
	rule->shown_name = palloc((list_length(names) + 1) * sizeof(char *));
	foreach (cell, names)
	{
		(void) option_column(maker, "show", lfirst(cell));
		rule->shown_name[rule->shown++] = pstrdup(lfirst(cell));
	}
}

/* Looks for what identifies rows, and for an index for the search. */
void
find_indexes(Maker *maker)
{
	RejectRule *rule = maker->rule;
	List *indexes = RelationGetIndexList(maker->guarded);
	ListCell *cell;

	find_key(maker, indexes);
	find_shown(maker);
	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		rule->indexed |= serves_search(maker, index);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
}

/* Returns the condition that a row leads its group, as people write it for types of PostgreSQL. */
static const char *
leader_condition(const RejectRule *rule)
{
	const char *group = quote_identifier(rule->group.name);
	const char *key = quote_identifier(rule->group.key_name);

	return rule->group.type < FirstNormalObjectId ? psprintf("%s = %s", group, key) :
													equality(group, rule->group.type, key);
}

/* Returns the statement that creates an index for the search. */
const char *
missing_index(const RejectRule *rule)
{
	const RejectScope *scope = &rule->scope;
	Relation guarded = table_open(rule->guarded, AccessShareLock);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s USING neardup (", qualified_name(guarded));
	table_close(guarded, NoLock);
	/* Of two columns of type bigint, the class says which is the key. */
	for (int i = 0; i < scope->columns; i++)
		appendStringInfo(&text, "%s%s, ", quote_identifier(scope->column[i].name),
						 rule->column_type == INT8OID && scope->column[i].type == INT8OID ?
							 " bigint_key_ops" :
							 "");
	appendStringInfo(&text, "%s)", quote_identifier(rule->column_name));
	if (rule->group.name != NULL)
		appendStringInfo(&text, " WHERE %s", leader_condition(rule));
	return text.data;
}
