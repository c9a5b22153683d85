-- Similarity and distance of two signatures.

-- ---- Planner ----------------------------------------------------------------

CREATE FUNCTION neardup_support(pg_catalog.internal) RETURNS pg_catalog.internal
	AS 'MODULE_PATHNAME', 'neardup_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_support(pg_catalog.internal) IS
	'planner support for is_similar, is_contained and is_within';

-- ---- shingles ---------------------------------------------------------------

CREATE FUNCTION is_similar(shingles, shingles, threshold pg_catalog.float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_similar_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_similar(shingles, shingles, pg_catalog.float8) IS
	'is the similarity of two sets at least the threshold?';

CREATE FUNCTION is_contained(shingles, shingles, threshold pg_catalog.float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_contained'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_contained(shingles, shingles, pg_catalog.float8) IS
	'is the share of the first set that is in the second at least the threshold?';

-- ---- minhash ----------------------------------------------------------------

CREATE FUNCTION similarity(minhash, minhash) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION similarity(minhash, minhash) IS
	'estimated resemblance (Jaccard similarity) of two sets, 0 to 1';

CREATE FUNCTION containment(minhash, minhash) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_containment_minhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment(minhash, minhash) IS
	'estimated share of the first set that is in the second, 0 to 1; containment_error() is its standard error';

CREATE FUNCTION is_comparable(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_comparable'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_comparable(minhash, minhash) IS
	'do two signatures have the same shape, scheme and recipe version?';

CREATE FUNCTION is_similar(minhash, minhash, threshold pg_catalog.float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_similar'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_similar(minhash, minhash, pg_catalog.float8) IS
	'is the similarity of two sets at least the threshold?';

CREATE FUNCTION hamming_distance(minhash, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_hamming_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_distance(minhash, minhash) IS
	'number of symbols that differ';

CREATE FUNCTION is_within(minhash, minhash, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_within'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_within(minhash, minhash, int) IS
	'is the number of differing symbols at most the distance?';

CREATE OPERATOR <~> (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (minhash, minhash) IS 'number of symbols that differ';

CREATE FUNCTION minhash_distance(minhash, minhash) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_signature_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_distance(minhash, minhash) IS
	'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (minhash, minhash) IS 'distance: 1 - similarity';

-- ---- simhash ----------------------------------------------------------------

CREATE FUNCTION similarity(simhash, simhash) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION similarity(simhash, simhash) IS
	'share of the bits in which two fingerprints agree, 0 to 1';

CREATE FUNCTION is_comparable(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_comparable'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_comparable(simhash, simhash) IS
	'do two signatures have the same shape, scheme and recipe version?';

CREATE FUNCTION is_similar(simhash, simhash, threshold pg_catalog.float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_similar'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_similar(simhash, simhash, pg_catalog.float8) IS
	'is the similarity of two fingerprints at least the threshold?';

CREATE FUNCTION hamming_distance(simhash, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_hamming_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_distance(simhash, simhash) IS
	'number of bits that differ';

CREATE FUNCTION is_within(simhash, simhash, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_within'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_within(simhash, simhash, int) IS
	'is the number of differing bits at most the distance?';

CREATE OPERATOR <~> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (simhash, simhash) IS 'number of bits that differ';

CREATE FUNCTION simhash_distance(simhash, simhash) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_signature_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_distance(simhash, simhash) IS
	'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (simhash, simhash) IS 'distance: 1 - similarity';

-- ---- bit and bigint: hashes made elsewhere ----------------------------------

CREATE FUNCTION is_within(bit, bit, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_within_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_within(bit, bit, int) IS
	'is the number of differing bits at most the distance?';

CREATE FUNCTION is_within(bigint, bigint, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_within_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_within(bigint, bigint, int) IS
	'is the number of differing bits at most the distance?';
