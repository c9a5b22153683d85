-- neardup-keep-one.sql: keeps one row of each cluster of near-duplicates, and deletes or
-- marks the others, in one transaction.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v mark=duplicate_of] [-v title=title]
--        [-v verdicts='SELECT a, b, same FROM public.verdicts'] [-v within=tenant,lang]
--        [-v references=leave] [-v record=merged] [-v limit=20] [-v apply=yes] [-v trust=yes]
--        -f neardup-keep-one.sql
--
-- Without apply=yes it is a dry run: everything is done, counted and rolled back.  With
-- apply=yes the threshold must be given too.
-- With mark, rows are not deleted: that column gets the id of the row that is kept, and
-- rows in which it is set already are left out.  Foreign keys that point to a row that is
-- deleted or marked are pointed to the row that is kept.  With record, a table gets what was
-- done, and neardup-undo.sql takes marks back.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?order_by} \else \set order_by '' \endif
\if :{?mark} \else \set mark '' \endif
\if :{?verdicts} \else \set verdicts '' \endif
\if :{?references} \else \set references move \endif
\if :{?record} \else \set record '' \endif
\if :{?limit} \else \set limit 20 \endif
\if :{?apply} \else \set apply no \endif
\set functions '{neardup_clusters}'
\set changes yes
\ir neardup-begin.sql

SELECT :raise
FROM (VALUES ('apply', :'apply', 'yes or no'), ('references', :'references', 'move or leave'), ('id', :'id', 'columns'), ('sig', :'sig', 'a column'), ('mark', nullif(:'mark', ''), 'a column'),
	('limit', :'limit', 'a whole number from 0 up to 1000000000')) v (name, value, allowed)
	:unfit
\gexec
SELECT :attempt
FROM (VALUES ('verdicts', :'verdicts', format('OPEN rows FOR EXECUTE %L;', :'verdicts'), 'Name the table with its schema: ''SELECT a, b, same FROM public.verdicts''.')) v (name, value, code, hint)
WHERE value <> ''
\gexec
-- A name that is mistyped must not mean the default here.
SELECT :raise FROM (VALUES ('apply=yes needs a threshold', 'Write the threshold of the dry run, as in -v threshold=' || :'least' || '.')) v (message, hint)
WHERE :'apply' = 'yes' AND NOT :{?threshold}
\gexec
SELECT :raise FROM (
	SELECT format('column "%s" is of type %s, and the id of type %s', attname, format_type(atttypid, atttypmod), :'id_type') AS message,
		'It gets the id of the row that is kept. Name a column of the type of the id with -v mark=NAME.' AS hint
	FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
	WHERE attrelid = :'table_oid'::oid AND attname = :'mark' AND atttypid <> :'id_type'::regtype AND typtype <> 'd' AND typcategory <> 'S'
		AND NOT EXISTS (SELECT FROM pg_cast WHERE castsource = :'id_type'::regtype AND casttarget = atttypid AND castcontext <> 'e')) e
\gexec

SELECT :raise FROM (
	SELECT format('"%s" is %s', rel::regclass, what) AS message, CASE what
		WHEN 'a materialized view' THEN 'Change the table that its rows come from, and refresh it.'
		WHEN 'a columnar table, whose rows cannot be updated' THEN 'Copy the rows to keep, by a query with neardup_clusters(), into another table.'
		WHEN 'not a table' THEN 'Name a table, a partitioned table, a foreign table or a view of one table.'
		ELSE 'Its wrapper is not postgres_fdw, so the rows may change while they are compared. Run this script where the table is.' END AS hint
	FROM (:kinds) k
	WHERE relkind = 'm' OR what IN ('not a table', 'a columnar table, whose rows cannot be updated') OR relkind = 'f' AND handler IS DISTINCT FROM 'postgres_fdw_handler'
	LIMIT 1) e
\gexec

-- A row needs no signature if it is judged the same as another.
SELECT *, format('SELECT %s::%s, %I%s FROM %s WHERE %s%s ORDER BY %s', :'id_key', :'id_type', :'sig', :'within_list', "table",
	CASE :'verdicts' WHEN '' THEN format('%I IS NOT NULL', :'sig') ELSE 'true' END,
	CASE WHEN marking THEN format(' AND %I IS NULL', :'mark') END,
	coalesce(nullif(:'order_by', ''), :'id_order')) AS query
