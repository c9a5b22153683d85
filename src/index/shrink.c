/*
 * shrink.c: the size of the file: which pages are free, and giving the end of
 * the file back.
 *
 * The free space map is only a hint, so vacuum tells it what it likes: before
 * the living are written again it offers the free pages at the front alone.
 * Then the end of the file is free.
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

/* Free pages at the end fewer than these, or than this part, are left there. */
#define TRUNCATE_PAGES 16
#define TRUNCATE_PART 16

/* Pages that are looked at while everybody else is locked out. */
#define TRUNCATE_AT_ONCE 4096

/* An index of no more pages in use is written again for less. */
#define SMALL_INDEX_PAGES 4096

/* ---- Free pages --------------------------------------------------------- */

/* Blocks that are there; none of them is between being added and being locked. */
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

static bool
block_is_free(Relation index, BlockNumber block, const IndexMeta *meta,
			  BufferAccessStrategy strategy)
{
	Buffer buffer = page_peek(index, block, strategy);
	bool is_free;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	is_free = page_is_free(BufferGetPage(buffer), meta);
	UnlockReleaseBuffer(buffer);
	return is_free;
}

/* What a walk over the file saw. */
typedef struct FreePages
{
	BlockNumber unused; /* pages that are free */
	BlockNumber end;    /* of what is in use */
	BlockNumber reach;  /* end of what was offered, and of the pages that it lacks */
} FreePages;

/* Offer the first so many free pages, and no others; as far as upkeep goes on. */
static FreePages
offer_pages(Upkeep *upkeep, BlockNumber offered, BufferAccessStrategy strategy)
{
	Relation index = upkeep->index;
	IndexMeta *meta = upkeep_meta_read(index);
	BlockNumber blocks = blocks_extended(index);
	FreePages pages = {.end = META_BLOCK + 1, .reach = META_BLOCK + 1};

	for (BlockNumber block = META_BLOCK + 1; block < blocks && upkeep_goes_on(upkeep); block++)
	{
		if (!block_is_free(index, block, meta, strategy))
			pages.end = block + 1;
		else if (pages.unused++ < offered)
		{
			pages.reach = block + 1;
			RecordFreeIndexPage(index, block);
		}
		else
			RecordUsedIndexPage(index, block);
	}
	if (pages.unused < offered)
		pages.reach = blocks + offered - pages.unused;
	IndexFreeSpaceMapVacuum(index);
	pfree(meta);
	return pages;
}

BlockNumber
shrink_find_free(Upkeep *upkeep, BufferAccessStrategy strategy)
{
	return offer_pages(upkeep, InvalidBlockNumber, strategy).unused;
}

/* ---- Gathering ---------------------------------------------------------- */

/* Pages that the metapage lists, its own included. */
static BlockNumber
pages_listed(const IndexMeta *meta)
{
	BlockNumber pages = 1 + meta->tail.pages + meta->frozen.pages;

	for (uint32 i = 0; i < meta->segments; i++)
		pages += meta->segment[i].pages;
	return pages;
}

/* The dead then pay for writing the living once. */
static bool
third_is_dead(const IndexMeta *meta)
{
	uint64 documents = 0;
	uint64 dead = 0;

	for (uint32 i = 0; i < meta->segments; i++)
	{
		documents += meta->segment[i].documents;
		dead += meta->segment[i].dead;
	}
	return dead * 3 > documents;
}

/*
 * Do the segments beside the largest hold a quarter as many documents as it?  Inserts
 * have then paid for one segment of all, unless that would be too large.  A small
 * index costs little, and a search of it has most to gain.
 */
static bool
is_scattered(const Upkeep *upkeep, const IndexMeta *meta)
{
	uint64 living = 0;
	uint64 largest = 0;

	for (uint32 i = 0; i < meta->segments; i++)
	{
		uint64 documents = segment_living(&meta->segment[i]);

		living += documents;
		largest = Max(largest, documents);
	}
	if (living > merged_documents_max(upkeep, meta))
		return false;
	return (living - largest) * 4 > largest ||
		(living > largest && pages_listed(meta) <= SMALL_INDEX_PAGES);
}

/*
 * Is there three quarters as much room in front of the end as is in use?  A merge of
 * everything leaves as much as that.  Few pages do not matter.
 */
static bool
is_loose(BlockNumber end, BlockNumber listed)
{
	return end / 7 * 4 >= listed && end > 2 * TRUNCATE_PAGES;
}

/*
 * Where that is due, or what is in use takes up far more pages than it needs,
 * write all that lives to the front.  Where the front has too little room, write
 * it behind everything first: then the front is free.
 */
void
shrink_gather(Upkeep *upkeep, BufferAccessStrategy strategy)
{
	IndexMeta *meta = upkeep_meta_read(upkeep->index);
	bool is_due = third_is_dead(meta) || is_scattered(upkeep, meta);
	BlockNumber listed;
	FreePages pages;

	pfree(meta);
	upkeep_drop(upkeep);
	meta = meta_read(upkeep->index);
	listed = pages_listed(meta);
	pfree(meta);
	if (!is_due && !is_loose(RelationGetNumberOfBlocks(upkeep->index), listed))
		return;
	pages = offer_pages(upkeep, listed, strategy);
	if (!is_due && !is_loose(pages.end, listed))
		return;
	if (is_loose(pages.reach, listed))
	{
		offer_pages(upkeep, 0, strategy);
		upkeep_gather(upkeep);
	}
	/* A large segment may need more pages than the small ones did. */
	offer_pages(upkeep, listed + listed / 2, strategy);
	upkeep_gather(upkeep);
}

/* ---- Truncating --------------------------------------------------------- */

/*
 * May the table's files shrink?  What its options say holds for its indexes too; what
 * a VACUUM command says an index is not told.
 */
static bool
may_truncate(Relation index)
{
	Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
	bool may = compat_vacuum_truncate((StdRdOptions *) table->rd_options);

	table_close(table, AccessShareLock);
	return may;
}

/* Where the pages in use end, or so many pages before the end of the file. */
static BlockNumber
end_of_use(Relation index, BlockNumber most)
{
	IndexMeta *meta = meta_read(index);
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	BlockNumber end = blocks;

	while (end > META_BLOCK + 1 && blocks - end < most && block_is_free(index, end - 1, meta, NULL))
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
	BlockNumber unused = blocks - end_of_use(index, blocks);

	return unused >= TRUNCATE_PAGES && unused >= blocks / TRUNCATE_PART;
}

/*
 * A search by an older copy of the metapage may ask for any page that was in
 * use, so nobody may be at the index meanwhile; nobody is waited for, nor kept
 * waiting for long.
 */
bool
shrink_try(Relation index)
{
	bool more = true;

	while (more && ConditionalLockRelation(index, AccessExclusiveLock))
	{
		BlockNumber blocks = RelationGetNumberOfBlocks(index);
		BlockNumber end = end_of_use(index, TRUNCATE_AT_ONCE);

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
 * The lock needs a transaction number, which a parallel vacuum cannot have: it
 * leaves this to a worker.
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
