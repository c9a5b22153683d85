/*
 * siblings.h: types and functions of this extension, found beside one
 * another.  No search_path decides: what lies in the schema of a function that
 * is running is of the same extension, wherever that was installed.
 */
#ifndef NEARDUP_SQL_SIBLINGS_H
#define NEARDUP_SQL_SIBLINGS_H

#include "postgres.h"

/* The type of a name in the schema of a function; InvalidOid for none. */
extern Oid sibling_type(Oid function, const char *name);

/* The function of two arguments of a name there; InvalidOid for none. */
extern Oid sibling_function(Oid function, const char *name, Oid first, Oid second);

/* The operator of a name and two operand types there; InvalidOid for none. */
extern Oid sibling_operator(Oid function, const char *name, Oid left, Oid right);

/* minhash, simhash, or a type of values that serve as such? */
extern bool is_signature_type(Oid function, Oid type);

#endif
