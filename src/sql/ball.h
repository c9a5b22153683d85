/*
 * ball.h: balls around signatures: all that lies within a threshold of one.
 *
 * After the varlena header, at any alignment, a BallHeader and then the centre
 * as signature.h lays it out.  The radius decides; the threshold is kept to be
 * shown.
 */
#ifndef NEARDUP_SQL_BALL_H
#define NEARDUP_SQL_BALL_H

#include "sql/signature.h"

typedef struct BallHeader
{
	double threshold; /* 0 where the radius was given */
	int32 radius;     /* symbols */
	uint32 reserved;  /* 0 */
} BallHeader;

/* A ball taken apart; the centre points into the value. */
typedef struct Ball
{
	BallHeader header;
	Signature centre;
} Ball;

/* Of this recipe or a later one; an error unless header, centre and size agree. */
extern Ball ball_of_any_bytes(const void *bytes, size_t size);

/* The same for a datum.  Points into a copy only where that was toasted. */
extern Ball ball_of_any(Datum datum);

/* The same for a ball that is to be compared: of this recipe. */
extern Ball ball_of_datum(Datum datum);

/*
 * A new value.  A threshold other than 0 gives the radius; what decides is
 * checked.
 */
extern struct varlena *ball_around(const Signature *centre, double threshold, int radius);

#define PG_GETARG_BALL(n) ball_of_datum(PG_GETARG_DATUM(n))

#endif
