/*
 * upkeep.h: sealing, merging and gathering, for whom, and what they heed meanwhile.
 */
#ifndef NEARDUP_INDEX_UPKEEP_H
#define NEARDUP_INDEX_UPKEEP_H

#include "index/segment.h"

typedef enum UpkeepBy
{
	UPKEEP_BY_INSERT,
	UPKEEP_BY_WORKER,
	UPKEEP_BY_VACUUM
} UpkeepBy;

struct Upkeep
{
	Relation index;
	UpkeepBy by;
	Size memory;   /* bytes that it may use */
	bool gave_way; /* somebody waits for a lock of ours: nothing more is to be begun */
};

/* The caller's upkeep of an index. */
extern Upkeep upkeep_of(Relation index, UpkeepBy by);

/*
 * To be called after each page, with no buffer locked: answers interrupts, keeps to
 * vacuum's delay, and says whether to go on.  An insert always does: its transaction
 * keeps its locks anyway.
 */
extern bool upkeep_goes_on(Upkeep *upkeep);

/*
 * One process at a time keeps an index up.  Conditional: false where another
 * does.
 */
extern void upkeep_lock(Relation index);
extern bool upkeep_lock_conditionally(Relation index);
extern void upkeep_unlock(Relation index);

/* All that follow want the caller to have the lock. */

/* Seal the tail and merge segments while that is due. */
extern void upkeep_run(Upkeep *upkeep, bool seal_any);

/* Seal the tail where that is due; merge only where there are too many segments. */
extern void upkeep_seal(Upkeep *upkeep);

/* Remove segments that nothing lives in. */
extern void upkeep_drop(Upkeep *upkeep);

/* Write tail and segments again, the living only, as few as may be. */
extern void upkeep_gather(Upkeep *upkeep);

/* ---- Merging (upkeep_merge.c) -------------------------------------------------- */

typedef struct MergeSources
{
	bool frozen; /* the frozen tail, and ... */
	int count;   /* ... segments */
	uint32 owner[SEGMENTS_MAX];
} MergeSources;

/*
 * Write what lives in the sources as one segment, or as few as may be, and put that in
 * their stead.  False where upkeep gives way: then nothing has changed.
 */
extern bool merge_sources(Upkeep *upkeep, const MergeSources *sources);

/*
 * A copy of the metapage for who has the lock: what an error has left being written
 * belongs to nobody any more.
 */
extern IndexMeta *upkeep_meta_read(Relation index);

/* The most documents that a new segment may have. */
extern uint32 merged_documents_max(const Upkeep *upkeep, const IndexMeta *meta);

/* The metapage lists no more segments. */
extern _Noreturn void upkeep_too_many_segments(const Upkeep *upkeep, const IndexMeta *meta);

#endif
