/*
 * page_read.c: read pages by their stamp, and take free pages.
 */
#include "store/meta.h"

#include "executor/instrument.h"
#include "storage/indexfsm.h"

/* Returns a number that grows with each page that this backend reads in from disk. */
int64
pages_read_in(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/*
 * Returns whether an index has a block.  A process remembers how long the last index was, because
 * a file of an index never gets shorter, and each look at it is a system call.
 */
static bool
block_exists(Relation index, BlockNumber block)
{
	static CompatFile file;
	static BlockNumber blocks;

	if (block >= blocks || !compat_same_file(file, compat_file(index)))
	{
		file = compat_file(index);
		blocks = RelationGetNumberOfBlocks(index);
	}
	return block < blocks;
}

/*
 * Pins a block.  Looks for it in the buffer where it was last, and only then in the buffer table;
 * sets *recent to where it is.  This saves a seventh of a search's time: 88 us instead of 102 us
 * among 300,000 minhashes at similarity 0.8 (tried on PostgreSQL 15).
 */
static Buffer
pin_block(Relation index, BlockNumber block, Buffer *recent)
{
	Buffer before = *recent;

	if (BufferIsValid(before) && !BufferIsLocal(before) &&
		ReadRecentBuffer(compat_file(index), MAIN_FORKNUM, block, before))
	{
		compat_raise_usage(before);
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		return before;
	}
	if (!block_exists(index, block))
		page_corrupt(index, block, "there is no such block");
	*recent = ReadBuffer(index, block);
	return *recent;
}

/*
 * Releases a page that is not what the caller looks for.  Returns InvalidBuffer if maintenance
 * has replaced the segment or tail that had it, and reports an error if the page is corrupt.
 */
static Buffer
refuse_page(Relation index, Buffer buffer, uint32 stamp, uint32 listed)
{
	Page page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	IndexMeta *meta;

	if (!PageIsNew(page) && !page_is_ours(page))
		page_corrupt(index, block, "no sound page of a neardup index");
	if (page_is_ours(page) && page_info(page)->block != block)
		page_corrupt(index, block, "page of another block");
	if (page_is_ours(page) && page_info(page)->stamp == stamp)
		page_corrupt(index, block, "page of another kind than expected");
	UnlockReleaseBuffer(buffer);
	/* The metapage drops a segment or tail before its pages can be used again. */
	meta = meta_read(index);
	if (meta_lists(meta, listed))
		page_corrupt(index, block, "page of a listed segment or tail belongs to another");
	pfree(meta);
	return InvalidBuffer;
}

/*
 * Reads a page, as page_read() does, that was last in *recent; sets this to where it is.  The page
 * belongs to the segment or tail `listed`: a page of documents may have the stamp of a tail that the
 * segment replaced.
 */
Buffer
page_read_recent(Relation index, BlockNumber block, PageKind kind, uint32 stamp, uint32 listed,
				 Buffer *recent)
{
	Buffer buffer = pin_block(index, block, recent);
	const PageInfo *info = page_info(BufferGetPage(buffer));

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (info->page_id != PAGE_ID || info->block != block || info->stamp != stamp ||
		info->kind != kind)
		return refuse_page(index, buffer, stamp, listed);
	return buffer;
}

/*
 * Pins and share-locks a page of the stamp.  Returns InvalidBuffer if the page has another
 * stamp because maintenance has replaced this one; if the metapage still lists this stamp, that
 * is an error.  To find out, the function reads the metapage: the caller may hold no buffer
 * lock.
 */
Buffer
page_read(Relation index, BlockNumber block, PageKind kind, uint32 stamp)
{
	Buffer recent = InvalidBuffer;

	return page_read_recent(index, block, kind, stamp, stamp, &recent);
}

/* ---- Free pages --------------------------------------------------------- */

/*
 * Returns whether a locked page is new or its stamp is not listed any more.  A copy of the
 * metapage does not list a tail begun later, whose number is next_stamp or more.
 */
bool
page_is_free(Page page, const IndexMeta *meta)
{
	const PageInfo *info = page_info(page);

	if (PageIsNew(page))
		return true;
	if (!page_is_ours(page) || info->kind == PAGE_META || info->stamp >= meta->next_stamp)
		return false;
	return info->kind == PAGE_DOCUMENTS ? !meta_may_hold(meta, info->stamp) :
										  !meta_lists(meta, info->stamp);
}

/*
 * Returns a page of the free space map, exclusively locked, or InvalidBuffer.  The map is
 * not logged and may list pages that are in use, so each page is checked under its lock.
 */
static Buffer
reuse_page(Relation index, const IndexMeta *meta)
{
	for (;;)
	{
		BlockNumber block = GetFreeIndexPage(index);
		Buffer buffer;

		if (block == InvalidBlockNumber)
			return InvalidBuffer;
		/* After a crash the map may list blocks beyond the end of the file. */
		if (block >= RelationGetNumberOfBlocks(index))
			continue;
		buffer = ReadBuffer(index, block);
		if (ConditionalLockBuffer(buffer))
		{
			if (page_is_free(BufferGetPage(buffer), meta))
				return buffer;
			UnlockReleaseBuffer(buffer);
		}
		else
			ReleaseBuffer(buffer);
	}
}

/*
 * Returns an exclusively locked page, new or free, not yet initialized.  Does not take
 * pages whose stamp meta lists.
 */
Buffer
page_allocate(Relation index, const IndexMeta *meta)
{
	Buffer buffer = reuse_page(index, meta);

	return BufferIsValid(buffer) ? buffer : compat_extend(index);
}
