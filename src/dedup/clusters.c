/*
 * clusters.c: neardup_clusters().
 *
 * Stars: documents are taken in order.  A document within the threshold of an
 * earlier keeper joins that keeper; any other document becomes a keeper.  By
 * containment, a document joins only keepers that contain it.  Only as many
 * pairs are kept as memory has room for.  If there are more, the first
 * documents are settled alone, and the others join the keepers found or wait
 * for the next round.
 *
 * With verdicts, a unit takes the place of its documents, in the order of its first row.
 * It joins no keeper whose cluster has a row that is judged different.  That depends on
 * the rows that joined before, so a row with verdicts never joins ahead of its turn: the
 * pairs with keepers of earlier rounds wait for it.
 */
#include "dedup/dedup.h"

#include "utils/tuplestore.h"

#include "base/sort.h"

/* This many documents are settled together however many pairs they have. */
#define SETTLED_MIN 256

/* ---- Joining a keeper --------------------------------------------------- */

/* Returns the row that stands for a document of one of the sources: the first of its unit. */
uint32
clusters_head(const Clusters *clusters, const Source *source, uint32 document)
{
	uint32 row = source->first[document];
	uint32 unit = clusters->units == NULL ? NOT_JUDGED : units_of_row(clusters->units, source, row);

	return unit == NOT_JUDGED ? row : clusters->units->member[unit].row;
}

/* Returns whether a document consists of a row that has verdicts. */
static bool
is_judged(const Clusters *clusters, uint32 document)
{
	const Source *source = clusters->source;

	return clusters->units != NULL && source->judged[source->first[document]] != NOT_JUDGED;
}

/* Returns the unit of a document that has verdicts. */
static uint32
unit_of_document(const Clusters *clusters, uint32 document)
{
	return units_of_row(clusters->units, clusters->source, clusters->source->first[document]);
}

/* Returns whether the first row of a unit is a row of "against". */
static bool
is_bound(const Clusters *clusters, uint32 unit)
{
	return clusters->source != clusters->keepers && unit < clusters->units->places;
}

/* Returns the keeper of a unit, or NO_ROW. */
static uint32
keeper_of_unit(const Clusters *clusters, uint32 unit)
{
	uint32 row = clusters->units->member[unit].row;

	return is_bound(clusters, unit) ? row : clusters->keeper[row];
}

/* Returns whether no row of a keeper's cluster is judged different from a document's unit. */
static bool
is_allowed(const Clusters *clusters, uint32 document, uint32 keeper)
{
	const Units *units = clusters->units;
	const UnitMember *unit;

	if (!is_judged(clusters, document))
		return true;
	unit = units->member + unit_of_document(clusters, document);
	for (uint32 i = unit->first; i < unit->end; i++)
		if (keeper_of_unit(clusters, units->different[i].other) == keeper)
			return false;
	return true;
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
	bool better = clusters->keeper[row] == NO_ROW || keeper < clusters->keeper[row];

	if (clusters->nearest && clusters->keeper[row] != NO_ROW &&
		similarity != clusters->similarity[row])
		better = similarity > clusters->similarity[row];
	if (!better)
		return;
	clusters->keeper[row] = keeper;
	clusters->similarity[row] = similarity;
}

/* Offers a keeper to the rows of a document, or to its unit. */
static void
offer_document(Clusters *clusters, uint32 document, uint32 keeper, double similarity)
{
	bool same = clusters->source == clusters->keepers;

	if (is_judged(clusters, document))
	{
		offer(clusters, clusters_head(clusters, clusters->source, document), keeper, similarity);
		return;
	}
	for_each_row(clusters->source, document, row)
	{
		host_check_interrupts();
		/* Within one source the keeper must come before the row. */
		if (!same || keeper <= row)
			offer(clusters, row, keeper, similarity);
	}
}

