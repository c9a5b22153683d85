/*
 * compat.h: the differences between PostgreSQL 14 and 19.  No other file of this extension
 * tests PG_VERSION_NUM.
 */
#ifndef NEARDUP_COMPAT_H
#define NEARDUP_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 140000
#error "neardup needs PostgreSQL 14 or later"
#endif

/* VARDATA and similar macros moved from postgres.h in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * Since 16 the caller of an input function can have errors saved instead of thrown.
 * errsave() then continues, and ereturn() returns dummy.  Before 16 both throw.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define errsave(context, ...) \
	do \
	{ \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
	} while (0)
#define ereturn(context, dummy, ...) \
	do \
	{ \
		errsave(context, __VA_ARGS__); \
		return dummy; \
	} while (0)
#endif

#include "access/amapi.h"
#include "commands/vacuum.h"
#include "access/sysattr.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

/* Returns a new page at the end of a relation, exclusively locked. */
static inline Buffer
compat_extend(Relation relation)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(relation), MAIN_FORKNUM, NULL, EB_LOCK_FIRST);
#else
	/* Parallel workers extend even a relation that their own transaction has created. */
	bool shared = !RelationUsesLocalBuffers(relation);
	Buffer buffer;

	if (shared)
		LockRelationForExtension(relation, ExclusiveLock);
	/* Locked before other backends see it: the free space map may offer the block already. */
	buffer = ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK, NULL);
	if (shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
	return buffer;
#endif
}

#if PG_VERSION_NUM >= 180000
#define compat_vacuum_delay() vacuum_delay_point(false)
#else
#define compat_vacuum_delay() vacuum_delay_point()
#endif

/* The type of array_contains_nulls()'s argument. */
#if PG_VERSION_NUM >= 190000
#define COMPAT_READ_ARRAY const ArrayType
#else
#define COMPAT_READ_ARRAY ArrayType
#endif

/* The type of the bytes that pq_copymsgbytes() fills. */
#if PG_VERSION_NUM >= 180000
typedef void CompatMessageBytes;
#else
typedef char CompatMessageBytes;
#endif

/* Estimates the length of an array, since 17 from statistics. */
#if PG_VERSION_NUM >= 170000
#define compat_array_length(root, array) estimate_array_length(root, array)
#else
#define compat_array_length(root, array) estimate_array_length(array)
#endif

/* Completes a description of rows; since 19 that takes a call. */
#if PG_VERSION_NUM >= 190000
#define compat_finish_row_type(desc) TupleDescFinalize(desc)
#else
#define compat_finish_row_type(desc) ((void) (desc))
#endif

/* Since 18 EXPLAIN ANALYZE shows how often an index was searched. */
#if PG_VERSION_NUM >= 180000
#define compat_count_search(scan) \
	((scan)->instrument != NULL ? (void) (scan)->instrument->nsearches++ : (void) 0)
#else
#define compat_count_search(scan) ((void) 0)
#endif

/*
 * Since 18 no cost keeps the planner from choosing a path whose disabled_nodes are fewest.
 * A path that cannot run counts as two disabled nodes.
 */
#if PG_VERSION_NUM >= 180000
#define compat_disable_path(path) ((path)->disabled_nodes = 2)
#else
#define compat_disable_path(path) ((void) 0)
#endif

/* Returns a new page of a fork, exclusively locked. */
static inline Buffer
compat_extend_fork(Relation relation, ForkNumber fork)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(relation), fork, NULL, EB_LOCK_FIRST);
#else
	Buffer buffer = ReadBufferExtended(relation, fork, P_NEW, RBM_NORMAL, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
#endif
}

#if PG_VERSION_NUM >= 150000
#define compat_reserve_prefix(name) MarkGUCPrefixReserved(name)
#else
#define compat_reserve_prefix(name) EmitWarningsOnPlaceholders(name)
#endif

/* The identity of the file of a relation. */
#if PG_VERSION_NUM >= 160000
typedef RelFileLocator CompatFile;
#define compat_file(relation) ((relation)->rd_locator)
#define compat_same_file(a, b) RelFileLocatorEquals(a, b)
#else
typedef RelFileNode CompatFile;
#define compat_file(relation) ((relation)->rd_node)
#define compat_same_file(a, b) RelFileNodeEquals(a, b)
#endif

/*
 * Raises the usage count of a pinned shared buffer, as ReadBuffer does.  Before 19 ReadRecentBuffer
 * does not, and a page that is used often would be evicted early (test/t/065).
 */
#if PG_VERSION_NUM >= 190000
#define compat_raise_usage(buffer) ((void) (buffer))
#else
#include "storage/buf_internals.h"

static inline void
compat_raise_usage(Buffer buffer)
{
	BufferDesc *header = GetBufferDescriptor(buffer - 1);
	uint32 state = pg_atomic_read_u32(&header->state);

	if (!(state & BM_LOCKED) && BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT)
		(void) pg_atomic_compare_exchange_u32(&header->state, &state, state + BUF_USAGECOUNT_ONE);
}
#endif

/*
 * Throws an error if a snapshot is too old for a page, which may have lost rows that only
 * that snapshot sees.  17 removed old_snapshot_threshold.
 */
#if PG_VERSION_NUM < 170000
#define compat_test_old_snapshot(snapshot, relation, page) \
	TestForOldSnapshot(snapshot, relation, page)
#else
#define compat_test_old_snapshot(snapshot, relation, page) ((void) (snapshot))
#endif

/*
 * Throws an error if a snapshot is so old that row versions may be gone which died after it was
 * taken.
 */
