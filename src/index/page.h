/*
 * page.h: how the index lies on disk, and pages one at a time.
 *
 * src/README tells the whole story: pages, locks, WAL, the life of a segment.
 */
#ifndef NEARDUP_INDEX_PAGE_H
#define NEARDUP_INDEX_PAGE_H

#include "compat.h"

#include "access/generic_xlog.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "grouping/grouping.h"
#include "sketch/signature.h"

#define INDEX_MAGIC 0x4E44494E
#define INDEX_LAYOUT 1

#define META_BLOCK 0

/* ---- Every page --------------------------------------------------------- */

typedef enum PageKind
{
	PAGE_META = 1,
	PAGE_DOCUMENTS, /* of a segment or of a tail */
	PAGE_ROOT,      /* a segment's description */
	PAGE_MAP,       /* block numbers of a segment's pages */
	PAGE_DIRECTORY, /* where each bucket's postings start */
	PAGE_POSTINGS   /* document numbers in bucket order */
} PageKind;

#define PAGE_ID 0xFD8D

/* At the end of every page. */
typedef struct PageTrailer
{
	uint32 owner;     /* segment or tail that the page belongs to */
	BlockNumber next; /* of a tail's documents */
	uint32 checksum;  /* of the payload, but what vacuum marks */
	uint32 dead;      /* sums up which documents vacuum has marked; 0: nobody kept it */
	uint16 kind;
	uint16 count; /* entries in use */
	uint16 flags;
	uint16 page_id;
} PageTrailer;

#define PAGE_CLOSED 1 /* of a tail that is being sealed: append elsewhere */

/* Where every page of ours has it: no need to touch the page's header. */
#define TRAILER_OFFSET (BLCKSZ - MAXALIGN(sizeof(PageTrailer)))
#define page_trailer(page) ((PageTrailer *) ((char *) (page) + TRAILER_OFFSET))
#define PAGE_ROOM (TRAILER_OFFSET - MAXALIGN(SizeOfPageHeaderData))

/* Make an empty page of a kind.  All of it is payload, but on pages of documents. */
extern void page_init(Page page, PageKind kind, uint32 owner);

/* Note the checksum of a page that is full, and not one of documents: those keep theirs. */
extern void page_seal(Page page);

/* Is it a page of ours?  A new page is not. */
static inline bool
page_is_ours(Page page)
{
	return page_trailer(page)->page_id == PAGE_ID;
}

/* Complain of a page that cannot be. */
extern _Noreturn void page_corrupt(Relation index, BlockNumber block, const char *what);

/*
 * Pin and share-lock a page that should belong to owner.  InvalidBuffer where
 * it has another owner: it was freed and used anew since the caller learnt of
 * it.
 */
extern Buffer page_read(Relation index, BlockNumber block, PageKind kind, uint32 owner);

/*
 * The same for a page that was verified in *recent.  Where it is not there any
 * more, or was read in anew, *recent is InvalidBuffer: verify it.
 */
extern Buffer page_read_recent(Relation index, BlockNumber block, PageKind kind, uint32 owner,
							   Buffer *recent);

/* The block that page_read refused last. */
extern BlockNumber page_refused(void);

/*
 * Complain unless a locked page's contents are those written; stride where it
 * holds documents.  Reads all of the page.
 */
extern void page_verify(Relation index, Buffer buffer, uint32 stride);

/* The checksum of a page's documents, given that of those before `from`. */
extern uint32 page_checksum_documents(Page page, uint32 stride, uint32 from, uint32 checksum);

/*
 * Complain unless as many documents fit on a locked page as it says, and its
 * header says so too: generic WAL trusts that.
 */
extern void page_check_documents(Relation index, Buffer buffer, uint32 stride);

/* ---- Pages seen before (page_verify.c) ----------------------------------------- */

/* Pin a block that was last seen in *recent; see page_read_recent. */
extern Buffer page_pin_recent(Relation index, BlockNumber block, Buffer *recent);

/* Was the page that was pinned last read in for that? */
extern bool page_was_read_in(void);

/* Pin a block of which no more is asked than whose it is. */
extern Buffer page_peek(Relation index, BlockNumber block, BufferAccessStrategy strategy);

/* Changes when a page was read in without being verified: what was seen before is void. */
extern uint32 pages_seen_version(void);

/* Pin a page of a tail; the same as page_read. */
extern Buffer page_pin_documents(Relation index, BlockNumber block);
extern Buffer page_read_documents(Relation index, BlockNumber block, uint32 owner);

/*
 * Complain unless a locked page of a tail is what it should be: its counts always,
 * its contents where this backend has not seen them.
 */
extern void page_verify_documents(Relation index, Buffer buffer, uint32 stride);

/* ---- Metapage ----------------------------------------------------------- */

typedef struct SegmentEntry
{
	uint32 owner; /* never used again in this index */
	BlockNumber root;
	uint32 documents; /* dead ones included */
	uint32 grouped;   /* that have postings: neither NULL nor empty */
	uint32 groups;
	uint32 dead;
	uint32 pages;
} SegmentEntry;

/* A chain of document pages. */
typedef struct TailEntry
{
	uint32 owner;      /* 0: there is none */
	BlockNumber first; /* the youngest */
	BlockNumber last;
	uint32 pages;
	uint32 stride; /* of its documents */
} TailEntry;

