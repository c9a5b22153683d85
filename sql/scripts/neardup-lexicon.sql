-- neardup-lexicon.sql: makes a function that signs texts, weighted by a lexicon of a table's texts.
--
--   psql -v table=proposals -v function=proposals_sign [-v text=body]
--        [-v 'scheme=word 1'] [-v entries=10000] [-v k=512] [-v b=1] -f neardup-lexicon.sql
--
-- The function contains the lexicon, so it is IMMUTABLE: generated columns and indexes may
-- call it.  A new lexicon is a new function.  Its body names the schema of the extension, so
-- make it anew after ALTER EXTENSION neardup SET SCHEMA.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?text} \else \set text body \endif
\if :{?scheme} \set weighed :scheme \else \set weighed 'word 1' \endif
\if :{?entries} \else \set entries 10000 \endif
\if :{?k} \else \set k 512 \endif
\if :{?b} \else \set b 1 \endif
\if :{?function} \else \set function '' \endif
\set functions '{neardup_lexicon,to_minhash,lexicon_info}'
\ir neardup-begin.sql

SELECT :raise
FROM (VALUES ('text', :'text', 'a column'), ('entries', :'entries', 'a whole number from 1 up to 1000000'), ('k', :'k', 'a whole number from 16 up to 16384'),
	('b', :'b', '1, 2, 4, 8, 16 or 32')) v (name, value, allowed)
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
SELECT :ext.neardup_lexicon(format('SELECT %I::pg_catalog.text FROM %s', :'text', :'table'), :'weighed'::text, :'entries'::int) AS lexicon
\gset
-- It also raises an error if no signature can have this shape.
SELECT format('function %s.%I(text) makes minhash(%s, %s) of scheme "%s": %s entries, from %s texts', :'schema', :'function', :'k', :'b', scheme, entries, documents) AS made
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
SELECT set_config('search_path', :'old_path', false) \g /dev/null
