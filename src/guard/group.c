/*
 * group.c: guards that group rows.
 *
 * A column holds the number of each row's group: the key of the row that leads it.  Three
 * triggers keep it.  One, BEFORE INSERT OR UPDATE of a row, places the row: it gets the group
 * of the most similar leader, or leads.  One, AFTER, places the members of a group again that
 * has lost its leader, or has got another one, in the order of their keys.  One, BEFORE an UPDATE
 * or DELETE, takes the lock, so that nobody waits for it who has locked rows.  An INSERT signs
 * its row first.
 *
 * A row is placed among the leaders that are there.  So the groups are the stars of
 * neardup_clusters(), with "nearest", of the rows in the order in which they were placed last.
 *
 * Who places a row holds a lock until the transaction ends: two rows that are placed at the same
 * time are in no index yet, and a leader may go while a member comes.
 */
#include "guard/guard.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "common/hashfn.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* A transaction that changes rows of many tenants takes at most that many locks. */
#define LOCKS 1024

/* Rows that are placed again, and the one placed last; rows may be alike in long runs. */
typedef struct Handing
{
	Oid guarded;
	bool all; /* rows of all groups; else those of one that is handed on: */
	Datum group;
	CommandId since; /* of all rows: those made before are still to be placed */
	MemoryContext context;
	bool any; /* there is a row placed last */
	Datum signature;
	Datum *within;
	Datum placed; /* the group of that row */
} Handing;

static Handing *handing = NULL;

/* ---- Locks ------------------------------------------------------------------------------ */

/* Locks the rows of a scope against other placements until the transaction ends. */
static void
lock_groups(const GuardRule *rule, uint16 scope)
{
	LockDatabaseObject(RelationRelationId, rule->side[0].table, scope, ExclusiveLock);
}

/* Takes the lock before a statement, unless there is one for each key of the option within. */
void
guard_lock_statement(const GuardRule *rule)
{
	if (rule->withins == 0)
		lock_groups(rule, 1);
}

/* Locks the scope of a row, by the values of the option within.  Equal values have one lock. */
static void
lock_scope(const GuardCheck *check)
{
	const GuardRule *rule = check->rule;
	TupleDesc row_type = RelationGetDescr(check->data->tg_relation);
	uint32 hash = 0;

	for (int i = 0; i < rule->withins; i++)
	{
		const FormData_pg_attribute *attribute =
			TupleDescAttr(row_type, check->place->within[i] - 1);
		TypeCacheEntry *type =
			lookup_type_cache(getBaseType(attribute->atttypid), TYPECACHE_HASH_PROC_FINFO);

		if (OidIsValid(type->hash_proc) && rule->within[i].span == NULL)
			hash = hash_combine(hash,
								DatumGetUInt32(FunctionCall1Coll(&type->hash_proc_finfo,
																 attribute->attcollation,
																 check->within[i])));
	}
	lock_groups(rule, 1 + hash % LOCKS);
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* Are two keys the same, to the byte? */
bool
guard_is_same_key(const GuardPlace *place, TupleTableSlot *row, Datum a, Datum b)
{
	Form_pg_attribute attribute = TupleDescAttr(row->tts_tupleDescriptor, place->group_key - 1);

	return datum_image_eq(a, b, attribute->attbyval, attribute->attlen);
}

/* Does a row lead a group? */
bool
guard_leads(const GuardPlace *place, TupleTableSlot *row)
{
	bool no_key;
	bool no_group;
	Datum key = slot_getattr(row, place->group_key, &no_key);
	Datum group = slot_getattr(row, place->group, &no_group);

	return !no_key && !no_group && guard_is_same_key(place, row, key, group);
}

/* Is a row, made before all rows were to be placed again, still to be placed? */
bool
guard_is_to_be_placed(const GuardRule *rule, TupleTableSlot *row)
{
	CommandId made;

	if (handing == NULL || !handing->all || handing->guarded != rule->side[0].table)
		return false;
	made = guard_command_of(row);
	return made == InvalidCommandId || made < handing->since;
}

/* Were both versions of a row compared with the same others, by the same signature and key? */
static bool
is_same_row(GuardCheck *check, bool compared, TupleTableSlot *old, TupleTableSlot *new)
{
	const GuardPlace *place = check->place;

	if (!guard_is_same_column(old, new, place->group_key))
		return false;
	/* A row that is not compared leads. */
	if (!compared)
		return guard_leads(place, old);
	for (int i = 0; i < check->rule->withins; i++)
		if (!guard_is_same_column(old, new, place->within[i]))
			return false;
	return (place->unless <= 0 || guard_is_same_column(old, new, place->unless)) &&
		guard_holds(check, place->condition, old) &&
		guard_is_same(place->signature, guard_value(check, place->signature, old),
					  check->signature);
}

/* Returns the key of a row; raises an error if it is NULL. */
static Datum
key_of(const GuardCheck *check, TupleTableSlot *row)
{
	bool is_null;
	Datum key = slot_getattr(row, check->place->group_key, &is_null);

	if (is_null)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("null value in column \"%s\" of relation \"%s\"", check->rule->group_key,
						RelationGetRelationName(check->data->tg_relation)),
				 errdetail("Guard \"%s\" names rows by it.", check->rule->name),
				 errhint("Give the column a default.")));
	return key;
}

