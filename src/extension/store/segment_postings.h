/*
 * segment_postings.h: pages of postings, and what is prefetched of pages.
 */
#ifndef NEARDUP_STORE_SEGMENT_POSTINGS_H
#define NEARDUP_STORE_SEGMENT_POSTINGS_H

#include "store/segment_read.h"

/* A page of postings that is being filled. */
typedef struct PostingsPage
{
	uint32 first; /* the first bucket, perhaps with BUCKET_CONTINUES */
	uint32 buckets;
	Size used; /* bytes of codes */
	uint16 end[PAGE_ROOM / sizeof(uint16)];
	uint8_t codes[PAGE_ROOM + POSTINGS_OVERREAD];
} PostingsPage;

extern int postings_room(const PostingsPage *page);
extern void postings_add(PostingsPage *page, const uint32 *document, Size n, uint32 numbers);
extern void postings_finish(const PostingsPage *filled, Page page, uint32 stamp);

/* Where the postings of a bucket, or a part of them, are on a locked page. */
typedef struct PostingCode
{
	const uint8_t *code;
	Size bytes;
} PostingCode;

extern PostingCode postings_on_page(Relation index, Buffer buffer, uint32 first, uint32 bucket);
extern void postings_guess(Page page, uint32 first, uint32 bucket, Size *from, Size *to);
extern Size postings_offset(uint32 first, uint32 bucket);

#define CACHE_LINE 64

/* Prefetches bytes of a page into the processor's cache. */
static inline void
page_prefetch(Page page, Size from, Size to)
{
	for (Size at = from - from % CACHE_LINE; at < Min(to, BLCKSZ); at += CACHE_LINE)
		__builtin_prefetch((const char *) page + at);
}

extern void slot_prefetch(const MapSlot *slot, Size from, Size bytes);
extern Page slot_page_unpinned(const MapSlot *slot);

#endif
