-- Rejecting near-duplicates row by row.

CREATE FUNCTION neardup_reject() RETURNS trigger
	AS 'MODULE_PATHNAME', 'neardup_reject'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_reject() IS
	'trigger (column, threshold, options): rejects, reports or records a row whose signature is similar to that of another row';

CREATE FUNCTION neardup_guard(
	guarded regclass,
	signature name,
	threshold double precision DEFAULT NULL,
	action text DEFAULT 'reject',
	group_column name DEFAULT NULL,
	key name DEFAULT NULL,
	within name[] DEFAULT '{}',
	where_index name DEFAULT NULL,
	log regclass DEFAULT NULL,
	verdicts regclass DEFAULT NULL,
	lock boolean DEFAULT true,
	show name[] DEFAULT '{}',
	detail text DEFAULT 'text',
	message text DEFAULT NULL,
	hint text DEFAULT NULL,
	name name DEFAULT NULL,
	trust boolean DEFAULT false
) RETURNS name
	AS 'MODULE_PATHNAME', 'neardup_guard'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard(regclass, name, double precision, text, name, name, name[], name, regclass, regclass, boolean, name[], text, text, text, name, boolean) IS
	'makes and checks a trigger that rejects, reports, records or groups rows that are similar to others; returns its name';

CREATE FUNCTION neardup_require_trust(relation regclass, trust boolean DEFAULT false, changes boolean DEFAULT true) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_require_trust'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_require_trust(regclass, boolean, boolean) IS
	'raises an error if a superuser would run code of a table that a role without superuser owns';

CREATE FUNCTION neardup_guard_counts(
	OUT trigger oid, OUT passed bigint, OUT refused bigint, OUT reported bigint, OUT grouped bigint,
	OUT last_passed timestamptz, OUT last_refused timestamptz, OUT last_reported timestamptz, OUT last_grouped timestamptz
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_guard_counts'
	LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_guard_counts() IS 'what the triggers of this database did since the server started';

CREATE VIEW neardup_guards AS
SELECT t.tgrelid::regclass AS guarded, t.tgname AS name,
	regexp_replace(pg_get_triggerdef(t.oid), '^.*? EXECUTE (FUNCTION|PROCEDURE) ', '') AS rule, t.tgenabled AS enabled,
	coalesce(c.passed, 0) AS passed, coalesce(c.refused, 0) AS refused, coalesce(c.reported, 0) AS reported, coalesce(c.grouped, 0) AS grouped,
	c.last_passed, c.last_refused, c.last_reported, c.last_grouped
FROM pg_trigger AS t LEFT JOIN neardup_guard_counts() AS c ON c.trigger = t.oid
WHERE t.tgfoid = 'neardup_reject'::regproc AND t.tgparentid = 0
	AND t.tgtype & 1 <> 0 AND t.tgtype & 8 = 0; -- for each row, and not on deletion
COMMENT ON VIEW neardup_guards IS 'the triggers of neardup_reject(), and what they did since the server started';
GRANT SELECT ON neardup_guards TO PUBLIC;
