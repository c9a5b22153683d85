/*
 * query.h: queries that a user passes to a function as text.
 */
#ifndef NEARDUP_TYPES_QUERY_H
#define NEARDUP_TYPES_QUERY_H

#include "compat.h"

#include "executor/spi.h"
#include "tcop/dest.h"

/*
 * Prepares a query, which must be one SELECT (or VALUES, TABLE, WITH) that only reads.
 * name is the argument's, for messages; such is an example for the hint.
 */
extern SPIPlanPtr query_prepare(const char *name, const char *query, int cursor_options,
								const char *such);

/*
 * Returns the type of the column, below domains, of a prepared query that is one SELECT of one
 * column; InvalidOid for any other.
 */
extern Oid query_column(SPIPlanPtr plan);

/* The types of the functions of a DestReceiver that start it, and that receive a row. */
typedef void (*QueryStart)(DestReceiver *self, int operation, TupleDesc columns);
typedef bool (*QueryRow)(TupleTableSlot *slot, DestReceiver *self);

/* Returns the receiver of a query's rows, which the caller's state begins with; start may be NULL. */
extern DestReceiver query_receiver(QueryStart start, QueryRow receive_row);

/* Returns the columns of a prepared query. */
extern TupleDesc query_columns(SPIPlanPtr plan);

/* Returns the text of a prepared query without the semicolon that may follow, to put in parentheses. */
extern char *query_statement(SPIPlanPtr plan, const char *query);

#endif
