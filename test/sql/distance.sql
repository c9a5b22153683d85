-- Similarity, distance and thresholds of minhash and simhash.

CREATE TABLE texts (id int PRIMARY KEY, body text);
INSERT INTO texts
SELECT i, string_agg(CASE WHEN n % 41 < i THEN 'new' || n || '_' || i ELSE 'word' || n END, ' ' ORDER BY n)
FROM generate_series(0, 40, 5) AS i, generate_series(1, 400) AS n GROUP BY i;

-- Estimates against the exact value: at most four standard errors away.
SELECT id, bool_and(abs(similarity(to_minhash(a, k, b), to_minhash(t.body, k, b)) - exact)
	<= 4 * minhash_error(k, b, exact) + 1e-12) AS near, exact = 1 AS equal
FROM texts AS t, (SELECT body FROM texts WHERE id = 0) AS v(a),
	similarity(to_shingles(a), to_shingles(t.body)) AS exact,
	(VALUES (512, 1), (512, 8), (128, 32), (2048, 2)) AS s(k, b)
GROUP BY id, exact ORDER BY id;

-- All functions applied to the same pair
SELECT hamming_distance(x, y), x <~> y AS "<~>", similarity(x, y), similarity(x, y), x <-> y AS "<->",
	is_similar(x, y, 0.5) AS at_half, is_similar(x, y, 0.51) AS above, is_within(x, y, 4) AS four, is_within(x, y, 3) AS three
FROM (VALUES ('1/word 3/16x1/100/0000'::minhash, '1/word 3/16x1/200/1248'::minhash)) AS v(x, y);
SELECT hamming_distance(x, y), x <~> y AS "<~>", similarity(x, y), x <-> y AS "<->",
	is_similar(x, y, 0.75) AS at, is_similar(x, y, 0.76) AS above, is_within(x, y, 16) AS sixteen, is_within(x, y, 15) AS fifteen
FROM (VALUES ('1/word 1/64/0000000000000000'::simhash, '1/word 1/64/ffff000000000000'::simhash)) AS v(x, y);
SELECT similarity(x, y), x <-> y AS distance, x <~> y AS symbols, is_similar(x, y, 5e-324) AS similar
FROM (VALUES ('1/word 3/16x1/1/0000'::minhash, '1/word 3/16x1/1/ffff'::minhash),
	('1/word 3/16x1/1/0000', '1/word 3/16x1/1/00ff'), ('1/word 3/16x1/1/0000', '1/word 3/16x1/1/007f'),
	('1/word 3/16x2/1/00000000', '1/word 3/16x2/1/12300000')) AS v(x, y);
SELECT pg_typeof(x <~> x) AS "<~>", pg_typeof(x <-> x) AS "<->", pg_typeof(similarity(x, x)) AS similarity
FROM to_minhash('x') AS x;

-- Containment
SELECT containment(x, y) AS of_first, containment(y, x) AS of_second
FROM (VALUES ('1/word 3/16x1/100/0000'::minhash, '1/word 3/16x1/200/1248'::minhash),
	('1/word 3/16x1/100/0000', '1/word 3/16x1/100/0000'), ('1/word 3/16x1/5/0000', '1/word 3/16x1/7/ffff'),
	('1/word 3/16x1/0/', '1/word 3/16x1/7/ffff')) AS v(x, y);
SELECT containment('1/word 3/16x1/100/0000'::minhash, '1/word 3/16x1/?/0000');
SELECT containment('1/word 3/16x1/?/0000'::minhash, '1/word 3/16x1/100/0000');

-- The empty set is similar to nothing, itself included, but equals another empty set.
SELECT x = y AS equal, similarity(x, y), x <-> y AS distance, x <~> y AS symbols, hamming_distance(x, y),
	is_similar(x, y, 0.01) AS similar, is_within(x, y, 512) AS within
FROM to_minhash('') AS x, (VALUES (to_minhash('')), (to_minhash('a b c'))) AS v(y);
SELECT x = y AS equal, similarity(x, y), x <-> y AS distance, x <~> y AS symbols,
	is_similar(x, y, 0.01) AS similar, is_within(x, y, 64) AS within
FROM to_simhash('') AS x, (VALUES (to_simhash('')), ('1/word 1/64/0000000000000000')) AS v(y);

