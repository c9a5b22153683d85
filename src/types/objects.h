/*
 * objects.h: types, functions and operators of this extension.
 */
#ifndef NEARDUP_TYPES_OBJECTS_H
#define NEARDUP_TYPES_OBJECTS_H

#include "compat.h"

#include "fmgr.h"

/*
 * Return the type, function or operator of a name in the schema of a function of this
 * extension, whatever the search_path is, or InvalidOid.
 */
extern Oid extension_type(Oid function, const char *name);
extern Oid extension_function(Oid function, const char *name, Oid first, Oid second);
extern Oid extension_operator(Oid function, const char *name, Oid left, Oid right);

/* Is it minhash, simhash, bit or bigint? */
extern bool is_signature_type(Oid function, Oid type);

#endif
