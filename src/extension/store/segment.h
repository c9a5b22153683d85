/*
 * segment.h: the layout of immutable segments: roots and maps.
 */
#ifndef NEARDUP_STORE_SEGMENT_H
#define NEARDUP_STORE_SEGMENT_H

#include "store/meta.h"

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
 * The contents of a root: the list of maps follows, first maps of documents, then maps
 * of postings in the order of their buckets.  The list continues on further root pages.
 */
typedef struct SegmentRoot
{
	uint32 documents; /* documents on its pages, dead ones included */
	uint32 grouped;   /* documents that have a posting in each group; see SegmentEntry */
	uint32 empty;
	uint32 nulls;
	uint32 stride;
	uint32 document_pages;
	uint32 element_pages; /* pages of elements, which the maps of documents list last */
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
	uint64 elements; /* elements of all sets */
} SegmentRoot;

#define page_root(page) ((SegmentRoot *) page_contents(page))
#define ROOT_BYTES MAXALIGN(sizeof(SegmentRoot))
#define MAPS_PER_FIRST_ROOT ((PAGE_ROOM - ROOT_BYTES) / sizeof(MapEntry))

/*
 * Documents are numbered by their position: page * documents_per_page + position on the page.
 * Pages need not be full, so not all numbers are used.
 */
#define SEGMENT_NUMBERS_MAX (UINT32_C(1) << 31)

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
	root->elements += counted->elements;
}

/* Returns how many pages the maps of documents list. */
static inline uint32
root_listed_pages(const SegmentRoot *root)
{
	return root->document_pages + root->element_pages;
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
	uint32 first; /* the number of its first map */
	uint32 count;
	Size offset; /* the position in the contents */
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

/* Returns how many pages a segment has beside its pages of documents. */
static inline uint32
root_other_pages(const SegmentRoot *root)
{
	return root->element_pages + root->posting_pages + root_maps(root) + root_pages(root);
}

/* Documents that no vacuum has found dead. */
static inline uint32
segment_live(const SegmentEntry *entry)
{
	return entry->documents - entry->dead;
}

#endif
