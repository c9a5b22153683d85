/*
 * objects.c: types, functions and operators of this extension.
 */
#include "types/objects.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/*
 * Returns the type of a name in the schema of a function of this extension, whatever the
 * search_path is, or InvalidOid.
 */
Oid
extension_type(Oid function, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(get_func_namespace(function)));
}

/*
 * Returns the function of a name and up to two arguments in the schema of a function of this
 * extension, or InvalidOid.
 */
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
	return found;
}

/* Returns the operator of a name in the schema of a function of this extension, or InvalidOid. */
Oid
extension_operator(Oid function, const char *name, Oid left, Oid right)
{
	return GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(left), ObjectIdGetDatum(right),
						   ObjectIdGetDatum(get_func_namespace(function)));
}

/* Is it minhash, simhash, bit or bigint? */
bool
is_signature_type(Oid function, Oid type)
{
	return type == BITOID || type == INT8OID || type == extension_type(function, "minhash") ||
		type == extension_type(function, "simhash");
}
