-- Samples and sketches of sets.

-- Two sets of 20,000 that share 10,000: resemblance 1/3, containment 1/2
CREATE TABLE s AS
SELECT to_shingles(ARRAY(SELECT generate_series(1::bigint, 20000))) AS a, to_shingles(ARRAY(SELECT generate_series(10001::bigint, 30000))) AS b;

-- mod m: about one element in m, the same ones in every set
SELECT m, cardinality(shingles_mod(a, m)) BETWEEN 20000 / m * 0.8 AND 20000 / m * 1.2 AS one_in_m,
	shingles_mod(a, m) & shingles_mod(b, m) = shingles_mod(a & b, m) AS coordinated, shingles_mod(a, m) - a = '1/hashes/{}' AS part,
	abs(similarity(shingles_mod(a, m), shingles_mod(b, m)) - 1 / 3.0) < 0.05 AS resemblance,
	abs(containment(shingles_mod(a, m), shingles_mod(b, m)) - 0.5) < 0.06 AS containment
FROM s, unnest(ARRAY[2, 8, 25, 32]) AS m;
SELECT shingles_mod(a, 1) = a AS all, shingles_mod('1/hashes/{}', 7) AS empty, shingle_total(shingles_mod('1/word 3/{1:4,2,3:9}', 1)) AS frequencies FROM s;
SELECT shingles_mod(shingles_mod(a, 4), 8) = shingles_mod(a, 8) AS nested FROM s;
SELECT shingles_mod('1/word 3/{1}', 0);
SELECT shingles_mod('1/word 3/{1}', -3);

-- bottom n: n elements; the estimate from the bottoms is the estimate from the sets
SELECT n, cardinality(shingles_bottom(a, n)) AS elements, shingles_bottom(shingles_bottom(a, 3000), n) = shingles_bottom(a, n) AS nested,
	bottom_resemblance(shingles_bottom(a, n), shingles_bottom(b, n), n) = bottom_resemblance(a, b, n) AS same,
	abs(bottom_resemblance(a, b, n) - 1 / 3.0) < 3 * sqrt(2 / 9.0 / n) AS near
FROM s, unnest(ARRAY[1, 10, 100, 400, 1000, 3000]) AS n;
SELECT bottom_resemblance(a, b, 30000) = similarity(a, b) AS exact, bottom_resemblance(a, b, 2147483647) = similarity(a, b) AS exact,
	bottom_resemblance(a, a, 10) AS itself, bottom_resemblance(a, '1/hashes/{}', 10) AS empty, bottom_resemblance('1/hashes/{}', '1/hashes/{}', 10) AS empty FROM s;
SELECT shingles_bottom('1/word 3/{1:4,2,3:9}', 3), shingles_bottom('1/word 3/{}', 3);
SELECT shingles_bottom('1/word 3/{1}', 0);
SELECT bottom_resemblance('1/word 3/{1}', '1/word 3/{1}', 0);
SELECT bottom_resemblance('1/word 3/{1}', '1/word 2/{1}', 5);

-- m permutations
SELECT m, cardinality(minima_a) AS values, abs(sketch_resemblance(minima_a, minima_b) - 1 / 3.0) < 3 * sqrt(2 / 9.0 / m) AS near,
	minima_a[1:100] = (shingles_minima(a, 100))[1:m] AS prefix, (SELECT count(DISTINCT v) FROM unnest(minima_a) AS v) AS different
FROM s, unnest(ARRAY[1, 100, 500]) AS m, LATERAL (SELECT shingles_minima(a, m) AS minima_a, shingles_minima(b, m) AS minima_b) AS v ORDER BY m;
-- The sketch of a union has the smaller number at each place
SELECT bool_and(least(x, y) = z) AS merges FROM s, unnest(shingles_minima(a, 50), shingles_minima(b, 50), shingles_minima(a | b, 50)) AS v(x, y, z);
SELECT shingles_minima('1/word 3/{}', 5) AS empty, sketch_resemblance('{}', '{}'), sketch_resemblance('{1,2}', '{}'), sketch_resemblance('{1,2,3,4}', '{1,3,2,4}');
SELECT shingles_minima('1/word 3/{1}', 0);
SELECT shingles_minima('1/word 3/{1}', 16385);
SELECT sketch_resemblance('{1,2}', '{1}');
SELECT sketch_resemblance('{1,NULL}', '{1,2}');
SELECT sketch_resemblance('{{1,2}}', '{{1,2}}');

-- Explicit permutations
SELECT permutation_sketch('{1,3}', '{{3,1,2},{1,2,3},{2,3,1}}'), permutation_sketch('{2,2}', '{{3,1,2}}'), permutation_sketch('{}', '{{1,2}}');
SELECT permutation_sketch('{4}', '{{3,1,2}}');
SELECT permutation_sketch('{0}', '{{3,1,2}}');
SELECT permutation_sketch('{1}', '{{3,1,1}}');
SELECT permutation_sketch('{1}', '{{1,2},{0,1}}');
SELECT permutation_sketch('{1}', '{1,2}');
SELECT permutation_sketch('{1}', '{}');
SELECT permutation_sketch('{1}', '{{1,NULL}}');
SELECT permutation_sketch('{1,NULL}', '{{1,2}}');

-- Supershingles of w neighbours each; one for a short set, none for an empty one
SELECT w, cardinality(supershingles('1/word 3/{1,5,9,12,40}', w)) FROM unnest(ARRAY[1, 2, 5, 6, 255]) AS w;
SELECT supershingles('1/word 3/{}', 3), supershingles('1/word 3/{1,2}', 7) = supershingles('1/word 3/{1,2}', 2) AS short;
-- One more element changes only the runs that contain it
SELECT cardinality(ARRAY(SELECT unnest(supershingles('1/word 3/{1,2,3,4,6,7,8,9}', 3)) INTERSECT SELECT unnest(supershingles('1/word 3/{1,2,3,4,5,6,7,8,9}', 3)))) AS shared;
SELECT supershingles('1/word 3/{1}', 0);
SELECT supershingles('1/word 3/{1}', 256);

-- Buckets: each element is the least of its bucket, and buckets do not depend on the set
SELECT n, cardinality(bucket_sketch(a, n)) AS kept, bucket_sketch(a, n) <@ a::bigint[] AS part,
	bucket_sketch(a | b, n) <@ (bucket_sketch(a, n) || bucket_sketch(b, n)) AS merges
FROM s, unnest(ARRAY[1, 16, 1000]) AS n;
SELECT bucket_sketch('1/word 3/{}', 5) AS empty, cardinality(bucket_sketch(a, 65536)) BETWEEN 16000 AND 18500 AS filled FROM s;
SELECT abs(cardinality(ARRAY(SELECT unnest(x) INTERSECT SELECT unnest(y)))::float8 / cardinality(ARRAY(SELECT unnest(x) UNION SELECT unnest(y))) - 1 / 5.0) < 0.05 AS shared
FROM (SELECT bucket_sketch(a, 1000), bucket_sketch(b, 1000) FROM s) AS v(x, y);
SELECT bucket_sketch('1/word 3/{1}', 0);
SELECT bucket_sketch('1/word 3/{1}', 65537);
DROP TABLE s;
