/*
 * edges.h: edges, sorted, beyond memory in a temporary file.
 */
#ifndef NEARDUP_JOIN_EDGES_H
#define NEARDUP_JOIN_EDGES_H

#include "join/pairs.h"

/* Sorted edges in the file. */
typedef struct EdgeRun
{
	uint64_t next; /* the first that is not in memory, by its number in the file */
	uint64_t end;
	Edge *edge; /* those in memory */
	uint32_t at;
	uint32_t count;
} EdgeRun;

typedef struct Edges
{
	Edge *edge; /* those in memory */
	size_t count;
	size_t room;
	size_t most; /* that memory may hold */
	HostFile *file;
	EdgeRun *run;
	size_t runs;
	size_t run_room;
} Edges;

/* Takes an edge.  Returns false if no more are wanted. */
typedef bool (*EdgeSink)(void *state, const Edge *edge);

extern void edges_add(Edges *edges, Edge edge);
extern void edges_give(Edges *edges, EdgeSink sink, void *state);

#endif
