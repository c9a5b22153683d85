-- neardup-references.sql: what neardup-keep-one.sql and neardup-undo.sql share: the foreign keys
-- that point to the table, and the record of what was done.  It does nothing useful alone.
--
-- Reads the variables references and record, and those of neardup-begin.sql.  It runs within the
-- transaction, when the table is locked, and sets
--   pg_temp.neardup_references   a table of the foreign keys, whose tables are then locked
--   record_table                 the name of the record, or empty

-- Beside each: what makes a referencing row r refer to a row of the table, the columns of either,
-- and whether the latter are NULL.  They are formats: %1$s stands for the row of the table.
CREATE TEMP TABLE neardup_references ON COMMIT DROP AS
WITH found AS (
	SELECT c.oid AS reference, conname AS name, conrelid AS referencing, conrelid::regclass::text AS "table",
		(SELECT array_agg(attname ORDER BY n) FROM unnest(conkey) WITH ORDINALITY k (number, n) JOIN pg_attribute ON attrelid = conrelid AND attnum = number) AS columns,
		(SELECT array_agg(attname ORDER BY n) FROM unnest(confkey) WITH ORDINALITY k (number, n) JOIN pg_attribute ON attrelid = confrelid AND attnum = number) AS referenced,
		(SELECT array_agg(format('OPERATOR(%I.%s)', nspname, oprname) ORDER BY n) FROM unnest(conpfeqop) WITH ORDINALITY o (number, n) JOIN pg_operator p ON p.oid = number JOIN pg_namespace s ON s.oid = oprnamespace) AS operators,
		coalesce((SELECT format('jsonb_build_array(%s)', string_agg(format('format(''%%s'', r.%I)', attname), ', ' ORDER BY attnum)) FROM pg_index JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (indkey)
			WHERE indrelid = conrelid AND indisprimary), 'NULL::jsonb') AS row_key
	FROM pg_constraint c
	WHERE contype = 'f' AND confrelid IN (SELECT rel FROM (:kinds) k) AND :'references' = 'move'
		AND NOT EXISTS (SELECT FROM pg_constraint p WHERE p.oid = c.conparentid AND p.confrelid IN (SELECT rel FROM (:kinds) k))
)
SELECT *,
	(SELECT string_agg(format('%%1$s.%s %s r.%s', replace(quote_ident(referenced[i]), '%', '%%'), operators[i], replace(quote_ident(columns[i]), '%', '%%')), ' AND ') FROM generate_subscripts(columns, 1) i) AS equal,
	(SELECT string_agg(format('%I', c), ', ') FROM unnest(columns) c) AS own,
	(SELECT string_agg(format('%%1$s.%s', replace(quote_ident(c), '%', '%%')), ', ') FROM unnest(referenced) c) AS others,
	(SELECT string_agg(format('%%1$s.%s IS NULL', replace(quote_ident(c), '%', '%%')), ' OR ') FROM unnest(referenced) c) AS empty
FROM found;

SELECT format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', "table") FROM pg_temp.neardup_references GROUP BY "table" ORDER BY "table"
\gexec
SELECT :ext.neardup_require_trust(referencing::regclass, :'trust'::boolean, true) FROM pg_temp.neardup_references \g /dev/null
SELECT :raise
FROM (SELECT format('references of table "%s" cannot follow: %s', "table", why) AS message, hint FROM pg_temp.neardup_references, LATERAL (
	SELECT 'row-level security may hide some of them', 'Run the script as the owner of that table, or use -v references=leave.' WHERE row_security_active(referencing)
	UNION ALL SELECT format('rule "%s" is run instead of an update', rulename), 'Change them by hand, and use -v references=leave.'
		FROM (SELECT referencing AS relid UNION SELECT relid FROM pg_partition_tree(referencing)) t JOIN pg_rewrite ON ev_class = t.relid WHERE ev_type = '2'
	UNION ALL SELECT format('column "%s" is generated', attname), 'Change what it is made of, and use -v references=leave.'
		FROM pg_attribute WHERE attrelid = referencing AND attname = ANY (columns) AND attgenerated <> ''
	UNION ALL SELECT format('"%s" is %s', rel::regclass, what), 'Name the table itself, or use -v references=leave.'
		FROM (:kinds) k WHERE relkind = 'v' OR what LIKE 'distributed by Citus%') w (why, hint)
	ORDER BY 1 LIMIT 1) e
\gexec

-- ---- The record ----

-- Its name is looked up by the caller's search path, as that of the table is.
SELECT set_config('search_path', :'old_path', true) \g /dev/null
SELECT pg_catalog.format('CREATE TABLE IF NOT EXISTS %s ("table" pg_catalog.text, id pg_catalog.text, keeper pg_catalog.text, similarity pg_catalog.float8, threshold pg_catalog.float8,
	mark pg_catalog.text, moved pg_catalog.jsonb, at pg_catalog.timestamptz, by pg_catalog.text, undone pg_catalog.timestamptz)',
	(SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.' ORDER BY place) FROM pg_catalog.unnest(pg_catalog.parse_ident(nullif(:'record', ''))) WITH ORDINALITY p (part, place)))
WHERE :'record' OPERATOR(pg_catalog.<>) '' AND pg_catalog.to_regclass(:'record') IS NULL
\gexec
SELECT coalesce(pg_catalog.to_regclass(nullif(:'record', ''))::pg_catalog.oid, 0) AS record_oid \gset
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT CASE :'record' WHEN '' THEN '' ELSE :'record_oid'::oid::regclass::text END AS record_table \gset
SELECT :ext.neardup_require_trust(:'record_oid'::oid::regclass, :'trust'::boolean, true) WHERE :'record' <> '' \g /dev/null
SELECT :raise
FROM (SELECT format('"%s" is not a table for a record', :'record_table') AS message, 'Name a new table, or one that this script has made for you.' AS hint) e
WHERE :'record' <> '' AND (NOT EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = relowner WHERE c.oid = :'record_oid'::oid AND relkind = 'r' AND (rolsuper OR pg_has_role(current_user, relowner, 'MEMBER')))
	OR (SELECT string_agg(attname || ' ' || format_type(atttypid, -1), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = :'record_oid'::oid AND attnum > 0 AND NOT attisdropped)
		IS DISTINCT FROM 'table text, id text, keeper text, similarity double precision, threshold double precision, mark text, moved jsonb, at timestamp with time zone, by text, undone timestamp with time zone')
\gexec
