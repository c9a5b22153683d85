/*
 * query.c: queries that a user passes to a function as text.
 */
#include "sql/query.h"

#include "nodes/parsenodes.h"
#include "utils/plancache.h"

SPIPlanPtr
query_prepare(const char *name, const char *query, int cursor_options, const char *such)
{
	SPIPlanPtr plan = SPI_prepare_cursor(query, 0, NULL, cursor_options);
	List *sources;
	Query *parsed;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	sources = SPI_plan_get_plan_sources(plan);
	if (list_length(sources) != 1 || !SPI_is_cursor_plan(plan) ||
		((CachedPlanSource *) linitial(sources))->commandTag != CMDTAG_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be a single SELECT", name),
				 errhint("Pass a query such as '%s'.", such)));
	parsed = linitial_node(Query, ((CachedPlanSource *) linitial(sources))->query_list);
	if (parsed->hasModifyingCTE || parsed->hasForUpdate)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" must not change or lock rows", name),
				 errhint("Change or lock rows in a statement of its own.")));
	return plan;
}

char *
query_statement(SPIPlanPtr plan, const char *query)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	RawStmt *statement = source->raw_parse_tree;
	char *text = pstrdup(query + statement->stmt_location);

	if (statement->stmt_len > 0)
		text[statement->stmt_len] = '\0';
	return text;
}
