/*
 * segment.h: immutable segments: their layout, how they are written, and how they are read.
 */
#ifndef NEARDUP_INDEX_SEGMENT_H
#define NEARDUP_INDEX_SEGMENT_H

#include "index/page.h"

/* ---- Layout ------------------------------------------------------------- */

/*
 * An entry of a map, and of the root's list of maps: a page, and a number.  The number is
 * the stamp of a page of documents, or the first bucket of a page of postings.  In the
 * root's list it is the number of the map's first entry.
 */
typedef struct MapEntry
{
	uint32 number;
	BlockNumber block;
} MapEntry;

#define page_map(page) ((MapEntry *) page_contents(page))
#define ENTRIES_PER_MAP (PAGE_ROOM / sizeof(MapEntry))

/* Flag of a first bucket: the page goes on with a bucket that begins on a page before it. */
#define BUCKET_CONTINUES UINT32_C(0x80000000)

/* Returns a first bucket without its flag. */
static inline uint32
bucket_of_number(uint32 number)
{
	return number & ~BUCKET_CONTINUES;
}

/*
 * The contents of a root: then follows the list of maps, first those of documents, then
 * those of postings in the order of their buckets.  The list goes on on further root pages.
 */
typedef struct SegmentRoot
{
	uint32 documents; /* on its pages, dead ones included */
	uint32 grouped;   /* those that have a posting in each group; see SegmentEntry */
	uint32 empty;
	uint32 nulls;
	uint32 stride;
	uint32 document_pages;
	uint32 posting_pages;
	uint32 document_maps;
	uint32 posting_maps;
	int32 groups; /* the Grouping; its k and b are the index's */
	int32 width;
	int32 wide;
	int32 bucket_bits;
	int32 keys;
	int32 key_bits;
	float own_length; /* see SegmentStats */
	float near_length;
} SegmentRoot;

#define page_root(page) ((SegmentRoot *) page_contents(page))
#define ROOT_BYTES MAXALIGN(sizeof(SegmentRoot))
#define MAPS_PER_FIRST_ROOT ((PAGE_ROOM - ROOT_BYTES) / sizeof(MapEntry))

/*
 * Documents are numbered by their place: page * documents_per_page + place on the page.
 * Pages need not be full, so not all numbers are used.
 */
#define SEGMENT_NUMBERS_MAX (UINT32_C(1) << 31)

/* The most documents of a segment. */
#define SEGMENT_DOCUMENTS_MAX SEGMENT_NUMBERS_MAX

static inline uint32
pages_for(uint64 entries, uint32 per_page)
{
	return (uint32) ((entries + per_page - 1) / per_page);
}

static inline Grouping
root_grouping(const SegmentRoot *root, const SignatureHeader *shape)
{
	return (Grouping){.k = shape->k,
					  .b = signature_bits(shape),
					  .groups = root->groups,
					  .width = root->width,
					  .wide = root->wide,
					  .bucket_bits = root->bucket_bits,
					  .keys = root->keys,
					  .key_bits = root->key_bits};
}

/* Returns how many lists of postings a segment has. */
static inline int
root_lists(const SegmentRoot *root)
{
	return root->groups + root->keys;
}

/* Counts a document of a segment that is being written, by the flags of its TID. */
static inline void
root_count(SegmentRoot *root, uint16 flags)
{
	root->documents++;
	root->grouped += flags == 0;
	root->empty += flags == TID_EMPTY;
	root->nulls += flags == TID_NULL;
}

/* Adds the documents that another root has counted. */
static inline void
root_add(SegmentRoot *root, const SegmentRoot *counted)
{
	root->documents += counted->documents;
	root->grouped += counted->grouped;
	root->empty += counted->empty;
	root->nulls += counted->nulls;
}

/* Returns how many documents have a posting of each key. */
static inline uint32
root_keyed(const SegmentRoot *root)
{
	return root->grouped + root->empty + root->nulls;
}

/* Returns how many postings all lists of a segment have. */
static inline uint64
root_postings(const SegmentRoot *root)
{
	return (uint64) root->groups * root->grouped + (uint64) root->keys * root_keyed(root);
}

/* Returns the end of the numbers of a segment's documents. */
static inline uint32
root_numbers(const SegmentRoot *root)
{
	return root->document_pages * documents_per_page(root->stride);
}

static inline uint32
root_maps(const SegmentRoot *root)
{
	return root->document_maps + root->posting_maps;
}

/* Returns how many pages the root and its list of maps take. */
static inline uint32
root_pages(const SegmentRoot *root)
{
	uint32 maps = root_maps(root);

	return 1 + pages_for(maps - Min(maps, MAPS_PER_FIRST_ROOT), ENTRIES_PER_MAP);
}

/* The part of the list of maps that is on a root page. */
typedef struct RootList
{
	uint32 first; /* of its maps */
	uint32 count;
	Size offset; /* in the contents */
} RootList;

