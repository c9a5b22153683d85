/*
 * insert_sets.c: the elements of a set that is inserted.
 *
 * An insert has its page of documents locked.  The last set on that page says on which page of
 * elements more are appended, if there is room.  So each open page of the tail has a page of
 * elements of its own, which is locked after it.
 */
#include "index/index.h"
#include "store/sets.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"

/* Returns the block that has the last elements of the sets on a page, or InvalidBlockNumber. */
static BlockNumber
last_elements(Page page, uint32 stride)
{
	for (uint32 i = page_info(page)->count; i-- > 0;)
	{
		const SetRecord *record = (SetRecord *) page_symbols(page, stride, i);

		if ((tid_flags(page_tid(page, i)) & ~TID_DEAD) == 0)
			return record->offset + (uint64) record->count < ELEMENTS_PER_PAGE ? record->page :
																				 InvalidBlockNumber;
	}
	return InvalidBlockNumber;
}

/*
 * Appends a set to an exclusively locked page of documents that has room, and its elements to
 * the page of elements that belongs to it; false if there is no room on that.
 */
bool
set_append(Relation index, Buffer buffer, uint32 stride, RowDocument *doc)
{
	const PageInfo *info = page_info(BufferGetPage(buffer));
	BlockNumber block = last_elements(BufferGetPage(buffer), stride);
	Buffer elements;
	Page page;
	bool room;

	if (block == InvalidBlockNumber)
		return false;
	elements = ReadBuffer(index, block);
	LockBuffer(elements, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(elements);
	if (!page_is_ours(page) || page_info(page)->stamp != info->stamp ||
		page_info(page)->kind != PAGE_ELEMENTS)
		page_corrupt(index, block, "not a page of elements of the tail");
	page_check_documents(index, elements, 0);
	room = page_info(page)->count + (uint64) doc->record.count <= ELEMENTS_PER_PAGE;
	if (room)
	{
		doc->record.page = block;
		doc->record.offset = page_info(page)->count;
		insert_append(index, buffer, stride, elements, doc);
	}
	UnlockReleaseBuffer(elements);
	return room;
}

/* Writes a new page of elements, which links to the next one.  Returns its block. */
static BlockNumber
insert_write_elements(Relation index, const IndexMeta *meta, const uint64 *element, uint32 count,
					  BlockNumber next)
{
	Buffer buffer = page_allocate(index, meta);
	BlockNumber block = BufferGetBlockNumber(buffer);
	GenericXLogState *state = GenericXLogStart(index);
	Page page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);

	page_init(page, PAGE_ELEMENTS, meta->tail.stamp);
	page_info(page)->block = block;
	page_info(page)->next = next;
	page_put_elements(page, element, count);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	return block;
}

/* Adds to the pages of elements of a tail; false if it does not take inserts any more. */
static bool
count_pages(Relation index, uint32 stamp, uint32 pages, TailGrowth *growth)
{
	MetaChange change = meta_begin(index);
	IndexMeta *meta = change.meta;
	uint32 before = tail_times(meta, tail_length(meta), meta->elements);
	bool open = meta->tail.stamp == stamp;

	if (open)
	{
		meta->elements += pages;
		tail_grew(growth, before, meta);
		meta_commit(&change);
	}
	else
		meta_abort(&change);
	return open;
}

/*
 * Writes the elements of a set to new pages of a tail, the last page first, since each links to
 * the next.  Returns false if the tail does not take inserts any more.
 */
bool
set_position(Relation index, uint32 stamp, RowDocument *doc, TailGrowth *growth)
{
	IndexMeta *meta = meta_read(index);
	uint32 left = doc->record.count;
	BlockNumber block = InvalidBlockNumber;
	bool open = meta->tail.stamp == stamp;

	while (open && left > 0)
	{
		uint32 part = left % ELEMENTS_PER_PAGE == 0 ? ELEMENTS_PER_PAGE : left % ELEMENTS_PER_PAGE;

		left -= part;
		block = insert_write_elements(index, meta, doc->element + left, part, block);
		CHECK_FOR_INTERRUPTS();
	}
	open =
		open && count_pages(index, stamp, pages_for(doc->record.count, ELEMENTS_PER_PAGE), growth);
	doc->record.page = block;
	doc->record.offset = 0;
	doc->placed = open ? stamp : 0;
	pfree(meta);
	return open;
}
