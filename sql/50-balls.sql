-- Balls: all signatures within a threshold of one, as a value.

-- ---- Estimators -------------------------------------------------------------

CREATE FUNCTION neardup_ball_sel(internal, oid, internal, int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_ball_sel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_ball_sel(internal, oid, internal, int) IS
	'restriction selectivity of operators on balls';

CREATE FUNCTION neardup_ball_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_ball_joinsel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_ball_joinsel(internal, oid, internal, smallint, internal) IS
	'join selectivity of operators on balls';

-- ---- minhash_ball -----------------------------------------------------------

CREATE TYPE minhash_ball;

CREATE FUNCTION minhash_ball_in(cstring) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_minhash_ball_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_in(cstring) IS
	'I/O';

CREATE FUNCTION minhash_ball_out(minhash_ball) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_out(minhash_ball) IS
	'I/O';

CREATE FUNCTION minhash_ball_recv(internal) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_minhash_ball_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_recv(internal) IS
	'I/O';

CREATE FUNCTION minhash_ball_send(minhash_ball) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_send(minhash_ball) IS
	'I/O';

CREATE TYPE minhash_ball (
	INPUT = minhash_ball_in,
	OUTPUT = minhash_ball_out,
	RECEIVE = minhash_ball_recv,
	SEND = minhash_ball_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE minhash_ball IS
	'all minhash values within a threshold of one';

CREATE FUNCTION near(minhash, threshold float8) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_near'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(minhash, float8) IS
	'all minhash values whose similarity to this one is at least the threshold';

CREATE FUNCTION hamming_ball(minhash, distance int) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(minhash, int) IS
	'all minhash values that differ from this one in at most the given number of symbols';

CREATE FUNCTION minhash_in_ball(minhash, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_in_ball'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_in_ball(minhash, minhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION minhash_ball_contains(minhash_ball, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_contains(minhash_ball, minhash) IS
	'implementation of @> operator';

CREATE FUNCTION minhash_balls_meet(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_balls_meet'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_balls_meet(minhash_ball, minhash_ball) IS
	'implementation of && operator';

CREATE OPERATOR <@ (
	LEFTARG = minhash, RIGHTARG = minhash_ball, FUNCTION = minhash_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (minhash, minhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
	LEFTARG = minhash_ball, RIGHTARG = minhash, FUNCTION = minhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (minhash_ball, minhash) IS 'contains the signature';

CREATE OPERATOR && (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_balls_meet,
	COMMUTATOR = &&,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR && (minhash_ball, minhash_ball) IS 'each ball contains the centre of the other';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION minhash_ball_eq(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_eq(minhash_ball, minhash_ball) IS
	'implementation of = operator';

CREATE FUNCTION minhash_ball_ne(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_ne(minhash_ball, minhash_ball) IS
	'implementation of <> operator';

CREATE FUNCTION minhash_ball_lt(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_lt(minhash_ball, minhash_ball) IS
	'implementation of < operator';

CREATE FUNCTION minhash_ball_le(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_le(minhash_ball, minhash_ball) IS
	'implementation of <= operator';

CREATE FUNCTION minhash_ball_gt(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_gt(minhash_ball, minhash_ball) IS
	'implementation of > operator';

CREATE FUNCTION minhash_ball_ge(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_ge(minhash_ball, minhash_ball) IS
	'implementation of >= operator';

CREATE FUNCTION minhash_ball_cmp(minhash_ball, minhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_ball_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_cmp(minhash_ball, minhash_ball) IS
	'less-equal-greater';

CREATE FUNCTION minhash_ball_hash(minhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_hash(minhash_ball) IS
	'hash';

CREATE FUNCTION minhash_ball_hash_extended(minhash_ball, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_hash_extended(minhash_ball, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (minhash_ball, minhash_ball) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (minhash_ball, minhash_ball) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash_ball, minhash_ball) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash_ball, minhash_ball) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash_ball, minhash_ball) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash_ball, minhash_ball) IS 'greater than or equal';

CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 minhash_ball_cmp(minhash_ball, minhash_ball);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING btree IS 'total order of all minhash_ball values';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING btree IS 'total order of all minhash_ball values';

CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 minhash_ball_hash(minhash_ball),
	FUNCTION 2 minhash_ball_hash_extended(minhash_ball, bigint);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING hash IS 'equality of minhash_ball values';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING hash IS 'equality of minhash_ball values';

-- ---- simhash_ball -----------------------------------------------------------

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_simhash_ball_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_in(cstring) IS
	'I/O';

CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS
	'I/O';

CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_simhash_ball_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_recv(internal) IS
	'I/O';

CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS
	'I/O';

CREATE TYPE simhash_ball (
	INPUT = simhash_ball_in,
	OUTPUT = simhash_ball_out,
	RECEIVE = simhash_ball_recv,
	SEND = simhash_ball_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE simhash_ball IS
	'all simhash values within a threshold of one';

CREATE FUNCTION near(simhash, threshold float8) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_near'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(simhash, float8) IS
	'all simhash values whose similarity to this one is at least the threshold';

CREATE FUNCTION hamming_ball(simhash, distance int) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(simhash, int) IS
	'all simhash values that differ from this one in at most the given number of bits';

CREATE FUNCTION simhash_in_ball(simhash, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_in_ball'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in_ball(simhash, simhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION simhash_ball_contains(simhash_ball, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash) IS
	'implementation of @> operator';

CREATE FUNCTION simhash_balls_meet(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_balls_meet'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_balls_meet(simhash_ball, simhash_ball) IS
	'implementation of && operator';

CREATE OPERATOR <@ (
	LEFTARG = simhash, RIGHTARG = simhash_ball, FUNCTION = simhash_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (simhash, simhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
	LEFTARG = simhash_ball, RIGHTARG = simhash, FUNCTION = simhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (simhash_ball, simhash) IS 'contains the signature';

CREATE OPERATOR && (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_balls_meet,
	COMMUTATOR = &&,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR && (simhash_ball, simhash_ball) IS 'each ball contains the centre of the other';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) IS
	'implementation of = operator';

CREATE FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) IS
	'implementation of <> operator';

CREATE FUNCTION simhash_ball_lt(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_lt(simhash_ball, simhash_ball) IS
	'implementation of < operator';

CREATE FUNCTION simhash_ball_le(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_le(simhash_ball, simhash_ball) IS
	'implementation of <= operator';

CREATE FUNCTION simhash_ball_gt(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gt(simhash_ball, simhash_ball) IS
	'implementation of > operator';

CREATE FUNCTION simhash_ball_ge(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_ge(simhash_ball, simhash_ball) IS
	'implementation of >= operator';

CREATE FUNCTION simhash_ball_cmp(simhash_ball, simhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_ball_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_cmp(simhash_ball, simhash_ball) IS
	'less-equal-greater';

CREATE FUNCTION simhash_ball_hash(simhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_hash(simhash_ball) IS
	'hash';

CREATE FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash_ball, simhash_ball) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash_ball, simhash_ball) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash_ball, simhash_ball) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash_ball, simhash_ball) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash_ball, simhash_ball) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash_ball, simhash_ball) IS 'greater than or equal';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_ball_cmp(simhash_ball, simhash_ball);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING btree IS 'total order of all simhash_ball values';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING btree IS 'total order of all simhash_ball values';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_ball_hash(simhash_ball),
	FUNCTION 2 simhash_ball_hash_extended(simhash_ball, bigint);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING hash IS 'equality of simhash_ball values';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING hash IS 'equality of simhash_ball values';

-- ---- bit and bigint: hashes made elsewhere ----------------------------------

CREATE FUNCTION hamming_ball(bit, distance int) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bit, int) IS
	'all values that differ from this one in at most the given number of bits';

CREATE FUNCTION bit_in_ball(bit, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_bit_in_ball'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION bit_in_ball(bit, minhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION minhash_ball_contains(minhash_ball, bit) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains_bit'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_contains(minhash_ball, bit) IS
	'implementation of @> operator';

CREATE OPERATOR <@ (
	LEFTARG = bit, RIGHTARG = minhash_ball, FUNCTION = bit_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (bit, minhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
	LEFTARG = minhash_ball, RIGHTARG = bit, FUNCTION = minhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (minhash_ball, bit) IS 'contains the value';

CREATE FUNCTION hamming_ball(bigint, distance int) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bigint, int) IS
	'all values that differ from this one in at most the given number of bits';

CREATE FUNCTION bigint_in_ball(bigint, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_bigint_in_ball'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION bigint_in_ball(bigint, simhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION simhash_ball_contains(simhash_ball, bigint) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains_bigint'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, bigint) IS
	'implementation of @> operator';

CREATE OPERATOR <@ (
	LEFTARG = bigint, RIGHTARG = simhash_ball, FUNCTION = bigint_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (bigint, simhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
	LEFTARG = simhash_ball, RIGHTARG = bigint, FUNCTION = simhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (simhash_ball, bigint) IS 'contains the value';

-- ---- Keys: what indexes on balls are on ---------------------------------------

CREATE TYPE minhash_ball_key;

CREATE FUNCTION minhash_ball_key_in(cstring) RETURNS minhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_in(cstring) IS
	'I/O';

CREATE FUNCTION minhash_ball_key_out(minhash_ball_key) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_key_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_out(minhash_ball_key) IS
	'I/O';

CREATE FUNCTION minhash_ball_key_recv(internal) RETURNS minhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_recv(internal) IS
	'I/O';

CREATE FUNCTION minhash_ball_key_send(minhash_ball_key) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_send(minhash_ball_key) IS
	'I/O';

CREATE TYPE minhash_ball_key (
	INPUT = minhash_ball_key_in,
	OUTPUT = minhash_ball_key_out,
	RECEIVE = minhash_ball_key_recv,
	SEND = minhash_ball_key_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE minhash_ball_key IS
	'a minhash_ball as an index key, which is shown shortened; not for columns';

CREATE CAST (minhash_ball AS minhash_ball_key) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (minhash_ball AS minhash_ball_key) IS
	'for indexes on balls';

CREATE TYPE simhash_ball_key;

CREATE FUNCTION simhash_ball_key_in(cstring) RETURNS simhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_in(cstring) IS
	'I/O';

CREATE FUNCTION simhash_ball_key_out(simhash_ball_key) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_key_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_out(simhash_ball_key) IS
	'I/O';

CREATE FUNCTION simhash_ball_key_recv(internal) RETURNS simhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_recv(internal) IS
	'I/O';

CREATE FUNCTION simhash_ball_key_send(simhash_ball_key) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_send(simhash_ball_key) IS
	'I/O';

CREATE TYPE simhash_ball_key (
	INPUT = simhash_ball_key_in,
	OUTPUT = simhash_ball_key_out,
	RECEIVE = simhash_ball_key_recv,
	SEND = simhash_ball_key_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE simhash_ball_key IS
	'a simhash_ball as an index key, which is shown shortened; not for columns';

CREATE CAST (simhash_ball AS simhash_ball_key) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (simhash_ball AS simhash_ball_key) IS
	'for indexes on balls';
