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
	name name DEFAULT NULL
) RETURNS name
	AS 'MODULE_PATHNAME', 'neardup_guard'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_guard(regclass, name, double precision, text, name, name, name[], name, regclass, regclass, boolean, name[], text, text, text, name) IS
	'makes and checks a trigger that rejects, reports, records or groups rows that are similar to others; returns its name';
