/*
 * shrink.c: the size of the file: find free pages, compact the index, truncate the file.
 *
 * To compact an index, vacuum writes all live documents to new segments.  Before that it
 * enters into the free space map only the free pages at the front of the file.  The new
 * segments go there, and the end of the file becomes free.
 */
#include "index/index.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/storage.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

/* The file is truncated if so many pages, and such a part of it, are free at its end. */
#define TRUNCATE_PAGES 16
#define TRUNCATE_PART 16

/* Pages that are checked while the index is locked against all others. */
#define TRUNCATE_AT_ONCE 4096

/* The most pages of an index that is compacted whenever it has a second segment. */
#define SMALL_INDEX_PAGES 4096

/* ---- Free pages --------------------------------------------------------- */

/* Returns the number of blocks, none of which another process is just adding. */
static BlockNumber
blocks_extended(Relation index)
{
	BlockNumber blocks;

	if (RELATION_IS_LOCAL(index))
		return RelationGetNumberOfBlocks(index);
	LockRelationForExtension(index, ExclusiveLock);
	blocks = RelationGetNumberOfBlocks(index);
	UnlockRelationForExtension(index, ExclusiveLock);
	return blocks;
}

/* Notes the blocks of a segment's documents; false if upkeep gives way. */
static bool
note_documents(Upkeep *upkeep, const IndexMeta *meta, const SegmentEntry *entry, uint8 *listed,
			   BlockNumber blocks)
{
	SegmentWalk *walk = palloc(sizeof(SegmentWalk));
	bool goes_on = true;

	if (!walk_begin(walk, upkeep->index, meta, entry))
		upkeep_replaced(upkeep->index, entry->owner);
	for (uint32 map = 0; goes_on && map < walk->segment.root.document_maps; map++)
	{
		goes_on = upkeep_goes_on(upkeep);
		if (!walk_load(walk, map))
			upkeep_replaced(upkeep->index, entry->owner);
		for (uint32 i = 0; i < walk->count; i++)
			if (walk->entry[i].block < blocks)
				listed[walk->entry[i].block / 8] |= 1 << walk->entry[i].block % 8;
	}
	walk_end(walk);
	pfree(walk);
	return goes_on;
}

/*
 * Returns whether a page that no segment lists is a page of documents left over: its segment
 * was copied, but its owner's number is among those of another segment's pages.
 */
static bool
is_stale(Page page, const IndexMeta *meta)
{
	const PageInfo *info = page_info(page);

	return page_is_ours(page) && info->kind == PAGE_DOCUMENTS && info->owner < meta->next_owner &&
		info->owner != meta->tail.owner && info->owner != meta->frozen.owner;
}

/*
 * Sets the owner of a stale page to none.  Checks it once more: by an older copy of the
 * metapage, from before its owner's number was among another segment's, the page was free,
 * and an insert may just have taken it for the tail.
 */
