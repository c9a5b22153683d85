-- The standard error, bands of symbols, and their S-curve.

CREATE FUNCTION minhash_error(k int, b int, similarity float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_error(int, int, float8) IS
	'standard error of the similarity that minhash(k, b) estimates for sets of the given similarity';

CREATE FUNCTION containment_error(k int, b int, containment float8, ratio float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_containment_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment_error(int, int, float8, float8) IS
	'standard error of the containment that minhash(k, b) estimates for a set of the given containment in one that is ratio times as large';

CREATE FUNCTION minhash_probability(k int, b int, similarity float8, threshold float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_probability(int, int, float8, float8) IS
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

CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN NOT similarity BETWEEN 0 AND 1
		THEN ('not a similarity from 0 to 1: ' || similarity)::float8
		WHEN bands < 1 OR rows < 1
		THEN format('not a number from 1 on: bands %s, rows %s', bands, rows)::float8
		ELSE 1 - (1 - similarity ^ rows) ^ bands END
	$$;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
	'probability that a pair of the given similarity shares a band';

CREATE FUNCTION lsh_curve(
	bands int, rows int,
	OUT similarity float8, OUT probability float8) RETURNS SETOF record
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE ROWS 21 SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT i / 20.0::float8, CASE WHEN bands > 0 AND rows > 0
		THEN 1 - (1 - (i / 20.0::float8) ^ rows) ^ bands
		ELSE format('not a number from 1 on: bands %s, rows %s', bands, rows)::float8 END
	FROM generate_series(0, 20) i
	$$;
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for the similarities 0, 0.05, ..., 1';

CREATE FUNCTION lsh_parameters(
	threshold float8, k int, recall float8, b int DEFAULT 1,
	OUT bands int, OUT rows int, OUT probability float8) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(float8, int, float8, int) IS
	'the longest bands of k symbols of b bits that find a pair whose resemblance is the threshold with at least this recall';
