/*
 * upkeep.h: the upkeep of an index: tails are sealed into segments, segments are merged.
 */
#ifndef NEARDUP_INDEX_UPKEEP_H
#define NEARDUP_INDEX_UPKEEP_H

#include "index/segment.h"

/* Who does it: that decides on memory, delays, and whose waiting it heeds. */
typedef enum UpkeepBy
{
	UPKEEP_BY_INSERT,
	UPKEEP_BY_WORKER,
	UPKEEP_BY_VACUUM
} UpkeepBy;

typedef struct Upkeep
{
	Relation index;
	UpkeepBy by;
	Size memory;   /* bytes that it may use */
	bool gave_way; /* another process waits for one of our locks: stop */
} Upkeep;

/* Returns the description of an upkeep, with the memory that settings allow it. */
extern Upkeep upkeep_of(Relation index, UpkeepBy by);

/*
 * To be called after each page, with no buffer locked.  Answers interrupts and keeps to
 * vacuum's delay; returns whether to go on.  An insert always goes on: its transaction keeps
 * its locks anyway.
 */
extern bool upkeep_goes_on(Upkeep *upkeep);

/* One process at a time does upkeep of an index.  Conditional: false if another does. */
extern void upkeep_lock(Relation index);
extern bool upkeep_lock_conditionally(Relation index);
extern void upkeep_unlock(Relation index);

/* Locks what a worker needs, for its transaction; false if it would have to wait. */
extern bool upkeep_lock_worker(Oid index);

/* The caller of all functions below holds this lock. */

/* Seals the tail and merges segments as long as that is due; seal_any: seals any tail. */
extern void upkeep_run(Upkeep *upkeep, bool seal_any);

/* Seals the tail if that is due; merges only if there are too many segments. */
extern void upkeep_seal(Upkeep *upkeep);

/*
 * Returns a copy of the metapage.  Segments whose writing an error has interrupted are no
 * longer listed as being written.
 */
extern IndexMeta *upkeep_meta_read(Relation index);

/* Returns the most documents that a new segment may have. */
extern uint32 merged_documents_max(const Upkeep *upkeep, const IndexMeta *meta);

/* Reports that a segment or tail was replaced although the caller holds the lock. */
extern _Noreturn void upkeep_replaced(Relation index, uint32 stamp);

/* ---- Merging (upkeep_merge.c) -------------------------------------------------- */

/*
 * Returns whether more than a third of a segment's documents is dead.  Then live documents are
 * copied: at most two for each that was removed.
 */
static inline bool
segment_is_dead(const SegmentEntry *entry)
{
	return entry->dead * UINT64_C(3) > entry->documents;
}

typedef struct MergeSources
{
	bool closed; /* the closed tail, and ... */
	int count;   /* ... so many segments */
	uint32 stamp[SEGMENTS_MAX];
} MergeSources;

/*
 * Replaces the sources by one segment with their live documents, or as few as possible.
 * Pages of documents become part of the new segment as they are, unless a third of their
 * documents is dead.  Returns false if upkeep gives way; then nothing has changed.
 */
extern bool merge_sources(Upkeep *upkeep, const MergeSources *sources);

#endif
