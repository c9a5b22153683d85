-- Samples and sketches of sets, as in the literature.

CREATE FUNCTION shingles_mod(shingles, m int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_mod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_mod(shingles, int) IS
	'about one in m of the shingles, the same ones for every set';

CREATE FUNCTION shingles_bottom(shingles, n int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_bottom'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION shingles_bottom(shingles, int) IS
	'the n shingles that come first in a random order, the same for every set';

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

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[]) RETURNS float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN cardinality(a) > 0 AND cardinality(b) > 0 AND cardinality(a) <> cardinality(b)
		THEN format('not sketches of one size: %s and %s values', cardinality(a), cardinality(b))::float8
		ELSE coalesce(avg((x = y)::int), 0) END
	FROM unnest(a, b) u(x, y)
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
