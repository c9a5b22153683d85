-- Inspecting an index: its size and its soundness.
-- These functions check the rights of the caller on the table themselves.

-- All indexes of the database.  Returns no row for an index that the caller may not inspect.

CREATE FUNCTION neardup_index_status(index pg_catalog.regclass,
		OUT shape pg_catalog.text, OUT bytes bigint, OUT segments int, OUT documents bigint, OUT dead bigint,
		OUT tail bigint, OUT last_maintenance pg_catalog.timestamptz, OUT advice pg_catalog.text) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_index_status'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION neardup_index_status(pg_catalog.regclass) IS
	'the row of neardup_indexes for an index; no row without the privilege to inspect it';

CREATE VIEW neardup_indexes AS
	SELECT x.indrelid::pg_catalog.regclass AS table_name, x.indexrelid::pg_catalog.regclass AS index_name, s.shape, s.bytes, s.segments,
		s.documents, s.dead, s.tail, s.last_maintenance, s.advice
	FROM pg_catalog.pg_am AS a
		JOIN pg_catalog.pg_class AS c ON c.relam OPERATOR(pg_catalog.=) a.oid AND c.relkind OPERATOR(pg_catalog.=) 'i'
		JOIN pg_catalog.pg_index AS x ON x.indexrelid OPERATOR(pg_catalog.=) c.oid,
		@extschema@.neardup_index_status(c.oid::pg_catalog.regclass) AS s
	WHERE a.amname OPERATOR(pg_catalog.=) 'neardup' AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace);
COMMENT ON VIEW neardup_indexes IS
	'the neardup indexes of the database that the current role may inspect: contents, last maintenance, advice';

CREATE FUNCTION neardup_check(index pg_catalog.regclass) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_check'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_check(pg_catalog.regclass) IS
	'verify a neardup index and compare it with its table; raises an error at the first defect, otherwise returns counts';

GRANT SELECT ON neardup_indexes TO PUBLIC;
