/*
 * upkeep.c: the life of segments: tails are sealed, segments of like size
 * merged, and what they leave behind goes to the free space map.
 *
 * One process at a time does this, under a heavyweight lock that neither
 * readers nor inserters take.  Nothing is changed in place: a new segment is
 * written beside the old ones, and one metapage record puts it in their stead.
 */
#include "index/index.h"

#include "miscadmin.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

/* This many segments of one tier are merged into one of the next. */
#define TIER_SEGMENTS 4
#define TIER_LOG 2 /* log2 of it */

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

/* ---- Changing the metapage ---------------------------------------------- */

/* A number for a segment to be written; until it is there its pages are taken. */
static uint32
claim_owner(Relation index)
{
	MetaChange change = meta_begin(index);
	uint32 owner = change.meta->next_owner++;

	change.meta->writing = owner;
	meta_commit(&change);
	return owner;
}

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

/* ---- Sources ------------------------------------------------------------ */

/* What goes into a new segment, and what becomes free by it. */
typedef struct Merge
{
	Relation index;
	IndexMeta *live;
	SegmentWriter *writer;
	BlockNumber *freed;
	Size freed_count;
	Size freed_room;
	uint32 stride; /* of the page at hand */
} Merge;

static void
note_freed(Merge *merge, BlockNumber block)
{
	if (merge->freed_count == merge->freed_room)
	{
		merge->freed_room *= 2;
		merge->freed = repalloc_huge(merge->freed, merge->freed_room * sizeof(BlockNumber));
	}
	merge->freed[merge->freed_count++] = block;
}

