/*
 * group.h: guards that group rows.
 */
#ifndef NEARDUP_GUARD_GROUP_H
#define NEARDUP_GUARD_GROUP_H

#include "guard/statements.h"

/* Which rows a statement assigns again. */
typedef enum Reassigned
{
	REASSIGNED_SOME,
	REASSIGNED_ALL,  /* all, whose groups do not count until they are assigned */
	REASSIGNED_GIVEN /* any, and it gives them their groups */
} Reassigned;

/* ---- Assigning rows (group.c) ------------------------------------------------------------ */

extern bool guard_may_join(GuardCheck *check, const GuardLeaf *leaf, TupleTableSlot *row);
extern bool guard_leads(GuardCheck *check, const GuardLeaf *leaf, TupleTableSlot *row);
extern HeapTuple guard_assign_row(GuardCheck *check, HeapTuple row);
extern void guard_reassign(const GuardRule *rule, SPIPlanPtr plan, Datum *value, Reassigned how,
						   NullableDatum gone);
extern void guard_follow_row(GuardCheck *check);
extern void guard_lock_table(const GuardRule *rule);

/* ---- Statements that keep groups (group_statements.c) ---------------------------------- */

extern const char *guard_leader_condition(const GuardRule *rule);
extern void guard_find_judged(GuardCheck *check, Datum key, Datum gone, bool all);
extern bool guard_is_bound(const GuardCheck *check, bool same, Datum group);
extern bool guard_group_has(GuardCheck *check, Datum group, bool leads, CommandId since);
extern void guard_hand_on(GuardCheck *check, Datum key, CommandId since);
extern void guard_fill_groups(GuardRule *rule, bool all);
extern const char *guard_member_index_statement(const GuardRule *rule);

#endif
