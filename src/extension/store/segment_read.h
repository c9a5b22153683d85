/*
 * segment_read.h: segments as a backend reads them, their maps in its cache, and plans for them.
 */
#ifndef NEARDUP_STORE_SEGMENT_READ_H
#define NEARDUP_STORE_SEGMENT_READ_H

#include "store/segment.h"

/* A column of a map in the cache, as its differences from a straight line (segment_map.c). */
typedef struct MapColumn
{
	uint32 first;
	uint16 width;  /* bytes of a difference, which are modulo 2^32: 0, 2 or 4 */
	uint16 offset; /* the position of the differences, from the beginning of the map */
	int64 step;    /* the slope of the line, in units of 1 / 2^MAP_STEP_BITS */
} MapColumn;

#define MAP_STEP_BITS 16

/* A map in the cache; the differences of its columns follow. */
typedef struct CachedMap
{
	uint32 count;
	float slots_per_bucket;
	MapColumn number; /* see map_number() */
	MapColumn block;
	Buffer *recent; /* the buffers where the pages were last; other maps may share them */
} CachedMap;

/* Returns the number that the line of a column has in the place of an entry. */
static inline uint32
column_line(const MapColumn *column, uint32 i)
{
	return column->first + (uint32) (i * column->step >> MAP_STEP_BITS);
}

/* Returns an entry of a column of a map. */
static inline uint32
column_entry(const CachedMap *map, const MapColumn *column, uint32 i)
{
	uint32 line = column_line(column, i);
	const void *difference = (const char *) map + column->offset;

	if (column->width == sizeof(int16))
		return line + (uint32) ((const int16 *) difference)[i];
	return column->width == 0 ? line : line + ((const uint32 *) difference)[i];
}

/*
 * Returns the number of an entry of a map.  The column has its highest bit, which may be
 * BUCKET_CONTINUES, in the place of the lowest, so that the flag does not lead far off the line.
 */
static inline uint32
map_number(const CachedMap *map, uint32 i)
{
	uint32 number = column_entry(map, &map->number, i);

	return number >> 1 | number << 31;
}

extern CachedMap *map_pack(const MapEntry *entry, uint32 count);
extern Size map_bytes(const CachedMap *map);
extern void map_prefetch(const CachedMap *map, uint32 bucket);
extern uint32 map_find(const CachedMap *map, uint32 bucket);

/* A page that a cached map lists. */
typedef struct MapSlot
{
	uint32 number;
	BlockNumber block; /* InvalidBlockNumber: its map is not in the cache */
	Buffer *recent;    /* the buffer where it, or another page, was last */
} MapSlot;

/* Returns an entry of a cached map. */
static inline MapSlot
map_slot(const CachedMap *map, uint32 i)
{
	return (MapSlot){.number = map_number(map, i),
					 .block = column_entry(map, &map->block, i),
					 .recent = &map->recent[i]};
}

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
	double share;   /* the share of pages visited that were read in; the last weigh most */
	double read_ns; /* nanoseconds for each of these; 0: not known */
} PagePrice;

/* What a backend keeps of a segment. */
typedef struct Segment
{
	CompatFile file; /* the key, with identity and stamp */
	uint64 identity; /* the identity of the index */
	uint32 stamp;    /* the stamp of the segment */
	bool sets;       /* documents are sets, ordered by size; maps have the size of a page's first */
	bool replaced;   /* maintenance has replaced it; what was read is incomplete */
	BlockNumber root_block;
	SegmentRoot root;
	Grouping grouping;
	uint32 documents_per_page;
	uint32 numbers;
	uint32 *first_bucket;   /* the first bucket of each group and key, and the end */
	BlockNumber *root_page; /* the pages that follow the root */
	MapEntry *list;         /* the maps */
	CachedMap **map;        /* the maps that this backend has needed */
	Buffer **recent;        /* the buffers of these maps, by the low bits of their numbers */
	uint32 *first_map;      /* the first map of postings of each group and key, and the end */
	Size bytes;
	uint64 last_used;
	UsualPlan usual[USUAL_PLANS]; /* the plans that were used last */
	uint32 next_usual;            /* the one that is replaced next */
	PagePrice page_price;
	struct Segment *next;
} Segment;

extern Segment *segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry);
extern bool segment_load_root(Relation index, const IndexMeta *meta, const SegmentEntry *entry,
							  Segment *s);
extern Buffer segment_read_map(Relation index, const Segment *s, uint32 map);
extern Buffer segment_documents(Relation index, Segment *segment, uint32 page);
extern Buffer segment_elements(Relation index, Segment *segment, uint32 page);
extern bool segment_size_of_page(Relation index, Segment *segment, uint32 page, uint32 *size);

/* Where a bucket may be: a page of postings, as a position in a map. */
typedef struct PostingPosition
{
	uint32 map; /* the number of the map among the maps of postings */
	uint32 slot;
	MapSlot page;
} PostingPosition;

/* Returns the number of a bucket among the buckets of all groups. */
static inline uint32
segment_bucket(const Segment *segment, int group, uint32 bucket)
{
	return segment->first_bucket[group] + bucket;
}

extern uint32 segment_map_of(const Segment *segment, int group, uint32 number);
extern void segment_prefetch_position(const Segment *segment, uint32 map, uint32 number);
extern bool segment_find(Relation index, Segment *segment, uint32 map, uint32 number,
						 PostingPosition *position);

/* Returns whether a position is the last in its map. */
static inline bool
segment_at_end_of_map(const Segment *segment, PostingPosition position)
{
	return position.slot + 1 == segment->map[segment->root.document_maps + position.map]->count;
}

extern bool segment_goes_on(Relation index, Segment *segment, uint32 number,
							PostingPosition *position);
extern bool segment_next(Relation index, Segment *segment, PostingPosition *position);
extern Buffer segment_postings(Relation index, Segment *segment, const PostingPosition *position);
extern MapSlot segment_documents_slot(const Segment *segment, uint32 page);


/* ---- Walks (segment_walk.c) ---------------------------------------------- */

/*
 * A walk over a segment's pages in little memory: maintenance and vacuum read each page once,
 * and do not need what searches cache.  Its functions return false, InvalidBlockNumber or
 * InvalidBuffer if maintenance has replaced the segment.
 */
typedef struct SegmentWalk
{
	Relation index;
	Segment segment; /* the segment without cached maps */
	uint32 loaded;   /* 1 + the number of the map in `entry`, 0 for none */
	uint32 count;    /* the number of its entries */
	MapEntry entry[ENTRIES_PER_MAP];
} SegmentWalk;

extern bool walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta,
					   const SegmentEntry *entry);
extern bool walk_load(SegmentWalk *walk, uint32 map);
extern Buffer walk_documents(SegmentWalk *walk, uint32 page);
extern Buffer walk_elements(SegmentWalk *walk, uint32 page);
extern void walk_end(SegmentWalk *walk);

/* ---- Plans (segment_plan.c) ----------------------------------------------------- */

extern void page_price_learn(PagePrice *price, uint64 visited, uint64 read, double ns);
extern SegmentStats segment_stats(const Segment *segment);
extern SearchPlan segment_usual_plan(Segment *segment, int radius, SearchMethod method);

#endif