/* Keeps a pair. */
void
clusters_add_edge(Clusters *clusters, uint32 first, uint32 second, double similarity)
{
	if (clusters->edges == clusters->edge_room)
	{
		clusters->edge_room *= 2;
		if (clusters->edges < clusters->edge_limit)
			clusters->edge_room = Min(clusters->edge_room, clusters->edge_limit);
		clusters->edge = repalloc_huge(clusters->edge, clusters->edge_room * sizeof(Edge));
	}
	clusters->edge[clusters->edges++] =
		(Edge){.second = second, .first = first, .similarity = similarity};
}

/* A PairSink for a document and a keeper within the threshold. */
static bool
take_keeper(void *state, uint32 document, uint32 keeper, double similarity)
{
	Clusters *clusters = state;
	uint32 row;

	if (!may_join(clusters, document, keeper))
		return true;
	row = clusters_head(clusters, clusters->keepers, keeper);
	if (!is_judged(clusters, document))
		offer_document(clusters, document, row, similarity);
	else if (!is_bound(clusters, unit_of_document(clusters, document)))
		clusters_add_edge(clusters, row, clusters_head(clusters, clusters->source, document),
						  similarity);
	return true;
}

/* ---- Stars -------------------------------------------------------------- */

/* A PairSink that keeps the pair, or ends the join if there is no room for it. */
static bool
take_edge(void *state, uint32 a, uint32 b, double similarity)
{
	Clusters *clusters = state;
	uint32 first = clusters_head(clusters, clusters->source, a);
	uint32 second = clusters_head(clusters, clusters->source, b);
	bool swap = first > second;

	if (first == second || !may_join(clusters, swap ? a : b, swap ? b : a))
		return true;
	if (clusters->edges == clusters->edge_limit)
		return false;
	clusters_add_edge(clusters, Min(first, second), Max(first, second), similarity);
	return true;
}

/*
 * Assigns each document of a list to keepers among the earlier ones, or makes it a keeper
 * unless keepers come from "against".  Edges of later documents stay.
 */
static void
settle(Clusters *clusters, const Documents *list)
{
	bool same = clusters->source == clusters->keepers;
	size_t next = 0;

	/* By the second row, then by the first. */
	sort_records(clusters->edge, clusters->edges, sizeof(Edge), sort_key_pair);
	for (uint32 i = 0; i < list->count; i++)
	{
		uint32 document = list->doc[i];
		uint32 head = clusters_head(clusters, clusters->source, document);

		for (; next < clusters->edges && clusters->edge[next].second == head; next++)
		{
			const Edge *edge = clusters->edge + next;

			if ((!same || clusters->keeper[edge->first] == edge->first) &&
				is_allowed(clusters, document, edge->first))
				offer_document(clusters, document, edge->first, edge->similarity);
		}
		if (same && clusters->keeper[head] == NO_ROW)
			offer_document(clusters, document, head, 1);
		host_check_interrupts_at(i);
	}
	clusters->edges -= next;
	memmove(clusters->edge, clusters->edge + next, clusters->edges * sizeof(Edge));
}

/* Returns whether two documents are of one unit. */
static bool
is_unit(const Clusters *clusters, uint32 x, uint32 y)
{
	return clusters_head(clusters, clusters->source, x) ==
		clusters_head(clusters, clusters->source, y);
}

/*
 * Finds the pairs among the first documents of a list, at most `most` and the others of the
 * last one's unit.  Takes fewer documents if they have too many pairs, and returns how many
 * it took.
 */
static uint32
find_edges(Clusters *clusters, const Documents *undecided, uint32 most)
{
	size_t waiting = clusters->edges;
	size_t limit = (size_t) maintenance_work_mem * 1024 / 2 / sizeof(Edge);
	Documents list = {undecided->source, undecided->doc, Min(most, undecided->count)};

	for (;;)
	{
		size_t pairs;

		while (clusters->units != NULL && list.count < undecided->count &&
			   is_unit(clusters, list.doc[list.count - 1], list.doc[list.count]))
			list.count++;
		most = Min(most, list.count);
		pairs = most <= SETTLED_MIN ? (size_t) list.count * list.count / 2 : EDGES_MIN;
		clusters->edges = waiting;
		clusters->edge_limit = waiting + Max(limit, pairs);
		if (documents_join(&list, NULL, take_edge, clusters))
			return list.count;
		list.count = most = Max(most / 2, SETTLED_MIN);
	}
}