/* Copy the living documents of a page; from a copy, to hold no lock meanwhile. */
static void
copy_documents(Merge *merge, Buffer buffer)
{
	PGAlignedBlock page;

	page_verify(merge->index, buffer, merge->stride);
	memcpy(page.data, BufferGetPage(buffer), BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	for (uint32 i = 0; i < page_trailer(page.data)->count; i++)
		if (!(tid_flags(page_tid(page.data, i)) & TID_DEAD))
			segment_add(merge->writer, page_tid(page.data, i),
						page_symbols(page.data, merge->stride, i));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Inserts may still have the page in mind: from now on it takes none. */
static void
close_page(Relation index, Buffer buffer)
{
	GenericXLogState *state;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	page_trailer(GenericXLogRegisterBuffer(state, buffer, 0))->flags |= PAGE_CLOSED;
	GenericXLogFinish(state);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

static void
copy_tail_page(void *state, Buffer buffer)
{
	Merge *merge = state;

	if (page_trailer(BufferGetPage(buffer))->count < documents_per_page(merge->stride))
		close_page(merge->index, buffer);
	note_freed(merge, BufferGetBlockNumber(buffer));
	copy_documents(state, buffer);
}

/* Documents that no vacuum has found dead. */
static uint32
living(const SegmentEntry *entry)
{
	return entry->documents - entry->dead;
}

static void
source_gone(Merge *merge, BlockNumber block)
{
	page_corrupt(merge->index, block, "page of a listed segment belongs to another");
}

static void
copy_tail(Merge *merge, const TailEntry *tail)
{
	merge->stride = tail->stride;
	if (!tail_walk(merge->index, tail, copy_tail_page, merge))
		source_gone(merge, tail->first);
}

static void
copy_segment(Merge *merge, const SegmentEntry *entry)
{
	Segment *segment = segment_open(merge->index, merge->live, entry);

	if (segment == NULL)
		source_gone(merge, entry->root);
	merge->stride = segment->root.stride;
	for (uint32 p = 0; p < segment->root.document_pages && living(entry) > 0; p++)
	{
		Buffer buffer = segment_page(merge->index, segment, p, PAGE_DOCUMENTS);

		if (!BufferIsValid(buffer))
			source_gone(merge, segment->map[p]);
		copy_documents(merge, buffer);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	for (uint32 p = 0; p < entry->pages - 1 - segment->root.map_pages; p++)
		note_freed(merge, segment->map[p]);
	for (uint32 p = 0; p < segment->root.map_pages; p++)
		note_freed(merge, segment->map_block[p]);
	note_freed(merge, entry->root);
}

/* ---- Replacing ---------------------------------------------------------- */

static void
remove_segment(IndexMeta *meta, uint32 owner)
{
	SegmentEntry *entry = meta_segment(meta, owner);

	if (entry != NULL)
		*entry = meta->segment[--meta->segments];
}

/* One record: the sources are out, the new segment is in, unless it is empty. */
static void
publish(Merge *merge, const SegmentEntry *entry, bool frozen, const uint32 *owners, int count)
{
	MetaChange change = meta_begin(merge->index);

	for (int i = 0; i < count; i++)
		remove_segment(change.meta, owners[i]);
	if (frozen)
	{
		memset(&change.meta->frozen, 0, sizeof(TailEntry));
		change.meta->frozen.first = change.meta->frozen.last = InvalidBlockNumber;
	}
	change.meta->writing = 0;
	if (entry->documents > 0)
		change.meta->segment[change.meta->segments++] = *entry;
	else
		note_freed(merge, entry->root);
	meta_commit(&change);
	for (Size i = 0; i < merge->freed_count; i++)
		RecordFreeIndexPage(merge->index, merge->freed[i]);
	IndexFreeSpaceMapVacuum(merge->index);
}

/* Write one segment of the frozen tail, where asked, and of segments. */
static void
replace(Relation index, bool frozen, const uint32 *owners, int count)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	uint32 owner = claim_owner(index);
	Merge merge = {.index = index, .live = meta_read(index), .freed_room = 1024};
	SegmentEntry entry;

	merge.freed = palloc(merge.freed_room * sizeof(BlockNumber));
	merge.writer =
		segment_begin(index, merge.live, owner, &merge.live->shape, RelationNeedsWAL(index));
	if (frozen)
		copy_tail(&merge, &merge.live->frozen);
	for (int i = 0; i < count; i++)
		copy_segment(&merge, meta_segment(merge.live, owners[i]));
	entry = segment_finish(merge.writer, (Size) maintenance_work_mem * 1024);
	publish(&merge, &entry, frozen, owners, count);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
}

/* ---- What is due -------------------------------------------------------- */

/* Segments of one tier are within a factor of TIER_SEGMENTS in size. */
static int
tier_of(const SegmentEntry *entry)
{
	return (31 - __builtin_clz(living(entry) | 1)) / TIER_LOG;
}

/* By their number and by memory; where segments have become many, memory has to wait. */
uint32
merged_documents_max(const IndexMeta *meta)
{
	Size by_memory = (Size) maintenance_work_mem * 1024 / (3 * sizeof(uint32));

	if (meta->segments > SEGMENTS_MAX / 2)
		return SEGMENT_DOCUMENTS_MAX;
	return (uint32) Min(by_memory, SEGMENT_DOCUMENTS_MAX);
}

/* The segments of the lowest tier that has enough of them to merge. */
static int
segments_to_merge(const IndexMeta *meta, uint32 *owners)
{
	for (int tier = 0; tier < 32 / TIER_LOG; tier++)
	{
		uint64 documents = 0;
		int count = 0;

		for (uint32 i = 0; i < meta->segments && count < TIER_SEGMENTS; i++)
			if (tier_of(&meta->segment[i]) == tier &&
				documents + living(&meta->segment[i]) <= merged_documents_max(meta))
			{
				documents += living(&meta->segment[i]);
				owners[count++] = meta->segment[i].owner;
			}
		if (count == TIER_SEGMENTS)
			return count;
	}
	return 0;
}

/* A segment that is a third dead is worth writing again. */
static int
segment_to_clean(const IndexMeta *meta, uint32 *owners)
{
	for (uint32 i = 0; i < meta->segments; i++)
		if (meta->segment[i].dead * 3 > meta->segment[i].documents)
		{
			owners[0] = meta->segment[i].owner;
			return 1;
		}
	return 0;
}

/* Seal the tail, where that is due or was begun; false where it is not. */
static bool
seal(Relation index, bool any)
{
	IndexMeta *meta = meta_read(index);
	bool frozen = meta->frozen.owner != 0;

	if (meta->segments >= SEGMENTS_MAX - 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" has too many segments", RelationGetRelationName(index)),
				 errhint("Raise maintenance_work_mem and REINDEX.")));
	if (!frozen && (tail_is_due(meta) || (any && meta->tail.owner != 0)))
	{
		freeze_tail(index);
		frozen = true;
	}
	pfree(meta);
	if (frozen)
		replace(index, true, NULL, 0);
	return frozen;
}

/* Merge or clean segments, where that is due; false where it is not. */
static bool
merge(Relation index)
{
	IndexMeta *meta = meta_read(index);
	uint32 owners[TIER_SEGMENTS];
	int count = segments_to_merge(meta, owners);

	if (count == 0)
		count = segment_to_clean(meta, owners);
	pfree(meta);
	if (count > 0)
		replace(index, false, owners, count);
	return count > 0;
}

void
upkeep_run(Relation index, bool seal_any)
{
	while (seal(index, seal_any) || merge(index))
		seal_any = false;
}

void
upkeep_seal(Relation index)
{
	IndexMeta *meta = meta_read(index);
	bool many = meta->segments > SEGMENTS_MAX / 2;

	pfree(meta);
	if (many)
		upkeep_run(index, false);
	else
		seal(index, false);
}

/* ---- All of it ---------------------------------------------------------- */

void
upkeep_drop(Relation index)
{
	IndexMeta *meta = meta_read(index);
	uint32 owners[SEGMENTS_MAX];
	int count = 0;

	for (uint32 i = 0; i < meta->segments; i++)
		if (living(&meta->segment[i]) == 0)
			owners[count++] = meta->segment[i].owner;
	if (count > 0)
		replace(index, false, owners, count);
	pfree(meta);
}

/* At most: how full its pages are is not known. */
static uint64
tail_documents(const TailEntry *tail)
{
	return tail->owner == 0 ? 0 : (uint64) tail->pages * documents_per_page(tail->stride);
}

void
upkeep_gather(Relation index)
{
	uint32 owners[SEGMENTS_MAX];
	uint64 documents = 0;
	int count = 0;
	IndexMeta *meta = meta_read(index);
	bool frozen;

	if (meta->frozen.owner == 0)
		freeze_tail(index);
	pfree(meta);
	meta = meta_read(index);
	frozen = meta->frozen.owner != 0;
	for (uint32 i = 0; i < meta->segments; i++)
	{
		const SegmentEntry *entry = &meta->segment[i];

		if (count > 0 && documents + living(entry) > merged_documents_max(meta))
		{
			replace(index, false, owners, count);
			documents = count = 0;
		}
		documents += living(entry);
		owners[count++] = entry->owner;
	}
	if (count > 0 && documents + tail_documents(&meta->frozen) > merged_documents_max(meta))
	{
		replace(index, false, owners, count);
		count = 0;
	}
	if (frozen || count > 0)
		replace(index, frozen, owners, count);
	pfree(meta);
}
