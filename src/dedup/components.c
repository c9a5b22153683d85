/*
 * components.c: connected components, for neardup_clusters().
 *
 * If units are judged different, a component with two of them must be cut.  Its pairs are
 * taken from the most similar to the least, as a maximum spanning forest takes them, and a
 * pair of the forest that would bring two such units together is left out.  So each chain
 * between them is cut at its least similar pair.
 */
#include "dedup/dedup.h"

#include "base/sort.h"

/* Trees of rows, for union and find. */
typedef struct Forest
{
	const Clusters *clusters;
	uint32 *parent; /* of each row */
	uint32 *ring;   /* for each root: a unit of the tree that is judged different, or NOT_JUDGED */
	uint32 *next;   /* the next such unit of the tree, for each; the last one's is the first */
} Forest;

/* Makes a tree of each row. */
static Forest
forest_begin(const Clusters *clusters)
{
	uint32 rows = clusters->source->rows;
	Forest forest = {.clusters = clusters, .parent = clusters_allocate(rows, sizeof(uint32))};

	for (uint32 i = 0; i < rows; i++)
		forest.parent[i] = i;
	return forest;
}

/* Returns the root of a row's tree, and shortens the way to it. */
static uint32
root_of(uint32 *parent, uint32 row)
{
	while (parent[row] != row)
		row = parent[row] = parent[parent[row]];
	return row;
}

/* Joins the trees of two rows; the earlier root stays.  Returns false if they are one tree. */
static bool
forest_link(Forest *forest, uint32 a, uint32 b)
{
	uint32 x = root_of(forest->parent, a);
	uint32 y = root_of(forest->parent, b);

	forest->parent[Max(x, y)] = Min(x, y);
	return x != y;
}

/* A PairSink. */
static bool
take_link(void *state, uint32 a, uint32 b, double similarity)
{
	Forest *forest = state;
	const uint32 *first = forest->clusters->stars.first;

	forest_link(forest, first[a], first[b]);
	return true;
}

/* ---- Units that are judged different ------------------------------------- */

/* A SortKey: the greatest similarity first. */
static inline uint64
similarity_key(const void *record)
{
	uint64 bits;

	memcpy(&bits, &((const StarEdge *) record)->similarity, sizeof(bits));
	return ~bits;
}

/* A SortKey. */
static inline uint64
rows_key(const void *record)
{
	const StarEdge *edge = record;

	return (uint64) edge->first << 32 | edge->second;
}

/* Sorts edges by similarity, the greatest first, and equally similar ones by their rows. */
static void
sort_edges(StarEdge *edge, size_t edges)
{
	size_t from = 0;

	sort_records(edge, edges, sizeof(StarEdge), similarity_key);
	for (size_t i = 1; i <= edges; i++)
		if (i == edges || edge[i].similarity != edge[from].similarity)
		{
			sort_records(edge + from, i - from, sizeof(StarEdge), rows_key);
			from = i;
		}
}

/* Keeps only the edges of the maximum spanning forest, in order. */
static void
span(Clusters *clusters)
{
	Forest forest = forest_begin(clusters);
	Stars *stars = &clusters->stars;
	size_t kept = 0;

	sort_edges(stars->edge, stars->edges);
	for (size_t i = 0; i < stars->edges; i++)
		if (forest_link(&forest, stars->edge[i].first, stars->edge[i].second))
			stars->edge[kept++] = stars->edge[i];
	stars->edges = kept;
	pfree(forest.parent);
}

/* A PairSink that keeps the pair.  A forest has fewer edges than half of the room. */
static bool
take_edge(void *state, uint32 a, uint32 b, double similarity)
{
	Clusters *clusters = state;
	Stars *stars = &clusters->stars;
	uint32 first = stars->first[a];
	uint32 second = stars->first[b];

	if (first == second)
		return true;
	if (stars->edges == stars->limit)
		span(clusters);
	stars_add_edge(stars, Min(first, second), Max(first, second), similarity);
	return true;
}

/* Makes the rings of the units that are judged different. */
static void
make_rings(Forest *forest)
{
	const Units *units = forest->clusters->units;
	uint32 rows = forest->clusters->source->rows;

	forest->ring = clusters_allocate(rows, sizeof(uint32));
	memset(forest->ring, 0xFF, rows * sizeof(uint32)); /* NOT_JUDGED */
	forest->next = clusters_allocate(units->places, sizeof(uint32));
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
		if (root_of(forest->parent, units->member[units->different[i].other].row) == root)
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
	uint32 x = root_of(forest->parent, a);
	uint32 y = root_of(forest->parent, b);
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
	forest_link(forest, x, y);
}

/* Joins trees by the most similar pairs first. */
static void
link_by_similarity(Clusters *clusters, Forest *forest)
{
	Documents all = all_documents(clusters->source);
	Stars *stars = &clusters->stars;

	stars->limit = Max(stars->most_edges, (size_t) clusters->source->rows * 2);
	documents_join(&all, NULL, take_edge, clusters);
	span(clusters);
	make_rings(forest);
	for (size_t i = 0; i < stars->edges; i++)
		link_if_allowed(forest, stars->edge[i].first, stars->edge[i].second);
}

/* ---- Components ------------------------------------------------------------ */

/* Finds connected components; the first row of each is its keeper. */
void
make_components(Clusters *clusters)
{
	Source *source = clusters->source;
	Forest forest = forest_begin(clusters);
	Documents all = all_documents(source);

	if (clusters->units != NULL && clusters->units->pairs > 0)
		link_by_similarity(clusters, &forest);
	else
		documents_join(&all, NULL, take_link, &forest);
	for (uint32 i = 0; i < source->documents; i++)
	{
		uint32 head = clusters->stars.first[i];
		uint32 root = root_of(forest.parent, head);

		clusters->stars.keeper[head] = root;
		for_each_row(source, i, row) clusters->stars.keeper[row] = root;
		host_check_interrupts();
	}
	pfree(forest.parent);
}
