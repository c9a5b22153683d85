/*
 * cost.c: the planner's estimate of what an index scan costs, from its search plans.
 */
#include "index/prices.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "planner/expressions.h"

/*
 * The cost of a nanosecond.  PostgreSQL charges 0.0125 for a row of a sequential scan
 * with one cheap operator, which takes about 100 ns.
 */
#define UNITS_PER_NS (cpu_tuple_cost / 80)

/*
 * More than the cost of any other path, disabled paths included.  Infinity would make
 * the cost of a join NaN, which the planner takes as cheap.
 */
#define COST_UNUSABLE 1e30

/*
 * An ordered scan finds nearby rows by small searches.  The planner assumes that up to
 * NEAR_ROWS rows are nearby.  For more, the scan may read all documents: SCANS_TO_FAR is what
 * it takes until the first of them, small searches included, and SCANS_IN_ORDER until the
 * last, as packed scans.
 */
#define NEAR_ROWS 3
#define SCANS_TO_FAR 1.3
#define SCANS_IN_ORDER 2.5

/*
 * Nanoseconds that a row takes beside what PostgreSQL charges for it.  A match is collected and
 * sorted.  Rows in the order of distances are each on another page of the table, which no cache
 * of the processor holds: such a row takes as long as 15 rows of a sequential scan.
 */
#define MATCH_NS 50.0
#define ROW_IN_ORDER_NS 2000.0

/*
 * How likely near-duplicates are to be stored together.  The planner assumes that rows that match
 * are scattered over the table, so that a sequential scan soon finds the first of many.
 */
#define STORED_TOGETHER 0.5

/* How far the few nearest sets are taken to be, in SET_DISTANCES. */
#define NEAR_DISTANCE (SET_DISTANCES / 2)

/* Of more matches than memory has room for, a round of a search keeps about this part. */
#define ROUND_PART 0.75

/*
 * The index correlation that the planner is told.  Matches within a ball come in heap
 * order, so an index scan visits heap pages as a bitmap scan does, and rechecks nothing.
 * No number means that.  With this one an index scan is cheaper if a random page costs
 * little more than a sequential one.  If it costs much more, a bitmap scan, which reads
 * ahead, is cheaper for many rows.  test/bench/planner.sql compares the planner's choice
 * with the fastest plan.
 */
#define CORRELATION_IN_HEAP_ORDER 0.5

/* ---- Conditions --------------------------------------------------------- */

/* What the conditions of a path ask for. */
typedef struct PathConditions
{
	bool ball;       /* a ball around a signature, or several */
	int radius;      /* the radius of the least ball */
	double searches; /* an index scan searches each ball of an array */
	List *keys;      /* conditions on keys, as RestrictInfos */
	double lists;    /* mean length of the lists of the keys */
} PathConditions;

/* Returns how many values a condition names: several if it has an array. */
static double
values_of_clause(PlannerInfo *root, const IndexClause *clause)
{
	const ScalarArrayOpExpr *whole = (ScalarArrayOpExpr *) clause->rinfo->clause;

	return IsA(whole, ScalarArrayOpExpr) ? compat_array_length(root, lsecond(whole->args)) : 1;
}

/* Returns the distance between sets that bounds allow, in SET_DISTANCES. */
static int
distance_of_bounds(const BallBounds *bounds)
{
	return (int) ((1 - bounds_resemblance(bounds)) * SET_DISTANCES);
}

/* Narrows the radius by a condition on the signature. */
static void
add_ball(PlannerInfo *root, const IndexClause *clause, const SignatureHeader *shape,
		 PathConditions *conditions)
{
	ListCell *each;

	conditions->ball = true;
	conditions->searches *= values_of_clause(root, clause);
	foreach (each, clause->indexquals)
	{
		OpExpr *op = (OpExpr *) lfirst_node(RestrictInfo, each)->clause;
		BallBounds bounds = BOUNDS_UNKNOWN;

		/* The other kind of clause is x <@ ANY (balls). */
		if (IsA(op, OpExpr))
			read_ball(root, get_opcode(op->opno), lsecond(op->args), &bounds);
		conditions->radius =
			Min(conditions->radius,
				shape_is_set(shape) ? distance_of_bounds(&bounds) : bounds_radius(&bounds, shape));
	}
}

