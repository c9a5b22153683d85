/*
 * segment_postings.c: pages of postings: how they are filled, and where a bucket is on them.
 *
 * The contents of a page are the number of its first bucket, 16-bit offsets where the code
 * of each bucket ends, and the codes (grouping/postings.c).  Offsets count from the end of
 * the array of offsets.  PageInfo.count is the number of buckets.
 */
#include "store/segment_postings.h"

/* The contents of a page of postings. */
typedef struct PostingsContents
{
	uint32 first;
	uint16 end[FLEXIBLE_ARRAY_MEMBER];
} PostingsContents;

#define page_postings(page) ((PostingsContents *) page_contents(page))

/* Bytes behind a code may be read, so the codes end before the page does. */
#define POSTINGS_ROOM (PAGE_ROOM - POSTINGS_OVERREAD)

static inline Size
codes_offset(uint32 buckets)
{
	return offsetof(PostingsContents, end) + buckets * sizeof(uint16);
}

/* ---- Filling ------------------------------------------------------------ */

/* Returns how many bytes the code of one more bucket may take; negative: there is no room. */
int
postings_room(const PostingsPage *page)
{
	return (int) POSTINGS_ROOM - (int) codes_offset(page->buckets + 1) - (int) page->used;
}

/* Adds the code of the next bucket, or of a part of it, to a page that has room for it. */
void
postings_add(PostingsPage *page, const uint32 *document, Size n, uint32 numbers)
{
	page->used += postings_put(document, n, numbers, page->codes + page->used);
	page->end[page->buckets++] = (uint16) page->used;
}

/* Makes a page of what was added. */
void
postings_finish(const PostingsPage *filled, Page page, uint32 stamp)
{
	PostingsContents *contents = page_postings(page);

	page_init(page, PAGE_POSTINGS, stamp);
	contents->first = filled->first;
	memcpy(contents->end, filled->end, filled->buckets * sizeof(uint16));
	memcpy((char *) contents + codes_offset(filled->buckets), filled->codes, filled->used);
	page_info(page)->count = (uint16) filled->buckets;
	page_cut_zeros(page);
}

/* ---- Reading ------------------------------------------------------------ */

/*
 * Finds a bucket on a page of postings whose first bucket is `first`.  An empty code means
 * that it has no postings there.  Reports an error if the page is corrupt.
 */
PostingCode
postings_on_page(Relation index, Buffer buffer, uint32 first, uint32 bucket)
{
	Page page = BufferGetPage(buffer);
	const PostingsContents *contents = page_postings(page);
	uint32 buckets = page_info(page)->count;
	uint32 i = bucket - bucket_of_number(first);
	Size codes = codes_offset(buckets);
	Size from;
	Size to;

	if (contents->first != first || codes > POSTINGS_ROOM)
		page_corrupt(index, BufferGetBlockNumber(buffer), "not the buckets that its map lists");
	if (i >= buckets)
		return (PostingCode){.code = NULL, .bytes = 0};
	from = i == 0 ? 0 : contents->end[i - 1];
	to = contents->end[i];
	if (from > to || codes + to > POSTINGS_ROOM)
		page_corrupt(index, BufferGetBlockNumber(buffer), "offsets of buckets out of order");
	return (PostingCode){.code = (uint8_t *) contents + codes + from, .bytes = to - from};
}

/* Guesses without a lock at which offsets of a page a bucket's code is, for prefetching only. */
void
postings_guess(Page page, uint32 first, uint32 bucket, Size *from, Size *to)
{
	const PostingsContents *contents = page_postings(page);
	uint32 buckets = Min(page_info(page)->count, PAGE_ROOM / sizeof(uint16) - 2);
	uint32 i = bucket - bucket_of_number(first);
	Size codes = (const char *) contents - (const char *) page + codes_offset(buckets);

	*from = *to = codes;
	if (i >= buckets)
		return;
	*from += i == 0 ? 0 : contents->end[i - 1];
	*to += contents->end[i];
}

/* Returns the offset on the page that says where a bucket is. */
Size
postings_offset(uint32 first, uint32 bucket)
{
	Size offset = CONTENTS_OFFSET + codes_offset(bucket - bucket_of_number(first));

	return Min(offset, BLCKSZ - 1);
}

/* ---- Prefetching -------------------------------------------------------- */

/* Returns the page of a slot without a pin, for prefetching only; NULL if that is not known. */
Page
slot_page_unpinned(const MapSlot *slot)
{
	/* Another page may be in the buffer; then what is read there is of no use. */
	Buffer recent = *slot->recent;

	if (!BufferIsValid(recent) || BufferIsLocal(recent))
		return NULL;
	return BufferGetBlock(recent);
}

/* Prefetches bytes of a page into the processor's cache, if the page is where it was last. */
void
slot_prefetch(const MapSlot *slot, Size from, Size bytes)
{
	const char *page = slot_page_unpinned(slot);

	if (page == NULL)
		return;
	__builtin_prefetch(page_info(page));
	page_prefetch((Page) page, from, from + bytes);
}
