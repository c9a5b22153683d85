/*
 * options.c: what neardup_guard() is told, as the arguments of its triggers keep it.
 *
 * Each argument of a trigger is 'name=value', with the name and the value of an argument of
 * neardup_guard().
 */
#include "guard/guard.h"

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

#include "rights.h"

const char *const guard_option_names[OPTIONS] = {"signature", "threshold", "action",  "within",
												 "condition", "against",   "measure", "record_in",
												 "unless",    "show"};

static const char *const action_names[ACTIONS] = {"reject", "warn", "log", "skip", "group", "none"};

static const char *const measure_names[MEASURES] = {"similarity", "contained", "contains",
													"containment"};

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
		size_t length = strcspn(argument, "=");
		int option = 0;

		while (option < OPTIONS &&
			   (strlen(guard_option_names[option]) != length ||
				strncmp(argument, guard_option_names[option], length) != 0))
			option++;
		if (option == OPTIONS || argument[length] == '\0')
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("trigger \"%s\" has an argument that neardup_guard_row() does not know: \"%s\"",
							trigger->tgname, argument),
					 errhint("Create the trigger with neardup_guard().")));
		options.value[option] = argument + length + 1;
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
	return choice(options, OPTION_ACTION, action_names, ACTIONS,
				  "Use 'reject', 'warn', 'log', 'skip', 'group' or 'none'.");
}

/* Returns what the threshold bounds. */
Measure
guard_measure(const GuardOptions *options)
{
	return choice(options, OPTION_MEASURE, measure_names, MEASURES,
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

/* Returns the names in an option, as a list of strings; NIL if it is not given. */
List *
guard_names(const GuardOptions *options, GuardOption option)
{
	const char *value = options->value[option];
	List *names;

	if (value == NULL)
		return NIL;
	if (!SplitIdentifierString(pstrdup(value), ',', &names))
		refuse_option(option, psprintf("It is not a list of names: '%s'.", value),
					  "Pass names that commas separate.  A name with capital letters needs double quotes.");
	return names;
}

/* Returns the items of a list that commas separate, as they are written; NIL if it is not given. */
List *
guard_items(const char *text)
{
	char *item = text == NULL ? NULL : pstrdup(text);
	List *items = NIL;

	while (item != NULL)
	{
		bool quoted = false;
		char *end = item;
		char *next;

		for (; *end != '\0' && (quoted || *end != ','); end++)
			quoted ^= *end == '"';
		next = *end == '\0' ? NULL : end + 1;
		while (end > item && isspace((unsigned char) end[-1]))
			end--;
		*end = '\0';
		while (isspace((unsigned char) *item))
			item++;
		items = lappend(items, item);
		item = next;
	}
	return items;
}

/* Returns the column of a table that a name names, or InvalidAttrNumber. */
AttrNumber
guard_named_column(Oid table, const char *name)
{
	List *names = textToQualifiedNameList(cstring_to_text(name));

	return list_length(names) == 1 ? get_attnum(table, strVal(linitial(names))) : InvalidAttrNumber;
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
 * Returns an expression over the columns of a table as PostgreSQL keeps those of indexes; a
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
	return expression;
}
