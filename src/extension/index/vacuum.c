/*
 * vacuum.c: mark dead documents, and clean up after them.
 */
#include "index/index.h"

#include "access/xloginsert.h"
#include "commands/vacuum.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "store/segment_read.h"

typedef struct Vacuum
{
	Relation index;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void *state;
	uint32 stride; /* the stride of the segment or tail being vacuumed */
	uint32 dead;   /* documents dead in it, by this vacuum or earlier ones */
} Vacuum;

/* ---- Marking ------------------------------------------------------------ */

/*
 * Asks the callback about every document that is not marked, and notes in dead[] which of
 * them to mark.  Returns their number.
 */
static int
vacuum_find_dead(Vacuum *v, Page page, bool *dead)
{
	int found = 0;

	for (int i = 0; i < page_info(page)->count; i++)
	{
		ItemPointerData tid = tid_of_heap(page_tid(page, i));
		bool was_dead = (tid_flags(page_tid(page, i)) & TID_DEAD) != 0;

		dead[i] = !was_dead && v->callback(&tid, v->state);
		found += dead[i];
		v->dead += was_dead || dead[i];
		v->stats->num_index_tuples += !was_dead && !dead[i];
	}
	return found;
}

/*
 * Vacuums a share-locked page, and leaves it share-locked.  Inserts may append to it while
 * its lock is changed, but only behind the documents seen.
 */
static void
vacuum_page(void *state, Buffer buffer)
{
	Vacuum *v = state;
	bool dead[DOCUMENTS_PER_PAGE_MAX];
	int count = page_info(BufferGetPage(buffer))->count;
	int found;
	GenericXLogState *log;
	Page page;

	page_check_documents(v->index, buffer, v->stride);
	found = vacuum_find_dead(v, BufferGetPage(buffer), dead);
	v->stats->tuples_removed += found;
	if (found == 0)
		return;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	log = GenericXLogStart(v->index);
	page = GenericXLogRegisterBuffer(log, buffer, 0);
	for (int i = 0; i < count; i++)
		if (dead[i])
			tid_add_flags(page_tid(page, i), TID_DEAD);
	GenericXLogFinish(log);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Vacuums a segment; returns how many of its documents are dead now. */
static uint32
vacuum_segment(Vacuum *v, const IndexMeta *meta, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, v->index, meta, entry))
		maintenance_replaced(v->index, entry->stamp);
	v->stride = walk.segment.root.stride;
	v->dead = 0;
	for (uint32 p = 0; p < walk.segment.root.document_pages; p++)
	{
		Buffer buffer = walk_documents(&walk, p);

		if (!BufferIsValid(buffer))
			maintenance_replaced(v->index, entry->stamp);
		vacuum_page(v, buffer);
		UnlockReleaseBuffer(buffer);
		compat_vacuum_delay();
	}
	walk_end(&walk);
	return v->dead;
}

static void
vacuum_tail(Vacuum *v, const TailEntry *tail)
{
	v->stride = tail->stride;
	if (!tail_walk(v->index, tail, vacuum_page, v))
		maintenance_replaced(v->index, tail->stamp);
}

/* Writes to the metapage how many documents of each segment are dead. */
static void
record_dead(Relation index, const IndexMeta *counted)
{
	MetaChange change = meta_begin(index);

	for (uint32 i = 0; i < counted->segments; i++)
	{
		SegmentEntry *entry = meta_segment(change.meta, counted->segment[i].stamp);

		if (entry == NULL)
			maintenance_replaced(index, counted->segment[i].stamp);
		entry->dead = counted->segment[i].dead;
	}
	meta_commit(&change);
}

/* ambulkdelete: asks the callback about every document, and marks the dead ones. */
IndexBulkDeleteResult *
neardup_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *state)
{
	Vacuum v = {.index = info->index, .callback = callback, .state = state};
	IndexMeta *meta;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	v.stats = stats;
	stats->num_index_tuples = 0;
	maintenance_lock(info->index);
	meta = meta_read(info->index);
	for (uint32 i = 0; i < meta->segments; i++)
		meta->segment[i].dead = vacuum_segment(&v, meta, &meta->segment[i]);
	vacuum_tail(&v, &meta->closed);
	vacuum_tail(&v, &meta->tail);
	record_dead(info->index, meta);
	maintenance_unlock(info->index);
	pfree(meta);
	return stats;
}

/* ---- Cleaning up -------------------------------------------------------- */

/* Estimates the number of live documents, for a vacuum that had no dead rows to look for. */
static double
documents_listed(const IndexMeta *meta)
{
	double documents =
		(double) (meta->tail.pages + meta->closed.pages) * documents_per_page(meta_stride(meta));

	for (uint32 i = 0; i < meta->segments; i++)
		documents += segment_live(&meta->segment[i]);
	return documents;
}

typedef struct Cleanup
{
	Maintenance maintenance;
	BufferAccessStrategy strategy;
	BlockNumber pages_free;
} Cleanup;

static void
seal_and_merge(void *state)
{
	Cleanup *cleanup = state;

	maintenance_run(&cleanup->maintenance, false);
}

static void
find_free_pages(void *state)
{
	Cleanup *cleanup = state;

	cleanup->pages_free = free_pages_find(&cleanup->maintenance, cleanup->strategy);
}

/* Releases what a function has acquired: if it has failed, as the end of a subtransaction does. */
static void
release(ResourceOwner owner, bool failed)
{
	if (failed)
	{
		LWLockReleaseAll();
		pgstat_report_wait_end();
		compat_abort_buffer_io();
		UnlockBuffers();
		XLogResetInsertion();
	}
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, !failed, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, !failed, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, !failed, false);
	ResourceOwnerDelete(owner);
}

/* Returns whether an error says that there is no room: on disk, in memory, or in the metapage. */
static bool
is_lack_of_room(const ErrorData *error)
{
	int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_PROGRAM_LIMIT_EXCEEDED;
}

/*
 * Calls a function without which a vacuum can go on, and logs an error for lack of room.  A
 * vacuum must go on then: it alone keeps the table from growing, and transactions from wrapping
 * around.  Before PostgreSQL 18 a parallel vacuum can have no subtransactions.
 */
static void
try_with_room(Cleanup *cleanup, void (*function)(void *state))
{
	MemoryContext before = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(before, "neardup cleanup", ALLOCSET_SMALL_SIZES);
	ResourceOwner owner = CurrentResourceOwner;
	ResourceOwner own = ResourceOwnerCreate(owner, "neardup cleanup");
	ErrorData *volatile error = NULL;

	CurrentResourceOwner = own;
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		function(cleanup);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (!is_lack_of_room(error))
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	release(own, error != NULL);
	if (error != NULL)
		ereport(LOG,
				(errmsg("vacuum of index \"%s\" goes on without merging its segments",
						RelationGetRelationName(cleanup->maintenance.index)),
				 errdetail("%s.", error->message)));
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
}

/* amvacuumcleanup: does maintenance, and records free pages. */
IndexBulkDeleteResult *
neardup_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Cleanup cleanup = {.maintenance = maintenance_of(info->index, MAINTENANCE_BY_VACUUM),
					   .strategy = info->strategy};
	IndexMeta *meta;

	if (info->analyze_only)
		return stats;
	maintenance_lock(info->index);
	try_with_room(&cleanup, seal_and_merge);
	meta = maintenance_meta_read(info->index);
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_index_tuples = documents_listed(meta);
		stats->estimated_count = true;
	}
	try_with_room(&cleanup, find_free_pages);
	stats->pages_free = cleanup.pages_free;
	maintenance_unlock(info->index);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	pfree(meta);
	return stats;
}
