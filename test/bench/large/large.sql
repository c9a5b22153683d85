-- Tables and functions for an index of many rows (BENCH=large).  Row i of the table is a
-- random fingerprint of 400 bits that depends only on i; each tenth row is a copy of a row
-- before it in which 0 to 60 bits are flipped.
--
-- The tables do not depend on the extension, so one library can follow the other.
\ir ../index-harness.sql

CREATE UNLOGGED TABLE large (id int, sig bit(400) NOT NULL);
CREATE TABLE large_queries (id int PRIMARY KEY, sig bit(400), there bit(400));
CREATE TABLE little AS SELECT 1 AS id, 0::bit(400) AS sig;
CREATE TABLE one_row AS SELECT * FROM little;

CREATE FUNCTION fingerprint(i bigint) RETURNS bit LANGUAGE sql IMMUTABLE AS $$
	SELECT hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64) || hashint8extended(i, 3)::bit(64) ||
		hashint8extended(i, 4)::bit(64) || hashint8extended(i, 5)::bit(64) || hashint8extended(i, 6)::bit(64) || hashint8extended(i, 7)::bit(16)
$$;

-- A row before row i that is no copy.
CREATE FUNCTION original(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	$$SELECT (hashint8extended(i, 8) & 9223372036854775807) % i / 10 * 10 + 1$$;

-- Mask n has n % 61 bits.
CREATE TABLE masks AS
SELECT n, (SELECT string_agg((place <= n % 61)::int::text, '' ORDER BY bit)::bit(400)
		FROM (SELECT bit, row_number() OVER (ORDER BY hashint4extended(bit, n)) AS place FROM generate_series(1, 400) bit) b) AS mask
FROM generate_series(0, 1219) n;
ANALYZE masks;

-- Adds rows to the table until it has so many, a million in each transaction.
CREATE PROCEDURE grow(rows int) LANGUAGE plpgsql AS $$
DECLARE
	first int := coalesce((SELECT max(id) FROM large), 0) + 1;
	last int;
BEGIN
	WHILE first <= rows LOOP
		last := least(rows, first + 999999);
		INSERT INTO large
		SELECT i, fingerprint(CASE i % 10 WHEN 0 THEN original(i) ELSE i END) # mask
		FROM generate_series(first, last) i JOIN masks ON n = CASE i % 10 WHEN 0 THEN i / 10 % 1220 ELSE 0 END;
		COMMIT;
		first := last + 1;
	END LOOP;
END $$;

-- Makes queries near rows of the table, in random order, with the rows.
CREATE FUNCTION make_queries(rows int) RETURNS void LANGUAGE sql AS $$
	DELETE FROM large_queries;
	INSERT INTO large_queries
	SELECT q, fingerprint(i) # mask, fingerprint(i)
	FROM (SELECT q, (hashint8extended(q, 9) & 9223372036854775807) % rows / 10 * 10 + 1 AS i FROM generate_series(1, 1800) q) q
		JOIN masks ON n = q % 1220;
$$;

-- Makes the extension and an index of the library that is installed.
CREATE FUNCTION change_library() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP EXTENSION IF EXISTS neardup CASCADE;
	CREATE EXTENSION neardup_study CASCADE;
	CREATE INDEX ON little USING neardup (sig);
	CREATE INDEX ON one_row USING neardup (sig);
END $$;

CREATE FUNCTION ms_since(start timestamptz) RETURNS float8 LANGUAGE sql AS
	$$SELECT extract(epoch FROM clock_timestamp() - start)::float8 * 1000$$;

-- The first search of a session, the median of the next twenty, and the first search of an
-- index of one row, which shows what PostgreSQL itself does once for each index.  Another
-- index is searched before, so loading the library does not count.
CREATE FUNCTION first_and_later(distance int, session int, OUT first float8, OUT later float8, OUT of_one float8) LANGUAGE plpgsql AS $$
DECLARE
	v large_queries%ROWTYPE;
	start timestamptz;
	ms float8;
	all_ms float8[];
BEGIN
	PERFORM id FROM little WHERE is_within(sig, 1::bit(400), distance);
	start := clock_timestamp();
	PERFORM id FROM one_row WHERE is_within(sig, 1::bit(400), distance);
	of_one := ms_since(start);
	FOR v IN SELECT * FROM large_queries q WHERE q.id > session * 21 ORDER BY q.id LIMIT 21 LOOP
		start := clock_timestamp();
		PERFORM id FROM large WHERE is_within(sig, v.sig, distance);
		ms := ms_since(start);
		first := coalesce(first, ms);
		all_ms := all_ms || ms;
	END LOOP;
	later := percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(all_ms[2:]) x;
END $$ SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;

-- Searches for a number of queries at each distance.
CREATE FUNCTION search_all(queries int) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(l.id) FROM (VALUES (0), (20), (40), (60)) d (distance), large_queries q, large l
	WHERE q.id <= queries AND is_within(l.sig, q.sig, d.distance)
$$ SET enable_seqscan = off;

-- One search: milliseconds with planning, the pages that it visits, those of the table included, and the pages that it
-- has to read in, with planning.
CREATE FUNCTION search_pages(distance int, query int, OUT ms float8, OUT visited int, OUT read_in int) LANGUAGE plpgsql AS $$
DECLARE
	sig bit(400) := q.sig FROM large_queries q WHERE q.id = query;
	start timestamptz;
	plan json;
BEGIN
	PERFORM id FROM little l WHERE is_within(l.sig, 1::bit(400), distance);
	start := clock_timestamp();
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) SELECT id FROM large WHERE is_within(sig, %L, %s)', sig, distance) INTO plan;
	ms := ms_since(start);
	read_in := (plan->0->'Plan'->>'Shared Read Blocks')::int;
	visited := read_in + (plan->0->'Plan'->>'Shared Hit Blocks')::int;
	read_in := read_in + coalesce((plan->0->'Planning'->>'Shared Read Blocks')::int, 0);
END $$ SET enable_seqscan = off;

-- The median over all queries of the best of each query's runs, in milliseconds.
CREATE FUNCTION median_ms(contest text, label text) RETURNS float8 LANGUAGE sql AS $$
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY us) / 1000
	FROM (SELECT min(us) AS us FROM answers a WHERE a.contest = $1 AND a.label = $2 GROUP BY query) best
$$;

-- A digest of all answers.
CREATE FUNCTION digest(contest text, label text) RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(query || ':' || (SELECT string_agg(id::text, ',' ORDER BY id) FROM unnest(ids) id), ' ' ORDER BY query))
	FROM answers a WHERE a.contest = $1 AND a.label = $2 AND run = 1
$$;
