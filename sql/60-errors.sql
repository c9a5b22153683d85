-- The standard errors of what signatures estimate.

CREATE FUNCTION minhash_error(k int, b int, similarity pg_catalog.float8) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_error(int, int, pg_catalog.float8) IS
	'standard error of the similarity that minhash(k, b) estimates for sets of the given similarity';
