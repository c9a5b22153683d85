-- neardup-keep-one.sql: keeps one row of each cluster of near-duplicates, and deletes or
-- marks the others, in one transaction.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v mark=duplicate_of] [-v limit=20]
--        [-v apply=yes] [-v trust=yes] -f neardup-keep-one.sql
--
-- Without apply=yes it is a dry run: everything is done, counted and rolled back.
-- With mark, rows are not deleted: that column gets the id of the row that is kept, and
-- rows in which it is set already are left out.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?order_by} \else \set order_by '' \endif
\if :{?mark} \else \set mark '' \endif
\if :{?limit} \else \set limit 20 \endif
\if :{?apply} \else \set apply no \endif
\set functions '{neardup_clusters}'
\set changed_column :mark
\set follows_references yes
\ir neardup-begin.sql

SELECT *, format('SELECT %I::%s, %I FROM %s WHERE %I IS NOT NULL%s ORDER BY %s', :'id', :'id_type', :'sig', "table", :'sig',
	CASE WHEN marking THEN format(' AND %I IS NULL', :'mark') END,
	coalesce(nullif(:'order_by', ''), format('%I', :'id'))) AS query
FROM (SELECT :'table_oid'::oid::regclass AS "table", :'mark' <> '' AS marking) t
\gset

\pset tuples_only on
\pset format unaligned

BEGIN;
-- Other sessions can read the table, but not change it, nor add a trigger.
LOCK TABLE :table IN SHARE ROW EXCLUSIVE MODE;

SELECT :raise
FROM (:guard) g (message), (VALUES ('Log in as the owner of the table, or use -v trust=yes.')) v (hint)
WHERE message IS NOT NULL
\gexec

CREATE TEMP TABLE neardup_rest ON COMMIT DROP AS
SELECT id, keeper, similarity
FROM :ext.neardup_clusters(:'query'::text, :'threshold'::float8, NULL:::id_type,
	false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8)
WHERE NOT id :equals keeper;
ANALYZE pg_temp.neardup_rest;

SELECT format('%s: %s near-duplicates (similarity %s and above) of %s rows that stay', :'table', count(*),
	:'threshold', count(DISTINCT keeper))
FROM pg_temp.neardup_rest;
SELECT format('    %s  %s of %s', to_char(similarity, 'FM0.000'), id, keeper)
FROM pg_temp.neardup_rest ORDER BY keeper, id LIMIT :'limit'::bigint;
SELECT format('    ... and %s more', count(*) - :'limit'::bigint) FROM pg_temp.neardup_rest HAVING count(*) > :'limit'::bigint;

\if :marking
	UPDATE :table t SET :"mark" = rest.keeper FROM pg_temp.neardup_rest rest WHERE t.:"id" :equals rest.id;
\else
	DELETE FROM :table t USING pg_temp.neardup_rest rest WHERE t.:"id" :equals rest.id;
\endif
\set changed :ROW_COUNT

-- Exactly the rows that were found must have changed, and all that are kept must be there.
SELECT count(*) <> :changed OR EXISTS (
		SELECT FROM pg_temp.neardup_rest rest WHERE NOT EXISTS (SELECT FROM :table t WHERE t.:"id" :equals rest.keeper)) AS wrong
FROM pg_temp.neardup_rest \gset
\if :wrong
	DO 'BEGIN RAISE EXCEPTION ''the rows changed are not those that were found'' USING HINT = ''Check whether the id is unique, and whether a trigger or a policy keeps rows back.''; END';
\endif

\if :apply
	COMMIT;
	\if :marking
		\echo :changed 'rows marked'
	\else
		\echo :changed 'rows deleted'
	\endif
\else
	ROLLBACK;
	\echo 'dry run: nothing was changed; use -v apply=yes to change it'
\endif
SELECT set_config('search_path', :'old_path', false) \g /dev/null