/* Raises an error if an update gives a row that has a group another one. */
static void
check_group_is_kept(const GuardCheck *check)
{
	const GuardRule *rule = check->rule;
	AttrNumber group = check->place->group;

	if (slot_attisnull(check->data->tg_trigslot, group) ||
		guard_is_same_column(check->data->tg_trigslot, check->row, group))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_GENERATED_ALWAYS),
			 errmsg("column \"%s\" can only be updated to NULL", rule->group),
			 errdetail("Guard \"%s\" sets it.  A NULL lets it place the row again.", rule->name),
			 OidIsValid(rule->verdicts) ?
				 errhint("Write into table \"%s\" which rows are the same.",
						 get_rel_name(rule->verdicts)) :
				 errhint("To say which rows belong together, name a table of verdicts in \"unless\".")));
}

/* ---- Placing a row -------------------------------------------------------------------------- */

/* Returns whether the row placed before this one was alike. */
static bool
is_like_last(const GuardCheck *check)
{
	TupleDesc row_type = RelationGetDescr(check->data->tg_relation);

	if (handing == NULL || !handing->any || handing->guarded != check->rule->side[0].table)
		return false;
	for (int i = 0; i < check->rule->withins; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row_type, check->place->within[i] - 1);

		if (!datum_image_eq(check->within[i], handing->within[i], attribute->attbyval,
							attribute->attlen))
			return false;
	}
	return guard_is_same(check->place->signature, check->signature,
						 (NullableDatum){.value = handing->signature});
}

/* Remembers where a row was placed. */
static void
remember(const GuardCheck *check, Datum group)
{
	TupleDesc row_type = RelationGetDescr(check->data->tg_relation);
	Form_pg_attribute key = TupleDescAttr(row_type, check->place->group_key - 1);
	MemoryContext old_context;

	if (handing == NULL || handing->guarded != check->rule->side[0].table)
		return;
	MemoryContextReset(handing->context);
	old_context = MemoryContextSwitchTo(handing->context);
	handing->any = true;
	handing->signature = guard_copy(check->place->signature, check->signature.value);
	handing->placed = datumCopy(group, key->attbyval, key->attlen);
	handing->within = palloc(check->rule->withins * sizeof(Datum) + 1);
	for (int i = 0; i < check->rule->withins; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row_type, check->place->within[i] - 1);

		handing->within[i] = datumCopy(check->within[i], attribute->attbyval, attribute->attlen);
	}
	MemoryContextSwitchTo(old_context);
}

/* Returns the group of a row that is judged the same, or of the most similar leader; or its key. */
static Datum
find_group(GuardCheck *check, Datum key)
{
	bool hands_on =
		handing != NULL && !handing->all && handing->guarded == check->rule->side[0].table;
	Datum led = hands_on ? handing->group : key;
	Datum *groups;
	GuardHit hit;
	Form_pg_attribute attribute;
	bool is_null;

	if (OidIsValid(check->rule->verdicts))
	{
		check->barred = guard_find_judged(check, false, key, led, &check->bar);
		if (guard_find_judged(check, true, key, led, &groups) > 0)
			return groups[0];
	}
	else if (is_like_last(check))
		return handing->placed;
	if (!guard_finds_nearest(check, &hit))
		return key;
	attribute = TupleDescAttr(hit.row->tts_tupleDescriptor, hit.place->group_key - 1);
	key = datumCopy(slot_getattr(hit.row, hit.place->group_key, &is_null), attribute->attbyval,
					attribute->attlen);
	ExecDropSingleTupleTableSlot(hit.row);
	return key;
}

