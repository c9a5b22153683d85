/*
 * group.c: guards that group rows.
 *
 * This is leader clustering.  A column holds the number of each row's group: the key of the row
 * that leads it.  Three triggers keep it.  One, BEFORE INSERT OR UPDATE of a row, assigns the row
 * to the group of the most similar leader, or makes it a leader.  One, AFTER, assigns the members
 * of a group again that has lost its leader, or has got another one, in the order of their keys.
 * One, BEFORE an UPDATE or DELETE, takes the lock, so that nobody waits for it who has locked rows.
 * An INSERT signs its row first.
 *
 * A row is assigned to one of the leaders that are there.  So the groups are the stars of
 * neardup_clusters(), with "nearest", of the rows in the order in which they were assigned last.
 *
 * A transaction that assigns a row holds a lock until it ends: two rows that are assigned at the same
 * time are in no index yet, and a leader may go while a member comes.  Rows that the option within
 * keeps apart, in different scopes, do not wait for each other.
 */
#include "guard/group.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/datum.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "calls/progress.h"

/* A statement that assigns rows of a table again. */
typedef struct Reassignment
{
	Oid guarded; /* the table */
	Reassigned how;
	NullableDatum gone; /* the group that is handed on, or NULL */
	CommandId since;    /* rows made before this command are still to be assigned, if all are */
	uint64 rows;        /* the number of rows so far */
} Reassignment;

static Reassignment *reassignment = NULL;

/* ---- Locks ------------------------------------------------------------------------------ */

/* A transaction that touches many scopes takes at most this many locks of scopes, from 1 on. */
#define SCOPES 1024

/*
 * A statement takes the lock of the table, number 0, before it locks rows, and those of scopes row by
 * row.  Two that touch the same scopes in different orders would wait for each other, as would one
 * that waits for a scope and one that hands on the row which the first has locked.  Nobody knows at
 * its first row which scopes a statement will touch; what the session did before is a good guess.
 * After a transaction that has touched two scopes, or failed to lock one, so many take the whole
 * table.  A wrong guess costs waiting or a deadlock, but never a wrong group.
 */
#define TABLE_TRANSACTIONS 100

/* The transaction of this session that was the last to lock a table. */
static struct
{
	LocalTransactionId id;
	bool takes_table; /* it takes whole tables, and no scopes */
	uint16 scope;     /* the scope that it has touched last, or 0 */
	int to_come;      /* the number of transactions to come that take whole tables */
} last_transaction;

/* Takes a lock until the transaction ends; returns whether it is taken. */
static bool
lock_groups(const GuardRule *rule, uint16 number, LOCKMODE mode, bool waits)
{
	LOCKTAG tag;
	bool taken;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, rule->guarded->oid, number);
	taken = LockAcquire(&tag, mode, false, !waits) != LOCKACQUIRE_NOT_AVAIL;
	AcceptInvalidationMessages();
	return taken;
}

/* Locks a table before a statement: against all assignments, or those that take the whole table. */
void
guard_lock_table(const GuardRule *rule)
{
	VirtualTransactionId this;

	GET_VXID_FROM_PGPROC(this, *MyProc);
	if (last_transaction.id != this.localTransactionId)
	{
		last_transaction.id = this.localTransactionId;
		last_transaction.takes_table = last_transaction.to_come > 0;
		last_transaction.to_come -= last_transaction.takes_table;
		last_transaction.scope = 0;
	}
	(void) lock_groups(rule, 0,
					   rule->withins == 0 || last_transaction.takes_table ? ExclusiveLock :
																			RowExclusiveLock,
					   true);
}

/* Locks the scope of the row of a check, by the values of the option within, which may be unknown. */
static void
lock_scope(const GuardCheck *check, bool known)
{
	const GuardRule *rule = check->rule;
	uint32 hash = 0;
	uint16 scope;
	int to_come;

	for (int i = 0; known && i < rule->withins; i++)
	{
		const GuardTerm *term = &check->leaf->within[i];

		if (OidIsValid(term->type->hash_proc) && rule->within[i].scope)
			hash = hash_combine(hash,
								DatumGetUInt32(FunctionCall1Coll(&term->type->hash_proc_finfo,
																 term->collation,
																 check->values.within[i].value)));
	}
	scope = 1 + hash % SCOPES;
	guard_lock_table(rule);
	if (rule->withins == 0)
		return;
	if (last_transaction.scope != 0 && last_transaction.scope != scope)
	{
		/* It takes the whole table after all, if that is possible without waiting. */
		last_transaction.to_come = TABLE_TRANSACTIONS;
		last_transaction.takes_table |= lock_groups(rule, 0, ExclusiveLock, false);
	}
	last_transaction.scope = scope;
	if (last_transaction.takes_table)
		return;
	to_come = last_transaction.to_come;
	last_transaction.to_come = TABLE_TRANSACTIONS; /* it stays so if an error is raised */
	(void) lock_groups(rule, scope, ExclusiveLock, true);
	last_transaction.to_come = to_come;
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* Returns whether a row of a leaf leads a group. */
bool
guard_leads(GuardCheck *check, const GuardLeaf *leaf, TupleTableSlot *row)
{
	NullableDatum group = guard_get(check, row, &leaf->group);
	NullableDatum key = guard_get(check, row, &leaf->group_key);

	return !group.isnull && guard_is_same(&leaf->group, group, key);
}

/* Returns what is being assigned again of a rule's table, or NULL. */
static Reassignment *
reassignment_of(const GuardRule *rule)
{
	return reassignment != NULL && reassignment->guarded == rule->guarded->oid ? reassignment :
																				 NULL;
}

/* Returns whether a row leads a group that the row of the check may join. */
bool
guard_may_join(GuardCheck *check, const GuardLeaf *leaf, TupleTableSlot *row)
{
	const Reassignment *now = reassignment_of(check->rule);

	if (now != NULL && now->how == REASSIGNED_ALL)
	{
		CommandId made = guard_command_of(row);

		if (made == InvalidCommandId || made < now->since)
			return false;
	}
	return guard_leads(check, leaf, row) &&
		!guard_is_bound(check, false, guard_get(check, row, &leaf->group).value);
}

/* Raises an error if an update gives a row that has a group another one. */
static void
check_group_is_kept(GuardCheck *check)
{
	const GuardRule *rule = check->rule;
	const GuardTerm *group = &check->leaf->group;
	Oid verdicts = rule->verdicts;

	if (guard_get(check, check->old, group).isnull ||
		guard_is_kept(check, check->old, check->row, group))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_GENERATED_ALWAYS),
			 errmsg("column \"%s\" can only be updated to NULL", rule->group),
			 errdetail("Guard \"%s\" sets it.  A NULL lets it place the row again.", rule->name),
			 OidIsValid(verdicts) ?
				 errhint("Write into table \"%s\" which rows are the same.",
						 get_rel_name(verdicts)) :
				 errhint("To say which rows belong together, name a table in \"verdicts\".")));
}

