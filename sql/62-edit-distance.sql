-- Edit distance and longest common substring of two texts.

CREATE FUNCTION edit_distance(a pg_catalog.text, b pg_catalog.text, max int DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION edit_distance(pg_catalog.text, pg_catalog.text, int) IS
	'least number of insertions, deletions and substitutions of characters that turn the first text into the second; max + 1 if it is above max';

CREATE FUNCTION longest_common_substring(a pg_catalog.text, b pg_catalog.text) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_longest_common_substring'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION longest_common_substring(pg_catalog.text, pg_catalog.text) IS
	'the longest run of characters that occurs in both texts; of several, the first in the first text';
