/*
 * tail.c: the chain of pages that takes the inserts: its length, and a walk along it.
 */
#include "index/index.h"

#include "miscadmin.h"

/*
 * Returns the number of pages of a tail that are full or nearly so.  Of the pages that are
 * open, all but one may be nearly empty.
 */
uint32
tail_length(const IndexMeta *meta)
{
	uint32 open = 0;

	for (int slot = 0; slot < TAIL_SLOTS; slot++)
		open += meta->open[slot] != InvalidBlockNumber;
	return open > 1 ? meta->tail.pages - (open - 1) : meta->tail.pages;
}

/* Returns the length at which the tail is to be sealed. */
uint32
tail_limit(const IndexMeta *meta)
{
	uint32 pages = TAIL_DOCUMENTS / documents_per_page(meta_stride(meta));

	return Min(pages, TAIL_BYTES / BLCKSZ) + 1;
}

/* Returns whether the tail is to be sealed. */
bool
tail_is_due(const IndexMeta *meta)
{
	return meta->tail.stamp != 0 && tail_length(meta) >= tail_limit(meta);
}

/*
 * After this number of pages a walk compares the chain's length with the file's, so that a corrupt
 * chain does not lead it round in a circle.
 */
#define PAGES_BEFORE_CHECK 1024

/*
 * Calls visit for each page of a tail, share-locked, as a copy of the metapage lists it.
 * Returns false if upkeep has replaced the tail.  Pages added since the copy was made are not
 * visited; they hold rows that no snapshot taken before it sees.
 */
bool
tail_walk(Relation index, const TailEntry *tail, TailVisitor visit, void *state)
{
	BlockNumber block = tail->first;

	for (uint32 p = 0; tail->stamp != 0 && p < tail->pages; p++)
	{
		Buffer buffer = page_read(index, block, PAGE_DOCUMENTS, tail->stamp);

		if (!BufferIsValid(buffer))
			return false;
		page_check_documents(index, buffer, tail->stride);
		if ((p == tail->pages - 1) != (block == tail->last))
			page_corrupt(index, block, "chain of pages of another length than the metapage says");
		visit(state, buffer);
		block = page_info(BufferGetPage(buffer))->next;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		if (p == PAGES_BEFORE_CHECK && tail->pages > RelationGetNumberOfBlocks(index))
			page_corrupt(index, META_BLOCK, "tail longer than the index");
	}
	return true;
}
