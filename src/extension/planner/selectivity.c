/*
 * selectivity.c: how many rows lie in a ball, for the planner.
 *
 * An estimate has three parts.  The sample that ANALYZE keeps shows families of
 * near-duplicates that hold more than a few rows in a thousand.  A binomial tail gives
 * the unrelated rows that are near by chance.  The few near-duplicates that most
 * documents have appear in neither, and are added.
 */
#include "planner/selectivity.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "base/defaults.h"
#include "planner/expressions.h"
#include "planner/statistics.h"
#include "calls/objects.h"

/* Rows of a table that are near-duplicates of a document: usually, and at most. */
#define USUAL_COPIES 3
#define MAX_COPIES 9

/* Rows that are near-duplicates of a document of another table or column. */
#define FOREIGN_COPIES 1

/* Share of documents that have a near-duplicate in another table. */
#define USUAL_SEMIJOIN_SHARE 0.5

/* How many rows stand for an unknown query. */
#define TYPICAL_ROWS 15

/* Rows of a relation without statistics. */
#define USUAL_ROWS 1000

/* What is known of a condition. */
typedef struct Condition
{
	PlannerInfo *root;
	Oid function; /* a function of this extension */
	ColumnStatistics column[2];
	int columns;
	Signature query;       /* k = 0 if unknown */
	uint64 query_bits;     /* memory that query.symbols may point to */
	SignatureHeader shape; /* k = 0 if unknown */
	BallBounds bounds;
} Condition;

/* ---- Reading a condition ------------------------------------------------ */

/* Returns the shape that a type gives; k = 0 if the typmod does not tell. */
static SignatureHeader
shape_of_type(const Condition *condition, Oid type, int32 typmod)
{
	bool minhash = type == extension_type(condition->function, "minhash");

	if (type == INT8OID)
		return signature_header(SIGNATURE_SIMHASH, 64, 1, 0);
	if (type == BITOID)
		return signature_header(SIGNATURE_MINHASH, Min(Max(typmod, 0), MINHASH_K_MAX), 1, 0);
	return signature_header(minhash ? SIGNATURE_MINHASH : SIGNATURE_SIMHASH, Max(typmod, 0) >> 3,
							1 << (Max(typmod, 0) & SIGNATURE_LOG_B), 0);
}

static void
selectivity_set_query(Condition *condition, const Signature *query)
{
	condition->query = *query;
	condition->shape = query->header;
}

/* Reads an argument that is a signature: the query, a column, or else only a type. */
static void
read_signature(Condition *condition, Node *node)
{
	const Const *value = known_value(condition->root, node);
	ColumnStatistics *column = &condition->column[condition->columns];
	Signature query;

	if (value != NULL)
	{
		if (is_signature_type(condition->function, value->consttype) &&
			signature_of_value(value->consttype, value->constvalue, &condition->query_bits, &query))
			selectivity_set_query(condition, &query);
		return;
	}
	if (condition->shape.k == 0)
		condition->shape = shape_of_type(condition, exprType(node), exprTypmod(node));
	if (condition->columns == lengthof(condition->column))
		return;
	statistics_read(column, condition->root, node, condition->function);
	if (column->rows > 0 || OidIsValid(column->relation))
		condition->columns++;
	else
		statistics_free(column);
}

/* Reads an argument of a function or operator. */
static void
read_argument(Condition *condition, Node *node)
{
	Oid type = exprType(node);

	if (is_signature_type(condition->function, type))
		read_signature(condition, node);
	else if (is_ball_type(condition->function, type))
	{
		BallCentre centre =
			read_ball(condition->root, condition->function, node, &condition->bounds);

		if (centre.known)
			selectivity_set_query(condition, &centre.value);
		else if (centre.node != NULL)
			read_signature(condition, centre.node);
	}
	else
		bounds_narrow(&condition->bounds, condition->root, node);
}

/* ---- Estimating --------------------------------------------------------- */