/* Returns a row that is about to be stored, with its group. */
HeapTuple
guard_place_row(GuardCheck *check)
{
	TriggerData *data = check->data;
	bool update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	HeapTuple row = update ? data->tg_newtuple : data->tg_trigtuple;
	int column = check->place->group;
	bool compared = guard_begin_search(check);
	Datum key = key_of(check, check->row);
	Datum group = key;
	bool is_null = false;

	if (update && !slot_attisnull(check->row, column) &&
		is_same_row(check, compared, data->tg_trigslot, check->row))
	{
		check_group_is_kept(check);
		return row;
	}
	if (compared)
	{
		lock_scope(check);
		group = find_group(check, key);
		guard_count(&check->rule->counts, check->rule->trigger, check->rule->side[0].table,
					guard_is_same_key(check->place, check->row, group, key) ? GUARD_PASSED :
																			  GUARD_GROUPED);
		remember(check, group);
	}
	return heap_modify_tuple_by_cols(row, RelationGetDescr(data->tg_relation), 1, &column, &group,
									 &is_null);
}

/* ---- After a row was stored or deleted ---------------------------------------------------------- */

/*
 * Executes an UPDATE that places rows again: the members of a group that is handed on or, if
 * `group` is NULL, all rows, whose groups do not count until they are placed.
 */
pg_noinline void
guard_place_again(const GuardRule *rule, SPIPlanPtr plan, Datum *values, const Datum *group)
{
	Handing *outer = handing;
	Handing mine = {.guarded = rule->side[0].table, .all = group == NULL};

	CommandCounterIncrement();
	mine.group = mine.all ? (Datum) 0 : *group;
	mine.since = GetCurrentCommandId(true);
	mine.context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup group", ALLOCSET_SMALL_SIZES);
	handing = &mine;
	PG_TRY();
	{
		guard_execute_in_order(plan, values, SPI_OK_UPDATE);
	}
	PG_FINALLY();
	{
		handing = outer;
	}
	PG_END_TRY();
	MemoryContextDelete(mine.context);
}

/*
 * Places the members of the group again that an old row led, unless the new row leads it and is
 * compared as the old one was.
 */
static void
follow_old(GuardCheck *check, TupleTableSlot *old, TupleTableSlot *new)
{
	CommandId since = InvalidCommandId;
	Datum key = key_of(check, old);
	bool same = false;

	if (new != NULL && guard_leads(check->place, new))
	{
		bool compared = guard_begin_search(check);

		same = is_same_row(check, compared, old, new);
		if (compared && same)
			return;
		if (guard_is_same_column(old, new, check->place->group_key))
			since = guard_command_of(new);
	}
	check->row = old;
	if (guard_begin_search(check))
		lock_scope(check);
	else if (!same)
		lock_groups(check->rule, 1);
	else
		return;
	guard_hand_on(check, key, since);
}

/* Places rows again after a row was stored or deleted. */
void
guard_follow_row(GuardCheck *check)
{
	TriggerEvent event = check->data->tg_event;
	const GuardPlace *place = check->place;
	TupleTableSlot *old = TRIGGER_FIRED_BY_INSERT(event) ? NULL : check->data->tg_trigslot;
	TupleTableSlot *new = TRIGGER_FIRED_BY_DELETE(event) ? NULL : check->row;
	bool led = old != NULL && guard_leads(place, old);
	bool moved = old == NULL || new == NULL || !guard_is_same_column(old, new, place->group);

	if (led)
		follow_old(check, old, new);
	check->row = new;
	/* Rows may have lost the leader of this number to a TRUNCATE. */
	if (new != NULL && moved &&guard_leads(place, new))
		guard_hand_on(check, key_of(check, new), guard_command_of(new));
	if (!OidIsValid(check->rule->verdicts) || !moved)
		return;
	if (new != NULL)
		guard_follow_judged(check, true, new);
	if (old != NULL)
		guard_follow_judged(check, false, old);
}
