/*
 * free_pages.c: find the free pages of an index, and enter them into the free space map.
 *
 * The file is never made smaller: free pages are used again by inserts and upkeep.
 */
#include "index/index.h"

#include "storage/indexfsm.h"
#include "storage/lmgr.h"

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
		upkeep_replaced(upkeep->index, entry->stamp);
	for (uint32 map = 0; goes_on && map < walk->segment.root.document_maps; map++)
	{
		goes_on = upkeep_goes_on(upkeep);
		if (!walk_load(walk, map))
			upkeep_replaced(upkeep->index, entry->stamp);
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
 * was copied, but its stamp is among those of another segment's pages.
 */
static bool
is_stale(Page page, const IndexMeta *meta)
{
	const PageInfo *info = page_info(page);

	return page_is_ours(page) && info->kind == PAGE_DOCUMENTS && info->stamp < meta->next_stamp &&
		info->stamp != meta->tail.stamp && info->stamp != meta->closed.stamp;
}

/*
 * Sets the stamp of a stale page to none.  Checks it once more: by an older copy of the
 * metapage, from before its stamp was among another segment's, the page was free,
 * and an insert may just have taken it for the tail.
 */
static void
unstamp_page(Relation index, BlockNumber block, const IndexMeta *meta)
{
	Buffer buffer = page_peek(index, block, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (is_stale(BufferGetPage(buffer), meta))
	{
		GenericXLogState *state = GenericXLogStart(index);

		page_info(GenericXLogRegisterBuffer(state, buffer, 0))->stamp = 0;
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
	BLOCK_STALE /* free, but its stamp must be set to none */
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

/*
 * Enters all free pages into the free space map, also those that a crash has left out of it;
 * returns their number.  The caller holds the upkeep lock.
 */
BlockNumber
free_pages_find(Upkeep *upkeep, BufferAccessStrategy strategy)
{
	Relation index = upkeep->index;
	IndexMeta *meta = upkeep_meta_read(index);
	BlockNumber blocks = blocks_extended(index);
	uint8 *listed = listed_documents(upkeep, meta, blocks);
	BlockNumber count = 0;

	for (BlockNumber block = META_BLOCK + 1; block < blocks && upkeep_goes_on(upkeep); block++)
	{
		bool is_listed = (listed[block / 8] & 1 << block % 8) != 0;
		BlockUse use = use_of_block(index, block, meta, is_listed, strategy);

		if (use == BLOCK_USED)
			continue;
		if (use == BLOCK_STALE)
			unstamp_page(index, block, meta);
		RecordFreeIndexPage(index, block);
		count++;
	}
	IndexFreeSpaceMapVacuum(index);
	pfree(listed);
	pfree(meta);
	return count;
}
