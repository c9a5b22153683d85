/*
 * cost.c: what a scan will cost, by the plans it will use.
 */
#include "index/index.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

/* Where the query is not known yet. */
#define USUAL_THRESHOLD 0.8

/*
 * Planner units to a nanosecond: PostgreSQL charges a row of a sequential scan
 * with one cheap operator 0.0125 units, and takes about 100 ns for it.
 */
#define UNITS_PER_NS (cpu_tuple_cost / 80)

/*
 * More than any other path costs, what is switched off included.  Not infinity:
 * a join's cost would then be no number, and the planner takes that for cheap.
 */
#define COST_UNUSABLE 1e30

/* Before the first document of any search: metapage, executor, tail. */
#define COST_START 2000.0

/*
 * Of so many rows the planner takes it that they are near a query, so that a scan
 * in order finds them by small searches; for more it may have to go through all
 * documents, twice and a half at most.
 */
#define NEAR_ROWS 3
#define SCANS_IN_ORDER 2.5

/*
 * Matches within a ball come in the order of the heap, so its pages are visited
 * as a bitmap would, and nothing is checked again.  The planner knows no number
 * that says so: with this one an index scan is the cheaper where a random page
 * costs little more than the next one, as where all is in memory; where it costs
 * much more, bitmaps take over as rows grow many, since they read ahead.
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

			/* Else it is x <@ ANY (balls). */
			if (IsA(op, OpExpr))
				radius = Min(radius, radius_of_ball(root, lsecond(op->args), shape));
			else
				radius = Min(radius, signature_radius(shape, USUAL_THRESHOLD));
		}
	}
	return radius;
}

/* Each ball of an array is searched by itself. */
static double
searches_of_path(PlannerInfo *root, IndexPath *path)
{
	double searches = 1;
	ListCell *cell;

	foreach (cell, path->indexclauses)
	{
		Node *clause = (Node *) ((IndexClause *) lfirst(cell))->rinfo->clause;

		if (IsA(clause, ScalarArrayOpExpr))
			searches *= compat_array_length(root, lsecond(((ScalarArrayOpExpr *) clause)->args));
	}
	return searches;
}

/* A search: nanoseconds with all in memory, and the pages it reads. */
typedef struct SearchPrice
{
	double ns;
	double pages;
} SearchPrice;

static SearchPrice
price_search(const IndexMeta *meta, int radius)
{
	SearchMethod method = radius < 0 ? SEARCH_SCAN : neardup_search;
	uint32 per_page = documents_per_page(document_stride(&meta->shape));
	SegmentStats tail = {(meta->tail.pages + meta->frozen.pages) * per_page, 1, per_page, NULL};
	Grouping none = {meta->shape.k, signature_bits(&meta->shape), 0, 0, 0, 0};
	SearchPlan plan = search_plan(&none, &tail, radius, SEARCH_SCAN);
	SearchPrice price = {COST_START + plan.cost, 1 + plan.pages};

	for (uint32 i = 0; i < meta->segments; i++)
	{
		uint32 documents = meta->segment[i].documents;
		Grouping grouping =
			grouping_with(none.k, none.b, meta->segment[i].grouped, meta->segment[i].groups);
		SegmentStats stats = {meta->segment[i].grouped, postings_per_page(documents), per_page,
							  NULL};

		plan = search_plan(&grouping, &stats, radius, method);
		price.ns += plan.cost;
		price.pages += plan.pages;
	}
	return price;
}

double
search_price(const IndexMeta *meta, int radius)
{
	return price_search(meta, radius).ns;
}

/* What a scan costs until its first row, and until its last. */
typedef struct ScanPrice
{
	SearchPrice startup;
	SearchPrice total;
} ScanPrice;

/* May all rows that are asked for in order be near? */
static bool
wants_few(PlannerInfo *root, const RelOptInfo *rel)
{
	return root->limit_tuples >= 0 &&
		root->limit_tuples * rel->tuples <= NEAR_ROWS * Max(rel->rows, 1);
}

/* Within a ball all matches are found before the first is returned. */
static ScanPrice
price_of_path(PlannerInfo *root, IndexPath *path, const IndexMeta *meta)
{
	ScanPrice price = {{COST_START, 1}, {COST_START, 1}};

	if (meta->shape.k == 0)
		return price;
	if (path->indexclauses != NIL)
	{
		double searches = searches_of_path(root, path);

		price.total = price_search(meta, radius_of_path(root, path, &meta->shape));
		price.total.ns *= searches;
		price.total.pages *= searches;
	}
	else
	{
		price.total = price_search(meta, -1);
		price.total.ns *= SCANS_IN_ORDER;
	}
	price.startup = price.total;
	if (path->indexclauses == NIL && wants_few(root, path->indexinfo->rel))
		price.startup = price_search(meta, 0);
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

/*
 * In the planner's units.  Most of an index's pages serve one search or another,
 * and so stay in memory as those of a table that is often read: each costs what
 * it costs there.  Searches of one query share them, and
 * so do the groups of a small segment.
 */
static Cost
cost_of(PlannerInfo *root, const IndexOptInfo *index, SearchPrice price, double loop_count)
{
	double page_cost;
	double pages;

	get_tablespace_page_costs(index->reltablespace, NULL, &page_cost);
	pages = index_pages_fetched(price.pages * loop_count, index->pages, index->pages, root);
	return price.ns * UNITS_PER_NS + pages / loop_count * page_cost;
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
	*startup = *total = COST_UNUSABLE;
	if (!is_usable(path))
	{
		compat_disable_path(&path->path);
		return;
	}
	if (quals != NIL)
		*selectivity = clauselist_selectivity(root, add_predicate_to_index_quals(info, quals),
											  info->rel->relid, JOIN_INNER, NULL);
	price = price_of_index(root, path);
	*startup = cost_of(root, info, price.startup, loop_count);
	*total = cost_of(root, info, price.total, loop_count) +
		*selectivity * info->tuples * cpu_index_tuple_cost;
}
