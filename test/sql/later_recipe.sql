-- Values of a later recipe, which a server may hold after a downgrade: they are stored, shown, sorted, analysed and dumped; functions that must know the recipe raise an error.
CREATE TABLE later (id int PRIMARY KEY, m minhash(16, 1), s simhash(64), b shingles) WITH (autovacuum_enabled = off);
INSERT INTO later VALUES
	(1, '2/word 3/16x1/7/abcd', '2/word 3/64/0123456789abcdef', '2/word 3/{-7,12:2}'),
	(2, '255/unknown 1f020003/16x1/?/abcd', '255/unknown 00000001/64/', '255/unknown 1f020003/{}'),
	(3, to_minhash('a text of this recipe', 16), to_simhash('a text of this recipe'), to_shingles('a text of this recipe'));
SELECT * FROM later ORDER BY id;

-- Output is valid input, as text and in the binary formatat
SELECT id, m::text::minhash = m AS m, s::text::simhash = s AS s, b::text::shingles = b AS b FROM later ORDER BY id;
SELECT minhash_send(m), simhash_send(s), shingles_send(b) FROM later WHERE id = 2;

-- A total order, ANALYZE, and plans by it
SELECT array_agg(id ORDER BY m) AS m, array_agg(id ORDER BY s) AS s, count(DISTINCT m) AS distinct FROM later;
INSERT INTO later SELECT i, CASE i % 2 WHEN 0 THEN '2/word 3/16x1/7/abcd' ELSE '2/word 3/16x1/7/' || lpad(to_hex(i), 4, '0') END::minhash, '2/word 3/64/0123456789abcdef', '2/word 3/{1}' FROM generate_series(10, 400) AS i;
ANALYZE later;
SELECT attname, null_frac, most_common_vals IS NOT NULL AS common FROM pg_stats WHERE tablename = 'later' AND attname <> 'id' ORDER BY attname;
EXPLAIN (COSTS OFF) SELECT id FROM later WHERE is_similar(m, to_minhash('a text of this recipe', 16), 0.9);
EXPLAIN (COSTS OFF) SELECT id FROM later WHERE m = '2/word 3/16x1/7/abcd';
DELETE FROM later WHERE id = 3;
ANALYZE later;
EXPLAIN (COSTS OFF) SELECT id FROM later WHERE is_similar(m, to_minhash('a text of this recipe', 16), 0.9);

-- No value is made from them or compared with them
SELECT similarity(m, m) FROM later WHERE id = 1;
SELECT s <-> s FROM later WHERE id = 1;
SELECT hamming_distance(m, '1/word 3/16x1/7/abcd') FROM later WHERE id = 1;
SELECT near(m, 0.9) FROM later WHERE id = 1;
SELECT minhash_truncate('2/word 3/16x2/7/abcdabcd', 1);
SELECT minhash_bands(m, 4) FROM later WHERE id = 1;
SELECT to_minhash(b) FROM later WHERE id = 1;
SELECT similarity(b, '1/word 3/{12}') FROM later WHERE id = 1;
CREATE INDEX ON later USING neardup (m);
SELECT * FROM neardup_pairs('SELECT id, m FROM later', 0.9);
-- Only the later recipe defines the radius of a threshold
SELECT '0.9 around minhash 2/word 3/16x1/7/abcd'::ball;

-- Input of this recipe must be meaningful, and a text cannot have an unknown scheme
SELECT '1/unknown 1f020003/16x1/7/abcd'::minhash;
SELECT '1/unknown 1f020003/{}'::shingles;
SELECT '2/unknown 01030000/16x1/7/abcd'::minhash;
SELECT '0/word 3/16x1/7/abcd'::minhash;
SELECT '256/word 3/16x1/7/abcd'::minhash;
SELECT to_shingles('a', 'unknown 04000000');
DROP TABLE later;
