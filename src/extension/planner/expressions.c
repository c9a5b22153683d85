/*
 * expressions.c: what the planner can tell from an expression that makes a ball.
 */
#include "planner/expressions.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "calls/objects.h"

/*
 * Assumed if threshold and distance are unknown: 3 of 64 bits may differ, of a minhash with
 * symbols of one bit or of a simhash.
 */
#define USUAL_MINHASH_THRESHOLD 0.9
#define USUAL_SIMHASH_THRESHOLD 0.95
#define USUAL_RESEMBLANCE 0.7

/* Returns the value of an expression, or NULL if the planner cannot estimate it or it is NULL. */
const Const *
known_value(PlannerInfo *root, Node *node)
{
	Node *value = estimate_expression_value(root, node);

	if (IsA(value, Const) && !((Const *) value)->constisnull)
		return (Const *) value;
	return NULL;
}

/* Returns whether a call makes a ball. */
static bool
makes_ball(Oid function, const FuncExpr *call)
{
	Oid type = exprType(linitial(call->args));
	Oid bound = exprType(lsecond(call->args));

	return call->funcid == ball_constructor(function, type, bound) ||
		call->funcid == extension_function(function, "holding", type, bound) ||
		call->funcid == extension_function(function, "held_in", type, bound);
}

/* Returns whether a type is that of balls. */
bool
is_ball_type(Oid function, Oid type)
{
	return type == extension_type(function, "ball");
}

/*
 * Returns the function that makes a ball from a signature type and a bound:
 * near(type, float8) or hamming_ball(type, int4).  InvalidOid if there is none.
 */
Oid
ball_constructor(Oid function, Oid type, Oid bound)
{
	return extension_function(function, bound == FLOAT8OID ? "near" : "hamming_ball", type, bound);
}

static void
narrow_radius(BallBounds *bounds, int radius)
{
	bounds->radius = bounds->radius < 0 ? radius : Min(bounds->radius, radius);
}

/* Reads an expression of a ball type.  Narrows the bounds by what it tells. */
BallCentre
read_ball(PlannerInfo *root, Oid function, Node *node, BallBounds *bounds)
{
	const Const *value = known_value(root, node);
	const FuncExpr *call = (FuncExpr *) node;
	BallCentre centre = {.known = false};

	if (value != NULL && is_ball_type(function, value->consttype))
	{
		Ball ball = ball_of_datum(value->constvalue);

		centre.known = true;
		centre.value = ball.centre;
		if (ball.set != NULL)
			bounds->threshold = Max(bounds->threshold, ball.header.threshold);
		else
			narrow_radius(bounds, ball.header.radius);
	}
	else if (IsA(call, FuncExpr) && list_length(call->args) == 2 && makes_ball(function, call))
	{
		centre.node = linitial(call->args);
		bounds_narrow(bounds, root, lsecond(call->args));
	}
	return centre;
}

/* Narrows the bounds by a threshold (float8) or a distance (int4), if its value is known. */
void
bounds_narrow(BallBounds *bounds, PlannerInfo *root, Node *node)
{
	const Const *value = known_value(root, node);

	if (value != NULL && value->consttype == FLOAT8OID)
		bounds->threshold = Max(bounds->threshold, DatumGetFloat8(value->constvalue));
	else if (value != NULL && value->consttype == INT4OID)
		narrow_radius(bounds, Max(DatumGetInt32(value->constvalue), 0));
}

/* Returns the threshold that the bounds of sets give, or a usual one. */
double
bounds_resemblance(const BallBounds *bounds)
{
	double threshold = bounds->threshold;

	return threshold > 0 && threshold <= 1 ? threshold : USUAL_RESEMBLANCE;
}

/* Returns the radius that the bounds give, or a usual one if both are unknown. */
int
bounds_radius(const BallBounds *bounds, const SignatureHeader *shape)
{
	bool radius_known = bounds->radius >= 0;
	double threshold = bounds->threshold;
	int radius = radius_known ? Min(bounds->radius, shape->k) : shape->k;

	/* NaN fails this test: the planner takes it as unknown, and execution refuses it. */
	if (threshold > 0 && threshold <= 1)
		return Min(radius, signature_radius(shape, threshold));
	if (radius_known)
		return radius;
	return signature_radius(shape,
							signature_is_minhash(shape) ? USUAL_MINHASH_THRESHOLD :
														  USUAL_SIMHASH_THRESHOLD);
}
