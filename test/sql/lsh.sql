-- Standard error, bands, and the S-curve.

SELECT k, b, r, round(minhash_error(k, b, r)::numeric, 6) AS error
FROM (VALUES (512, 1, 0.0), (512, 1, 0.5), (512, 1, 0.9), (512, 1, 1), (128, 32, 0.5), (400, 1, 0.7), (1024, 2, 0.3)) AS v(k, b, r);
SELECT minhash_error(10, 1, 0.5);
SELECT minhash_error(64, 1, 1.5);
SELECT minhash_error(64, 1, 'NaN');

-- Textbook values of 20 bands of 5 rows
SELECT s, round(lsh_probability(s, 20, 5)::numeric, 4) AS probability
FROM unnest(ARRAY[0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1]) AS s;
SELECT round(similarity::numeric, 2) AS similarity, round(probability::numeric, 4) AS probability FROM lsh_curve(20, 5);
SELECT bool_and(probability = lsh_probability(similarity, 7, 3)) AS same, count(*) FROM lsh_curve(7, 3);
SELECT lsh_probability(-0.1, 20, 5);
SELECT lsh_probability(0.5, 0, 5);
SELECT lsh_probability(0.5, 20, 0);
SELECT * FROM lsh_curve(0, 5);
SELECT * FROM lsh_curve(NULL, 5);

SELECT t, k, r, bands, rows, round(probability::numeric, 6) AS probability
FROM (VALUES (0.8, 128, 0.95), (0.5, 512, 0.9), (0.9, 512, 0.999), (1, 128, 0.99), (0.3, 128, 0.5)) AS v(t, k, r), lsh_parameters(t, k, r, 32);
-- The largest number of rows that reaches the recall: one row more does not, nor one band fewer.
SELECT bool_and(probability >= r AND bands * rows <= k AND lsh_probability(t, k / (rows + 1), rows + 1) < r
	AND (bands = 1 OR lsh_probability(t, greatest(bands - 1, 1), rows) < r)) AS best
FROM unnest(ARRAY[0.3, 0.5, 0.7, 0.9, 0.95]) AS t, unnest(ARRAY[64, 128, 512]) AS k, unnest(ARRAY[0.5, 0.9, 0.99]) AS r, lsh_parameters(t, k, r, 32);
SELECT lsh_parameters(0.001, 16, 0.99, 32);
SELECT lsh_parameters(0, 128, 0.9);
SELECT lsh_parameters(0.5, 0, 0.9);
SELECT lsh_parameters(0.5, 20000, 0.9);
SELECT lsh_parameters(0.5, 128, 1);
SELECT lsh_parameters(0.5, 128, 'NaN');

-- A symbol of b bits agrees more often than the resemblance says: with b = 1 as for (1 + s) / 2.
SELECT t, b, bands, rows, round(probability::numeric, 6) AS probability
FROM (VALUES (0.8, 1), (0.8, 2), (0.8, 32), (0.5, 1)) AS v(t, b), lsh_parameters(t, 512, 0.999, b);
SELECT s.bands = a.bands AND s.rows = a.rows AS same FROM lsh_parameters(0.8, 512, 0.999) s, lsh_parameters(0.9, 512, 0.999, 32) a;
SELECT lsh_parameters(0.8, 512, 0.999, b => 3);
SELECT lsh_parameters(0.8, 10, 0.999, b => 1);
SELECT lsh_parameters(0.8, 512, 0.999, NULL) IS NULL AS strict;
-- The recall is that of pairs at the threshold: 1,000 pairs of sets that share 800 of 1,000.
SELECT count(*) FILTER (WHERE (minhash_bands(x, rows))[:bands] && (minhash_bands(y, rows))[:bands]) / 1000.0 BETWEEN 0.88 AND 0.94 AS as_said
FROM lsh_parameters(0.8, 512, 0.9, b => 1), generate_series(1, 1000) AS i, LATERAL (
	SELECT to_minhash(to_shingles(array_agg(hashint8extended(j, i)) FILTER (WHERE j <= 900))) AS x,
		to_minhash(to_shingles(array_agg(hashint8extended(j, i)) FILTER (WHERE j > 100))) AS y FROM generate_series(1, 1000) AS j) AS s;

-- Bands: equal symbols give equal keys in the same band only.
SELECT minhash_bands('1/word 3/16x4/7/0123456789abcdef', 4);
SELECT i, x[i] = y[i] AS shared FROM minhash_bands('1/word 3/16x4/7/0123456789abcdef', 5) AS x,
	minhash_bands('1/word 3/16x4/7/0123466789abcdee', 5) AS y, generate_series(1, 3) AS i;
SELECT array_length(minhash_bands(to_minhash('x'), 5), 1) AS bands, array_length(simhash_bands(to_simhash('x'), 16), 1) AS of_simhash;
SELECT count(DISTINCT key) FROM unnest(minhash_bands('1/word 3/64x1/7/0000000000000000', 4)) AS key;
SELECT minhash_bands(x, 2) && minhash_bands(x, 4) AS mixed FROM to_minhash('x', 64) AS x;
SELECT simhash_bands('1/word 1/64/0123456789abcdef', 16);
SELECT minhash_bands(to_minhash(''), 5) AS empty, simhash_bands(to_simhash(''), 8) AS empty;
SELECT minhash_bands(to_minhash('x'), 0);
SELECT minhash_bands(to_minhash('x'), 513);
SELECT simhash_bands(to_simhash('x'), 65);

-- All pairs through bands, with a check of every candidate
CREATE TABLE docs AS SELECT i AS id, to_minhash(body, 128, 16) AS sig
FROM (SELECT i, string_agg('w' || (n + (i / 2) * 1000 + CASE WHEN n <= i % 2 * 4 THEN 77777 ELSE 0 END), ' ' ORDER BY n) AS body
	FROM generate_series(1, 20) AS i, generate_series(1, 100) AS n GROUP BY i) AS t;
CREATE TABLE bands AS SELECT id, key FROM docs, unnest(minhash_bands(sig, 5)) AS key;
SELECT count(*), (SELECT count(*) FROM docs AS a JOIN docs AS b ON a.id < b.id AND is_similar(a.sig, b.sig, 0.8)) AS all_pairs
FROM (SELECT DISTINCT a.id, b.id FROM bands AS a JOIN bands AS b ON a.key = b.key AND a.id < b.id
	JOIN docs AS x ON x.id = a.id JOIN docs AS y ON y.id = b.id WHERE is_similar(x.sig, y.sig, 0.8)) AS pairs;
DROP TABLE docs, bands;
