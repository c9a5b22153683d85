/*
 * trust.c: whether a superuser may run the code of a table.
 *
 * Triggers, constraints, generated columns, index expressions, policies and rules of a table run
 * as the role that changes its rows.  Nothing here asks what they do: a superuser does not run
 * them if a role without superuser owns the table.
 */
#include "trust.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_rewrite.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "rewrite/prs2lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "rights.h"

/* The relations whose code runs when rows of the first one are changed or read. */
typedef struct Reach
{
	List *relations;
	bool changes; /* rows are changed, not only read */
	LOCKMODE lock;
} Reach;

/* ---- The session --------------------------------------------------------------------- */

/*
 * Returns whether code that runs now could get a superuser's rights.  After SET ROLE and SET
 * SESSION AUTHORIZATION it could take these back, and deferred triggers run when a function that
 * is SECURITY DEFINER has returned.
 */
static bool
session_is_superuser(void)
{
	return superuser_arg(GetUserId()) || superuser_arg(GetOuterUserId()) ||
		superuser_arg(GetSessionUserId()) || superuser_arg(GetAuthenticatedUserId());
}

/* Returns whether a role may log in. */
static bool
may_log_in(Oid role)
{
	HeapTuple tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	bool may = HeapTupleIsValid(tuple) && ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return may;
}

/* ---- Errors ---------------------------------------------------------------------------- */

/* Refuses the table of a role without superuser. */
static void
refuse_owner(Relation relation)
{
	Oid owner = relation->rd_rel->relowner;
	const char *role = GetUserNameFromId(owner, false);

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("a superuser may not run the code of \"%s\", which belongs to role \"%s\"",
					RelationGetRelationName(relation), role),
			 superuser_arg(GetUserId()) ?
				 errdetail("Its triggers, constraints, expressions, policies and rules would run with "
						   "the rights of a superuser.") :
				 errdetail("This session began as a superuser, or runs as one, and triggers, "
						   "constraints, expressions, policies and rules can take these rights back."),
			 may_log_in(owner) ?
				 errhint("Connect as role \"%s\", or as a member of it.  A procedure accepts the risk with trust => true, a script with -v trust=1.",
						 role) :
				 errhint("Connect as a member of role \"%s\", which cannot log in.  A procedure accepts the risk with trust => true, a script with -v trust=1.",
						 role)));
}

/* Refuses a table with triggers that others may have made. */
static void
refuse_triggers(Relation relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("a superuser may not run the triggers of \"%s\", which other roles may create",
					RelationGetRelationName(relation)),
			 errdetail("Roles without superuser have the TRIGGER privilege on it, which GRANT ALL "
					   "grants, and triggers would run with the rights of a superuser."),
			 errhint("Use REVOKE TRIGGER ON %s FROM %s, and drop the triggers that are not yours.  A script "
					 "accepts the risk with -v trust=1.",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
												RelationGetRelationName(relation)),
					 others_who_make_triggers(relation))));
}

/* ---- What is reached ------------------------------------------------------------------------- */

static void
reach(Reach *reached, Oid relation)
{
	reached->relations = list_append_unique_oid(reached->relations, relation);
}

/* Reaches the relations that a rule, or the query of a view, names. */
static void
reach_by_rule(Reach *reached, Oid rule)
{
	Relation depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RewriteRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(rule));
	scan = systable_beginscan(depend, DependDependerIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend on = (Form_pg_depend) GETSTRUCT(tuple);

		if (on->refclassid == RelationRelationId)
			reach(reached, on->refobjid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
}

/*
 * Reaches the tables whose foreign keys change their rows when rows of a relation go or get other
 * keys.  Each of these keys has triggers on the relation that it refers to.
 */
static void
reach_by_foreign_keys(Reach *reached, Relation relation)
{
	const TriggerDesc *triggers = relation->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_PK &&
			trigger->tgfoid != F_RI_FKEY_NOACTION_DEL &&
			trigger->tgfoid != F_RI_FKEY_NOACTION_UPD &&
			trigger->tgfoid != F_RI_FKEY_RESTRICT_DEL && trigger->tgfoid != F_RI_FKEY_RESTRICT_UPD)
			reach(reached, trigger->tgconstrrelid);
	}
}

