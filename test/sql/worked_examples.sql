-- Examples from papers, textbooks and lectures.  A comment says what is not theirs.

-- ---- Shingles -----------------------------------------------------------------

-- Broder, Glassman, Manasse, Zweig 1997: the 4-shingling of a rose is a rose is a rose
SELECT shingle, count FROM show_shingles('a rose is a rose is a rose', 'word 4');

-- A lecture's two roses: 4-shingles, resemblance 0.25
SELECT shingle FROM show_shingles('a rose is red a rose is white', 'word 4');
SELECT shingle FROM show_shingles('a rose is white a rose is red', 'word 4');
SELECT similarity(to_shingles(a, 'word 4'), to_shingles(b, 'word 4')) AS resemblance
FROM (VALUES ('a rose is red a rose is white', 'a rose is white a rose is red')) AS v(a, b);

-- A lecture's word 4-grams: nine
SELECT row_number() OVER () AS n, shingle FROM show_shingles('My name is Inigo Montoya. You killed my father. Prepare to die', 'word 4');
SELECT cardinality(to_shingles('My name is Inigo Montoya. You killed my father. Prepare to die', 'word 4')) AS nine;

-- Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, slides: k = 2 of abcab, as a set and as a bag
SELECT array_agg(shingle) AS set, array_agg(shingle || ' ' || count) AS bag FROM show_shingles('abcab', 'char 2');
SELECT cardinality(s) AS set, shingle_total(s) AS bag FROM to_shingles('abcab', 'char 2') AS s;

-- The same: columns 10111 and 10011 are sets of rows, with Jaccard similarity 3/4
WITH columns(a, b) AS (VALUES ('10111', '10011')), sets AS (
	SELECT to_shingles(array_agg(i) FILTER (WHERE substr(a, i::int, 1) = '1')) AS a, to_shingles(array_agg(i) FILTER (WHERE substr(b, i::int, 1) = '1')) AS b
	FROM columns, generate_series(1::bigint, 5) AS i)
SELECT a, b, similarity(a, b) FROM sets;

-- ---- Bands --------------------------------------------------------------------

-- The same: 20 bands of 5 rows.  The slides print 0.0474 and 0.99965 for 0.04749 and 0.99964
SELECT s, round(lsh_probability(s, 20, 5)::numeric, 3) AS three_digits, round(lsh_probability(s, 20, 5)::numeric, 5) AS five_digits,
	abs(lsh_probability(s, 20, 5) - (1 - (1 - s ^ 5) ^ 20)) < 1e-15 AS exact
FROM unnest(ARRAY[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]::float8[]) AS s;

-- ---- Explicit permutations ----------------------------------------------------

-- The same: seven rows, four columns, three permutations; the signature matrix, and estimates for four pairs
WITH matrix(c, elements) AS (VALUES (1, '{1,2,6,7}'::int[]), (2, '{3,4,5}'), (3, '{1,6,7}'), (4, '{2,3,4,5}')),
signatures AS (SELECT c, elements, permutation_sketch(elements, '{{2,3,7,6,1,5,4},{4,2,1,3,6,7,5},{3,4,7,2,6,1,5}}') AS sig FROM matrix)
SELECT 'column ' || c AS what, sig::text, NULL::float8 AS column_similarity, NULL::numeric AS signature_similarity FROM signatures
UNION ALL
SELECT x.c || '-' || y.c, NULL, similarity(to_shingles(x.elements::bigint[]), to_shingles(y.elements::bigint[])), round(sketch_resemblance(x.sig, y.sig)::numeric, 2)
FROM signatures AS x, signatures AS y WHERE (x.c, y.c) IN ((1, 3), (2, 4), (1, 2), (3, 4))
ORDER BY what COLLATE "C" DESC;

-- Five permutations that agree in two: estimate 2/5 where the resemblance is 3/7 (sets and permutations are ours, the numbers those of a lecture)
WITH v(a, b, p) AS (VALUES ('{1,2,3,4,5}'::int[], '{3,4,5,6,7}'::int[],
	'{{2,3,1,4,5,6,7},{1,2,3,4,5,6,7},{7,6,5,1,2,3,4},{7,6,5,4,3,2,1},{4,1,3,5,6,2,7}}'::int[][]))
SELECT permutation_sketch(a, p) AS sketch_a, permutation_sketch(b, p) AS sketch_b, sketch_resemblance(permutation_sketch(a, p), permutation_sketch(b, p)) AS estimate,
	similarity(to_shingles(a::bigint[]), to_shingles(b::bigint[])) = 3 / 7::float8 AS three_of_seven FROM v;

-- Yuan et al. 2012, Example 1: five permutations of six that agree in three, so the estimate is 3/5 where the
-- resemblance is 2/5.  The sets and the sketches are theirs; the permutations, which we could not check, give them.
WITH v(a, b, p) AS (VALUES ('{1,2,4}'::int[], '{2,3,4,5}'::int[], '{{4,3,2,5,6,1},{2,1,3,4,5,6},{3,2,4,1,6,5},{2,3,1,4,5,6},{3,2,4,5,6,1}}'::int[][]))
SELECT permutation_sketch(a, p) AS sketch_a, permutation_sketch(b, p) AS sketch_b, sketch_resemblance(permutation_sketch(a, p), permutation_sketch(b, p)) AS estimate,
	similarity(to_shingles(a::bigint[]), to_shingles(b::bigint[])) AS resemblance FROM v;

-- Why it works: over all permutations, the share in which two sketches agree is the resemblance
WITH RECURSIVE p(order_) AS (
	SELECT '{}'::int[] UNION ALL SELECT order_ || i FROM p, generate_series(1, 6) AS i WHERE NOT i = ANY (order_)),
all_of_them AS (SELECT array_agg(order_) AS p FROM p WHERE cardinality(order_) = 6)
SELECT array_length(p, 1) AS permutations, sketch_resemblance(permutation_sketch('{1,2,4}', p), permutation_sketch('{2,3,4,5}', p)) AS mean FROM all_of_them;

-- ---- Edit distance ------------------------------------------------------------

-- Jurafsky, Martin, Speech and Language Processing: intention and execution, 5, or 8 where a substitution costs 2
SELECT edit_distance('intention', 'execution') AS five, weighted_edit_distance('intention', 'execution', substitution => 2) AS eight;
-- The example of Levenshtein's distance in most textbooks
SELECT edit_distance('kitten', 'sitting') AS three;
-- Gusfield, Algorithms on Strings, Trees, and Sequences, 7.4: superiorcalifornialives and sealiver
SELECT longest_common_substring('superiorcalifornialives', 'sealiver');
