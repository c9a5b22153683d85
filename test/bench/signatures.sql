-- Signatures compared with md5() of the same texts, and with reading them.
\set QUIET on
\pset tuples_only on
\pset format unaligned

-- A form to leave out, of which the texts have little; a lexicon of the texts.
SELECT left(body, 3000) AS form FROM texts WHERE length(body) > 3000 ORDER BY md5(body) LIMIT 1 \gset
SELECT neardup_lexicon('SELECT body FROM texts') AS lex \gset

SELECT race(class,
	ARRAY['read', 'md5', 'to_minhash', 'minus', 'to_simhash', 'words', 'weighed'],
	ARRAY[format('SELECT count(body ^@ ''~'') FROM texts WHERE class LIKE %L', pattern),
		format('SELECT count(md5(body)) FROM texts WHERE class LIKE %L', pattern),
		format('SELECT count(to_minhash(body)) FROM texts WHERE class LIKE %L', pattern),
		format('SELECT count(to_minhash(to_shingles(body) - to_shingles(%L))) FROM texts WHERE class LIKE %L', :'form', pattern),
		format('SELECT count(to_simhash(body)) FROM texts WHERE class LIKE %L', pattern),
		format('SELECT count(to_minhash(body, scheme => ''word 1'')) FROM texts WHERE class LIKE %L', pattern),
		format('SELECT count(to_minhash(body, lexicon => %L)) FROM texts WHERE class LIKE %L', :'lex', pattern)],
	:runs)
FROM (SELECT class, class AS pattern FROM texts GROUP BY class
	  UNION ALL SELECT 'all of 2 kB and more', '%') classes
WHERE class IS NOT NULL \g /dev/null

SELECT race('under 100 bytes',
	ARRAY['read', 'md5', 'to_minhash', 'minus', 'to_simhash', 'words', 'weighed'],
	ARRAY['SELECT count(body ^@ ''~'') FROM short_texts',
		'SELECT count(md5(body)) FROM short_texts',
		'SELECT count(to_minhash(body)) FROM short_texts',
		format('SELECT count(to_minhash(to_shingles(body) - to_shingles(%L))) FROM short_texts', :'form'),
		'SELECT count(to_simhash(body)) FROM short_texts',
		'SELECT count(to_minhash(body, scheme => ''word 1'')) FROM short_texts',
		format('SELECT count(to_minhash(body, lexicon => %L)) FROM short_texts', :'lex')],
	:runs) \g /dev/null

\echo
\echo '### Signatures: times md5() of the same rows'
\echo
\echo 'Real texts (copyright files, package descriptions), stored uncompressed; reading them is part of every time.'
\echo '"minus" is to_minhash with a constant form of 3,000 characters to leave out, in time above that without.'
\echo
\echo '| texts | number | MB | to_minhash | to_simhash | minus | to_minhash | to_simhash | md5 | reading alone |'
\echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|'

WITH sizes AS (
	SELECT class AS race, count(*) AS n, sum(octet_length(body)) AS bytes FROM texts GROUP BY class
	UNION ALL SELECT 'all of 2 kB and more', count(*), sum(octet_length(body)) FROM texts
	UNION ALL SELECT 'under 100 bytes', count(*), sum(octet_length(body)) FROM short_texts
), wide AS (
	SELECT race, max(ms) FILTER (WHERE label = 'read') AS reading, max(ms) FILTER (WHERE label = 'md5') AS md5,
		max(ms) FILTER (WHERE label = 'to_minhash') AS minhash, max(ms) FILTER (WHERE label = 'minus') AS minus, max(ms) FILTER (WHERE label = 'to_simhash') AS simhash
	FROM medians GROUP BY race
)
SELECT format('| %s | %s | %s | **%s × md5** | **%s × md5** | %s %% | %s MB/s, %s /s | %s MB/s, %s /s | %s MB/s | %s MB/s |',
	race, to_char(n, 'FM999,999,999'), round(bytes / 1e6, 1),
	round((minhash / md5)::numeric, 2), round((simhash / md5)::numeric, 2),
	to_char(100 * (minus / minhash - 1), 'SG990.0'),
	round(bytes / minhash / 1000), to_char(n / minhash * 1000, 'FM999,999,999'),
	round(bytes / simhash / 1000), to_char(n / simhash * 1000, 'FM999,999,999'),
	round(bytes / md5 / 1000), round(bytes / reading / 1000))
FROM wide JOIN sizes USING (race)
ORDER BY race = 'under 100 bytes', race <> 'all of 2 kB and more', race;

\echo
\echo '### Signatures of words, plain and weighed by a lexicon'
\echo
\echo '| texts | `to_minhash(body, ''word 1'')` | `to_minhash(body, lexicon => …)` | times |'
\echo '|---|---:|---:|---:|'

SELECT format('| %s | %s µs | %s µs | %s |', race, round((words * 1000 / n)::numeric, 1), round((weighed * 1000 / n)::numeric, 1),
	round((weighed / words)::numeric, 2))
FROM (SELECT race, max(ms) FILTER (WHERE label = 'words') AS words, max(ms) FILTER (WHERE label = 'weighed') AS weighed FROM medians GROUP BY race) m
	JOIN (SELECT class AS race, count(*) AS n FROM texts GROUP BY class
		UNION ALL SELECT 'all of 2 kB and more', count(*) FROM texts
		UNION ALL SELECT 'under 100 bytes', count(*) FROM short_texts) sizes USING (race)
ORDER BY race = 'under 100 bytes', race <> 'all of 2 kB and more', race;
