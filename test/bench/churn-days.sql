-- Two weeks of traffic: each day inserts, updates and deletes a tenth of the rows, at random, in transactions of 100 rows
-- each.  The table is vacuumed after every :every tenths of a day, and background workers maintain the index.  Each figure is
-- beside that of an index that is made of the same rows at that time.  Included by churn.sql.
RESET neardup.background;
SET client_min_messages = warning;

-- Times those of a fresh index, but segments and microseconds.
CREATE TABLE IF NOT EXISTS days (
	place serial,
	every int,
	day float8,
	vacuumed boolean,
	size float8,
	entries float8,
	pages float8,
	time float8,
	segments int,
	us float8
);

-- Ids of random rows, of which there are so many.
CREATE OR REPLACE FUNCTION some_rows(number int, last int) RETURNS int[] LANGUAGE sql VOLATILE AS
	$$SELECT ARRAY(SELECT c.id FROM (SELECT 1 + floor(random() * last)::int AS id FROM generate_series(1, number * 5)) r JOIN churn c USING (id) LIMIT number)$$;

-- A tenth of a day.
CREATE OR REPLACE PROCEDURE pass(tenth int, rows int) LANGUAGE plpgsql AS $$
DECLARE
	last int := rows + (tenth - 1) * (rows / 100);
BEGIN
	FOR i IN 1 .. rows / 10000 LOOP
		INSERT INTO churn SELECT g, of_round(g, tenth) FROM generate_series(last + 1, last + 100) g;
		last := last + 100;
		COMMIT;
		UPDATE churn SET sig = of_round(id, tenth) WHERE id = ANY ((SELECT some_rows(100, last))::int[]);
		COMMIT;
		DELETE FROM churn WHERE id = ANY ((SELECT some_rows(100, last))::int[]);
		COMMIT;
	END LOOP;
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'neardup maintenance') LOOP
		PERFORM pg_sleep(0.05);
		COMMIT;
	END LOOP;
END $$;

CREATE OR REPLACE FUNCTION note_day(every int, day numeric, vacuumed boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP INDEX fresh_sig;
	TRUNCATE fresh;
	INSERT INTO fresh SELECT * FROM churn;
	CREATE INDEX fresh_sig ON fresh USING neardup (sig);
	ANALYZE fresh;
	INSERT INTO days (every, day, vacuumed, size, entries, pages, time, segments, us)
	SELECT every, day, vacuumed, pg_relation_size('churn_sig') / pg_relation_size('fresh_sig')::float8, s.documents / (SELECT count(*)::float8 FROM fresh),
		pages('churn') / pages('fresh'), a.us / a.fresh_us, s.segments, a.us FROM ask() a, neardup_index_status('churn_sig') s;
END $$;

\o /dev/null
TRUNCATE churn, fresh, churn_queries;
SELECT setseed(0.5);
INSERT INTO churn SELECT g, of_round(g, 0) FROM generate_series(1, :days_rows) g;
INSERT INTO churn_queries SELECT g, of_round(g * (:days_rows / 100), -1) FROM generate_series(1, 100) g;
REINDEX INDEX churn_sig;
VACUUM (FREEZE, ANALYZE) churn, churn_queries;
SELECT note_day(:every, 0, true);
-- Figures of each half day, and of about one vacuum a day.
SELECT unnest(ARRAY[format('CALL pass(%s, %s)', tenth, :days_rows)] ||
	CASE WHEN noted OR tenth % 5 = 0 THEN ARRAY[format('SELECT note_day(%s, %s, false)', :every, tenth / 10.0)] ELSE '{}' END ||
	CASE WHEN tenth % :every = 0 THEN ARRAY['VACUUM ANALYZE churn'] ELSE '{}' END ||
	CASE WHEN noted THEN ARRAY[format('SELECT note_day(%s, %s, true)', :every, tenth / 10.0)] ELSE '{}' END)
FROM generate_series(1, 140) tenth, LATERAL (SELECT tenth % (11 / :every * :every) = 0 AS noted) n ORDER BY tenth
\gexec
\o

SELECT E'\n### ' || :days_rows || format(E' rows in two weeks of traffic, vacuumed when %s %% are dead\n', 2 * :every)
UNION ALL SELECT '| day | size, times a fresh index (target ≤ 1.6) | entries | pages a query (target ≤ 1.5) | time | segments | µs |'
UNION ALL SELECT '|---|---:|---:|---:|---:|---:|---:|'
UNION ALL (SELECT format('| %s%s | **%s** | %s | **%s** | **%s** | %s | %s |', day, CASE WHEN vacuumed THEN ', vacuumed' END,
	round(size::numeric, 2), round(entries::numeric, 2), round(pages::numeric, 2), round(time::numeric, 2), segments, round(us::numeric, 1))
	FROM days WHERE every = :every ORDER BY place)
UNION ALL SELECT format('| most | **%s** | %s | **%s** | **%s** | %s | %s |', round(max(size)::numeric, 2), round(max(entries)::numeric, 2),
	round(max(pages)::numeric, 2), round(max(time)::numeric, 2), max(segments), round(max(us)::numeric, 1)) FROM days WHERE every = :every;
