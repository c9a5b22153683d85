-- neardup-keep-one.sql: of each cluster of near-duplicates keep one row, and
-- delete or mark the rest, in one transaction.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v mark=duplicate_of] [-v limit=20]
--        [-v apply=yes] -f neardup-keep-one.sql
--
-- Without apply=yes it is a dry run: everything is done, counted and rolled back.
-- With mark, the rest is not deleted: that column gets the id of the row that was
-- kept, and rows that have one already are left out.  See doc/scripts.md.

\set ON_ERROR_STOP on
\set QUIET on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?order_by} \else \set order_by '' \endif
\if :{?mark} \else \set mark '' \endif
\if :{?limit} \else \set limit 20 \endif
\if :{?apply} \else \set apply no \endif

-- Wherever the extension lives, its functions are found.
SELECT set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), extnamespace::regnamespace), false)
FROM pg_extension WHERE extname = 'neardup' \g /dev/null

SELECT :'table'::regclass AS "table", :'mark' <> '' AS marking,
	format('SELECT %I, %I FROM %s WHERE %I IS NOT NULL%s ORDER BY %s', :'id', :'sig', :'table'::regclass, :'sig',
		CASE WHEN :'mark' <> '' THEN format(' AND %I IS NULL', :'mark') END,
		coalesce(nullif(:'order_by', ''), format('%I', :'id'))) AS query,
	coalesce((SELECT format_type(atttypid, NULL) FROM pg_attribute
	 WHERE attrelid = :'table'::regclass AND attname = :'id'), 'bigint') AS id_type
\gset

\pset tuples_only on
\pset format unaligned

BEGIN;
-- Others may read meanwhile, and nobody changes what is being decided.
LOCK TABLE :table IN SHARE ROW EXCLUSIVE MODE;

CREATE TEMP TABLE neardup_rest ON COMMIT DROP AS
SELECT id, keeper, similarity FROM neardup_clusters(:'query', :'threshold', NULL:::id_type) WHERE id <> keeper;
ANALYZE neardup_rest;

SELECT format('%s: %s near-duplicates (similarity %s and above) of %s rows that stay', :'table', count(*),
	:'threshold', count(DISTINCT keeper))
FROM neardup_rest;
SELECT format('    %s  %s of %s', to_char(similarity, 'FM0.000'), id, keeper)
FROM neardup_rest ORDER BY keeper, id LIMIT :'limit';
SELECT format('    ... and %s more', count(*) - :'limit') FROM neardup_rest HAVING count(*) > :'limit';

\if :marking
	UPDATE :table t SET :"mark" = rest.keeper FROM neardup_rest rest WHERE t.:"id" = rest.id;
\else
	DELETE FROM :table t USING neardup_rest rest WHERE t.:"id" = rest.id;
\endif
\set changed :ROW_COUNT

-- One row for each that was to go, and all that were to stay are there.
SELECT count(*) <> :changed OR EXISTS (
		SELECT FROM neardup_rest rest WHERE NOT EXISTS (SELECT FROM :table t WHERE t.:"id" = rest.keeper)) AS wrong
FROM neardup_rest \gset
\if :wrong
	DO 'BEGIN RAISE EXCEPTION ''the rows changed are not those that were found'' USING HINT = ''Is the id unique, and does a trigger or a policy keep rows back?''; END';
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
	\echo 'dry run: nothing was changed; -v apply=yes does it'
\endif
