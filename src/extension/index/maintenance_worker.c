/*
 * maintenance_worker.c: maintenance in a background worker, so that no insert waits for a merge.
 *
 * A worker is started for one run of maintenance of one index.  It needs no preloaded library and
 * no shared memory: its task fits into bgw_extra.
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
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "shared_memory.h"

typedef struct WorkerTask
{
	Oid database;
	Oid index;
} WorkerTask;

PGDLLEXPORT void neardup_worker_main(Datum argument);

/*
 * Starts a background worker that does maintenance of the index.  Returns false if there is no
 * free slot for one.
 */
bool
worker_start(Relation index)
{
	WorkerTask task = {.database = MyDatabaseId, .index = RelationGetRelid(index)};
	BackgroundWorker worker = {{0}};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker.bgw_library_name, BGW_MAXLEN, NEARDUP_LIBRARY);
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "neardup_worker_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "neardup maintenance of index %u", task.index);
	snprintf(worker.bgw_type, BGW_MAXLEN, "neardup maintenance");
	memcpy(worker.bgw_extra, &task, sizeof(task));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * Does maintenance of an index in a transaction of its own, unless another process does, or the
 * index has been dropped.  Does not wait for locks: they may be held for long, and there are
 * few slots for workers.  Takes no snapshot, so that it holds back no vacuum.
 */
static void
do_maintenance(Oid oid)
{
	StartTransactionCommand();
	if (maintenance_lock_worker(oid))
	{
		Relation index = try_relation_open(oid, NoLock);

		InvalidateCatalogSnapshot();
		if (index != NULL && index_is_ours(index) && maintenance_lock_conditionally(index))
		{
			Maintenance maintenance = maintenance_of(index, MAINTENANCE_BY_WORKER);

			maintenance_run(&maintenance, false);
			maintenance_unlock(index);
		}
		if (index != NULL)
			relation_close(index, NoLock);
	}
	CommitTransactionCommand();
}

/*
 * Lets the owner of the database end this process.  PostgreSQL permits that only to
 * superusers if a worker was started without a role: without this function, the owner's
 * pg_terminate_backend() and DROP DATABASE ... WITH (FORCE) fail (test/t/068).
 *
 * PostgreSQL itself sets roleId only when it starts a session.  This relies on roleId being
 * a single word, which other processes read without a lock, and only to decide who may
 * signal the process.  The usual way, to start the worker as the owner, fails before
 * PostgreSQL 17 if the owner is not permitted to log in.
 */
static void
set_role_of_owner(void)
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

/* Disables timeouts, which a database may have set for its sessions. */
static void
disable_timeouts(void)
{
	static const char *const timeout[] = {"statement_timeout", "lock_timeout",
										  "transaction_timeout"};

	for (int i = 0; i < lengthof(timeout); i++)
		if (GetConfigOption(timeout[i], true, false) != NULL)
			SetConfigOption(timeout[i], "0", PGC_SUSET, PGC_S_OVERRIDE);
}

/* The entry point of a background worker that does maintenance; its task is in bgw_extra. */
void
neardup_worker_main(Datum argument)
{
	WorkerTask task;

	memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof(task));
	/* End at CHECK_FOR_INTERRUPTS only; the default handler ends even in critical sections. */
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(task.database, InvalidOid, 0);
	disable_timeouts();
	set_role_of_owner();
	pgstat_report_activity(STATE_RUNNING, MyBgworkerEntry->bgw_name);
	do_maintenance(task.index);
}
