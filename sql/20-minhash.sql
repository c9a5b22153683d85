-- The type minhash: k symbols of b bits, sketches of a set.

-- ---- The type ---------------------------------------------------------------

CREATE TYPE minhash;

CREATE FUNCTION minhash_in(pg_catalog.cstring, pg_catalog.oid, int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_in(pg_catalog.cstring, pg_catalog.oid, int) IS
	'I/O';

CREATE FUNCTION minhash_out(minhash) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_signature_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_out(minhash) IS
	'I/O';

CREATE FUNCTION minhash_recv(pg_catalog.internal, pg_catalog.oid, int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_recv(pg_catalog.internal, pg_catalog.oid, int) IS
	'I/O';

CREATE FUNCTION minhash_send(minhash) RETURNS pg_catalog.bytea
	AS 'MODULE_PATHNAME', 'neardup_signature_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_send(minhash) IS
	'I/O';

CREATE FUNCTION minhash_typmod_in(pg_catalog.cstring[]) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_minhash_typmod_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typmod_in(pg_catalog.cstring[]) IS
	'I/O typmod';

CREATE FUNCTION minhash_typmod_out(int) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_minhash_typmod_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typmod_out(int) IS
	'I/O typmod';

CREATE FUNCTION minhash_typanalyze(pg_catalog.internal) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_typanalyze'
	LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typanalyze(pg_catalog.internal) IS
	'minhash typanalyze';

CREATE TYPE minhash (
	INPUT = minhash_in,
	OUTPUT = minhash_out,
	RECEIVE = minhash_recv,
	SEND = minhash_send,
	TYPMOD_IN = minhash_typmod_in,
	TYPMOD_OUT = minhash_typmod_out,
	ANALYZE = minhash_typanalyze,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external,
	PREFERRED = true
);
COMMENT ON TYPE minhash IS
	'sketch of a set: k symbols of b bits, minhash(k, b); estimates resemblance';

CREATE FUNCTION minhash_apply_typmod(minhash, int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_signature_apply_typmod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_apply_typmod(minhash, int) IS
	'check that a minhash has the shape of the column';

CREATE CAST (minhash AS minhash) WITH FUNCTION minhash_apply_typmod(minhash, int) AS IMPLICIT;
COMMENT ON CAST (minhash AS minhash) IS
	'check that a minhash has the shape of the column';

-- ---- Constructors -----------------------------------------------------------

CREATE FUNCTION to_minhash(
	pg_catalog.text, k int DEFAULT 512, b int DEFAULT 1, scheme pg_catalog.text DEFAULT 'word 3') RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_scheme'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(pg_catalog.text, int, int, pg_catalog.text) IS
	'sketch of the shingles of a text under a scheme: k symbols of b bits';

-- The argument has no name, or to_minhash(body, scheme => ...) would be ambiguous.
CREATE FUNCTION to_minhash(pg_catalog.text, pg_catalog.text) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_scheme'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(pg_catalog.text, pg_catalog.text) IS
	'sketch of the shingles of a text under a scheme: 512 symbols of one bit';

CREATE FUNCTION to_minhash(shingles, k int DEFAULT 512, b int DEFAULT 1) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(shingles, int, int) IS
	'sketch of a set of shingles: k symbols of b bits';

-- ---- Truncation, union, cardinality -----------------------------------------

CREATE FUNCTION minhash_truncate(minhash, b int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_truncate'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_truncate(minhash, int) IS
	'the same sketch with fewer bits for each symbol';

CREATE FUNCTION minhash_union(minhash, minhash) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS
	'sketch of the union of two sets, from their sketches with symbols of 32 bits';

CREATE FUNCTION cardinality(minhash) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_cardinality_minhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cardinality(minhash) IS
	'number of distinct shingles of the set; raises an error if it is unknown';

-- ---- Casts ------------------------------------------------------------------

CREATE FUNCTION minhash_of_bytea(pg_catalog.bytea) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_of_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_of_bytea(pg_catalog.bytea) IS
	'implementation of a cast';

CREATE CAST (pg_catalog.bytea AS minhash) WITH FUNCTION minhash_of_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS minhash) IS
	'a value in binary format, as clients send it';

CREATE CAST (minhash AS pg_catalog.bytea) WITH FUNCTION minhash_send(minhash);
COMMENT ON CAST (minhash AS pg_catalog.bytea) IS
	'the binary format';

CREATE FUNCTION minhash_of_bit(bit) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_of_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_of_bit(bit) IS
	'implementation of a cast';

CREATE CAST (bit AS minhash) WITH FUNCTION minhash_of_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS minhash) IS
	'a signature made elsewhere, with symbols of one bit';

CREATE CAST (bit varying AS minhash) WITH FUNCTION minhash_of_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit varying AS minhash) IS
	'a signature made elsewhere, with symbols of one bit';

CREATE FUNCTION minhash_to_bit(minhash, int) RETURNS bit
	AS 'MODULE_PATHNAME', 'neardup_signature_to_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_to_bit(minhash, int) IS
	'implementation of a cast';

CREATE CAST (minhash AS bit) WITH FUNCTION minhash_to_bit(minhash, int) AS ASSIGNMENT;
COMMENT ON CAST (minhash AS bit) IS
	'the symbols, if they have one bit';

CREATE FUNCTION minhash_of_symbols(bigint[]) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_of_symbols'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_of_symbols(bigint[]) IS
	'implementation of a cast';

CREATE CAST (bigint[] AS minhash) WITH FUNCTION minhash_of_symbols(bigint[]) AS ASSIGNMENT;
COMMENT ON CAST (bigint[] AS minhash) IS
	'a signature made elsewhere, with symbols of 32 bits';

CREATE FUNCTION minhash_symbols(minhash) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_minhash_symbols'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_symbols(minhash) IS
	'implementation of a cast';

CREATE CAST (minhash AS bigint[]) WITH FUNCTION minhash_symbols(minhash) AS ASSIGNMENT;
COMMENT ON CAST (minhash AS bigint[]) IS
	'the symbols, if they have 32 bits';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION minhash_eq(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_eq'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_eq(minhash, minhash) IS
	'implementation of = operator';

CREATE FUNCTION minhash_ne(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ne'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ne(minhash, minhash) IS
	'implementation of <> operator';

CREATE FUNCTION minhash_lt(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_lt'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_lt(minhash, minhash) IS
	'implementation of < operator';

CREATE FUNCTION minhash_le(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_le'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_le(minhash, minhash) IS
	'implementation of <= operator';

CREATE FUNCTION minhash_gt(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_gt'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_gt(minhash, minhash) IS
	'implementation of > operator';

CREATE FUNCTION minhash_ge(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ge'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ge(minhash, minhash) IS
	'implementation of >= operator';

CREATE FUNCTION minhash_cmp(minhash, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_cmp(minhash, minhash) IS
	'less-equal-greater';

CREATE FUNCTION minhash_hash(minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_hash(minhash) IS
	'hash';

CREATE FUNCTION minhash_hash_extended(minhash, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_hash_extended(minhash, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (minhash, minhash) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR <> (minhash, minhash) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash, minhash) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash, minhash) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash, minhash) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash, minhash) IS 'greater than or equal';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 minhash_cmp(minhash, minhash);
COMMENT ON OPERATOR CLASS minhash_ops USING btree IS 'total order of all minhash values';
COMMENT ON OPERATOR FAMILY minhash_ops USING btree IS 'total order of all minhash values';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 minhash_hash(minhash),
	FUNCTION 2 minhash_hash_extended(minhash, bigint);
COMMENT ON OPERATOR CLASS minhash_ops USING hash IS 'equality of minhash values';
COMMENT ON OPERATOR FAMILY minhash_ops USING hash IS 'equality of minhash values';