static void
disown_page(Relation index, BlockNumber block, const IndexMeta *meta)
{
	Buffer buffer = page_peek(index, block, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (is_stale(BufferGetPage(buffer), meta))
	{
		GenericXLogState *state = GenericXLogStart(index);

		page_info(GenericXLogRegisterBuffer(state, buffer, 0))->owner = 0;
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(buffer);
}

/* Returns a bit for each block: whether a segment lists it as a page of documents. */
static uint8 *
listed_documents(Upkeep *upkeep, const IndexMeta *meta, BlockNumber blocks)
{
	uint8 *listed = palloc_extended(blocks / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	bool goes_on = true;

	for (uint32 i = 0; goes_on && i < meta->segments; i++)
		goes_on = note_documents(upkeep, meta, &meta->segment[i], listed, blocks);
	return listed;
}

typedef enum BlockUse
{
	BLOCK_USED,
	BLOCK_FREE,
	BLOCK_STALE /* free, but its owner must be set to none */
} BlockUse;

/* Returns the use of a block, where `listed` says whether it is a page of documents. */
static BlockUse
use_of_block(Relation index, BlockNumber block, const IndexMeta *meta, bool listed,
			 BufferAccessStrategy strategy)
{
	Buffer buffer = page_peek(index, block, strategy);
	Page page = BufferGetPage(buffer);
	BlockUse use = BLOCK_USED;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (page_is_free(page, meta))
		use = BLOCK_FREE;
	else if (!listed && is_stale(page, meta))
		use = BLOCK_STALE;
	UnlockReleaseBuffer(buffer);
	return use;
}

typedef struct FreePages
{
	BlockNumber count;
	BlockNumber end;   /* of the pages in use */
	BlockNumber reach; /* where the first so many free pages end, those to be added included */
} FreePages;

/*
 * Looks for free pages in the whole file, or until upkeep gives way.  Enters the first so
 * many of them into the free space map, and no others.
 */
static FreePages
find_free_pages(Upkeep *upkeep, BlockNumber most, BufferAccessStrategy strategy)
{
	Relation index = upkeep->index;
	IndexMeta *meta = upkeep_meta_read(index);
	BlockNumber blocks = blocks_extended(index);
	uint8 *listed = listed_documents(upkeep, meta, blocks);
	FreePages pages = {.count = 0, .end = META_BLOCK + 1, .reach = META_BLOCK + 1};

	for (BlockNumber block = META_BLOCK + 1; block < blocks && upkeep_goes_on(upkeep); block++)
	{
		bool is_listed = (listed[block / 8] & 1 << block % 8) != 0;
		BlockUse use = use_of_block(index, block, meta, is_listed, strategy);

		if (use == BLOCK_STALE)
			disown_page(index, block, meta);
		if (use == BLOCK_USED)
			pages.end = block + 1;
		else if (pages.count++ < most)
		{
			pages.reach = block + 1;
			RecordFreeIndexPage(index, block);
		}
		else
			RecordUsedIndexPage(index, block);
	}
	if (pages.count < most)
		pages.reach = blocks + most - pages.count;
	IndexFreeSpaceMapVacuum(index);
	pfree(listed);
	pfree(meta);
	return pages;
}

BlockNumber
shrink_find_free(Upkeep *upkeep, BufferAccessStrategy strategy)
{
	return find_free_pages(upkeep, InvalidBlockNumber, strategy).count;
}

/* ---- Compacting --------------------------------------------------------- */

/* Returns the number of pages in use, as the metapage lists them. */
static BlockNumber
pages_listed(const IndexMeta *meta)
{
	BlockNumber pages = 1 + meta->tail.pages + meta->frozen.pages;

	for (uint32 i = 0; i < meta->segments; i++)
		pages += meta->segment[i].document_pages + meta->segment[i].other_pages;
	return pages;
}

/*
 * Returns whether an index is to be compacted for what it holds: if a third of its documents
 * is dead, or if the segments beside the largest hold a quarter as many documents as that
 * one, or, in a small index, if there is a second segment.  (In the benchmark "churn"
 * queries took 1.00 times as long as of a fresh index, and without the last rule up to 2.3
 * times.)
 *
 * So the documents written again are at most a few times as many as were removed or inserted
 * since the last time.
 */
static bool
is_scattered(const Upkeep *upkeep, const IndexMeta *meta)
{
	uint64 documents = 0;
	uint64 live = 0;
	uint64 largest = 0;
	uint64 others;

	for (uint32 i = 0; i < meta->segments; i++)
	{
		documents += meta->segment[i].documents;
		live += segment_live(&meta->segment[i]);
		largest = Max(largest, segment_live(&meta->segment[i]));
	}
	others = live - largest;
	if ((documents - live) * 3 > documents)
		return true;
	if (live > merged_documents_max(upkeep, meta))
		return false;
	return others * 4 > largest || (others > 0 && pages_listed(meta) <= SMALL_INDEX_PAGES);
}

/*
 * Returns whether the pages in use are spread over 1.75 times as much of the file as they
 * need, as they are after a merge of everything.
 */
static bool
is_loose(BlockNumber end, BlockNumber listed)
{
	return end / 7 * 4 >= listed && end > 2 * TRUNCATE_PAGES;
}

/*
 * Writes the live documents to the free pages at the front.  If these are too few, or too
 * far apart, it first writes them behind the end of the file, which frees the front.  (In
 * the benchmark "churn" the index was then 1.00 times as large as a fresh one.  When it was
 * written to the front twice instead, it was up to 2.0 times as large.)
 */
void
shrink_compact(Upkeep *upkeep, BufferAccessStrategy strategy)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	bool is_due = is_scattered(upkeep, meta);
	BlockNumber listed;
	FreePages pages;

	pfree(meta);
	upkeep_drop(upkeep);
	meta = meta_read(upkeep->index);
	listed = pages_listed(meta);
	pfree(meta);
	if (!is_due && !is_loose(RelationGetNumberOfBlocks(upkeep->index), listed))
		return;
	pages = find_free_pages(upkeep, listed, strategy);
	if (!is_due && !is_loose(pages.end, listed))
		return;
	if (is_loose(pages.reach, listed))
	{
		find_free_pages(upkeep, 0, strategy);
		upkeep_compact(upkeep);
	}
	/* One large segment may need more pages than several small ones did. */
	find_free_pages(upkeep, listed + listed / 2, strategy);
	upkeep_compact(upkeep);
}

/* ---- Truncating --------------------------------------------------------- */

/*
 * Returns whether the table's options allow truncation; they hold for its indexes, too.  An
 * index does not learn of the options of a VACUUM command.
 */
static bool
may_truncate(Relation index)
{
	Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
	bool may = compat_vacuum_truncate((StdRdOptions *) table->rd_options);

	table_close(table, AccessShareLock);
	return may;
}

/* Returns where the pages in use end, having checked at most so many from the end of the file. */
static BlockNumber
end_of_used_pages(Relation index, BlockNumber most)
{
	IndexMeta *meta = meta_read(index);
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	BlockNumber end = blocks;

	/* Takes stale pages for used ones, as if they were listed. */
	while (end > META_BLOCK + 1 && blocks - end < most &&
		   use_of_block(index, end - 1, meta, true, NULL) == BLOCK_FREE)
	{
		end--;
		CHECK_FOR_INTERRUPTS();
	}
	pfree(meta);
	return end;
}

static bool
is_worth_truncating(Relation index)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	BlockNumber unused = blocks - end_of_used_pages(index, blocks);

	return unused >= TRUNCATE_PAGES && unused >= blocks / TRUNCATE_PART;
}

/*
 * A search that reads by an older copy of the metapage may ask for any page that was in
 * use, so the index is locked against all others.  The lock is only taken if it is free, and
 * is not held for long.
 */
bool
shrink_try(Relation index)
{
	bool more = true;

	while (more && ConditionalLockRelation(index, AccessExclusiveLock))
	{
		BlockNumber blocks = RelationGetNumberOfBlocks(index);
		BlockNumber end = end_of_used_pages(index, TRUNCATE_AT_ONCE);

		if (end < blocks)
			RelationTruncate(index, end);
		more = blocks - end == TRUNCATE_AT_ONCE;
		UnlockRelation(index, AccessExclusiveLock);
	}
	return !more;
}

void
shrink_pause(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SHRINK_PAUSE,
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * The lock's WAL record needs a transaction number, which a process of a parallel vacuum
 * cannot have; it leaves the truncation to a background worker.
 */
void
shrink_truncate(Relation index)
{
	if (!is_worth_truncating(index) || !may_truncate(index))
		return;
	if (IsInParallelMode())
		worker_start(index, true);
	else
		for (int i = 0; i < SHRINK_TRIES && !shrink_try(index); i++)
			shrink_pause();
}
