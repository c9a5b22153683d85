-- The truth: the resemblance of the sets of all shingles of three words.
CREATE TABLE sets AS SELECT id, to_shingles(body) AS s FROM docs;
CREATE TABLE query_sets AS SELECT n, to_shingles(body) AS s FROM queries;
CREATE TABLE truth AS
SELECT a::int AS query, b::int AS id, similarity
FROM neardup_pairs('SELECT n, s FROM query_sets', 0.8, against => 'SELECT id, s FROM sets', equal => 'all');
CREATE TABLE true_pairs AS
SELECT least(a, b)::int AS a, greatest(a, b)::int AS b FROM neardup_pairs('SELECT id, s FROM sets', 0.8, equal => 'all');
ALTER TABLE true_pairs ADD PRIMARY KEY (a, b);
-- Of the ten nearest those that are not noise: their number, and the least resemblance.
CREATE TABLE nearest AS
SELECT n AS query, count(*) AS number, min(r) AS least
FROM query_sets q, LATERAL (SELECT similarity(sets.s, q.s) AS r FROM sets ORDER BY r DESC LIMIT 10) t
WHERE n <= :nearest AND r >= 0.4 GROUP BY n;
-- Hashes of 64 bits within a distance of 3.
CREATE TABLE simhash_truth AS
WITH q AS MATERIALIZED (SELECT n, to_simhash(body)::bigint AS print FROM queries),
d AS MATERIALIZED (SELECT id, to_simhash(body)::bigint AS print FROM docs)
SELECT n AS query, id FROM q JOIN d ON hamming_within(q.print, d.print, 3);
CREATE VIEW truths AS
SELECT 'texts' AS family, query, id FROM truth UNION ALL SELECT 'simhash', query, id FROM simhash_truth;
VACUUM ANALYZE;
