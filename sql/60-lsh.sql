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
	AS 'MODULE_PATHNAME', 'neardup_lsh_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
	'probability that a pair of the given similarity shares a band';

CREATE FUNCTION lsh_curve(
	bands int, rows int,
	OUT similarity float8, OUT probability float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_lsh_curve'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 21;
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for the similarities 0, 0.05, ..., 1';

CREATE FUNCTION lsh_parameters(
	threshold float8, k int, recall float8,
	OUT bands int, OUT rows int, OUT probability float8) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(float8, int, float8) IS
	'the longest bands of k symbols that find a pair whose similarity is the threshold with at least this recall';

CREATE FUNCTION lsh_parameters(
	threshold float8, k int, recall float8, b int,
	OUT bands int, OUT rows int, OUT probability float8) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(float8, int, float8, int) IS
	'the longest bands of k symbols of b bits that find a pair whose resemblance is the threshold with at least this recall';
