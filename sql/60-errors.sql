-- The standard errors of what signatures estimate.

CREATE FUNCTION minhash_error(k int, b int, similarity pg_catalog.float8) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_error(int, int, pg_catalog.float8) IS
	'standard error of the similarity that minhash(k, b) estimates for sets of the given similarity';

CREATE FUNCTION containment_error(k int, b int, containment pg_catalog.float8, ratio pg_catalog.float8) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_containment_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment_error(int, int, pg_catalog.float8, pg_catalog.float8) IS
	'standard error of the containment that minhash(k, b) estimates for a set of the given containment in one that is ratio times as large';

CREATE FUNCTION minhash_probability(k int, b int, similarity pg_catalog.float8, threshold pg_catalog.float8) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_probability(int, int, pg_catalog.float8, pg_catalog.float8) IS
	'probability that minhash(k, b) estimates at least the threshold for sets of the given similarity';