FROM (SELECT :'table_oid'::oid::regclass AS "table", :'mark' <> '' AS marking, :'record' <> '' AS recording,
	(SELECT relkind <> 'f' FROM pg_class WHERE oid = :'table_oid'::oid) AS lockable,
	(SELECT bool_or(relkind = 'f') FROM (:kinds) k) AS "foreign",
	(SELECT bool_or(replicated) FROM (:kinds) k) AS replicated) t
\gset

\pset tuples_only on
\pset format unaligned

BEGIN;
-- Other sessions can read the table, but not change it, nor add a trigger, nor give it away.
-- A foreign table cannot be locked so.
\if :lockable
	LOCK TABLE :table IN SHARE ROW EXCLUSIVE MODE;
\endif

:check_trust \g /dev/null

\ir neardup-references.sql
:check_order
\gexec
CREATE TEMP TABLE neardup_rest ON COMMIT DROP AS
SELECT id, keeper, similarity
FROM :ext.neardup_clusters(:'query'::text, :'least'::float8, NULL:::id_type,
	false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8, 'resemblance'::text, nullif(:'verdicts', '')::text, :'within_names'::name[])
WHERE NOT id :equals keeper;
ANALYZE pg_temp.neardup_rest;

SELECT format('%s: %s near-duplicates (similarity %s and above%s) of %s rows that stay', :'shown_table', count(*),
	:'least', CASE WHEN :'verdicts' <> '' THEN ', and by verdicts' END, count(DISTINCT keeper))
FROM pg_temp.neardup_rest;
WITH listed AS MATERIALIZED (
	SELECT * FROM pg_temp.neardup_rest ORDER BY keeper, id LIMIT :'limit'::bigint
), shown AS (
	SELECT id FROM listed UNION ALL SELECT keeper FROM listed
), titles AS MATERIALIZED (
	:titles
)
SELECT format('    %s  %s of %s', coalesce(to_char(similarity, 'FM0.000'), 'same '), gone_name, kept_name)
	|| coalesce(E'\n         - ' || gone.title, '') || coalesce(E'\n         + ' || kept.title, '')
FROM listed l LEFT JOIN titles gone ON gone.id :equals l.id LEFT JOIN titles kept ON kept.id :equals keeper,
	LATERAL (SELECT :printed FROM format('%s', l.id) raw) g (gone_name), LATERAL (SELECT :printed FROM format('%s', keeper) raw) k (kept_name)
ORDER BY keeper, l.id;
SELECT format('    ... and %s more', count(*) - :'limit'::bigint) FROM pg_temp.neardup_rest HAVING count(*) > :'limit'::bigint;

-- ---- References follow ----

CREATE TEMP TABLE neardup_moved ON COMMIT DROP AS
SELECT reference, NULL:::id_type AS id, NULL::jsonb AS row_key, false AS lost, false AS circular FROM pg_temp.neardup_references LIMIT 0;
SELECT format('DO %L', format('BEGIN
		WITH moved AS (UPDATE %s r SET (%s) = ROW(%s) FROM pg_temp.neardup_rest g, %s gone, %4$s kept
			WHERE %5$s %6$s g.id AND %14$s %6$s g.keeper AND %7$s%8$s RETURNING g.id, %9$s AS row_key, %10$s AS lost, %11$s AS circular)
		INSERT INTO pg_temp.neardup_moved SELECT %12$L, m.* FROM moved m;
	EXCEPTION WHEN unique_violation OR exclusion_violation THEN
		RAISE EXCEPTION USING MESSAGE = %13$L || SQLERRM, HINT = ''Rows of that table that refer to near-duplicates are duplicates too: delete one of them first, or use -v references=leave.'';
	END', "table", own, format(others, 'kept'), :'table_oid'::oid::regclass, format(:'key_of', 'gone'), :'equals', format(equal, 'gone'),
	CASE WHEN itself AND NOT :'marking' THEN format(' AND NOT EXISTS (SELECT FROM pg_temp.neardup_rest x WHERE x.id %s %s)', :'equals', format(:'key_of', 'r')) END,
	row_key, format(empty, 'kept'), CASE WHEN itself THEN format('%s %s g.keeper', format(:'key_of', 'r'), :'equals') ELSE 'false' END, reference,
	format('references of table "%s" cannot follow: ', "table"), format(:'key_of', 'kept')))
