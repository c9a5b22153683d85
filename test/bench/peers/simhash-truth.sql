-- The truth of hashes of 64 bits: those within a distance of 3.
INSERT INTO simhash_truth
WITH q AS MATERIALIZED (SELECT n, to_simhash(body)::bigint AS print FROM queries),
d AS MATERIALIZED (SELECT id, to_simhash(body)::bigint AS print FROM docs)
SELECT n AS query, id FROM q JOIN d ON is_within(q.print, d.print, 3);
ANALYZE simhash_truth;
