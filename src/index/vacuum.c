/*
 * vacuum.c: marking dead documents, and cleaning up after them.
 */
#include "index/index.h"

#include "commands/vacuum.h"

#include "index/segment_walk.h"

typedef struct Vacuum
{
	Relation index;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void *state;
	uint32 stride; /* of the tail at hand */
	uint32 dead;   /* of the segment at hand, all told */
} Vacuum;

/* ---- Marking ------------------------------------------------------------ */

/*
 * Ask of every living document whether it is dead; *dead says of which.
 * Returns how many are newly dead.
 */
static int
find_dead(Vacuum *v, Page page, bool *dead)
{
	int found = 0;

	for (int i = 0; i < page_trailer(page)->count; i++)
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

/* Mark documents of an exclusively locked page. */
static void
mark_dead(Vacuum *v, Buffer buffer, const bool *dead, int count)
{
	GenericXLogState *state = GenericXLogStart(v->index);
	Page page = GenericXLogRegisterBuffer(state, buffer, 0);

	for (int i = 0; i < count; i++)
		if (dead[i])
			page_mark_dead(page, i);
	GenericXLogFinish(state);
}

/*
 * Vacuum a page that is share-locked, and leave it share-locked.  It may take
 * inserts while its lock is changed, but only behind the documents seen.
 */
static void
vacuum_page(Vacuum *v, Buffer buffer, uint32 stride)
{
	bool dead[DOCUMENTS_PER_PAGE_MAX];
	int count = page_trailer(BufferGetPage(buffer))->count;
	int found;

	page_check_documents(v->index, buffer, stride);
	found = find_dead(v, BufferGetPage(buffer), dead);
	v->stats->tuples_removed += found;
	if (found == 0)
		return;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	mark_dead(v, buffer, dead, count);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Returns how many documents of the segment are dead now. */
static uint32
vacuum_segment(Vacuum *v, const IndexMeta *meta, const SegmentEntry *entry)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, v->index, meta, entry))
		page_corrupt(v->index, entry->root, "segment is not there");
	v->dead = 0;
	for (uint32 p = 0; p < walk.segment.root.document_pages; p++)
	{
		Buffer buffer = walk_documents(&walk, p);

		if (!BufferIsValid(buffer))
			page_corrupt(v->index, page_refused(), "page of a listed segment belongs to another");
		vacuum_page(v, buffer, walk.segment.root.stride);
		UnlockReleaseBuffer(buffer);
		compat_vacuum_delay();
	}
	walk_end(&walk);
	return v->dead;
}

static void
visit_tail_page(void *state, Buffer buffer)
{
	Vacuum *v = state;

	vacuum_page(v, buffer, v->stride);
}

static void
vacuum_tail(Vacuum *v, const TailEntry *tail)
{
	v->stride = tail->stride;
	if (!tail_walk(v->index, tail, visit_tail_page, v))
		page_corrupt(v->index, tail->first, "page of a tail belongs to another");
}

/* Tell the metapage how many documents of each segment are dead. */
static void
record_dead(Relation index, const IndexMeta *counted)
{
	MetaChange change = meta_begin(index);

	for (uint32 i = 0; i < counted->segments; i++)
	{
		SegmentEntry *entry = meta_segment(change.meta, counted->segment[i].owner);

		/* Upkeep is locked out. */
		if (entry == NULL)
			page_corrupt(index, META_BLOCK, "a segment is not listed any more");
		entry->dead = counted->segment[i].dead;
	}
	meta_commit(&change);
}

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
	vacuum_tail(&v, &meta->frozen);
	vacuum_tail(&v, &meta->tail);
	record_dead(info->index, meta);
	upkeep_unlock(info->index);
	pfree(meta);
	return stats;
}

/* ---- Cleaning up -------------------------------------------------------- */

/* Documents that no vacuum has counted. */
static double
documents_listed(const IndexMeta *meta)
{
	double documents = (double) (meta->tail.pages + meta->frozen.pages) *
		documents_per_page(document_stride(&meta->shape));

	for (uint32 i = 0; i < meta->segments; i++)
		documents += segment_living(&meta->segment[i]);
	return documents;
}

IndexBulkDeleteResult *
neardup_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Upkeep upkeep = upkeep_of(info->index, UPKEEP_BY_VACUUM);
	IndexMeta *meta;

	if (info->analyze_only)
		return stats;
	upkeep_lock(info->index);
	shrink_gather(&upkeep, info->strategy);
	upkeep_run(&upkeep, false);
	meta = meta_read(info->index);
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_index_tuples = documents_listed(meta);
		stats->estimated_count = true;
	}
	stats->pages_free = shrink_find_free(&upkeep, info->strategy);
	upkeep_unlock(info->index);
	shrink_truncate(info->index);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	pfree(meta);
	return stats;
}
