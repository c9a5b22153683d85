-- Forms: the shingles that many documents share.

CREATE FUNCTION neardup_common_shingles(query pg_catalog.text, share pg_catalog.float8 DEFAULT 0.05, scheme pg_catalog.text DEFAULT 'word 3',
		sample int DEFAULT 10000) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_common_shingles'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION neardup_common_shingles(pg_catalog.text, pg_catalog.float8, pg_catalog.text, int) IS
	'the shingles that a share of the texts or sets of a query have, such as those of a form, from a sample of rows';
