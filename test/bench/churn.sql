-- An index whose table is rewritten again and again: every second round updates
-- all rows, the others delete all and insert new ones.  Then a hundred rounds insert,
-- delete and update one row in a hundred each, and one deletes a third.  A vacuum
-- runs after each round.  Last, churn-days.sql.
SET client_min_messages = warning;
SET neardup.background = off;
CREATE EXTENSION IF NOT EXISTS neardup;
\if :{?rows}
\else
	\set rows 100000
\endif

CREATE TABLE churn (id int PRIMARY KEY, sig minhash NOT NULL);
CREATE INDEX churn_sig ON churn USING neardup (sig);
CREATE TABLE churn_queries (id int, sig minhash);
CREATE TABLE rounds (
	place serial,
	label text,
	bytes bigint,
	segments int,
	pages float8,
	fresh_pages float8,
	us float8,
	fresh_us float8
);
-- The WAL written by the rounds' changes, and by their vacuums.
CREATE TABLE wal (place serial, round int, vacuum boolean, position pg_lsn);

-- A signature of twelve words, two of which change in each round.
CREATE FUNCTION of_round(id int, round int) RETURNS minhash LANGUAGE sql AS $$
	SELECT to_minhash(to_shingles(ARRAY(SELECT id || ' ' || i || CASE WHEN i > 10 THEN ' ' || round ELSE '' END FROM generate_series(1, 12) i)))
$$;

-- A copy of the first rows that stays as it is: a fresh index to compare with at the same time.
CREATE TABLE fresh (id int PRIMARY KEY, sig minhash NOT NULL);

-- Microseconds of a query on both tables by turns: the best of five, the median of 100.
CREATE FUNCTION ask(OUT us float8, OUT fresh_us float8) LANGUAGE plpgsql AS $$
DECLARE
	v churn_queries%ROWTYPE;
	start timestamptz;
	middle timestamptz;
	best float8;
	fresh_best float8;
	times float8[];
	fresh_times float8[];
BEGIN
	FOR v IN SELECT * FROM churn_queries
	LOOP
		best := 'Infinity';
		fresh_best := 'Infinity';
		FOR run IN 1 .. 5
		LOOP
			start := clock_timestamp();
			PERFORM id FROM churn WHERE is_similar(sig, v.sig, 0.7);
			middle := clock_timestamp();
			PERFORM id FROM fresh WHERE is_similar(sig, v.sig, 0.7);
			best := least(best, extract(epoch FROM middle - start) * 1e6);
			fresh_best := least(fresh_best, extract(epoch FROM clock_timestamp() - middle) * 1e6);
		END LOOP;
		times := times || best;
		fresh_times := fresh_times || fresh_best;
	END LOOP;
	us := percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(times) x;
	fresh_us := percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(fresh_times) x;
END
$$ SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;

-- The pages that a query visits: the median of 100.
CREATE FUNCTION pages(tab regclass) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	v churn_queries%ROWTYPE;
	plan json;
	visited float8[];
BEGIN
	FOR v IN SELECT * FROM churn_queries
	LOOP
		EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT id FROM %s WHERE is_similar(sig, $1, 0.7)', tab) INTO plan USING v.sig;
		visited := visited || (plan->0->'Plan'->>'Shared Hit Blocks')::float8 + (plan->0->'Plan'->>'Shared Read Blocks')::float8;
	END LOOP;
	RETURN percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(visited) x;
END
$$ SET enable_seqscan = off;

