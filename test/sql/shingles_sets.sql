-- Set operators and exact similarity on shingles.

-- {1,2,3} and {2,3,4}: two of four.
WITH v(a, b) AS (VALUES ('{1,2,3}'::bigint[]::shingles, '{2,3,4}'::bigint[]::shingles))
SELECT a & b AS both, a | b AS either, a - b AS only_a, b - a AS only_b,
	similarity(a, b), similarity(a, b), a <-> b AS distance,
	containment(a, b), weighted_jaccard(a, b), round(cosine_similarity(a, b)::numeric, 12) AS cosine
FROM v;

-- Bags: {a:3,b:1,c:1} and {a:1,b:4,d:2}.  The sets share 2 of 4; the least
-- frequencies sum to 2, the greatest to 10; the dot product is 7, the squares
-- sum to 11 and 21.
WITH v(a, b) AS (VALUES ('1/hashes/{1:3,2,3}'::shingles, '1/hashes/{1,2:4,4:2}'::shingles))
SELECT a & b AS both, a | b AS either, a - b AS only_a, b - a AS only_b,
	cardinality(a), shingle_total(a), similarity(a, b), containment(a, b), weighted_jaccard(a, b),
	cosine_similarity(a, b) = 7 / sqrt(11 * 21::float8) AS cosine
FROM v;

-- Difference and intersection together make the set, with its frequencies.
WITH v(a, b) AS (SELECT to_shingles(array_agg(i * i % 23)), to_shingles(array_agg(i * i * i % 31))
	FROM generate_series(1::bigint, 100) i)
SELECT shingle_total(a - b) + shingle_total(a & b) = shingle_total(a) AS a,
	shingle_total(a | b) + shingle_total(a & b) = shingle_total(a) + shingle_total(b) AS total,
	(a | b) - a = b - a AS beyond, (a | b) & a = a AS absorbed, (a - a) = '1/hashes/{}' AS nothing
FROM v;
WITH v(a, b) AS (SELECT to_shingles(array_agg(i * i % 23)), to_shingles(array_agg(i * i * i % 31))
	FROM generate_series(1::bigint, 100) i)
SELECT ARRAY(SELECT unnest(a::bigint[]) INTERSECT SELECT unnest(b::bigint[]) ORDER BY 1) = (a & b)::bigint[] AS both,
	ARRAY(SELECT unnest(a::bigint[]) UNION SELECT unnest(b::bigint[]) ORDER BY 1) = (a | b)::bigint[] AS either,
	similarity(a, b) = cardinality(a & b)::float8 / cardinality(a | b) AS similarity,
	weighted_jaccard(a, b) = shingle_total(a & b)::float8 / shingle_total(a | b) AS weighted
FROM v;

-- The direction of containment: all of a lies in b, half of b in a.
WITH v(a, b) AS (VALUES ('{1,2}'::bigint[]::shingles, '{1,2,3,4}'::bigint[]::shingles))
SELECT containment(a, b) AS a_in_b, containment(b, a) AS b_in_a FROM v;

-- A set is similar to itself; the empty set is similar to nothing, itself included.
SELECT similarity(s, s), s <-> s AS distance, containment(s, s), weighted_jaccard(s, s), cosine_similarity(s, s),
	is_similar(s, s, 1), is_similar(s, s, 1e-300), s = s AS equal
FROM (VALUES ('1/word 3/{1,2:7,5:9}'::shingles), ('1/word 3/{}')) v(s);
SELECT similarity(a, b), a <-> b AS distance, containment(a, b), containment(b, a), weighted_jaccard(a, b),
	cosine_similarity(a, b), is_similar(a, b, 0.1), a | b AS either, a & b AS both
FROM (VALUES ('1/word 3/{1}'::shingles, '1/word 3/{}'::shingles)) v(a, b);

-- is_similar() never disagrees with similarity(), for all overlaps of up to 40, with
-- thresholds of the quotient itself, the next lower and the next higher number, and
-- every hundredth.
CREATE TABLE pairs AS
SELECT n, shared, to_shingles(ARRAY(SELECT generate_series(1::bigint, n))) AS a,
	to_shingles(ARRAY(SELECT generate_series(1::bigint, shared))) AS b
FROM generate_series(1, 40) n, generate_series(1, n) shared;
SELECT count(*), count(*) FILTER (WHERE similarity(a, b) = shared::float8 / n) AS exact,
	count(*) FILTER (WHERE is_similar(a, b, shared::float8 / n)) AS at,
	count(*) FILTER (WHERE is_similar(b, a, shared::float8 / n)) AS turned,
	count(*) FILTER (WHERE is_similar(a, b, shared::float8 / n * (1 - 2.0 ^ -52))) AS below,
	count(*) FILTER (WHERE is_similar(a, b, least(1, shared::float8 / n * (1 + 2.0 ^ -52)))) AS above_but_for_1
FROM pairs;
SELECT count(*) FILTER (WHERE is_similar(a, b, t / 100.0) <> (similarity(a, b) >= t / 100.0)) AS differ,
	count(*) FILTER (WHERE is_similar(a, b, t / 100.0) <> (shared * 100 >= t * n)) AS differ_from_integers
FROM pairs, generate_series(1, 100) t;
DROP TABLE pairs;

-- Thresholds.
SELECT is_similar('1/word 3/{1}', '1/word 3/{1}'::shingles, 0);
SELECT is_similar('1/word 3/{1}', '1/word 3/{1}'::shingles, 1.0000001);
SELECT is_similar('1/word 3/{1}', '1/word 3/{1}'::shingles, -0.5);
SELECT is_similar('1/word 3/{1}', '1/word 3/{1}'::shingles, 'NaN');
SELECT is_similar('1/word 3/{1}', '1/word 3/{1}'::shingles, 'Infinity');
SELECT is_similar('1/word 3/{1}', '1/word 3/{1}'::shingles, NULL);

-- Values of different schemes or recipes cannot be combined.
SELECT similarity(to_shingles('a b c', 'word 2'), to_shingles('a b c', 'word 3'));
SELECT similarity('1/word 3/{1}'::shingles, '2/word 3/{1}');
-- Signatures are made only by the recipe of their set.
SELECT to_minhash('2/word 3/{1}'::shingles);
SELECT to_simhash('2/word 3/{1}'::shingles);
SELECT to_shingles('a b c') <-> to_shingles('a b c', 'char 3');
SELECT to_shingles('a b c') & to_shingles(ARRAY['a', 'b']);
SELECT to_shingles('a b c') | to_shingles(ARRAY[1, 2]::bigint[]);
SELECT to_shingles('a b c') - '1/foreign/{1}';
SELECT containment('1/tokens/{1}'::shingles, '1/hashes/{1}');
SELECT weighted_jaccard('1/tokens/{1}', '1/hashes/{1}');
SELECT cosine_similarity('1/tokens/{1}'::shingles, '1/hashes/{1}');
SELECT similarity('1/tokens/{1}'::shingles, '1/hashes/{1}');
SELECT is_similar('1/tokens/{1}'::shingles, '1/hashes/{1}', 0.5);

-- Texts: the example of Broder's paper, and what shared_shingles says of two.
SELECT similarity(to_shingles(a, 'word 2'), to_shingles(b, 'word 2')),
	containment(to_shingles(a, 'word 2'), to_shingles(b, 'word 2')), s.*
FROM (VALUES ('a rose is a rose is a rose', 'a rose is a flower which is a rose')) v(a, b),
	shared_shingles(a, b, 'word 2') s;
