-- Standard error, bands of symbols, and the S-curve that they give.

CREATE FUNCTION minhash_error(k int, b int, similarity float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_error(int, int, float8) IS
	'standard error of the similarity that minhash(k, b) estimates, where the true one is given';

CREATE FUNCTION minhash_bands(minhash, rows int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_signature_bands'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(minhash, int) IS
	'a key for each band of so many symbols; equal keys make a join';

CREATE FUNCTION simhash_bands(simhash, rows int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_signature_bands'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bands(simhash, int) IS
	'a key for each band of so many bits; equal keys make a join';

CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_lsh_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
	'probability that a pair of this similarity shares a band';

CREATE FUNCTION lsh_curve(
	bands int, rows int,
	OUT similarity float8, OUT probability float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_lsh_curve'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 21;
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for similarities 0, 0.05 to 1';

CREATE FUNCTION lsh_parameters(
	threshold float8, k int, recall float8,
	OUT bands int, OUT rows int, OUT probability float8) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(float8, int, float8) IS
	'the longest bands of k symbols that find a pair of the threshold with this probability';