/* So many pages of a tail take inserts at once. */
#define TAIL_SLOTS 8

typedef struct IndexMeta
{
	uint32 magic;
	uint32 layout;
	uint64 identity;       /* tells this index from any before it in the same file */
	SignatureHeader shape; /* of all signatures; k = 0 until the first */
	uint32 next_owner;
	uint32 writing;               /* owner of the first segment being written, 0 for none */
	TailEntry tail;               /* takes the inserts */
	TailEntry frozen;             /* being sealed into a segment */
	BlockNumber open[TAIL_SLOTS]; /* the tail's pages that have room */
	uint32 segments;
	uint32 checksum; /* of what comes before, and of the segments */
	SegmentEntry segment[FLEXIBLE_ARRAY_MEMBER];
} IndexMeta;

#define SEGMENTS_MAX ((PAGE_ROOM - offsetof(IndexMeta, segment)) / sizeof(SegmentEntry))

#define page_meta(page) ((IndexMeta *) PageGetContents(page))

/* A copy of the metapage as it is at this moment, in the caller's memory; verified. */
extern IndexMeta *meta_read(Relation index);

/* The same; an error where it has changed and the snapshot, unless NULL, is too old. */
extern IndexMeta *meta_read_as_of(Relation index, Snapshot snapshot);

/* The segment or tail of that owner, as the copy knows. */
extern bool meta_owns(const IndexMeta *meta, uint32 owner);

/* The entry of a segment; NULL where it is not listed. */
extern SegmentEntry *meta_segment(const IndexMeta *meta, uint32 owner);

/*
 * A change of the metapage, which is exclusively locked and verified: meta is its
 * copy in a WAL record, which may take other pages too.  Commit writes it, abort
 * leaves the page as it was; both release it.
 */
typedef struct MetaChange
{
	Buffer buffer;
	GenericXLogState *state;
	IndexMeta *meta;
} MetaChange;

extern MetaChange meta_begin(Relation index);
extern void meta_commit(MetaChange *change);
extern void meta_abort(MetaChange *change);

/* Without a tail. */
extern void meta_no_tail(IndexMeta *meta);

/* Write the first metapage, of an empty index, into a page. */
extern void meta_init(Page page);

/* Write the first metapage of an index that has been built; not logged. */
extern void meta_write_built(Relation index, const SignatureHeader *shape,
							 const SegmentEntry *segments, uint32 count);

/* ---- Documents ---------------------------------------------------------- */

/*
 * A page of documents holds their packed symbols, stride bytes each, and from
 * the other end their heap TIDs; between them is the page's hole.  Flags sit
 * in the TID's offset number, above what a page can hold.
 */
#define TID_DEAD 0x8000
#define TID_NULL 0x4000
#define TID_EMPTY 0x2000
#define TID_FLAGS 0xE000

/*
 * Before the first signature has fixed the index's shape all documents are
 * NULL, and lie on pages of this stride.
 */
#define STRIDE_MIN 8
#define DOCUMENTS_PER_PAGE_MAX (PAGE_ROOM / (STRIDE_MIN + sizeof(ItemPointerData)))

static inline uint32
document_stride(const SignatureHeader *shape)
{
	uint32 bytes = SYMBOL_BYTES(shape->k, signature_bits(shape));

	return Max(bytes, STRIDE_MIN);
}

static inline uint32
documents_per_page(uint32 stride)
{
	return PAGE_ROOM / (stride + sizeof(ItemPointerData));
}

static inline uint8_t *
page_symbols(Page page, uint32 stride, uint32 i)
{
	return (uint8_t *) PageGetContents(page) + (Size) stride * i;
}

/* TIDs grow down from the trailer, so that what is in use stays compact. */
static inline ItemPointer
page_tid(Page page, uint32 i)
{
	return (ItemPointer) page_trailer(page) - (i + 1);
}

static inline uint16
tid_flags(const ItemPointerData *tid)
{
	return tid->ip_posid & TID_FLAGS;
}

static inline void
tid_add_flags(ItemPointer tid, uint16 flags)
{
	tid->ip_posid |= flags;
}

static inline ItemPointerData
tid_of_heap(const ItemPointerData *tid)
{
	ItemPointerData heap = *tid;

	heap.ip_posid &= ~TID_FLAGS;
	return heap;
}

/* Mark a document dead, unless it is. */
extern void page_mark_dead(Page page, uint32 i);

/* Append a document to a page that has room; symbols of bytes unless it has none. */
extern void page_put_document(Page page, uint32 stride, const ItemPointerData *tid,
							  const uint8_t *symbols, size_t bytes);

/* The same, logged, to an exclusively locked page (insert_append.c). */
extern void page_append_document(Relation index, Buffer buffer, uint32 stride,
								 const ItemPointerData *tid, const uint8_t *symbols, size_t bytes);

/* ---- Free pages --------------------------------------------------------- */

/* Is a locked page new, or of an owner that is no more? */
extern bool page_is_free(Page page, const IndexMeta *live);

/*
 * An exclusively locked new or free page, not yet initialised.  live tells
 * whose pages must not be taken; NULL: extend the index, take none.
 */
extern Buffer page_allocate(Relation index, const IndexMeta *live);

#endif
