/*
 * set_elements.c: the elements of the sets of an index, on their pages.
 */
#include "index/sets.h"

#include "miscadmin.h"

/* Share-locks a page of elements: its number in a segment, its block in a tail. */
static Buffer
read_page(const ElementSource *source, uint32 page)
{
	Buffer buffer;

	if (source->segment != NULL)
		return segment_elements(source->index, source->segment, page);
	if (source->walk != NULL)
		return walk_elements(source->walk, page);
	buffer = page_read(source->index, page, PAGE_ELEMENTS, source->stamp);
	if (BufferIsValid(buffer))
		page_check_documents(source->index, buffer, 0);
	return buffer;
}

/*
 * Returns the entry of a page of documents in the maps of a segment, without its block: with the
 * size of the first set, or, if documents are no sets, with the stamp of the page.
 */
MapEntry
documents_entry(const SignatureHeader *shape, Page page, uint32 stride)
{
	MapEntry entry = {.number = page_info(page)->stamp};

	if (shape_is_set(shape))
		entry.number = ((SetRecord *) page_symbols(page, stride, 0))->count;
	return entry;
}

/*
 * Adds the elements of a set to the page at hand of a segment that is written, and says in the
 * record of the set where they are.  Calls full() when the page is full, to begin the next.
 */
void
elements_put(SegmentRoot *root, Page page, SetRecord *record, const uint64 *element,
			 void (*full)(void *state), void *state)
{
	root->elements += record->count;
	record->page = root->element_pages;
	record->offset = page_info(page)->count;
	for (uint32 left = record->count; left > 0;)
	{
		uint32 part = Min(left, ELEMENTS_PER_PAGE - page_info(page)->count);

		page_put_elements(page, element, part);
		element += part;
		left -= part;
		if (page_info(page)->count == ELEMENTS_PER_PAGE)
			full(state);
	}
}

/*
 * Passes the elements of a set on, page by page, while the page is locked.  Returns false if
 * upkeep has replaced the segment or tail.
 */
bool
elements_read(const ElementSource *source, const SetRecord *record, ElementVisitor visit,
			  void *state)
{
	bool tail = source->segment == NULL && source->walk == NULL;
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