-- Different shapes, schemes and kinds
SELECT similarity(to_minhash('x'), to_minhash('x', 256));
SELECT to_minhash('x') <-> to_minhash('x', 512, 2);
SELECT to_minhash('x') <~> to_minhash('x', 512, 1, 'word 2');
SELECT to_minhash('') <~> to_minhash('', 16);
SELECT is_similar(to_minhash('x'), B'1010101010101010'::minhash, 0.5);
SELECT is_similar(to_minhash('x', 16), B'1010101010101010'::minhash, 0.5);
SELECT is_within(to_simhash('x'), to_simhash('x', 128), 3);
SELECT to_simhash('x') <-> 5::bigint::simhash;
\set VERBOSITY terse
SELECT similarity(to_minhash('x'), to_simhash('x'));
\set VERBOSITY default
SELECT to_minhash('x', 64) = to_minhash('x', 128) AS shape, to_minhash('x') = to_minhash('x', 512, 1, 'char 1') AS scheme,
	to_simhash('x') = to_simhash('x', 128) AS f;

-- Thresholds and distances
SELECT is_similar(to_minhash('x'), to_minhash('x'), 1) AS one, is_similar(to_simhash('x'), to_simhash('x'), 5e-324) AS least;
SELECT is_similar(to_minhash('x'), to_minhash('x'), 0);
SELECT is_similar(to_minhash('x'), to_minhash('x'), 1.0000000000000002);
SELECT is_similar(to_minhash('x'), to_minhash('x'), -0.5);
SELECT is_similar(to_minhash('x'), to_minhash('x'), 'NaN');
SELECT is_similar(to_simhash('x'), to_simhash('x'), 'Infinity');
SELECT is_similar(to_minhash('x'), to_minhash('x'), NULL) IS NULL AS strict;
SELECT is_within(to_minhash('x'), to_minhash('y'), 512) AS all, is_within(to_minhash('x'), to_minhash('x'), 0) AS none;
SELECT is_within(to_minhash('x'), to_minhash('y'), -1);
SELECT is_within(to_simhash('x'), to_simhash('y'), 65);

-- is_similar decides as exact rational arithmetic does, at every hundredth.
CREATE TABLE bounds AS
SELECT k, b, t, floor(k * (2 ^ b::numeric - 1) * (100 - t) / (100 * 2 ^ b::numeric))::int AS d
FROM unnest(ARRAY[64, 100, 400, 512]) AS k, unnest(ARRAY[1, 2, 8, 32]) AS b, generate_series(1, 100) AS t;
-- A signature whose first d symbols are 1 and the others 0.
CREATE FUNCTION apart(k int, b int, d int) RETURNS minhash IMMUTABLE LANGUAGE sql AS $$
	SELECT (format('1/word 3/%sx%s/1/', k, b) || CASE WHEN b >= 8 THEN symbols ELSE
		(SELECT string_agg(to_hex(substr(symbols, i, 4)::bit(4)::int), '' ORDER BY i)
		 FROM generate_series(1, length(symbols), 4) AS i) END)::minhash
	FROM (SELECT CASE WHEN b >= 8 THEN rpad(repeat(lpad('1', b / 4, '0'), d), k * b / 4, '0')
		ELSE rpad(repeat(lpad('1', b, '0'), d), (k * b + 7) / 8 * 8, '0') END OFFSET 0) AS v(symbols)
$$;
SELECT count(*) AS tested,
	count(*) FILTER (WHERE is_similar(apart(k, b, 0), apart(k, b, d), t / 100.0)) AS inside,
	count(*) FILTER (WHERE is_similar(apart(k, b, 0), apart(k, b, d + 1), t / 100.0)) AS outside,
	count(*) FILTER (WHERE apart(k, b, 0) <~> apart(k, b, d) <> d) AS wrong
FROM bounds;
SELECT count(*) AS tested,
	count(*) FILTER (WHERE is_similar(0::bigint::simhash, x, t / 100.0)) AS inside,
	count(*) FILTER (WHERE is_similar(0::bigint::simhash, y, t / 100.0)) AS outside
FROM generate_series(1, 100) AS t, floor(64 * (100 - t) / 100.0) AS d,
	CAST(lpad(repeat('1', d::int), 64, '0')::bit(64) AS simhash) AS x,
	CAST(lpad(repeat('1', d::int + 1), 64, '0')::bit(64) AS simhash) AS y;
-- ... and agrees with similarity() there.
SELECT count(*) FILTER (WHERE is_similar(x, y, t / 100.0) <> (similarity(x, y) >= t / 100.0)) AS disagree
FROM bounds, generate_series(-1, 1) AS e, apart(k, b, 0) AS x, apart(k, b, greatest(d + e, 0)) AS y;

-- Grouping, joining, sorting, indexing by value
CREATE TABLE signed (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body, 64)) STORED,
	fp simhash(64) GENERATED ALWAYS AS (to_simhash(body)) STORED) WITH (autovacuum_enabled = off);
