-- Texts that are alike but for their codes and measures.

CREATE FUNCTION is_variant(a pg_catalog.text, b pg_catalog.text, version int DEFAULT 2) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_variant'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION is_variant(pg_catalog.text, pg_catalog.text, int) IS
	'has each of two texts a code (of letters and digits), or a number of a unit, that the other has not?';