typedef enum DocumentKind
{
	KEEPERS,
	MEMBERS,  /* documents that are no keepers, and have no verdicts */
	UNDECIDED /* documents without a keeper */
} DocumentKind;

/* Returns the documents of a list that are of a kind. */
static Documents
select_documents(const Clusters *clusters, Documents list, DocumentKind kind)
{
	uint32 *chosen = clusters_allocate(list.count, sizeof(uint32));
	Documents result = {list.source, chosen, 0};

	for (uint32 i = 0; i < list.count; i++)
	{
		uint32 document = list.doc == NULL ? i : list.doc[i];
		uint32 head = clusters_head(clusters, list.source, document);
		uint32 keeper = clusters->keeper[head];
		bool chosen_kind = keeper == NO_ROW;

		if (kind != UNDECIDED)
			chosen_kind = (keeper == head) == (kind == KEEPERS);
		if (chosen_kind && !(kind == MEMBERS && is_judged(clusters, document)))
			chosen[result.count++] = document;
	}
	return result;
}

/* A document and the row that stands for it. */
typedef struct HeadedDocument
{
	uint32 head;
	uint32 document;
} HeadedDocument;

/* Returns the documents in the order of their units, except those of units of "against". */
static Documents
documents_in_order(const Clusters *clusters)
{
	Source *source = clusters->source;
	uint32 *doc = clusters_allocate(source->documents, sizeof(uint32));
	HeadedDocument *headed = clusters_allocate(source->documents, sizeof(HeadedDocument));
	uint32 count = 0;

	for (uint32 i = 0; i < source->documents; i++)
		if (!is_judged(clusters, i) || !is_bound(clusters, unit_of_document(clusters, i)))
			headed[count++] = (HeadedDocument){clusters_head(clusters, source, i), i};
	if (clusters->units != NULL)
		sort_records(headed, count, sizeof(HeadedDocument), sort_key_pair);
	for (uint32 i = 0; i < count; i++)
		doc[i] = headed[i].document;
	pfree(headed);
	return (Documents){source, doc, count};
}

/*
 * Finds the keepers, and for each of the other documents its first keeper or, if asked, its
 * nearest.
 */
