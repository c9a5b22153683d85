-- neardup-report.sql: lists the clusters of near-duplicates of a table.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v title=title] [-v limit=20]
--        [-v verdicts='SELECT a, b, same FROM public.verdicts']
--        [-v within=tenant,lang] -f neardup-report.sql
--
-- It changes nothing, and runs on a standby too.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?order_by} \else \set order_by '' \endif
\if :{?verdicts} \else \set verdicts '' \endif
\if :{?limit} \else \set limit 20 \endif
\set changes no
\set functions '{neardup_clusters}'
\ir neardup-begin.sql
BEGIN;
:check_trust \g /dev/null

SELECT :raise
FROM (VALUES ('id', :'id', 'columns'), ('sig', :'sig', 'a column'), ('limit', :'limit', 'a whole number from 0 up to 1000000000')) v (name, value, allowed)
	:unfit
\gexec
SELECT :attempt
FROM (VALUES ('verdicts', :'verdicts', format('OPEN rows FOR EXECUTE %L;', :'verdicts'), 'Name the table with its schema: ''SELECT a, b, same FROM public.verdicts''.')) v (name, value, code, hint)
WHERE value <> ''
\gexec

-- A row needs no signature if it is judged the same as another.
SELECT "table", format('SELECT %s::%s, %I%s FROM %s%s ORDER BY %s', :'id_key', :'id_type', :'sig', :'within_list', "table",
	CASE :'verdicts' WHEN '' THEN format(' WHERE %I IS NOT NULL', :'sig') END,
	coalesce(nullif(:'order_by', ''), :'id_order')) AS query
FROM (SELECT :'table_oid'::oid::regclass AS "table") t
\gset
:check_order
\gexec

\pset tuples_only on
\pset format unaligned

WITH found AS MATERIALIZED (
	SELECT *, id :equals keeper AS kept, row_number() OVER () AS place
	FROM :ext.neardup_clusters(:'query'::text, :'least'::float8, NULL:::id_type,
		false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8, 'resemblance'::text, nullif(:'verdicts', '')::text, :'within_names'::name[])
), clusters AS (
	SELECT *, row_number() OVER (ORDER BY size DESC, place) AS rank
	FROM found WHERE kept
), shown AS MATERIALIZED (
	SELECT c.rank, f.* FROM clusters c JOIN found f ON f.keeper :equals c.keeper WHERE c.rank <= :'limit'::bigint
), titles AS (
	:titles
), lines AS (
	SELECT 0 AS rank, 0 AS place, format(E'%s, similarity %s and above%s\n\n  %9s  rows\n  %9s  clusters of near-duplicates\n  %9s  rows in them\n  %9s  rows would go if each kept one\n',
		:'shown_table', :'least', CASE WHEN :'verdicts' <> '' THEN ', and by verdicts' END, (SELECT count(*) FROM :table WHERE :"sig" IS NOT NULL OR :'verdicts' <> ''),
		count(*) FILTER (WHERE kept), count(*), count(*) FILTER (WHERE NOT kept)) AS line
	FROM found
	UNION ALL
	SELECT rank, CASE WHEN kept THEN 0 ELSE place END,
		CASE WHEN kept THEN format('%s  (%s rows)', name, size)
			ELSE format('    %s  %s', coalesce(to_char(similarity, 'FM0.000'), 'same '), name) END || coalesce('  ' || title, '')
	FROM shown s LEFT JOIN titles t ON t.id :equals s.id, LATERAL (SELECT :printed FROM format('%s', s.id) raw) p (name)
	UNION ALL
	SELECT :'limit'::bigint + 1, 0, format('... and %s clusters more', count(*) - :'limit'::bigint)
	FROM clusters HAVING count(*) > :'limit'::bigint
)
SELECT line FROM lines ORDER BY rank, place;

COMMIT;
SELECT set_config('search_path', :'old_path', false) \g /dev/null
