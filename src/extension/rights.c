/*
 * rights.c: running code as another role, and privileges of the current user.
 */
#include "rights.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

/* ---- Running code as another role ---------------------------------------- */

/* Changes a setting for the nest level of settings at hand, which act_begin() begins. */
void
set_locally(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

/*
 * Switches to a role, and to a search_path of schemas in which other roles cannot create
 * objects, until act_end().  Code that belongs to another role than the caller runs between
 * the two: expressions of an index, triggers of a log table.
 *
 * restriction is SECURITY_RESTRICTED_OPERATION or, for statements on behalf of the caller,
 * like a foreign key's, SECURITY_LOCAL_USERID_CHANGE.  After an error the end of the
 * transaction or subtransaction restores everything without act_end().
 */
void
act_begin(Acting *acting, Oid role, int restriction)
{
	GetUserIdAndSecContext(&acting->user, &acting->security);
	SetUserIdAndSecContext(role, acting->security | restriction);
	acting->settings = NewGUCNestLevel();
	set_locally("search_path", SAFE_SEARCH_PATH);
}

/* Switches back from the role of act_begin(). */
void
act_end(const Acting *acting)
{
	AtEOXact_GUC(false, acting->settings);
	SetUserIdAndSecContext(acting->user, acting->security);
}

/* ---- Privileges of the current user --------------------------------------- */

/* Returns whether the user is the owner of a table, a member of the owner or a superuser. */
bool
role_owns(Oid table)
{
	return compat_owns_table(table, GetUserId());
}

/*
 * Returns whether code of a table's owner may run as the owner, in this session with its
 * temporary schema.  In a function that is SECURITY DEFINER the role that called it must have
 * the owner's rights, too.
 */
bool
session_owns(Oid table)
{
	return role_owns(table) && compat_owns_table(table, GetOuterUserId());
}

/* Returns whether the user may have a table read and checked, which shows none of its rows. */
bool
role_may_check(Oid table)
{
	return role_owns(table) || compat_may_maintain(table, GetUserId()) ||
		has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES);
}

/* Returns whether the user may see the size of a table. */
bool
role_may_count(Oid table)
{
	return role_may_check(table) || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* Returns whether the user may read a column of all rows of a table; 0 is the whole table. */
bool
role_may_read(Oid table, AttrNumber column)
{
	return check_enable_rls(table, InvalidOid, true) != RLS_ENABLED &&
		role_may_select(table, column);
}

/* Returns whether the user may read a column of rows that policies show; 0 is the whole table. */
bool
role_may_select(Oid table, AttrNumber column)
{
	return pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		(column != InvalidAttrNumber &&
		 pg_attribute_aclcheck(table, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK);
}

/*
 * Returns PUBLIC and the roles that an ACL grants a privilege and that are no members of the
 * owner, as REVOKE names them; NULL if there are none.
 */
static const char *
others_with(const Acl *acl, AclMode right, Oid owner)
{
	const AclItem *item = ACL_DAT(acl);
	const char *others = NULL;

	for (int i = 0; i < ACL_NUM(acl); i++)
	{
		Oid role = item[i].ai_grantee;
		const char *name;

		if ((ACLITEM_GET_PRIVS(item[i]) & right) == 0 ||
			(role != ACL_ID_PUBLIC && is_member_of_role(role, owner)))
			continue;
		name = role == ACL_ID_PUBLIC ? "PUBLIC" : GetUserNameFromId(role, true);
		if (name == NULL)
			continue;
		if (role != ACL_ID_PUBLIC)
			name = quote_identifier(name);
		others = others == NULL ? name : psprintf("%s, %s", others, name);
	}
	return others;
}

/*
 * Returns the roles that may create triggers on a table beside superusers, its owner and its
 * members, as REVOKE names them; NULL if there are none.
 */
const char *
others_who_make_triggers(Relation table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(table)));
	const char *others = NULL;
	bool is_null;
	Datum acl;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(table));
	acl = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &is_null);
	/* Without an ACL only the owner has privileges. */
	if (!is_null)
		others = others_with(DatumGetAclPCopy(acl), ACL_TRIGGER, table->rd_rel->relowner);
	ReleaseSysCache(tuple);
	return others;
}