/* ---- Assigning a row ---------------------------------------------------------------------- */

/* Returns the group of a row that is judged the same, or of the most similar leader; or its key. */
static Datum
find_group(GuardCheck *check, Datum key)
{
	const Reassignment *now = reassignment_of(check->rule);
	ListCell *cell;
	GuardHit hit;

	guard_find_judged(check, key, now == NULL || now->gone.isnull ? key : now->gone.value,
					  now != NULL && now->how == REASSIGNED_ALL);
	foreach (cell, check->judged[true])
		if (!guard_is_bound(check, false, PointerGetDatum(lfirst(cell))))
			return PointerGetDatum(lfirst(cell));
	if (!guard_finds_nearest(check, &hit))
		return key;
	key = datumCopy(guard_get(check, hit.row, &hit.leaf->group_key).value,
					hit.leaf->group_key.type->typbyval, hit.leaf->group_key.type->typlen);
	ExecDropSingleTupleTableSlot(hit.row);
	return key;
}

/* Assigns a row that is about to be stored to a group, and returns it. */
HeapTuple
guard_assign_row(GuardCheck *check, HeapTuple row)
{
	Reassignment *now = reassignment_of(check->rule);
	int number = ((const Var *) check->leaf->group.expression)->varattno;
	bool found = guard_read_values(check, check->row, &check->values);
	bool compared = found && !guard_is_true(check, check->row, &check->leaf->unless);
	NullableDatum group = guard_get(check, check->row, &check->leaf->group_key);

	if (now != NULL && ++now->rows % PROGRESS_STEP == 0 && now->gone.isnull)
		progress_rows(now->rows);
	/* Without a key, it is not stored. */
	if ((now != NULL && now->how == REASSIGNED_GIVEN) || group.isnull)
		return row;
	/* A row that is not compared leads. */
	if (check->old != NULL && !slot_attisnull(check->row, number) &&
		guard_compares_alike(check, found, check->old) &&
		(compared ? !guard_is_true(check, check->old, &check->leaf->unless) :
					guard_leads(check, check->leaf, check->old)))
	{
		check_group_is_kept(check);
		return row;
	}
	if (found)
		lock_scope(check, true);
	if (compared)
		group.value = find_group(check, group.value);
	return heap_modify_tuple_by_cols(row, RelationGetDescr(check->table), 1, &number, &group.value,
									 &group.isnull);
}

/* ---- After a row was stored or deleted ---------------------------------------------------------- */

/* Assigns rows again by a plan. */
void
guard_reassign(const GuardRule *rule, SPIPlanPtr plan, Datum *value, Reassigned how,
			   NullableDatum gone)
{
	Reassignment now = {.guarded = rule->guarded->oid, .how = how, .gone = gone};
	Reassignment *outer = reassignment;

	CommandCounterIncrement();
	now.since = GetCurrentCommandId(true);
	reassignment = &now;
	PG_TRY();
	{
		(void) guard_run(plan, value, SPI_OK_UPDATE, how != REASSIGNED_GIVEN);
	}
	PG_FINALLY();
	{
		reassignment = outer;
	}
	PG_END_TRY();
}

/* Assigns rows again after a row was stored or deleted. */
void
guard_follow_row(GuardCheck *check)
{
	const GuardLeaf *leaf = check->leaf;
	TupleTableSlot *old = check->old;
	TupleTableSlot *new = check->row;
	bool leads = new != NULL &&guard_leads(check, leaf, new);
	bool same;

	if (reassignment_of(check->rule) != NULL && reassignment->how == REASSIGNED_GIVEN)
		return;
	if (old != NULL && guard_leads(check, leaf, old) &&
		!(leads &&
		  guard_compares_alike(check, guard_read_values(check, check->row, &check->values), old)))
	{
		check->row = old;
		lock_scope(check, guard_read_values(check, check->row, &check->values));
		/* Rows of the same statement, too: they may have joined the old row. */
		guard_hand_on(check, guard_get(check, old, &leaf->group_key).value, InvalidCommandId);
	}
	check->row = new;
	if (!leads)
		return;
	same = old != NULL && guard_is_kept(check, old, new, &leaf->group);
	for (int i = 0; same && i < check->rule->withins; i++)
		same = !check->rule->within[i].scope || guard_is_kept(check, old, new, &leaf->within[i]);
	/* Rows may have lost the leader of this number to a TRUNCATE, but not those of this statement. */
	if (!same)
		guard_hand_on(check, guard_get(check, new, &leaf->group_key).value, guard_command_of(new));
}
