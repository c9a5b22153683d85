-- One row for each figure, which is also a line of the CSV.
INSERT INTO measured
SELECT peer, measure, unit, value
FROM (SELECT peer, kind, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS median, percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS p95,
		avg(ms) AS mean, count(*) AS number FROM timed GROUP BY peer, kind) t,
	LATERAL (VALUES (kind, 'ms', median), (kind || ' p95', 'ms', p95), (kind || ' mean', 'ms', mean), (kind || ' number', 'queries', number)) v(measure, unit, value);

-- What searches found, of the queries that were run.
WITH answers AS (
	SELECT peer, count(*) AS found, count(t.id) AS right_ones
	FROM found JOIN peers USING (peer) LEFT JOIN truths t USING (family, query, id) WHERE kind = 'search' GROUP BY peer),
expected AS (
	SELECT peer, count(t.id) AS expected
	FROM (SELECT DISTINCT peer, query FROM timed WHERE kind = 'search') q JOIN peers USING (peer) LEFT JOIN truths t USING (family, query) GROUP BY peer)
INSERT INTO measured
SELECT peer, measure, '', value FROM expected LEFT JOIN answers USING (peer),
	LATERAL (VALUES ('recall', coalesce(right_ones, 0)::float8 / nullif(expected, 0)), ('precision', right_ones::float8 / nullif(found, 0))) v(measure, value);

-- Of the nearest ten, those with a resemblance of 0.4 and more.
WITH ran AS (SELECT DISTINCT peer, query FROM timed WHERE kind = 'nearest'),
expected AS (SELECT peer, sum(number) AS number FROM ran JOIN nearest USING (query) GROUP BY peer)
INSERT INTO measured
SELECT peer, 'nearest recall', '', (
	SELECT count(*) FROM found f JOIN nearest n USING (query) JOIN sets s USING (id) JOIN query_sets q ON q.n = query
	WHERE f.peer = expected.peer AND kind = 'nearest' AND similarity(s.s, q.s) >= least)::float8 / number
FROM expected;

-- All pairs; for peers that have no statement for them, a search for each text.
INSERT INTO measured
SELECT peer, 'pairs by searches', 's', value / 1000 * (SELECT count(*) FROM docs)
FROM measured m WHERE measure = 'search mean' AND NOT EXISTS (SELECT FROM measured p WHERE p.peer = m.peer AND p.measure IN ('pairs', 'pairs by searches'));
INSERT INTO measured
SELECT peer, measure, '', value
FROM (SELECT peer, count(*) AS found, count(t.a) AS right_ones FROM pairs p JOIN peers USING (peer) LEFT JOIN true_pairs t USING (a, b)
		WHERE family = 'texts' GROUP BY peer) p,
	LATERAL (VALUES ('pairs recall', right_ones::float8 / (SELECT count(*) FROM true_pairs)), ('pairs precision', right_ones::float8 / found)) v(measure, value);

-- What the texts are.
INSERT INTO measured
SELECT 'base', measure, '', value
FROM (SELECT avg(octet_length(body)) AS mean, max(octet_length(body)) AS most FROM docs) d,
	LATERAL (VALUES ('bytes of a text', mean), ('bytes of the longest text', most), ('queries', (SELECT count(*) FROM queries)),
		('rows to find', (SELECT count(*) FROM truth)), ('pairs to find', (SELECT count(*) FROM true_pairs))) v(measure, value);

CREATE VIEW summary AS
SELECT place, (SELECT count(*) FROM docs) AS rows, peer, title, measure, nullif(unit, '') AS unit, round(value::numeric, 4) AS value
FROM (TABLE measured UNION ALL SELECT peer, 'copies rejected by ' || how, '', 1 - accepted::int FROM races) m JOIN peers USING (peer);

-- Lines of the CSV: the figures, and what is said of each peer.  A few searches tell nothing of recall.
CREATE VIEW lines AS
SELECT place, rows, peer, title, measure, unit, value::text FROM summary s
WHERE measure NOT IN ('recall', 'precision') OR (SELECT value FROM measured m WHERE m.peer = s.peer AND m.measure = 'search number') >= 20
UNION ALL
SELECT place, (SELECT count(*) FROM docs), peer, title, measure, NULL, value
FROM peers, LATERAL (VALUES ('exact', exact), ('threshold', threshold), ('skipped', skipped)) v(measure, value) WHERE value <> '';
