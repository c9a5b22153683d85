/*
 * pg_selectivity.c: how many rows lie in a ball, for the planner.
 *
 * Rows that have nothing to do with each other are near by chance, which a
 * binomial tail tells.  Near-duplicates come on top; how many is anyone's
 * guess until the table is sampled, and most documents have few.
 */
#include "pg_selectivity.h"

#include "pg_ball.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "pg_siblings.h"

/* Rows of a table that are near-duplicates of a document. */
#define USUAL_COPIES 3

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
	int relation;          /* whose columns vary; 0 for all */
	SignatureHeader shape; /* k = 0: unknown */
	double threshold;      /* 0: unknown */
	int radius;            /* -1: unknown */
	double rows;           /* of the largest relation */
	double present;        /* share of rows without nulls */
} Condition;

static bool
is_type(const Condition *condition, Oid type, const char *name)
{
	return type == sibling_type(condition->estimator, name);
}

static bool
is_signature(const Condition *condition, Oid type)
{
	return type == BITOID || type == INT8OID || is_type(condition, type, "minhash") ||
		is_type(condition, type, "simhash");
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

static void
learn_rows(Condition *condition, Node *node)
{
	VariableStatData column;

	examine_variable(condition->root, node, condition->relation, &column);
	if (column.rel != NULL && column.rel->tuples > condition->rows)
		condition->rows = column.rel->tuples;
	if (HeapTupleIsValid(column.statsTuple))
		condition->present *= 1 - ((Form_pg_statistic) GETSTRUCT(column.statsTuple))->stanullfrac;
	ReleaseVariableStats(column);
}

static SignatureHeader
shape_of_value(const Const *value)
{
	uint64 bits;

	if (value->consttype == INT8OID)
		return signature_of_int8(value->constvalue, &bits).header;
	if (value->consttype == BITOID)
		return signature_of_bit(value->constvalue).header;
	return signature_of_datum(value->constvalue).header;
}

/* What a type tells without a value: k stays 0 where it does not tell. */
static SignatureHeader
shape_of_type(const Condition *condition, Oid type, int32 typmod)
{
	if (type == INT8OID)
		return signature_header(0, 64, 1, 0);
	if (type == BITOID)
		return signature_header(SIGNATURE_MINHASH, Min(Max(typmod, 0), MINHASH_K_MAX), 1, 0);
	return signature_header(is_type(condition, type, "minhash") ? SIGNATURE_MINHASH : 0,
							Max(typmod, 0) >> 3, 1 << (Max(typmod, 0) & SIGNATURE_LOG_B), 0);
}

static void
learn_signature(Condition *condition, Node *node)
{
	const Const *value = known_value(condition, node);

	if (value != NULL && is_signature(condition, value->consttype))
		condition->shape = shape_of_value(value);
	else if (condition->shape.k == 0)
		condition->shape = shape_of_type(condition, exprType(node), exprTypmod(node));
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

		condition->shape = ball.centre.header;
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

	if (is_signature(condition, type))
	{
		learn_rows(condition, node);
		learn_signature(condition, node);
	}
	else if (is_ball(condition, type))
	{
		learn_rows(condition, node);
		learn_ball(condition, node);
	}
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

Selectivity
ball_selectivity(PlannerInfo *root, Oid estimator, List *arguments, int relation)
{
	Condition condition = {root, estimator, relation, {0}, 0, -1, 0, 1};
	SignatureHeader *shape = &condition.shape;
	Selectivity selectivity;
	ListCell *cell;

	foreach (cell, arguments)
		learn(&condition, lfirst(cell));
	if (shape->k == 0)
		shape->k = signature_is_minhash(shape) ? USUAL_MINHASH : USUAL_SIMHASH;
	if (condition.rows < 1)
		condition.rows = USUAL_ROWS;
	selectivity = chance_within(shape->k, signature_bits(shape), likely_radius(&condition)) +
		USUAL_COPIES / condition.rows;
	selectivity *= condition.present;
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

Selectivity
ball_join_selectivity(PlannerInfo *root, Oid estimator, List *arguments, JoinType join)
{
	if (join == JOIN_SEMI || join == JOIN_ANTI)
		return USUAL_SHARE;
	return ball_selectivity(root, estimator, arguments, 0);
}

/* ---- Estimators of operators -------------------------------------------- */

PG_FUNCTION_INFO_V1(neardup_ball_sel);
Datum
neardup_ball_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List *arguments = (List *) PG_GETARG_POINTER(2);

	PG_RETURN_FLOAT8(ball_selectivity(root, fcinfo->flinfo->fn_oid, arguments, PG_GETARG_INT32(3)));
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
