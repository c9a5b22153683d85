-- pg_trgm's measure is another one.  At which threshold of it is F1 greatest?
WITH ran AS (SELECT DISTINCT query FROM timed WHERE peer = 'trgm_gin'),
expected AS (SELECT count(*) AS number FROM truth JOIN ran USING (query)),
scored AS (
	SELECT similarity(d.body, q.body) AS score, t.id IS NOT NULL AS right_one
	FROM found f JOIN docs d USING (id) JOIN queries q ON q.n = f.query LEFT JOIN truth t ON t.query = f.query AND t.id = f.id
	WHERE f.peer = 'trgm_gin' AND kind = 'search'),
curve AS (
	SELECT threshold, count(*) FILTER (WHERE right_one)::float8 AS right_ones, count(*) AS found, (SELECT number FROM expected) AS expected
	FROM generate_series(0.8, 1, 0.01) AS threshold JOIN scored ON score >= threshold GROUP BY threshold),
best AS (SELECT * FROM curve ORDER BY 2 * right_ones / (found + expected) DESC LIMIT 1)
INSERT INTO measured
SELECT 'trgm_gin', measure, '', value
FROM best, LATERAL (VALUES ('best threshold', threshold), ('recall at best threshold', right_ones / nullif(expected, 0)), ('precision at best threshold', right_ones / found)) v(measure, value);
