-- ORDER BY by the index returns the same distances as a sort, in the same order, for
-- every row.
SET neardup.background = off;
CREATE TABLE ordered (id serial PRIMARY KEY, sig minhash, print simhash) WITH (autovacuum_enabled = off);

-- Fifty families of more or less similar texts; some NULL, some empty.
INSERT INTO ordered (sig, print)
SELECT CASE g % 101 WHEN 0 THEN NULL WHEN 1 THEN to_minhash(to_shingles('{}'::text[]), 128, 1) ELSE
		to_minhash(to_shingles(ARRAY(SELECT CASE WHEN (g * i * 7919) % 97 < g % 3 * 30 THEN md5(g || ' ' || i)
						 ELSE i || '-' || g % 50 END FROM generate_series(1, 12) i)), 128, 1) END,
	to_simhash(to_shingles(ARRAY(SELECT i || '-' || (g * i) % 30 FROM generate_series(1, 5) i),
			   ARRAY[1, 1, 1, 1, 1]::float8[]), 64)
FROM generate_series(1, 12000) g;
CREATE INDEX by_sig ON ordered USING neardup (sig);
CREATE INDEX by_print ON ordered USING neardup (print);
-- A tail beside the segment, and dead documents.
DELETE FROM ordered WHERE id % 17 = 0;
VACUUM ANALYZE ordered;
INSERT INTO ordered (sig, print) SELECT sig, print FROM ordered WHERE id % 29 = 0;

SELECT amname, pg_indexam_has_property(oid, 'can_order') AS can_order,
	pg_index_column_has_property('by_sig', 1, 'distance_orderable') AS distance_orderable
FROM pg_am WHERE amname = 'neardup';

