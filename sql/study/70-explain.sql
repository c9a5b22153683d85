-- The plan of a search, with its estimated and actual cost.  The function checks the rights of
-- the caller on the table itself, and returns a row for each segment, and one for the tails.

CREATE FUNCTION neardup_explain(index pg_catalog.regclass, ball ball,
		OUT segment int, OUT documents bigint,
		OUT method pg_catalog.text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings pg_catalog.float8, OUT planned_candidates pg_catalog.float8, OUT planned_us pg_catalog.float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us pg_catalog.float8,
		OUT matches bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(pg_catalog.regclass, ball) IS
	'how a neardup index is searched for a ball: plan, estimated cost and actual cost of each segment';