INSERT INTO signed(id, body) SELECT i, 'the body of text number ' || i % 100 FROM generate_series(1, 1000) AS i;
INSERT INTO signed(id, body) VALUES (1001, ''), (1002, '.'), (1003, NULL);
ANALYZE signed;
SELECT count(*), count(DISTINCT sig), count(DISTINCT fp) FROM signed;
SELECT count(*), sum(n) FROM (SELECT sig, count(*) AS n FROM signed GROUP BY sig) AS g;
SELECT count(*) FROM (SELECT DISTINCT sig, fp FROM signed) AS g;
SELECT count(*) FROM signed WHERE sig IS NOT DISTINCT FROM NULL;
SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS off) SELECT count(*) FROM signed AS a JOIN signed AS b USING (sig);
SELECT count(*) FROM signed AS a JOIN signed AS b USING (sig);
SELECT count(*) FROM signed AS a JOIN signed AS b USING (fp);
SET enable_hashjoin = off;
SET enable_mergejoin = on;
SELECT count(*) FROM signed AS a JOIN signed AS b USING (sig);
RESET enable_nestloop;
RESET enable_mergejoin;
RESET enable_hashjoin;
CREATE INDEX by_order ON signed USING btree (sig);
CREATE INDEX by_hash ON signed USING hash (fp);
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT id FROM signed WHERE sig = to_minhash('the body of text number 7', 64) ORDER BY sig;
SELECT count(*) FROM signed WHERE sig = to_minhash('the body of text number 7', 64);
SELECT count(*) FROM signed WHERE fp = to_simhash('the body of text number 7');
RESET enable_seqscan;
SELECT bool_and(sig >= lag) AS ascending, bool_and((sig < lag) = (lag > sig) AND (sig <= lag) = NOT (sig > lag)
	AND (sig <> lag) = NOT (sig = lag)) AS consistent
FROM (SELECT sig, lag(sig) OVER (ORDER BY sig) AS lag FROM signed WHERE sig IS NOT NULL) AS s;
SELECT bool_and(minhash_hash(x) = minhash_hash(y)) AS hash, bool_and(minhash_hash_extended(x, 5) = minhash_hash_extended(y, 5)) AS extended
FROM (SELECT sig AS x, sig::text::minhash AS y FROM signed WHERE body <> '') AS s;
SELECT count(*), bool_and(amvalidate(c.oid)) AS valid FROM pg_opclass c JOIN pg_depend ON objid = c.oid AND classid = 'pg_opclass'::regclass AND deptype = 'e'
	JOIN pg_extension e ON refobjid = e.oid WHERE extname LIKE 'neardup%';

-- Bytes that are not a signature
CREATE FUNCTION stored(bytea) RETURNS minhash LANGUAGE internal STRICT IMMUTABLE AS 'byteasend';
SELECT stored('');
SELECT stored('\x0128') <~> to_minhash('x');
SELECT hamming_distance(stored(substring(minhash_send(to_minhash('x', 64)) FROM 1 FOR 18)), to_minhash('x', 64));
SELECT stored(minhash_send(to_minhash('x', 64)) || '\x00') = to_minhash('x', 64);
SELECT cardinality(stored(overlay(minhash_send(to_minhash('x', 64)) PLACING '\x02' FROM 1)));
SELECT minhash_truncate(stored(overlay(minhash_send(to_minhash('x', 64)) PLACING '\x2f' FROM 2)), 1);
DROP FUNCTION stored;
CREATE CAST (bytea AS ball) WITHOUT FUNCTION;
SELECT ''::bytea::ball;
SELECT to_minhash('x') <@ decode(repeat('ff', 90), 'hex')::ball;
DROP CAST (bytea AS ball);

-- Parallel plans
CREATE TABLE many WITH (parallel_workers = 2, autovacuum_enabled = off) AS
SELECT i, 'the body of text number ' || i || ' and its end' AS body, to_minhash('the body of text number ' || i || ' and its end', 64, 32) AS sig
FROM generate_series(1, 2000) AS i;
ANALYZE many;
CREATE TABLE serial AS SELECT minhash_union_agg(sig) AS sig FROM many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT minhash_union_agg(sig) FROM many;
SELECT (SELECT minhash_union_agg(sig) FROM many) = sig AS same FROM serial;
EXPLAIN (COSTS off) SELECT i FROM many WHERE to_minhash(body, 64, 32) = sig;
SELECT count(*) = (SELECT count(*) FROM many) AS same FROM many WHERE to_minhash(body, 64, 32) = sig;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

DROP TABLE texts, bounds, signed, many, serial;
DROP FUNCTION apart;
