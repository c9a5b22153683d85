-- neardup-lexicon.sql: makes a function that signs texts, weighted by a lexicon of a table's texts.
--
--   psql -v table=proposals -v function=proposals_sign [-v text=body]
--        [-v 'scheme=word 1'] [-v entries=10000] [-v share=0.05] [-v k=512] [-v b=1]
--        -f neardup-lexicon.sql
--
-- The function contains the lexicon, so it is IMMUTABLE: generated columns and indexes may
-- call it.  A new lexicon is a new function: the script lists the columns and indexes with
-- signatures of other lexicons, and the statements that sign them again; it runs none of these.
-- See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?text} \else \set text body \endif
\if :{?scheme} \set weighed :scheme \else \set weighed 'word 1' \endif
\if :{?entries} \else \set entries 10000 \endif
\if :{?share} \else \set share 0.05 \endif
\if :{?k} \else \set k 512 \endif
\if :{?b} \else \set b 1 \endif
\if :{?function} \else \set function '' \endif
\set changes yes
\set functions '{neardup_lexicon,to_minhash,lexicon_info}'
\ir neardup-begin.sql
BEGIN;
:check_trust \g /dev/null

SELECT :raise
FROM (VALUES ('text', :'text', 'a column'), ('entries', :'entries', 'a whole number from 1 up to 1000000'),
	('share', :'share', 'a number above 0 up to 1'), ('k', :'k', 'a whole number from 16 up to 16384'), ('b', :'b', '1, 2, 4, 8, 16 or 32')) v (name, value, allowed)
	:unfit
\gexec

SELECT oid::regclass AS "table", relnamespace::regnamespace AS schema FROM pg_class WHERE oid = :'table_oid'::oid
\gset
SELECT :raise FROM (
	SELECT format('function "%s" exists', :'function') AS message,
		'Stored signatures are of its lexicon: give the new one another name, with -v function=NAME.' AS hint
	FROM pg_proc WHERE proname = :'function' AND pronamespace = :'schema'::regnamespace
	UNION ALL
	SELECT 'no name for the function', 'Name it with -v function=NAME.' WHERE :'function' = ''
	) e
\gexec