static PathConditions
conditions_of_path(PlannerInfo *root, IndexPath *path, Relation index, const SignatureHeader *shape)
{
	PathConditions conditions = {.radius = shape_is_set(shape) ? SET_DISTANCE_MAX : shape->k,
								 .searches = 1};
	int signature = index_cache(index)->signature;
	ListCell *cell;

	foreach (cell, path->indexclauses)
	{
		const IndexClause *clause = lfirst(cell);

		if (clause->indexcol + 1 == signature)
			add_ball(root, clause, shape, &conditions);
		else
		{
			conditions.keys = lappend(conditions.keys, clause->rinfo);
			conditions.lists = values_of_clause(root, clause);
		}
	}
	return conditions;
}

/* ---- Prices ------------------------------------------------------------- */

/* What a scan takes until its first row, and until its last. */
typedef struct ScanPrice
{
	SearchPrice startup;
	SearchPrice total;
} ScanPrice;

/*
 * Returns how many rows of an ordered scan its LIMIT is likely to need, since other conditions
 * drop some; -1 if it has none.
 */
static double
rows_needed(PlannerInfo *root, const RelOptInfo *rel)
{
	return root->limit_tuples < 0 ? -1 : root->limit_tuples * rel->tuples / Max(rel->rows, 1);
}

/* Returns the nanoseconds of collecting `matches`, which may take several searches. */
static double
in_rounds(double search_ns, double matches)
{
	double room = matches_room();
	double rounds = matches <= room ? 1 : matches / (room * ROUND_PART);

	return rounds * (search_ns + matches * MATCH_NS);
}

/*
 * Returns the price of finding `rows` rows in the order of distances, of which `needed` come
 * before a LIMIT; -1: there is none.
 */
static ScanPrice
price_ordered(const IndexMeta *meta, KeyShare keys, double rows, double needed)
{
	bool sets = shape_is_set(&meta->shape);
	ScanPrice price = {.startup = price_search(meta, -1, keys)};
	SearchPrice end = price_end(meta, keys);

	price.total = price.startup;
	price.startup.ns *= SCANS_TO_FAR + (sets ? 0 : ordering_repeats(needed));
	price.total.ns = price.total.ns * (SCANS_IN_ORDER - 1) + in_rounds(price.total.ns, rows);
	price.total.ns = Max(price.total.ns, price.startup.ns) + end.ns;
	if (needed >= 0 && needed <= NEAR_ROWS)
		price.startup = price_search(meta, sets ? NEAR_DISTANCE : 0, keys);
	return price;
}

/* Returns the price of a search of all documents, or of each ball, that finds `matches`. */
static ScanPrice
price_matches(const IndexMeta *meta, const PathConditions *conditions, KeyShare keys,
			  double matches)
{
	SearchPrice search =
		conditions->ball ? price_search(meta, conditions->radius, keys) : price_all(meta, keys);
	ScanPrice price;

	search.ns *= conditions->searches;
	search.pages *= conditions->searches;
	price.startup = price.total = search;
	price.startup.ns += matches * MATCH_NS;
	price.total.ns = in_rounds(search.ns, matches);
	return price;
}

/*
 * Returns the price of a scan that returns `rows` rows.  A search within a ball, or of all
 * documents that have some keys, finds all matches before it returns the first, unless they
 * are too many for memory.
 */