CREATE FUNCTION note(label text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO rounds (label, bytes, segments, pages, fresh_pages, us, fresh_us)
	SELECT label, pg_relation_size('churn_sig'), (SELECT segments FROM neardup_index_status('churn_sig')), pages('churn'), pages('fresh'), us, fresh_us FROM ask()
$$;

INSERT INTO churn SELECT g, of_round(g, 0) FROM generate_series(1, :rows) g;
INSERT INTO fresh SELECT * FROM churn;
INSERT INTO churn_queries SELECT g, of_round(g * (:rows / 100), -1) FROM generate_series(1, 100) g;
CREATE INDEX fresh_sig ON fresh USING neardup (sig);
REINDEX INDEX churn_sig;
VACUUM (FREEZE, ANALYZE) churn, fresh;
SELECT note('built') \g /dev/null

\o /dev/null
SELECT unnest(
	CASE WHEN round % 2 = 1 THEN
		ARRAY[format('UPDATE churn SET sig = of_round(id, %s)', round)]
	ELSE
		ARRAY['DELETE FROM churn', 'VACUUM churn',
			format('INSERT INTO churn SELECT g, of_round(g, %s) FROM generate_series(1, %s) g', round, :rows)]
	END ||
	ARRAY['VACUUM churn', format('SELECT note(%L)', round || CASE WHEN round % 2 = 1 THEN ': updated' ELSE ': deleted, inserted' END)])
FROM generate_series(1, 10) round
ORDER BY round
\gexec
REINDEX INDEX churn_sig;
SELECT note('rebuilt');
SELECT unnest(ARRAY[
	format('INSERT INTO wal (round, position) VALUES (%s, pg_current_wal_insert_lsn())', round),
	format('DELETE FROM churn WHERE id %% 100 = %s', round % 100),
	format('INSERT INTO churn SELECT g, of_round(g, 10) FROM generate_series(1, %s) g WHERE g %% 100 = %s', :rows, round % 100),
	format('UPDATE churn SET sig = of_round(id, %s) WHERE id %% 100 = %s', round, (round + 50) % 100),
	format('INSERT INTO wal (round, vacuum, position) VALUES (%s, false, pg_current_wal_insert_lsn())', round),
	'VACUUM churn',
	format('INSERT INTO wal (round, vacuum, position) VALUES (%s, true, pg_current_wal_insert_lsn())', round)] ||
	CASE WHEN round % 10 = 5 THEN ARRAY[format('SELECT note(%L)', round || ': 1 % inserted, deleted, updated')] ELSE '{}' END)
FROM generate_series(11, 110) round
ORDER BY round
\gexec
DELETE FROM churn WHERE id % 3 = 0;
DELETE FROM fresh WHERE id % 3 = 0;
VACUUM churn;
VACUUM fresh;
REINDEX INDEX fresh_sig;
SELECT note('a third deleted');
\o

WITH rebuilt AS (
	SELECT bytes FROM rounds WHERE label = 'rebuilt'
)
SELECT E'\n### ' || :rows || E' rows written again ten times, then 1 % a round, and vacuumed\n'
UNION ALL SELECT '| round | MB | times a fresh index of all rows (target ≤ 3) | segments | pages a query | times a fresh index (target ≤ 1.5) | µs | times a fresh index |'
UNION ALL SELECT '|---|---:|---:|---:|---:|---:|---:|---:|'
UNION ALL (SELECT format('| %s | %s | **%s** | %s | %s | **%s** | %s | %s |', label, round(r.bytes / 1e6, 1),
	round(r.bytes::numeric / b.bytes, 2), segments, pages, round((pages / fresh_pages)::numeric, 2), round(us::numeric, 1), round((us / fresh_us)::numeric, 2))
FROM rounds r, rebuilt b ORDER BY place);

WITH step AS (
	SELECT vacuum, position - lag(position) OVER (ORDER BY place) AS bytes FROM wal
)
SELECT E'\n' || format('The changes of 1 %% a round wrote %s MB of WAL, the vacuums %s MB: **%s** times as much (target ≤ 3).',
	round(sum(bytes) FILTER (WHERE NOT vacuum) / 1e6, 1), round(sum(bytes) FILTER (WHERE vacuum) / 1e6, 1),
	round(sum(bytes) FILTER (WHERE vacuum) / sum(bytes) FILTER (WHERE NOT vacuum), 2))
FROM step;

-- As autovacuum does by default, and with autovacuum_vacuum_scale_factor = 0.05.
\set every 11
\ir churn-days.sql
\set every 3
\ir churn-days.sql
\pset tuples_only off
\pset format csv
\o churn.csv
SELECT day, size, entries, pages AS "pages of a search", time AS "time of a search" FROM days WHERE every = 11 ORDER BY place;
\o
