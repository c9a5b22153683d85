-- neardup-begin.sql: what the other scripts begin with.  They include it from the folder
-- that they are in; it does nothing useful alone.
--
-- Reads the variables table, id, sig, threshold, title and trust, and
--   functions          names of the extension's functions that the script calls, as name[]
--   changed_column     for a guard: the column whose values the script changes, or empty
--   follows_references for a guard: also of tables with foreign keys to this one?
-- Sets the search path to pg_catalog and these variables:
--   table_oid, ext     the table, and the schema of the extension
--   id_type            the type of the id
--   equals, above      the operators "=" and ">" of that type
--   old_path           the search path before
--   raise              an expression: the statement that raises an error (message, hint)
--   titles             a query of (id, title) for the relation shown(id): the column title,
--                      on one line, cut to 60 characters; without rows if title is not set
--   kinds              for a guard: a query of the tables below the table and of what they
--                      are, if they are not plain tables
--   guard              a query of the reason why a superuser must not change rows, or NULL

\set QUIET on
\set AUTOCOMMIT on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?title} \else \set title '' \endif
\if :{?trust} \else \set trust no \endif

-- Only the table is looked up by the caller's search path: other roles may have put
-- functions and operators into the schemas there.
SELECT pg_catalog.current_setting('search_path') AS old_path, :'table'::pg_catalog.regclass::pg_catalog.oid AS table_oid
\gset
SET search_path = pg_catalog, pg_temp;
\set raise 'format(''DO %L'', format(''BEGIN RAISE EXCEPTION USING MESSAGE = %L, HINT = %L; END'', message, hint))'

SELECT :raise FROM (VALUES ('the extension neardup is not installed in this database', 'Install it with CREATE EXTENSION neardup.')) v (message, hint)
WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'neardup')
\gexec

