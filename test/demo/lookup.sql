-- Finds all texts similar to a given one, with the query, its plan and its time.
\set QUIET on
\pset tuples_only on
\pset format unaligned

-- The text is from the first of the groups shown, in capitals and without its beginning.
CREATE TEMP TABLE asked AS
SELECT upper(regexp_replace(body, '^(\S+\s+){3}', '')) AS body
FROM (SELECT kept AS body, rank FROM told UNION ALL (SELECT body, 6 FROM documents LIMIT 1)) candidate
ORDER BY rank LIMIT 1;
SELECT body AS asked FROM asked \gset

SELECT format(E'\nA lookup: everything like this text, best first\n\n      %s\n', cut(:'asked', 290));

SELECT format('      %s  %s', to_char(similarity(sig, to_minhash(:'asked')), 'FM0.00'), name)
FROM documents
WHERE is_similar(sig, to_minhash(:'asked'), 0.7)
ORDER BY sig <-> to_minhash(:'asked'), name
LIMIT 5;

-- Timed within the server: with the index, and with a condition that no index serves.
CREATE TEMP TABLE timed (how text, ms float8, found bigint);
DO $$
DECLARE
	text_asked text := (SELECT body FROM asked);
	start timestamptz;
	n bigint;
BEGIN
	FOR i IN 1 .. 25 LOOP
		start := clock_timestamp();
		SELECT count(*) INTO n FROM documents WHERE is_similar(sig, to_minhash(text_asked), 0.7);
		INSERT INTO timed VALUES ('index', 1000 * extract(epoch FROM clock_timestamp() - start), n);
	END LOOP;
	FOR i IN 1 .. 5 LOOP
		start := clock_timestamp();
		SELECT count(*) INTO n FROM documents WHERE similarity(sig, to_minhash(text_asked)) >= 0.7;
		INSERT INTO timed VALUES ('scan', 1000 * extract(epoch FROM clock_timestamp() - start), n);
	END LOOP;
END
$$;

SELECT format(E'\n  %s texts in %s ms, signing the text included; a full scan finds %s in %s ms.\n',
	max(found) FILTER (WHERE how = 'index'), to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE how = 'index'), 'FM990.00'),
	max(found) FILTER (WHERE how = 'scan'), to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE how = 'scan'), 'FM990.0'))
FROM timed;

\echo '  EXPLAIN, the signature cut short:'
\echo

-- Shows only the first digits of a signature.
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		RETURN NEXT '      ' || regexp_replace(line, '([0-9]/[^/'']*/[0-9x]+/[0-9]+/[0-9a-f]{6})[0-9a-f]+', '\1...', 'g');
	END LOOP;
END
$$;
SELECT pg_temp.plan_of(format('SELECT id FROM documents WHERE is_similar(sig, to_minhash(%L), 0.7)', :'asked'));

-- ---- The index ----

\echo
\echo 'The index'
\echo

SELECT format(E'  neardup_indexes: segments %s, documents %s, dead %s, tail %s, %s\n'
	'                   (the column of signatures: %s)\n'
	'  neardup_check:   %s',
	segments, to_char(documents, 'FM999,999,999'), dead, tail, pg_size_pretty(bytes),
	(SELECT pg_size_pretty(sum(pg_column_size(sig))) FROM documents),
	neardup_check('documents_sig_idx'))
FROM neardup_indexes WHERE index_name = 'documents_sig_idx'::regclass;
