/*
 * page.h: the layout of the index on disk, and operations on single pages.
 *
 * src/README describes the whole: pages, locks, WAL, the life of a segment.
 */
#ifndef NEARDUP_STORE_PAGE_H
#define NEARDUP_STORE_PAGE_H

#include "compat.h"

#include "access/generic_xlog.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "grouping/grouping.h"
#include "sketch/set_query.h"
#include "sketch/signature.h"

#define INDEX_MAGIC 0x4E44494E
#define INDEX_LAYOUT 6

/* ---- Every page --------------------------------------------------------- */

typedef enum PageKind
{
	PAGE_META = 1,
	PAGE_DOCUMENTS, /* a page of documents of a segment or of a tail */
	PAGE_ROOT,      /* a segment's description */
	PAGE_MAP,       /* numbers and blocks of a segment's pages */
	PAGE_POSTINGS,  /* document numbers by buckets */
	PAGE_ELEMENTS   /* elements of sets */
} PageKind;

#define PAGE_ID 0xFD8D

/*
 * Follows the header of every page.  So a search finds what a page is, and which bucket a page
 * of postings begins with, in one line of the cache.
 *
 * On the metapage stamp and next are INDEX_MAGIC and INDEX_LAYOUT.  These are at bytes 24 and 28 of
 * the file in every layout from the first on, so any version can tell what another has made.
 */
typedef struct PageInfo
{
	uint32 stamp;      /* segment or tail that the page belongs to */
	BlockNumber next;  /* next page of a chain */
	BlockNumber block; /* the page's own block, which shows a page in another's place */
	uint32 reserved;
	uint16 count; /* number of entries in use */
	uint16 kind;
	uint16 flags;
	uint16 page_id;
} PageInfo;

#define PAGE_CLOSED 1 /* the page's tail is being sealed: it takes no more documents */

#define page_info(page) ((PageInfo *) ((char *) (page) + MAXALIGN(SizeOfPageHeaderData)))
#define CONTENTS_OFFSET (MAXALIGN(SizeOfPageHeaderData) + MAXALIGN(sizeof(PageInfo)))
#define page_contents(page) ((char *) (page) + CONTENTS_OFFSET)
#define PAGE_ROOM (BLCKSZ - CONTENTS_OFFSET)

extern void page_init(Page page, PageKind kind, uint32 stamp);
extern void page_cut_zeros(Page page);

/* Returns whether this is a page of a neardup index; a new page is not. */
static inline bool
page_is_ours(Page page)
{
	return page_info(page)->page_id == PAGE_ID;
}

extern _Noreturn void page_corrupt(Relation index, BlockNumber block, const char *what);
extern Buffer page_read(Relation index, BlockNumber block, PageKind kind, uint32 stamp);
extern Buffer page_read_recent(Relation index, BlockNumber block, PageKind kind, uint32 stamp,
							   uint32 listed, Buffer *recent);
extern void page_check_documents(Relation index, Buffer buffer, uint32 stride);

extern int64 pages_read_in(void);

/* ---- Documents ---------------------------------------------------------- */

/*
 * A page of documents holds their packed symbols and keys, stride bytes each, from the front,
 * and their heap TIDs from the end; the page's hole is between them.  The flags are in the
 * high bits of the TID's offset number, which no heap page needs.  A document's keys are at
 * the end of its bytes, aligned: a hash of 32 bits for each key column.
 */
#define TID_DEAD 0x8000
#define TID_NULL 0x4000
#define TID_EMPTY 0x2000
#define TID_FLAGS 0xE000

/* A mark beside the flags: a scan has found the row dead to all transactions; vacuum has not. */
#define TID_KILLED 0x1000

