/*
 * tail.c: the chain of pages that takes the inserts: its length, and a walk along it.
 */
#include "store/store.h"

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

/*
 * Returns how many times as long a tail of some pages of documents and of elements is as when it
 * is to be sealed, rounded down.
 */
uint32
tail_times(const IndexMeta *meta, uint32 pages, uint32 elements)
{
	uint32 limit = TAIL_DOCUMENTS / documents_per_page(meta_stride(meta));

	limit = host_limit(Min(limit, TAIL_BYTES / BLCKSZ) + 1);
	return Max(pages / limit, elements / host_limit(TAIL_ELEMENT_BYTES / BLCKSZ));
}

/* Returns whether the tail is to be sealed. */
bool
tail_is_due(const IndexMeta *meta)
{
	return meta->tail.stamp != 0 && tail_times(meta, tail_length(meta), meta->elements) > 0;
}

/* Notes that an insert has extended the tail, which was `before` times as long as it may be. */
void
tail_grew(TailGrowth *growth, uint32 before, const IndexMeta *meta)
{
	growth->before = growth->after == 0 ? before : Min(growth->before, before);
	growth->after = tail_times(meta, tail_length(meta), meta->elements);
}

/*
 * After this number of pages a walk compares the chain's length with the file's, so that a corrupt
 * chain does not lead it round in a circle.
 */
#define PAGES_BEFORE_CHECK 1024

/*
 * Calls visit for each page of a tail, share-locked, as a copy of the metapage lists it.
 * Returns false if maintenance has replaced the tail.  Pages added since the copy was made are not
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
