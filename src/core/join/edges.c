/*
 * edges.c: sorts edges, those that outgrow memory in runs that are merged.
 */
#include "join/edges.h"

#include "base/sort.h"

#define ROOM_MIN 1024

/* Edges of a run that are read at a time, at most. */
#define RUN_STEP 1024

/* Returns whether edge x comes before y. */
static inline bool
is_before(const LongEdge *x, const LongEdge *y)
{
	return x->second != y->second ? x->second < y->second : x->first < y->first;
}

/* Returns the key by which edges of one second row are sorted. */
static inline uint64_t
key_of_first(const void *edge)
{
	return ((const LongEdge *) edge)->first;
}

/* Sorts the edges in memory, unless they came in order. */
static void
sort_edges(Edges *edges)
{
	if (!edges->disordered)
		return;
	sort_records_twice(edges->edge, edges->count, sizeof(LongEdge), sort_key_unsigned,
					   key_of_first);
	edges->disordered = false;
}

/* Writes the edges in memory as a run. */
static void
write_run(Edges *edges)
{
	uint64_t from = edges->runs > 0 ? edges->run[edges->runs - 1].end : 0;

	sort_edges(edges);
	if (edges->file == NULL)
		edges->file = host_file_create();
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
	size_t most = host_limit(Max(edges->most, ROOM_MIN));

	if (edges->count == most)
		write_run(edges);
	if (edges->count == edges->room)
	{
		edges->room = Min(Max(2 * edges->room, ROOM_MIN), most);
		edges->edge = host_realloc(edges->edge, edges->room * sizeof(LongEdge));
	}
	edges->disordered |=
		!edges->unsorted && edges->count > 0 && is_before(&edge, edges->edge + edges->count - 1);
	edges->edge[edges->count++] = edge;
}

/* Moves to the next edge of a run.  Returns false at its end. */
static bool
advance(Edges *edges, EdgeRun *run)
{
	if (++run->at < run->count)
		return true;
	run->at = 0;
	run->count = (uint32_t) Min(run->end - run->next, edges->step);
	if (run->count == 0)
		return false;
	host_file_read(edges->file, run->next * sizeof(LongEdge), run->edge,
				   run->count * sizeof(LongEdge));
	run->next += run->count;
	return true;
}

/* Returns whether the edge of run x comes before that of y. */
static inline bool
comes_before(const EdgeRun *x, const EdgeRun *y)
{
	return is_before(x->edge + x->at, y->edge + y->at);
}

/* Moves a run down to its position in a heap whose other runs are in order. */
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
	LongEdge *buffer;
	uint64_t given = 0;

	/* All runs together take no more memory than edges do that are not in the file yet. */
	edges->step = Max(Min(host_limit(Max(edges->most, ROOM_MIN)) / runs, RUN_STEP), 1);
	buffer = host_alloc(runs * edges->step * sizeof(LongEdge));
	for (size_t i = 0; i < runs; i++)
	{
		run[i].edge = buffer + i * edges->step;
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

/* Frees the edges. */
void
edges_end(Edges *edges)
{
	host_free(edges->edge);
	if (edges->file != NULL)
		host_file_close(edges->file);
	host_free(edges->run);
	*edges = (Edges){.most = edges->most, .unsorted = edges->unsorted};
}

/* Gives sink all edges, by second row and then by first if they are sorted, and frees them. */
void
edges_give(Edges *edges, EdgeSink sink, void *state)
{
	if (edges->runs > 0)
	{
		if (edges->count > 0)
			write_run(edges);
		merge_runs(edges, sink, state);
	}
	sort_edges(edges);
	for (size_t i = 0; i < edges->count && sink(state, edges->edge + i); i++)
		host_check_interrupts_at(i);
	edges_end(edges);
}
