/*
 * maintenance.c: when a tail is sealed, and which segments are merged.
 */
#include "index/index.h"
#include "store/segment_write.h"

/* This many segments of one tier are merged into one of the next. */
#define TIER_SEGMENTS 8
#define TIER_LOG 3 /* log2(TIER_SEGMENTS) */

/*
 * Vacuum merges a segment with all smaller ones if these hold this part of its documents.  In
 * the benchmark "churn" (1 % of 100,000 rows changed a round), a query then visits at most 1.4 times
 * as many pages as of a fresh index, and vacuums write 1.3 times as much WAL as the changes.
 * A fourth gives 1.7 and 1.1, a sixteenth 1.2 and 2.4.
 */
#define SMALLER_PART 8

/* Makes the tail the closed tail, so that inserts begin a new one. */
static void
close_tail(Relation index)
{
	MetaChange change = meta_begin(index);

	if (change.meta->tail.stamp != 0)
	{
		change.meta->closed = change.meta->tail;
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

/* Returns how many numbers the documents of a segment have. */
static uint64
segment_numbers(const IndexMeta *meta, const SegmentEntry *entry)
{
	return (uint64) entry->document_pages * documents_per_page(meta_stride(meta));
}

/* Finds segments to merge, of the lowest tier that has enough of them; false if none has. */
static bool
find_tier(const Maintenance *maintenance, const IndexMeta *meta, MergeSources *sources)
{
	uint32 most;

	if (meta->segments < TIER_SEGMENTS)
		return false;
	most = merged_documents_max(maintenance, meta);
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
			sources->stamp[sources->count++] = entry->stamp;
			if (sources->count == TIER_SEGMENTS)
				return true;
		}
	}
	return false;
}

/* Orders segments by the number of their live documents. */
static int
compare_live(const void *a, const void *b)
{
	uint32 x = segment_live(*(const SegmentEntry *const *) a);
	uint32 y = segment_live(*(const SegmentEntry *const *) b);

	return (x > y) - (x < y);
}

/*
 * Finds segments for vacuum to merge: the largest segment of which a third is dead, or beside
 * which the smaller ones hold a part that matters, and all that are smaller.  False if there
 * is none.
 */
static bool
find_smaller(const Maintenance *maintenance, const IndexMeta *meta, MergeSources *sources)
{
	uint32 most = merged_documents_max(maintenance, meta);
	const SegmentEntry *entry[SEGMENTS_MAX];
	uint64 smaller = 0;
	uint64 numbers = 0;

	for (uint32 i = 0; i < meta->segments; i++)
		entry[i] = &meta->segment[i];
	qsort(entry, meta->segments, sizeof(entry[0]), compare_live);
	sources->count = 0;
	for (uint32 i = 0; i < meta->segments; i++)
	{
		numbers += segment_numbers(meta, entry[i]);
		if (numbers > most)
			break;
		sources->stamp[i] = entry[i]->stamp;
		if (segment_is_dead(entry[i]) ||
			(i > 0 && smaller * SMALLER_PART >= segment_live(entry[i])))
			sources->count = i + 1;
		smaller += segment_live(entry[i]);
	}
	return sources->count > 0;
}

/* Finds a segment of which a third is dead, to be written again by itself. */
static bool
find_dead(const IndexMeta *meta, MergeSources *sources)
{
	for (uint32 i = 0; i < meta->segments; i++)
		if (segment_is_dead(&meta->segment[i]))
		{
			sources->stamp[0] = meta->segment[i].stamp;
			sources->count = 1;
			return true;
		}
	return false;
}

/* Seals the tail if that is due or was begun before; false if it is not, or gives way. */
static bool
seal(Maintenance *maintenance, bool any)
{
	IndexMeta *meta = maintenance_meta_read(maintenance->index);
	MergeSources sources = {.closed = meta->closed.stamp != 0};

	if (meta->segments >= SEGMENTS_MAX - 1)
		segments_too_many(maintenance->index, &meta->shape, maintenance->memory);
	if (!sources.closed && (tail_is_due(meta) || (any && meta->tail.stamp != 0)))
	{
		close_tail(maintenance->index);
		sources.closed = true;
	}
	pfree(meta);
	return sources.closed && merge_sources(maintenance, &sources);
}

/* Merges segments, or rewrites one, if that is due; false if it is not, or gives way. */
static bool
merge(Maintenance *maintenance)
{
	IndexMeta *meta = maintenance_meta_read(maintenance->index);
	MergeSources sources = {.closed = false};
	bool due =
		(maintenance->by == MAINTENANCE_BY_VACUUM && find_smaller(maintenance, meta, &sources)) ||
		find_tier(maintenance, meta, &sources) || find_dead(meta, &sources);

	pfree(meta);
	return due && merge_sources(maintenance, &sources);
}

/* Seals the tail and merges segments as long as that is due; seal_any: seals any tail. */
void
maintenance_run(Maintenance *maintenance, bool seal_any)
{
	while (maintenance_goes_on(maintenance) &&
		   (seal(maintenance, seal_any) || (!maintenance->gave_way && merge(maintenance))))
		seal_any = false;
}

/* Seals the tail if that is due; merges only if there are too many segments. */
void
maintenance_seal(Maintenance *maintenance)
{
	IndexMeta *meta = maintenance_meta_read(maintenance->index);
	bool many = meta->segments > SEGMENTS_MAX / 2;

	pfree(meta);
	if (many)
		maintenance_run(maintenance, false);
	else
		seal(maintenance, false);
}
