/*
 * segment.h: immutable segments: written once, read by many.
 */
#ifndef NEARDUP_INDEX_SEGMENT_H
#define NEARDUP_INDEX_SEGMENT_H

#include "index/page.h"

/* The contents of a root page: this, then the blocks of the map's pages. */
typedef struct SegmentRoot
{
	uint32 documents;
	uint32 grouped;
	uint32 stride;
	uint32 document_pages;  /* logical pages: documents first, ... */
	uint32 directory_pages; /* ... then the directory, ... */
	uint32 posting_pages;   /* ... then the postings */
	uint32 map_pages;
	int32 groups; /* the Grouping; k and b are the index's */
	int32 width;
	int32 wide;
	int32 bucket_bits;
} SegmentRoot;

#define page_root(page) ((SegmentRoot *) PageGetContents(page))
#define page_root_map(page) ((BlockNumber *) (page_root(page) + 1))
#define ROOT_MAP_PAGES ((PAGE_ROOM - sizeof(SegmentRoot)) / sizeof(BlockNumber))
#define BLOCKS_PER_MAP_PAGE (PAGE_ROOM / sizeof(BlockNumber))
#define OFFSETS_PER_PAGE (PAGE_ROOM / sizeof(uint32))

/* Most documents in a segment: their numbers take three bytes. */
#define SEGMENT_DOCUMENTS_MAX (UINT32_C(1) << 24)

/* Documents are numbered 0 .. n - 1 in the order they come. */
static inline uint32
postings_per_page(uint32 documents)
{
	return PAGE_ROOM / posting_bytes(documents);
}

static inline void
root_set_grouping(SegmentRoot *root, const Grouping *grouping)
{
	root->groups = grouping->groups;
	root->width = grouping->width;
	root->wide = grouping->wide;
	root->bucket_bits = grouping->bucket_bits;
}

static inline Grouping
root_grouping(const SegmentRoot *root, const SignatureHeader *shape)
{
	Grouping grouping = {shape->k,   signature_bits(shape), root->groups, root->width,
						 root->wide, root->bucket_bits};

	return grouping;
}

/* All pages of a segment. */
static inline uint32
segment_pages(const SegmentRoot *root)
{
	return root->document_pages + root->directory_pages + root->posting_pages + root->map_pages + 1;
}

/* Documents that no vacuum has found dead. */
static inline uint32
segment_living(const SegmentEntry *entry)
{
	return entry->documents - entry->dead;
}

/* How the metapage lists a segment that nobody has died in. */
static inline SegmentEntry
segment_entry(const SegmentRoot *root, uint32 owner, BlockNumber block)
{
	SegmentEntry entry = {.owner = owner,
						  .root = block,
						  .documents = root->documents,
						  .grouped = root->grouped,
						  .groups = root->groups,
						  .pages = segment_pages(root)};

	return entry;
}

typedef struct Upkeep Upkeep;

/* ---- Size (segment_size.c) ------------------------------------------------------ */

/*
 * Choose the grouping of a segment whose documents are written, and count its other
 * pages.  It has as many groups as suit, or as its map can list.
 */
extern Grouping segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root);

/*
 * The most documents that a new segment may have, so that its map can list its pages
 * and they are grouped within so many bytes, but at least a megabyte.
 */
extern uint32 segment_documents_max(Relation index, const SignatureHeader *shape, Size memory);

/* Where memory does not matter. */
#define SEGMENT_MEMORY_ANY ((Size) 1 << 40)

/* What to do for an index that has as many segments as can be. */
extern const char *segment_size_hint(Relation index, const SignatureHeader *shape, Size memory);

/* ---- Writing (segment_write.c) ------------------------------------------------- */

typedef struct SegmentWriter SegmentWriter;

/* Begin a segment of owner's; live must outlive the writer. */
extern SegmentWriter *segment_begin(Upkeep *upkeep, const IndexMeta *live, uint32 owner);

/* Add a document: its TID with flags, and symbols unless flags say it has none. */
extern void segment_add(SegmentWriter *writer, const ItemPointerData *tid, const uint8_t *symbols);

/* Documents added so far. */
extern uint32 segment_length(const SegmentWriter *writer);

/*
 * Group, write the rest, and describe the segment for the metapage.  Where upkeep gives
 * way there is no segment: *entry is not set, and what was written goes to the free
 * space map by segment_abandon.
 */
extern bool segment_finish(SegmentWriter *writer, SegmentEntry *entry);
extern void segment_abandon(SegmentWriter *writer);

/* ---- Reading (segment_read.c) ------------------------------------------------- */

/* What a backend keeps of a segment. */
typedef struct Segment
{
	CompatFile file; /* with identity and owner the key */
	uint64 identity; /* of the index */
	uint32 owner;    /* of the segment */
	BlockNumber root_block;
	uint32 pages;
	SegmentRoot root;
	Grouping grouping;
	int posting_bytes;
	uint32 postings_per_page;
	uint32 documents_per_page;
	BlockNumber *map;       /* of all logical pages */
	Buffer *recent;         /* where each of them was verified last */
	uint32 seen_version;    /* of pages_seen_version() then */
	BlockNumber *map_block; /* of the map's own pages */
	uint32 *directory;      /* all of it, or NULL where the cache is too small */
	uint32 *first_offset;   /* of each group in the directory */
	Size bytes;
	uint64 last_used;
	int planned_for; /* distance of plan, -1 for none */
	int planned_method;
	SearchPlan plan;
	struct Segment *next;
} Segment;

/*
 * Open a segment, from this backend's cache or from its pages.  NULL where its
 * pages belong to another by now.  Valid until the next call.
 */
extern Segment *segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry);

/*
 * Parts of that, for whom all is too much: root, grouping and map_block; entries of pages
 * of a kind.  False where a page belongs to another by now.
 */
extern bool segment_load_root(Relation index, const IndexMeta *meta, const SegmentEntry *entry,
							  Segment *segment);
extern bool segment_load_array(Relation index, uint32 owner, const BlockNumber *block, uint32 pages,
							   PageKind kind, uint32 *entries, uint32 count);

/* Forget what this backend knows of an index, so that all of it is read again. */
extern void segments_forget(const IndexMeta *meta);

/*
 * Pin and share-lock a logical page; InvalidBuffer as page_read.  How many entries
 * it has is compared each time, for that is used as a bound; its contents are
 * verified when this backend sees them for the first time, or read in anew.
 */
extern Buffer segment_page(Relation index, const Segment *segment, uint32 logical, PageKind kind);

/* Let the processor fetch bytes of a page that will be read soon. */
extern void segment_expect(const Segment *segment, uint32 logical, Size from, Size bytes);

/*
 * The postings of a bucket: [*from, *to) of the group's.  False where the
 * directory's page belongs to another by now.
 */
extern bool segment_bucket(Relation index, const Segment *segment, int group, uint32 bucket,
						   uint32 *from, uint32 *to);

/* Statistics for a plan that knows nothing of the query's values. */
extern SegmentStats segment_stats(const Segment *segment);

#endif
