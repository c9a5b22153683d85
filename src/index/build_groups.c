/*
 * build_groups.c: the second half of a build: groups, and what describes them.
 *
 * Once all documents are written it is known how many pages everything else
 * takes.  The leader gives them out, and each participant writes its groups to
 * their places.  Where two groups meet on a page, it is under the page's lock.
 */
#include "index/build.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "index/segment_sort.h"

static uint32
owner_of(const Build *build, const BuildSegment *segment)
{
	return segment - build->shared->segment + 1;
}

/* The last block of all. */
static BlockNumber
root_block(const BuildSegment *segment)
{
	const SegmentRoot *root = &segment->root;

	return segment->rest + root->directory_pages + root->posting_pages + root->map_pages;
}

/* ---- Places ------------------------------------------------------------- */

/* Count the pages that follow a segment's documents; returns the block after. */
static BlockNumber
lay_out(Build *build, BuildSegment *segment, BlockNumber documents, BlockNumber rest)
{
	segment->root.stride = build->stride;
	segment_lay_out(build->index, &build->shared->shape, &segment->root);
	segment->documents = documents;
	segment->rest = rest;
	return root_block(segment) + 1;
}

/* How many participants can sort at once, each at least one group. */
static int
sorters(const BuildShared *shared)
{
	Size largest = 1;

	for (uint32 i = 0; i < shared->segments; i++)
	{
		const SegmentRoot *root = &shared->segment[i].root;
		Grouping grouping = root_grouping(root, &shared->shape);

		largest = Max(largest, sort_memory(root, &grouping, 1));
	}
	return (int) Max(1, Min(shared->participants, shared->memory / largest));
}

void
build_layout(Build *build)
{
	BuildShared *shared = build->shared;
	BlockNumber documents = META_BLOCK + 1;
	BlockNumber rest = documents;
	uint64 postings = 0;

	if (!build_leads(build))
		return;
	build_gather(build);
	for (uint32 i = 0; i < shared->segments; i++)
		rest += shared->segment[i].root.document_pages;
	if (rest != RelationGetNumberOfBlocks(build->index))
		elog(ERROR, "index \"%s\" has pages that its build did not write",
			 RelationGetRelationName(build->index));
	for (uint32 i = 0; i < shared->segments; i++)
	{
		rest = lay_out(build, &shared->segment[i], documents, rest);
		documents += shared->segment[i].root.document_pages;
		postings += (uint64) shared->segment[i].root.groups * shared->segment[i].root.grouped;
	}
	compat_extend_to(build->index, rest);
	shared->sorters = sorters(shared);
	shared->blocks = rest;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_GROUPS);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, postings);
}

/*
 * Write entries first ... of an array, whose pages begin at a block.  Others may
 * be writing other parts of it.
 */
