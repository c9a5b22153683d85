-- Samples of sets.

CREATE FUNCTION shingles_mod(shingles, m int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_mod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_mod(shingles, int) IS
	'about one in m of the shingles, the same ones for every set';
