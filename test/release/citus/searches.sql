-- What works as on one server, with the index of each shard.
SELECT sig AS q FROM here WHERE id = 17 \gset
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE is_similar(sig, :'q', 0.7);
SELECT id FROM docs WHERE is_similar(sig, :'q', 0.7) ORDER BY id;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE is_within(hash, 5, 3);
SELECT count(*) FROM docs WHERE is_within(hash, hashint8extended(17, 0), 3);
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE sig <@ ANY (ARRAY[near(:'q', 0.7), near(:'q', 0.9)]);
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY sig <-> :'q' LIMIT 2;
SELECT id FROM docs ORDER BY sig <-> :'q' LIMIT 2;
-- A signature of another row, in a condition.
SELECT id FROM docs WHERE is_similar(sig, (SELECT sig FROM docs WHERE id = 17), 0.7) ORDER BY id;
-- A join with a reference table.
EXPLAIN (COSTS OFF) SELECT q.id, d.id FROM queries q JOIN docs d ON is_similar(d.sig, q.sig, 0.7);
SELECT q.id, d.id FROM queries q JOIN docs d ON is_similar(d.sig, q.sig, 0.7) ORDER BY 1, 2;
-- Whole tables.
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM docs', 0.7);
SELECT count(*) FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7);
SELECT (SELECT minhash_union_agg(to_minhash(body, 64, 32)) FROM docs) = (SELECT minhash_union_agg(to_minhash(body, 64, 32)) FROM here) AS same;
BEGIN;
DELETE FROM docs d USING neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7) c WHERE d.id = c.id AND c.id <> c.keeper;
SELECT count(*), max(id) FROM docs;
ROLLBACK;
-- The index of each shard.
SELECT bool_and(success), sum(substring(result FROM 'rows: (\d+)')::int) AS rows FROM run_command_on_shards('docs', $$SELECT neardup_check(replace('%s', 'docs', 'docs_sig'))$$);
