/*
 * set_elements.c: the elements of the sets of an index, on their pages.
 */
#include "index/sets.h"

#include "miscadmin.h"

/* Share-locks a page of elements of a segment that is being written. */
static Buffer
read_written(const ElementSource *source, uint32 page)
{
	const SegmentWriter *writer = source->writer;
	int64 before = pages_read_in();
	Buffer buffer;

	if (page >= writer->root->element_pages)
		page_corrupt(source->index, META_BLOCK, "set on a page that does not exist");
	buffer = page_read(source->index, writer->elements[page].block, PAGE_ELEMENTS, writer->stamp);
	if (BufferIsValid(buffer) && pages_read_in() != before)
		page_verify(source->index, buffer, 0);
	return buffer;
}

/* Share-locks a page of elements: its number in a segment, its block in a tail. */
static Buffer
read_page(const ElementSource *source, uint32 page)
{
	Buffer buffer;

	if (source->segment != NULL)
		return segment_elements(source->index, source->segment, page);
	if (source->walk != NULL)
		return walk_elements(source->walk, page);
	if (source->writer != NULL)
		return read_written(source, page);
	buffer = page_read_tail(source->index, page, PAGE_ELEMENTS, source->stamp);
	if (BufferIsValid(buffer))
		page_verify_tail(source->index, buffer, 0);
	return buffer;
}

/*
 * Passes the elements of a set on, page by page, while the page is locked.  Returns false if
 * upkeep has replaced the segment or tail.
 */
bool
elements_read(const ElementSource *source, const SetRecord *record, ElementVisitor visit,
			  void *state)
{
	bool tail = source->segment == NULL && source->walk == NULL && source->writer == NULL;
	uint32 page = record->page;
	uint32 from = record->offset;
	uint32 left = record->count;

	while (left > 0)
	{
		Buffer buffer = read_page(source, page);
		const PageInfo *info;
		uint32 part;

		if (!BufferIsValid(buffer))
			return false;
		info = page_info(BufferGetPage(buffer));
		if (from >= info->count)
			page_corrupt(source->index, BufferGetBlockNumber(buffer),
						 "set beyond the end of its page");
		part = Min(left, info->count - from);
		visit(state, page_elements(BufferGetPage(buffer)) + from, part);
		page = tail ? info->next : page + 1;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		left -= part;
		from = 0;
	}
	return true;
}

/* An ElementVisitor: appends to an array. */
static void
append(void *state, const uint64 *element, uint32 count)
{
	uint64 **to = state;

	memcpy(*to, element, count * sizeof(uint64));
	*to += count;
}

/* Returns a copy of the elements of a set, or NULL as elements_read() returns false. */
uint64 *
elements_copy(const ElementSource *source, const SetRecord *record)
{
	/* The count may be damaged: take no memory for more elements than the index can hold. */
	uint64 pages = RelationGetNumberOfBlocks(source->index);
	uint64 *copy;
	uint64 *to;

	if (record->count > pages * ELEMENTS_PER_PAGE)
		page_corrupt(source->index, META_BLOCK, "set larger than the index");
	copy = to = palloc_extended(Max(record->count, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	return elements_read(source, record, append, &to) ? copy : NULL;
}
