/*
 * counts.c: how many rows each guard let in, refused, reported and grouped, and when last.
 *
 * The counts are in shared memory, since a refusal rolls its transaction back.  They take some
 * of what every server has to spare, so nothing needs to be preloaded.  When all entries are
 * taken, a new trigger gets that of a dropped one; if there is none, it is not counted.
 */
#include "guard/guard.h"

#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_trigger.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define ENTRIES 256

struct GuardCounts
{
	pg_atomic_uint64 trigger; /* database and trigger, or 0: free */
	pg_atomic_uint64 rows[GUARD_EVENTS];
	pg_atomic_uint64 last[GUARD_EVENTS]; /* times */
};

/* Columns of neardup_guard_counts(): the trigger, the counts, and the times. */
#define COLUMNS (1 + 2 * GUARD_EVENTS)

/* What a guard has for which there is no entry. */
static GuardCounts uncounted;

/* Returns all entries, which the first session makes, or NULL if there is no room for them. */
static GuardCounts *
all_counts(void)
{
	static GuardCounts *counts = NULL;
	static bool tried = false;
	MemoryContext context = CurrentMemoryContext;
	bool found;

	if (tried)
		return counts;
	tried = true;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	PG_TRY();
	{
		counts = ShmemInitStruct("neardup guards", ENTRIES * sizeof(GuardCounts), &found);
		for (int i = 0; i < ENTRIES && !found; i++)
		{
			pg_atomic_init_u64(&counts[i].trigger, 0);
			for (int event = 0; event < GUARD_EVENTS; event++)
			{
				pg_atomic_init_u64(&counts[i].rows[event], 0);
				pg_atomic_init_u64(&counts[i].last[event], 0);
			}
		}
	}
	PG_CATCH();
	{
		/* Rows are checked also where they cannot be counted. */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		HOLD_INTERRUPTS(); /* an error resets this, and LWLockRelease() expects it */
	}
	PG_END_TRY();
	LWLockRelease(AddinShmemInitLock);
	return counts;
}

/* Was the trigger of an entry dropped, as far as this database knows? */
static bool
is_gone(uint64 key)
{
	Oid database = (Oid) (key >> 32);
	Relation triggers;
	bool gone;

	if (database != MyDatabaseId)
		return !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database));
	triggers = table_open(TriggerRelationId, AccessShareLock);
	gone = get_catalog_object_by_oid(triggers, Anum_pg_trigger_oid, (Oid) key) == NULL;
	table_close(triggers, AccessShareLock);
	return gone;
}

/* Gives an entry to a trigger, unless it has one that is there; returns whether it has it now. */
static bool
take(GuardCounts *entry, uint64 key, bool replace)
{
	uint64 holder = replace ? pg_atomic_read_u64(&entry->trigger) : 0;

	if (holder != 0 && holder != key && !is_gone(holder))
		return false;
	if (holder == key || !pg_atomic_compare_exchange_u64(&entry->trigger, &holder, key))
		return holder == key;
	for (int i = 0; i < GUARD_EVENTS; i++)
		pg_atomic_write_u64(&entry->rows[i], 0);
	return true;
}

/* Counts a row that a guard compared, in an entry of its own, if there is one. */
void
guard_count(GuardRule *rule, GuardEvent event)
{
	uint64 key = (uint64) MyDatabaseId << 32 | rule->trigger;
	GuardCounts *counts = rule->counts;

	if (counts == NULL || (counts != &uncounted && pg_atomic_read_u64(&counts->trigger) != key))
	{
		GuardCounts *all = all_counts();
		uint32 first = hash_combine(MyDatabaseId, rule->trigger);

		counts = &uncounted;
		for (uint32 i = 0; all != NULL && counts == &uncounted && i < 2 * ENTRIES; i++)
			if (take(&all[(first + i) % ENTRIES], key, i >= ENTRIES))
				counts = &all[(first + i) % ENTRIES];
		rule->counts = counts;
	}
	if (counts == &uncounted)
		return;
	pg_atomic_fetch_add_u64(&counts->rows[event], 1);
	pg_atomic_write_u64(&counts->last[event], (uint64) GetCurrentTimestamp());
}

/* neardup_guard_counts() → table: the counts of all triggers of this database. */
PG_FUNCTION_INFO_V1(neardup_guard_counts);
Datum
neardup_guard_counts(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	GuardCounts *counts = all_counts();

	begin_rows(fcinfo);
	for (int i = 0; counts != NULL && i < ENTRIES; i++)
	{
		uint64 key = pg_atomic_read_u64(&counts[i].trigger);
		Datum values[COLUMNS];
		bool nulls[COLUMNS] = {false};

		if (key >> 32 != MyDatabaseId || is_gone(key))
			continue;
		values[0] = ObjectIdGetDatum((Oid) key);
		for (int event = 0; event < GUARD_EVENTS; event++)
		{
			values[1 + event] = Int64GetDatum(pg_atomic_read_u64(&counts[i].rows[event]));
			values[1 + GUARD_EVENTS + event] =
				TimestampTzGetDatum(pg_atomic_read_u64(&counts[i].last[event]));
			nulls[1 + GUARD_EVENTS + event] = DatumGetInt64(values[1 + event]) == 0;
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
