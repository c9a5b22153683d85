/*
 * rights.h: running code as another role, and privileges of the current user.
 *
 * doc/explanation/security.md describes the threats.
 */
#ifndef NEARDUP_RIGHTS_H
#define NEARDUP_RIGHTS_H

#include "compat.h"

/* ---- Running code as another role ---------------------------------------- */

/* Schemas in which other roles cannot create objects; PostgreSQL sets it for maintenance since 17. */
#define SAFE_SEARCH_PATH "pg_catalog, pg_temp"

/* What act_end() restores. */
typedef struct Acting
{
	Oid user;
	int security;
	int settings; /* nest level */
} Acting;

extern void act_begin(Acting *acting, Oid role, int restriction);
extern void act_end(const Acting *acting);
extern void set_locally(const char *name, const char *value);

/* ---- Privileges of the current user --------------------------------------- */

extern bool role_owns(Oid table);
extern bool session_owns(Oid table);
extern bool role_may_check(Oid table);
extern bool role_may_count(Oid table);
extern bool role_may_read(Oid table, AttrNumber column);
extern bool role_may_select(Oid table, AttrNumber column);
extern const char *others_who_make_triggers(Relation table);

#endif
