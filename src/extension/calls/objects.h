/*
 * objects.h: types, functions and operators of this extension.
 */
#ifndef NEARDUP_CALLS_OBJECTS_H
#define NEARDUP_CALLS_OBJECTS_H

#include "compat.h"

#include "fmgr.h"

extern bool is_extension_object(Oid function, Oid catalog, Oid object);
extern Oid extension_type(Oid function, const char *name);
extern Oid extension_function(Oid function, const char *name, Oid first, Oid second);
extern Oid extension_operator(Oid function, const char *name, Oid left, Oid right);
extern bool is_sketch_type(Oid function, Oid type);
extern bool is_signature_type(Oid function, Oid type);

#endif
