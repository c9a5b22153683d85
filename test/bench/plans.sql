-- Whether the planner picks what is fastest: the three plans of a search by
-- thresholds and sizes, and a search beside another condition.
SET client_min_messages = warning;
SET check_function_bodies = off;
CREATE EXTENSION IF NOT EXISTS neardup;

CREATE TABLE loaded (source text, name text, body text);
\copy loaded from pstdin

CREATE TABLE trials (
	documents int,
	threshold float8,
	query int,
	way text,
	plan text,
	expected float8,
	cost float8,
	rows float8,
	ms float8
);

-- What EXPLAIN says of a statement, and the best time of several runs, without
-- planning.
CREATE FUNCTION try(statement text, runs int DEFAULT 3, OUT plan text, OUT expected float8, OUT cost float8, OUT rows float8, OUT ms float8)
LANGUAGE plpgsql AS $$
DECLARE
	told json;
	start timestamptz;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || statement INTO told;
	expected := told->0->'Plan'->>'Plan Rows';
	cost := told->0->'Plan'->>'Total Cost';
	SELECT string_agg(x[1] || coalesce(' ' || x[2], ''), ', ') INTO plan
	FROM regexp_matches(told::text, '"Node Type": "([^"]*)"(?:(?:(?!"Node Type")[^}])*"Index Name": "([^"]*)")?', 'g') x;
	EXECUTE 'PREPARE tried AS SELECT count(*) FROM (' || statement || ' OFFSET 0) r';
	EXECUTE 'EXECUTE tried' INTO rows;
	FOR run IN 1 .. runs
	LOOP
		start := clock_timestamp();
		EXECUTE 'EXECUTE tried' INTO rows;
		ms := least(ms, extract(epoch FROM clock_timestamp() - start) * 1000);
	END LOOP;
	DEALLOCATE tried;
END
$$;

