-- Texts that are alike but for their codes.

CREATE FUNCTION is_variant(a pg_catalog.text, b pg_catalog.text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_variant'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION is_variant(pg_catalog.text, pg_catalog.text) IS
	'has each of two texts a code (a word of letters and digits, at least four) that the other has not?';
