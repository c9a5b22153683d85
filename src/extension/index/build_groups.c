/*
 * build_groups.c: the second half of a build: groups, maps, roots and the metapage.
 *
 * Once all documents are written, the leader chooses the groups of each segment.  Then each
 * participant sorts and writes a share of the groups to new pages, and lists these in maps of
 * its own.
 */
#include "index/build.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/indexfsm.h"

#include "store/sets.h"

/* ---- Layout ------------------------------------------------------------- */

/* Returns how many participants can sort at the same time, each at least one group. */
static int
sorters(const BuildShared *shared)
{
	Size largest = 1;

	for (uint32 i = 0; i < shared->segments; i++)
	{
		const SegmentRoot *root = &shared->segment[i].root;
		Grouping grouping = root_grouping(root, &shared->shape);

		largest = Max(largest,
					  root->elements > 0 ? set_sort_memory(root, 1) :
										   group_sort_memory(root_numbers(root), &grouping, 1));
	}
	return (int) Max(1, Min(shared->participants, shared->memory / largest));
}

/* The leader chooses the groups of each segment. */
void
build_layout(Build *build)
{
	BuildShared *shared = build->shared;
	BlockNumber documents = META_BLOCK + 1;
	uint64 postings = 0;

	if (!is_leader(build))
		return;
	if (build->sort != NULL)
		set_build_write(build);
	else
		build_write_last_pages(build);
	for (uint32 i = 0; i < shared->segments; i++)
	{
		BuildSegment *segment = &shared->segment[i];
		SegmentRoot *root = &segment->root;

		root->stride = build->stride;
		segment_lay_out(build->index, &shared->shape, root);
		segment->elements = documents;
		segment->documents = documents + root->element_pages;
		segment->last_map = InvalidBlockNumber;
		documents += root_listed_pages(root);
		postings += root_postings(root);
	}
	if (documents != pg_atomic_read_u32(&shared->blocks))
		elog(ERROR, "index \"%s\" has pages that its build did not write",
			 RelationGetRelationName(build->index));
	shared->sorters = sorters(shared);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_GROUPS);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, postings);
}

/* ---- A participant as the writer of a segment --------------------------- */

typedef struct BuildWriter
{
	SegmentWriter writer; /* first, so that its functions find the rest */
	const Build *build;
	BuildShared *shared;
	BuildSegment *segment;
	uint32 number; /* the number of the segment */
	BuildParticipant *own;
	uint64 postings; /* postings of the group that is being written */
	bool is_leader;
} BuildWriter;

/* Adds a page to the end of the index. */
static BlockNumber
put_build_page(SegmentWriter *writer, Page page)
{
	BuildWriter *w = (BuildWriter *) writer;
	Buffer buffer = build_extend(w->build);

	if (page_info(page)->kind == PAGE_MAP)
	{
		SpinLockAcquire(&w->shared->mutex);
		page_info(page)->next = w->segment->last_map;
		w->segment->last_map = BufferGetBlockNumber(buffer);
		SpinLockRelease(&w->shared->mutex);
	}
	return build_fill(buffer, page);
}

/* Adds the group that was written last to what is done; the mutex is held. */
static void
count_group(BuildWriter *w)
{
	w->shared->postings_done += w->postings;
	w->postings = 0;
}

/* Groups are claimed by at least this many pages, of which the last is not full. */
#define PAGES_CLAIMED 16

/* Returns the fewest groups that are claimed at a time. */
static int
claim_least(const BuildWriter *w)
{
	const SegmentRoot *root = &w->segment->root;
	Grouping grouping = root_grouping(root, w->writer.shape);
	double pages =
		postings_estimate(&grouping, root_keyed(root)) / PAGE_ROOM / grouping_lists(&grouping);

	return Max(1, (int) (PAGES_CLAIMED / pages));
}

/*
 * Takes over up to half of the groups of the participant that has most of this segment left, the
 * last ones; the mutex is held.
 */
static int
take_over(BuildWriter *w, int least, int most, int *first)
{
	BuildParticipant *from = w->own;
	int count;

	for (int i = 0; i < w->shared->sorters; i++)
	{
		BuildParticipant *other = &w->shared->participant[i];

		if (other->segment == w->number && other->end - other->next > from->end - from->next)
			from = other;
	}
	count = Min(most, (from->end - from->next + 1) / 2);
	if (count < Min(most, least))
		return 0;
	*first = from->end -= count;
	return count;
}

/*
 * Claims groups for this participant: its share, and then groups of others that are slower, so
 * that all end together.  Each claim reads all documents.
 */
