/*
 * reject_counts.c: how many rows each trigger of neardup_reject() let in, refused, reported and
 * grouped, and when last.
 *
 * The counts are in shared memory, since a refusal rolls its transaction back.  They take some
 * of what every server has to spare, so nothing needs to be preloaded.  When all entries are
 * taken, the one that was used longest ago gives way to a new trigger.
 */
#include "reject/reject.h"

#include "common/hashfn.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#define ENTRIES 256

struct GuardCounts
{
	pg_atomic_uint64 trigger; /* database and trigger, or 0: free */
	pg_atomic_uint64 rows[GUARD_EVENTS];
	pg_atomic_uint64 last[GUARD_EVENTS]; /* times */
};

/* Columns of neardup_guard_counts(): the trigger, the counts, and the times. */
#define COLUMNS (1 + 2 * GUARD_EVENTS)

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
		if (!found)
			memset(counts, 0, ENTRIES * sizeof(GuardCounts));
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

/* Returns when an entry was used last. */
static uint64
last_use(GuardCounts *entry)
{
	uint64 last = 0;

	for (int i = 0; i < GUARD_EVENTS; i++)
		last = Max(last, pg_atomic_read_u64(&entry->last[i]));
	return last;
}

/* Gives the entry that was used longest ago to a trigger. */
static GuardCounts *
replace_oldest(GuardCounts *counts, uint64 key)
{
	GuardCounts *oldest = counts;
	uint64 holder;

	for (int i = 1; i < ENTRIES; i++)
		if (last_use(&counts[i]) < last_use(oldest))
			oldest = &counts[i];
	holder = pg_atomic_read_u64(&oldest->trigger);
	if (!pg_atomic_compare_exchange_u64(&oldest->trigger, &holder, key))
		return NULL;
	for (int i = 0; i < GUARD_EVENTS; i++)
	{
		pg_atomic_write_u64(&oldest->rows[i], 0);
		pg_atomic_write_u64(&oldest->last[i], 0);
	}
	return oldest;
}

/* Returns the counts of a trigger of this database, new ones if there are none, or NULL. */
static GuardCounts *
counts_of(Oid trigger)
{
	GuardCounts *counts = all_counts();
	uint64 key = key_of(trigger);

	if (counts == NULL)
		return NULL;
	for (uint32 i = 0; i < ENTRIES; i++)
	{
		GuardCounts *entry = &counts[(hash_combine(MyDatabaseId, trigger) + i) % ENTRIES];
		uint64 holder = 0;

		if (pg_atomic_compare_exchange_u64(&entry->trigger, &holder, key) || holder == key)
			return entry;
	}
	return replace_oldest(counts, key);
}

/* Counts a row that a rule compared. */
void
guard_count(RejectRule *rule, GuardEvent event)
{
	if (rule->counts == NULL || pg_atomic_read_u64(&rule->counts->trigger) != key_of(rule->trigger))
		rule->counts = counts_of(rule->trigger);
	if (rule->counts == NULL)
		return;
	pg_atomic_fetch_add_u64(&rule->counts->rows[event], 1);
	pg_atomic_write_u64(&rule->counts->last[event], (uint64) GetCurrentTimestamp());
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

		if (pg_atomic_read_u64(&entry->trigger) >> 32 != MyDatabaseId)
			continue;
		fill_row(entry, values, nulls);
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
	}
	SRF_RETURN_DONE(call);
}