/* Returns how many keys the documents of an index have: all columns but one, the signature. */
static inline uint32
index_keys(Relation index)
{
	return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

/* The room for symbols of documents that arrive before the first signature: all are NULL. */
#define STRIDE_MIN 8
#define DOCUMENTS_PER_PAGE_MAX (PAGE_ROOM / (STRIDE_MIN + sizeof(ItemPointerData)))

/* Returns whether an index of this shape holds sets, not signatures. */
static inline bool
shape_is_set(const SignatureHeader *shape)
{
	return (shape->flags & SIGNATURE_SET) != 0;
}

/* The shape of an index that has no signatures has k = 0. */
static inline uint32
document_stride(const SignatureHeader *shape, uint32 keys)
{
	uint32 bytes = shape->k == 0 ? 0 : SYMBOL_BYTES(shape->k, signature_bits(shape));

	bytes = Max(bytes, STRIDE_MIN);
	return keys == 0 ? bytes : TYPEALIGN(STRIDE_MIN, bytes + keys * sizeof(uint32));
}

/* Returns the stride of documents that arrive before the first signature. */
static inline uint32
stride_of_nulls(uint32 keys)
{
	SignatureHeader none = {.k = 0};

	return document_stride(&none, keys);
}

static inline uint32
documents_per_page(uint32 stride)
{
	return PAGE_ROOM / (stride + sizeof(ItemPointerData));
}

static inline uint8_t *
page_symbols(Page page, uint32 stride, uint32 i)
{
	return (uint8_t *) page_contents(page) + (Size) stride * i;
}

/* Returns the keys of a document, whose symbols are given. */
static inline const uint32 *
document_keys(const uint8_t *symbols, uint32 stride, uint32 keys)
{
	const uint8_t *end = symbols + stride;

	Assert(keys == 0 || (uintptr_t) end % sizeof(uint32) == 0);
	return (const uint32 *) end - keys;
}

/* TIDs grow down from the end. */
static inline ItemPointer
page_tid(Page page, uint32 i)
{
	return (ItemPointer) ((char *) page + BLCKSZ) - (i + 1);
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

/* Returns a TID without flags and mark. */
static inline ItemPointerData
tid_of_heap(const ItemPointerData *tid)
{
	ItemPointerData heap = *tid;

	heap.ip_posid &= ~(TID_FLAGS | TID_KILLED);
	return heap;
}

/* A document that is to be put on a page. */
typedef struct Document
{
	ItemPointerData tid;    /* the TID with flags */
	const uint8_t *symbols; /* the symbols; not used if the flags say that there are none */
	size_t bytes;           /* bytes of symbols */
	const uint32 *key;
	uint32 keys;
} Document;

extern void page_put_document(Page page, uint32 stride, const Document *document);

/* ---- Sets ----------------------------------------------------------------- */

/* What a document of an index of sets has in the place of symbols. */
typedef struct SetRecord
{
	uint32 count;  /* the number of elements */
	uint32 page;   /* the page where they begin: its number in a segment, its block in a tail */
	uint32 offset; /* the number of the first element on the page */
	uint32 reserved;
	SetBitmap bitmap;
} SetRecord;

StaticAssertDecl(sizeof(SetRecord) * 8 == SET_SYMBOLS, "record of a set of another size");

/* A segment of sets has at most this number of documents. */
#define SET_DOCUMENTS_MAX (UINT32_C(1) << 30)

/* A page of elements holds elements of sets, one set after the other; `count` is their number. */
#define ELEMENTS_PER_PAGE (PAGE_ROOM / sizeof(uint64))

static inline uint64 *
page_elements(Page page)
{
	return (uint64 *) page_contents(page);
}

extern void page_put_elements(Page page, const uint64 *element, uint32 count);

/* Returns a document of a page; `bytes` is the size of its symbols. */
static inline Document
page_document(Page page, uint32 stride, uint32 keys, size_t bytes, uint32 i)
{
	const uint8_t *symbols = page_symbols(page, stride, i);

	return (Document){.tid = *page_tid(page, i),
					  .symbols = symbols,
					  .bytes = bytes,
					  .key = document_keys(symbols, stride, keys),
					  .keys = keys};
}

#endif
