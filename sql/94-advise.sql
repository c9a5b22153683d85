-- Advice about schemes and thresholds, from a sample of texts.

CREATE FUNCTION neardup_advise(query text, scheme text DEFAULT NULL, sample int DEFAULT 2000,
		OUT topic text, OUT finding text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_advise'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 30;
COMMENT ON FUNCTION neardup_advise(text, text, int) IS
	'what a sample of the texts that a query returns says about schemes and thresholds for them';
