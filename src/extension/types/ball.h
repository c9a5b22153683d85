/*
 * ball.h: balls around signatures, and around sets.  A ball holds all signatures within a
 * radius of its centre, or all sets whose measure with its centre is at least a threshold.
 *
 * A value has, after the varlena header and at any alignment, a BallHeader and the centre
 * in the format of sketch/signature.h; or, if `measure` says so, a value of type shingles.
 */
#ifndef NEARDUP_TYPES_BALL_H
#define NEARDUP_TYPES_BALL_H

#include "sketch/overlap.h"
#include "types/signature_type.h"

typedef struct BallHeader
{
	double threshold; /* the threshold that gave the radius, for output; 0: a radius was given */
	int32 radius;     /* the radius in symbols */
	uint32 measure;   /* 0: the centre is a signature; else 1 + a Measure */
} BallHeader;

/*
 * A ball in memory; the centre points into the value.  That of a set has the flag SIGNATURE_SET,
 * and points to a copy of its elements.
 */
typedef struct Ball
{
	BallHeader header;
	Signature centre;
	struct Shingles *set; /* NULL: the centre is a signature */
} Ball;

extern Signature signature_of_set(struct Shingles *set);

extern Ball ball_of_datum(Datum datum);

/* Returns what the threshold of a ball around a set bounds. */
static inline Measure
ball_measure(const Ball *ball)
{
	return (Measure) (ball->header.measure - 1);
}

#define PG_GETARG_BALL(n) ball_of_datum(PG_GETARG_DATUM(n))

#endif