-- Index and sort return the same distances, and each row once.
CREATE FUNCTION distances(query text, way text, OUT distances text[], OUT different bigint)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('enable_seqscan', (way = 'sort')::text, true),
		set_config('enable_sort', (way = 'sort')::text, true),
		set_config('enable_bitmapscan', 'off', true),
		set_config('enable_indexscan', (way = 'index')::text, true);
	EXECUTE format('SELECT array_agg(d::text ORDER BY n), count(DISTINCT id)
		FROM (SELECT *, row_number() OVER () AS n FROM (%s) AS q) AS r', query) INTO distances, different;
END $$;

CREATE FUNCTION compare_orders(what text, cond text, amount int, OUT rows bigint, OUT same boolean)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id, %1$s AS d FROM ordered %2$s ORDER BY %1$s LIMIT %3$s', what, cond, amount);
	by_index record;
	by_sort record;
BEGIN
	SELECT * INTO by_index FROM distances(query, 'index');
	SELECT * INTO by_sort FROM distances(query, 'sort');
	rows := by_index.different;
	same := by_index.distances IS NOT DISTINCT FROM by_sort.distances AND by_index.different = by_sort.different;
END $$;

\set member '(SELECT sig FROM ordered WHERE id = 6)'
\set print '(SELECT print FROM ordered WHERE id = 6)'
SELECT set_config('test.sig', sig::text, false), set_config('test.print', print::text, false) FROM ordered WHERE id = 6 \g /dev/null
SELECT op, amount, cond, compare_orders(format('sig %s (SELECT sig FROM ordered WHERE id = 6)', op), cond, amount)
FROM unnest(ARRAY['<->', '<~>']) op, unnest(ARRAY[1, 100, 20000]) amount,
	unnest(ARRAY['', 'WHERE is_similar(sig, (SELECT sig FROM ordered WHERE id = 6), 0.4)',
				 'WHERE is_similar(sig, (SELECT sig FROM ordered WHERE id = 7), 0.4)',
				 'WHERE id % 2 = 0']) cond
ORDER BY op, cond, amount;
SELECT op, amount, compare_orders(format('print %s (SELECT print FROM ordered WHERE id = 6)', op), '', amount)
FROM unnest(ARRAY['<->', '<~>']) op, unnest(ARRAY[1, 100, 20000]) amount ORDER BY op, amount;

-- The distance from a signature without near rows, from an empty one, from NULL.
SELECT amount, compare_orders($q$sig <-> to_minhash('far away from everything'::text, 128, 1, 'word 3')$q$, '', amount)
FROM unnest(ARRAY[3, 20000]) amount;
SELECT amount, compare_orders($q$sig <~> to_minhash(to_shingles(ARRAY['far', 'away']), 128, 1)$q$, '', amount)
FROM unnest(ARRAY[3, 20000]) amount;
SELECT compare_orders($q$sig <~> to_minhash(to_shingles('{}'::text[]), 128, 1)$q$, '', 20000);
SELECT compare_orders($q$sig <-> NULL::minhash$q$, '', 20000);

-- All kinds of scans, with memory for a few rows at a time.
SET work_mem = '64kB';
SELECT compare_orders('sig <~> (SELECT sig FROM ordered WHERE id = 6)', '', 20000);
RESET work_mem;
SET neardup.search = scan;
SELECT compare_orders('sig <~> (SELECT sig FROM ordered WHERE id = 6)', '', 300);
SET neardup.search = merge;
SELECT compare_orders('sig <~> (SELECT sig FROM ordered WHERE id = 6)', '', 300);
SET neardup.search = probe;
SELECT compare_orders('sig <~> (SELECT sig FROM ordered WHERE id = 6)', '', 300);
RESET neardup.search;

-- By default the planner uses the index for the first few rows.
EXPLAIN (COSTS OFF) SELECT id FROM ordered ORDER BY sig <-> current_setting('test.sig')::minhash LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM ordered ORDER BY print <~> current_setting('test.print')::simhash LIMIT 10;
-- An index orders by one distance only.
EXPLAIN (COSTS OFF) SELECT id FROM ordered ORDER BY sig <-> current_setting('test.sig')::minhash, sig <~> current_setting('test.sig')::minhash LIMIT 10;

-- Merged in order over partitions.
CREATE TABLE parted (id int, sig minhash) PARTITION BY HASH (id);
CREATE TABLE part_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0) WITH (autovacuum_enabled = off);
CREATE TABLE part_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1) WITH (autovacuum_enabled = off);
INSERT INTO parted SELECT id, sig FROM ordered;
CREATE INDEX ON parted USING neardup (sig);
ANALYZE parted;
EXPLAIN (COSTS OFF) SELECT id FROM parted ORDER BY sig <-> current_setting('test.sig')::minhash LIMIT 10;
SELECT id, sig <-> :member AS distance FROM parted ORDER BY sig <-> :member, id LIMIT 3;

-- A cursor continues after reading backwards.
BEGIN;
SET LOCAL enable_sort = off;
SET LOCAL enable_seqscan = off;
DECLARE nearest SCROLL CURSOR FOR SELECT sig <~> (SELECT sig FROM ordered WHERE id = 6) AS d FROM ordered ORDER BY 1;
FETCH 2 FROM nearest;
FETCH BACKWARD 1 FROM nearest;
FETCH 2 FROM nearest;
COMMIT;
DROP TABLE ordered, parted;
DROP FUNCTION compare_orders, distances;

