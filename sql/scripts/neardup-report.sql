-- neardup-report.sql: which rows of a table are near-duplicates of others.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v limit=20] -f neardup-report.sql
--
-- Changes nothing, and runs on a standby too.  See doc/scripts.md.

\set ON_ERROR_STOP on
\set QUIET on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?order_by} \else \set order_by '' \endif
\if :{?limit} \else \set limit 20 \endif

-- Wherever the extension lives, its functions are found.
SELECT set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), extnamespace::regnamespace), false)
FROM pg_extension WHERE extname = 'neardup' \g /dev/null

SELECT :'table'::regclass AS "table",
	format('SELECT %I, %I FROM %s WHERE %I IS NOT NULL ORDER BY %s', :'id', :'sig', :'table'::regclass, :'sig',
		coalesce(nullif(:'order_by', ''), format('%I', :'id'))) AS query,
	coalesce((SELECT format_type(atttypid, NULL) FROM pg_attribute
	 WHERE attrelid = :'table'::regclass AND attname = :'id'), 'bigint') AS id_type
\gset

\pset tuples_only on
\pset format unaligned

WITH found AS MATERIALIZED (
	SELECT *, row_number() OVER () AS place FROM neardup_clusters(:'query', :'threshold', NULL:::id_type)
), clusters AS (
	SELECT *, row_number() OVER (ORDER BY size DESC, place) AS rank
	FROM found WHERE id = keeper
), lines AS (
	SELECT 0 AS rank, 0 AS place, format(E'%s, similarity %s and above\n\n  %9s  rows\n  %9s  clusters of near-duplicates\n  %9s  rows in them\n  %9s  rows would go if each kept one\n',
		:'table', :'threshold', (SELECT count(*) FROM :table WHERE :"sig" IS NOT NULL),
		count(*) FILTER (WHERE id = keeper), count(*), count(*) FILTER (WHERE id <> keeper)) AS line
	FROM found
	UNION ALL
	SELECT c.rank, CASE WHEN f.id = f.keeper THEN 0 ELSE f.place END,
		CASE WHEN f.id = f.keeper THEN format('%s  (%s rows)', f.id, f.size)
			ELSE format('    %s  %s', to_char(f.similarity, 'FM0.000'), f.id) END
	FROM clusters c JOIN found f USING (keeper)
	WHERE c.rank <= :'limit'
	UNION ALL
	SELECT :'limit'::bigint + 1, 0, format('... and %s clusters more', count(*) - :'limit')
	FROM clusters HAVING count(*) > :'limit'
)
SELECT line FROM lines ORDER BY rank, place;
