-- Sketches of sets.

CREATE FUNCTION bottom_resemblance(shingles, shingles, n int) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_bottom_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bottom_resemblance(shingles, shingles, int) IS
	'estimated resemblance of two sets from their shingles_bottom() of n or more, 0 to 1';

CREATE FUNCTION shingles_minima(shingles, m int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingles_minima'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingles_minima(shingles, int) IS
	'the least value under each of m independent permutations';

CREATE FUNCTION sketch_resemblance(bigint[], bigint[]) RETURNS pg_catalog.float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.cardinality($1) OPERATOR(pg_catalog.>) 0 AND pg_catalog.cardinality($2) OPERATOR(pg_catalog.>) 0
			AND pg_catalog.cardinality($1) OPERATOR(pg_catalog.<>) pg_catalog.cardinality($2)
		THEN pg_catalog.format('not sketches of one size: %s and %s values',
			pg_catalog.cardinality($1), pg_catalog.cardinality($2))::pg_catalog.float8
		ELSE coalesce(pg_catalog.avg((x OPERATOR(pg_catalog.=) y)::int), 0) END
	FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS u (x, y);
	END;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
	'share of the positions at which two sketches have the same value, 0 to 1';

CREATE FUNCTION permutation_sketch(elements int[], permutations int[][]) RETURNS int[]
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	BEGIN ATOMIC
	SELECT CASE WHEN EXISTS (
			SELECT FROM pg_catalog.generate_subscripts(permutations, 1) AS i, pg_catalog.generate_subscripts(permutations, 2) AS j
			GROUP BY i
			HAVING pg_catalog.count(DISTINCT permutations[i][j]) OPERATOR(pg_catalog.<) size
				OR pg_catalog.min(permutations[i][j]) OPERATOR(pg_catalog.<) 1
				OR pg_catalog.max(permutations[i][j]) OPERATOR(pg_catalog.>) size)
		THEN ARRAY[pg_catalog.format('not permutations of 1 to %s: %s', size, permutations)::int]
		WHEN EXISTS (
			SELECT FROM pg_catalog.unnest(elements) AS e
			WHERE (e OPERATOR(pg_catalog.>=) 1 AND e OPERATOR(pg_catalog.<=) size) IS NOT TRUE)
		THEN ARRAY[pg_catalog.format('not elements from 1 to %s: %s', size, elements)::int]
		ELSE ARRAY(
			SELECT pg_catalog.min(permutations[i][e])
			FROM pg_catalog.generate_subscripts(permutations, 1) AS i, pg_catalog.unnest(elements) AS e
			GROUP BY i ORDER BY i) END
	FROM coalesce(pg_catalog.array_length(permutations, 2), 0) AS size;
	END;
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

CREATE FUNCTION shingles_bottom(shingles, n int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_bottom'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION shingles_bottom(shingles, int) IS
	'the n shingles that come first in a random order that is the same for every set';

CREATE FUNCTION minhash_union_step(minhash, minhash) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_union_step'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union_step(minhash, minhash) IS
	'transition and combine function of minhash_union_agg';

CREATE AGGREGATE minhash_union_agg(minhash) (
	SFUNC = @extschema@.minhash_union_step,
	STYPE = minhash,
	COMBINEFUNC = @extschema@.minhash_union_step,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS
	'sketch of the union of sets, from their sketches with symbols of 32 bits';
