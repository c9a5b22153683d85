-- The type simhash: fingerprints of f bits.

-- ---- The type ---------------------------------------------------------------

CREATE TYPE simhash;

CREATE FUNCTION simhash_in(pg_catalog.cstring, pg_catalog.oid, int) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in(pg_catalog.cstring, pg_catalog.oid, int) IS
	'I/O';

CREATE FUNCTION simhash_out(simhash) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_signature_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_out(simhash) IS
	'I/O';

CREATE FUNCTION simhash_recv(pg_catalog.internal, pg_catalog.oid, int) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_recv(pg_catalog.internal, pg_catalog.oid, int) IS
	'I/O';

CREATE FUNCTION simhash_send(simhash) RETURNS pg_catalog.bytea
	AS 'MODULE_PATHNAME', 'neardup_signature_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_send(simhash) IS
	'I/O';

CREATE FUNCTION simhash_typmod_in(pg_catalog.cstring[]) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_simhash_typmod_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typmod_in(pg_catalog.cstring[]) IS
	'I/O typmod';

CREATE FUNCTION simhash_typmod_out(int) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_simhash_typmod_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typmod_out(int) IS
	'I/O typmod';

CREATE FUNCTION simhash_typanalyze(pg_catalog.internal) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_typanalyze'
	LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typanalyze(pg_catalog.internal) IS
	'simhash typanalyze';

CREATE TYPE simhash (
	INPUT = simhash_in,
	OUTPUT = simhash_out,
	RECEIVE = simhash_recv,
	SEND = simhash_send,
	TYPMOD_IN = simhash_typmod_in,
	TYPMOD_OUT = simhash_typmod_out,
	ANALYZE = simhash_typanalyze,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE simhash IS
	'fingerprint of a weighted set: f bits, simhash(f); estimates the angle';

CREATE FUNCTION simhash_apply_typmod(simhash, int) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_signature_apply_typmod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_apply_typmod(simhash, int) IS
	'check that a simhash has the shape of the column';

CREATE CAST (simhash AS simhash) WITH FUNCTION simhash_apply_typmod(simhash, int) AS IMPLICIT;
COMMENT ON CAST (simhash AS simhash) IS
	'check that a simhash has the shape of the column';

-- ---- Constructors -----------------------------------------------------------

CREATE FUNCTION to_simhash(
	pg_catalog.text, f int DEFAULT 64, scheme pg_catalog.text DEFAULT 'word 1') RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_scheme'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(pg_catalog.text, int, pg_catalog.text) IS
	'fingerprint of the shingles of a text under a scheme, weighted by frequency: f bits';

-- The argument has no name, or to_simhash(body, scheme => ...) would be ambiguous.
CREATE FUNCTION to_simhash(pg_catalog.text, pg_catalog.text) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_scheme'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(pg_catalog.text, pg_catalog.text) IS
	'fingerprint of the shingles of a text under a scheme: 64 bits';

CREATE FUNCTION to_simhash(shingles, f int DEFAULT 64) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(shingles, int) IS
	'fingerprint of a set of shingles, weighted by frequency: f bits';

-- ---- Casts ------------------------------------------------------------------

CREATE FUNCTION simhash_of_bytea(pg_catalog.bytea) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_of_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_of_bytea(pg_catalog.bytea) IS
	'implementation of a cast';

CREATE CAST (pg_catalog.bytea AS simhash) WITH FUNCTION simhash_of_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS simhash) IS
	'a value in binary format, as clients send it';

CREATE CAST (simhash AS pg_catalog.bytea) WITH FUNCTION simhash_send(simhash);
COMMENT ON CAST (simhash AS pg_catalog.bytea) IS
	'the binary format';

CREATE FUNCTION simhash_of_bit(bit) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_of_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_of_bit(bit) IS
	'implementation of a cast';

CREATE CAST (bit AS simhash) WITH FUNCTION simhash_of_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS simhash) IS
	'a fingerprint made elsewhere';

CREATE FUNCTION simhash_to_bit(simhash, int) RETURNS bit
	AS 'MODULE_PATHNAME', 'neardup_signature_to_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_bit(simhash, int) IS
	'implementation of a cast';

CREATE CAST (simhash AS bit) WITH FUNCTION simhash_to_bit(simhash, int) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bit) IS
	'the bits';

CREATE FUNCTION simhash_of_bigint(bigint) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_of_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_of_bigint(bigint) IS
	'implementation of a cast';

CREATE CAST (bigint AS simhash) WITH FUNCTION simhash_of_bigint(bigint) AS ASSIGNMENT;
COMMENT ON CAST (bigint AS simhash) IS
	'a fingerprint of 64 bits made elsewhere';

CREATE FUNCTION simhash_to_bigint(simhash) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_simhash_to_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_bigint(simhash) IS
	'implementation of a cast';

CREATE CAST (simhash AS bigint) WITH FUNCTION simhash_to_bigint(simhash) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bigint) IS
	'the bits, if there are 64; the first is the sign';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION simhash_eq(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_eq'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_eq(simhash, simhash) IS
	'implementation of = operator';

CREATE FUNCTION simhash_ne(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ne'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ne(simhash, simhash) IS
	'implementation of <> operator';

CREATE FUNCTION simhash_lt(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_lt'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_lt(simhash, simhash) IS
	'implementation of < operator';

CREATE FUNCTION simhash_le(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_le'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_le(simhash, simhash) IS
	'implementation of <= operator';

CREATE FUNCTION simhash_gt(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_gt'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gt(simhash, simhash) IS
	'implementation of > operator';

CREATE FUNCTION simhash_ge(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ge'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ge(simhash, simhash) IS
	'implementation of >= operator';

CREATE FUNCTION simhash_cmp(simhash, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cmp(simhash, simhash) IS
	'less-equal-greater';

CREATE FUNCTION simhash_hash(simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash(simhash) IS
	'hash';

CREATE FUNCTION simhash_hash_extended(simhash, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash_extended(simhash, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash, simhash) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR <> (simhash, simhash) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash, simhash) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash, simhash) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash, simhash) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash, simhash) IS 'greater than or equal';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_cmp(simhash, simhash);
COMMENT ON OPERATOR CLASS simhash_ops USING btree IS 'total order of all simhash values';
COMMENT ON OPERATOR FAMILY simhash_ops USING btree IS 'total order of all simhash values';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_hash(simhash),
	FUNCTION 2 simhash_hash_extended(simhash, bigint);
COMMENT ON OPERATOR CLASS simhash_ops USING hash IS 'equality of simhash values';
COMMENT ON OPERATOR FAMILY simhash_ops USING hash IS 'equality of simhash values';
