/*
 * options.c: what neardup_guard() is told, as the arguments of its triggers keep it.
 *
 * Each argument of a trigger is 'name=value', with the name and the value of an argument of
 * neardup_guard().
 */
#include "guard/guard.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

const char *const guard_option_names[OPTIONS] = {"signature", "threshold", "action",
												 "within",    "condition", "against",
												 "measure",   "log_table", "group_column",
												 "unless",    "verdicts",  "show"};

/* Raises an error for an option. */
void
refuse_option(GuardOption option, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" of neardup_guard() is missing or wrong",
					guard_option_names[option]),
			 detail != NULL ? errdetail("%s", detail) : 0, errhint("%s", hint)));
}

/* Returns the options that the arguments of a trigger name. */
GuardOptions
guard_options(const Trigger *trigger)
{
	GuardOptions options = {{NULL}};

	for (int i = 0; i < trigger->tgnargs; i++)
	{
		const char *argument = trigger->tgargs[i];
		const char *equals = strchr(argument, '=');
		int option = 0;

		while (equals != NULL && option < OPTIONS &&
			   strcmp(guard_option_names[option], pnstrdup(argument, equals - argument)) != 0)
			option++;
		if (equals == NULL || option == OPTIONS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("trigger \"%s\" has an argument that neardup_guard_row() does not know: \"%s\"",
							trigger->tgname, argument),
					 errhint("Create the trigger with neardup_guard().")));
		options.value[option] = pstrdup(equals + 1);
	}
	return options;
}

/* Returns the options as the arguments of a trigger, in SQL. */
const char *
guard_arguments(const GuardOptions *options)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < OPTIONS; i++)
		if (options->value[i] != NULL)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "",
							 quote_literal_cstr(psprintf("%s=%s", guard_option_names[i],
														 options->value[i])));
	return list.data;
}

/* Returns which of some names an option has; the first one if it has none. */
static int
choice(const GuardOptions *options, GuardOption option, const char *const *name, int count,
	   const char *hint)
{
	const char *value = options->value[option];

	for (int i = 0; i < count; i++)
		if (value == NULL || strcmp(value, name[i]) == 0)
			return i;
	refuse_option(option, psprintf("It is '%s'.", value), hint);
}

/* Returns what a guard does with a row that is similar to another one. */
GuardAction
guard_action(const GuardOptions *options)
{
	static const char *const name[ACTIONS] = {"reject", "warn", "log", "skip", "group", "none"};

	return choice(options, OPTION_ACTION, name, ACTIONS,
				  "Use 'reject', 'warn', 'log', 'skip', 'group' or 'none'.");
}

/* Returns what the threshold bounds. */
Measure
guard_measure(const GuardOptions *options)
{
	static const char *const name[MEASURES] = {"similarity", "contained", "contains",
											   "containment"};

	return choice(options, OPTION_MEASURE, name, MEASURES,
				  "Use 'similarity', or for sets 'containment', 'contained' or 'contains'.");
}

/* Returns the threshold; raises an error unless it is above 0 and at most 1. */
double
guard_threshold(const GuardOptions *options)
{
	const char *value = options->value[OPTION_THRESHOLD];
	char *end;
	double threshold;

	if (value == NULL)
		refuse_option(OPTION_THRESHOLD, NULL,
					  "Pass a similarity, as in neardup_guard('proposals', 'sig', 0.9).");
	threshold = strtod(value, &end);
	if (end == value || *end != '\0')
		refuse_option(OPTION_THRESHOLD, psprintf("It is '%s'.", value), "Pass a similarity.");
	check_threshold(threshold, NULL);
	return threshold;
}

/* ---- Lists --------------------------------------------------------------------------- */

/* Returns the names in an option, as a list of strings; NIL if it is not given. */
List *
guard_names(const GuardOptions *options, GuardOption option)
{
	const char *value = options->value[option];
	List *names = NIL;

	if (value != NULL && !SplitIdentifierString(pstrdup(value), ',', &names))
		refuse_option(option, psprintf("It is not a list of names: '%s'.", value),
					  "Pass names that commas separate.  A name with capital letters needs double quotes.");
	return names;
}

/* Returns whether a signature is an expression, not the name of a column. */
bool
guard_is_expression(const char *signature)
{
	List *names;

	return strchr(signature, '(') != NULL ||
		!SplitIdentifierString(pstrdup(signature), ',', &names);
}

/* Returns the end of what goes before a comma or, if asked, a space, outside of double quotes. */
static char *
end_of_item(char *item, bool at_space)
{
	bool quoted = false;

	for (; *item != '\0' &&
		 (quoted || (*item != ',' && !(at_space && isspace((unsigned char) *item))));
		 item++)
		quoted ^= *item == '"';
	return item;
}

/* Returns the items of a list that commas separate, as they are written, without spaces before. */
static List *
items_of(const char *text)
{
	char *item = text == NULL ? NULL : pstrdup(text);
	List *items = NIL;

	while (item != NULL)
	{
		char *end = end_of_item(item, false);
		char *next = *end == '\0' ? NULL : end + 1;

		*end = '\0';
		items = lappend(items, item + strspn(item, " \t\n\r\f"));
		item = next;
	}
	return items;
}

