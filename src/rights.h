/*
 * rights.h: running code as another role, and privileges of the current user.
 *
 * doc/explanation/security.md describes the threats.
 */
#ifndef NEARDUP_RIGHTS_H
#define NEARDUP_RIGHTS_H

#include "compat.h"

/* ---- Running code as another role ---------------------------------------- */

/* What act_end() restores. */
typedef struct Acting
{
	Oid user;
	int security;
	int settings; /* nest level */
} Acting;

/*
 * act_begin() switches to a role, and to a search_path of schemas in which other roles
 * cannot create objects; act_end() switches back.  Code that belongs to another role than
 * the caller runs between the two: expressions of an index, triggers of a log table.
 *
 * restriction is SECURITY_RESTRICTED_OPERATION or, for statements on behalf of the caller,
 * like those of foreign keys, SECURITY_LOCAL_USERID_CHANGE.  After an error the end of the
 * transaction or subtransaction restores everything without act_end().
 */
extern void act_begin(Acting *acting, Oid role, int restriction);
extern void act_end(const Acting *acting);

/* ---- Privileges of the current user --------------------------------------- */

/* Is the user the owner of a table, a member of the owner or a superuser? */
extern bool role_owns(Oid table);

/*
 * May code of a table's owner run as the owner, in this session with its temporary schema?
 * In a function that is SECURITY DEFINER the role that called it must have the owner's
 * rights too.
 */
extern bool session_owns(Oid table);

/* May the user have a table read and checked, which shows none of its rows? */
extern bool role_may_check(Oid table);

/* May the user see the size of a table? */
extern bool role_may_count(Oid table);

/* May the user read a column of all rows of a table?  0 is the whole table. */
extern bool role_may_read(Oid table, AttrNumber column);

/* May only superusers, the owner of a table and its members create triggers on it? */
extern bool owner_alone_makes_triggers(Relation table);

#endif
