-- Balls: all signatures within a threshold of one, as a value.

-- ---- Estimators -------------------------------------------------------------

CREATE FUNCTION neardup_ball_sel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal, int) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_ball_sel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_ball_sel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal, int) IS
	'restriction selectivity of operators on balls';

CREATE FUNCTION neardup_ball_joinsel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal, smallint, pg_catalog.internal) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_ball_joinsel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_ball_joinsel(pg_catalog.internal, pg_catalog.oid, pg_catalog.internal, smallint, pg_catalog.internal) IS
	'join selectivity of operators on balls';

-- ---- The type ---------------------------------------------------------------

CREATE TYPE ball;

CREATE FUNCTION ball_in(pg_catalog.cstring) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_ball_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_in(pg_catalog.cstring) IS
	'I/O';

CREATE FUNCTION ball_out(ball) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_out(ball) IS
	'I/O';

CREATE FUNCTION ball_recv(pg_catalog.internal) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_ball_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_recv(pg_catalog.internal) IS
	'I/O';

CREATE FUNCTION ball_send(ball) RETURNS pg_catalog.bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_send(ball) IS
	'I/O';

CREATE TYPE ball (
	INPUT = ball_in,
	OUTPUT = ball_out,
	RECEIVE = ball_recv,
	SEND = ball_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE ball IS
	'a signature or set with a threshold or a distance: all that lie near it';

-- ---- Constructors -----------------------------------------------------------

CREATE FUNCTION near(minhash, threshold pg_catalog.float8) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_near'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(minhash, pg_catalog.float8) IS
	'all minhash values whose similarity to this one is at least the threshold';

CREATE FUNCTION near(simhash, threshold pg_catalog.float8) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_near'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(simhash, pg_catalog.float8) IS
	'all simhash values whose similarity to this one is at least the threshold';

CREATE FUNCTION hamming_ball(minhash, distance int) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(minhash, int) IS
	'all minhash values that differ from this one in at most the given number of symbols';

CREATE FUNCTION hamming_ball(simhash, distance int) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(simhash, int) IS
	'all simhash values that differ from this one in at most the given number of bits';

CREATE FUNCTION hamming_ball(bit, distance int) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bit, int) IS
	'all bit values that differ from this one in at most the given number of bits';

CREATE FUNCTION hamming_ball(bigint, distance int) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bigint, int) IS
	'all bigint values that differ from this one in at most the given number of bits';

CREATE FUNCTION near(shingles, threshold pg_catalog.float8) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_near_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(shingles, pg_catalog.float8) IS
	'all sets whose resemblance to this one is at least the threshold';

CREATE FUNCTION holding(shingles, threshold pg_catalog.float8) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_holding'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION holding(shingles, pg_catalog.float8) IS
	'all sets that hold at least the given share of this one';

CREATE FUNCTION held_in(shingles, threshold pg_catalog.float8) RETURNS ball
	AS 'MODULE_PATHNAME', 'neardup_held_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION held_in(shingles, pg_catalog.float8) IS
	'all sets of which this one holds at least the given share';

-- ---- Operators --------------------------------------------------------------

CREATE FUNCTION in_ball(shingles, ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION in_ball(shingles, ball) IS
	'implementation of <@ operator';

CREATE OPERATOR <@ (
	LEFTARG = shingles, RIGHTARG = ball, FUNCTION = in_ball,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (shingles, ball) IS 'is in the ball';

CREATE FUNCTION in_ball(minhash, ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION in_ball(minhash, ball) IS
	'implementation of <@ operator';

CREATE OPERATOR <@ (
	LEFTARG = minhash, RIGHTARG = ball, FUNCTION = in_ball,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (minhash, ball) IS 'is in the ball';

CREATE FUNCTION in_ball(simhash, ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION in_ball(simhash, ball) IS
	'implementation of <@ operator';

CREATE OPERATOR <@ (
	LEFTARG = simhash, RIGHTARG = ball, FUNCTION = in_ball,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (simhash, ball) IS 'is in the ball';

CREATE FUNCTION in_ball(bit, ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball_bit'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION in_ball(bit, ball) IS
	'implementation of <@ operator';

CREATE OPERATOR <@ (
	LEFTARG = bit, RIGHTARG = ball, FUNCTION = in_ball,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (bit, ball) IS 'is in the ball';

CREATE FUNCTION in_ball(bigint, ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball_bigint'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION in_ball(bigint, ball) IS
	'implementation of <@ operator';

CREATE OPERATOR <@ (
	LEFTARG = bigint, RIGHTARG = ball, FUNCTION = in_ball,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (bigint, ball) IS 'is in the ball';

CREATE FUNCTION balls_meet(ball, ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_balls_meet'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION balls_meet(ball, ball) IS
	'implementation of && operator';

CREATE OPERATOR && (
	LEFTARG = ball, RIGHTARG = ball, FUNCTION = balls_meet,
	COMMUTATOR = &&,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR && (ball, ball) IS 'each ball contains the centre of the other';
