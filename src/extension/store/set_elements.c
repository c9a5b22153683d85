/*
 * set_elements.c: the elements of the sets of an index, on their pages.
 */
#include "store/sets.h"

#include "miscadmin.h"

/* Unpins the page that was kept. */
void
kept_release(KeptPage *kept)
{
	if (BufferIsValid(kept->buffer))
		ReleaseBuffer(kept->buffer);
	kept->buffer = InvalidBuffer;
}

/* Share-locks the page that was kept, if it is `page` and still belongs to the source. */
static bool
lock_kept(const ElementSource *source, uint32 page)
{
	KeptPage *kept = source->kept;
	uint32 stamp = source->segment != NULL ? source->segment->stamp : source->stamp;
	const PageInfo *info;

	if (kept == NULL || !BufferIsValid(kept->buffer) || kept->page != page)
		return false;
	LockBuffer(kept->buffer, BUFFER_LOCK_SHARE);
	info = page_info(BufferGetPage(kept->buffer));
	if (info->page_id == PAGE_ID && info->stamp == stamp && info->kind == PAGE_ELEMENTS &&
		info->block == BufferGetBlockNumber(kept->buffer))
		return true;
	LockBuffer(kept->buffer, BUFFER_LOCK_UNLOCK);
	kept_release(kept);
	return false;
}

/* Share-locks a page of elements: its number in a segment, its block in a tail. */
static Buffer
read_page(const ElementSource *source, uint32 page)
{
	Buffer buffer;

	if (lock_kept(source, page))
		buffer = source->kept->buffer;
	else if (source->segment != NULL)
		return segment_elements(source->index, source->segment, page);
	else if (source->walk != NULL)
		return walk_elements(source->walk, page);
	else
		buffer = page_read(source->index, page, PAGE_ELEMENTS, source->stamp);
	if (BufferIsValid(buffer))
		page_check_documents(source->index, buffer, 0);
	return buffer;
}

/* Unlocks a page of elements, and keeps or unpins it. */
static void
elements_release_page(const ElementSource *source, Buffer buffer, uint32 page)
{
	KeptPage *kept = source->kept;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (kept == NULL)
		ReleaseBuffer(buffer);
	else if (kept->buffer != buffer || kept->page != page)
	{
		kept_release(kept);
		kept->buffer = buffer;
		kept->page = page;
		kept->pages++;
	}
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
 * Adds the elements of a part of a set to the page at hand of a segment that is written.  Calls full()
 * when the page is full, to begin the next.  With the first part, sets the record to where they are.
 * Returns whether this is the last part.
 */
bool
elements_put(SegmentRoot *root, Page page, const SortedPart *part, SetRecord *record,
			 void (*full)(void *state), void *state)
{
	const uint64 *element = part->element;

	if (part->from == 0)
	{
		memcpy(record, part->document.symbols, sizeof(SetRecord));
		record->page = root->element_pages;
		record->offset = page_info(page)->count;
	}
	root->elements += part->count;
	for (uint32 left = part->count; left > 0;)
	{
		uint32 some = Min(left, ELEMENTS_PER_PAGE - page_info(page)->count);

		page_put_elements(page, element, some);
		element += some;
		left -= some;
		if (page_info(page)->count == ELEMENTS_PER_PAGE)
			full(state);
	}
	return tid_flags(&part->document.tid) != 0 || part->from + part->count == record->count;
}

/*
 * Passes on the elements of a set that are on its first page, while that is locked, and
 * sets the record to what follows and is wanted.  Returns false if maintenance has replaced the segment
 * or tail.
 */
static bool
elements_read_some(const ElementSource *source, SetRecord *rest, ElementVisitor visit, void *state)
{
	bool tail = source->segment == NULL && source->walk == NULL;
	uint32 page = rest->page;
	Buffer buffer = read_page(source, page);
	const PageInfo *info;
	uint32 part;

	if (!BufferIsValid(buffer))
		return false;
	info = page_info(BufferGetPage(buffer));
	if (rest->offset >= info->count)
		page_corrupt(source->index, BufferGetBlockNumber(buffer), "set beyond the end of its page");
	part = Min(rest->count, info->count - rest->offset);
	if (!visit(state, page_elements(BufferGetPage(buffer)) + rest->offset, part))
		rest->count = part;
	rest->page = tail ? info->next : rest->page + 1;
	rest->offset = 0;
	rest->count -= part;
	elements_release_page(source, buffer, page);
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* Passes the elements of a set on, as elements_read_some() does. */
bool
elements_read(const ElementSource *source, const SetRecord *record, ElementVisitor visit,
			  void *state)
{
	SetRecord rest = *record;

	while (rest.count > 0)
		if (!elements_read_some(source, &rest, visit, state))
			return false;
	return true;
}

/* An ElementVisitor: appends to an array. */
static bool
elements_append(void *state, const uint64 *element, uint32 count)
{
	uint64 **to = state;

	memcpy(*to, element, count * sizeof(uint64));
	*to += count;
	return true;
}

/* Reports an error if a record that is damaged says that a set is larger than the index. */
static void
check_count(const ElementSource *source, const SetRecord *record)
{
	uint64 pages = RelationGetNumberOfBlocks(source->index);

	if (record->count > pages * ELEMENTS_PER_PAGE)
		page_corrupt(source->index, META_BLOCK, "set larger than the index");
}

/* Returns a copy of the elements of a set, or NULL as elements_read() returns false. */
uint64 *
elements_copy(const ElementSource *source, const SetRecord *record)
{
	uint64 *copy;
	uint64 *to;

	check_count(source, record);
	copy = to = palloc_extended(Max(record->count, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	return elements_read(source, record, elements_append, &to) ? copy : NULL;
}

/*
 * Copies the first elements of a set to an array of PART_ELEMENTS, and sets the record to what
 * follows.  Returns their number, 0 if maintenance has replaced the segment or tail.
 */
uint32
elements_part(const ElementSource *source, SetRecord *rest, uint64 *part)
{
	uint64 *to = part;

	check_count(source, rest);
	while (rest->count > 0 && part + PART_ELEMENTS - to >= ELEMENTS_PER_PAGE)
		if (!elements_read_some(source, rest, elements_append, &to))
			return 0;
	return (uint32) (to - part);
}