static int
claim_build_groups(SegmentWriter *writer, int most, int *first)
{
	BuildWriter *w = (BuildWriter *) writer;
	BuildShared *shared = w->shared;
	BuildSegment *segment = w->segment;
	int lists = root_lists(&segment->root);
	int rounds = (lists - 1) / (shared->sorters * most) + 1;
	int least = claim_least(w);
	int count;
	uint64 done;

	SpinLockAcquire(&shared->mutex);
	count_group(w);
	done = shared->postings_done;
	count = Max(least, (lists - 1) / (shared->sorters * rounds) + 1);
	count = Min(most, Min(count, lists - segment->groups_claimed));
	*first = segment->groups_claimed;
	segment->groups_claimed += count;
	/* To read the elements of all sets takes longer than to wait for a few groups of them. */
	if (count == 0 && segment->root.elements == 0)
		count = take_over(w, least, most, first);
	w->own->segment = w->number;
	w->own->next = *first;
	w->own->end = *first + count;
	SpinLockRelease(&shared->mutex);
	if (w->is_leader)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	return count;
}

/* Returns whether no other participant has taken over a group.  Reports progress. */
static bool
keeps_build_group(SegmentWriter *writer, int group)
{
	BuildWriter *w = (BuildWriter *) writer;
	bool keeps;
	uint64 done;

	SpinLockAcquire(&w->shared->mutex);
	count_group(w);
	done = w->shared->postings_done;
	keeps = group < w->own->end;
	if (keeps)
	{
		w->own->next = group + 1;
		w->postings = w->segment->root.grouped;
	}
	SpinLockRelease(&w->shared->mutex);
	if (w->is_leader)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	return keeps;
}

/* A build gives way to no one. */
static bool
build_goes_on(SegmentWriter *writer)
{
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* Returns this participant as the writer of a segment. */
static BuildWriter
writer_of(Build *build, uint32 number)
{
	BuildShared *shared = build->shared;
	BuildSegment *segment = &shared->segment[number];

	return (BuildWriter){.writer = {.index = build->index,
									.shape = &shared->shape,
									.root = &segment->root,
									.stamp = number + 1,
									.memory = shared->memory / shared->sorters,
									.documents = build->listed ? build->listed[number] : NULL,
									.first_document = segment->documents,
									.first_element = segment->elements,
									.put_page = put_build_page,
									.claim_groups = claim_build_groups,
									.keeps_group = keeps_build_group,
									.goes_on = build_goes_on},
						 .build = build,
						 .shared = shared,
						 .segment = segment,
						 .number = number,
						 .own = &shared->participant[build->number],
						 .is_leader = is_leader(build)};
}

/* ---- Steps -------------------------------------------------------------- */

/* Sorts and writes this participant's share of the groups. */
void
build_groups(Build *build)
{
	if (build->number >= build->shared->sorters)
		return;
	for (uint32 i = 0; i < build->shared->segments; i++)
	{
		BuildWriter w = writer_of(build, i);
		BucketLengths lengths = {0};

		if (root_lists(&w.segment->root) == 0)
			continue;
		segment_write_groups(&w.writer, &lengths);
		SpinLockAcquire(&w.shared->mutex);
		w.segment->lengths.own += lengths.own;
		w.segment->lengths.near += lengths.near;
		w.segment->lengths.samples += lengths.samples;
		SpinLockRelease(&w.shared->mutex);
	}
}

/* Enters the blocks that the file has and nobody took into the free space map. */
static void
list_blocks_ahead(const Build *build)
{
	BlockNumber file = pg_atomic_read_u32(&build->shared->file);

	for (BlockNumber b = pg_atomic_read_u32(&build->shared->blocks); b < file; b++)
		RecordFreeIndexPage(build->index, b);
	IndexFreeSpaceMapVacuum(build->index);
}

/* The leader writes maps, roots and metapage. */
void
build_describe(Build *build)
{
	BuildShared *shared = build->shared;
	SegmentEntry *entry;

	if (!is_leader(build))
		return;
	entry = palloc(SEGMENTS_MAX * sizeof(SegmentEntry));
	for (uint32 i = 0; i < shared->segments; i++)
	{
		BuildWriter w = writer_of(build, i);

		entry[i] = segment_write_root(&w.writer, w.segment->last_map, &w.segment->lengths);
		entry[i].first_stamp = entry[i].last_stamp = w.writer.stamp;
	}
	meta_write_built(build->index, &shared->shape, entry, shared->segments);
	list_blocks_ahead(build);
	pfree(entry);
}
