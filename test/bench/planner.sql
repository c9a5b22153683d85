-- Whether the planner chooses the fastest plan: for searches by threshold and size, for
-- searches with another condition, for ORDER BY, and for joins.
SET client_min_messages = warning;
SET check_function_bodies = off;
CREATE EXTENSION IF NOT EXISTS neardup;

CREATE TABLE loaded (source text, name text, body text);
\copy loaded from pstdin

-- Plans a statement in one way: the planner's estimates, and the best time of several
-- runs, without planning.
CREATE TABLE trials (
	study text,
	documents int,
	threshold float8,
	variant text,
	query int,
	way text,
	plan text,
	expected float8,
	cost float8,
	rows float8,
	ms float8
);

CREATE FUNCTION try(statement text, runs int, OUT plan text, OUT expected float8, OUT cost float8, OUT rows float8, OUT ms float8)
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

CREATE FUNCTION study(study text, documents int, threshold float8, variant text, query int, way text, statement text, runs int DEFAULT 3)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO trials SELECT study, documents, threshold, variant, query, way, x.* FROM try(statement, runs) x
$$;

-- any; any at the default random_page_cost; or one kind of scan only.
CREATE FUNCTION allow(way text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_' || x, (way LIKE 'any%' OR way = x)::text, false) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) x;
	SELECT set_config('random_page_cost', CASE way WHEN 'any at 4' THEN '4' ELSE '1.1' END, false)
$$;

-- Makes tables of so many texts; if there are too few, each is repeated with words of
-- its own.  Half of the queries are licences, which are similar to each other.
CREATE FUNCTION fill(documents int, queries int) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	DROP TABLE IF EXISTS docs, queries;
	CREATE TABLE docs AS
	SELECT row_number() OVER () AS id, source, to_minhash(body || ' edition ' || copy) AS sig, to_simhash(body || ' edition ' || copy) AS print,
		(random() * 100)::int AS of_100, (random() * 10000)::int AS of_10000
	FROM generate_series(1, 1 + documents / (SELECT count(*)::int FROM loaded)) copy, (SELECT * FROM loaded ORDER BY md5(body)) l
	LIMIT documents;
	CREATE INDEX sig ON docs USING neardup (sig);
	CREATE INDEX print ON docs USING neardup (print);
	CREATE INDEX of_100 ON docs (of_100);
	CREATE INDEX of_10000 ON docs (of_10000);
	ANALYZE docs;
	CREATE TABLE queries AS
	(SELECT * FROM docs WHERE source = 'copyright' ORDER BY id LIMIT queries / 2) UNION ALL
	(SELECT * FROM docs WHERE source <> 'copyright' ORDER BY id LIMIT queries - queries / 2);
END
$make$;

-- The ways take turns, so that other load on the machine affects all of them.
CREATE FUNCTION study_searches(documents int) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
	way text;
	s record;
BEGIN
	FOR s IN SELECT variant, t, q.id, format('SELECT id FROM docs WHERE is_similar(%s, %L, %s)', variant, CASE variant WHEN 'sig' THEN q.sig::text ELSE q.print::text END, t) AS statement
		FROM (VALUES ('sig', '{0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0}'::float8[]), ('print', '{0.45,0.5,0.55,0.6,0.65,0.7,0.8,0.9}')) v (variant, thresholds),
			unnest(thresholds) t, queries q
	LOOP
		FOREACH way IN ARRAY '{any,any at 4,indexscan,bitmapscan,seqscan}'::text[]
		LOOP
			PERFORM allow(way);
			PERFORM study('search', documents, s.t, s.variant, s.id::int, way, s.statement, CASE WHEN way LIKE 'any%' THEN 0 ELSE 3 END);
		END LOOP;
	END LOOP;
	PERFORM allow('any');
END
$make$;

-- The planner's choice compared with plans that use only one index.
CREATE FUNCTION study_beside(documents int) RETURNS void LANGUAGE sql AS $$
	SELECT study('beside', documents, t, variant, q.id::int, way,
			'SELECT id FROM docs WHERE ' || format(condition, q.sig, t, variant, CASE variant WHEN 'of_100' THEN q.of_100 ELSE q.of_10000 END))
	FROM unnest('{0.3,0.5,0.7,0.9}'::float8[]) t, unnest('{of_100,of_10000}'::text[]) variant, queries q,
		(VALUES ('any', 'is_similar(sig, %L, %s) AND %s = %s'),
			('first', 'is_similar(sig, %L, %s) AND %s + 0 = %s'),
			('second', 'CASE WHEN is_similar(sig, %L, %s) THEN true END AND %s = %s')) w (way, condition)
$$;

-- ORDER BY, with the index or a sort.
CREATE FUNCTION study_order(documents int) RETURNS void LANGUAGE sql AS $$
	SELECT study('order', documents, rows, CASE other WHEN '' THEN '' ELSE 'of_100 = x' END, q.id::int, way,
			format('SELECT id FROM docs %s ORDER BY %s LIMIT %s', replace(other, 'x', q.of_100::text), format(distance, q.sig), rows))
	FROM unnest('{1,10,1000}'::int[]) rows, unnest('{"",WHERE of_100 = x}'::text[]) other, queries q,
		(VALUES ('any', 'sig <-> %L'), ('second', '(sig <-> %L) + 0')) w (way, distance);
	SELECT study('order', documents, rows, 'of_100 = x', q.id::int, 'first',
			format('SELECT id FROM docs WHERE of_100 + 0 = %s ORDER BY sig <-> %L LIMIT %s', q.of_100, q.sig, rows))
	FROM unnest('{1,10,1000}'::int[]) rows, queries q;
	SELECT allow('indexscan');
	SELECT study('order', documents, rows, '', q.id::int, 'first', format('SELECT id FROM docs ORDER BY sig <-> %L LIMIT %s', q.sig, rows))
	FROM unnest('{1,10,1000}'::int[]) rows, queries q;
	SELECT allow('any')
$$;

-- Joins so many rows with all others.
CREATE FUNCTION study_joins(documents int) RETURNS void LANGUAGE sql AS $$
	SELECT study('join', documents, t, outers::text, 0, way,
			format('SELECT a.id FROM docs a, docs b WHERE a.id <= %s AND %s', outers, format(condition, t)), 1)
	FROM unnest('{0.3,0.5,0.8}'::float8[]) t, unnest('{1,100}'::int[]) outers,
		(VALUES ('any', 'is_similar(a.sig, b.sig, %s)'),
			('second', 'CASE WHEN is_similar(a.sig, b.sig, %s) THEN true END')) w (way, condition);
	SELECT allow('indexscan');
	SELECT study('join', documents, t, outers::text, 0, 'first',
			format('SELECT a.id FROM docs a, docs b WHERE a.id <= %s AND is_similar(a.sig, b.sig, %s)', outers, t), 1)
	FROM unnest('{0.3,0.5,0.8}'::float8[]) t, unnest('{1,100}'::int[]) outers;
	SELECT allow('any')
$$;

-- Generic and custom plans: ms with planning.
CREATE FUNCTION study_prepared(documents int) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
	mode text;
	q record;
	t float8;
	start timestamptz;
	told json;
	best float8;
BEGIN
	PREPARE prepared(minhash, float8) AS SELECT id FROM docs WHERE is_similar(sig, $1, $2);
	FOREACH mode IN ARRAY '{force_generic_plan,force_custom_plan}'::text[]
	LOOP
		PERFORM set_config('plan_cache_mode', mode, false);
		FOR q IN SELECT * FROM queries
		LOOP
			FOREACH t IN ARRAY '{0.3,0.6,0.9}'::float8[]
			LOOP
				EXECUTE format('EXPLAIN (FORMAT JSON) EXECUTE prepared(%L, %s)', q.sig, t) INTO told;
				best := NULL;
				FOR run IN 1 .. 4
				LOOP
					start := clock_timestamp();
					EXECUTE format('EXECUTE prepared(%L, %s)', q.sig, t);
					best := least(best, extract(epoch FROM clock_timestamp() - start) * 1000);
				END LOOP;
				INSERT INTO trials VALUES ('prepared', documents, t, '', q.id, mode, told->0->'Plan'->>'Node Type',
					(told->0->'Plan'->>'Plan Rows')::float8, (told->0->'Plan'->>'Total Cost')::float8, NULL, best);
			END LOOP;
		END LOOP;
	END LOOP;
	RESET plan_cache_mode;
	DEALLOCATE prepared;
END
$make$;

SELECT allow('any') \g /dev/null
SELECT fill(4000, 10) \g /dev/null
SELECT study_searches(4000), study_beside(4000), study_order(4000), study_joins(4000), study_prepared(4000) \g /dev/null
SELECT fill(60000, 10) \g /dev/null
SELECT study_searches(60000), study_beside(60000), study_order(60000), study_joins(60000), study_prepared(60000) \g /dev/null
SELECT fill(300000, 6) \g /dev/null
SELECT study_searches(300000), study_beside(300000), study_order(300000), study_joins(300000), study_prepared(300000) \g /dev/null

CREATE FUNCTION median(numbers float8[]) RETURNS text LANGUAGE sql AS
	'SELECT CASE WHEN m >= 100 THEN round(m)::text WHEN m >= 1 THEN round(m, 1)::text ELSE round(m, 3)::text END
	FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x)::numeric AS m FROM unnest(numbers) x) s';

