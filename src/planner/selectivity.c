/*
 * selectivity.c: how many rows lie in a ball, for the planner.
 *
 * ANALYZE keeps a sample, which tells of families of near-duplicates that hold
 * more than a few rows in a thousand.  Rows that have nothing to do with each
 * other are near by chance, which a binomial tail tells.  The few
 * near-duplicates that most documents have are seen by neither, and come on top.
 */
#include "planner/selectivity.h"

#include "sql/ball.h"
#include "planner/sample.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "sql/siblings.h"

/* Rows of a table that are near-duplicates of a document. */
#define USUAL_COPIES 3
#define MOST_COPIES 9

/* The same of a document of another table, or in another column. */
#define FOREIGN_COPIES 1

/* Share of documents that have a near-duplicate in another table. */
#define USUAL_SHARE 0.5

#define USUAL_THRESHOLD 0.8
#define USUAL_MINHASH 512
#define USUAL_SIMHASH 64

/* Rows of a relation of which nothing is known. */
#define USUAL_ROWS 1000

/* What is known of a condition. */
typedef struct Condition
{
	PlannerInfo *root;
	Oid estimator;
	Sample column[2];
	int columns;
	Signature query;       /* k = 0: unknown */
	uint64 bits;           /* that the query may point to */
	SignatureHeader shape; /* k = 0: unknown */
	double threshold;      /* 0: unknown */
	int radius;            /* -1: unknown */
} Condition;

static bool
is_type(const Condition *condition, Oid type, const char *name)
{
	return type == sibling_type(condition->estimator, name);
}

static bool
is_ball(const Condition *condition, Oid type)
{
	return is_type(condition, type, "minhash_ball") || is_type(condition, type, "simhash_ball");
}

/* The value of an expression where the planner can know it, else NULL. */
static const Const *
known_value(const Condition *condition, Node *node)
{
	Node *value = estimate_expression_value(condition->root, node);

	if (IsA(value, Const) && !((Const *) value)->constisnull)
		return (Const *) value;
	return NULL;
}

/* ---- Learning of a condition -------------------------------------------- */

/* What a type tells without a value: k stays 0 where it does not tell. */
static SignatureHeader
shape_of_type(const Condition *condition, Oid type, int32 typmod)
{
	if (type == INT8OID)
		return signature_header(SIGNATURE_SIMHASH, 64, 1, 0);
	if (type == BITOID)
		return signature_header(SIGNATURE_MINHASH, Min(Max(typmod, 0), MINHASH_K_MAX), 1, 0);
	return signature_header(is_type(condition, type, "minhash") ? SIGNATURE_MINHASH :
																  SIGNATURE_SIMHASH,
							Max(typmod, 0) >> 3, 1 << (Max(typmod, 0) & SIGNATURE_LOG_B), 0);
}

static void
learn_query(Condition *condition, const Signature *query)
{
	condition->query = *query;
	condition->shape = query->header;
}

/* A column counts if it is one; what is neither known nor one has a type. */
static void
learn_signature(Condition *condition, Node *node)
{
	const Const *value = known_value(condition, node);
	Sample *column = &condition->column[condition->columns];
	Signature query;

	if (value != NULL)
	{
		if (is_signature_type(condition->estimator, value->consttype) &&
			signature_of_value(value->consttype, value->constvalue, &condition->bits, &query))
			learn_query(condition, &query);
		return;
	}
	if (condition->shape.k == 0)
		condition->shape = shape_of_type(condition, exprType(node), exprTypmod(node));
	if (condition->columns == lengthof(condition->column))
		return;
	sample_read(column, condition->root, node, condition->estimator);
	if (column->rows > 0 || OidIsValid(column->relation))
		condition->columns++;
	else
		sample_free(column);
}

static void
learn_bound(Condition *condition, Node *node)
{
	const Const *value = known_value(condition, node);

	if (value == NULL)
		return;
	if (value->consttype == FLOAT8OID)
		condition->threshold = Max(condition->threshold, DatumGetFloat8(value->constvalue));
	else if (value->consttype == INT4OID)
	{
		int radius = Max(DatumGetInt32(value->constvalue), 0);

		condition->radius = condition->radius < 0 ? radius : Min(condition->radius, radius);
	}
}

/* Is it near(x, t) or hamming_ball(x, d)? */
static bool
makes_ball(const Condition *condition, Node *node)
{
	FuncExpr *call = (FuncExpr *) node;
	Oid x;
	Oid bound;

	if (!IsA(call, FuncExpr) || list_length(call->args) != 2)
		return false;
	x = exprType(linitial(call->args));
	bound = exprType(lsecond(call->args));
	return call->funcid ==
		sibling_function(condition->estimator, bound == FLOAT8OID ? "near" : "hamming_ball", x,
						 bound);
}

static void
learn_ball(Condition *condition, Node *node)
{
	const Const *value = known_value(condition, node);

	if (value != NULL && is_ball(condition, value->consttype))
	{
		Ball ball = ball_of_datum(value->constvalue);

		learn_query(condition, &ball.centre);
		condition->radius =
			condition->radius < 0 ? ball.header.radius : Min(condition->radius, ball.header.radius);
	}
	else if (makes_ball(condition, node))
	{
		learn_signature(condition, linitial(((FuncExpr *) node)->args));
		learn_bound(condition, lsecond(((FuncExpr *) node)->args));
	}
	else if (condition->shape.k == 0 && is_type(condition, exprType(node), "minhash_ball"))
		condition->shape.flags |= SIGNATURE_MINHASH;
}

