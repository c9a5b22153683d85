/*
 * upkeep.c: when a tail is sealed, which segments are merged, and for whom upkeep gives way.
 *
 * One process at a time does upkeep, under a heavyweight lock that neither searches nor
 * inserts take.
 */
#include "index/index.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/lmgr.h"
#include "storage/lock.h"

/* So many segments of one tier are merged into one of the next. */
#define TIER_SEGMENTS 8
#define TIER_LOG 3 /* log2(TIER_SEGMENTS) */

/* ---- Locks and limits --------------------------------------------------- */

void
upkeep_lock(Relation index)
{
	LockPage(index, META_BLOCK, ExclusiveLock);
}

bool
upkeep_lock_conditionally(Relation index)
{
	return ConditionalLockPage(index, META_BLOCK, ExclusiveLock);
}

void
upkeep_unlock(Relation index)
{
	UnlockPage(index, META_BLOCK, ExclusiveLock);
}

Upkeep
upkeep_of(Relation index, UpkeepBy by)
{
	int kilobytes = maintenance_work_mem;

	if (by == UPKEEP_BY_VACUUM && MyBackendType == B_AUTOVAC_WORKER && autovacuum_work_mem != -1)
		kilobytes = autovacuum_work_mem;
	return (Upkeep){.index = index, .by = by, .memory = (Size) kilobytes * 1024};
}

/*
 * Returns whether another process waits for a lock that is held only because of the upkeep:
 * a worker's on the index and the database, vacuum's on the table.  Their modes are strong
 * enough to be kept in the main lock table, where waiters are counted.
 */
static bool
has_waiters(const Upkeep *upkeep)
{
	LOCKTAG table;

	switch (upkeep->by)
	{
		case UPKEEP_BY_WORKER:
			return worker_keeps_waiting(upkeep->index);
		case UPKEEP_BY_VACUUM:
			SET_LOCKTAG_RELATION(table, MyDatabaseId, upkeep->index->rd_index->indrelid);
			return LockHasWaiters(&table, ShareUpdateExclusiveLock, false);
		default:
			return false;
	}
}

bool
upkeep_goes_on(Upkeep *upkeep)
{
	if (upkeep->by == UPKEEP_BY_VACUUM && !upkeep->gave_way)
		compat_vacuum_delay();
	CHECK_FOR_INTERRUPTS();
	if (!upkeep->gave_way && has_waiters(upkeep))
	{
		ereport(DEBUG1,
				(errmsg_internal("upkeep of index \"%s\" gives way",
								 RelationGetRelationName(upkeep->index))));
		upkeep->gave_way = true;
	}
	return !upkeep->gave_way;
}

void
upkeep_replaced(Relation index, uint32 owner)
{
	elog(ERROR, "segment or tail %u of index \"%s\" was replaced during its upkeep", owner,
		 RelationGetRelationName(index));
}

/* ---- Sealing and merging ------------------------------------------------ */

/* Makes the tail the frozen tail, so that inserts begin a new one. */
static void
freeze_tail(Relation index)
{
	MetaChange change = meta_begin(index);

	if (change.meta->tail.owner != 0)
	{
		change.meta->frozen = change.meta->tail;
		meta_clear_tail(change.meta);
	}
	meta_commit(&change);
}

/* Segments of one tier differ in size by less than a factor of TIER_SEGMENTS. */
static int
tier_of(const SegmentEntry *entry)
{
	return (31 - __builtin_clz(segment_live(entry) | 1)) / TIER_LOG;
}

/* An index with many segments merges them even beyond its memory, lest there be too many. */
uint32
merged_documents_max(const Upkeep *upkeep, const IndexMeta *meta)
{
	bool many = meta->segments > SEGMENTS_MAX / 2;

	return segment_documents_max(upkeep->index, &meta->shape,
								 many ? SEGMENT_MEMORY_ANY : upkeep->memory);
}

/* Returns how many numbers the documents of a segment have. */
static uint64
segment_numbers(const IndexMeta *meta, const SegmentEntry *entry)
{
	return (uint64) entry->document_pages * documents_per_page(meta_stride(meta));
}

