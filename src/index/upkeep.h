/*
 * upkeep.h: the upkeep of an index: tails are sealed into segments, segments are merged.
 */
#ifndef NEARDUP_INDEX_UPKEEP_H
#define NEARDUP_INDEX_UPKEEP_H

#include "index/meta.h"

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

extern Upkeep upkeep_of(Relation index, UpkeepBy by);
extern bool upkeep_goes_on(Upkeep *upkeep);
extern void upkeep_lock(Relation index);
extern bool upkeep_lock_conditionally(Relation index);
extern void upkeep_unlock(Relation index);
extern bool upkeep_lock_worker(Oid index);

/* The caller of all functions below holds this lock. */

extern void upkeep_run(Upkeep *upkeep, bool seal_any);
extern void upkeep_seal(Upkeep *upkeep);
extern IndexMeta *upkeep_meta_read(Relation index);
extern uint32 merged_documents_max(const Upkeep *upkeep, const IndexMeta *meta);
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
	int count;   /* ... this number of segments */
	uint32 stamp[SEGMENTS_MAX];
} MergeSources;

extern bool merge_sources(Upkeep *upkeep, const MergeSources *sources);

#endif