/* Reads the option within, whose items are columns, or columns and intervals. */
GuardWithin *
guard_within(const GuardOptions *options, int *count)
{
	List *items = items_of(options->value[OPTION_WITHIN]);
	GuardWithin *within = palloc0((list_length(items) + 1) * sizeof(GuardWithin));
	ListCell *cell;

	*count = 0;
	foreach (cell, items)
	{
		char *item = lfirst(cell);
		char *end = end_of_item(item, true);
		const char *span = end + strspn(end, " \t\n\r\f");
		Interval zero = {0};
		List *names;

		if (*span != '\0')
			within->span = DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(span),
																 ObjectIdGetDatum(InvalidOid),
																 Int32GetDatum(-1)));
		if (within->span != NULL &&
			DatumGetBool(DirectFunctionCall2(interval_lt, IntervalPGetDatum(within->span),
											 IntervalPGetDatum(&zero))))
			refuse_option(OPTION_WITHIN, psprintf("The interval is '%s'.", span),
						  "Pass an interval that is not negative.");
		*end = '\0';
		if (!SplitIdentifierString(item, ',', &names) || list_length(names) != 1)
			refuse_option(OPTION_WITHIN, NULL,
						  "Pass columns, as in 'tenant', or 'tenant, submitted_at 10 minutes'.");
		within->name = linitial(names);
		within++;
		(*count)++;
	}
	return within - *count;
}

/* ---- Columns and tables -------------------------------------------------------------- */

/* Returns the column of a table that a name names, or InvalidAttrNumber. */
AttrNumber
guard_named_column(Oid table, const char *name)
{
	List *names = textToQualifiedNameList(cstring_to_text(name));

	return list_length(names) == 1 ? get_attnum(table, strVal(linitial(names))) : InvalidAttrNumber;
}

/*
 * Returns the table with a name, or InvalidOid.  One without a schema is in that of a rule's guarded
 * table or, without a rule, found by the search_path.
 */
static Oid
find_named_table(const char *name, const GuardRule *rule)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));

	if (rule != NULL && range->schemaname == NULL)
		range->schemaname = get_namespace_name(get_rel_namespace(rule->side[0].table));
	return RangeVarGetRelid(range, NoLock, true);
}

/* Returns the table that an option names. */
Oid
guard_option_table(GuardOption option, const char *name, const GuardRule *rule)
{
	Oid table = find_named_table(name, rule);

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of argument \"%s\" does not exist", name,
						guard_option_names[option]),
				 rule != NULL ? errdetail("Guard \"%s\" names it.", rule->name) : 0,
				 errhint("Create it, or name another table with neardup_guard().")));
	return table;
}

/* Returns the parse tree of one expression; raises an error if the text is another thing. */
static Node *
parse_tree(const char *text)
{
	List *statements = raw_parser(psprintf("SELECT (%s)", text), RAW_PARSE_DEFAULT);
	SelectStmt *select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;

	if (list_length(statements) != 1 || !IsA(select, SelectStmt) || select->op != SETOP_NONE ||
		list_length(select->targetList) != 1 || select->fromClause != NIL ||
		select->whereClause != NULL || select->sortClause != NIL)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not an expression: %s", text)));
	return linitial_node(ResTarget, select->targetList)->val;
}

/*
 * Raises an error if a condition, a list with implicit AND, lets a guard check no row, or is true of
 * all rows.
 */
static void
check_condition(List *condition)
{
	const char *detail = NULL;

	if (condition == NIL)
		detail = "It is true of all rows.";
	else if (IsA(linitial(condition), Const) ||
			 (!contain_mutable_functions((Node *) condition) &&
			  predicate_refuted_by(condition, condition, true)))
		detail = "No row satisfies it.";
	if (detail != NULL)
		refuse_option(OPTION_CONDITION, detail,
					  "Pass a condition that some rows satisfy, or leave the argument out.");
}

/*
 * Returns an expression over the columns of a table as PostgreSQL keeps expressions of indexes; a
 * condition as a list with implicit AND.
 */
Node *
guard_parse(Relation table, const char *text, bool condition)
{
	ParseState *state = make_parsestate(NULL);
	ParseExprKind kind = condition ? EXPR_KIND_INDEX_PREDICATE : EXPR_KIND_INDEX_EXPRESSION;
	Node *tree = parse_tree(text);
	Node *expression;

	addNSItemToQuery(state,
					 addRangeTableEntryForRelation(state, table, AccessShareLock, NULL, false,
												   true),
					 false, true, true);
	expression = condition ? transformWhereClause(state, tree, kind, "condition") :
							 transformExpr(state, tree, kind);
	assign_expr_collations(state, expression);
	free_parsestate(state);
	expression = eval_const_expressions(NULL, expression);
	if (condition)
		expression =
			(Node *) make_ands_implicit((Expr *) canonicalize_qual((Expr *) expression, false));
	fix_opfuncids(expression);
	if (condition)
		check_condition((List *) expression);
	else if (IsA(expression, Const))
		refuse_option(OPTION_SIGNATURE, "It is the same for all rows.",
					  "Name a column of signatures, or pass an expression such as 'to_minhash(body)'.");
	return expression;
}
