-- Rejecting near-duplicates row by row.

CREATE FUNCTION neardup_reject() RETURNS pg_catalog.trigger
	AS 'MODULE_PATHNAME', 'neardup_reject'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_reject() IS
	'trigger (column, threshold, options): rejects, reports or records a row whose signature is similar to that of another row';

CREATE FUNCTION neardup_guard(
	guarded pg_catalog.regclass,
	signature pg_catalog.name,
	threshold double precision DEFAULT NULL,
	action pg_catalog.text DEFAULT 'reject',
	group_column pg_catalog.name DEFAULT NULL,
	key pg_catalog.name DEFAULT NULL,
	within pg_catalog.name[] DEFAULT '{}',
	where_index pg_catalog.name DEFAULT NULL,
	log pg_catalog.regclass DEFAULT NULL,
	verdicts pg_catalog.regclass DEFAULT NULL,
	lock boolean DEFAULT true,
	show pg_catalog.name[] DEFAULT '{}',
	detail pg_catalog.text DEFAULT 'text',
	message pg_catalog.text DEFAULT NULL,
	hint pg_catalog.text DEFAULT NULL,
	name pg_catalog.name DEFAULT NULL,
	trust boolean DEFAULT false
) RETURNS pg_catalog.name
	AS 'MODULE_PATHNAME', 'neardup_guard'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard(pg_catalog.regclass, pg_catalog.name, double precision, pg_catalog.text, pg_catalog.name, pg_catalog.name, pg_catalog.name[], pg_catalog.name, pg_catalog.regclass, pg_catalog.regclass, boolean, pg_catalog.name[], pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.name, boolean) IS
	'makes and checks a trigger that rejects, reports, records or groups rows that are similar to others; returns its name';

CREATE FUNCTION neardup_require_trust(relation pg_catalog.regclass, trust boolean DEFAULT false, changes boolean DEFAULT true) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_require_trust'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_require_trust(pg_catalog.regclass, boolean, boolean) IS
	'raises an error if a superuser would run code of a table that a role without superuser owns';

CREATE FUNCTION neardup_guard_counts(
	OUT trigger pg_catalog.oid, OUT passed bigint, OUT refused bigint, OUT reported bigint, OUT grouped bigint,
	OUT last_passed pg_catalog.timestamptz, OUT last_refused pg_catalog.timestamptz, OUT last_reported pg_catalog.timestamptz, OUT last_grouped pg_catalog.timestamptz
) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_guard_counts'
	LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_guard_counts() IS 'what the triggers of this database did since the server started';

CREATE VIEW neardup_guards AS
SELECT t.tgrelid::pg_catalog.regclass AS guarded, t.tgname AS name,
	pg_catalog.regexp_replace(pg_catalog.pg_get_triggerdef(t.oid), '^.*? EXECUTE (FUNCTION|PROCEDURE) ', '') AS rule, t.tgenabled AS enabled,
	coalesce(c.passed, 0) AS passed, coalesce(c.refused, 0) AS refused, coalesce(c.reported, 0) AS reported, coalesce(c.grouped, 0) AS grouped,
	c.last_passed, c.last_refused, c.last_reported, c.last_grouped
FROM pg_catalog.pg_trigger AS t LEFT JOIN @extschema@.neardup_guard_counts() AS c ON c.trigger OPERATOR(pg_catalog.=) t.oid
WHERE t.tgfoid OPERATOR(pg_catalog.=) '@extschema@.neardup_reject'::pg_catalog.regproc AND t.tgparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
	-- For each row, and not on deletion.
	AND (t.tgtype OPERATOR(pg_catalog.&) 1::smallint) OPERATOR(pg_catalog.<>) 0 AND (t.tgtype OPERATOR(pg_catalog.&) 8::smallint) OPERATOR(pg_catalog.=) 0;
COMMENT ON VIEW neardup_guards IS 'the triggers of neardup_reject(), and what they did since the server started';
GRANT SELECT ON neardup_guards TO PUBLIC;