static void
make_stars(Clusters *clusters)
{
	Source *source = clusters->source;
	Documents undecided = documents_in_order(clusters);
	uint32 most = source->documents;

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

/* Finds the keepers from "against". */
static void
join_keepers(Clusters *clusters)
{
	Documents all = all_documents(clusters->source);
	Documents keepers = all_documents(clusters->keepers);

	documents_join(&all, &keepers, take_keeper, clusters);
	if (clusters->units != NULL)
	{
		Documents list = documents_in_order(clusters);

		settle(clusters, &list);
		pfree((void *) list.doc);
	}
}

/* ---- Results ------------------------------------------------------------ */

/* Gives the rows with verdicts the keepers of their units. */
static void
settle_units(Clusters *clusters)
{
	Units *units = clusters->units;
	bool same = clusters->source == clusters->keepers;

	for (uint32 i = 0; i < units->places; i++)
	{
		const UnitMember *member = units->member + (same ? i : i + units->places);
		uint32 keeper;

		if (member->row == NO_ROW)
			continue;
		keeper = keeper_of_unit(clusters, member->unit);
		/* No row of such a unit has a signature. */
		if (keeper == NO_ROW && same)
			keeper = units->member[member->unit].row;
		clusters->keeper[member->row] = keeper;
		clusters->similarity[member->row] = same && keeper == member->row ? 1 : NO_SIMILARITY;
	}
}

/* Returns whether a row or its keeper has verdicts. */
static bool
concerns_verdicts(const Clusters *clusters, uint32 row)
{
	return clusters->source->judged[row] != NOT_JUDGED ||
		clusters->keepers->judged[clusters->keeper[row]] != NOT_JUDGED;
}

/* Computes the similarity of all rows to their keepers, or only where verdicts decided. */
static void
find_similarities(Clusters *clusters, bool all)
{
	Source *source = clusters->source;
	uint32 *document_of = documents_of_rows(clusters->keepers);

	for (uint32 document = 0; document < source->documents; document++)
	{
		uint32 last = NO_ROW;
		double similarity = 1;

		for_each_row(source, document, row)
		{
			uint32 keeper = clusters->keeper[row];

			if (keeper == NO_ROW || (!all && !concerns_verdicts(clusters, row)))
				continue;
			if (keeper != last && document_of[keeper] == NO_DOCUMENT)
				similarity = NO_SIMILARITY;
			else if (keeper != last)
				similarity =
					documents_similarity(clusters->keepers, document_of[keeper], source, document);
			last = keeper;
			clusters->similarity[row] = similarity;
		}
		host_check_interrupts();
	}
	pfree(document_of);
}

/* Returns a row: a member's id, its keeper's, and the size of the cluster. */
static void
put_row(ReturnSetInfo *result, Datum id, Datum keeper, double similarity, int64 size)
{
	Datum values[4] = {id, keeper, Float8GetDatum(similarity), Int64GetDatum(size)};
	bool nulls[4] = {false, false, similarity == NO_SIMILARITY, false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Returns the clusters of two rows and more: first keepers from "against", then rows in order. */
static void
put_clusters(const Clusters *clusters, ReturnSetInfo *result)
{
	const Source *source = clusters->source;
	const Source *keepers = clusters->keepers;
	uint32 foreign = source != keepers;
	uint32 *size = clusters_allocate(keepers->rows, sizeof(uint32));

	for (uint32 row = 0; row < source->rows; row++)
		if (clusters->keeper[row] != NO_ROW)
			size[clusters->keeper[row]]++;
	for (uint32 row = 0; foreign && row < keepers->rows; row++)
		if (size[row] > 0)
			put_row(result, keepers->id[row], keepers->id[row], 1, size[row] + 1);
	for (uint32 row = 0; row < source->rows; row++)
	{
		uint32 keeper = clusters->keeper[row];

		if (keeper != NO_ROW && size[keeper] + foreign > 1)
			put_row(result, source->id[row], keepers->id[keeper], clusters->similarity[row],
					size[keeper] + foreign);
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
	call.options->judged_alone = true;
	call_read(&call);
	source = clusters.source = call.source;
	clusters.keepers = call.against ? call.against : source;
	if (call.options->verdicts != NULL)
		clusters.units =
			units_make(call.options->verdicts, clusters.keepers, call.against ? source : NULL);
	clusters.keeper = clusters_allocate(source->rows, sizeof(uint32));
	memset(clusters.keeper, 0xFF, source->rows * sizeof(uint32)); /* NO_ROW */
	clusters.similarity = clusters_allocate(source->rows, sizeof(double));
	clusters.edge_room = EDGES_MIN;
	clusters.edge = clusters_allocate(EDGES_MIN, sizeof(Edge));
	progress_phase(PHASE_JOINING);
	if (components)
		make_components(&clusters);
	else if (call.against == NULL)
		make_stars(&clusters);
	else
		join_keepers(&clusters);
	progress_phase(PHASE_CLUSTERING);
	if (clusters.units != NULL)
		settle_units(&clusters);
	if (clusters.units != NULL || components)
		find_similarities(&clusters, components);
	put_clusters(&clusters, (ReturnSetInfo *) fcinfo->resultinfo);
	call_end(&call);
	return (Datum) 0;
}
