/*
 * schema.c: warns at CREATE EXTENSION of a schema in which others may create objects.
 */
#include "compat.h"

#include "catalog/pg_namespace.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Lists the roles, without the owner and superusers, to which CREATE on a schema is granted. */
static char *
other_creators(Oid schema)
{
	HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	Oid owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	StringInfoData list;
	bool null;
	Datum granted = SysCacheGetAttr(NAMESPACEOID, tuple, Anum_pg_namespace_nspacl, &null);
	Acl *acl = null ? acldefault(OBJECT_SCHEMA, owner) : DatumGetAclPCopy(granted);
	const AclItem *item = ACL_DAT(acl);

	initStringInfo(&list);
	for (int i = 0; i < ACL_NUM(acl); i++)
	{
		Oid role = item[i].ai_grantee;

		if ((ACLITEM_GET_PRIVS(item[i]) & ACL_CREATE) == 0 || role == owner || superuser_arg(role))
			continue;
		appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "",
						 role == ACL_ID_PUBLIC ? "PUBLIC" :
												 quote_identifier(GetUserNameFromId(role, false)));
	}
	ReleaseSysCache(tuple);
	return list.data;
}

/*
 * neardup_schema(): the last statements of CREATE EXTENSION create this procedure, call and drop
 * it.  It warns, as CREATE EXTENSION suppresses notices of its script.
 */
PG_FUNCTION_INFO_V1(neardup_schema);
Datum
neardup_schema(PG_FUNCTION_ARGS)
{
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	const char *roles = other_creators(schema);

	if (roles[0] != '\0')
		ereport(WARNING,
				(errmsg("others may create objects in schema \"%s\"", get_namespace_name(schema)),
				 errdetail("A function of theirs, such as is_similar(minhash, minhash, numeric), is called instead of the extension's. CREATE is granted to: %s.",
						   roles),
				 errhint("Give the extension a schema of its own: CREATE SCHEMA neardup; CREATE EXTENSION neardup SCHEMA neardup.")));
	PG_RETURN_VOID();
}
