/*
 * build.h: a build and its participants: the leader, and parallel workers if there are any.
 *
 * The first block of an index that is being built is the metapage.  The documents of all segments
 * follow; those of sets come after the elements of their segment.  Pages of postings, maps and roots
 * come last, in the order in which they are written.
 */
#ifndef NEARDUP_INDEX_BUILD_H
#define NEARDUP_INDEX_BUILD_H

#include "index/index.h"
#include "store/segment_write.h"

#include "access/relscan.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/spin.h"
#include "utils/tuplesort.h"

typedef struct BuildSegment
{
	SegmentRoot root;
	BlockNumber documents; /* the first block of its documents */
	BlockNumber elements;  /* the first block of the elements of its sets */
	int groups_claimed;    /* groups that participants have claimed, which are the first ones */
	BlockNumber last_map;  /* the map written last */
	BucketLengths lengths;
} BuildSegment;

typedef struct BuildParticipant
{
	/* The participant will sort groups next to end - 1 of a segment; others may take over the last ones. */
	uint32 segment;
	int next;
	int end;
	PGAlignedBlock last_page; /* the last page of documents */
} BuildParticipant;

/* What participants share, in shared memory if there are workers. */
typedef struct BuildShared
{
	/* Fixed before workers begin. */
	Oid heap;
	Oid index;
	bool concurrent;
	bool logged;
	int participants; /* the most participants */
	Size memory;      /* bytes for all participants together */

	Barrier barrier;

	pg_atomic_uint32 blocks; /* the number of blocks that participants have taken */
	pg_atomic_uint32 file;   /* the number of blocks that the file has */

	/* Protected by the mutex while the table is scanned; fixed afterwards. */
	slock_t mutex;
	SignatureHeader shape; /* k = 0 until the first signature */
	uint32 documents_max;  /* the most documents of a segment of that shape */
	double heap_tuples;
	double documents;
	bool broken_hot_chain;
	uint32 segments;

	int sorted; /* how many participants have sorted their sets */

	/* Set when all documents are written; the mutex protects what is claimed and done. */
	int sorters; /* the number of participants that memory suffices for */
	uint64 postings_done;
	BlockNumber blocks_logged;

	BuildSegment segment[SEGMENTS_MAX];
	BuildParticipant participant[FLEXIBLE_ARRAY_MEMBER];
} BuildShared;

typedef struct Build
{
	Relation heap;
	Relation index;
	IndexInfo *info;
	BuildShared *shared;
	ParallelTableScanDesc scan; /* NULL if there are no workers */
	int number;                 /* the participant's number; 0 is the leader */

	/* This participant's documents (build_documents.c). */
	SignatureHeader shape;
	uint32 stride;
	PGAlignedBlock page;
	BufFile *nulls;        /* TIDs and keys from before the first signature */
	MemoryContext context; /* the context of all that outlives a row */
	MemoryContext row_context;
	double documents;

	/* Of sets (build_sets.c). */
	Sharedsort *shared_sort; /* NULL: the leader sorts alone */
	struct SizeSort *sort;
	MapEntry **listed; /* the pages of documents of each segment, for the leader only */
} Build;

static inline bool
is_leader(const Build *build)
{
	return build->number == 0;
}

/* ---- Documents (build_documents.c) ------------------------------------------------- */

extern Buffer build_extend(const Build *build);
extern BlockNumber build_fill(Buffer buffer, Page page);
extern void build_scan(Build *build);
extern void build_finish_scan(Build *build);
extern void build_write_last_pages(Build *build);

/* ---- Sets (build_sets.c) ---------------------------------------------------------- */

extern void set_build_begin(Build *build);
extern void set_build_sort(Build *build);
extern void set_build_write(Build *build);

/* ---- Segments (build_groups.c) ------------------------------------------------ */

extern void build_layout(Build *build);
extern void build_groups(Build *build);
extern void build_describe(Build *build);

#endif
