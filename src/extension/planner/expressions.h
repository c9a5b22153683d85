/*
 * expressions.h: what the planner can tell from an expression that makes a ball.
 *
 * function is one of this extension, by which its types and functions are found
 * (calls/objects.h).
 */
#ifndef NEARDUP_PLANNER_EXPRESSIONS_H
#define NEARDUP_PLANNER_EXPRESSIONS_H

#include "types/ball.h"

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

/* The known bounds of a ball.  If both are known, the smaller ball holds. */
typedef struct BallBounds
{
	double threshold; /* 0 if unknown */
	int radius;       /* the radius in symbols; -1 if unknown */
} BallBounds;

#define BOUNDS_UNKNOWN ((BallBounds){.threshold = 0, .radius = -1})

/* The centre of a ball. */
typedef struct BallCentre
{
	bool known;
	Signature value; /* the value, if it is known */
	Node *node;      /* else the argument of near() or hamming_ball(), or NULL */
} BallCentre;

extern const Const *known_value(PlannerInfo *root, Node *node);
extern bool is_ball_type(Oid function, Oid type);
extern Oid ball_constructor(Oid function, Oid type, Oid bound);
extern BallCentre read_ball(PlannerInfo *root, Oid function, Node *node, BallBounds *bounds);
extern void bounds_narrow(BallBounds *bounds, PlannerInfo *root, Node *node);
extern double bounds_resemblance(const BallBounds *bounds);
extern int bounds_radius(const BallBounds *bounds, const SignatureHeader *shape);

#endif
