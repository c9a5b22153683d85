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

/* Sorts edges. */
static void
sort_edges(const EdgeArray *array)
{
	LongEdge *edge = array->edge;

	if (array->count == 0)
		return;
	sort_records(edge, array->count, sizeof(LongEdge), sort_key_unsigned);
	for (size_t start = 0, end; start < array->count; start = end)
	{
		for (end = start + 1; end < array->count && edge[end].second == edge[start].second; end++)
			host_check_interrupts_at(end);
		sort_records(edge + start, end - start, sizeof(LongEdge), key_of_first);
	}
}

/* Writes edges as a run. */
static void
write_run(Edges *edges, EdgeArray *array)
{
	uint64_t from = edges->runs > 0 ? edges->run[edges->runs - 1].end : 0;

	if (array->count == 0)
		return;
	if (edges->file == NULL)
		edges->file = host_file_create();
	host_file_write(edges->file, from * sizeof(LongEdge), array->edge,
					array->count * sizeof(LongEdge));
	edges->run = host_grow(edges->run, &edges->run_room, edges->runs + 1, sizeof(EdgeRun));
	edges->run[edges->runs++] = (EdgeRun){.next = from, .end = from + array->count};
	array->count = 0;
}

/* Writes the edges in memory. */
static void
write_edges(Edges *edges)
{
	sort_edges(&edges->others);
	write_run(edges, &edges->ordered);
	write_run(edges, &edges->others);
}

/* Appends an edge to one of the arrays. */
static void
append(Edges *edges, EdgeArray *array, LongEdge edge)
{
	size_t most = host_limit(Max(edges->most, ROOM_MIN));

	if (edges->ordered.count + edges->others.count == most)
		write_edges(edges);
	if (array->count == array->room)
	{
		array->room = Min(Max(2 * array->room, ROOM_MIN), most);
		array->edge = host_realloc(array->edge, array->room * sizeof(LongEdge));
	}
	array->edge[array->count++] = edge;
}

/* Adds an edge; an edge that comes after all ordered ones need not be sorted. */
void
edges_add(Edges *edges, LongEdge edge)
{
	const EdgeArray *ordered = &edges->ordered;
	bool behind = edges->unsorted || ordered->count == 0 ||
		!is_before(&edge, ordered->edge + ordered->count - 1);

	append(edges, behind ? &edges->ordered : &edges->others, edge);
}

/* Adds an edge that comes long before its turn: most that follow would be before it. */
void
edges_add_early(Edges *edges, LongEdge edge)
{
	append(edges, &edges->others, edge);
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

/* Merges the edges in memory. */
static void
merge_arrays(Edges *edges, EdgeSink sink, void *state)
{
	const LongEdge *edge = edges->ordered.edge;
	const LongEdge *other = edges->others.edge;
	const LongEdge *end = edge + edges->ordered.count;
	const LongEdge *others_end = other + edges->others.count;

	sort_edges(&edges->others);
	for (size_t i = 0; edge < end || other < others_end; i++)
	{
		bool is_other = edge == end || (other < others_end && is_before(other, edge));

		host_check_interrupts_at(i);
		if (!sink(state, is_other ? other++ : edge++))
			return;
	}
}

/* Frees the edges. */
void
edges_end(Edges *edges)
{
	host_free(edges->ordered.edge);
	host_free(edges->others.edge);
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
		write_edges(edges);
		merge_runs(edges, sink, state);
	}
	else
		merge_arrays(edges, sink, state);
	edges_end(edges);
}
