-- Edit distance of two texts.

CREATE FUNCTION edit_distance(a pg_catalog.text, b pg_catalog.text, max int DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION edit_distance(pg_catalog.text, pg_catalog.text, int) IS
	'least number of insertions, deletions and substitutions of characters that turn the first text into the second; max + 1 if it is above max';