static inline RootList
root_list(const SegmentRoot *root, uint32 page)
{
	uint32 first = page == 0 ? 0 : MAPS_PER_FIRST_ROOT + (page - 1) * ENTRIES_PER_MAP;
	uint32 most = page == 0 ? MAPS_PER_FIRST_ROOT : ENTRIES_PER_MAP;

	return (RootList){.first = first,
					  .count = Min(most, root_maps(root) - first),
					  .offset = page == 0 ? ROOT_BYTES : 0};
}

/* Returns how many pages a segment has beside those of documents. */
static inline uint32
root_other_pages(const SegmentRoot *root)
{
	return root->posting_pages + root_maps(root) + root_pages(root);
}

/* Documents that no vacuum has found dead. */
static inline uint32
segment_live(const SegmentEntry *entry)
{
	return entry->documents - entry->dead;
}

/* ---- Pages of postings (segment_postings.c) ------------------------------------- */

/* A page of postings that is being filled. */
typedef struct PostingsPage
{
	uint32 first; /* its first bucket, perhaps with BUCKET_CONTINUES */
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

/* ---- Lengths of buckets --------------------------------------------------------- */

/* Sums over documents and groups. */
typedef struct BucketLengths
{
	uint64 own;     /* lengths of the documents' own buckets */
	uint64 near;    /* lengths of buckets that differ in a symbol */
	uint64 samples; /* lengths that each sum has */
} BucketLengths;

/* ---- Writing (segment_write.c) -------------------------------------------------- */

extern void segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root);
extern uint32 segment_documents_max(Relation index, const SignatureHeader *shape, Size memory);

/* As much memory as a segment can use. */
#define SEGMENT_MEMORY_ANY ((Size) 1 << 40)

extern _Noreturn void segments_too_many(Relation index, const SignatureHeader *shape, Size memory);

/*
 * A segment whose documents are on their pages, and which gets its groups, maps and root.
 * The functions say where its pages lie, and how they get there: a build extends the index,
 * upkeep takes free pages and logs them.
 */
typedef struct SegmentWriter SegmentWriter;
struct SegmentWriter
{
	Relation index;
	const SignatureHeader *shape;
	SegmentRoot *root;
	uint32 stamp;
	Size memory; /* bytes for sorting */
	MapEntry *
		documents; /* the pages of documents; NULL: pages of its stamp, the first of which is ... */
	BlockNumber first_document;

	/*
	 * Writes a page to a new block, and returns the block.  A map is linked to the map of
	 * this segment written before it, by `next`.
	 */
	BlockNumber (*put_page)(SegmentWriter *writer, Page page);

	/*
	 * Returns how many groups, or keys after the groups, to write next, at most `most`, and
	 * which is the first.
	 */
	int (*claim_groups)(SegmentWriter *writer, int most, int *first);

	/* Called for each page: answers interrupts; false if writing is to be abandoned. */
	bool (*goes_on)(SegmentWriter *writer);
};

extern MapEntry segment_document_page(const SegmentWriter *writer, uint32 number);
extern bool segment_write_groups(SegmentWriter *writer, BucketLengths *lengths);
extern SegmentEntry segment_write_root(SegmentWriter *writer, BlockNumber last_map,
									   const BucketLengths *lengths);

/* ---- Sorting (segment_sort.c) --------------------------------------------------- */

/* The documents of a segment in the order of their buckets, group by group. */
typedef struct GroupSort
{
	SegmentWriter *writer;
	Grouping grouping;
	uint32 numbers;   /* of documents */
	int at_once;      /* groups that memory suffices for, at least one */
	int first;        /* first of the groups whose buckets are read */
	uint32 *bucket;   /* of each document, in each of these groups */
	uint32 *offset;   /* of the group sorted last: of each bucket, and the end */
	uint32 *document; /* of the group sorted last, in the order of buckets */
} GroupSort;

extern bool document_has_posting(const Grouping *g, int group, uint16 flags);
extern uint32 document_bucket(const Grouping *g, int group, const uint8_t *symbols, uint32 stride);
extern Size group_sort_memory(uint32 numbers, const Grouping *grouping, int at_once);
extern GroupSort *group_sort_begin(SegmentWriter *writer);
extern bool group_sort_read(GroupSort *sort, int first, int count);
extern bool group_sort_run(GroupSort *sort, int group);
extern void group_sort_lengths(const GroupSort *sort, int group, BucketLengths *lengths);
extern void group_sort_end(GroupSort *sort);

#define CACHE_LINE 64

/* ---- Reading (segment_read.c) --------------------------------------------------- */

/* An entry of a map in a backend's cache, and the buffer where it verified the page last. */
typedef struct MapSlot
{
	uint32 number;
	BlockNumber block;
	Buffer recent;
} MapSlot;

