/*
 * segment.h: immutable segments: their layout, how they are written, and how they are read.
 */
#ifndef NEARDUP_INDEX_SEGMENT_H
#define NEARDUP_INDEX_SEGMENT_H

#include "index/page.h"

/*
 * The pages of a segment are numbered: first those of documents, then the directory's, then
 * the postings'.  The map gives the block of each of these logical pages.  The map's own
 * pages and, last, the root page have the numbers that follow.
 */

/* The contents of a root page, followed by the blocks of the map's pages. */
typedef struct SegmentRoot
{
	uint32 documents;
	uint32 grouped;
	uint32 stride;
	uint32 document_pages;
	uint32 directory_pages;
	uint32 posting_pages;
	uint32 map_pages;
	int32 groups; /* the Grouping; its k and b are the index's */
	int32 width;
	int32 wide;
	int32 bucket_bits;
} SegmentRoot;

#define page_root(page) ((SegmentRoot *) PageGetContents(page))
#define page_root_map(page) ((BlockNumber *) (page_root(page) + 1))
#define ROOT_MAP_PAGES ((PAGE_ROOM - sizeof(SegmentRoot)) / sizeof(BlockNumber))
#define BLOCKS_PER_MAP_PAGE (PAGE_ROOM / sizeof(BlockNumber))
#define OFFSETS_PER_PAGE (PAGE_ROOM / sizeof(uint32))

/* The most documents of a segment: a document's number takes at most three bytes. */
#define SEGMENT_DOCUMENTS_MAX (UINT32_C(1) << 24)

static inline uint32
postings_per_page(uint32 documents)
{
	return PAGE_ROOM / posting_bytes(documents);
}

static inline uint64
pages_for(uint64 entries, uint32 per_page)
{
	return (entries + per_page - 1) / per_page;
}

/* The pages that a grouping takes for its directory. */
static inline uint64
grouping_directory_pages(const Grouping *g)
{
	return pages_for(group_first_offset(g, g->groups), OFFSETS_PER_PAGE);
}

/* The pages that it takes for the postings of a segment's documents. */
static inline uint64
grouping_posting_pages(const Grouping *g, const SegmentRoot *root)
{
	return pages_for((uint64) g->groups * root->grouped, postings_per_page(root->documents));
}

static inline Grouping
root_grouping(const SegmentRoot *root, const SignatureHeader *shape)
{
	return (Grouping){.k = shape->k,
					  .b = signature_bits(shape),
					  .groups = root->groups,
					  .width = root->width,
					  .wide = root->wide,
					  .bucket_bits = root->bucket_bits};
}

/* The pages that a segment's map lists. */
static inline uint32
segment_logical_pages(const SegmentRoot *root)
{
	return root->document_pages + root->directory_pages + root->posting_pages;
}

/* The number of a segment's root page, which is its last. */
static inline uint32
segment_root_page(const SegmentRoot *root)
{
	return segment_logical_pages(root) + root->map_pages;
}

/* Documents that no vacuum has found dead. */
static inline uint32
segment_live(const SegmentEntry *entry)
{
	return entry->documents - entry->dead;
}

/* ---- Layout (segment_write.c) --------------------------------------------------- */

/*
 * Chooses the grouping of a segment whose documents are written, and counts its other
 * pages.  The segment has as many groups as suit it, or as its map can list.
 */
extern void segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root);

/*
 * Returns the most documents that a new segment may have, so that its map can list its
 * pages and its documents can be sorted in so much memory, or a megabyte if that is more.
 */
extern uint32 segment_documents_max(Relation index, const SignatureHeader *shape, Size memory);

/* As much memory as a segment can use. */
#define SEGMENT_MEMORY_ANY ((Size) 1 << 40)

/* Reports that the metapage has no room for more segments of such a size. */
extern _Noreturn void segments_too_many(Relation index, const SignatureHeader *shape, Size memory);

/* ---- Writing (segment_write.c) -------------------------------------------------- */

/*
 * A segment whose documents are on their pages, and which gets its groups, map and root.
 * The functions say where its pages lie, and how they get there: a build fills in blocks
 * that it has given out before, upkeep takes free pages and logs them.
 */
typedef struct SegmentWriter SegmentWriter;
struct SegmentWriter
{
	Relation index;
	const SignatureHeader *shape;
	const SegmentRoot *root;
	uint32 owner;
	Size memory; /* bytes for sorting */

	/*
	 * Stores entries on a page.  The page may lack entries that other participants in a
	 * build store; their places are zero, and the page's count is without them.
	 */
	void (*put_page)(SegmentWriter *writer, uint32 number, Page page);

	/* Returns the block of a page. */
	BlockNumber (*block_of)(const SegmentWriter *writer, uint32 number);

	/* Returns how many groups to write next, at most so many, and which is the first. */
	int (*claim_groups)(SegmentWriter *writer, int most, int *first);

