-- Compares indexes: statements run in server-side loops, as static SQL with cached
-- plans.
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;

CREATE TABLE answers (
	contest text,
	label text,
	place serial,
	query int,
	run int,
	us float8,
	ids int[]
);
CREATE TABLE builds (
	contest text,
	label text,
	seconds float8,
	bytes bigint,
	runs int
);
CREATE TABLE inserts (
	contest text,
	label text,
	us float8
);

-- Times a statement that returns ids for v, a row of the table of queries.  All
-- queries run once before the first is repeated.
CREATE FUNCTION contest(contest text, label text, queries regclass, statement text,
		runs int DEFAULT 5, most int DEFAULT 200, settings text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format($function$
		CREATE OR REPLACE FUNCTION pg_temp.timed(contest text, label text, runs int, most int) RETURNS void LANGUAGE plpgsql AS $$
		DECLARE
			v %1$s%%ROWTYPE;
			found int[];
			start timestamptz;
			us float8;
		BEGIN
			FOR run IN 1 - (runs > 1)::int .. runs	-- number 0 warms up
			LOOP
				FOR v IN SELECT * FROM %1$s q ORDER BY q.id LIMIT most
				LOOP
					start := clock_timestamp();
					SELECT array_agg(r.id) INTO found FROM (%2$s) r;
					us := extract(epoch FROM clock_timestamp() - start) * 1e6;
					CONTINUE WHEN run = 0;
					INSERT INTO answers VALUES (contest, label, DEFAULT, v.id, run, us, CASE WHEN run = 1 THEN found END);
				END LOOP;
			END LOOP;
		END
		$$ SET plan_cache_mode = force_generic_plan %3$s
		$function$, queries, statement,
		(SELECT string_agg('SET ' || trim(x), ' ') FROM unnest(string_to_array(settings, ',')) x));
	EXECUTE 'SELECT pg_temp.timed($1, $2, $3, $4)' USING contest, label, runs, most;
END
$make$;

-- Microseconds per row for inserting the rows of a table into another, one at a time.
CREATE FUNCTION time_inserts(contest text, label text, source regclass, target regclass) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	EXECUTE format($function$
		CREATE OR REPLACE FUNCTION pg_temp.inserting() RETURNS float8 LANGUAGE plpgsql AS $$
		DECLARE
			v %1$s%%ROWTYPE;
			start timestamptz;
			rows int := 0;
		BEGIN
			start := clock_timestamp();
			FOR v IN SELECT * FROM %1$s
			LOOP
				INSERT INTO %2$s VALUES (v.*);
				rows := rows + 1;
			END LOOP;
			RETURN extract(epoch FROM clock_timestamp() - start) * 1e6 / rows;
		END
		$$
		$function$, source, target);
	EXECUTE 'INSERT INTO inserts SELECT $1, $2, pg_temp.inserting()' USING contest, label;
END
$make$;

-- Builds an index several times.
CREATE FUNCTION time_build(contest text, label text, index text, ddl text, runs int DEFAULT 3) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	seconds float8[];
BEGIN
	FOR run IN 1 .. runs
	LOOP
		EXECUTE format('DROP INDEX IF EXISTS %s', index);
		start := clock_timestamp();
		EXECUTE ddl;
		seconds := seconds || extract(epoch FROM clock_timestamp() - start)::float8;
	END LOOP;
	INSERT INTO builds
	SELECT contest, label, percentile_cont(0.5) WITHIN GROUP (ORDER BY x), pg_relation_size(index), runs
	FROM unnest(seconds) x;
END
$$;

-- A query's time is the best of its runs.
CREATE VIEW contest_results AS
WITH best AS (
	SELECT contest, label, query, min(place) AS place, min(us) AS us, max(run) AS runs, max(ids) AS ids
	FROM answers GROUP BY contest, label, query
), timed AS (
	SELECT a.contest, a.label, min(a.place) AS place, count(*) AS queries, max(a.runs) AS runs,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY a.us) / 1000 AS ms,
		percentile_cont(0.95) WITHIN GROUP (ORDER BY a.us) / 1000 AS p95,
		sum(cardinality(ARRAY(SELECT unnest(a.ids) INTERSECT SELECT unnest(e.ids))))::float8 /
			nullif(sum(cardinality(e.ids)), 0) AS recall,
		sum(cardinality(ARRAY(SELECT unnest(a.ids) EXCEPT SELECT unnest(e.ids)))) AS wrong
	FROM best a JOIN best e USING (contest, query)
	WHERE e.label = 'exact' AND a.label <> 'exact'
	GROUP BY a.contest, a.label
)
SELECT t.*, s.ms / t.ms AS faster
FROM timed t JOIN timed s ON s.contest = t.contest AND s.label = 'seq scan';

CREATE TABLE targets (
	contest text,
	label text,
	what text,
	target text
);

CREATE FUNCTION target(text, text, text) RETURNS text LANGUAGE sql AS
	$$SELECT coalesce((SELECT target FROM targets WHERE contest = $1 AND label = $2 AND what = $3), '')$$;

CREATE FUNCTION show(contest text, title text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT E'\n### ' || title || E'\n'
	UNION ALL SELECT '| | median ms | target | p95 ms | times faster than the seq scan | target | recall | wrong rows | queries × runs |'
	UNION ALL SELECT '|---|---:|---|---:|---:|---|---:|---:|---|'
	UNION ALL (SELECT format('| %s | **%s** | %s | %s | %s | %s | %s | %s | %s × %s |', label,
		round(ms::numeric, 3), target(contest, label, 'ms'), round(p95::numeric, 3), round(faster::numeric, 1),
		target(contest, label, 'faster'), round(recall::numeric, 4), wrong, queries, runs)
	FROM contest_results r WHERE r.contest = show.contest ORDER BY place)
$$;

-- raw: bytes of the signatures alone.
CREATE FUNCTION show_builds(contest text, title text, raw float8) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT E'\n### ' || title || E'\n'
	UNION ALL SELECT '| | build s | target | MB | times the raw signatures | target | runs |'
	UNION ALL SELECT '|---|---:|---|---:|---:|---|---:|'
	UNION ALL (SELECT format('| %s | **%s** | %s | %s | %s | %s | %s |', label, round(seconds::numeric, 2),
		target(contest, label, 'build'), round(bytes / 1e6, 1), round((bytes / raw)::numeric, 2),
		target(contest, label, 'size'), runs)
	FROM builds b WHERE b.contest = show_builds.contest)
$$;

CREATE FUNCTION show_inserts(contest text, title text) RETURNS SETOF text LANGUAGE sql AS $$
	WITH medians AS (
		SELECT label, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS us, min(us) AS least, max(us) AS most, count(*) AS runs
		FROM inserts i WHERE i.contest = show_inserts.contest GROUP BY label
	)
	SELECT E'\n### ' || title || E'\n'
	UNION ALL SELECT '| | µs a row more than the primary key alone | target | µs a row | least | most | runs |'
	UNION ALL SELECT '|---|---:|---|---:|---:|---:|---:|'
	UNION ALL (SELECT format('| %s | **%s** | %s | %s | %s | %s | %s |', m.label, round((m.us - p.us)::numeric, 1),
		target(show_inserts.contest, m.label, 'insert'),
		round(m.us::numeric, 1), round(m.least::numeric, 1), round(m.most::numeric, 1), m.runs)
	FROM medians m, medians p WHERE p.label = 'primary key alone' ORDER BY m.us)
$$;