/* A map in the cache. */
typedef struct CachedMap
{
	uint32 count;
	uint32 first; /* bucket */
	float slots_per_bucket;
	MapSlot slot[FLEXIBLE_ARRAY_MEMBER];
} CachedMap;

/* A plan for buckets of usual length, and what it was made for. */
typedef struct UsualPlan
{
	bool made;
	int radius;
	SearchMethod method;
	double page_ns;
	SearchPlan plan;
} UsualPlan;

#define USUAL_PLANS 8

/* What this backend's searches of a segment met: how many pages it read in, and how fast. */
typedef struct PagePrice
{
	double share;   /* of the pages visited that had to be read in; the last ones weigh most */
	double read_ns; /* for each of these; 0: not known */
} PagePrice;

/* What a backend keeps of a segment. */
typedef struct Segment
{
	CompatFile file; /* the key, with identity and stamp */
	uint64 identity; /* of the index */
	uint32 stamp;    /* of the segment */
	bool replaced;   /* by upkeep, as a page has shown: what was read of it is not all */
	BlockNumber root_block;
	SegmentRoot root;
	Grouping grouping;
	uint32 documents_per_page;
	uint32 numbers;
	uint32 *first_bucket;   /* of each group and key, and the end */
	BlockNumber *root_page; /* those that follow the root */
	MapEntry *list;         /* the maps */
	CachedMap **map;        /* those that this backend has needed */
	uint32 *first_map;      /* of postings, for each group and key, and the end */
	Size bytes;
	uint64 last_used;
	uint32 seen_version;          /* pages_seen_version() when it was loaded */
	UsualPlan usual[USUAL_PLANS]; /* those used last */
	uint32 next_usual;            /* the one that is replaced next */
	PagePrice page_price;
	struct Segment *next;
} Segment;

extern Segment *segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry);
extern void segments_forget(const IndexMeta *meta);
extern Buffer segment_documents(Relation index, Segment *segment, uint32 page);

/* Where a bucket may be: a page of postings, as a place in a map. */
typedef struct PostingPlace
{
	uint32 map; /* among the maps of postings */
	uint32 slot;
} PostingPlace;

/* Returns the number of a bucket among those of all groups. */
static inline uint32
segment_bucket(const Segment *segment, int group, uint32 bucket)
{
	return segment->first_bucket[group] + bucket;
}

extern uint32 segment_map_of(const Segment *segment, int group, uint32 number);
extern void segment_prefetch_place(const Segment *segment, uint32 map, uint32 number);
extern bool segment_find(Relation index, Segment *segment, uint32 map, uint32 number,
						 PostingPlace *place);

/* Returns the slot of a place, whose map is in the cache. */
static inline MapSlot *
segment_slot(const Segment *segment, PostingPlace place)
{
	return &segment->map[segment->root.document_maps + place.map]->slot[place.slot];
}

/* Returns whether a place is the last in its map. */
static inline bool
segment_at_end_of_map(const Segment *segment, PostingPlace place)
{
	return place.slot + 1 == segment->map[segment->root.document_maps + place.map]->count;
}

extern bool segment_goes_on(Relation index, Segment *segment, uint32 number, PostingPlace *place);
extern bool segment_next(Relation index, Segment *segment, PostingPlace *place);
extern Buffer segment_postings(Relation index, Segment *segment, PostingPlace place);
extern MapSlot *segment_documents_slot(const Segment *segment, uint32 page);
extern void slot_prefetch(const MapSlot *slot, Size from, Size bytes);

/* Prefetches bytes of a page into the processor's cache. */
static inline void
page_prefetch(Page page, Size from, Size to)
{
	for (Size at = from; at < Min(to, BLCKSZ); at += CACHE_LINE)
		__builtin_prefetch((const char *) page + at);
}

extern Page slot_page_unpinned(const MapSlot *slot);

/*
 * A walk over a segment's pages in little memory: upkeep and vacuum read each page once,
 * and do not need what searches cache.  Its functions return false, InvalidBlockNumber or
 * InvalidBuffer if upkeep has replaced the segment.
 */
typedef struct SegmentWalk
{
	Relation index;
	Segment segment; /* without cached maps */
	uint32 loaded;   /* 1 + the number of the map in `entry`, 0 for none */
	uint32 count;    /* of its entries */
	MapEntry entry[ENTRIES_PER_MAP];
} SegmentWalk;

extern bool walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta,
					   const SegmentEntry *entry);
extern bool walk_load(SegmentWalk *walk, uint32 map);
extern Buffer walk_documents(SegmentWalk *walk, uint32 page);
extern void walk_end(SegmentWalk *walk);

/* ---- Plans (segment_plan.c) ----------------------------------------------------- */

extern void page_price_learn(PagePrice *price, uint64 visited, uint64 read, double ns);
extern SegmentStats segment_stats(const Segment *segment);
extern SearchPlan segment_usual_plan(Segment *segment, int radius, SearchMethod method);

#endif
