/*
 * query.h: queries that a user passes to a function as text.
 */
#ifndef NEARDUP_CALLS_QUERY_H
#define NEARDUP_CALLS_QUERY_H

#include "compat.h"

#include "executor/spi.h"
#include "tcop/dest.h"

extern SPIPlanPtr query_prepare(const char *name, const char *query, int cursor_options,
								const char *such);
extern Oid query_column(SPIPlanPtr plan);

/*
 * Takes a row of a query, in a memory context that is reset before the next row.  Returns
 * false to end the query.
 */
typedef bool (*RowSink)(void *state, const Datum *values, const bool *nulls);

extern void query_rows(SPIPlanPtr plan, RowSink sink, void *state);
extern TupleDesc query_columns(SPIPlanPtr plan);
extern char *query_statement(SPIPlanPtr plan, const char *query);

extern int wrong_column(const char *name, TupleDesc row_type, int column);
extern int wrong_columns(const char *name, TupleDesc row_type, int expected);

#endif
