/*
 * ball.h: balls around signatures.  A ball holds all signatures within a radius of its
 * centre.
 *
 * A value has, after the varlena header and at any alignment, a BallHeader and the centre
 * in the format of sketch/signature.h.
 */
#ifndef NEARDUP_TYPES_BALL_H
#define NEARDUP_TYPES_BALL_H

#include "types/signature_type.h"

typedef struct BallHeader
{
	double threshold; /* that determined the radius, for output; 0 if the radius was given */
	int32 radius;     /* in symbols */
	uint32 reserved;  /* 0 */
} BallHeader;

/* A ball in memory; the centre points into the value. */
typedef struct Ball
{
	BallHeader header;
	Signature centre;
} Ball;

extern Ball ball_of_datum(Datum datum);

#define PG_GETARG_BALL(n) ball_of_datum(PG_GETARG_DATUM(n))

#endif