/* Completes the shape: the query's, that of a sampled row, or the usual one. */
static void
complete_shape(Condition *condition)
{
	SignatureHeader *shape = &condition->shape;

	for (int i = 0; i < condition->columns && condition->query.header.k == 0; i++)
	{
		const Signature *typical =
			typical_signature(condition->column[i].signature, condition->column[i].count);

		if (typical != NULL)
			*shape = typical->header;
	}
	if (shape->k == 0)
		shape->k = signature_is_minhash(shape) ? DEFAULT_MINHASH_K : DEFAULT_SIMHASH_F;
}

/*
 * Returns the share of rows near a known query, which is the sample's row number self if
 * that is not -1.  A single hit in the sample may be chance, or the query's own row.  The
 * estimate is then the geometric mean of a few rows and all rows that the hit stands for.
 */
static double
share_of_query(const ColumnStatistics *column, const Signature *query, int self, int radius)
{
	double share;
	int hits = statistics_near(column, query, self, radius, &share);
	double few = USUAL_COPIES / Max(column->rows, 1);

	if (hits == 1 && column->sampled_share > few)
		return share - column->sampled_share + sqrt(column->sampled_share * few);
	return share;
}

static int
compare_shares(const void *x, const void *y)
{
	double a = *(const double *) x;
	double b = *(const double *) y;

	return (a > b) - (a < b);
}

/*
 * Returns the share of rows near an unknown query: the median of what it would be for
 * rows as queries.  The mean would be that of the few large families, and a generic plan,
 * whose query is unknown, would seem to cost more than the plans of most queries.
 */
static double
share_of_typical(const ColumnStatistics *column, int radius)
{
	int row[TYPICAL_ROWS];
	double share[TYPICAL_ROWS];
	int count = statistics_spread(column, TYPICAL_ROWS, row);

	for (int i = 0; i < count; i++)
		share[i] = share_of_query(column, &column->signature[row[i]], row[i], radius);
	qsort(share, count, sizeof(double), compare_shares);
	return count == 0 ? 0 : share[count / 2];
}

/* Returns the share of rows, or of pairs of rows, that the samples show. */
static double
share_by_samples(const Condition *condition, int radius)
{
	const ColumnStatistics *column = condition->column;

	if (condition->columns == 0)
		return 0;
	if (condition->columns == 2)
		return statistics_pairs(&column[0], &column[1], radius);
	if (condition->query.header.k == 0)
		return share_of_typical(column, radius);
	return share_of_query(column, &condition->query, -1, radius);
}

/*
 * Returns how many near-duplicates of a query are in no sample.  If rows have many on
 * average and the sample has none of this query, its family may still have dozens of
 * rows: MAX_COPIES is within a factor of ten of one row and of dozens.  Only ANALYZE
 * compares enough pairs of rows for such an average: a sample compared with itself shows
 * no family, and takes longer than many a search.
 */
static double
copies_outside_samples(const Condition *condition, double share, int radius)
{
	const ColumnStatistics *column = condition->column;
	double copies = 0; /* mean copies of a row */

	if (condition->columns == 2 && !statistics_are_same(&column[0], &column[1]))
		return FOREIGN_COPIES;
	if (condition->columns != 1 || share > 0 || column->steps == 0)
		return USUAL_COPIES;
	if (column->nulls < 1)
		copies = statistics_pairs(column, column, radius) / (1 - column->nulls) * column->rows;
	return Max(USUAL_COPIES, Min(MAX_COPIES, copies));
}

/* ---- Sets --------------------------------------------------------------- */

/* Returns whether an argument is a set, or a ball around one. */
static bool
is_set(Condition *condition, Node *node)
{
	Oid type = exprType(node);
	BallCentre centre;

	if (!is_ball_type(condition->function, type))
		return type == extension_type(condition->function, "shingles");
	centre = read_ball(condition->root, condition->function, node, &condition->bounds);
	if (centre.known)
		return (centre.value.header.flags & SIGNATURE_SET) != 0;
	return centre.node != NULL && is_set(condition, centre.node);
}

