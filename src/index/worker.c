/*
 * worker.c: upkeep in the background, so that no insert waits for a merge.
 *
 * A worker lives for one index and one run.  It needs nothing to be preloaded
 * and shares no memory: all it is told fits into bgw_extra.
 */
#include "index/index.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* ---- Starting ------------------------------------------------------------ */

typedef struct WorkerTask
{
	Oid database;
	Oid index;
	bool truncate;
} WorkerTask;

PGDLLEXPORT void neardup_worker_main(Datum argument);

bool
worker_start(Relation index, bool truncate)
{
	WorkerTask task = {MyDatabaseId, RelationGetRelid(index), truncate};
	BackgroundWorker worker = {{0}};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "neardup");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "neardup_worker_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "neardup upkeep of index %u", task.index);
	snprintf(worker.bgw_type, BGW_MAXLEN, "neardup upkeep");
	memcpy(worker.bgw_extra, &task, sizeof(task));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/* ---- Locks --------------------------------------------------------------- */

/*
 * While it is at the index, no other maintenance of it is.  Modes weaker than this one
 * may be noted where waiters are not counted (the fast path).
 */
#define WORKER_LOCK ShareUpdateExclusiveLock

static LOCKTAG
database_tag(void)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	return tag;
}

/*
 * Whoever wants to drop, copy or rename the database waits for this one, and so we learn
 * of it.  PostgreSQL itself only looks for a while whether we are gone.
 */
static bool
lock_database(void)
{
	LOCKTAG tag = database_tag();

	return LockAcquire(&tag, RowExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

bool
worker_keeps_waiting(Relation index)
{
	LOCKTAG tag = database_tag();

	return LockHasWaitersRelation(index, WORKER_LOCK) ||
		LockHasWaiters(&tag, RowExclusiveLock, false);
}

/* ---- Work --------------------------------------------------------------- */

/* Keep the index up, unless somebody else is at it. */
static bool
keep_up(Relation index)
{
	Upkeep upkeep = upkeep_of(index, UPKEEP_BY_WORKER);

	if (upkeep_lock_conditionally(index))
	{
		upkeep_run(&upkeep, false);
		upkeep_unlock(index);
	}
	return true;
}

/*
 * Do something with the index in a transaction of its own, unless the index is
 * gone.  False where it could not be done now: no lock is waited for, since who
 * holds it may do so for long, and workers are few.  It holds back no vacuum.
 */
static bool
with_index(Oid oid, bool (*what)(Relation))
{
	bool done = false;

	StartTransactionCommand();
	if (lock_database() && ConditionalLockRelationOid(oid, WORKER_LOCK))
	{
		Relation index = try_relation_open(oid, NoLock);

		InvalidateCatalogSnapshot();
		done = index == NULL || !index_is_ours(index) || what(index);
		if (index != NULL)
			relation_close(index, NoLock);
	}
	CommitTransactionCommand();
	return done;
}

/*
 * A process that nobody has logged in to is a superuser's, whom no other role may
 * end.  Let the owner of the database do that: DROP DATABASE ... WITH (FORCE) does.
 */
static void
belong_to_owner(void)
{
	HeapTuple tuple;

	StartTransactionCommand();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (HeapTupleIsValid(tuple))
	{
		MyProc->roleId = ((Form_pg_database) GETSTRUCT(tuple))->datdba;
		ReleaseSysCache(tuple);
	}
	CommitTransactionCommand();
}

/* A database's timeouts are meant for its sessions: upkeep ends when it is done. */
static void
without_timeouts(void)
{
	static const char *const timeout[] = {"statement_timeout", "lock_timeout",
										  "transaction_timeout"};

	for (int i = 0; i < lengthof(timeout); i++)
		if (GetConfigOption(timeout[i], true, false) != NULL)
			SetConfigOption(timeout[i], "0", PGC_SUSET, PGC_S_OVERRIDE);
}

void
neardup_worker_main(Datum argument)
{
	WorkerTask task;

	memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof(task));
	/* Stop where interrupts are checked: the default stops anywhere, in critical sections too. */
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(task.database, InvalidOid, 0);
	without_timeouts();
	belong_to_owner();
	pgstat_report_activity(STATE_RUNNING, MyBgworkerEntry->bgw_name);
	with_index(task.index, keep_up);
	/* Whoever asked is at the index still. */
	for (int i = 0; task.truncate && i < SHRINK_TRIES && !with_index(task.index, shrink_try); i++)
		shrink_pause();
}
