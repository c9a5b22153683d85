/*
 * rights.c: running code as another role, and privileges of the current user.
 */
#include "rights.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

/* ---- Running code as another role ---------------------------------------- */

/* The same that PostgreSQL sets for maintenance since 17. */
#define SAFE_SEARCH_PATH "pg_catalog, pg_temp"

void
act_begin(Acting *acting, Oid role, int restriction)
{
	GetUserIdAndSecContext(&acting->user, &acting->security);
	SetUserIdAndSecContext(role, acting->security | restriction);
	acting->settings = NewGUCNestLevel();
	(void) set_config_option("search_path", SAFE_SEARCH_PATH, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

void
act_end(const Acting *acting)
{
	AtEOXact_GUC(false, acting->settings);
	SetUserIdAndSecContext(acting->user, acting->security);
}

/* ---- Privileges of the current user --------------------------------------- */

bool
role_owns(Oid table)
{
	return compat_owns_table(table, GetUserId());
}

bool
session_owns(Oid table)
{
	return role_owns(table) && compat_owns_table(table, GetOuterUserId());
}

bool
role_may_check(Oid table)
{
	return role_owns(table) || compat_may_maintain(table, GetUserId()) ||
		has_privs_of_role(GetUserId(), compat_stat_scan_tables);
}

bool
role_may_count(Oid table)
{
	return role_may_check(table) || has_privs_of_role(GetUserId(), compat_read_all_stats);
}

bool
role_may_read(Oid table, AttrNumber column)
{
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		return false;
	return pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		(column != InvalidAttrNumber &&
		 pg_attribute_aclcheck(table, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK);
}

/* Does an ACL grant a privilege to PUBLIC or to a role that is not a member of the owner? */
static bool
others_have(const Acl *acl, AclMode right, Oid owner)
{
	const AclItem *item = ACL_DAT(acl);

	for (int i = 0; i < ACL_NUM(acl); i++)
		if ((ACLITEM_GET_PRIVS(item[i]) & right) != 0 &&
			(item[i].ai_grantee == ACL_ID_PUBLIC || !is_member_of_role(item[i].ai_grantee, owner)))
			return true;
	return false;
}

bool
owner_alone_makes_triggers(Relation table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(table)));
	bool is_null;
	Datum acl;
	bool alone;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(table));
	acl = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &is_null);
	/* Without an ACL only the owner has privileges. */
	alone = is_null || !others_have(DatumGetAclPCopy(acl), ACL_TRIGGER, table->rd_rel->relowner);
	ReleaseSysCache(tuple);
	return alone;
}