/* Returns the rows of the relation that an argument is a column or expression of; 0: of none. */
static double
rows_of(PlannerInfo *root, Node *node)
{
	VariableStatData variable;
	double rows = 0;

	examine_variable(root, node, 0, &variable);
	if (variable.rel != NULL)
		rows = variable.rel->tuples;
	ReleaseVariableStats(variable);
	return rows;
}

/* Below this threshold sets match by chance: the share of rows at 0 falls by half each twentieth. */
#define CHANCE_AT_0 0.1
#define CHANCE_STEP 0.05

/*
 * Returns the share of rows, or of pairs of rows, for which a condition on sets holds: a row has
 * a few near-duplicates, and at low thresholds some match by chance.
 */
static Selectivity
set_selectivity(Condition *condition, List *arguments)
{
	double rows = 0;
	double threshold;
	double share;
	ListCell *cell;

	foreach (cell, arguments)
	{
		if (exprType(lfirst(cell)) == FLOAT8OID)
			bounds_narrow(&condition->bounds, condition->root, lfirst(cell));
		rows = Max(rows, rows_of(condition->root, lfirst(cell)));
	}
	threshold = bounds_resemblance(&condition->bounds);
	share = USUAL_COPIES / (rows < 1 ? USUAL_ROWS : rows) +
		CHANCE_AT_0 * exp2(-threshold / CHANCE_STEP);
	CLAMP_PROBABILITY(share);
	return share;
}

/*
 * Returns the share of rows, or of pairs of rows, for which a condition holds.
 * function is the running function of this extension.  The arguments may be of any
 * types, since a user may name our estimators in an operator of their own.
 */
Selectivity
ball_selectivity(PlannerInfo *root, Oid function, List *arguments)
{
	Condition condition = {.root = root,
						   .function = function,
						   .shape.flags = SIGNATURE_MINHASH,
						   .bounds = BOUNDS_UNKNOWN};
	const SignatureHeader *shape = &condition.shape;
	double rows = 0;
	double present = 1;
	double share;
	double copies;
	int radius;
	ListCell *cell;

	foreach (cell, arguments)
		if (is_set(&condition, lfirst(cell)))
			return set_selectivity(&condition, arguments);
	foreach (cell, arguments)
		read_argument(&condition, lfirst(cell));
	complete_shape(&condition);
	radius = bounds_radius(&condition.bounds, shape);
	share = share_by_samples(&condition, radius);
	copies = copies_outside_samples(&condition, share, radius);
	for (int i = 0; i < condition.columns; i++)
	{
		rows = Max(rows, condition.column[i].rows);
		present *= condition.column[i].present;
		statistics_free(&condition.column[i]);
	}
	share = Max(share, present * chance_within(shape->k, signature_bits(shape), 0, radius)) +
		present * copies / (rows < 1 ? USUAL_ROWS : rows);
	CLAMP_PROBABILITY(share);
	return share;
}

/* Returns the share of pairs of rows for a join. */
Selectivity
ball_join_selectivity(PlannerInfo *root, Oid function, List *arguments, JoinType join)
{
	if (join == JOIN_SEMI || join == JOIN_ANTI)
		return USUAL_SEMIJOIN_SHARE;
	return ball_selectivity(root, function, arguments);
}

/* neardup_ball_sel(internal, oid, internal, integer) returns float8 */
PG_FUNCTION_INFO_V1(neardup_ball_sel);
Datum
neardup_ball_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List *arguments = (List *) PG_GETARG_POINTER(2);

	PG_RETURN_FLOAT8(ball_selectivity(root, fcinfo->flinfo->fn_oid, arguments));
}

/* neardup_ball_joinsel(internal, oid, internal, smallint, internal) returns float8 */
PG_FUNCTION_INFO_V1(neardup_ball_joinsel);
Datum
neardup_ball_joinsel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List *arguments = (List *) PG_GETARG_POINTER(2);

	PG_RETURN_FLOAT8(ball_join_selectivity(root, fcinfo->flinfo->fn_oid, arguments,
										   (JoinType) PG_GETARG_INT16(3)));
}