FROM (SELECT *, referencing = :'table_oid'::oid AS itself FROM pg_temp.neardup_references) r
ORDER BY "table", name
\gexec
SELECT :raise
FROM (SELECT format('references of table "%s" cannot follow: %s', "table", CASE WHEN lost THEN 'a row that is kept has a NULL in their columns' ELSE 'a row would refer to itself' END) AS message,
		'Look at the rows that the dry run lists, change them first, or use -v references=leave.' AS hint
	FROM pg_temp.neardup_moved JOIN pg_temp.neardup_references USING (reference) WHERE lost OR circular ORDER BY 1 LIMIT 1) e
\gexec
SELECT (SELECT :printed FROM format('references of %s (%s) that follow: %s', "table", array_to_string(columns, ', '), count(m.reference)) raw)
FROM pg_temp.neardup_references LEFT JOIN pg_temp.neardup_moved m USING (reference) GROUP BY "table", columns, name ORDER BY "table", name;
SELECT (SELECT :printed FROM format('trigger %s of %s fires when they do', tgname, t.relid::regclass) raw)
FROM pg_temp.neardup_references, LATERAL (SELECT referencing AS relid UNION SELECT relid FROM pg_partition_tree(referencing)) t JOIN pg_trigger ON tgrelid = t.relid
WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 16 > 0 GROUP BY tgname, t.relid ORDER BY 1;

-- Citus does not join its tables with a temporary table: the distributed ones with a CTE,
-- the reference tables, of which each server has a copy, with a constant.
SELECT CASE WHEN :'replicated' THEN format('unnest(%L::%s[], %L::%2$s[])', coalesce(array_agg(id), '{}'), :'id_type', coalesce(array_agg(keeper), '{}'))
	ELSE 'pg_temp.neardup_rest' END AS rest
FROM pg_temp.neardup_rest WHERE :'replicated'
\gset
\if :marking
	WITH rest AS MATERIALIZED (SELECT id, keeper FROM :rest r (id, keeper))
	UPDATE :table t SET :"mark" = rest.keeper FROM rest WHERE :t_key :equals rest.id;
\else
	WITH rest AS MATERIALIZED (SELECT id FROM :rest r (id, keeper))
	DELETE FROM :table t USING rest WHERE :t_key :equals rest.id;
\endif
\set changed :ROW_COUNT
\if :foreign
	-- On other servers the rows to keep are not locked yet.  A transaction of postgres_fdw
	-- sees one state of them, so it is an error if one has changed since.
	SELECT count(*) FROM (
		SELECT FROM :table t WHERE :t_key :equals ANY (:array_of (SELECT keeper FROM pg_temp.neardup_rest)) FOR UPDATE
	) kept \g /dev/null
\endif

-- Exactly the rows that were found must have changed, and all that are kept must be there.
WITH keeper AS MATERIALIZED (
	SELECT DISTINCT keeper AS id FROM pg_temp.neardup_rest
), kept AS MATERIALIZED (
	SELECT DISTINCT :t_key:::id_type AS id FROM :table t JOIN keeper ON :t_key :equals keeper.id
)
SELECT (SELECT count(*) FROM pg_temp.neardup_rest) <> :changed OR (SELECT count(*) FROM keeper) <> (SELECT count(*) FROM kept) AS wrong \gset
\if :wrong
	DO 'BEGIN RAISE EXCEPTION ''the rows changed are not those that were found'' USING HINT = ''Check whether the id is unique, and whether a trigger or a policy keeps rows back.''; END';
\endif

\if :recording
	INSERT INTO :record_table
	SELECT :'shown_table', format('%s', g.id), format('%s', g.keeper), similarity, :'least'::float8, nullif(:'mark', ''), moved, now(), current_user, NULL
	FROM pg_temp.neardup_rest g LEFT JOIN (SELECT m.id, jsonb_agg(jsonb_build_object('table', "table", 'reference', name, 'row', m.row_key)) AS moved
		FROM pg_temp.neardup_moved m JOIN pg_temp.neardup_references USING (reference) GROUP BY m.id) m ON m.id :equals g.id;
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
	\if :marking
		\echo 'dry run: nothing was changed; with -v threshold=':least '-v apply=yes,' :changed 'rows are marked'
	\else
		\echo 'dry run: nothing was changed; with -v threshold=':least '-v apply=yes,' :changed 'rows are deleted'
	\endif
\endif
SELECT set_config('search_path', :'old_path', false) \g /dev/null
