/*
 * query.c: queries that a user passes to a function as text.
 */
#include "calls/query.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"

/* Returns what the server keeps of a query that is a single statement. */
static CachedPlanSource *
plan_source(SPIPlanPtr plan)
{
	return linitial(SPI_plan_get_plan_sources(plan));
}

/*
 * Returns the type of the column, below domains, of a prepared query that is one SELECT of one
 * column; InvalidOid for any other.
 */
Oid
query_column(SPIPlanPtr plan)
{
	List *sources = SPI_plan_get_plan_sources(plan);
	CachedPlanSource *source = list_length(sources) == 1 ? linitial(sources) : NULL;

	if (source == NULL || source->commandTag != CMDTAG_SELECT || source->resultDesc == NULL ||
		source->resultDesc->natts != 1)
		return InvalidOid;
	return getBaseType(TupleDescAttr(source->resultDesc, 0)->atttypid);
}

/* An argument that is a query, and an example for the hint. */
typedef struct QueryArgument
{
	const char *name;
	const char *such;
} QueryArgument;

/* Adds to an error the argument's name; a hint to a syntax error, as the name of a table gives, and to one of a parameter. */
static void
explain_query(void *state)
{
	const QueryArgument *argument = state;

	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("Pass a query such as '%s'.", argument->such);
	else if (geterrcode() == ERRCODE_UNDEFINED_PARAMETER)
		errhint("A query that is passed as text has no parameters.  Put the value into the text: format('%s WHERE id < %%L', value).",
				argument->such);
	errcontext("argument \"%s\"", argument->name);
}

static SPIPlanPtr
query_prepare_row(const char *name, const char *query, int cursor_options, const char *such)
{
	QueryArgument argument = {name, such};
	ErrorContextCallback context = {error_context_stack, explain_query, &argument};
	SPIPlanPtr plan;

	error_context_stack = &context;
	plan = SPI_prepare_cursor(query, 0, NULL, cursor_options);
	error_context_stack = context.previous;
	return plan;
}

/*
 * Prepares a query, which must be one SELECT (or VALUES, TABLE, WITH) that only reads.
 * name is the argument's, for messages; such is an example for the hint.
 */
SPIPlanPtr
query_prepare(const char *name, const char *query, int cursor_options, const char *such)
{
	SPIPlanPtr plan = query_prepare_row(name, query, cursor_options, such);
	Query *parsed;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	if (list_length(SPI_plan_get_plan_sources(plan)) != 1 || !SPI_is_cursor_plan(plan) ||
		plan_source(plan)->commandTag != CMDTAG_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be a single SELECT", name),
				 errhint("Pass a query such as '%s'.", such)));
	parsed = linitial_node(Query, plan_source(plan)->query_list);
	if (parsed->hasModifyingCTE || parsed->hasForUpdate)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" must not change or lock rows", name),
				 errhint("Change or lock rows in a statement of its own.")));
	return plan;
}

/* Returns the columns of a prepared query. */
TupleDesc
query_columns(SPIPlanPtr plan)
{
	return plan_source(plan)->resultDesc;
}

/*
 * Returns the text of a prepared query without the semicolon that may follow, to put in
 * parentheses.
 */
char *
query_statement(SPIPlanPtr plan, const char *query)
{
	RawStmt *statement = plan_source(plan)->raw_parse_tree;
	char *text = pstrdup(query + statement->stmt_location);

	if (statement->stmt_len > 0)
		text[statement->stmt_len] = '\0';
	return text;
}

/* Reports the type of a column of an argument's query; the caller adds a detail or a hint. */
int
wrong_column(const char *name, TupleDesc row_type, int column)
{
	errcode(ERRCODE_DATATYPE_MISMATCH);
	return errmsg("column %d of \"%s\" is of type %s", column + 1, name,
				  format_type_be(TupleDescAttr(row_type, column)->atttypid));
}

/* Reports the number of columns of an argument's query; the caller adds a hint. */
int
wrong_columns(const char *name, TupleDesc row_type, int expected)
{
	errcode(ERRCODE_DATATYPE_MISMATCH);
	return errmsg("\"%s\" must return %d columns, not %d", name, expected, row_type->natts);
}

static void
start_nothing(DestReceiver *self, int operation, TupleDesc columns)
{
}

static void
end_nothing(DestReceiver *self)
{
}

/* A DestReceiver that passes rows to a sink. */
typedef struct QueryReceiver
{
	DestReceiver pub;
	RowSink sink;
	void *state;
	MemoryContext row_context;
} QueryReceiver;

static bool
pass_row(TupleTableSlot *slot, DestReceiver *self)
{
	QueryReceiver *reader = (QueryReceiver *) self;
	MemoryContext old;
	bool more;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	MemoryContextReset(reader->row_context);
	old = MemoryContextSwitchTo(reader->row_context);
	more = reader->sink(reader->state, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	return more;
}

/* Runs a prepared query, read-only, and passes its rows to a sink. */
void
query_rows(SPIPlanPtr plan, RowSink sink, void *state)
{
	QueryReceiver reader = {.pub = {.receiveSlot = pass_row,
									.rStartup = start_nothing,
									.rShutdown = end_nothing,
									.rDestroy = end_nothing,
									.mydest = DestNone},
							.sink = sink,
							.state = state};
	SPIExecuteOptions options = {.read_only = true};
	int result;

	reader.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup row", ALLOCSET_DEFAULT_SIZES);
	options.dest = &reader.pub;
	result = SPI_execute_plan_extended(plan, &options);
	if (result < 0)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(result));
	MemoryContextDelete(reader.row_context);
}
