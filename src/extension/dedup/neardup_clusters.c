/*
 * neardup_clusters.c: neardup_clusters().
 *
 * Documents join keepers as join/stars.c says; by containment, only keepers that contain
 * them, except that keepers from "against" may also be what they contain.
 *
 * With verdicts, a unit takes the place of its documents, in the order of its first row.
 * It joins no keeper whose cluster has a row that is judged different.  That depends on
 * the rows that joined before, so rows with verdicts wait for their turn.
 */
#include "dedup/dedup.h"

#include "utils/tuplestore.h"

#include "base/sort.h"

/* ---- Units --------------------------------------------------------------- */

/* Returns the rows that stand for the documents of one of the sources: the first of its unit. */
static const uint32 *
heads_of(const Clusters *clusters, const Source *source)
{
	const Units *units = clusters->units;
	const Documents *documents = source->documents;
	uint32 *head;

	if (units == NULL)
		return documents->first;
	head = clusters_allocate(documents->count, sizeof(uint32));
	for (uint32 i = 0; i < documents->count; i++)
	{
		uint32 unit = units_of_row(units, source, documents->first[i]);

		head[i] = unit == NOT_JUDGED ? documents->first[i] : units->member[unit].row;
	}
	return head;
}

/* Stars.waits: returns whether a document consists of a row that has verdicts. */
static bool
is_judged(const Stars *stars, uint32 document)
{
	const Source *source = ((const Clusters *) stars)->source;

	return source->judged[source->documents->first[document]] != NOT_JUDGED;
}

/* Returns the unit of a document, or NOT_JUDGED. */
static uint32
unit_of_document(const Clusters *clusters, uint32 document)
{
	return units_of_row(clusters->units, clusters->source,
						clusters->source->documents->first[document]);
}

/* Returns whether the first row of a unit is a row of "against". */
static bool
is_bound(const Clusters *clusters, uint32 unit)
{
	return clusters->source != clusters->keepers && unit < clusters->units->positions;
}

/* Returns the keeper of a unit, or NO_ROW. */
static uint32
keeper_of_unit(const Clusters *clusters, uint32 unit)
{
	uint32 row = clusters->units->member[unit].row;

	return is_bound(clusters, unit) ? row : clusters->stars.keeper[row];
}

/* Stars.is_allowed: returns whether no row of a keeper's cluster is judged different from a unit. */
static bool
is_allowed(const Stars *stars, uint32 document, uint32 keeper)
{
	const Clusters *clusters = (const Clusters *) stars;
	const Units *units = clusters->units;
	const UnitMember *unit = units->member + unit_of_document(clusters, document);

	for (uint32 i = unit->first; i < unit->end; i++)
		if (keeper_of_unit(clusters, units->different[i].other) == keeper)
			return false;
	return true;
}

/* ---- Stars --------------------------------------------------------------- */

/* Stars.may_meet: returns whether rows of a document are compared with those of a keeper. */
static bool
may_meet(const Stars *stars, uint32 document, uint32 keeper)
{
	const Clusters *clusters = (const Clusters *) stars;

	return rows_may_meet(clusters->source, clusters->source->documents->first[document],
						 clusters->keepers, clusters->keepers->documents->first[keeper]);
}

/* A document and the row that stands for it. */
typedef struct HeadedDocument
{
	uint32 head;
	uint32 document;
} HeadedDocument;

/* Orders the documents by their units, without the units of "against". */
static void
clusters_order_documents(Clusters *clusters)
{
	uint32 documents = clusters->source->documents->count;
	HeadedDocument *headed = clusters_allocate(documents, sizeof(HeadedDocument));
	uint32 *doc = clusters_allocate(documents, sizeof(uint32));
	uint32 count = 0;

	for (uint32 i = 0; i < documents; i++)
		if (!is_bound(clusters, unit_of_document(clusters, i)))
			headed[count++] = (HeadedDocument){clusters->stars.first[i], i};
	sort_records(headed, count, sizeof(HeadedDocument), sort_key_pair);
	for (uint32 i = 0; i < count; i++)
		doc[i] = headed[i].document;
	clusters->stars.order = doc;
	clusters->stars.count = count;
	pfree(headed);
}

/* Finds the keepers, and for each of the other documents its first keeper or its nearest. */
static void
make_stars(Clusters *clusters)
{
	Stars *stars = &clusters->stars;

	if (clusters->keepers != clusters->source)
	{
		stars->keepers = clusters->keepers->documents;
		stars->keeper_first = heads_of(clusters, clusters->keepers);
	}
	if (clusters->units != NULL)
	{
		clusters_order_documents(clusters);
		stars->waits = is_judged;
		stars->is_allowed = is_allowed;
	}
	if (clusters->source->documents->scope != NULL)
		stars->may_meet = may_meet;
	stars_make(stars);
}

