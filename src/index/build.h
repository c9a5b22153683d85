/*
 * build.h: what takes part in a build: the process that was asked for it, and
 * perhaps parallel workers.
 *
 * Until the index is there its blocks are given out in a simple order, so that
 * everybody knows what lies where: block 0, all documents, and then for each
 * segment what groups and describes it.
 */
#ifndef NEARDUP_INDEX_BUILD_H
#define NEARDUP_INDEX_BUILD_H

#include "index/index.h"

#include "access/relscan.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/spin.h"

typedef struct BuildSegment
{
	SegmentRoot root;
	BlockNumber documents; /* the first block of its documents, ... */
	BlockNumber rest;      /* ... and of directory, postings, map and root */
	int groups_claimed;
} BuildSegment;

/* In shared memory where there are workers. */
typedef struct BuildShared
{
	/* Fixed. */
	Oid heap;
	Oid index;
	bool concurrent;
	bool logged;
	int participants; /* at most */
	Size memory;      /* bytes that all of them may use */

	Barrier barrier;

	/* Under the mutex while there are documents to come; later fixed. */
	slock_t mutex;
	SignatureHeader shape; /* k = 0 until the first signature */
	uint32 documents_max;  /* of a segment of that shape */
	double heap_tuples;
	double documents;
	bool broken_hot_chain;
	uint32 segments;

	/* Fixed once all documents are written, but for what is claimed and done. */
	int sorters; /* participants that the memory suffices for */
	uint64 postings_done;
	BlockNumber blocks;
	BlockNumber blocks_logged;

	BuildSegment segment[SEGMENTS_MAX];
	PGAlignedBlock rest[FLEXIBLE_ARRAY_MEMBER]; /* each participant's last page of documents */
} BuildShared;

typedef struct Build
{
	Relation heap;
	Relation index;
	IndexInfo *info;
	BuildShared *shared;
	ParallelTableScanDesc scan; /* NULL where there are no workers */
	int number;                 /* of the participant; 0 is who was asked */

	/* This participant's documents (build_documents.c). */
	SignatureHeader shape;
	uint32 stride;
	PGAlignedBlock page;
	BufFile *nulls; /* TIDs from before the first signature */
	MemoryContext each;
	double documents;
} Build;

static inline bool
build_leads(const Build *build)
{
	return build->number == 0;
}

/* ---- Documents (build_documents.c) ------------------------------------------------- */

/* Scan this participant's share of the table; write pages of documents. */
extern void build_scan(Build *build);

/* The shape is known to all: write the NULLs that had to wait. */
extern void build_flush(Build *build);

/* The leader writes what is left of everybody's documents. */
extern void build_gather(Build *build);

/* ---- Segments (build_groups.c) ------------------------------------------------ */

/* The leader gives out the blocks that follow the documents. */
extern void build_layout(Build *build);

/* Sort this participant's share of groups. */
extern void build_groups(Build *build);

/* The leader writes maps, roots and metapage. */
extern void build_describe(Build *build);

/* ---- Together (build_parallel.c) ---------------------------------------------- */

/* The steps of a build, each done by all before the next begins. */
extern void build_steps(Build *build);

/* Do them with as many workers as are to be had, at most those asked for. */
extern void build_in_parallel(Build *build, int workers, IndexBuildResult *result);

/* What all share, in memory for so many participants. */
extern Size build_shared_size(int participants);
extern void build_shared_init(BuildShared *shared, const Build *build, int participants);

#endif
