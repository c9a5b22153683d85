/*
 * edges.h: edges between rows, sorted.  Those that memory does not hold are in a temporary file.
 */
#ifndef NEARDUP_JOIN_EDGES_H
#define NEARDUP_JOIN_EDGES_H

#include "base/host.h"

/* The numbers of two rows that are similar.  Edges are sorted by `second`, then by `first`. */
typedef struct LongEdge
{
	uint64_t second;
	uint64_t first;
	double similarity;
} LongEdge;

/* Sorted edges in the file, with a few of them in memory. */
typedef struct EdgeRun
{
	uint64_t next;  /* the number in the file of the first edge not in memory */
	uint64_t end;   /* the number in the file at which the run ends */
	LongEdge *edge; /* the edges in memory */
	uint32_t at;    /* the next one of these */
	uint32_t count;
} EdgeRun;

typedef struct Edges
{
	LongEdge *edge; /* the edges in memory */
	size_t count;
	size_t room;
	size_t most;     /* the most edges in memory */
	bool disordered; /* they have to be sorted */
	bool unsorted;   /* edges are given in any order */
	HostFile *file;
	EdgeRun *run;
	size_t runs;
	size_t run_room;
	size_t step; /* edges of a run that are read at a time */
} Edges;

/* Takes an edge.  Returns false if the sink wants no more. */
typedef bool (*EdgeSink)(void *state, const LongEdge *edge);

extern void edges_add(Edges *edges, LongEdge edge);
extern void edges_end(Edges *edges);
extern void edges_give(Edges *edges, EdgeSink sink, void *state);

#endif