/* Finds segments to merge, of the lowest tier that has enough of them; false if none has. */
static bool
find_tier(const Upkeep *upkeep, const IndexMeta *meta, MergeSources *sources)
{
	uint32 most;

	if (meta->segments < TIER_SEGMENTS)
		return false;
	most = merged_documents_max(upkeep, meta);
	for (int tier = 0; tier < 32 / TIER_LOG; tier++)
	{
		uint64 documents = 0;

		sources->count = 0;
		for (uint32 i = 0; i < meta->segments; i++)
		{
			const SegmentEntry *entry = &meta->segment[i];

			if (tier_of(entry) != tier || documents + segment_numbers(meta, entry) > most)
				continue;
			documents += segment_numbers(meta, entry);
			sources->owner[sources->count++] = entry->owner;
			if (sources->count == TIER_SEGMENTS)
				return true;
		}
	}
	return false;
}

/* Finds a segment of which more than a third is dead, to be written again by itself. */
static bool
find_dead(const IndexMeta *meta, MergeSources *sources)
{
	for (uint32 i = 0; i < meta->segments; i++)
		if (meta->segment[i].dead * UINT64_C(3) > meta->segment[i].documents)
		{
			sources->copied = true;
			sources->owner[0] = meta->segment[i].owner;
			sources->count = 1;
			return true;
		}
	return false;
}

/* Seals the tail if that is due or was begun before; false if it is not, or gives way. */
static bool
seal(Upkeep *upkeep, bool any)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = meta->frozen.owner != 0};

	if (meta->segments >= SEGMENTS_MAX - 1)
		segments_too_many(upkeep->index, &meta->shape, upkeep->memory);
	if (!sources.frozen && (tail_is_due(meta) || (any && meta->tail.owner != 0)))
	{
		freeze_tail(upkeep->index);
		sources.frozen = true;
	}
	pfree(meta);
	return sources.frozen && merge_sources(upkeep, &sources);
}

/* Merges segments, or rewrites one, if that is due; false if it is not, or gives way. */
static bool
merge(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = false};
	bool due = find_tier(upkeep, meta, &sources) || find_dead(meta, &sources);

	pfree(meta);
	return due && merge_sources(upkeep, &sources);
}

void
upkeep_run(Upkeep *upkeep, bool seal_any)
{
	while (upkeep_goes_on(upkeep) &&
		   (seal(upkeep, seal_any) || (!upkeep->gave_way && merge(upkeep))))
		seal_any = false;
}

void
upkeep_seal(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	bool many = meta->segments > SEGMENTS_MAX / 2;

	pfree(meta);
	if (many)
		upkeep_run(upkeep, false);
	else
		seal(upkeep, false);
}

/* ---- All segments ------------------------------------------------------- */

void
upkeep_drop(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = false};

	for (uint32 i = 0; i < meta->segments; i++)
		if (segment_live(&meta->segment[i]) == 0)
			sources.owner[sources.count++] = meta->segment[i].owner;
	pfree(meta);
	if (sources.count > 0 && upkeep_goes_on(upkeep))
		merge_sources(upkeep, &sources);
}

/* Returns how many documents a tail has at most: how full its pages are is not known. */
static uint64
tail_documents(const TailEntry *tail)
{
	return tail->owner == 0 ? 0 : (uint64) tail->pages * documents_per_page(tail->stride);
}

/* Merges the sources collected so far, if any, and empties the list; false if upkeep gives way. */
static bool
merge_collected(Upkeep *upkeep, MergeSources *sources)
{
	bool goes_on = upkeep_goes_on(upkeep);

	if (goes_on && (sources->frozen || sources->count > 0))
		goes_on = merge_sources(upkeep, sources);
	sources->count = 0;
	return goes_on;
}

void
upkeep_compact(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.copied = true};
	uint64 documents = 0;
	uint32 most;

	if (meta->frozen.owner == 0)
		freeze_tail(upkeep->index);
	pfree(meta);
	meta = upkeep_meta_read(upkeep->index);
	most = merged_documents_max(upkeep, meta);
	for (uint32 i = 0; i < meta->segments; i++)
	{
		const SegmentEntry *entry = &meta->segment[i];

		if (documents + segment_live(entry) > most)
		{
			if (!merge_collected(upkeep, &sources))
				return;
			documents = 0;
		}
		documents += segment_live(entry);
		sources.owner[sources.count++] = entry->owner;
	}
	if (documents + tail_documents(&meta->frozen) > most && !merge_collected(upkeep, &sources))
		return;
	sources.frozen = meta->frozen.owner != 0;
	merge_collected(upkeep, &sources);
	pfree(meta);
}