/* Reaches the tables below a table, and the partitioned tables that it is a partition of. */
static void
reach_by_inheritance(Reach *reached, Relation relation)
{
	Oid oid = RelationGetRelid(relation);

	reached->relations =
		list_concat_unique_oid(reached->relations, find_inheritance_children(oid, NoLock));
	if (relation->rd_rel->relispartition)
		reached->relations =
			list_concat_unique_oid(reached->relations, get_partition_ancestors(oid));
}

/* ---- One relation ---------------------------------------------------------------------- */

/* Returns whether a relation has triggers beside the triggers of foreign keys. */
static bool
has_triggers(Relation relation)
{
	const TriggerDesc *triggers = relation->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) == RI_TRIGGER_NONE)
			return true;
	return false;
}

/* Returns whether reading a relation's rows runs code beside that of PostgreSQL. */
static bool
runs_code_for_readers(Relation relation)
{
	return relation->rd_rel->relkind == RELKIND_VIEW ||
		check_enable_rls(RelationGetRelid(relation), InvalidOid, true) == RLS_ENABLED;
}

/* Checks a relation, and reaches those whose code runs with its own. */
static void
check_relation(Reach *reached, Relation relation)
{
	bool owned = superuser_arg(relation->rd_rel->relowner);
	char kind = relation->rd_rel->relkind;

	if (!owned && (reached->changes || runs_code_for_readers(relation)))
		refuse_owner(relation);
	if (reached->changes && has_triggers(relation) && others_who_make_triggers(relation) != NULL)
		refuse_triggers(relation);
	for (int i = 0; relation->rd_rules != NULL && i < relation->rd_rules->numLocks; i++)
		if (kind == RELKIND_VIEW || (reached->changes && kind != RELKIND_MATVIEW))
			reach_by_rule(reached, relation->rd_rules->rules[i]->ruleId);
	if (!reached->changes)
		return;
	reach_by_foreign_keys(reached, relation);
	reach_by_inheritance(reached, relation);
}

/* Returns whether rows are changed or read through a kind of relation. */
static bool
has_rows(char kind)
{
	return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_VIEW ||
		kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE;
}

/*
 * Raises an error for a superuser if a role without superuser owns a relation, or one that it brings
 * with it, when rows are changed or, if not changes, read.  A reader's own planning evaluates immutable
 * functions of index expressions and policies, which is not asked about.
 *
 * Under the locks, which are held until the transaction ends, no relation gets another owner, and
 * none that is changed gets a trigger or a foreign key.
 */
void
require_trust(Oid relation, bool changes)
{
	Reach reached = {.changes = changes};

	if (!session_is_superuser())
		return;
	reached.lock = changes && !RecoveryInProgress() ? RowExclusiveLock : AccessShareLock;
	reach(&reached, relation);
	for (int i = 0; i < list_length(reached.relations); i++)
	{
		Relation next = try_relation_open(list_nth_oid(reached.relations, i), reached.lock);

		if (next == NULL)
			continue;
		if (has_rows(next->rd_rel->relkind))
			check_relation(&reached, next);
		relation_close(next, NoLock);
	}
}

/*
 * neardup_require_trust(relation, trust, changes) → void: raises an error for a superuser if a role
 * without superuser owns the relation or what comes with it.
 */
PG_FUNCTION_INFO_V1(neardup_require_trust);
Datum
neardup_require_trust(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(0) && (PG_ARGISNULL(1) || !PG_GETARG_BOOL(1)))
		require_trust(PG_GETARG_OID(0), PG_ARGISNULL(2) || PG_GETARG_BOOL(2));
	PG_RETURN_VOID();
}