-- The plan chosen, by its first node: its time compared with the fastest, for the worst query.
CREATE VIEW picks AS
SELECT a.study, a.documents, a.threshold, a.variant, a.way, count(*) AS queries,
	string_agg(DISTINCT split_part(a.plan, ' ', 1), ', ') AS picked, round(max(s.ms / f.ms)::numeric, 2) AS worst
FROM trials a JOIN trials s USING (study, documents, threshold, variant, query)
	JOIN (SELECT study, documents, threshold, variant, query, min(ms) AS ms FROM trials GROUP BY 1, 2, 3, 4, 5) f USING (study, documents, threshold, variant, query)
WHERE a.study = 'search' AND a.way LIKE 'any%' AND s.way = CASE split_part(a.plan, ' ', 1) WHEN 'Seq' THEN 'seqscan' WHEN 'Index' THEN 'indexscan' ELSE 'bitmapscan' END
GROUP BY 1, 2, 3, 4, 5;

\echo
\echo '### Plans of a search: predicted and true order'
\echo
\echo 'Medians of 10 queries (6 of the largest table), each the best of 3 runs, random_page_cost = 1.1. Orders name the plans from the cheapest to the most expensive: Index, Bitmap or Seq scan; plans whose'
\echo 'times are within 15 % of each other count as equal. "Picked": by cost, and how much longer it took than the fastest, for the worst query; with random_page_cost = 4 in brackets.'
\echo 'sig is minhash(512, 1). print is simhash(64), which has thresholds at which large parts of a table are found.'
\echo
\echo '| documents | column | threshold | rows | expected | off by 10 | cost: index scan | bitmap | seq scan | ms: index scan | bitmap | seq scan | predicted | true | the same | picked |'
\echo '|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---|---|'

