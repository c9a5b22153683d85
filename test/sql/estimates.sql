-- How many rows the planner expects.

CREATE FUNCTION expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
CREATE TABLE documents AS SELECT i AS id, to_minhash('document ' || i, 128)::minhash(128) AS sig, to_minhash('document ' || i, 32, 8) AS wide,
	hashint8extended(i, 0) AS hash, hashint8extended(i, 0)::bit(64) AS bits, hashint8extended(i, 0)::simhash AS fingerprint,
	CASE WHEN i % 4 = 0 THEN to_minhash('document ' || i, 128) END AS often_null
FROM generate_series(1, 2000) i;
ANALYZE documents;

-- What is far apart is seldom near by chance; a few copies are allowed for.
SELECT t, expected('SELECT FROM documents WHERE is_similar(sig, to_minhash(''x y z'', 128), ' || t || ')') AS expected,
	(SELECT count(*) FROM documents WHERE is_similar(sig, to_minhash('x y z', 128), t)) AS found
FROM unnest('{1, 0.8, 0.5, 0.2, 0.1, 0.05, 0.001}'::float8[]) t;
SELECT d, expected('SELECT FROM documents WHERE hamming_within(hash, 5, ' || d || ')') AS bigint,
	expected('SELECT FROM documents WHERE hamming_within(bits, 5::bigint::bit(64), ' || d || ')') AS bit,
	expected('SELECT FROM documents WHERE hamming_within(5::bigint::simhash, fingerprint, ' || d || ')') AS simhash,
	(SELECT count(*) FROM documents WHERE hamming_within(hash, 5, d)) AS found
FROM unnest('{0, 3, 20, 28, 32, 36, 64}'::int[]) d;
SELECT expected('SELECT FROM documents WHERE is_similar(wide, to_minhash(''x y z'', 32, 8), 0.01)') AS wide,
	(SELECT count(*) FROM documents WHERE is_similar(wide, to_minhash('x y z', 32, 8), 0.01)) AS found;
-- Operators as functions.
SELECT expected('SELECT FROM documents WHERE sig <@ near(to_minhash(''x y z'', 128), 0.1)') AS within,
	expected('SELECT FROM documents WHERE near(to_minhash(''x y z'', 128), 0.1) @> sig') AS holds,
	expected('SELECT FROM documents WHERE near(sig, 0.1) && near(to_minhash(''x y z'', 128), 0.05)') AS meet,
	expected('SELECT FROM documents WHERE bits <@ hamming_ball(5::bigint::bit(64), 32)') AS bits,
	expected('SELECT FROM documents WHERE hash <@ hamming_ball(5, 32)') AS hash;
-- Nulls are never similar.
SELECT expected('SELECT FROM documents WHERE is_similar(often_null, to_minhash(''x y z'', 128), 0.001)') AS often_null;
-- Unknown signatures, of a column's shape or of the usual one; unknown thresholds.
SET plan_cache_mode = force_generic_plan;
PREPARE of_signature(minhash) AS SELECT FROM documents WHERE is_similar(sig, $1, 0.05);
PREPARE of_threshold(float8) AS SELECT FROM documents WHERE is_similar(sig, to_minhash('x y z', 128), $1);
PREPARE of_ball(minhash_ball) AS SELECT FROM documents WHERE sig <@ $1;
PREPARE of_distance(int) AS SELECT FROM documents WHERE hash <@ hamming_ball(5, $1);
SELECT expected('EXECUTE of_signature(NULL)') AS of_signature, expected('EXECUTE of_threshold(0.001)') AS of_threshold,
	expected('EXECUTE of_ball(NULL)') AS of_ball, expected('EXECUTE of_distance(64)') AS of_distance;
SET plan_cache_mode = force_custom_plan;
SELECT expected('EXECUTE of_signature(to_minhash(''x y z'', 128))') AS of_signature, expected('EXECUTE of_threshold(0.001)') AS of_threshold,
	expected('EXECUTE of_ball(near(to_minhash(''x y z'', 128), 0.001))') AS of_ball, expected('EXECUTE of_distance(64)') AS of_distance;
RESET plan_cache_mode;
SELECT expected('SELECT FROM documents WHERE is_similar(sig, (SELECT sig FROM documents WHERE id = 3), 0.05)') AS subquery;
-- Joins: a few copies of each row.
SELECT expected('SELECT FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, 0.8)') AS is_similar,
	expected('SELECT FROM documents a JOIN documents b ON a.sig <@ near(b.sig, 0.8)') AS near,
	expected('SELECT FROM documents a JOIN documents b ON a.sig <@ near(b.sig, 0.05)') AS far,
	expected('SELECT FROM documents a JOIN documents b ON near(a.sig, 0.8) && near(b.sig, 0.05)') AS meet,
	expected('SELECT FROM documents a WHERE EXISTS (SELECT FROM documents b WHERE is_similar(a.sig, b.sig, 0.8) AND a.id <> b.id)') AS semi,
	expected('SELECT FROM documents a WHERE NOT EXISTS (SELECT FROM documents b WHERE is_similar(a.sig, b.sig, 0.8) AND a.id <> b.id)') AS anti;
-- What will be refused is planned all the same.
EXPLAIN (COSTS OFF) SELECT FROM documents WHERE is_similar(sig, to_minhash('x y z', 128), 'nan');
SELECT expected('SELECT FROM documents WHERE is_similar(sig, to_minhash(''x y z'', 64), 0.8)') AS other_shape,
	expected('SELECT FROM documents WHERE hamming_within(hash, 5, -1)') AS too_near, expected('SELECT FROM documents WHERE hamming_within(hash, 5, 65)') AS too_far,
	expected('SELECT FROM documents WHERE is_similar(sig, NULL, 0.8)') AS of_null;

-- Left alone, the planner takes the index where it is cheaper, and leaves it where it is not.
CREATE INDEX by_hash ON documents USING neardup (hash);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE hamming_within(hash, 5, 64);
DROP FUNCTION expected;
DROP TABLE documents;
