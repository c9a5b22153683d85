-- Samples and sketches of sets, as the literature has them.

CREATE FUNCTION shingles_mod(shingles, m int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_mod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_mod(shingles, int) IS
	'about one in m of the shingles, the same ones of every set: keeps resemblance and containment estimable';

CREATE FUNCTION shingles_bottom(shingles, n int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_bottom'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION shingles_bottom(shingles, int) IS
	'the n shingles that come first in a random order, the same for every set: for bottom_resemblance';

CREATE FUNCTION bottom_resemblance(shingles, shingles, n int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_bottom_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bottom_resemblance(shingles, shingles, int) IS
	'the resemblance of two sets, estimated from their shingles_bottom of n or more, 0 to 1';

CREATE FUNCTION shingles_minima(shingles, m int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingles_minima'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingles_minima(shingles, int) IS
	'the least value under each of m independent permutations: the textbook''s minhash, for sketch_resemblance';

CREATE FUNCTION sketch_resemblance(bigint[], bigint[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_sketch_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
	'share of the places where two sketches have the same value, 0 to 1';

CREATE FUNCTION permutation_sketch(elements int[], permutations int[][]) RETURNS int[]
	AS 'MODULE_PATHNAME', 'neardup_permutation_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION permutation_sketch(int[], int[][]) IS
	'the least place of any element under each permutation written out: row i says where permutation i sends 1, 2, 3, ...';

CREATE FUNCTION supershingles(shingles, width int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_supershingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION supershingles(shingles, int) IS
	'a hash of each run of so many neighbours among the sorted shingles: shingles of shingles';

CREATE FUNCTION bucket_sketch(shingles, n int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_bucket_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bucket_sketch(shingles, int) IS
	'the shingles, thrown into n buckets, of which each keeps its least';
