-- neardup-report.sql: which rows of a table are near-duplicates of others.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v limit=20] -f neardup-report.sql
--
-- Changes nothing, and runs on a standby too.  See doc/scripts.md.

\set ON_ERROR_STOP on
\set QUIET on
\set AUTOCOMMIT on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?order_by} \else \set order_by '' \endif
\if :{?limit} \else \set limit 20 \endif

-- The table is looked up by the caller's search path, and nothing else is: others
-- may have put functions and operators there.
SELECT pg_catalog.current_setting('search_path') AS old_path, :'table'::pg_catalog.regclass::pg_catalog.oid AS table_oid
\gset
SET search_path = pg_catalog, pg_temp;

-- Nor is a function taken for the extension's that somebody has put beside it.
SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L, HINT = %L; END',
	'function ' || p.oid::regprocedure || ' is not a part of the extension neardup',
	'Drop it, and let only roles that you trust create objects in the schema of the extension.'))
FROM pg_extension e JOIN pg_proc p ON pronamespace = extnamespace
WHERE extname = 'neardup' AND proname = 'neardup_clusters'
	AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
\gexec

-- The id without its domains, whose constraints would run, and equality as its type's order has it.
WITH RECURSIVE base AS (
	SELECT atttypid AS type FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'id' AND NOT attisdropped
	UNION ALL
	SELECT typbasetype FROM base JOIN pg_type t ON t.oid = type WHERE typtype = 'd'
), id_type AS (
	SELECT type, (SELECT format('OPERATOR(%I.%s)', nspname, oprname)
		FROM pg_opclass JOIN pg_amop ON amopfamily = opcfamily JOIN pg_operator o ON o.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace
		WHERE opcmethod = 403 AND opcdefault AND opcintype = type AND amoplefttype = type AND amoprighttype = type AND amopstrategy = 3) AS equals
	FROM base JOIN pg_type t ON t.oid = type WHERE typtype <> 'd'
), shown AS (
	SELECT :'table_oid'::oid::regclass AS "table", extnamespace::regnamespace AS ext,
		coalesce((SELECT format_type(type, -1) FROM id_type), 'bigint') AS id_type,
		coalesce((SELECT equals FROM id_type), 'OPERATOR(pg_catalog.=)') AS equals
	FROM pg_extension WHERE extname = 'neardup'
)
SELECT *, format('SELECT %I::%s, %I FROM %s WHERE %I IS NOT NULL ORDER BY %s', :'id', id_type, :'sig', "table", :'sig',
	coalesce(nullif(:'order_by', ''), format('%I', :'id'))) AS query
FROM shown
\gset

\pset tuples_only on
\pset format unaligned

WITH found AS MATERIALIZED (
	SELECT *, id :equals keeper AS kept, row_number() OVER () AS place
	FROM :ext.neardup_clusters(:'query'::text, :'threshold'::float8, NULL:::id_type,
		false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8)
), clusters AS (
	SELECT *, row_number() OVER (ORDER BY size DESC, place) AS rank
	FROM found WHERE kept
), lines AS (
	SELECT 0 AS rank, 0 AS place, format(E'%s, similarity %s and above\n\n  %9s  rows\n  %9s  clusters of near-duplicates\n  %9s  rows in them\n  %9s  rows would go if each kept one\n',
		:'table', :'threshold', (SELECT count(*) FROM :table WHERE :"sig" IS NOT NULL),
		count(*) FILTER (WHERE kept), count(*), count(*) FILTER (WHERE NOT kept)) AS line
	FROM found
	UNION ALL
	SELECT c.rank, CASE WHEN f.kept THEN 0 ELSE f.place END,
		CASE WHEN f.kept THEN format('%s  (%s rows)', f.id, f.size)
			ELSE format('    %s  %s', to_char(f.similarity, 'FM0.000'), f.id) END
	FROM clusters c JOIN found f ON f.keeper :equals c.keeper
	WHERE c.rank <= :'limit'::bigint
	UNION ALL
	SELECT :'limit'::bigint + 1, 0, format('... and %s clusters more', count(*) - :'limit'::bigint)
	FROM clusters HAVING count(*) > :'limit'::bigint
)
SELECT line FROM lines ORDER BY rank, place;

SELECT set_config('search_path', :'old_path', false) \g /dev/null
