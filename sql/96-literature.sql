-- Methods of the literature, which nothing else here uses.

-- ---- Sketches of sets -----------------------------------------------------------

CREATE FUNCTION bottom_resemblance(shingles, shingles, n int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_bottom_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bottom_resemblance(shingles, shingles, int) IS
	'estimated resemblance of two sets from their shingles_bottom() of n or more, 0 to 1';

CREATE FUNCTION shingles_minima(shingles, m int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingles_minima'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingles_minima(shingles, int) IS
	'the least value under each of m independent permutations';

CREATE FUNCTION sketch_resemblance(bigint[], bigint[]) RETURNS float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN cardinality($1) > 0 AND cardinality($2) > 0 AND cardinality($1) <> cardinality($2)
		THEN format('not sketches of one size: %s and %s values', cardinality($1), cardinality($2))::float8
		ELSE coalesce(avg((x = y)::int), 0) END
	FROM unnest($1, $2) u(x, y)
	$$;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
	'share of the positions at which two sketches have the same value, 0 to 1';

CREATE FUNCTION permutation_sketch(elements int[], permutations int[][]) RETURNS int[]
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN EXISTS (
			SELECT FROM generate_subscripts(permutations, 1) i, generate_subscripts(permutations, 2) j
			GROUP BY i
			HAVING count(DISTINCT permutations[i][j]) < size
				OR min(permutations[i][j]) < 1 OR max(permutations[i][j]) > size)
		THEN ARRAY[('not permutations of 1 to ' || size || ': ' || permutations::text)::int]
		WHEN EXISTS (SELECT FROM unnest(elements) e WHERE (e BETWEEN 1 AND size) IS NOT TRUE)
		THEN ARRAY[('not elements from 1 to ' || size || ': ' || elements::text)::int]
		ELSE ARRAY(
			SELECT min(permutations[i][e])
			FROM generate_subscripts(permutations, 1) i, unnest(elements) e
			GROUP BY i ORDER BY i) END
	FROM coalesce(array_length(permutations, 2), 0) size
	$$;
COMMENT ON FUNCTION permutation_sketch(int[], int[][]) IS
	'the least position of any element under each permutation; row i has the positions of 1, 2, 3, ... under permutation i';

CREATE FUNCTION supershingles(shingles, width int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_supershingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION supershingles(shingles, int) IS
	'a hash of each run of the given number of neighbours among the sorted shingles';

CREATE FUNCTION bucket_sketch(shingles, n int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_bucket_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bucket_sketch(shingles, int) IS
	'the least shingle in each of n buckets';

-- ---- Document frequencies, I-Match and TF-IDF -----------------------------------

CREATE FUNCTION neardup_frequencies(
	query text,
	OUT shingle bigint, OUT df bigint, OUT idf float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_frequencies'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION neardup_frequencies(text) IS
	'how many of the N sets that a query returns contain each shingle, and its idf = ln(N / df) / ln(N), 0 to 1';

CREATE FUNCTION neardup_idf_filter(shingles, frequencies regclass, low float8, high float8) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_idf_filter'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION neardup_idf_filter(shingles, regclass, float8, float8) IS
	'the shingles whose idf in a table (shingle, idf) is from low to high';

CREATE FUNCTION neardup_tfidf_cosine(shingles, shingles, frequencies regclass) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_tfidf_cosine'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION neardup_tfidf_cosine(shingles, shingles, regclass) IS
	'cosine of two vectors of frequency times idf, from a table (shingle, idf), 0 to 1';

CREATE FUNCTION imatch(shingles) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_imatch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION imatch(shingles) IS
	'128-bit digest of the distinct shingles, equal for equal sets; NULL for the empty set';

-- ---- Bands and their S-curve ----------------------------------------------------

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
		THEN format('less than 1: bands %s, rows %s', bands, rows)::float8
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
		ELSE format('less than 1: bands %s, rows %s', bands, rows)::float8 END
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
