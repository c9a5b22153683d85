-- The truth: the resemblance of the sets of all shingles of three words.
CREATE TABLE sets AS SELECT id, to_shingles(body) AS s FROM docs;
CREATE TABLE query_sets AS SELECT n, to_shingles(body) AS s FROM queries;
INSERT INTO truth
SELECT a::int AS query, b::int AS id, similarity
FROM neardup_pairs('SELECT n, s FROM query_sets', 0.8, against => 'SELECT id, s FROM sets', equal => 'all');
CREATE TABLE true_pairs AS
SELECT least(a, b)::int AS a, greatest(a, b)::int AS b FROM neardup_pairs('SELECT id, s FROM sets', 0.8, equal => 'all');
ALTER TABLE true_pairs ADD PRIMARY KEY (a, b);
-- Of the ten nearest those that are not noise: their number, and the least resemblance.
CREATE TABLE nearest AS
SELECT query, count(*) AS number, min(r) AS least
FROM (SELECT a::int AS query, similarity AS r, row_number() OVER (PARTITION BY a ORDER BY similarity DESC) AS place
	FROM neardup_pairs('SELECT n, s FROM query_sets', 0.4, against => 'SELECT id, s FROM sets', equal => 'all')) t
WHERE query <= :nearest AND place <= 10 GROUP BY query;
VACUUM ANALYZE;
