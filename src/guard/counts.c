/*
 * counts.c: how many rows each guard let in, refused, reported and grouped, and when last.
 *
 * The counts are in shared memory, since a refusal rolls its transaction back.  They take some
 * of what every server has to spare, so nothing needs to be preloaded.  When all entries are
 * taken, a new trigger gets that of a dropped one; if there is none, it is not counted.
 */
#include "guard/guard.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_trigger.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#define ENTRIES 256

struct GuardCounts
{
	pg_atomic_uint64 trigger; /* database and trigger, or 0: free */
	pg_atomic_uint32 table;   /* of the trigger, as another one may get its number */
	pg_atomic_uint64 rows[GUARD_EVENTS];
	pg_atomic_uint64 last[GUARD_EVENTS]; /* times */
};

/* Columns of neardup_guard_counts(): the trigger, the counts, and the times. */
#define COLUMNS (1 + 2 * GUARD_EVENTS)

/* What a guard has for which there is no entry. */
static GuardCounts uncounted;

static void
init_entry(GuardCounts *entry)
{
	pg_atomic_init_u64(&entry->trigger, 0);
	pg_atomic_init_u32(&entry->table, InvalidOid);
	for (int i = 0; i < GUARD_EVENTS; i++)
	{
		pg_atomic_init_u64(&entry->rows[i], 0);
		pg_atomic_init_u64(&entry->last[i], 0);
	}
}

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
			init_entry(&counts[i]);
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

static uint64
key_of(Oid trigger)
{
	return (uint64) MyDatabaseId << 32 | trigger;
}

/* Was the trigger of an entry dropped, as far as this database knows? */
static bool
is_gone(GuardCounts *entry)
{
	uint64 key = pg_atomic_read_u64(&entry->trigger);
	Oid database = (Oid) (key >> 32);
	Relation triggers;
	HeapTuple tuple;
	bool gone;

	if (database != MyDatabaseId)
		return !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database));
	triggers = table_open(TriggerRelationId, AccessShareLock);
	tuple = get_catalog_object_by_oid(triggers, Anum_pg_trigger_oid, (Oid) key);
	gone = !HeapTupleIsValid(tuple) ||
		((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid != pg_atomic_read_u32(&entry->table);
	table_close(triggers, AccessShareLock);
	return gone;
}

/* Gives an entry to a trigger, unless it has one that is there; returns whether it has it now. */
static bool
take(GuardCounts *entry, Oid trigger, Oid guarded, bool replace)
{
	uint64 key = key_of(trigger);
	uint64 holder = 0;

	if (replace && (holder = pg_atomic_read_u64(&entry->trigger)) != key && !is_gone(entry))
		return false;
	if (pg_atomic_compare_exchange_u64(&entry->trigger, &holder, key))
		pg_atomic_write_u32(&entry->table, InvalidOid);
	else if (holder != key)
		return false;
	if (pg_atomic_read_u32(&entry->table) == guarded)
		return true;
	for (int i = 0; i < GUARD_EVENTS; i++)
		pg_atomic_write_u64(&entry->rows[i], 0);
	pg_atomic_write_u32(&entry->table, guarded);
	return true;
}

/* Returns the entry of a trigger, a new one if there is none. */
static GuardCounts *
counts_of(Oid trigger, Oid guarded)
{
	GuardCounts *counts = all_counts();
	uint32 first = hash_combine(MyDatabaseId, trigger);

	for (uint32 i = 0; counts != NULL && i < 2 * ENTRIES; i++)
		if (take(&counts[(first + i) % ENTRIES], trigger, guarded, i >= ENTRIES))
			return &counts[(first + i) % ENTRIES];
	return &uncounted;
}

/* Counts a row that a guard compared; `counts` keeps the guard's entry for the next call. */
void
guard_count(GuardCounts **counts, Oid trigger, Oid guarded, GuardEvent event)
{
	if (*counts == NULL ||
		(*counts != &uncounted && pg_atomic_read_u64(&(*counts)->trigger) != key_of(trigger)))
		*counts = counts_of(trigger, guarded);
	if (*counts == &uncounted)
		return;
	pg_atomic_fetch_add_u64(&(*counts)->rows[event], 1);
	pg_atomic_write_u64(&(*counts)->last[event], (uint64) GetCurrentTimestamp());
}

/* Sets the columns for an entry. */
static void
fill_row(GuardCounts *entry, Datum *values, bool *nulls)
{
	values[0] = ObjectIdGetDatum((Oid) pg_atomic_read_u64(&entry->trigger));
	for (int i = 0; i < GUARD_EVENTS; i++)
	{
		uint64 rows = pg_atomic_read_u64(&entry->rows[i]);

		values[1 + i] = Int64GetDatum((int64) rows);
		values[1 + GUARD_EVENTS + i] =
			TimestampTzGetDatum((TimestampTz) pg_atomic_read_u64(&entry->last[i]));
		nulls[1 + GUARD_EVENTS + i] = rows == 0;
	}
}

/* neardup_guard_counts() → table: the counts of all triggers of this database. */
PG_FUNCTION_INFO_V1(neardup_guard_counts);
Datum
neardup_guard_counts(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	GuardCounts *counts = all_counts();

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old_context;
		TupleDesc row_type;

		call = SRF_FIRSTCALL_INIT();
		old_context = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "neardup_guard_counts() must return rows");
		call->tuple_desc = BlessTupleDesc(row_type);
		call->max_calls = counts == NULL ? 0 : ENTRIES;
		MemoryContextSwitchTo(old_context);
	}
	for (call = SRF_PERCALL_SETUP(); call->call_cntr < call->max_calls; call->call_cntr++)
	{
		GuardCounts *entry = &counts[call->call_cntr];
		Datum values[COLUMNS];
		bool nulls[COLUMNS] = {false};

		if (pg_atomic_read_u64(&entry->trigger) >> 32 != MyDatabaseId || is_gone(entry))
			continue;
		fill_row(entry, values, nulls);
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
	}
	SRF_RETURN_DONE(call);
}
