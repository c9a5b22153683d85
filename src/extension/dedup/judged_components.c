/*
 * judged_components.c: connected components with units that are judged different.
 *
 * A component with two such units must be cut.  Its pairs are taken from the most similar to the
 * least, as a maximum spanning forest takes them, and a pair of the forest that would bring two
 * such units together is left out.  So each chain between them is cut at its least similar pair.
 */
#include "dedup/dedup.h"

#include "base/forest.h"
#include "base/sort.h"

/* Edges that there is always room for. */
#define EDGES_MIN 32768

/* The edges of the rows of a call, and the trees that they make. */
typedef struct Forest
{
	const Clusters *clusters;
	uint32 *parent; /* the parent of each row */
	uint32 *ring;   /* a unit of each root's tree that is judged different, or NOT_JUDGED */
	uint32 *next;   /* the next such unit of each unit's tree, in a ring */
	Edge *edge;
	size_t edges;
	size_t room;
} Forest;

/* ---- The maximum spanning forest ------------------------------------------ */

/* A SortKey: the greatest similarity first. */
static inline uint64
similarity_key(const void *record)
{
	uint64 bits;

	memcpy(&bits, &((const Edge *) record)->similarity, sizeof(bits));
	return ~bits;
}

/* A SortKey. */
static inline uint64
rows_key(const void *record)
{
	const Edge *edge = record;

	return (uint64) edge->first << 32 | edge->second;
}

/* Sorts edges by similarity, the greatest first, and equally similar ones by their rows. */
static void
judged_sort_edges(Edge *edge, size_t edges)
{
	sort_records_twice(edge, edges, sizeof(Edge), similarity_key, rows_key);
}

/* Keeps only the edges of the maximum spanning forest, in order. */
static void
span(Forest *forest)
{
	uint32 *parent = forest_begin(forest->clusters->source->documents->rows);
	size_t kept = 0;

	judged_sort_edges(forest->edge, forest->edges);
	for (size_t i = 0; i < forest->edges; i++)
		if (forest_link(parent, forest->edge[i].first, forest->edge[i].second))
			forest->edge[kept++] = forest->edge[i];
	forest->edges = kept;
	pfree(parent);
}

/* A PairSink that keeps the pair.  A forest has fewer edges than half of the room. */
static bool
judged_take_edge(void *state, uint32 a, uint32 b, double similarity)
{
	Forest *forest = state;
	const uint32 *head = forest->clusters->stars.first;
	uint32 first = head[a];
	uint32 second = head[b];

	if (first == second)
		return true;
	if (forest->edges == forest->room)
		span(forest);
	forest->edge[forest->edges++] = (Edge){Max(first, second), Min(first, second), similarity};
	return true;
}

/* ---- Units that are judged different ------------------------------------- */

/* Makes the rings of the units that are judged different. */
static void
make_rings(Forest *forest)
{
	const Units *units = forest->clusters->units;
	uint32 rows = forest->clusters->source->documents->rows;

	forest->ring = clusters_allocate(rows, sizeof(uint32));
	memset(forest->ring, 0xFF, rows * sizeof(uint32)); /* NOT_JUDGED */
	forest->next = clusters_allocate(units->positions, sizeof(uint32));
	for (uint32 i = 0; i < units->pairs; i++)
	{
		uint32 unit = units->different[i].unit;

		forest->ring[units->member[unit].row] = forest->next[unit] = unit;
	}
}

/* Returns whether a unit is judged different from one in the tree of a root. */
static bool
differs_from(Forest *forest, uint32 unit, uint32 root)
{
	const Units *units = forest->clusters->units;
	const UnitMember *member = units->member + unit;

	for (uint32 i = member->first; i < member->end; i++)
		if (forest_root(forest->parent, units->member[units->different[i].other].row) == root)
			return true;
	return false;
}

/* Returns whether two trees have units that are judged different. */
static bool
trees_differ(Forest *forest, uint32 x, uint32 y)
{
	uint32 unit = forest->ring[x];

	if (unit == NOT_JUDGED || forest->ring[y] == NOT_JUDGED)
		return false;
	do
	{
		if (differs_from(forest, unit, y))
			return true;
		unit = forest->next[unit];
		host_check_interrupts();
	} while (unit != forest->ring[x]);
	return false;
}

/* Joins the trees of two rows, and their rings, unless they have units judged different. */
static void
link_if_allowed(Forest *forest, uint32 a, uint32 b)
{
	uint32 x = forest_root(forest->parent, a);
	uint32 y = forest_root(forest->parent, b);
	uint32 earlier = Min(x, y);
	uint32 later = Max(x, y);

	/* The later tree is probably the smaller one. */
	if (trees_differ(forest, later, earlier))
		return;
	if (forest->ring[earlier] == NOT_JUDGED)
		forest->ring[earlier] = forest->ring[later];
	else if (forest->ring[later] != NOT_JUDGED)
	{
		uint32 *one = forest->next + forest->ring[earlier];
		uint32 *other = forest->next + forest->ring[later];
		uint32 next = *one;

		*one = *other;
		*other = next;
	}
	(void) forest_link(forest->parent, x, y);
}

/* Allocates room for edges, at least twice those that a forest can have. */
static void
begin_edges(Forest *forest)
{
	const Documents *documents = forest->clusters->source->documents;
	size_t held = EDGE_MEMORY(documents->options) / sizeof(Edge);

	forest->room = Max(host_limit(Max(held, EDGES_MIN)), (size_t) documents->rows * 2);
	forest->edge = palloc_extended(forest->room * sizeof(Edge), MCXT_ALLOC_HUGE);
}

/* Finds components by the most similar pairs first; the first row of each is its keeper. */
void
components_by_similarity(Clusters *clusters)
{
	const Documents *documents = clusters->source->documents;
	DocumentList all = all_documents(clusters->source->documents);
	Forest forest = {.clusters = clusters, .parent = forest_begin(documents->rows)};

	begin_edges(&forest);
	(void) pairs_join(&all, NULL, UINT64_MAX, judged_take_edge, &forest);
	span(&forest);
	make_rings(&forest);
	for (size_t i = 0; i < forest.edges; i++)
		link_if_allowed(&forest, forest.edge[i].first, forest.edge[i].second);
	components_set(&clusters->stars, forest.parent);
}
