/*
 * vacuum.c: mark dead documents, and clean up after them.
 */
#include "index/index.h"

#include "commands/vacuum.h"

#include "index/segment_read.h"

typedef struct Vacuum
{
	Relation index;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void *state;
	uint32 stride; /* of the segment or tail being vacuumed */
	uint32 dead;   /* documents dead in it, by this vacuum or earlier ones */
} Vacuum;

/* ---- Marking ------------------------------------------------------------ */

/*
 * Asks the callback about every document that is not marked, and notes in dead[] which of
 * them to mark.  Returns their number.
 */
static int
find_dead(Vacuum *v, Page page, bool *dead)
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
	found = find_dead(v, BufferGetPage(buffer), dead);
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
		upkeep_replaced(v->index, entry->stamp);
	v->stride = walk.segment.root.stride;
	v->dead = 0;
	for (uint32 p = 0; p < walk.segment.root.document_pages; p++)
	{
		Buffer buffer = walk_documents(&walk, p);

		if (!BufferIsValid(buffer))
			upkeep_replaced(v->index, entry->stamp);
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
		upkeep_replaced(v->index, tail->stamp);
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
			upkeep_replaced(index, counted->segment[i].stamp);
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
	upkeep_lock(info->index);
	meta = meta_read(info->index);
	for (uint32 i = 0; i < meta->segments; i++)
		meta->segment[i].dead = vacuum_segment(&v, meta, &meta->segment[i]);
	vacuum_tail(&v, &meta->closed);
	vacuum_tail(&v, &meta->tail);
	record_dead(info->index, meta);
	upkeep_unlock(info->index);
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

/* amvacuumcleanup: does upkeep, and records free pages. */
IndexBulkDeleteResult *
neardup_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Upkeep upkeep = upkeep_of(info->index, UPKEEP_BY_VACUUM);
	IndexMeta *meta;

	if (info->analyze_only)
		return stats;
	upkeep_lock(info->index);
	upkeep_run(&upkeep, false);
	meta = meta_read(info->index);
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_index_tuples = documents_listed(meta);
		stats->estimated_count = true;
	}
	stats->pages_free = free_pages_find(&upkeep, info->strategy);
	upkeep_unlock(info->index);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	pfree(meta);
	return stats;
}
