/*
 * upkeep.c: the life of segments: when tails are sealed, and segments of like size
 * merged.
 *
 * One process at a time does this, under a heavyweight lock that neither
 * readers nor inserters take.
 */
#include "index/index.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/lmgr.h"
#include "storage/lock.h"

/* This many segments of one tier are merged into one of the next. */
#define TIER_SEGMENTS 4
#define TIER_LOG 2 /* log2 of it */

/* ---- Who, and how ------------------------------------------------------- */

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

/* Kilobytes; autovacuum may have a setting of its own. */
static int
work_mem_of(UpkeepBy by)
{
	if (by == UPKEEP_BY_VACUUM && MyBackendType == B_AUTOVAC_WORKER && autovacuum_work_mem != -1)
		return autovacuum_work_mem;
	return maintenance_work_mem;
}

Upkeep
upkeep_of(Relation index, UpkeepBy by)
{
	Upkeep upkeep = {.index = index, .by = by, .memory = (Size) work_mem_of(by) * 1024};

	return upkeep;
}

/*
 * Does somebody wait for a lock that upkeep alone keeps from him?  A worker holds the
 * index and the database, vacuum the table; all in modes that are in the main lock table,
 * where waiters are counted.
 */
static bool
someone_waits(const Upkeep *upkeep)
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
	upkeep->gave_way = upkeep->gave_way || someone_waits(upkeep);
	return !upkeep->gave_way;
}

void
upkeep_too_many_segments(const Upkeep *upkeep, const IndexMeta *meta)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("index \"%s\" has too many segments", RelationGetRelationName(upkeep->index)),
			 errhint("%s", segment_size_hint(upkeep->index, &meta->shape, upkeep->memory))));
}

/* ---- What is due -------------------------------------------------------- */

/* Put the tail aside, so that inserts begin a new one. */
static void
freeze_tail(Relation index)
{
	MetaChange change = meta_begin(index);

	if (change.meta->tail.owner != 0)
	{
		change.meta->frozen = change.meta->tail;
		meta_no_tail(change.meta);
	}
	meta_commit(&change);
}

/* Segments of one tier are within a factor of TIER_SEGMENTS in size. */
static int
tier_of(const SegmentEntry *entry)
{
	return (31 - __builtin_clz(segment_living(entry) | 1)) / TIER_LOG;
}

/* Where segments have become many, memory has to wait. */
uint32
merged_documents_max(const Upkeep *upkeep, const IndexMeta *meta)
{
	bool many = meta->segments > SEGMENTS_MAX / 2;

	return segment_documents_max(upkeep->index, &meta->shape,
								 many ? SEGMENT_MEMORY_ANY : upkeep->memory);
}

/* The segments of a tier, if there are enough of them to merge. */
static bool
find_tier(const IndexMeta *meta, int tier, uint32 most, MergeSources *sources)
{
	uint64 documents = 0;

	sources->count = 0;
	for (uint32 i = 0; i < meta->segments && sources->count < TIER_SEGMENTS; i++)
		if (tier_of(&meta->segment[i]) == tier &&
			documents + segment_living(&meta->segment[i]) <= most)
		{
			documents += segment_living(&meta->segment[i]);
			sources->owner[sources->count++] = meta->segment[i].owner;
		}
	return sources->count == TIER_SEGMENTS;
}

/* Of the lowest tier that has enough of them. */
static bool
find_tiers(const Upkeep *upkeep, const IndexMeta *meta, MergeSources *sources)
{
	uint32 most;

	if (meta->segments < TIER_SEGMENTS)
		return false;
	most = merged_documents_max(upkeep, meta);
	for (int tier = 0; tier < 32 / TIER_LOG; tier++)
		if (find_tier(meta, tier, most, sources))
			return true;
	return false;
}

/* A segment that is a third dead is worth writing again. */
static bool
find_dirty(const IndexMeta *meta, MergeSources *sources)
{
	for (uint32 i = 0; i < meta->segments; i++)
		if (meta->segment[i].dead * UINT64_C(3) > meta->segment[i].documents)
		{
			sources->owner[0] = meta->segment[i].owner;
			sources->count = 1;
			return true;
		}
	return false;
}

/* Seal the tail, where that is due or was begun; false where it is not. */
static bool
seal(Upkeep *upkeep, bool any)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = meta->frozen.owner != 0};

	if (meta->segments >= SEGMENTS_MAX - 1)
		upkeep_too_many_segments(upkeep, meta);
	if (!sources.frozen && (tail_is_due(meta) || (any && meta->tail.owner != 0)))
	{
		freeze_tail(upkeep->index);
		sources.frozen = true;
	}
	pfree(meta);
	return sources.frozen && merge_sources(upkeep, &sources);
}

/* Merge or clean segments, where that is due; false where it is not. */
static bool
merge(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = false};
	bool due = find_tiers(upkeep, meta, &sources) || find_dirty(meta, &sources);

	pfree(meta);
	return due && merge_sources(upkeep, &sources);
}

void
upkeep_run(Upkeep *upkeep, bool seal_any)
{
	while (upkeep_goes_on(upkeep) && (seal(upkeep, seal_any) || merge(upkeep)))
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

/* ---- All of it ---------------------------------------------------------- */

void
upkeep_drop(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = false};

	for (uint32 i = 0; i < meta->segments; i++)
		if (segment_living(&meta->segment[i]) == 0)
			sources.owner[sources.count++] = meta->segment[i].owner;
	pfree(meta);
	if (sources.count > 0 && upkeep_goes_on(upkeep))
		merge_sources(upkeep, &sources);
}

/* At most: how full its pages are is not known. */
static uint64
tail_documents(const TailEntry *tail)
{
	return tail->owner == 0 ? 0 : (uint64) tail->pages * documents_per_page(tail->stride);
}

/* Write these again, unless there are none, and begin anew. */
static bool
gather(Upkeep *upkeep, MergeSources *sources)
{
	bool goes_on = upkeep_goes_on(upkeep);

	if (goes_on && (sources->frozen || sources->count > 0))
		goes_on = merge_sources(upkeep, sources);
	sources->count = 0;
	return goes_on;
}

void
upkeep_gather(Upkeep *upkeep)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	MergeSources sources = {.frozen = false};
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

		if (documents + segment_living(entry) > most)
		{
			if (!gather(upkeep, &sources))
				return;
			documents = 0;
		}
		documents += segment_living(entry);
		sources.owner[sources.count++] = entry->owner;
	}
	if (documents + tail_documents(&meta->frozen) > most && !gather(upkeep, &sources))
		return;
	sources.frozen = meta->frozen.owner != 0;
	gather(upkeep, &sources);
	pfree(meta);
}
