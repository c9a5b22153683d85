/*
 * meta.h: the metapage, and what depends on it: which pages are free.
 */
#ifndef NEARDUP_STORE_META_H
#define NEARDUP_STORE_META_H

#include "store/page.h"

#include "datatype/timestamp.h"
#include "utils/snapshot.h"

#define META_BLOCK 0

typedef struct SegmentEntry
{
	uint32 stamp; /* its number, never used again in this index */
	BlockNumber root;
	uint32 documents; /* dead ones included */
	uint32 grouped;   /* documents with symbols that lived when the segment was written */
	uint32 empty;     /* empty documents that lived when it was written */
	uint32 nulls;     /* NULL documents that lived when it was written */
	uint32 groups;
	uint32 dead;
	uint32 document_pages;
	uint32 other_pages;
	uint32 first_stamp; /* the least stamp of its pages of documents */
	uint32 last_stamp;  /* the greatest stamp of its pages of documents */
	float own_length;   /* see SegmentStats */
	float near_length;  /* see SegmentStats, or the mean size of sets */
} SegmentEntry;

/* A chain of document pages. */
typedef struct TailEntry
{
	uint32 stamp;      /* 0: there is none */
	BlockNumber first; /* the youngest page */
	BlockNumber last;
	uint32 pages;
	uint32 stride; /* the stride of its documents */
} TailEntry;

/* The most pages of a tail that take inserts at the same time. */
#define TAIL_SLOTS 8

typedef struct IndexMeta
{
	uint64 identity;       /* a random number: tells this index from earlier ones in the file */
	TimestampTz changed;   /* the time when the list of segments was written last; 0: never */
	SignatureHeader shape; /* the shape of all signatures; k = 0 until the first */
	uint32 keys;           /* the keys of each document */
	uint32 next_stamp;
	uint32 writing;               /* stamp of the first segment being written, 0 for none */
	TailEntry tail;               /* takes the inserts */
	TailEntry closed;             /* being sealed into a segment */
	BlockNumber open[TAIL_SLOTS]; /* the tail's pages that have room */
	uint32 segments;
	uint32 elements; /* pages of elements of the tail */
	SegmentEntry segment[FLEXIBLE_ARRAY_MEMBER];
} IndexMeta;

#define SEGMENTS_MAX ((PAGE_ROOM - offsetof(IndexMeta, segment)) / sizeof(SegmentEntry))

/* Returns the stride of an index's documents. */
static inline uint32
meta_stride(const IndexMeta *meta)
{
	return document_stride(&meta->shape, meta->keys);
}

#define page_meta(page) ((IndexMeta *) page_contents(page))

extern IndexMeta *meta_read(Relation index);
extern IndexMeta *meta_read_as_of(Relation index, Snapshot snapshot);
extern bool meta_lists(const IndexMeta *meta, uint32 stamp);
extern bool meta_may_hold(const IndexMeta *meta, uint32 stamp);
extern SegmentEntry *meta_segment(const IndexMeta *meta, uint32 stamp);

/* A change of the metapage. */
typedef struct MetaChange
{
	Buffer buffer;
	GenericXLogState *state; /* the caller may register other pages, too */
	IndexMeta *meta;         /* a copy in the WAL record */
} MetaChange;

extern MetaChange meta_begin(Relation index);
extern void meta_commit(MetaChange *change);
extern void meta_abort(MetaChange *change);
extern void meta_clear_tail(IndexMeta *meta);
extern void tail_entry_clear(TailEntry *tail);
extern void meta_init(Page page, uint32 keys);
extern void meta_write_built(Relation index, const SignatureHeader *shape,
							 const SegmentEntry *segments, uint32 count);

/* ---- Free pages (page_read.c) ------------------------------------------- */

extern bool page_is_free(Page page, const IndexMeta *meta);
extern Buffer page_allocate(Relation index, const IndexMeta *meta);

#endif
