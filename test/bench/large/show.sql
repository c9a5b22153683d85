-- Prints the results of BENCH=large, from stdin, and writes the data of plots.
CREATE TEMP TABLE results (place serial, library text, rows int, what text, value text);
\copy results (library, rows, what, value) FROM pstdin

-- What is wanted of a number of rows, where what matches a pattern.
CREATE TEMP TABLE wanted (least int, most int, pattern text, wanted text);
INSERT INTO wanted VALUES
	(100000000, 100000000, 'build s', '≤ 180'),
	(10000000, 100000000, 'index / raw', '≤ 2.5'),
	(10000000, 100000000, 'private MB after%', '≤ 12'),
	(10000000, 10000000, 'first beyond later%', '≤ 1'),
	(40000000, 100000000, 'first beyond later%', '≤ 3'),
	(10000000, 100000000, 'cold files: ms at 60', '≤ 1/3 of the old'),
	(10000000, 100000000, 'share 0.5 % at 60, times resident', '≤ 1.5'),
	(10000000, 10000000, 'LIMIT 1 for a row%', '≤ 0.05'),
	(300000, 300000, 'ms at 60, again', '≤ 0.09'),
	(10000000, 10000000, 'ms at 20', '≤ 0.25'),
	(100000000, 100000000, 'share 0.1 % pages read in at 20', '≤ 60'),
	(100000000, 100000000, 'growth at 20 from 10000000 rows', '≤ 3'),
	(100000000, 100000000, 'growth at 60 from 10000000 rows', '≤ 4'),
	(0, 1000000, '1M at 0.9 / primary key', '≤ 1.7'),
	(0, 1000000, 'ten nearest of strangers: ms', '≤ 2'),
	(0, 1000000, '%ms / best forced', '≤ 1.2'),
	(0, 1000000, 'one form, pairs at 0.8: s', '≤ 60'),
	(0, 1000000, 'one form, pairs at 0.8: ns a pair', '≤ 1.3'),
	(0, 1000000, 'built / raw', '≤ 2.5'),
	(0, 1000000, 'grown / raw%', '≤ 3'),
	(0, 1000000, 'WAL a row%', '≤ 300'),
	(0, 1000000, 'two inserters%', '≥ 0.85');

-- Times beside the resident index, and growth since the number of rows before.
INSERT INTO results (library, rows, what, value)
SELECT s.library, s.rows, s.what || ', times resident', s.value::float8 / r.value::float8
FROM results s JOIN results r ON r.library = s.library AND r.rows = s.rows
	AND r.what = regexp_replace(s.what, '^share [0-9.]+', 'share 1')
WHERE s.what ~ '^share 0.* ms at';
INSERT INTO results (library, rows, what, value)
SELECT library, rows, format('growth %s from %s rows', substring(what FROM 4), before), value / of_before
FROM (SELECT library, rows, what, value::float8, lag(rows) OVER w AS before, lag(value::float8) OVER w AS of_before
	FROM results WHERE what IN ('ms at 20', 'ms at 60') WINDOW w AS (PARTITION BY library, what ORDER BY rows)) g
WHERE before IS NOT NULL;

-- One value of each: the median of numbers, or the last of texts.
CREATE TEMP TABLE cells AS
SELECT library, rows, what, min(place) AS place, (array_agg(value ORDER BY place DESC))[1] AS text,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN value ~ '^-?[0-9.]+(e-?[0-9]+)?$' THEN value::float8 END) AS number
FROM results GROUP BY library, rows, what;

CREATE FUNCTION pg_temp.shown(x float8) RETURNS text LANGUAGE sql AS
	$$SELECT CASE WHEN abs(x) >= 100 THEN round(x)::text WHEN abs(x) >= 1 OR x = 0 THEN round(x::numeric, 2)::text ELSE round(x::numeric, 4)::text END$$;

CREATE TEMP VIEW beside AS
SELECT rows, what, place, (SELECT wanted FROM wanted WHERE what LIKE pattern AND rows BETWEEN least AND most) AS wanted,
	o.text AS old_text, o.number AS old, n.text AS new_text, n.number AS new
FROM (SELECT rows, what, min(place) AS place FROM cells GROUP BY rows, what) c
	LEFT JOIN (SELECT rows, what, text, number FROM cells WHERE library = 'old') o USING (rows, what)
	LEFT JOIN (SELECT rows, what, text, number FROM cells WHERE library = 'new') n USING (rows, what);

\echo
\echo '| rows | what is wanted |' :old '| this tree | new / old | wanted |'
\echo '|---:|---|---:|---:|---:|---|'
SELECT format('| %s | %s | %s | **%s** | %s | %s |', rows, what, pg_temp.shown(old), pg_temp.shown(new), pg_temp.shown(new / nullif(old, 0)), wanted)
FROM beside WHERE wanted IS NOT NULL ORDER BY place;

\echo
\echo '| rows | everything |' :old '| this tree | new / old |'
\echo '|---:|---|---:|---:|---:|'
SELECT format('| %s | %s | %s | **%s** | %s |', rows, what, coalesce(pg_temp.shown(old), old_text), coalesce(pg_temp.shown(new), new_text), pg_temp.shown(new / nullif(old, 0)))
FROM beside WHERE what NOT LIKE '%answers%' ORDER BY place;

\echo
SELECT 'Answers of both libraries: ' || coalesce('NOT EQUAL: ' || string_agg(what || ', ' || rows || ' rows', '; ') FILTER (WHERE old_text <> new_text), 'equal')
FROM beside WHERE what LIKE '%answers%' AND old_text IS NOT NULL AND new_text IS NOT NULL HAVING count(*) > 0;

-- For tables: one figure of each library a line, without the digests of answers.
\pset tuples_only off
\pset format csv
\o large.csv
SELECT library, rows, what, coalesce(pg_temp.shown(number), text) AS value FROM cells WHERE what NOT LIKE '%answers%' ORDER BY place;

-- For plots: a line for each number of rows or share, and a column for each series.
CREATE TEMP VIEW points AS
SELECT 'growth' AS plot, rows::float8 AS x, library, CASE what WHEN 'ms of a scan of the table' THEN 'scan' ELSE substring(what FROM 4) END AS what, number
FROM cells WHERE what ~ '^ms (at [0-9]+|of a scan of the table)$'
UNION ALL
SELECT 'memory', rows, library, CASE WHEN what = 'index MB' THEN 'index' ELSE regexp_replace(what, 'private MB', 'a session') END, number
FROM cells WHERE what ~ '^(index MB|private MB .*)$'
UNION ALL
SELECT 'memory', rows, library, 'signatures', rows * 50.0 / 1e6 FROM cells WHERE what = 'index MB' AND library = 'new'
UNION ALL
SELECT 'shares', substring(what FROM 'share ([0-9.]+)')::float8, library, substring(what FROM 'at [0-9]+$'), number FROM cells
WHERE what ~ '^share .* ms at [0-9]+$' AND rows = (SELECT max(rows) FROM cells WHERE what ~ '^share');
\o growth.csv
SELECT x AS rows, library || ' ' || what AS series, number FROM points WHERE plot = 'growth' ORDER BY series, rows
\crosstabview
\o memory.csv
SELECT x AS rows, library || ' ' || what AS series, number FROM points WHERE plot = 'memory' ORDER BY series, rows
\crosstabview
\o shares.csv
SELECT x AS share, library || ' ' || what AS series, number FROM points WHERE plot = 'shares' ORDER BY series, share
\crosstabview
\o
