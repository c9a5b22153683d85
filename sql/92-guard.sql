-- Guards, which look at each row that is written.

CREATE FUNCTION neardup_guard_row() RETURNS pg_catalog.trigger
	AS 'MODULE_PATHNAME', 'neardup_guard_row'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard_row() IS
	'trigger of a guard, which neardup_guard() makes: refuses, reports, records, skips or groups a row that is similar to another row';

CREATE FUNCTION neardup_guard(
	guarded pg_catalog.regclass,
	signature pg_catalog.text DEFAULT NULL,
	threshold double precision DEFAULT NULL,
	action pg_catalog.text DEFAULT NULL,
	within pg_catalog.text DEFAULT NULL,
	unknown pg_catalog.text DEFAULT NULL,
	condition pg_catalog.text DEFAULT NULL,
	against pg_catalog.text DEFAULT NULL,
	measure pg_catalog.text DEFAULT NULL,
	log_table pg_catalog.text DEFAULT NULL,
	group_column pg_catalog.text DEFAULT NULL,
	unless pg_catalog.text DEFAULT NULL,
	verdicts pg_catalog.text DEFAULT NULL,
	show pg_catalog.text DEFAULT NULL,
	name pg_catalog.name DEFAULT NULL
) RETURNS pg_catalog.name
	AS 'MODULE_PATHNAME', 'neardup_guard'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard(pg_catalog.regclass, pg_catalog.text, double precision, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.name) IS
	'makes or changes a guard: a trigger that refuses, reports, records, skips or groups rows that are similar to others; returns its name';

CREATE FUNCTION neardup_guard_violations(guarded pg_catalog.regclass)
	RETURNS TABLE (guard pg_catalog.name, problem pg_catalog.text, row_key pg_catalog.text, resembles pg_catalog.text, similarity double precision)
	AS 'MODULE_PATHNAME', 'neardup_guard_violations'
	LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_guard_violations(pg_catalog.regclass) IS
	'rows that are there although the guards of a table would not have let them in, or would have placed them in other groups';

CREATE FUNCTION neardup_require_trust(relation pg_catalog.regclass, trust boolean DEFAULT false, changes boolean DEFAULT true) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_require_trust'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_require_trust(pg_catalog.regclass, boolean, boolean) IS
	'raises an error for a superuser if a role without superuser owns a table or what its changes reach';

CREATE VIEW neardup_guards AS
SELECT t.tgrelid::pg_catalog.regclass AS guarded, t.tgname AS name,
	pg_catalog.regexp_replace(pg_catalog.pg_get_triggerdef(t.oid), '^.*? EXECUTE (FUNCTION|PROCEDURE) ', '') AS rule, t.tgenabled AS enabled
FROM pg_catalog.pg_trigger AS t
WHERE t.tgfoid OPERATOR(pg_catalog.=) '@extschema@.neardup_guard_row'::pg_catalog.regproc AND t.tgparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
	-- One of the triggers of each guard: for each row, not on deletions, and not only before inserts.
	AND (t.tgtype OPERATOR(pg_catalog.&) 9::smallint) OPERATOR(pg_catalog.=) 1::smallint
	AND (t.tgtype OPERATOR(pg_catalog.&) 18::smallint) OPERATOR(pg_catalog.<>) 2::smallint;
COMMENT ON VIEW neardup_guards IS 'the guards of all tables';
GRANT SELECT ON neardup_guards TO PUBLIC;
