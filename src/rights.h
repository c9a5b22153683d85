/*
 * rights.h: in whose name code runs, and what roles may do.
 *
 * doc/security.md says who is protected from whom.
 */
#ifndef NEARDUP_RIGHTS_H
#define NEARDUP_RIGHTS_H

#include "compat.h"

/* ---- Acting in another's name ------------------------------------------- */

/* What act_end() gives back. */
typedef struct Acting
{
	Oid user;
	int security;
	int settings; /* nest level */
} Acting;

/*
 * Go on in another role's name, with a search_path in which nobody can have
 * placed anything.  Whatever runs code that belongs to another than the caller
 * does so between these two: expressions of an index, triggers of a log.
 *
 * restriction: SECURITY_RESTRICTED_OPERATION, or for statements that the caller
 * causes, as foreign keys do, SECURITY_LOCAL_USERID_CHANGE.  An error needs no
 * act_end(): the end of the transaction or subtransaction restores all three.
 */
extern void act_begin(Acting *acting, Oid role, int restriction);
extern void act_end(const Acting *acting);

/* ---- Rights of the current user ----------------------------------------- */

/* Is he a member of the table's owner, or a superuser? */
extern bool role_owns(Oid table);

/* May he have the table read through, which shows him nothing of it? */
extern bool role_may_check(Oid table);

/* May he see how much a table holds? */
extern bool role_may_count(Oid table);

/* May he read a column (0: any) of all rows of a table? */
extern bool role_may_read(Oid table, AttrNumber column);

/*
 * Has nobody but the owner, members of it and superusers the right to make
 * triggers on a table?
 */
extern bool owner_alone_makes_triggers(Relation table);

#endif
