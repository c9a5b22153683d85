/*
 * edges.h: edges between rows of any number, sorted, beyond memory in a temporary file.
 */
#ifndef NEARDUP_JOIN_EDGES_H
#define NEARDUP_JOIN_EDGES_H

#include "base/host.h"

/* Two rows that are similar. */
typedef struct LongEdge
{
	uint64_t second; /* edges are sorted by it, then by the first */
	uint64_t first;
	double similarity;
} LongEdge;

/* Sorted edges in the file. */
typedef struct EdgeRun
{
	uint64_t next; /* the number in the file of the first edge not in memory */
	uint64_t end;
	LongEdge *edge; /* the edges in memory */
	uint32_t at;
	uint32_t count;
} EdgeRun;

/* Edges in memory. */
typedef struct EdgeArray
{
	LongEdge *edge;
	size_t count;
	size_t room;
} EdgeArray;

typedef struct Edges
{
	EdgeArray ordered; /* the edges in memory, in order, unless `unsorted` */
	EdgeArray others;
	size_t most;   /* edges that memory may hold */
	bool unsorted; /* edges are given in any order */
	HostFile *file;
	EdgeRun *run;
	size_t runs;
	size_t run_room;
} Edges;

/* Takes an edge.  Returns false if no more are wanted. */
typedef bool (*EdgeSink)(void *state, const LongEdge *edge);

extern void edges_add(Edges *edges, LongEdge edge);
extern void edges_add_early(Edges *edges, LongEdge edge);
extern void edges_end(Edges *edges);
extern void edges_give(Edges *edges, EdgeSink sink, void *state);

#endif