CREATE FUNCTION allow(way text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_' || x, (way IN ('any', x))::text, false) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) x
$$;

-- Tables of so many texts, each several times with words of its own where there
-- are too few; and queries that are near to some rows.
CREATE FUNCTION fill(documents int) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	DROP TABLE IF EXISTS docs;
	CREATE TABLE docs AS
	SELECT row_number() OVER () AS id, to_minhash(body || ' edition ' || copy) AS sig, (random() * 100)::int AS of_100, (random() * 10000)::int AS of_10000
	FROM generate_series(1, 1 + documents / (SELECT count(*)::int FROM loaded)) copy, (SELECT body FROM loaded ORDER BY md5(body)) l
	LIMIT documents;
	CREATE INDEX sig ON docs USING neardup (sig);
	CREATE INDEX of_100 ON docs (of_100);
	CREATE INDEX of_10000 ON docs (of_10000);
	ANALYZE docs;
END
$make$;

CREATE FUNCTION study(documents int, queries int) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
	way text;
BEGIN
	FOREACH way IN ARRAY '{any,indexscan,bitmapscan,seqscan}'::text[]
	LOOP
		PERFORM allow(way);
		INSERT INTO trials
		SELECT documents, t, q.id, way, x.*
		FROM unnest('{0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0}'::float8[]) t,
			(SELECT id, sig FROM docs ORDER BY id LIMIT queries) q,
			try(format('SELECT id FROM docs WHERE is_similar(sig, %L, %s)', q.sig, t), CASE way WHEN 'any' THEN 1 ELSE 3 END) x;
	END LOOP;
	PERFORM allow('any');
END
$make$;

CREATE TABLE beside (
	documents int,
	threshold float8,
	other text,
	query int,
	way text,
	plan text,
	ms float8
);

-- The planner's choice beside what can only use one index.
CREATE FUNCTION study_beside(documents int, queries int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO beside
	SELECT documents, t, other, q.id, way, x.plan, x.ms
	FROM unnest('{0.3,0.5,0.8}'::float8[]) t, unnest('{of_100,of_10000}'::text[]) other,
		(SELECT * FROM docs ORDER BY id LIMIT queries) q,
		(VALUES ('any', 'is_similar(sig, %L, %s) AND %s = %s'),
			('by signature', 'is_similar(sig, %L, %s) AND %s + 0 = %s'),
			('by the other', 'CASE WHEN is_similar(sig, %L, %s) THEN true END AND %s = %s')) w (way, condition),
		try('SELECT id FROM docs WHERE ' || format(condition, q.sig, t, other, CASE other WHEN 'of_100' THEN q.of_100 ELSE q.of_10000 END)) x
$$;

-- All is in memory, so pages out of order cost little more than in order.
SET random_page_cost = 1.1;
SELECT fill(4000) \g /dev/null
SELECT study(4000, 10), study_beside(4000, 10) \g /dev/null
SELECT fill(60000) \g /dev/null
SELECT study(60000, 10), study_beside(60000, 10) \g /dev/null
SELECT fill(500000) \g /dev/null
SELECT study(500000, 10), study_beside(500000, 10) \g /dev/null

\echo
\echo '### Plans of a search by threshold: costs as predicted, times as measured (medians of 10 queries, each the best of 3 runs; random_page_cost = 1.1)'
\echo
\echo '| documents | threshold | rows | expected | off by 10 | cost: index scan | bitmap | seq scan | ms: index scan | bitmap | seq scan | the same order | picked | time of the pick / of the fastest, worst query |'
\echo '|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---:|'

WITH medians AS (
	SELECT documents, threshold, way, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost)::numeric AS cost,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric AS ms, percentile_cont(0.5) WITHIN GROUP (ORDER BY rows) AS rows,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY expected) AS expected,
		count(*) FILTER (WHERE greatest(rows, 1) > 10 * expected OR expected > 10 * greatest(rows, 1)) AS off, count(*) AS queries
	FROM trials GROUP BY documents, threshold, way
), orders AS (
	SELECT documents, threshold, string_agg(way, ' ' ORDER BY cost) AS by_cost, string_agg(way, ' ' ORDER BY ms) AS by_ms
	FROM medians WHERE way <> 'any' GROUP BY documents, threshold
), picks AS (
	SELECT a.documents, a.threshold, string_agg(DISTINCT split_part(a.plan, ' ', 1), ', ') AS picked, max(a.ms / f.ms) AS worst
	FROM (SELECT a.documents, a.threshold, a.query, a.plan, s.ms FROM trials a JOIN trials s USING (documents, threshold, query)
			WHERE a.way = 'any' AND s.way = CASE split_part(a.plan, ' ', 1) WHEN 'Seq' THEN 'seqscan' WHEN 'Index' THEN 'indexscan' ELSE 'bitmapscan' END) a
	JOIN (SELECT documents, threshold, query, min(ms) AS ms FROM trials WHERE way <> 'any' GROUP BY documents, threshold, query) f USING (documents, threshold, query)
	GROUP BY a.documents, a.threshold
)
SELECT format('| %s | %s | %s | %s | %s of %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', documents, threshold, i.rows, i.expected, i.off, i.queries,
	round(i.cost, 1), round(b.cost, 1), round(s.cost, 1), round(i.ms, 3), round(b.ms, 3), round(s.ms, 3),
	CASE WHEN by_cost = by_ms THEN 'yes' ELSE 'no: ' || by_ms END, picked, round(worst::numeric, 2))
FROM orders JOIN picks USING (documents, threshold)
	JOIN medians i USING (documents, threshold) JOIN medians b USING (documents, threshold) JOIN medians s USING (documents, threshold)
WHERE i.way = 'indexscan' AND b.way = 'bitmapscan' AND s.way = 'seqscan'
ORDER BY documents, threshold;

\echo
\echo '### A search beside another condition: is_similar(sig, q, threshold) AND other = x; random_page_cost = 1.1'
\echo
\echo '| documents | threshold | other: values | picked | ms | by signature alone | by the other alone | time of the pick / of the better, worst query |'
\echo '|---:|---:|---|---|---:|---:|---:|---:|'

SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s |', a.documents, a.threshold, a.other, string_agg(DISTINCT a.plan, '; '),
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY a.ms)::numeric, 3), round(percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms)::numeric, 3),
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY o.ms)::numeric, 3), round(max(a.ms / least(s.ms, o.ms))::numeric, 2))
FROM beside a JOIN beside s USING (documents, threshold, other, query) JOIN beside o USING (documents, threshold, other, query)
WHERE a.way = 'any' AND s.way = 'by signature' AND o.way = 'by the other'
GROUP BY a.documents, a.threshold, a.other
ORDER BY a.documents, a.threshold, a.other;
