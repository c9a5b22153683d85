-- Samples of sets.

CREATE FUNCTION shingles_mod(shingles, m int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_mod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_mod(shingles, int) IS
	'about one in m of the shingles, the same ones for every set';

CREATE FUNCTION shingles_bottom(shingles, n int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_bottom'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION shingles_bottom(shingles, int) IS
	'the n shingles that come first in a random order that is the same for every set';
