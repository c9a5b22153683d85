/*
 * clusters.c: neardup_clusters().
 *
 * Stars: documents are taken in order.  A document within the threshold of an
 * earlier keeper joins that keeper; any other document becomes a keeper.  By
 * containment, a document joins only keepers that contain it.  Only as many
 * pairs are kept as memory has room for.  If there are more, the first
 * documents are settled alone, and the others join the keepers found or wait
 * for the next round.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "base/sort.h"

/* This many documents are settled together however many pairs they have. */
#define SETTLED_MIN 256
#define EDGES_MIN (SETTLED_MIN * SETTLED_MIN / 2)

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
	Source *keepers; /* source of the keepers */
	bool nearest;    /* rows join the nearest keeper, not the first */

	/* For each row of source. */
	uint32 *keeper; /* or NO_DOCUMENT */
	double *similarity;

	/* For each document of source. */
	bool *is_keeper;

	/* Pairs of documents, for stars. */
	Edge *edge;
	size_t edges;
	size_t edge_room;
	size_t edge_limit;
} Clusters;

/* Returns a zeroed array of any size. */
static void *
allocate(size_t count, size_t size)
{
	return palloc_extended(Max(count, 1) * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* ---- Joining a keeper --------------------------------------------------- */

/* Returns the length of a set by which containment compares it. */
static uint64
document_length(const Source *source, uint32 document)
{
	const Bag *bag = source->bag + document;

	return source->options->multiset ? bag_total(bag) : bag->count;
}

/*
 * Returns whether a document may join a keeper within the threshold: by containment, none that
 * is shorter.
 */
static bool
may_join(const Clusters *clusters, uint32 document, uint32 keeper)
{
	return clusters->source->options->measure == SET_RESEMBLANCE ||
		document_length(clusters->source, document) <= document_length(clusters->keepers, keeper);
}

/* Assigns a row to a keeper unless it has a better one: nearer if that counts, or earlier. */
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

/* A PairSink for a document and a keeper within the threshold. */
static bool
take_keeper(void *state, uint32 document, uint32 keeper, double similarity)
{
	Clusters *clusters = state;
	bool same = clusters->source == clusters->keepers;

	if (!may_join(clusters, document, keeper))
		return true;
	for_each_row(clusters->source, document, row)
	{
		host_check_interrupts();
		/* Within one source the keeper must come before the row. */
		if (!same || clusters->keepers->first[keeper] < row)
			offer(clusters, row, keeper, similarity);
	}
	return true;
}

/* ---- Stars -------------------------------------------------------------- */

/* A PairSink that keeps the pair, or ends the join if there is no room for it. */
static bool
take_edge(void *state, uint32 a, uint32 b, double similarity)
{
	Clusters *clusters = state;

	if (!may_join(clusters, b, a))
		return true;
	if (clusters->edges == clusters->edge_limit)
		return false;
	if (clusters->edges == clusters->edge_room)
	{
		clusters->edge_room = Min(clusters->edge_room * 2, clusters->edge_limit);
		clusters->edge = repalloc_huge(clusters->edge, clusters->edge_room * sizeof(Edge));
	}
	clusters->edge[clusters->edges++] = (Edge){.second = b, .first = a, .similarity = similarity};
	return true;
}

/* A SortKey: by the second document, then by the first. */
static inline uint64
edge_key(const void *record)
{
	const Edge *edge = record;

	return (uint64) edge->second << 32 | edge->first;
}

/* Assigns each document of a list to keepers among the earlier ones, or makes it a keeper. */
static void
settle(Clusters *clusters, const Documents *list)
{
	size_t next = 0;

	sort_records(clusters->edge, clusters->edges, sizeof(Edge), edge_key);
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
		{
			clusters->is_keeper[document] = true;
			for_each_row(clusters->source, document, row) offer(clusters, row, document, 1);
		}
		host_check_interrupts_at(i);
	}
}

/*
 * Finds the pairs among the first documents of a list, at most `most`.  Takes
 * fewer documents if they have too many pairs, and returns how many it took.
 */
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

typedef enum DocumentKind
{
	KEEPERS,
	MEMBERS,  /* documents that are no keepers */
	UNDECIDED /* documents without a keeper */
} DocumentKind;

/* Returns those of the documents of a list that are of a kind. */
static Documents
select_documents(const Clusters *clusters, Documents list, DocumentKind kind)
{
	uint32 *chosen = allocate(list.count, sizeof(uint32));
	Documents result = {list.source, chosen, 0};

	for (uint32 i = 0; i < list.count; i++)
	{
		uint32 document = list.doc == NULL ? i : list.doc[i];
		uint32 row = list.source->first[document];

		if (kind == UNDECIDED ? clusters->keeper[row] == NO_DOCUMENT :
								clusters->is_keeper[document] == (kind == KEEPERS))
			chosen[result.count++] = document;
	}
	return result;
}

/*
 * Finds the keepers, and for each of the other documents its first keeper or, if asked, its
 * nearest.
 */
static void
make_stars(Clusters *clusters)
{
	Source *source = clusters->source;
	size_t limit = (size_t) maintenance_work_mem * 1024 / 2 / sizeof(Edge);
	Documents undecided;
	uint32 most = source->documents;

	clusters->edge_limit = Max(limit, EDGES_MIN);
	clusters->edge_room = EDGES_MIN;
	clusters->edge = allocate(EDGES_MIN, sizeof(Edge));
	clusters->is_keeper = allocate(source->documents, sizeof(bool));
	undecided = select_documents(clusters, all_documents(source), UNDECIDED);
	while (undecided.count > 0)
	{
		uint32 count = find_edges(clusters, &undecided, most);
		Documents settled = {source, undecided.doc, count};
		Documents others = {source, undecided.doc + count, undecided.count - count};
		Documents keepers;
		Documents next;

		settle(clusters, &settled);
		keepers = select_documents(clusters, settled, KEEPERS);
		documents_join(&others, &keepers, take_keeper, clusters);
		next = select_documents(clusters, others, UNDECIDED);
		pfree((void *) keepers.doc);
		pfree((void *) undecided.doc);
		undecided = next;
		most = count < UINT32_MAX / 2 ? count * 2 : count;
	}
	pfree((void *) undecided.doc);
	if (clusters->nearest)
	{
		/* A later keeper may be nearer than those that a document met. */
		Documents keepers = select_documents(clusters, all_documents(source), KEEPERS);
		Documents members = select_documents(clusters, all_documents(source), MEMBERS);

		documents_join(&members, &keepers, take_keeper, clusters);
	}
}

/* ---- Connected components ----------------------------------------------- */

/* Returns the root of a document's tree, and shortens the way to it. */
static uint32
root_of(uint32 *parent, uint32 document)
{
	while (parent[document] != document)
		document = parent[document] = parent[parent[document]];
	return document;
}

/* A PairSink that joins the trees of two documents; the earlier root stays. */
static bool
take_link(void *state, uint32 a, uint32 b, double similarity)
{
	uint32 *parent = state;
	uint32 x = root_of(parent, a);
	uint32 y = root_of(parent, b);

	parent[Max(x, y)] = Min(x, y);
	return true;
}

/* Finds connected components; the first document of each is its keeper. */
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

/* Returns a row: a member's id, its keeper's, and the size of the cluster. */
static void
put_row(ReturnSetInfo *result, Datum id, Datum keeper, double similarity, int64 size)
{
	Datum values[4] = {id, keeper, Float8GetDatum(similarity), Int64GetDatum(size)};
	bool nulls[4] = {false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Returns the clusters of two rows and more: first keepers from "against", then rows in order. */
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
		host_check_interrupts_at(row);
	}
}

/* Raises an error if connected components are not defined for the other arguments. */
static void
check_components(const Call *call, bool nearest)
{
	if (call->against_query != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method 'components' cannot be combined with \"against\""),
				 errdetail("The keeper of a connected component is one of its members."),
				 errhint("Use method 'star', or read both tables in one query (UNION ALL).")));
	if (nearest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method 'components' cannot be combined with \"nearest\""),
				 errdetail("A connected component has only one keeper."),
				 errhint("Omit \"nearest\", or use method 'star'.")));
	if (call->options->measure == SET_CONTAINMENT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method 'components' cannot be combined with measure 'containment'"),
				 errdetail("A short document connects all documents that contain it."),
				 errhint("Use method 'star'.")));
}

