\pset tuples_only on
\pset format unaligned
CREATE FUNCTION value_of(peer text, measure text) RETURNS numeric LANGUAGE sql AS
	$$SELECT value FROM summary s WHERE s.peer = $1 AND s.measure = $2$$;

-- Three digits of a number, and a dash for none.
CREATE FUNCTION short(value numeric) RETURNS text LANGUAGE sql AS
	$$SELECT coalesce(CASE WHEN value >= 100 THEN to_char(value, 'FM999,999,999') ELSE round(value, CASE WHEN value < 1 THEN 2 WHEN value < 10 THEN 2 ELSE 1 END)::text END, '–')$$;

CREATE FUNCTION ratio(value numeric) RETURNS text LANGUAGE sql AS
	$$SELECT CASE WHEN value IS NULL THEN '–' ELSE
		format('**%s ×**', CASE WHEN value >= 10 THEN to_char(value, 'FM999,999,999') ELSE round(value, CASE WHEN value < 1 THEN 2 ELSE 1 END)::text END) END$$;

-- Of 0 to 1.
CREATE FUNCTION share(value numeric) RETURNS text LANGUAGE sql AS
	$$SELECT coalesce(round(value, 3)::text, '–')$$;

CREATE FUNCTION refuses(name text) RETURNS text LANGUAGE sql AS
	$$SELECT coalesce((SELECT string_agg(format('%s: %s', CASE WHEN accepted THEN 'no' ELSE 'yes' END, how), '; ' ORDER BY how) FROM races WHERE peer = name), '–')$$;

\echo
\echo '### neardup and its alternatives'
\echo
SELECT format('%s texts of %s bytes on average (the longest %s); %s other texts to search for, for which %s rows have a resemblance of at least 0.8; %s such pairs among the rows.',
	to_char(count(*), 'FM999,999,999'), round(avg(octet_length(body))), to_char(max(octet_length(body)), 'FM999,999,999'),
	(SELECT count(*) FROM queries), (SELECT to_char(count(*), 'FM999,999,999') FROM truth), (SELECT to_char(count(*), 'FM999,999,999') FROM true_pairs)) FROM docs;
\echo
\echo 'Finding the texts like a text, at a threshold of 0.8:'
\echo
\echo '| | threshold served by | exact | lookup ms | times neardup | 95 % within ms | recall | precision | ten nearest ms | their recall from 0.4 |'
\echo '|---|---|---|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', title, threshold, exact, short(value_of(peer, 'search')),
	ratio(value_of(peer, 'search') / value_of('neardup', 'search')), short(value_of(peer, 'search p95')),
	share(value_of(peer, 'recall')), share(value_of(peer, 'precision')),
	short(value_of(peer, 'nearest')), share(value_of(peer, 'nearest recall')))
FROM peers WHERE skipped IS NULL AND peer <> 'base' ORDER BY place;
\echo
SELECT format('pg_trgm measures trigrams of characters. At its threshold %s it comes nearest to a resemblance of 0.8: recall %s, precision %s.',
	round(value_of('trgm_gin', 'best threshold'), 2), round(value_of('trgm_gin', 'recall at best threshold'), 3),
	round(value_of('trgm_gin', 'precision at best threshold'), 3));
SELECT format('Each ran %s searches, or for %s seconds: %s. Their recall and precision are those of these searches.', (SELECT count(*) FROM queries), :'seconds', string_agg(format('%s %s', title, value::int), ', ' ORDER BY place))
FROM summary WHERE measure = 'search number' AND value < (SELECT count(*) FROM queries);
\echo
\echo 'Making, keeping and comparing all:'
\echo
\echo '| | build s | times neardup | MB beside the texts | insert µs | times neardup | all pairs s | times neardup | their recall | precision | rejects a copy that another session inserts |'
\echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s%s | %s | %s | %s | %s |', title, short(value_of(peer, 'build')),
	ratio(value_of(peer, 'build') / value_of('neardup', 'build')), short(value_of(peer, 'size')), short(value_of(peer, 'insert')),
	ratio(value_of(peer, 'insert') / value_of('neardup', 'insert')), CASE WHEN value_of(peer, 'pairs by searches') IS NULL THEN '' ELSE '≈ ' END,
	short(coalesce(value_of(peer, 'pairs'), value_of(peer, 'pairs by searches'))),
	ratio(coalesce(value_of(peer, 'pairs'), value_of(peer, 'pairs by searches')) / value_of('neardup', 'pairs')),
	share(value_of(peer, 'pairs recall')), share(value_of(peer, 'pairs precision')), refuses(peer))
FROM peers WHERE skipped IS NULL ORDER BY place;
\echo
SELECT format('Skipped: %s, because %s.', title, skipped) FROM peers WHERE skipped IS NOT NULL;
