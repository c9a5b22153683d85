/*
 * objects.c: types, functions and operators of this extension.
 *
 * An object is the extension's if it is a member of the extension of the function that asks, and
 * belongs to that function's owner.  The owner of a database may add members, too.  A
 * function of neardup_study asks for members of neardup.
 */
#include "calls/objects.h"

#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* An object that a function has found to be its extension's. */
typedef struct Known
{
	Oid function;
	Oid catalog;
	Oid object;
} Known;

/*
 * What functions have found; NULL at first, and after any function, type or operator has changed.
 * A query of pg_depend takes 4 us, and planning one search asks some thirty times.
 */
static HTAB *known;

/* A SyscacheCallbackFunction. */
static void
forget_known(Datum argument, int cache, uint32 hash_value)
{
	if (known != NULL)
		hash_destroy(known);
	known = NULL;
}

/* Makes an empty table of known objects. */
static void
begin_known(void)
{
	static const int cache[] = {PROCOID, TYPEOID, OPEROID};
	static bool registered = false;
	HASHCTL control = {.keysize = sizeof(Known), .entrysize = sizeof(Known)};

	for (int i = 0; i < lengthof(cache) && !registered; i++)
		CacheRegisterSyscacheCallback(cache[i], forget_known, (Datum) 0);
	registered = true;
	known = hash_create("neardup objects", 64, &control, HASH_ELEM | HASH_BLOBS);
}

/* Returns the owner of a function, type or operator, or InvalidOid. */
static Oid
owner_of(Oid catalog, Oid object)
{
	if (catalog == ProcedureRelationId)
		return GetSysCacheOid1(PROCOID, Anum_pg_proc_proowner, ObjectIdGetDatum(object));
	if (catalog == TypeRelationId)
		return GetSysCacheOid1(TYPEOID, Anum_pg_type_typowner, ObjectIdGetDatum(object));
	return GetSysCacheOid1(OPEROID, Anum_pg_operator_oprowner, ObjectIdGetDatum(object));
}

/* Returns the schema of the extension neardup, where its access method's handler is, or InvalidOid. */
static Oid
core_schema(void)
{
	Oid handler = GetSysCacheOid1(AMNAME, Anum_pg_am_amhandler, CStringGetDatum("neardup"));

	return OidIsValid(handler) ? get_func_namespace(handler) : InvalidOid;
}

/* Returns whether an extension, or InvalidOid, is neardup_study. */
static bool
is_study(Oid extension)
{
	char *name = OidIsValid(extension) ? get_extension_name(extension) : NULL;

	return name != NULL && strcmp(name, "neardup_study") == 0;
}

/* Returns the extension whose members a function asks for, or InvalidOid. */
static Oid
extension_of(Oid function)
{
	Oid extension = getExtensionOfObject(ProcedureRelationId, function);

	return is_study(extension) ? get_extension_oid("neardup", true) : extension;
}

/* Returns whether an object of a catalog, or InvalidOid, is of the extension of a function. */
bool
is_extension_object(Oid function, Oid catalog, Oid object)
{
	Known key = {function, catalog, object};
	Oid extension;

	if (!OidIsValid(object))
		return false;
	if (known != NULL && hash_search(known, &key, HASH_FIND, NULL) != NULL)
		return true;
	if (owner_of(catalog, object) != owner_of(ProcedureRelationId, function))
		return false;
	extension = extension_of(function);
	if (!OidIsValid(extension) || getExtensionOfObject(catalog, object) != extension)
		return false;
	/* The queries may have had the table forgotten. */
	if (known == NULL)
		begin_known();
	(void) hash_search(known, &key, HASH_ENTER, NULL);
	return true;
}

/*
 * Returns the extension's type of a name, whatever the search_path is, or InvalidOid.  function
 * is any function of the extension.  Throws an error if the type has been given away, since the
 * pages of an index depend on the answer.
 */
Oid
extension_type(Oid function, const char *name)
{
	Oid found = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
								ObjectIdGetDatum(get_func_namespace(function)));

	if (!OidIsValid(found) && is_study(getExtensionOfObject(ProcedureRelationId, function)))
		found = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
								ObjectIdGetDatum(core_schema()));
	if (OidIsValid(found) && !is_extension_object(function, TypeRelationId, found))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("type %s and function %s are not of one extension and owner",
						format_type_be(found), format_procedure(function)),
				 errhint("Undo what has changed the owner or the extension of one of them.")));
	return found;
}

/* Returns the extension's function of a name and up to two arguments, or InvalidOid. */
Oid
extension_function(Oid function, const char *name, Oid first, Oid second)
{
	Oid argument[2] = {first, second};
	int count = OidIsValid(second) ? 2 : OidIsValid(first) ? 1 : 0;
	oidvector *arguments = buildoidvector(argument, count);
	Oid found =
		GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
						PointerGetDatum(arguments), ObjectIdGetDatum(get_func_namespace(function)));

	pfree(arguments);
	return is_extension_object(function, ProcedureRelationId, found) ? found : InvalidOid;
}

/* Returns the extension's operator of a name, or InvalidOid. */
Oid
extension_operator(Oid function, const char *name, Oid left, Oid right)
{
	Oid found = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum(name),
								ObjectIdGetDatum(left), ObjectIdGetDatum(right),
								ObjectIdGetDatum(get_func_namespace(function)));

	return is_extension_object(function, OperatorRelationId, found) ? found : InvalidOid;
}

/* Returns whether a type is minhash, simhash or shingles. */
bool
is_sketch_type(Oid function, Oid type)
{
	return type == extension_type(function, "minhash") ||
		type == extension_type(function, "simhash") || type == extension_type(function, "shingles");
}

/* Returns whether a type is minhash, simhash, bit or bigint. */
bool
is_signature_type(Oid function, Oid type)
{
	return type == BITOID || type == INT8OID || type == extension_type(function, "minhash") ||
		type == extension_type(function, "simhash");
}
