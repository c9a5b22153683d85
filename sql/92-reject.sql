-- Rejecting near-duplicates row by row.

CREATE FUNCTION neardup_reject() RETURNS trigger
	AS 'MODULE_PATHNAME', 'neardup_reject'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_reject() IS
	'trigger (column, threshold, options): rejects, reports or records a row whose signature is similar to that of another row';
