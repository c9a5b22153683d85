/*
 * free_pages.c: find the free pages of an index, and enter them into the free space map.
 *
 * The file is never made smaller: free pages are used again by inserts and maintenance.
 */
#include "index/index.h"

#include "storage/indexfsm.h"
#include "storage/lmgr.h"

#include "store/segment_read.h"

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

/* Notes the blocks of a segment's documents, a bit for each, unless maintenance gives way. */
static void
note_documents(Maintenance *maintenance, const IndexMeta *meta, const SegmentEntry *entry,
			   uint8 *listed, BlockNumber blocks)
{
	SegmentWalk walk;

	if (!walk_begin(&walk, maintenance->index, meta, entry))
		maintenance_replaced(maintenance->index, entry->stamp);
	for (uint32 map = 0; map < walk.segment.root.document_maps && maintenance_goes_on(maintenance);
		 map++)
	{
		if (!walk_load(&walk, map))
			maintenance_replaced(maintenance->index, entry->stamp);
		for (uint32 i = 0; i < walk.count; i++)
			if (walk.entry[i].block < blocks)
				listed[walk.entry[i].block / 8] |= 1 << walk.entry[i].block % 8;
	}
	walk_end(&walk);
}

/*
 * Returns whether a page that no segment lists is a page of documents left over: its segment
 * was copied, but another segment has pages of its stamp.
 */
static bool
is_stale(Page page, const IndexMeta *meta)
{
	const PageInfo *info = page_info(page);

	return page_is_ours(page) && info->kind == PAGE_DOCUMENTS && info->stamp < meta->next_stamp &&
		info->stamp != meta->tail.stamp && info->stamp != meta->closed.stamp;
}

/*
 * Returns whether a block is free, where `listed` says whether it is a page of documents.  Sets
 * the stamp of a stale page to none.  Checks it once more: by an older copy of the metapage, from
 * before its stamp was among another segment's, the page was free, and an insert may just have
 * taken it for the tail.
 */
static bool
make_free(Relation index, BlockNumber block, const IndexMeta *meta, bool listed,
		  BufferAccessStrategy strategy)
{
	Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	Page page = BufferGetPage(buffer);
	bool is_free;
	bool stale;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	is_free = page_is_free(page, meta);
	stale = !is_free && !listed && is_stale(page, meta);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (stale)
	{
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		if (is_stale(page, meta))
		{
			GenericXLogState *state = GenericXLogStart(index);

			page_info(GenericXLogRegisterBuffer(state, buffer, 0))->stamp = 0;
			GenericXLogFinish(state);
		}
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	ReleaseBuffer(buffer);
	return is_free || stale;
}

/*
 * Enters all free pages into the free space map, also those that a crash has left out of it;
 * returns their number.  The caller holds the maintenance lock.
 */
BlockNumber
free_pages_find(Maintenance *maintenance, BufferAccessStrategy strategy)
{
	Relation index = maintenance->index;
	IndexMeta *meta = maintenance_meta_read(index);
	BlockNumber blocks = blocks_extended(index);
	/* A bit for each block: whether a segment lists it as a page of documents. */
	uint8 *listed = palloc_extended(blocks / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	BlockNumber count = 0;

	for (uint32 i = 0; i < meta->segments && !maintenance->gave_way; i++)
		note_documents(maintenance, meta, &meta->segment[i], listed, blocks);
	for (BlockNumber block = META_BLOCK + 1; block < blocks && maintenance_goes_on(maintenance);
		 block++)
	{
		bool is_listed = (listed[block / 8] & 1 << block % 8) != 0;

		if (!make_free(index, block, meta, is_listed, strategy))
			continue;
		RecordFreeIndexPage(index, block);
		count++;
	}
	IndexFreeSpaceMapVacuum(index);
	pfree(listed);
	pfree(meta);
	return count;
}