/* Finds the connected components. */
static void
make_components(Clusters *clusters)
{
	if (clusters->units != NULL && clusters->units->pairs > 0)
		components_by_similarity(clusters);
	else
		components_make(&clusters->stars);
}

/* ---- Results ------------------------------------------------------------ */

/* Gives the rows with verdicts the keepers of their units. */
static void
settle_units(Clusters *clusters)
{
	Units *units = clusters->units;
	bool same = clusters->source == clusters->keepers;

	for (uint32 i = 0; i < units->positions; i++)
	{
		const UnitMember *member = units->member + (same ? i : i + units->positions);
		uint32 keeper;

		if (member->row == NO_ROW)
			continue;
		keeper = keeper_of_unit(clusters, member->unit);
		/* No row of such a unit has a signature. */
		if (keeper == NO_ROW && same)
			keeper = units->member[member->unit].row;
		clusters->stars.keeper[member->row] = keeper;
		clusters->stars.similarity[member->row] = same && keeper == member->row ? 1 : NO_SIMILARITY;
	}
}

/* Returns whether a row or its keeper has verdicts. */
static bool
concerns_verdicts(const Clusters *clusters, uint32 row)
{
	return clusters->source->judged[row] != NOT_JUDGED ||
		clusters->keepers->judged[clusters->stars.keeper[row]] != NOT_JUDGED;
}

/* Computes the similarity of all rows to their keepers, or only where verdicts decided. */
static void
find_similarities(Clusters *clusters, bool all)
{
	const Documents *documents = clusters->source->documents;
	const Documents *keepers = clusters->keepers->documents;
	uint32 *document_of = documents_of_rows(keepers);

	for (uint32 document = 0; document < documents->count; document++)
	{
		uint32 last = NO_ROW;
		double similarity = 1;

		for_each_row(documents, document, row)
		{
			uint32 keeper = clusters->stars.keeper[row];

			if (keeper == NO_ROW || (!all && !concerns_verdicts(clusters, row)))
				continue;
			if (keeper != last && document_of[keeper] == NO_DOCUMENT)
				similarity = NO_SIMILARITY;
			else if (keeper != last)
				similarity =
					documents_similarity(keepers, document_of[keeper], documents, document);
			last = keeper;
			clusters->stars.similarity[row] = similarity;
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
	uint32 rows = source->documents->rows;
	uint32 *size = clusters_allocate(keepers->documents->rows, sizeof(uint32));

	for (uint32 row = 0; row < rows; row++)
		if (clusters->stars.keeper[row] != NO_ROW)
			size[clusters->stars.keeper[row]]++;
	for (uint32 row = 0; foreign && row < keepers->documents->rows; row++)
		if (size[row] > 0)
			put_row(result, keepers->id[row], keepers->id[row], 1, size[row] + 1);
	for (uint32 row = 0; row < rows; row++)
	{
		uint32 keeper = clusters->stars.keeper[row];

		if (keeper != NO_ROW && size[keeper] + foreign > 1)
			put_row(result, source->id[row], keepers->id[keeper], clusters->stars.similarity[row],
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
	if (call->options->within != NULL && call->options->within->scopes != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method 'components' cannot be combined with \"unknown\""),
				 errdetail("A row whose value is unknown connects all rows that are near it."),
				 errhint("Use method 'star'.")));
	if (call->options->pair.measure == MEASURE_CONTAINMENT || call->options->pair.contained > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method 'components' cannot be combined with measure 'containment' or \"contained\""),
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
	int nearest = call.position[ARGUMENT_NEAREST];
	Clusters clusters = {.stars.nearest = !PG_ARGISNULL(nearest) && PG_GETARG_BOOL(nearest)};
	Stars *stars = &clusters.stars;
	uint32 rows;

	if (components)
		check_components(&call, stars->nearest);
	call.options->judged_separate = true;
	call_read(&call);
	clusters.source = call.source;
	clusters.keepers = call.against ? call.against : call.source;
	if (call.options->verdicts != NULL)
		clusters.units =
			units_make(call.options->verdicts, clusters.keepers, call.against ? call.source : NULL);
	rows = call.source->documents->rows;
	stars->documents = call.source->documents;
	stars->first = heads_of(&clusters, call.source);
	stars->keeper = clusters_allocate(rows, sizeof(uint32));
	memset(stars->keeper, 0xFF, rows * sizeof(uint32)); /* NO_ROW */
	stars->similarity = clusters_allocate(rows, sizeof(double));
	progress_phase(PHASE_JOINING);
	(components ? make_components : make_stars)(&clusters);
	progress_phase(PHASE_CLUSTERING);
	if (clusters.units != NULL)
		settle_units(&clusters);
	if (clusters.units != NULL || components)
		find_similarities(&clusters, components);
	put_clusters(&clusters, (ReturnSetInfo *) fcinfo->resultinfo);
	call_end(&call);
	return (Datum) 0;
}