static void
learn(Condition *condition, Node *node)
{
	Oid type = exprType(node);

	if (is_signature_type(condition->estimator, type))
		learn_signature(condition, node);
	else if (is_ball(condition, type))
		learn_ball(condition, node);
	else
		learn_bound(condition, node);
}

/* ---- Estimating --------------------------------------------------------- */

/* The radius, as far as it is known; the shape is by now. */
static int
likely_radius(const Condition *condition)
{
	int k = condition->shape.k;
	double threshold = condition->threshold;

	/* Written so that NaN is taken for unknown; it will be refused later. */
	if (!(threshold > 0 && threshold <= 1))
	{
		if (condition->radius >= 0)
			return Min(condition->radius, k);
		threshold = USUAL_THRESHOLD;
	}
	k = signature_radius(&condition->shape, threshold);
	return condition->radius < 0 ? k : Min(condition->radius, k);
}

/* The shape, by what is known best. */
static void
settle_shape(Condition *condition)
{
	SignatureHeader *shape = &condition->shape;

	for (int i = 0; i < condition->columns && condition->query.header.k == 0; i++)
	{
		const Signature *typical = sample_typical(&condition->column[i]);

		if (typical != NULL)
			*shape = typical->header;
	}
	if (shape->k == 0)
		shape->k = signature_is_minhash(shape) ? USUAL_MINHASH : USUAL_SIMHASH;
}

/* What a query that nobody knows is near to: it is as likely any row. */
static double
share_of_any(const Sample *column, int radius)
{
	return column->nulls < 1 ? sample_pairs(column, column, radius) / (1 - column->nulls) : 0;
}

/*
 * One hit in a sample may be luck, or even the query's own row: then the middle,
 * by factors, between a few rows and all that it stands for.
 */
static double
share_of_query(const Sample *column, const Signature *query, int radius)
{
	double share;
	int hits = sample_near(column, query, radius, &share);
	double few = USUAL_COPIES / Max(column->rows, 1);

	if (hits == 1 && column->rest > few)
		return share - column->rest + sqrt(column->rest * few);
	return share;
}

/* The share of rows, or of pairs of rows, that the samples tell of. */
static double
sampled_share(const Condition *condition, int radius)
{
	const Sample *column = condition->column;

	if (condition->columns == 0)
		return 0;
	if (condition->columns == 2)
		return sample_pairs(&column[0], &column[1], radius);
	if (condition->query.header.k == 0)
		return share_of_any(column, radius);
	return share_of_query(column, &condition->query, radius);
}

/*
 * How many near-duplicates a query has that no sample shows.  Where rows have
 * many on average, and the sample has none of this one, its family may still be
 * one of dozens: so many as are within a factor of ten of one, and of dozens.
 */
static double
unseen_copies(const Condition *condition, double share, int radius)
{
	const Sample *column = condition->column;

	if (condition->columns == 2 && !sample_is_same(&column[0], &column[1]))
		return FOREIGN_COPIES;
	if (condition->columns != 1 || condition->query.header.k == 0 || share > 0)
		return USUAL_COPIES;
	share = share_of_any(column, radius);
	return Max(USUAL_COPIES, Min(MOST_COPIES, share * column->rows));
}

/* Forget the query and the samples after this. */
static Selectivity
estimate(Condition *condition)
{
	const SignatureHeader *shape = &condition->shape;
	double rows = 0;
	double present = 1;
	double share;
	double copies;
	int radius;

	settle_shape(condition);
	radius = likely_radius(condition);
	share = sampled_share(condition, radius);
	copies = unseen_copies(condition, share, radius);
	for (int i = 0; i < condition->columns; i++)
	{
		rows = Max(rows, condition->column[i].rows);
		present *= condition->column[i].present;
		sample_free(&condition->column[i]);
	}
	share = Max(share, present * chance_within(shape->k, signature_bits(shape), radius)) +
		present * copies / (rows < 1 ? USUAL_ROWS : rows);
	CLAMP_PROBABILITY(share);
	return share;
}

Selectivity
ball_selectivity(PlannerInfo *root, Oid estimator, List *arguments)
{
	Condition condition = {root, estimator};
	ListCell *cell;

	condition.radius = -1;
	foreach (cell, arguments)
		learn(&condition, lfirst(cell));
	return estimate(&condition);
}

Selectivity
ball_join_selectivity(PlannerInfo *root, Oid estimator, List *arguments, JoinType join)
{
	if (join == JOIN_SEMI || join == JOIN_ANTI)
		return USUAL_SHARE;
	return ball_selectivity(root, estimator, arguments);
}

/* ---- Estimators of operators -------------------------------------------- */

PG_FUNCTION_INFO_V1(neardup_ball_sel);
Datum
neardup_ball_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List *arguments = (List *) PG_GETARG_POINTER(2);

	PG_RETURN_FLOAT8(ball_selectivity(root, fcinfo->flinfo->fn_oid, arguments));
}

PG_FUNCTION_INFO_V1(neardup_ball_joinsel);
Datum
neardup_ball_joinsel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List *arguments = (List *) PG_GETARG_POINTER(2);

	PG_RETURN_FLOAT8(ball_join_selectivity(root, fcinfo->flinfo->fn_oid, arguments,
										   (JoinType) PG_GETARG_INT16(3)));
}
