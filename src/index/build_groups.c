/*
 * build_groups.c: the second half of a build: groups, maps, roots and the metapage.
 *
 * Once all documents are written, the number of pages that everything else takes is known.
 * The leader assigns blocks to them; then each participant writes its share of the groups.
 * Two groups may share a page, so entries are stored under the page's lock.
 */
#include "index/build.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

/* ---- Blocks ------------------------------------------------------------- */

/* Returns how many participants can sort at the same time, each at least one group. */
static int
sorters(const BuildShared *shared)
{
	Size largest = 1;

	for (uint32 i = 0; i < shared->segments; i++)
	{
		const SegmentRoot *root = &shared->segment[i].root;
		Grouping grouping = root_grouping(root, &shared->shape);

		largest = Max(largest, group_sort_memory(root, &grouping, 1));
	}
	return (int) Max(1, Min(shared->participants, shared->memory / largest));
}

void
build_layout(Build *build)
{
	BuildShared *shared = build->shared;
	BlockNumber documents = META_BLOCK + 1;
	BlockNumber others = documents;
	uint64 postings = 0;

	if (!build_leads(build))
		return;
	build_write_last_pages(build);
	for (uint32 i = 0; i < shared->segments; i++)
		others += shared->segment[i].root.document_pages;
	if (others != RelationGetNumberOfBlocks(build->index))
		elog(ERROR, "index \"%s\" has pages that its build did not write",
			 RelationGetRelationName(build->index));
	for (uint32 i = 0; i < shared->segments; i++)
	{
		BuildSegment *segment = &shared->segment[i];
		SegmentRoot *root = &segment->root;

		root->stride = build->stride;
		segment_lay_out(build->index, &shared->shape, root);
		segment->documents = documents;
		segment->others = others;
		documents += root->document_pages;
		others += segment_root_page(root) + 1 - root->document_pages;
		postings += (uint64) root->groups * root->grouped;
	}
	compat_extend_to(build->index, others);
	shared->sorters = sorters(shared);
	shared->blocks = others;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_GROUPS);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, postings);
}

/* ---- A participant as the writer of a segment --------------------------- */

typedef struct BuildWriter
{
	SegmentWriter writer; /* first, so that its functions find the rest */
	BuildShared *shared;
	BuildSegment *segment;
	bool leads;
} BuildWriter;

static BlockNumber
block_of_build_page(const SegmentWriter *writer, uint32 number)
{
	const BuildSegment *segment = ((const BuildWriter *) writer)->segment;
	uint32 document_pages = segment->root.document_pages;

	return number < document_pages ? segment->documents + number :
									 segment->others + (number - document_pages);
}

static void
report_postings(BuildWriter *w, uint32 count)
{
	uint64 done;

	SpinLockAcquire(&w->shared->mutex);
	done = w->shared->postings_done += count;
	SpinLockRelease(&w->shared->mutex);
	if (w->leads)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
}

/* Adds entries to a page, which may have entries of other participants already. */
static void
put_build_page(SegmentWriter *writer, uint32 number, Page page)
{
	BlockNumber block = block_of_build_page(writer, number);
	Buffer buffer = ReadBuffer(writer->index, block);
	Page shared = BufferGetPage(buffer);
	bool is_new;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	is_new = PageIsNew(shared);
	/* Its checksum is computed again below, so what is there is verified first. */
	if (!is_new)
		page_verify(writer->index, buffer, 0);
	START_CRIT_SECTION();
	if (is_new)
		memcpy(shared, page, BLCKSZ);
	else
	{
		/* The places of entries that are not on a page are zero. */
		for (Size i = 0; i < PAGE_ROOM / sizeof(uint64); i++)
			((uint64 *) PageGetContents(shared))[i] |= ((uint64 *) PageGetContents(page))[i];
		page_trailer(shared)->count += page_trailer(page)->count;
		page_set_checksum(shared);
	}
	MarkBufferDirty(buffer);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	if (page_trailer(page)->kind == PAGE_POSTINGS)
		report_postings((BuildWriter *) writer, page_trailer(page)->count);
	CHECK_FOR_INTERRUPTS();
}

/* Claims groups for this participant; fewer towards the end, so that all end together. */
static int
claim_build_groups(SegmentWriter *writer, int most, int *first)
{
	BuildShared *shared = ((BuildWriter *) writer)->shared;
	BuildSegment *segment = ((BuildWriter *) writer)->segment;
	int count;

	SpinLockAcquire(&shared->mutex);
	count = segment->root.groups - segment->groups_claimed;
	if (shared->sorters > 1)
		count = (count + 2 * shared->sorters - 1) / (2 * shared->sorters);
	count = Min(count, most);
	*first = segment->groups_claimed;
	segment->groups_claimed += count;
	SpinLockRelease(&shared->mutex);
	return count;
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
									.owner = number + 1,
									.memory = shared->memory / shared->sorters,
									.put_page = put_build_page,
									.block_of = block_of_build_page,
									.claim_groups = claim_build_groups,
									.goes_on = build_goes_on},
						 .shared = shared,
						 .segment = segment,
						 .leads = build_leads(build)};
}

/* ---- Steps -------------------------------------------------------------- */

void
build_groups(Build *build)
{
	if (build->number >= build->shared->sorters)
		return;
	for (uint32 i = 0; i < build->shared->segments; i++)
	{
		BuildWriter w = writer_of(build, i);

		if (w.segment->root.groups > 0)
			segment_write_groups(&w.writer);
	}
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
		BuildWriter w = writer_of(build, i);

		segment_write_root(&w.writer);
		entry[i] = segment_entry(&w.writer);
	}
	meta_write_built(build->index, &shared->shape, entry, shared->segments);
}
