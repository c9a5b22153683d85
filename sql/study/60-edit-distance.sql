-- Edit distances with costs, and of tokens.

CREATE FUNCTION weighted_edit_distance(
	a pg_catalog.text, b pg_catalog.text, max int DEFAULT NULL,
	insertion int DEFAULT 1, deletion int DEFAULT 1, substitution int DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION weighted_edit_distance(pg_catalog.text, pg_catalog.text, int, int, int, int) IS
	'least cost of insertions, deletions and substitutions of characters that turn the first text into the second; max + 1 if it is above max';

CREATE FUNCTION token_edit_distance(
	a pg_catalog.text, b pg_catalog.text, max int DEFAULT NULL,
	insertion int DEFAULT 1, deletion int DEFAULT 1, substitution int DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_token_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION token_edit_distance(pg_catalog.text, pg_catalog.text, int, int, int, int) IS
	'edit distance that counts normalised tokens instead of characters';

CREATE FUNCTION longest_common_substring(a pg_catalog.text, b pg_catalog.text) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_longest_common_substring'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION longest_common_substring(pg_catalog.text, pg_catalog.text) IS
	'the longest run of characters that occurs in both texts; of several, the first in the first text';