SELECT :attempt
FROM (VALUES ('scheme', :'weighed', format('PERFORM %s.to_shingles('''', %L);', :'ext', :'weighed'), NULL)) v (name, value, code, hint)
\gexec
SELECT :ext.neardup_lexicon(format('SELECT %I::pg_catalog.text FROM %s', :'text', :'table'), :'weighed'::text, :'entries'::int, :'share'::float8) AS lexicon
\gset
-- It also raises an error if no signature can have this shape.
SELECT format('function %s.%I(text) makes minhash(%s, %s) of scheme "%s": %s entries, from %s texts', :'schema', :'function', :'k', :'b', scheme, entries, documents) AS made, scheme AS made_scheme
FROM :ext.lexicon_info(:'lexicon')
WHERE :ext.to_minhash(''::text, :'k'::int, :'b'::int, :'lexicon':::ext.shingle_lexicon) IS NOT NULL
\gset
SELECT format('CREATE FUNCTION %s.%I(text) RETURNS %s.minhash LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS %L', :'schema', :'function', :'ext',
	format('BEGIN RETURN %s.to_minhash($1, %s, %s, %L::%1$s.shingle_lexicon); END', :'ext', :'k'::int, :'b'::int, :'lexicon'))
\gexec
SELECT format('COMMENT ON FUNCTION %s.%I(text) IS %L', :'schema', :'function',
	format('minhash(%s, %s) of scheme "%s": %s entries, from %s texts of %s', :'k', :'b', i.scheme, entries, documents, :'table'))
FROM :ext.lexicon_info(:'lexicon') i
\gexec
SELECT :printed AS made FROM (SELECT :'made') m (raw)
\gset
\echo :made

-- ---- Signatures of other lexicons ----

-- A stored generated column is computed when a row is inserted or updated.  So it is dropped and
-- added again with the new function, and so are its indexes and constraints.
SELECT coalesce(string_agg(format('SELECT %1$L AS name, split_part(%1$I::text, ''/'', 2) AS scheme FROM %2$s WHERE %1$I IS NOT NULL', attname, :'table'), ' UNION ALL '),
		'SELECT NULL AS name, NULL AS scheme WHERE false') AS signed
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE attrelid = :'table_oid'::oid AND atttypid = format('%s.minhash', :'ext')::regtype AND NOT attisdropped AND relkind IN ('r', 'p')
\gset
\pset tuples_only on
\pset format unaligned
WITH RECURSIVE tree AS (
	SELECT :'table_oid'::oid AS rel
	UNION
	SELECT inhrelid FROM tree JOIN pg_inherits ON inhparent = rel
), made AS (
	SELECT p.oid, format('%I.%I(', nspname, proname) AS old, format('%s.%I(', :'schema', :'function') AS new
	FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
	WHERE prorettype = format('%s.minhash', :'ext')::regtype AND prosrc LIKE '%.shingle_lexicon)%' AND (n.oid <> :'schema'::regnamespace OR proname <> :'function')
), indexes AS (
	SELECT rel, indexrelid, con.oid AS con, CASE WHEN con.oid IS NULL THEN replace(pg_get_indexdef(indexrelid), format(' ON ONLY %s USING ', rel::regclass), format(' ON %s USING ', rel::regclass))
			ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', rel::regclass, conname, pg_get_constraintdef(con.oid)) END AS definition,
		CASE WHEN con.oid IS NULL THEN format('DROP INDEX %s', indexrelid::regclass) ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', rel::regclass, conname) END AS drops
	FROM tree JOIN pg_index ON indrelid = rel LEFT JOIN pg_constraint con ON conindid = indexrelid AND contype IN ('p', 'u', 'x')
	WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid)
), generated AS (
	SELECT attname, old, new, format('ALTER TABLE %s DROP COLUMN %I, ADD COLUMN %2$I %s GENERATED ALWAYS AS (%s) STORED', :'table', attname,
			format_type(atttypid, atttypmod), replace(pg_get_expr(adbin, adrelid), old, new)) AS statement
	FROM pg_attrdef d JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum AND attgenerated = 's',
		-- Before version 15 the column depends on the function, and not its default.
		LATERAL (SELECT old, new FROM pg_depend JOIN made ON refclassid = 'pg_proc'::regclass AND refobjid = made.oid
			WHERE classid = 'pg_attrdef'::regclass AND objid = d.oid OR classid = 'pg_class'::regclass AND objid = adrelid AND objsubid = adnum LIMIT 1) m
	WHERE adrelid = :'table_oid'::oid
), old_columns AS (
	SELECT name, format('column %I: %s rows of scheme "%s"', name, to_char(count(*), 'FM999,999,999,999,990'), scheme) AS line
	FROM (:signed) s WHERE scheme LIKE '% lexicon %' AND scheme <> :'made_scheme' GROUP BY name, scheme
), lost AS (
	SELECT g.attname, i.indexrelid, drops, replace(definition, old, new) AS again
	FROM generated g JOIN pg_attribute a USING (attname) JOIN indexes i ON rel = attrelid
	WHERE EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = rel AND refobjsubid = a.attnum
		AND (classid = 'pg_class'::regclass AND objid = indexrelid OR classid = 'pg_constraint'::regclass AND objid = con))
), lines AS (
	SELECT 1 AS place, name, 0 AS step, line FROM old_columns
	UNION ALL
	SELECT 1, name, step, '    ' || l.line
	FROM (SELECT DISTINCT name FROM old_columns) c LEFT JOIN generated ON attname = name,
		LATERAL (SELECT 1 AS step, format('neardup_sign_table() signs another column, by %s.%I(%I)', :'schema', :'function', :'text') AS line WHERE statement IS NULL
			UNION ALL SELECT 1, 'BEGIN;' WHERE statement IS NOT NULL UNION ALL SELECT 2, drops || ';' FROM lost WHERE lost.attname = name
			UNION ALL SELECT 3, statement || ';' WHERE statement IS NOT NULL UNION ALL SELECT 4, again || ';' FROM lost WHERE lost.attname = name
			UNION ALL SELECT 5, 'COMMIT;' WHERE statement IS NOT NULL) l
	UNION ALL
	SELECT 2, indexrelid::regclass::text, step, line
	FROM indexes, made, LATERAL (VALUES (0, format('index %s: its expression calls %s', indexrelid::regclass, rtrim(old, '('))), (1, '    BEGIN;'), (2, format('    %s;', drops)),
		(3, format('    %s;', replace(definition, old, new))), (4, '    COMMIT;')) v (step, line)
	WHERE indexrelid NOT IN (SELECT indexrelid FROM lost)
		AND EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = indexrelid AND refclassid = 'pg_proc'::regclass AND refobjid = made.oid)
)
SELECT CASE WHEN line LIKE '    %' THEN '    ' ELSE '' END || printed
FROM lines, LATERAL (SELECT :printed FROM (SELECT line) r (raw)) p (printed)
ORDER BY place, name, step, line;
COMMIT;
SELECT set_config('search_path', :'old_path', false) \g /dev/null