WITH medians AS (
	SELECT documents, variant, threshold, initcap(left(way, 1)) AS way, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS cost,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms
	FROM trials WHERE study = 'search' AND way NOT LIKE 'any%' GROUP BY documents, variant, threshold, way
), orders AS (
	SELECT documents, variant, threshold, string_agg(way, ' ' ORDER BY cost) AS by_cost, string_agg(way, ' ' ORDER BY ms) AS by_ms,
		NOT EXISTS (SELECT FROM medians x JOIN medians y USING (documents, variant, threshold)
			WHERE documents = m.documents AND variant = m.variant AND threshold = m.threshold AND x.cost < y.cost AND x.ms > 1.15 * y.ms) AS same
	FROM medians m GROUP BY documents, variant, threshold
), numbers AS (
	SELECT documents, variant, threshold, count(*) FILTER (WHERE way = 'any') AS queries,
		count(*) FILTER (WHERE way = 'any' AND (greatest(rows, 1) > 10 * expected OR expected > 10 * greatest(rows, 1))) AS off,
		median(array_agg(rows)) AS rows, median(array_agg(expected)) AS expected,
		median(array_agg(cost) FILTER (WHERE way = 'indexscan')) AS index_cost, median(array_agg(ms) FILTER (WHERE way = 'indexscan')) AS index_ms,
		median(array_agg(cost) FILTER (WHERE way = 'bitmapscan')) AS bitmap_cost, median(array_agg(ms) FILTER (WHERE way = 'bitmapscan')) AS bitmap_ms,
		median(array_agg(cost) FILTER (WHERE way = 'seqscan')) AS seq_cost, median(array_agg(ms) FILTER (WHERE way = 'seqscan')) AS seq_ms
	FROM trials WHERE study = 'search' GROUP BY documents, variant, threshold
)
SELECT format('| %s | %s | %s | %s | %s | %s of %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s %s (%s %s) |', documents, variant, threshold, n.rows, n.expected, n.off, n.queries,
	index_cost, bitmap_cost, seq_cost, index_ms, bitmap_ms, seq_ms, by_cost, by_ms, CASE WHEN same THEN 'yes' ELSE 'no' END, p.picked, p.worst, p4.picked, p4.worst)
