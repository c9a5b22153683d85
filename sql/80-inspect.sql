-- Inspecting an index: its size, its soundness, and the plan of a search.
-- These functions check the rights of the caller on the table themselves.

-- All indexes of the database.  Returns no row for an index that the caller may not inspect.

CREATE FUNCTION neardup_index_status(index regclass,
		OUT shape text, OUT bytes bigint, OUT segments int, OUT documents bigint, OUT dead bigint,
		OUT tail bigint, OUT last_upkeep timestamptz, OUT advice text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_index_status'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION neardup_index_status(regclass) IS
	'the row of neardup_indexes for an index; no row without the privilege to inspect it';

-- The cast keeps the schema's own functions out, such as one that takes an oid.
CREATE VIEW neardup_indexes AS
	SELECT x.indrelid::pg_catalog.regclass AS table_name, x.indexrelid::pg_catalog.regclass AS index_name, s.shape, s.bytes, s.segments,
		s.documents, s.dead, s.tail, s.last_upkeep, s.advice
	FROM pg_catalog.pg_am a
		JOIN pg_catalog.pg_class c ON c.relam = a.oid AND c.relkind = 'i'
		JOIN pg_catalog.pg_index x ON x.indexrelid = c.oid,
		neardup_index_status(c.oid::pg_catalog.regclass) s
	WHERE a.amname = 'neardup' AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace);
COMMENT ON VIEW neardup_indexes IS
	'the neardup indexes of the database that the current role may inspect: contents, last upkeep, advice';

CREATE FUNCTION neardup_check(index regclass) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_check'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_check(regclass) IS
	'verify a neardup index and compare it with its table; raises an error at the first defect, otherwise returns counts';

-- Returns a row for each segment, and one for the tails.

CREATE FUNCTION neardup_explain(index regclass, ball ball,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, ball) IS
	'how a neardup index is searched for a ball: plan, estimated cost and actual cost of each segment';

GRANT SELECT ON neardup_indexes TO PUBLIC;
