/*
 * edges.c: sorts edges, those that outgrow memory in runs that are merged.
 */
#include "join/edges.h"

#include "base/sort.h"

#define ROOM_MIN 1024

/* Edges of a run that are read at a time. */
#define RUN_STEP 1024

/* Returns the key by which edges of one second row are sorted. */
static inline uint64_t
key_of_first(const void *edge)
{
	return ((const LongEdge *) edge)->first;
}

/* Sorts the edges in memory. */
static void
sort_edges(const Edges *edges)
{
	LongEdge *edge = edges->edge;

	if (edges->count == 0)
		return;
	sort_records(edge, edges->count, sizeof(LongEdge), sort_key_unsigned);
	for (size_t start = 0, end; start < edges->count; start = end)
	{
		for (end = start + 1; end < edges->count && edge[end].second == edge[start].second; end++)
			host_check_interrupts_at(end);
		sort_records(edge + start, end - start, sizeof(LongEdge), key_of_first);
	}
}

/* Writes the edges in memory as a run. */
static void
write_run(Edges *edges)
{
	uint64_t from = edges->runs > 0 ? edges->run[edges->runs - 1].end : 0;

	if (edges->file == NULL)
		edges->file = host_file_create();
	sort_edges(edges);
	host_file_write(edges->file, from * sizeof(LongEdge), edges->edge,
					edges->count * sizeof(LongEdge));
	edges->run = host_grow(edges->run, &edges->run_room, edges->runs + 1, sizeof(EdgeRun));
	edges->run[edges->runs++] = (EdgeRun){.next = from, .end = from + edges->count};
	edges->count = 0;
}

/* Adds an edge. */
void
edges_add(Edges *edges, LongEdge edge)
{
	if (edges->count == Max(edges->most, ROOM_MIN))
		write_run(edges);
	if (edges->count == edges->room)
	{
		edges->room = Min(Max(2 * edges->room, ROOM_MIN), Max(edges->most, ROOM_MIN));
		edges->edge = host_realloc(edges->edge, edges->room * sizeof(LongEdge));
	}
	edges->edge[edges->count++] = edge;
}

/* Moves to the next edge of a run.  Returns false at its end. */
static bool
advance(Edges *edges, EdgeRun *run)
{
	if (++run->at < run->count)
		return true;
	run->at = 0;
	run->count = (uint32_t) Min(run->end - run->next, RUN_STEP);
	if (run->count == 0)
		return false;
	host_file_read(edges->file, run->next * sizeof(LongEdge), run->edge,
				   run->count * sizeof(LongEdge));
	run->next += run->count;
	return true;
}

/* Does the edge of one run come before that of another? */
static inline bool
comes_before(const EdgeRun *x, const EdgeRun *y)
{
	const LongEdge *a = x->edge + x->at;
	const LongEdge *b = y->edge + y->at;

	return a->second != b->second ? a->second < b->second : a->first < b->first;
}

/* Lets a run sink to its place in a heap of runs whose others are in theirs. */
static void
sink_down(EdgeRun *run, size_t runs, size_t at)
{
	EdgeRun moved = run[at];
	size_t child;

	for (; (child = 2 * at + 1) < runs; at = child)
	{
		if (child + 1 < runs && comes_before(run + child + 1, run + child))
			child++;
		if (!comes_before(run + child, &moved))
			break;
		run[at] = run[child];
	}
	run[at] = moved;
}

/* Merges the runs. */
static void
merge_runs(Edges *edges, EdgeSink sink, void *state)
{
	EdgeRun *run = edges->run;
	size_t runs = edges->runs;
	LongEdge *buffer = host_alloc(runs * RUN_STEP * sizeof(LongEdge));
	uint64_t given = 0;

	for (size_t i = 0; i < runs; i++)
	{
		run[i].edge = buffer + i * RUN_STEP;
		(void) advance(edges, run + i);
	}
	for (size_t i = runs; i-- > 0;)
		sink_down(run, runs, i);
	while (runs > 0)
	{
		host_check_interrupts_at(given++);
		if (!sink(state, run[0].edge + run[0].at))
			break;
		if (!advance(edges, run))
			run[0] = run[--runs];
		sink_down(run, runs, 0);
	}
	host_free(buffer);
}

/* Gives sink all edges by their second rows, then by the first ones, and frees them. */
void
edges_give(Edges *edges, EdgeSink sink, void *state)
{
	if (edges->runs > 0)
	{
		if (edges->count > 0)
			write_run(edges);
		host_free(edges->edge);
		merge_runs(edges, sink, state);
		host_file_close(edges->file);
		host_free(edges->run);
	}
	else
	{
		sort_edges(edges);
		for (size_t i = 0; i < edges->count && sink(state, edges->edge + i); i++)
			host_check_interrupts_at(i);
		host_free(edges->edge);
	}
	*edges = (Edges){.most = edges->most};
}