-- Each row comes once and in order, where many rows are equal, in segments and in a tail, with lists
-- that are full soon.  Tests limit all lists by a setting, under which a search also raises an error
-- if it compares a document twice.
CREATE FUNCTION alike(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN n % 4 > 0 THEN 0 ELSE n % 12 / 4 + n % 5 END $$;
CREATE TABLE alike_bits WITH (autovacuum_enabled = off) AS
	SELECT n AS id, ((1::bigint << alike(n)) - 1)::simhash AS v FROM generate_series(1, 4000) n;
CREATE TABLE alike_texts WITH (autovacuum_enabled = off) AS
	SELECT n AS id, to_minhash(to_shingles(ARRAY(SELECT i * 10 + alike(n) FROM generate_series(1, 9) i)::bigint[]), 64, 2) AS v FROM generate_series(1, 4000) n;
CREATE TABLE alike_sets WITH (autovacuum_enabled = off) AS
	SELECT n AS id, to_shingles(ARRAY(SELECT CASE WHEN i > alike(n) THEN i ELSE -i END FROM generate_series(1, 9) i)::bigint[]) AS v FROM generate_series(1, 4000) n;
CREATE FUNCTION add_rows(name text, segments int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX ON %I USING neardup (v)', name);
	SET LOCAL neardup.debug_limit = 2;
	FOR segment IN 2 .. segments + 1 LOOP
		EXECUTE format('INSERT INTO %1$I SELECT id + %2$s * 10000, v FROM %1$I WHERE id %% 7 = %2$s AND id < 10000', name, segment);
	END LOOP;
	RESET neardup.debug_limit;
	EXECUTE format('INSERT INTO %1$I SELECT id + 200000, v FROM %1$I WHERE id %% 6 = 1 AND id < 10000', name);
END $$;
CREATE FUNCTION found(query text, by_index boolean, search text, debug_limit text, OUT rows bigint, OUT ids text[], OUT places text[]) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_sort', (NOT by_index)::text, true),
		set_config('enable_indexscan', by_index::text, true), set_config('enable_bitmapscan', 'off', true),
		set_config('neardup.search', search, true), set_config('neardup.debug_limit', debug_limit, true);
	-- Rows at the last distance may be any of these.
	EXECUTE format('WITH q AS MATERIALIZED (%s) SELECT count(*), array_agg(id::text ORDER BY id) FILTER (WHERE d < (SELECT max(d) FROM q)), array_agg(d::text)
		FROM (SELECT DISTINCT * FROM q ORDER BY d) r', query) INTO rows, ids, places;
END $$;
SELECT add_rows(name, segments) FROM (VALUES ('alike_bits', 3), ('alike_texts', 1), ('alike_sets', 3)) t (name, segments);
SELECT name, row, search, debug_limit, amount, cond, f
FROM (VALUES ('alike_bits', '<~>', '(SELECT v FROM alike_bits WHERE id = %s)', ARRAY['is_within(v, %s, 3)', 'is_within(v, %s, 64)', 'v <@ ANY (ARRAY[hamming_ball(0::bigint::simhash, 2), hamming_ball(%s, 1)])']),
		('alike_texts', '<->', '(SELECT v FROM alike_texts WHERE id = %s)', ARRAY['is_similar(v, %s, 0.01)', 'v <@ ANY (ARRAY[near((SELECT v FROM alike_texts WHERE id = 1), 0.6), near(%s, 0.3)])']),
		('alike_sets', '<->', '(SELECT v FROM alike_sets WHERE id = %s)', ARRAY['is_similar(v, %s, 0.1)', 'v <@ ANY (ARRAY[near((SELECT v FROM alike_sets WHERE id = 1), 0.6), near(%s, 0.3)])'])) t (name, op, centre, conds),
	unnest('{1,8}'::int[]) row, LATERAL format(centre, row) q, LATERAL unnest(conds || 'true'::text) cond, unnest('{auto,merge,probe,scan}'::text[]) search,
	unnest('{2,300,2147483647}'::text[]) debug_limit, unnest('{1,40,100000}'::int[]) amount,
	LATERAL format('SELECT id, v %1$s %2$s AS d FROM %3$I WHERE %4$s ORDER BY 2 LIMIT %5$s', op, q, name, format(cond, q), amount) query,
	LATERAL found(query, true, search, debug_limit) f
WHERE NOT (debug_limit = '2' AND amount > 1000) AND f IS DISTINCT FROM found(query, false, search, debug_limit);
RESET neardup.search;
RESET neardup.debug_limit;
DROP TABLE alike_bits, alike_texts, alike_sets;
DROP FUNCTION alike, add_rows, found;

-- An ordered scan within a distance keeps to it, whatever steps it takes.
CREATE TABLE steps WITH (autovacuum_enabled = off) AS
SELECT i AS id, (CASE WHEN i > 400 THEN hashint8extended(i, 1) ELSE (1::bigint << i % 20) - 1 END)::simhash AS sig
FROM generate_series(1, 60000) i;
CREATE INDEX steps_sig ON steps USING neardup (sig);
SET enable_seqscan = off;
SET enable_sort = off;
SELECT d AS wrong_distance
FROM generate_series(0, 12) d, (SELECT sig FROM steps WHERE id = 20) q
WHERE (SELECT count(*) FROM (SELECT id FROM steps WHERE is_within(steps.sig, q.sig, d) ORDER BY steps.sig <-> q.sig LIMIT 5000) t)
	<> (SELECT count(*) FROM steps WHERE hamming_distance(steps.sig, q.sig) <= d);
-- It reads no more than twice what a search reads, also if the first steps leave rows to be found.
CREATE FUNCTION blocks(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::int + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::int;
END $$;
SET enable_bitmapscan = off;
SELECT blocks(format('SELECT id FROM steps WHERE is_within(sig, %L, 8) ORDER BY sig <~> %1$L LIMIT 10', sig))
	<= 2 * blocks(format('SELECT id FROM steps WHERE is_within(sig, %L, 8)', sig)) AS reads_as_a_search
FROM (SELECT sig FROM steps WHERE id = 30000) q;
DROP TABLE steps;

-- Rows in order lie on any pages of the table, so many of them cost more than a sort does; and
-- matches that do not fit in memory cost several searches.
CREATE TABLE spread WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 100 AS other, hashint8extended(i, 1)::simhash AS sig FROM generate_series(1, 60000) i;
CREATE INDEX spread_sig ON spread USING neardup (other, sig);
VACUUM ANALYZE spread;
RESET enable_seqscan;
RESET enable_sort;
RESET enable_bitmapscan;
SET random_page_cost = 1.1;
SET max_parallel_workers_per_gather = 0;
\set q 'hashint8extended(4, 1)::simhash'
EXPLAIN (COSTS OFF) SELECT id FROM spread ORDER BY sig <-> :q LIMIT 30;
EXPLAIN (COSTS OFF) SELECT id FROM spread ORDER BY sig <-> :q LIMIT 40000;
EXPLAIN (COSTS OFF) SELECT id FROM spread WHERE id % 200 = 4 ORDER BY sig <-> :q LIMIT 1;
EXPLAIN (COSTS OFF) SELECT id FROM spread WHERE id % 200 = 4 ORDER BY sig <-> :q LIMIT 100;
EXPLAIN (COSTS OFF) SELECT id FROM spread WHERE other BETWEEN 4 AND 6 AND is_within(sig, :q, 25);
SET work_mem = '64kB';
EXPLAIN (COSTS OFF) SELECT id FROM spread WHERE other BETWEEN 4 AND 6 AND is_within(sig, :q, 31);
RESET work_mem;
-- Rows found near one signature, in the order of their distance from another.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM spread WHERE is_within(sig, :q, 20) ORDER BY sig <-> hashint8extended(5, 1)::simhash LIMIT 5;
SELECT id, sig <~> hashint8extended(5, 1)::simhash AS distance FROM spread WHERE is_within(sig, :q, 20) ORDER BY 2, id LIMIT 5;
SELECT same, blocks < 400 AS reads_as_a_search
FROM (SELECT array_agg(d) = (SELECT array_agg(d ORDER BY d) FROM (SELECT (sig <~> hashint8extended(5, 1)::simhash) + 0 AS d FROM spread WHERE is_within(sig, :q, 20)) s) AS same
	FROM (SELECT sig <~> hashint8extended(5, 1)::simhash AS d FROM spread WHERE is_within(sig, :q, 20) ORDER BY 1) i) x,
	blocks($$SELECT id FROM spread WHERE is_within(sig, hashint8extended(4, 1)::simhash, 5) ORDER BY sig <-> hashint8extended(5, 1)::simhash$$);
SELECT count(*), count(d) FROM (SELECT sig <-> NULL::simhash AS d FROM spread WHERE is_within(sig, :q, 20) ORDER BY 1) x;
SELECT sig <-> hashint8extended(5, 1)::simhash FROM spread WHERE sig <@ ANY (ARRAY[hamming_ball(:q, 3), hamming_ball(hashint8extended(5, 1)::simhash, 3)]) ORDER BY 1;
DROP FUNCTION blocks;
DROP TABLE spread;
