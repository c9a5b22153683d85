/*
 * maintenance.h: the maintenance of an index: tails are sealed into segments, segments are merged.
 */
#ifndef NEARDUP_INDEX_MAINTENANCE_H
#define NEARDUP_INDEX_MAINTENANCE_H

#include "store/meta.h"

/* Who does maintenance, which decides on memory, on delays, and on whom it gives way to. */
typedef enum MaintenanceBy
{
	MAINTENANCE_BY_INSERT,
	MAINTENANCE_BY_WORKER,
	MAINTENANCE_BY_VACUUM
} MaintenanceBy;

typedef struct Maintenance
{
	Relation index;
	MaintenanceBy by;
	Size memory;   /* the most bytes that it may use */
	bool gave_way; /* another process waits for one of our locks: stop */
} Maintenance;

extern Maintenance maintenance_of(Relation index, MaintenanceBy by);
extern bool maintenance_goes_on(Maintenance *maintenance);
extern void maintenance_lock(Relation index);
extern bool maintenance_lock_conditionally(Relation index);
extern void maintenance_unlock(Relation index);
extern bool maintenance_lock_worker(Oid index);

/* The caller of all functions below holds this lock. */

extern void maintenance_run(Maintenance *maintenance, bool seal_any);
extern void maintenance_seal(Maintenance *maintenance);
extern IndexMeta *maintenance_meta_read(Relation index);
extern uint32 merged_documents_max(const Maintenance *maintenance, const IndexMeta *meta);
extern _Noreturn void maintenance_replaced(Relation index, uint32 stamp);

/* ---- Merging (maintenance_merge.c) -------------------------------------------------- */

/*
 * Returns whether more than a third of a segment's documents are dead.  Such a segment is worth
 * copying, since that copies at most two live documents for each dead one.
 */
static inline bool
segment_is_dead(const SegmentEntry *entry)
{
	return entry->dead * UINT64_C(3) > entry->documents;
}

typedef struct MergeSources
{
	bool closed; /* whether the closed tail is a source */
	int count;   /* the number of segments that are sources */
	uint32 stamp[SEGMENTS_MAX];
} MergeSources;

extern bool merge_sources(Maintenance *maintenance, const MergeSources *sources);

#endif
