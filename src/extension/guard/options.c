/*
 * options.c: what neardup_guard() is told, as the arguments of its triggers keep it.
 *
 * Each argument of a trigger is 'name=value', with the name and the value of an argument of
 * neardup_guard().
 */
#include "guard/options.h"

#include "catalog/namespace.h"
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

const char *const guard_option_names[] = {"signature", "threshold",    "action",  "within",
										  "unknown",   "condition",    "against", "measure",
										  "log_table", "group_column", "unless",  "verdicts",
										  "show",      "name",         "guarded"};

static const GuardAction actions[] = {{"reject", ERROR, .promises = true, .needs = OPTIONS},
									  {"warn", NOTICE, .needs = OPTIONS},
									  {"log", 0, .needs = OPTION_LOG_TABLE},
									  {"skip", ERROR, true, .looks_before = true, .needs = OPTIONS},
									  {"group", 0, true, .groups = true,
									   .needs = OPTION_GROUP_COLUMN},
									  {"none", .drops = true, .needs = OPTIONS}};

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

/* Returns the action, by default the first. */
const GuardAction *
guard_action(const GuardOptions *options)
{
	const char *value = options->value[OPTION_ACTION];

	for (int i = 0; i < lengthof(actions); i++)
		if (value == NULL || strcmp(value, actions[i].name) == 0)
			return &actions[i];
	refuse_option(OPTION_ACTION, psprintf("It is '%s'.", value),
				  "Use 'reject', 'warn', 'log', 'skip', 'group' or 'none'.");
}

/* Returns what the threshold bounds, by default the similarity. */
Measure
guard_measure(const GuardOptions *options)
{
	static const char *const name[MEASURES] = {"similarity", "contained", "contains",
											   "containment"};
	const char *value = options->value[OPTION_MEASURE];

	for (int i = 0; i < MEASURES; i++)
		if (value == NULL || strcmp(value, name[i]) == 0)
			return i;
	refuse_option(OPTION_MEASURE, psprintf("It is '%s'.", value),
				  "Use 'similarity', or for sets 'containment', 'contained' or 'contains'.");
}

/* Returns the threshold; raises an error unless it is above 0 and at most 1. */
double
guard_threshold(const GuardOptions *options)
{
	const char *value = options->value[OPTION_THRESHOLD];
	char *end;
	double threshold;

	threshold = value == NULL ? 0 : strtod(value, &end);
	if (value == NULL || end == value || *end != '\0')
		refuse_option(OPTION_THRESHOLD, value == NULL ? NULL : psprintf("It is '%s'.", value),
					  "Pass a similarity, as in neardup_guard('proposals', 'sig', 0.9).");
	check_threshold(threshold, NULL);
	return threshold;
}

/* Returns the name of the column that a text names, or NULL if it is an expression. */
const char *
guard_column_name(const char *text)
{
	List *names;

	return strchr(text, '(') == NULL && SplitIdentifierString(pstrdup(text), ',', &names) &&
			list_length(names) == 1 ?
		linitial(names) :
		NULL;
}

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

/* Returns the end of what goes before a comma or, if asked, a space, outside of quotes and parentheses. */
static char *
end_of_item(char *item, bool at_space)
{
	char quote = '\0';
	int depth = 0;

	for (; *item != '\0'; item++)
	{
		if (quote != '\0' || *item == '"' || *item == '\'')
			quote = quote == '\0' ? *item : *item == quote ? '\0' : quote;
		else if (depth <= 0 && (*item == ',' || (at_space && isspace((unsigned char) *item))))
			return item;
		else
			depth += (*item == '(') - (*item == ')');
	}
	return item;
}

static const char *const within_hint =
	"Pass columns, as in 'tenant', or 'tenant, submitted_at 10 minutes'; an expression as an index has it.";

/* Reads an item of the option within; `end` is where its first word ends. */
static GuardWithin
within_item(char *item, char *end)
{
	const char *span = end + strspn(end, " \t\n\r\f");
	const char *digit = span + (*span == '-' || *span == '+');
	GuardWithin within = {.text = item};
	Interval zero = {0};

	digit += *digit == 'P';
	/* What follows is an interval, not the rest of an expression. */
	if (isdigit((unsigned char) *digit))
	{
		within.interval = span;
		within.span =
			DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(span),
												  ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
		if (DatumGetBool(DirectFunctionCall2(interval_lt, IntervalPGetDatum(within.span),
											 IntervalPGetDatum(&zero))))
			refuse_option(OPTION_WITHIN, psprintf("The interval is '%s'.", span),
						  "Pass an interval that is not negative.");
		*end = '\0';
	}
	within.column = guard_column_name(item);
	if (*item == '\0' || (within.column == NULL && within.span != NULL))
		refuse_option(OPTION_WITHIN, NULL, within_hint);
	within.scope = within.span == NULL;
	return within;
}

