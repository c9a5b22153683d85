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
