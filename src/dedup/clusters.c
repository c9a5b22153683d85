/*
 * clusters.c: neardup_clusters().
 *
 * Stars: documents are taken in order; one within the threshold of an earlier
 * keeper joins it, any other becomes a keeper.  Pairs are never kept for more
 * documents than memory has room for: where they are too many, half of the
 * documents are settled first, and the others join the keepers found.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "dedup/call.h"

/* So few documents are settled together however many pairs they have. */
#define SETTLED_MIN 256
#define EDGES_MIN (SETTLED_MIN * SETTLED_MIN / 2)

PG_FUNCTION_INFO_V1(neardup_clusters);
PG_FUNCTION_INFO_V1(neardup_clusters_witness);

/* A pair of documents, first < second. */
typedef struct Edge
{
	uint32 second;
	uint32 first;
	double similarity;
} Edge;

typedef struct Clusters
{
	Source *source;
	Source *keepers; /* that keepers are documents of */
	bool nearest;

	/* Of each row of source: the keeper, and how similar; NO_DOCUMENT: none. */
	uint32 *keeper;
	double *similarity;

	/* Documents of source. */
	bool *is_keeper;

	Edge *edge;
	size_t edges;
	size_t edge_room;
	size_t edge_limit;
} Clusters;

static void *
allocate(size_t count, size_t size)
{
	return palloc_extended(Max(count, 1) * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
clusters_begin(Clusters *clusters, Source *source, Source *keepers, bool nearest)
{
	memset(clusters, 0, sizeof(*clusters));
	clusters->source = source;
	clusters->keepers = keepers;
	clusters->nearest = nearest;
	clusters->keeper = allocate(source->rows, sizeof(uint32));
	clusters->similarity = allocate(source->rows, sizeof(double));
	memset(clusters->keeper, 0xFF, source->rows * sizeof(uint32));
}

/* ---- Joining a keeper --------------------------------------------------- */

/* The row joins the keeper if it has no better one: nearer, or just earlier. */
static void
offer(Clusters *clusters, uint32 row, uint32 keeper, double similarity)
{
	bool better = clusters->keeper[row] == NO_DOCUMENT || keeper < clusters->keeper[row];

	if (clusters->nearest && clusters->keeper[row] != NO_DOCUMENT &&
		similarity != clusters->similarity[row])
		better = similarity > clusters->similarity[row];
	if (!better)
		return;
	clusters->keeper[row] = keeper;
	clusters->similarity[row] = similarity;
}

/* A document of source and a keeper within the threshold. */
static bool
take_keeper(void *state, uint32 document, uint32 keeper, double similarity)
{
	Clusters *clusters = state;
	bool same = clusters->source == clusters->keepers;

	for_each_row(clusters->source, document, row)
	{
		host_check_interrupts();
		/* A keeper must have come before the row. */
		if (!same || clusters->keepers->first[keeper] < row)
			offer(clusters, row, keeper, similarity);
	}
	return true;
}

static void
make_keeper(Clusters *clusters, uint32 document)
{
	clusters->is_keeper[document] = true;
	for_each_row(clusters->source, document, row) offer(clusters, row, document, 1);
}

/* ---- Settling some documents -------------------------------------------- */

static bool
take_edge(void *state, uint32 a, uint32 b, double similarity)
{
	Clusters *clusters = state;

	if (clusters->edges == clusters->edge_limit)
		return false;
	if (clusters->edges == clusters->edge_room)
	{
		clusters->edge_room = Min(clusters->edge_room * 2, clusters->edge_limit);
		clusters->edge = repalloc_huge(clusters->edge, clusters->edge_room * sizeof(Edge));
	}
	clusters->edge[clusters->edges++] = (Edge){b, a, similarity};
	return true;
}

static int
compare_edges(const void *x, const void *y)
{
	const Edge *a = x;
	const Edge *b = y;

	CHECK_FOR_INTERRUPTS();
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The first documents of a list that has no keeper yet: each joins one among them or becomes one. */
static void
settle(Clusters *clusters, const Documents *list)
{
	size_t next = 0;

	qsort(clusters->edge, clusters->edges, sizeof(Edge), compare_edges);
	for (uint32 i = 0; i < list->count; i++)
	{
		uint32 document = list->doc[i];
		bool joined = false;

		for (; next < clusters->edges && clusters->edge[next].second == document; next++)
		{
			const Edge *edge = clusters->edge + next;

			if (clusters->is_keeper[edge->first])
			{
				take_keeper(clusters, document, edge->first, edge->similarity);
				joined = true;
			}
		}
		if (!joined)
			make_keeper(clusters, document);
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Find the pairs of the first documents of a list, of fewer where they are too many; how many. */
static uint32
find_edges(Clusters *clusters, const Documents *undecided, uint32 most)
{
	Documents list = {undecided->source, undecided->doc, Min(most, undecided->count)};

	for (;;)
	{
		clusters->edges = 0;
		if (documents_join(&list, NULL, take_edge, clusters))
			return list.count;
		list.count = Max(list.count / 2, SETTLED_MIN);
	}
}

/* Those of a list that are keepers, or that have none. */
static Documents
select_documents(const Clusters *clusters, Documents list, bool keepers)
{
	uint32 *chosen = allocate(list.count, sizeof(uint32));
	Documents result = {list.source, chosen, 0};

	for (uint32 i = 0; i < list.count; i++)
	{
		uint32 document = list.doc[i];
		uint32 row = list.source->first[document];

		if (keepers ? clusters->is_keeper[document] : clusters->keeper[row] == NO_DOCUMENT)
			chosen[result.count++] = document;
	}
	return result;
}

static Documents
list_of_all(Source *source)
{
	uint32 *all = allocate(source->documents, sizeof(uint32));

	for (uint32 i = 0; i < source->documents; i++)
		all[i] = i;
	return (Documents){source, all, source->documents};
}

/* Which documents are keepers, and the first keeper of each of the others. */
static void
settle_all(Clusters *clusters)
{
	Documents undecided = list_of_all(clusters->source);
	uint32 most = undecided.count;

	while (undecided.count > 0)
	{
		uint32 count = find_edges(clusters, &undecided, most);
		Documents settled = {undecided.source, undecided.doc, count};
		Documents rest = {undecided.source, undecided.doc + count, undecided.count - count};
		Documents keepers;
		Documents next;

		settle(clusters, &settled);
		keepers = select_documents(clusters, settled, true);
		documents_join(&rest, &keepers, take_keeper, clusters);
		next = select_documents(clusters, rest, false);
		pfree((void *) keepers.doc);
		pfree((void *) undecided.doc);
		undecided = next;
		most = count < UINT32_MAX / 2 ? count * 2 : count;
	}
	pfree((void *) undecided.doc);
}

/* Now that all keepers are known: each row's nearest one. */
static void
choose_nearest(Clusters *clusters)
{
	Documents all = list_of_all(clusters->source);
	Documents keepers = select_documents(clusters, all, true);
	uint32 *others = allocate(all.count, sizeof(uint32));
	Documents members = {clusters->source, others, 0};

	for (uint32 i = 0; i < all.count; i++)
		if (!clusters->is_keeper[i])
			others[members.count++] = i;
	documents_join(&members, &keepers, take_keeper, clusters);
}

static void
make_stars(Clusters *clusters)
{
	size_t limit = (size_t) maintenance_work_mem * 1024 / 2 / sizeof(Edge);

	clusters->edge_limit = Max(limit, EDGES_MIN);
	clusters->edge_room = EDGES_MIN;
	clusters->edge = allocate(EDGES_MIN, sizeof(Edge));
	clusters->is_keeper = allocate(clusters->source->documents, sizeof(bool));
	settle_all(clusters);
	if (clusters->nearest)
		choose_nearest(clusters);
}

/* ---- Connected components ----------------------------------------------- */

static uint32
root_of(uint32 *parent, uint32 document)
{
	while (parent[document] != document)
		document = parent[document] = parent[parent[document]];
	return document;
}

/* The earlier root becomes the root of both. */
static bool
take_link(void *state, uint32 a, uint32 b, double similarity)
{
	uint32 *parent = state;
	uint32 x = root_of(parent, a);
	uint32 y = root_of(parent, b);

	parent[Max(x, y)] = Min(x, y);
	return true;
}

static void
make_components(Clusters *clusters)
{
	Source *source = clusters->source;
	uint32 *parent = allocate(source->documents, sizeof(uint32));
	Documents all = all_documents(source);

	for (uint32 i = 0; i < source->documents; i++)
		parent[i] = i;
	documents_join(&all, NULL, take_link, parent);
	progress_phase(PHASE_CLUSTERING);
	for (uint32 i = 0; i < source->documents; i++)
	{
		uint32 root = root_of(parent, i);
		double similarity = root == i ? 1 : documents_similarity(source, root, i);

		for_each_row(source, i, row) offer(clusters, row, root, similarity);
		host_check_interrupts();
	}
}

/* ---- Results ------------------------------------------------------------ */

static void
put_row(ReturnSetInfo *result, Datum id, Datum keeper, double similarity, int64 size)
{
	Datum values[4] = {id, keeper, Float8GetDatum(similarity), Int64GetDatum(size)};
	bool nulls[4] = {false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Rows of clusters of two and more, in the query's order; foreign keepers before all. */
static void
put_clusters(const Clusters *clusters, ReturnSetInfo *result)
{
	const Source *source = clusters->source;
	const Source *keepers = clusters->keepers;
	uint32 foreign = source != keepers;
	uint32 *size = allocate(keepers->documents, sizeof(uint32));

	for (uint32 row = 0; row < source->rows; row++)
		if (clusters->keeper[row] != NO_DOCUMENT)
			size[clusters->keeper[row]]++;
	for (uint32 document = 0; foreign && document < keepers->documents; document++)
		if (size[document] > 0)
		{
			Datum id = keepers->id[keepers->first[document]];

			put_row(result, id, id, 1, size[document] + 1);
		}
	for (uint32 row = 0; row < source->rows; row++)
	{
		uint32 keeper = clusters->keeper[row];

		if (keeper != NO_DOCUMENT && size[keeper] + foreign > 1)
			put_row(result, source->id[row], keepers->id[keepers->first[keeper]],
					clusters->similarity[row], size[keeper] + foreign);
		if (row % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
refuse_components(bool against, bool nearest)
{
	if (against)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("connected components have no keepers from \"against\""),
				 errhint("Use method 'star', or read both tables in one query (UNION ALL).")));
	if (nearest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"nearest\" is for stars: a connected component has one keeper"),
				 errhint("Leave it out, or use method 'star'.")));
}

static Datum
find_clusters(FunctionCallInfo fcinfo, int witnesses)
{
	Call call = call_begin(fcinfo, witnesses);
	bool components = call_choice(fcinfo, 4 + witnesses, "method", "star", "components");
	bool nearest = !PG_ARGISNULL(5 + witnesses) && PG_GETARG_BOOL(5 + witnesses);
	Clusters clusters;

	if (components)
		refuse_components(call.against_query != NULL, nearest);
	call_read(&call);
	clusters_begin(&clusters, call.source, call.against ? call.against : call.source, nearest);
	progress_phase(PHASE_JOINING);
	if (components)
		make_components(&clusters);
	else if (call.against == NULL)
		make_stars(&clusters);
	else
	{
		Documents all = all_documents(call.source);
		Documents keepers = all_documents(call.against);

		documents_join(&all, &keepers, take_keeper, &clusters);
	}
	progress_phase(PHASE_CLUSTERING);
	put_clusters(&clusters, (ReturnSetInfo *) fcinfo->resultinfo);
	call_end(&call);
	return (Datum) 0;
}

Datum
neardup_clusters(PG_FUNCTION_ARGS)
{
	return find_clusters(fcinfo, 0);
}

Datum
neardup_clusters_witness(PG_FUNCTION_ARGS)
{
	return find_clusters(fcinfo, 1);
}