static ScanPrice
price_scan(PlannerInfo *root, IndexPath *path, Relation index, double rows)
{
	RelOptInfo *rel = path->indexinfo->rel;
	IndexMeta *meta = meta_read(index);
	ScanPrice price;
	PathConditions conditions = conditions_of_path(root, path, index, &meta->shape);
	KeyShare keys = {.lists = conditions.lists};

	if (conditions.keys != NIL)
		keys.share = clauselist_selectivity(root, conditions.keys, rel->relid, JOIN_INNER, NULL);
	if (conditions.ball || path->indexorderbys == NIL)
		price = price_matches(meta, &conditions, keys, rows);
	else
		price = price_ordered(meta, keys, rows, rows_needed(root, rel));
	if (path->indexorderbys != NIL)
		price.total.ns += rows * ROW_IN_ORDER_NS;
	pfree(meta);
	return price;
}

/*
 * Returns the cost in the planner's units.  Searches use most of an index's pages, so
 * these stay in memory as the pages of a table that is often read, and each costs a
 * sequential page.  Searches of one query share pages, as do the groups of a small segment.
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

/* Returns true if a condition on a key compares it with =, by one value or several. */
static bool
is_equality(const IndexClause *clause, Oid family)
{
	ListCell *cell;

	foreach (cell, clause->indexquals)
	{
		Node *qual = (Node *) lfirst_node(RestrictInfo, cell)->clause;
		Oid opno = IsA(qual, OpExpr) ? ((OpExpr *) qual)->opno : ((ScalarArrayOpExpr *) qual)->opno;

		if (get_op_opfamily_strategy(opno, family) != STRATEGY_EQUAL)
			return false;
	}
	return true;
}

/*
 * Returns true if each column supports what the path asks of it.  The operator class of
 * bigint has distances, but a bigint that is a key has none.
 */
static bool
columns_support(const IndexPath *path, Relation index)
{
	int signature = index_cache(index)->signature - 1;
	bool supported = true;
	ListCell *cell;

	foreach (cell, path->indexorderbycols)
		supported &= lfirst_int(cell) == signature;
	foreach (cell, path->indexclauses)
	{
		const IndexClause *clause = lfirst(cell);

		supported &= clause->indexcol == signature ||
			is_equality(clause, path->indexinfo->opfamily[clause->indexcol]);
	}
	return supported;
}

/*
 * Prices a path that returns `rows` rows.  Returns false if the index does not support what
 * the path asks of it.
 */
static bool
price_path(PlannerInfo *root, IndexPath *path, double rows, ScanPrice *price)
{
	IndexOptInfo *info = path->indexinfo;
	Relation index;
	bool supported;

	/* A scan needs a condition, or one signature to order by. */
	if (info->hypothetical || list_length(path->indexorderbys) > 1 ||
		(path->indexclauses == NIL && path->indexorderbys == NIL))
		return false;
	index = index_open(info->indexoid, NoLock);
	supported = columns_support(path, index);
	if (supported)
		*price = price_scan(root, path, index, rows);
	index_close(index, NoLock);
	return supported;
}

/* amcostestimate: prices the search plans that a scan would use in this index. */
void
neardup_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup,
					 Cost *total, Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	List *quals = NIL;
	ScanPrice price;
	ListCell *cell;

	*correlation = path->indexorderbys == NIL ? CORRELATION_IN_HEAP_ORDER : 0;
	*pages = info->pages;
	*selectivity = 1;
	*startup = *total = COST_UNUSABLE;

	/* The planner has the selectivity of the query's own conditions in its cache. */
	foreach (cell, path->indexclauses)
		quals = lappend(quals, ((IndexClause *) lfirst(cell))->rinfo);
	if (quals != NIL)
		*selectivity = clauselist_selectivity(root, add_predicate_to_index_quals(info, quals),
											  info->rel->relid, JOIN_INNER, NULL);
	if (!price_path(root, path, *selectivity * info->tuples, &price))
	{
		compat_disable_path(&path->path);
		*selectivity = 1;
		return;
	}
	*startup = cost_of(root, info, price.startup, loop_count);
	if (path->indexorderbys == NIL)
		*startup /= 1 + *selectivity * info->tuples * STORED_TOGETHER;
	*total = cost_of(root, info, price.total, loop_count) +
		*selectivity * info->tuples * cpu_index_tuple_cost;
}
