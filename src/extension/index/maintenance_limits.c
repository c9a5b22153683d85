/*
 * maintenance_limits.c: the locks and the memory of maintenance, and for whom it gives way.
 *
 * One process at a time does maintenance, under a heavyweight lock that neither searches nor
 * inserts take.
 */
#include "index/index.h"

#include "catalog/pg_database.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/lmgr.h"
#include "storage/lock.h"

#include "store/segment_write.h"

/* Locks an index for maintenance, which one process at a time does. */
void
maintenance_lock(Relation index)
{
	LockPage(index, META_BLOCK, ExclusiveLock);
}

/* Locks an index for maintenance; returns false if another process does maintenance. */
bool
maintenance_lock_conditionally(Relation index)
{
	return ConditionalLockPage(index, META_BLOCK, ExclusiveLock);
}

/* Unlocks an index after maintenance. */
void
maintenance_unlock(Relation index)
{
	UnlockPage(index, META_BLOCK, ExclusiveLock);
}

/* Returns the description of maintenance, with the memory that settings allow it. */
Maintenance
maintenance_of(Relation index, MaintenanceBy by)
{
	int kilobytes = maintenance_work_mem;

	if (by == MAINTENANCE_BY_VACUUM && MyBackendType == B_AUTOVAC_WORKER &&
		autovacuum_work_mem != -1)
		kilobytes = autovacuum_work_mem;
	return (Maintenance){.index = index, .by = by, .memory = (Size) kilobytes * 1024};
}

/*
 * Returns the most documents that a new segment may have.  An index with many segments merges
 * them even beyond its memory, so that there are not too many.
 */
uint32
merged_documents_max(const Maintenance *maintenance, const IndexMeta *meta)
{
	bool many = meta->segments > SEGMENTS_MAX / 2;

	return segment_documents_max(maintenance->index, &meta->shape,
								 many ? SEGMENT_MEMORY_ANY : maintenance->memory);
}

/* ---- Waiting processes ---------------------------------------------------- */

/*
 * The mode in which a worker locks its index.  It keeps other maintenance away.  A weaker
 * mode might be taken by the fast path, where PostgreSQL does not count waiters.
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
 * Locks what a worker needs, for its transaction; false if it would have to wait.  The database
 * is locked as a session does while it starts.  DROP DATABASE and the like then wait for the
 * worker, which notices it; otherwise they only check for a few seconds whether it has ended.
 */
bool
maintenance_lock_worker(Oid index)
{
	LOCKTAG tag = database_tag();

	return LockAcquire(&tag, RowExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL &&
		ConditionalLockRelationOid(index, WORKER_LOCK);
}

/*
 * Returns whether another process waits for a lock that is held only because of the maintenance:
 * a worker's on the index and the database, vacuum's on the table.  Their modes are strong
 * enough to be kept in the main lock table, where waiters are counted.
 */
static bool
has_waiters(const Maintenance *maintenance)
{
	LOCKTAG database = database_tag();
	LOCKTAG table;

	switch (maintenance->by)
	{
		case MAINTENANCE_BY_WORKER:
			return LockHasWaitersRelation(maintenance->index, WORKER_LOCK) ||
				LockHasWaiters(&database, RowExclusiveLock, false);
		case MAINTENANCE_BY_VACUUM:
			SET_LOCKTAG_RELATION(table, MyDatabaseId, maintenance->index->rd_index->indrelid);
			return LockHasWaiters(&table, ShareUpdateExclusiveLock, false);
		default:
			return false;
	}
}

/*
 * To be called after each page, with no buffer locked.  Answers interrupts and keeps to
 * vacuum's delay; returns whether to go on.  An insert always goes on: its transaction keeps
 * its locks anyway.
 */
bool
maintenance_goes_on(Maintenance *maintenance)
{
	if (maintenance->by == MAINTENANCE_BY_VACUUM && !maintenance->gave_way)
		compat_vacuum_delay();
	CHECK_FOR_INTERRUPTS();
	if (!maintenance->gave_way && has_waiters(maintenance))
	{
		ereport(DEBUG1,
				(errmsg_internal("maintenance of index \"%s\" gives way",
								 RelationGetRelationName(maintenance->index))));
		maintenance->gave_way = true;
	}
	return !maintenance->gave_way;
}

/* Reports that a segment or tail was replaced although the caller holds the lock. */
void
maintenance_replaced(Relation index, uint32 stamp)
{
	elog(ERROR, "segment or tail %u of index \"%s\" was replaced during its maintenance", stamp,
		 RelationGetRelationName(index));
}