	/* Called for each page: answers interrupts; false if writing is to be abandoned. */
	bool (*goes_on)(SegmentWriter *writer);
};

/* Sorts and writes the groups that the writer claims; false if that was abandoned. */
extern bool segment_write_groups(SegmentWriter *writer);

/* Writes the map, and the root that lists its pages. */
extern void segment_write_root(SegmentWriter *writer);

/* Returns the entry of a new segment in the metapage. */
extern SegmentEntry segment_entry(const SegmentWriter *writer);

/* ---- Sorting (segment_sort.c) --------------------------------------------------- */

/* The documents of a segment in the order of their buckets, group by group. */
typedef struct GroupSort
{
	SegmentWriter *writer;
	Grouping grouping;
	int at_once;     /* groups that memory suffices for, at least one */
	int first;       /* first of the groups whose buckets are read */
	uint32 *bucket;  /* of each document, in each of these groups */
	uint32 *offset;  /* of the group sorted last: of each bucket, and the end */
	uint8 *postings; /* of the group sorted last, as on posting pages */
} GroupSort;

/* Returns the bytes that it takes to sort so many groups at once. */
extern Size group_sort_memory(const SegmentRoot *root, const Grouping *grouping, int at_once);

/* Allocates memory to sort the groups of the segment that is written. */
extern GroupSort *group_sort_begin(SegmentWriter *writer);

/* Reads the buckets of some groups, at most at_once; false if writing is to be abandoned. */
extern bool group_sort_read(GroupSort *sort, int first, int count);

/* Sorts one of these groups: sets offset and postings; false as group_sort_read. */
extern bool group_sort_run(GroupSort *sort, int group);

/* Frees the sort and its memory. */
extern void group_sort_end(GroupSort *sort);

/* ---- Reading (segment_read.c) --------------------------------------------------- */

/* What a backend keeps of a segment. */
typedef struct Segment
{
	CompatFile file; /* the key, with identity and owner */
	uint64 identity; /* of the index */
	uint32 owner;    /* of the segment */
	BlockNumber root_block;
	SegmentRoot root;
	Grouping grouping;
	int posting_bytes;
	uint32 postings_per_page;
	uint32 documents_per_page;
	BlockNumber *map;       /* the block of each logical page */
	Buffer *recent;         /* where each of them was verified last */
	uint32 seen_version;    /* pages_seen_version() at that time */
	BlockNumber *map_block; /* the blocks of the map's own pages */
	uint32 *directory;      /* all of it, or NULL if the cache is too small */
	uint32 *first_offset;   /* of each group in the directory */
	Size bytes;
	uint64 last_used;
	int planned_for; /* distance of plan, -1 for none */
	int planned_method;
	SearchPlan plan;
	struct Segment *next;
} Segment;

/*
 * Opens a segment, from this backend's cache or from its pages.  Returns NULL if upkeep has
 * replaced it.  The result is valid until the next call.
 */
extern Segment *segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry);

/* Forgets what this backend has cached and verified of an index's segments. */
extern void segments_forget(const IndexMeta *meta);

/*
 * Pins and share-locks a logical page; returns InvalidBuffer as page_read.  Compares the
 * number of its entries each time, since that is used as a bound.  Verifies its contents
 * when this backend sees them for the first time, and when they were read in again.
 */
extern Buffer segment_page(Relation index, const Segment *segment, uint32 logical, PageKind kind);

/* Prefetches bytes of a page that will be read soon into the processor's cache. */
extern void segment_prefetch(const Segment *segment, uint32 logical, Size from, Size bytes);

/*
 * Finds the postings of a bucket: [*from, *to) of its group's.  Returns false if upkeep has
 * replaced the segment.
 */
extern bool segment_bucket(Relation index, const Segment *segment, int group, uint32 bucket,
						   uint32 *from, uint32 *to);

/* Returns statistics for a plan that does not depend on the query's values. */
extern SegmentStats segment_stats(const Segment *segment);

/*
 * A walk over a segment's pages in little memory: upkeep and vacuum read each page once,
 * and do not need what searches cache.  Its functions return false, InvalidBlockNumber or
 * InvalidBuffer if upkeep has replaced the segment.
 */
typedef struct SegmentWalk
{
	Relation index;
	Segment segment; /* without map and directory */
	uint32 loaded;   /* 1 + the number of the map page in `map`, 0 for none */
	BlockNumber map[BLOCKS_PER_MAP_PAGE];
} SegmentWalk;

/* Begins a walk; reads the root. */
extern bool walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta,
					   const SegmentEntry *entry);

/* Returns the block of a logical page. */
extern BlockNumber walk_block(SegmentWalk *walk, uint32 logical);

/* Pins, share-locks and verifies a page of documents. */
extern Buffer walk_documents(SegmentWalk *walk, uint32 logical);

/* Frees what walk_begin has allocated. */
extern void walk_end(SegmentWalk *walk);

#endif
