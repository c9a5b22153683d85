/*
 * worker.c: upkeep in the background, so that no insert waits for a merge.
 *
 * A worker lives for one index and one run.  It needs nothing to be preloaded
 * and shares no memory: all it is told fits into bgw_extra.
 */
#include "index/index.h"

#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"

typedef struct WorkerTask
{
	Oid database;
	Oid index;
} WorkerTask;

PGDLLEXPORT void neardup_worker_main(Datum argument);

bool
worker_start(Relation index)
{
	WorkerTask task = {MyDatabaseId, RelationGetRelid(index)};
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

/* Keep the index up, unless it is gone, or somebody else is at it. */
static void
keep_up(Oid oid)
{
	Relation index = try_relation_open(oid, RowExclusiveLock);

	if (index == NULL)
		return;
	if (index_is_ours(index) && upkeep_lock_conditionally(index))
	{
		upkeep_run(index, false);
		upkeep_unlock(index);
	}
	relation_close(index, RowExclusiveLock);
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
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, MyBgworkerEntry->bgw_name);
	keep_up(task.index);
	CommitTransactionCommand();
}
