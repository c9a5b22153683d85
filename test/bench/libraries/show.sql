\pset tuples_only on
\pset format unaligned
\echo
\echo '### neardup and libraries outside PostgreSQL'
\echo
SELECT format('%s texts of %s bytes on average; %s other texts to search for, for which %s rows have a resemblance of at least 0.8; %s such pairs among the rows.',
	to_char(count(*), 'FM999,999,999'), round(avg(octet_length(body))), (SELECT count(*) FROM queries),
	(SELECT to_char(count(*), 'FM999,999,999') FROM truth), (SELECT to_char(count(*), 'FM999,999,999') FROM true_pairs)) FROM docs;
\echo
\echo '| | sign s | index s | all pairs s | their recall | precision | lookup ms | 95 % within ms | without signing ms | recall | precision | ten nearest ms | their recall from 0.4 | memory MB | disk MB |'
\echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
CREATE FUNCTION shown(name text, of_measure text, digits int DEFAULT 1) RETURNS text LANGUAGE sql AS
	$$SELECT coalesce((SELECT CASE WHEN value >= 100 THEN to_char(value, 'FM999,999,999') ELSE round(value, digits)::text END
		FROM summary WHERE peer = name AND measure = of_measure), '–')$$;
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', title, shown(peer, 'sign'),
	CASE WHEN figure(peer, 'index by part') IS NULL THEN shown(peer, 'index') ELSE '> ' || shown(peer, 'index by part') END,
	CASE WHEN figure(peer, 'pairs') IS NULL AND figure(peer, 'pairs by searches') IS NOT NULL THEN '≈ ' || shown(peer, 'pairs by searches') ELSE shown(peer, 'pairs') END,
	shown(peer, 'pairs recall', 3), shown(peer, 'pairs precision', 3), shown(peer, 'search', 2), shown(peer, 'search p95', 2), shown(peer, 'signed search', 2),
	shown(peer, 'recall', 3), shown(peer, 'precision', 3), shown(peer, 'nearest', 2), shown(peer, 'nearest recall', 3), shown(peer, 'memory', 0), shown(peer, 'size', 0))
FROM peers WHERE skipped IS NULL ORDER BY place;
\echo
SELECT format('Through a connection, neardup''s lookup takes %s ms. With 64 MB of maintenance_work_mem, its pairs take %s s.',
	shown('neardup', 'search by a client', 3), shown('neardup', 'pairs in 64 MB'));
SELECT format('Searches end after some seconds. These ran fewer than %s: %s. Their recall and precision are those of these searches.',
	(SELECT count(*) FROM queries), string_agg(format('%s %s', title, value::int), ', ' ORDER BY place))
FROM summary WHERE measure = 'search number' AND value < (SELECT count(*) FROM queries) HAVING count(*) > 0;
SELECT format('Skipped: %s, because %s.', title, skipped) FROM peers WHERE skipped IS NOT NULL;