-- A function that another role has put into the schema of the extension is an error.
SELECT :raise
FROM (SELECT 'function ' || p.oid::regprocedure || ' is not a part of the extension neardup' AS message,
		'Drop it, and let only roles that you trust create objects in the schema of the extension.' AS hint
	FROM pg_extension e JOIN pg_proc p ON pronamespace = extnamespace
	WHERE extname = 'neardup' AND proname = ANY (:'functions'::name[])
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')) f
\gexec

-- The type below any domains, whose constraints would run, and the operators of its default
-- B-tree operator class.
WITH RECURSIVE base AS (
	SELECT atttypid AS type FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'id' AND NOT attisdropped
	UNION ALL
	SELECT typbasetype FROM base JOIN pg_type t ON t.oid = type WHERE typtype = 'd'
), id_type AS (
	SELECT type FROM base JOIN pg_type t ON t.oid = type WHERE typtype <> 'd'
), operators AS (
	SELECT amopstrategy AS strategy, format('OPERATOR(%I.%s)', nspname, oprname) AS name
	FROM id_type JOIN pg_opclass ON opcintype = type JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = type AND amoprighttype = type
		JOIN pg_operator o ON o.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace
	WHERE opcmethod = 403 AND opcdefault
)
SELECT extnamespace::regnamespace AS ext,
	coalesce((SELECT format_type(type, -1) FROM id_type), 'bigint') AS id_type,
	coalesce((SELECT name FROM operators WHERE strategy = 3), 'OPERATOR(pg_catalog.=)') AS equals,
	coalesce((SELECT name FROM operators WHERE strategy = 5), 'OPERATOR(pg_catalog.>)') AS above
FROM pg_extension WHERE extname = 'neardup'
\gset

-- Only the ids that are shown are looked up, also on other servers.  format() calls the
-- output function of the type, where a cast could be the table owner's.
SELECT CASE :'title' WHEN '' THEN format('SELECT NULL::%s AS id, NULL AS title WHERE false', :'id_type')
	ELSE format($titles$SELECT id, CASE WHEN length(line) > 60 THEN left(line, 57) || '...' ELSE nullif(line, '') END AS title
		FROM (SELECT %1$I::%2$s AS id, btrim(regexp_replace(left(format('%%s', %4$I), 1000), '[[:space:][:cntrl:]]+', ' ', 'g')) AS line
			FROM %3$s WHERE %1$I %5$s ANY (ARRAY(SELECT id FROM shown))) t$titles$,
		:'id', :'id_type', :'table_oid'::oid::regclass, :'title', :'equals') END AS titles
\gset

-- Triggers, rules, defaults, constraints and index expressions of a table run as the role
-- that changes its rows.  If that is a superuser, no other role may have written them.
\if :{?changed_column}
	\set views 'SELECT ev_class AS view, refobjid AS base FROM pg_rewrite r JOIN pg_depend ON classid = ''pg_rewrite''::regclass AND objid = r.oid AND refclassid = ''pg_class''::regclass'
	SELECT format($guard$
		WITH RECURSIVE tree AS (
			SELECT %1$L::oid AS rel
			UNION
			SELECT child FROM tree JOIN (SELECT inhparent AS parent, inhrelid AS child FROM pg_inherits
				UNION ALL SELECT view, base FROM (%4$s) v
				UNION ALL SELECT confrelid, conrelid FROM pg_constraint WHERE contype = 'f' AND %3$L::boolean) x ON parent = rel
		), parts AS (
			SELECT 'pg_trigger'::regclass AS class, t.oid AS part FROM tree JOIN pg_trigger t ON tgrelid = rel WHERE tgenabled <> 'D'
			UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM tree JOIN pg_rewrite r ON ev_class = rel
			UNION ALL SELECT 'pg_constraint'::regclass, c.oid FROM tree JOIN pg_constraint c ON conrelid = rel
			UNION ALL SELECT 'pg_attrdef'::regclass, d.oid FROM tree JOIN pg_attrdef d ON adrelid = rel
			UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM tree JOIN pg_index ON indrelid = rel
			UNION ALL SELECT 'pg_type'::regclass, atttypid FROM pg_attribute WHERE attrelid = %1$L::oid AND attname = %2$L
		), code AS (
			SELECT p.oid::regprocedure::text AS name, proowner AS owner
			FROM parts JOIN pg_depend ON classid = class AND objid = part LEFT JOIN pg_operator o ON refclassid = 'pg_operator'::regclass AND o.oid = refobjid
				JOIN pg_proc p ON p.oid = CASE WHEN refclassid = 'pg_proc'::regclass THEN refobjid ELSE oprcode END
			UNION ALL SELECT 'rule ' || rulename, relowner FROM tree JOIN pg_rewrite ON ev_class = rel JOIN pg_class c ON c.oid = rel
			UNION ALL SELECT 'type ' || t.oid::regtype, typowner FROM parts JOIN pg_type t ON class = 'pg_type'::regclass AND t.oid = part
		)
		SELECT format('%%s would run as a superuser, and belongs to role %%s', name, rolname)
		FROM code JOIN pg_roles r ON r.oid = owner
		WHERE NOT rolsuper AND (SELECT bool_or(rolsuper) FROM pg_roles WHERE rolname IN (current_user, session_user)) LIMIT 1
	$guard$, :'table_oid', :'changed_column', :'follows_references', :'views') AS guard
	\gset
	SELECT format($kinds$
		WITH RECURSIVE tree AS (
			SELECT %1$s::oid AS rel
			UNION
			SELECT child FROM tree JOIN (SELECT inhparent AS parent, inhrelid AS child FROM pg_inherits UNION ALL SELECT view, base FROM (%3$s) v) x ON parent = rel
		)
		SELECT rel, relkind, (SELECT proname FROM pg_proc p WHERE p.oid = fdwhandler) AS handler, %4$s AS replicated, CASE
				WHEN relkind = 'f' THEN format('on another server, "%%s"', srvname) WHEN relkind = 'v' THEN 'a view' WHEN relkind = 'm' THEN 'a materialized view'
				WHEN relkind NOT IN ('r', 'p') THEN 'not a table' WHEN amname = 'columnar' THEN 'a columnar table, whose rows cannot be updated'
				WHEN %2$s THEN 'distributed by Citus, whose tables have no triggers'
				WHEN relpersistence = 't' THEN 'a temporary table'
				WHEN relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = rel) THEN 'a table with children' END AS what
		FROM tree JOIN pg_class c ON c.oid = rel LEFT JOIN pg_am a ON a.oid = relam LEFT JOIN pg_foreign_table ON ftrelid = rel
			LEFT JOIN pg_foreign_server s ON s.oid = ftserver LEFT JOIN pg_foreign_data_wrapper w ON w.oid = srvfdw
		$kinds$, :'table_oid', CASE WHEN citus THEN 'EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = rel)' ELSE 'false' END, :'views',
		CASE WHEN citus THEN 'EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = rel AND repmodel = ''t'')' ELSE 'false' END) AS kinds
	FROM (SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL) c (citus)
	\gset
	\if :trust
		\set guard 'SELECT NULL'
	\endif
\endif