static void
put_entries(Build *build, PageKind kind, uint32 owner, BlockNumber start, uint32 size, uint64 first,
			uint32 count, const char *entries)
{
	uint32 per_page = PAGE_ROOM / size;

	while (count > 0)
	{
		uint32 slot = first % per_page;
		uint32 n = Min(per_page - slot, count);
		Buffer buffer = ReadBuffer(build->index, start + first / per_page);
		Page page = BufferGetPage(buffer);

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		/* What others have put there will be sealed once more. */
		if (!PageIsNew(page))
			page_verify(build->index, buffer, 0);
		START_CRIT_SECTION();
		if (PageIsNew(page))
			page_init(page, kind, owner);
		memcpy(PageGetContents(page) + (Size) slot * size, entries, (Size) n * size);
		page_trailer(page)->count += n;
		page_seal(page);
		MarkBufferDirty(buffer);
		END_CRIT_SECTION();
		UnlockReleaseBuffer(buffer);
		entries += (Size) n * size;
		first += n;
		count -= n;
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- Groups ------------------------------------------------------------- */

/* The next groups to sort; smaller shares towards the end, so that all end together. */
static int
claim_groups(Build *build, BuildSegment *segment, int at_once, int *first)
{
	BuildShared *shared = build->shared;
	int share;

	SpinLockAcquire(&shared->mutex);
	share = segment->root.groups - segment->groups_claimed;
	if (shared->sorters > 1)
		share = (share + 2 * shared->sorters - 1) / (2 * shared->sorters);
	share = Min(share, at_once);
	*first = segment->groups_claimed;
	segment->groups_claimed += share;
	SpinLockRelease(&shared->mutex);
	return share;
}

static void
report_postings(BuildShared *shared, const Build *build, uint32 count)
{
	uint64 done;

	SpinLockAcquire(&shared->mutex);
	done = shared->postings_done += count;
	SpinLockRelease(&shared->mutex);
	if (build_leads(build))
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
}

static void
write_group(Build *build, const BuildSegment *segment, const GroupSort *sort, int group)
{
	const SegmentRoot *root = &segment->root;
	const Grouping *grouping = &sort->source.grouping;
	uint32 owner = owner_of(build, segment);

	put_entries(build, PAGE_DIRECTORY, owner, segment->rest, sizeof(uint32),
				group_first_offset(grouping, group),
				(UINT32_C(1) << group_bucket_bits(grouping, group)) + 1, (char *) sort->offset);
	put_entries(build, PAGE_POSTINGS, owner, segment->rest + root->directory_pages,
				posting_bytes(root->documents), (uint64) group * root->grouped, root->grouped,
				(char *) sort->postings);
	report_postings(build->shared, build, root->grouped);
}

static void
sort_segment(Build *build, BuildSegment *segment)
{
	SortSource source = {.index = build->index,
						 .root = &segment->root,
						 .owner = owner_of(build, segment),
						 .grouping = root_grouping(&segment->root, &build->shared->shape),
						 .first = segment->documents};
	GroupSort *sort = sort_begin(&source, build->shared->memory / build->shared->sorters);
	int first;
	int count;

	while ((count = claim_groups(build, segment, sort->at_once, &first)) > 0)
	{
		sort_read(sort, first, count);
		for (int group = first; group < first + count; group++)
		{
			sort_group(sort, group);
			write_group(build, segment, sort, group);
		}
	}
	sort_end(sort);
}

void
build_groups(Build *build)
{
	BuildShared *shared = build->shared;

	if (build->number >= shared->sorters)
		return;
	for (uint32 i = 0; i < shared->segments; i++)
		if (shared->segment[i].root.groups > 0)
			sort_segment(build, &shared->segment[i]);
}

/* ---- Descriptions ------------------------------------------------------- */

static void
write_map(Build *build, const BuildSegment *segment)
{
	const SegmentRoot *root = &segment->root;
	uint32 others = root->directory_pages + root->posting_pages;
	uint32 logical = root->document_pages + others;

	for (uint32 first = 0; first < logical; first += BLOCKS_PER_MAP_PAGE)
	{
		BlockNumber map[BLOCKS_PER_MAP_PAGE];
		uint32 count = Min(BLOCKS_PER_MAP_PAGE, logical - first);

		for (uint32 i = 0; i < count; i++)
			map[i] = first + i < root->document_pages ?
				segment->documents + first + i :
				segment->rest + first + i - root->document_pages;
		put_entries(build, PAGE_MAP, owner_of(build, segment), segment->rest + others,
					sizeof(BlockNumber), first, count, (char *) map);
	}
}

static void
write_root(Build *build, const BuildSegment *segment)
{
	const SegmentRoot *root = &segment->root;
	BlockNumber block = root_block(segment);
	Buffer buffer = ReadBuffer(build->index, block);
	Page page = BufferGetPage(buffer);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	page_init(page, PAGE_ROOT, owner_of(build, segment));
	*page_root(page) = *root;
	for (uint32 i = 0; i < root->map_pages; i++)
		page_root_map(page)[i] = block - root->map_pages + i;
	page_seal(page);
	MarkBufferDirty(buffer);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

void
build_describe(Build *build)
{
	BuildShared *shared = build->shared;
	SegmentEntry entry[SEGMENTS_MAX];

	if (!build_leads(build))
		return;
	for (uint32 i = 0; i < shared->segments; i++)
	{
		const BuildSegment *segment = &shared->segment[i];

		write_map(build, segment);
		write_root(build, segment);
		entry[i] = segment_entry(&segment->root, owner_of(build, segment), root_block(segment));
	}
	meta_write_built(build->index, &shared->shape, entry, shared->segments);
}
