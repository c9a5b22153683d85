/*
 * cost.c: what a scan will cost, by the plans it will use.
 */
#include "index/index.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/selfuncs.h"

/* Where the query is not known yet. */
#define USUAL_THRESHOLD 0.8

/*
 * Planner units to a nanosecond: PostgreSQL charges a row of a sequential scan
 * with one cheap operator 0.0125 units, and takes about 100 ns for it.
 */
#define UNITS_PER_NS (cpu_tuple_cost / 80)

/* Before the first document of any search: metapage, executor, tail. */
#define COST_START 2000.0

/*
 * Matches within a ball come in the order of the heap, so its pages are visited
 * as a bitmap would.  The planner knows no number that says so: this one makes an
 * index scan the cheaper for few rows, and leaves many to bitmaps.
 */
#define CORRELATION_IN_HEAP_ORDER 0.5

static const Const *
known_value(PlannerInfo *root, Node *node)
{
	const Const *value = (Const *) estimate_expression_value(root, node);

	return IsA(value, Const) && !value->constisnull ? value : NULL;
}

/*
 * The radius of a ball: of a known one, or of near(x, threshold) or
 * hamming_ball(x, distance) where x is not known yet.
 */
static int
radius_of_ball(PlannerInfo *root, Node *node, const SignatureHeader *shape)
{
	const Const *value = known_value(root, node);

	if (value != NULL)
		return ball_of_datum(value->constvalue).header.radius;
	if (IsA(node, FuncExpr) && list_length(((FuncExpr *) node)->args) == 2)
		value = known_value(root, lsecond(((FuncExpr *) node)->args));
	if (value != NULL && value->consttype == INT4OID)
		return DatumGetInt32(value->constvalue);
	if (value != NULL && value->consttype == FLOAT8OID)
	{
		double threshold = DatumGetFloat8(value->constvalue);

		if (threshold > 0 && threshold <= 1)
			return signature_radius(shape, threshold);
	}
	return signature_radius(shape, USUAL_THRESHOLD);
}

/* The least radius of a path's balls. */
static int
radius_of_path(PlannerInfo *root, IndexPath *path, const SignatureHeader *shape)
{
	int radius = shape->k;
	ListCell *cell;

	foreach (cell, path->indexclauses)
	{
		ListCell *each;

		foreach (each, ((IndexClause *) lfirst(cell))->indexquals)
		{
			OpExpr *op = (OpExpr *) lfirst_node(RestrictInfo, each)->clause;

			radius = Min(radius, radius_of_ball(root, lsecond(op->args), shape));
		}
	}
	return radius;
}

double
search_price(const IndexMeta *meta, int radius)
{
	MatchMethod method = radius < 0 ? MATCH_SCAN : neardup_search;
	uint32 per_page = documents_per_page(document_stride(&meta->shape));
	MatchStats tail = {(meta->tail.pages + meta->frozen.pages) * per_page, 1, per_page, NULL};
	Grouping none = {meta->shape.k, signature_bits(&meta->shape), 0, 0, 0, 0};
	double cost = COST_START + match_plan(&none, &tail, radius, MATCH_SCAN).cost;

	for (uint32 i = 0; i < meta->segments; i++)
	{
		uint32 documents = meta->segment[i].documents;
		Grouping grouping =
			grouping_with(none.k, none.b, meta->segment[i].grouped, meta->segment[i].groups);
		MatchStats stats = {meta->segment[i].grouped, postings_per_page(documents), per_page, NULL};

		cost += match_plan(&grouping, &stats, radius, method).cost;
	}
	return cost;
}

/* What a scan costs until its first row, and until its last. */
typedef struct ScanPrice
{
	double startup;
	double total;
} ScanPrice;

/*
 * Within a ball all matches are found before the first is returned.  In order
 * the first come cheap where they are near; at worst there are a few searches,
 * a scan that counts and a scan that collects.
 */
static ScanPrice
price_of_path(PlannerInfo *root, IndexPath *path, const IndexMeta *meta)
{
	ScanPrice price = {COST_START, COST_START};

	if (meta->shape.k == 0)
		return price;
	if (path->indexclauses != NIL)
		price.startup = price.total = search_price(meta, radius_of_path(root, path, &meta->shape));
	else
	{
		price.startup = search_price(meta, 0);
		price.total = Max(price.startup, 2.5 * search_price(meta, -1));
	}
	return price;
}

static ScanPrice
price_of_index(PlannerInfo *root, IndexPath *path)
{
	Relation index = index_open(path->indexinfo->indexoid, NoLock);
	IndexMeta *meta = meta_read(index);
	ScanPrice price = price_of_path(root, path, meta);

	pfree(meta);
	index_close(index, NoLock);
	return price;
}

/* Is there a ball to search, or one signature to order by? */
static bool
is_usable(IndexPath *path)
{
	if (path->indexinfo->hypothetical || list_length(path->indexorderbys) > 1)
		return false;
	return path->indexclauses != NIL || path->indexorderbys != NIL;
}

/*
 * The conditions as they were written: the planner has asked for their
 * selectivity before, and remembers.
 */
static List *
conditions_of_path(IndexPath *path)
{
	List *conditions = NIL;
	ListCell *cell;

	foreach (cell, path->indexclauses)
		conditions = lappend(conditions, ((IndexClause *) lfirst(cell))->rinfo);
	return conditions;
}

void
neardup_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup,
					 Cost *total, Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	List *quals = conditions_of_path(path);
	ScanPrice price;

	*correlation = path->indexorderbys == NIL ? CORRELATION_IN_HEAP_ORDER : 0;
	*pages = info->pages;
	*selectivity = 1;
	*startup = *total = get_float8_infinity();
	if (!is_usable(path))
		return;
	if (quals != NIL)
		*selectivity = clauselist_selectivity(root, add_predicate_to_index_quals(info, quals),
											  info->rel->relid, JOIN_INNER, NULL);
	price = price_of_index(root, path);
	*startup = price.startup * UNITS_PER_NS;
	*total = price.total * UNITS_PER_NS + *selectivity * info->tuples * cpu_index_tuple_cost;
}