#if PG_VERSION_NUM < 170000
#define compat_test_snapshot_age(snapshot, relation) \
	(old_snapshot_threshold >= 0 ? TestForOldSnapshot_impl(snapshot, relation) : (void) 0)
#else
#define compat_test_snapshot_age(snapshot, relation) ((void) (snapshot))
#endif

/* Whether generic WAL is known to have fragments (offset, length, bytes), as since 9.6. */
#define COMPAT_GENERIC_FRAGMENTS (PG_VERSION_NUM < 200000)

/* Extends a relation to `blocks` blocks; the new ones are zero. */
static inline void
compat_extend_to(Relation relation, BlockNumber blocks)
{
	BlockNumber block = RelationGetNumberOfBlocks(relation);
#if PG_VERSION_NUM >= 160000
	if (block < blocks)
		smgrzeroextend(RelationGetSmgr(relation), MAIN_FORKNUM, block, blocks - block, false);
#else
	PGAlignedBlock zeros;

	memset(zeros.data, 0, BLCKSZ);
	for (; block < blocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, block, zeros.data, false);
	}
#endif
}

/*
 * The folder where CREATE EXTENSION has functions look for their library.  Since 18 it drops the
 * folder "$libdir/", so that dynamic_library_path says where the library is.
 */
#if PG_VERSION_NUM >= 180000
#define COMPAT_LIBRARY_FOLDER ""
#else
#define COMPAT_LIBRARY_FOLDER "$libdir/"
#endif

/* Returns how many parallel workers a build asks for; before 17 the access method decides. */
static inline int
compat_build_workers(Relation heap, Relation index, IndexInfo *info)
{
#if PG_VERSION_NUM >= 170000
	return info->ii_ParallelWorkers;
#else
	if (!IsNormalProcessingMode())
		return 0;
	return plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
#endif
}

/* Since 17 an access method has to declare parallel builds. */
#if PG_VERSION_NUM >= 170000
#define COMPAT_CAN_BUILD_IN_PARALLEL , .amcanbuildparallel = true
#else
#define COMPAT_CAN_BUILD_IN_PARALLEL
#endif

/*
 * Returns the description of an access method as its handler does: since 19 `am` itself, which
 * must last as long as the server; before, a copy, which the caller frees.
 */
static inline Datum
compat_access_method(const IndexAmRoutine *am)
{
#if PG_VERSION_NUM >= 190000
	return PointerGetDatum(am);
#else
	IndexAmRoutine *copy = palloc(sizeof(IndexAmRoutine));

	*copy = *am;
	return PointerGetDatum(copy);
#endif
}

/* Begins one process's part of a parallel scan of a table, which since 19 takes options. */
static inline TableScanDesc
compat_begin_parallel_scan(Relation table, ParallelTableScanDesc scan)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(table, scan, SO_NONE);
#else
	return table_beginscan_parallel(table, scan);
#endif
}

/* Begins a scan of a table. */
static inline TableScanDesc
compat_begin_scan(Relation table, Snapshot snapshot)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan(table, snapshot, 0, NULL, SO_NONE);
#else
	return table_beginscan(table, snapshot, 0, NULL);
#endif
}

/* Begins a scan of an index that fetches rows. */
static inline IndexScanDesc
compat_index_beginscan(Relation table, Relation index, Snapshot snapshot, int keys, int orders)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan(table, index, snapshot, NULL, keys, orders, SO_NONE);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan(table, index, snapshot, NULL, keys, orders);
#else
	return index_beginscan(table, index, snapshot, keys, orders);
#endif
}

/* Ends a read or write of a buffer that an error has interrupted; since 16 resource owners do. */
#if PG_VERSION_NUM >= 160000
#define compat_abort_buffer_io() ((void) 0)
#else
#define compat_abort_buffer_io() AbortBufferIO()
#endif

/*
 * Which phases of vacuum parallel workers may run.  Before 15, if a table has one index that
 * workers may clean up, a vacuum that found dead rows starts no worker for it and skips its
 * cleanup; so there the leader does the cleanup.
 */
#if PG_VERSION_NUM >= 150000
#define COMPAT_PARALLEL_VACUUM (VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP)
#else
#define COMPAT_PARALLEL_VACUUM VACUUM_OPTION_PARALLEL_BULKDEL
#endif

/* Returns the status of a session by its position in the list, or NULL if it has ended. */
static inline const PgBackendStatus *
compat_backend_status(int position)
{
#if PG_VERSION_NUM >= 160000
	LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(position);
#else
	LocalPgBackendStatus *local = pgstat_fetch_stat_local_beentry(position);
#endif
	return local == NULL ? NULL : &local->backendStatus;
}

/* Temporary files that several processes share by name; the functions were renamed in 15. */
#if PG_VERSION_NUM >= 150000
#define compat_create_shared_file(files, name) BufFileCreateFileSet(&(files)->fs, name)
#define compat_open_shared_file(files, name) BufFileOpenFileSet(&(files)->fs, name, O_RDONLY, false)
#else
#define compat_create_shared_file(files, name) BufFileCreateShared(files, name)
#define compat_open_shared_file(files, name) BufFileOpenShared(files, name, O_RDONLY)
#endif

/* Returns whether a role is the owner of a table or a member of the owner. */
static inline bool
compat_owns_table(Oid table, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, table, role);
#else
	return pg_class_ownercheck(table, role);
#endif
}

/* Returns whether a role has the privilege MAINTAIN on a table, new in 17. */
static inline bool
compat_may_maintain(Oid table, Oid role)
{
#if PG_VERSION_NUM >= 170000
	return pg_class_aclcheck(table, role, ACL_MAINTAIN) == ACLCHECK_OK;
#else
	return false;
#endif
}

#endif