/*
 * neardup_clusters(query, threshold, ...), whose ids are bigint, and
 * neardup_clusters(query, threshold, id_type, ...), whose ids have the type of id_type.
 */
PG_FUNCTION_INFO_V1(neardup_clusters);
Datum
neardup_clusters(PG_FUNCTION_ARGS)
{
	Call call = call_begin(fcinfo, ARGUMENT_BIT(ARGUMENT_EQUAL));
	bool components = call_choice(fcinfo, &call, ARGUMENT_METHOD, "method", "star", "components");
	int nearest = call.place[ARGUMENT_NEAREST];
	Clusters clusters = {.nearest = !PG_ARGISNULL(nearest) && PG_GETARG_BOOL(nearest)};
	Source *source;

	if (components)
		check_components(&call, clusters.nearest);
	call_read(&call);
	source = clusters.source = call.source;
	clusters.keepers = call.against ? call.against : source;
	clusters.keeper = allocate(source->rows, sizeof(uint32));
	memset(clusters.keeper, 0xFF, source->rows * sizeof(uint32)); /* NO_DOCUMENT */
	clusters.similarity = allocate(source->rows, sizeof(double));
	progress_phase(PHASE_JOINING);
	if (components)
		make_components(&clusters);
	else if (call.against == NULL)
		make_stars(&clusters);
	else
	{
		Documents all = all_documents(source);
		Documents keepers = all_documents(call.against);

		documents_join(&all, &keepers, take_keeper, &clusters);
	}
	progress_phase(PHASE_CLUSTERING);
	put_clusters(&clusters, (ReturnSetInfo *) fcinfo->resultinfo);
	call_end(&call);
	return (Datum) 0;
}
