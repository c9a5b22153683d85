-- The S-curve of bands, and the probability of an estimate.

CREATE FUNCTION lsh_probability(similarity pg_catalog.float8, bands int, rows int) RETURNS pg_catalog.float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	RETURN CASE WHEN NOT (similarity OPERATOR(pg_catalog.>=) 0 AND similarity OPERATOR(pg_catalog.<=) 1)
		THEN pg_catalog.format('not a similarity from 0 to 1: %s', similarity)::pg_catalog.float8
		WHEN bands OPERATOR(pg_catalog.<) 1 OR rows OPERATOR(pg_catalog.<) 1
		THEN pg_catalog.format('less than 1: bands %s, rows %s', bands, rows)::pg_catalog.float8
		ELSE 1 OPERATOR(pg_catalog.-) ((1 OPERATOR(pg_catalog.-) (similarity OPERATOR(pg_catalog.^) rows)) OPERATOR(pg_catalog.^) bands) END;
COMMENT ON FUNCTION lsh_probability(pg_catalog.float8, int, int) IS
	'probability that a pair of the given similarity shares a band';

CREATE FUNCTION lsh_curve(
	bands int, rows int,
	OUT similarity pg_catalog.float8, OUT probability pg_catalog.float8) RETURNS SETOF pg_catalog.record
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE ROWS 21
	BEGIN ATOMIC
	SELECT s, @extschema@.lsh_probability(s, bands, rows)
	FROM pg_catalog.generate_series(0, 20) AS i, LATERAL (SELECT i OPERATOR(pg_catalog./) 20.0::pg_catalog.float8) AS of_pairs (s);
	END;
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for the similarities 0, 0.05, ..., 1';

CREATE FUNCTION lsh_parameters(
	threshold pg_catalog.float8, k int, recall pg_catalog.float8, b int DEFAULT 1,
	OUT bands int, OUT rows int, OUT probability pg_catalog.float8) RETURNS pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(pg_catalog.float8, int, pg_catalog.float8, int) IS
	'the longest bands of k symbols of b bits that find a pair whose resemblance is the threshold with at least this recall';

CREATE FUNCTION minhash_probability(k int, b int, similarity pg_catalog.float8, threshold pg_catalog.float8) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_probability(int, int, pg_catalog.float8, pg_catalog.float8) IS
	'probability that minhash(k, b) estimates at least the threshold for sets of the given similarity';

CREATE FUNCTION minhash_bands(minhash, rows int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_signature_bands'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(minhash, int) IS
	'a key for each band of the given number of symbols, to join on';

CREATE FUNCTION simhash_bands(simhash, rows int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_signature_bands'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bands(simhash, int) IS
	'a key for each band of the given number of bits, to join on';