FROM numbers n JOIN orders USING (documents, variant, threshold) JOIN picks p USING (documents, variant, threshold) JOIN picks p4 USING (documents, variant, threshold)
WHERE p.way = 'any' AND p4.way = 'any at 4'
ORDER BY documents, variant DESC, threshold;

-- The planner's own choice compared with two plans that it was forced to.
CREATE FUNCTION report(of text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s |', documents, threshold, variant,
		(SELECT string_agg(DISTINCT plan, '; ') FROM unnest(array_agg(a.plan)) plan), median(array_agg(a.ms)), coalesce(median(array_agg(x.ms)), '-'), median(array_agg(y.ms)),
		round(max(a.ms / least(a.ms, x.ms, y.ms))::numeric, 2))
	FROM trials a JOIN trials y USING (study, documents, threshold, variant, query)
		LEFT JOIN (SELECT * FROM trials WHERE way = 'first') x USING (study, documents, threshold, variant, query)
	WHERE study = of AND a.way = 'any' AND y.way = 'second'
	GROUP BY documents, threshold, variant ORDER BY documents, threshold, variant
$$;

\echo
\echo '### A search with another condition: is_similar(sig, q, threshold) AND other = x'
\echo
\echo '| documents | threshold | other | picked | ms | by the signature only | by the other only | time of the pick / of the fastest, worst query |'
\echo '|---:|---:|---|---|---:|---:|---:|---:|'
SELECT report('beside');

\echo
\echo '### In order: ORDER BY sig <-> q LIMIT n'
\echo
\echo '| documents | limit | condition | picked | ms | by the signature only | by sorting | time of the pick / of the fastest, worst query |'
\echo '|---:|---:|---|---|---:|---:|---:|---:|'
SELECT report('order');

\echo
\echo '### Joins: is_similar(a.sig, b.sig, threshold) AND a.id <= n'
\echo
\echo '| documents | threshold | n | picked | ms | by the index | without an index | time of the pick / of the fastest |'
\echo '|---:|---:|---:|---|---:|---:|---:|---:|'
SELECT report('join');

\echo
\echo '### Prepared: is_similar(sig, $1, $2), planned once or for each query; planning counts in the second'
\echo
\echo '| documents | threshold | plan, generic | expected | ms | plan, custom | expected | ms |'
\echo '|---:|---:|---|---:|---:|---|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s |', documents, threshold,
	string_agg(DISTINCT plan, ', ') FILTER (WHERE way = 'force_generic_plan'), median(array_agg(expected) FILTER (WHERE way = 'force_generic_plan')), median(array_agg(ms) FILTER (WHERE way = 'force_generic_plan')),
	string_agg(DISTINCT plan, ', ') FILTER (WHERE way = 'force_custom_plan'), median(array_agg(expected) FILTER (WHERE way = 'force_custom_plan')), median(array_agg(ms) FILTER (WHERE way = 'force_custom_plan')))
FROM trials WHERE study = 'prepared' GROUP BY documents, threshold ORDER BY documents, threshold;