/* Reads the options within, whose items are columns, expressions, or columns and intervals, and unknown. */
GuardWithin *
guard_within(const GuardOptions *options, int *count)
{
	const char *value = options->value[OPTION_WITHIN];
	char *item = value == NULL ? NULL : pstrdup(value);
	GuardWithin *within = palloc(value == NULL ? 1 : (strlen(value) + 1) * sizeof(GuardWithin));
	ListCell *cell;

	for (*count = 0; item != NULL; (*count)++)
	{
		char *end = end_of_item(item, false);
		char *next = *end == '\0' ? NULL : end + 1;

		*end = '\0';
		item += strspn(item, " \t\n\r\f");
		within[*count] = within_item(item, end_of_item(item, true));
		item = next;
	}
	foreach (cell, guard_names(options, OPTION_UNKNOWN))
	{
		bool found = false;

		for (int i = 0; i < *count; i++)
			if (within[i].column != NULL && strcmp(within[i].column, lfirst(cell)) == 0)
			{
				found = within[i].unknown = true;
				within[i].scope = false;
			}
		if (!found)
			refuse_option(OPTION_UNKNOWN,
						  psprintf("\"%s\" is not in \"within\".", (char *) lfirst(cell)),
						  "Name columns of \"within\".");
	}
	return within;
}

/* Returns the table that an option names, in a schema or, if it is 0, by the search_path. */
Oid
guard_option_table(GuardOption option, const char *name, Oid schema, const char *guard)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));
	Oid table;

	if (OidIsValid(schema) && range->schemaname == NULL)
		range->schemaname = get_namespace_name(schema);
	table = RangeVarGetRelid(range, NoLock, true);
	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of argument \"%s\" does not exist", name,
						guard_option_names[option]),
				 guard != NULL ? errdetail("Guard \"%s\" names it.", guard) : 0,
				 errhint("Create it, or name another table with neardup_guard().")));
	return table;
}

/* Raises an error if an expression is of no use: the same for all rows, or true of none or all. */
static void
check_expression(GuardOption option, Node *expression, const char *text)
{
	const char *detail = NULL;

	if (option != OPTION_CONDITION && IsA(expression, Const))
		refuse_option(option, "It is the same for all rows.",
					  option == OPTION_SIGNATURE ?
						  "Name a column of signatures, or pass an expression such as 'to_minhash(body)'." :
						  "Name a column, or pass an expression of columns.");
	if (option == OPTION_WITHIN && contain_mutable_functions(expression))
		refuse_option(option,
					  psprintf("It is '%s', which may change although a row does not.", text),
					  "Use only functions that are IMMUTABLE.");
	if (option != OPTION_CONDITION)
		return;
	if (expression == NULL)
		detail = "It is true of all rows.";
	else if (IsA(linitial((List *) expression), Const) ||
			 (!contain_mutable_functions(expression) &&
			  predicate_refuted_by((List *) expression, (List *) expression, true)))
		detail = "No row satisfies it.";
	if (detail != NULL)
		refuse_option(option, detail,
					  "Pass a condition that some rows satisfy, or leave the argument out.");
}

/* Returns an expression as an index has it; a condition as a list with implicit AND. */
Node *
guard_parse(Relation table, GuardOption option, const char *text)
{
	bool condition = option == OPTION_CONDITION;
	ParseState *state = make_parsestate(NULL);
	List *statements;
	SelectStmt *select;
	Node *expression;
	List *names;

	if (!condition && guard_column_name(text) == NULL && strchr(text, '(') == NULL &&
		(option == OPTION_WITHIN || SplitIdentifierString(pstrdup(text), ',', &names)))
		refuse_option(option, psprintf("It is '%s'.", text),
					  option == OPTION_WITHIN ?
						  within_hint :
						  "Name one column, or pass an expression as an index has it.");
	statements = raw_parser(psprintf("SELECT (%s)", text), RAW_PARSE_DEFAULT);
	select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	if (list_length(statements) != 1 || !IsA(select, SelectStmt) || select->op != SETOP_NONE ||
		list_length(select->targetList) != 1 || select->fromClause != NIL ||
		select->whereClause != NULL || select->sortClause != NIL)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not an expression: %s", text)));
	expression = linitial_node(ResTarget, select->targetList)->val;
	addNSItemToQuery(state,
					 addRangeTableEntryForRelation(state, table, AccessShareLock, NULL, false,
												   true),
					 false, true, true);
	expression = condition ?
		transformWhereClause(state, expression, EXPR_KIND_INDEX_PREDICATE, "condition") :
		transformExpr(state, expression, EXPR_KIND_INDEX_EXPRESSION);
	assign_expr_collations(state, expression);
	free_parsestate(state);
	expression = eval_const_expressions(NULL, expression);
	if (condition)
		expression =
			(Node *) make_ands_implicit((Expr *) canonicalize_qual((Expr *) expression, false));
	fix_opfuncids(expression);
	check_expression(option, expression, text);
	return expression;
}
