-- All pairs by blocks, which are shards.  Each two blocks are compared on the node of one of them.
CREATE TABLE blocks (block int NOT NULL, id bigint NOT NULL, sig minhash(512) NOT NULL);
SELECT create_distributed_table('blocks', 'block', shard_count => 8);
-- A number for each shard.
SELECT array_agg(i) AS numbers FROM (SELECT min(i) AS i FROM generate_series(0, 1000) i GROUP BY get_shard_id_for_distribution_column('blocks', i)) s \gset
EXPLAIN (COSTS OFF) INSERT INTO blocks SELECT (:'numbers'::int[])[1 + abs(worker_hash(sig)::bigint) % 8], id, sig FROM docs;
INSERT INTO blocks SELECT (:'numbers'::int[])[1 + abs(worker_hash(sig)::bigint) % 8], id, sig FROM docs;
INSERT INTO blocks SELECT block, 10000 * n + id, sig FROM blocks, generate_series(1, 2) n WHERE id % 10 = 0;
CREATE TABLE pairs (block int, a bigint, b bigint, similarity float8);
SELECT create_distributed_table('pairs', 'block', colocate_with => 'blocks');
SELECT bool_and(success), count(DISTINCT nodeport) = (SELECT count(*) FROM citus_get_active_worker_nodes()) AS all_nodes
FROM run_command_on_colocated_placements('blocks', 'pairs', replace($$
	INSERT INTO %2$s SELECT x, least(a, b), greatest(a, b), similarity
	FROM (SELECT block AS x FROM %1$s LIMIT 1) mine, unnest(:numbers) y,
		neardup_pairs(CASE WHEN x = y THEN 'SELECT id, sig FROM %1$s ORDER BY id' ELSE 'SELECT min(id), sig FROM %1$s GROUP BY sig' END, 0.7,
			against => CASE WHEN x <> y THEN 'SELECT min(id), sig FROM neardup_citus.blocks WHERE block = ' || y || ' GROUP BY sig' END)
	WHERE (x < y) = ((x + y) %% 2 = 1)$$, ':numbers', quote_literal(:'numbers') || '::int[]'));
CREATE TABLE expected AS SELECT * FROM neardup_pairs('SELECT id, sig FROM blocks ORDER BY id', 0.7);
SELECT count(*), count(*) FILTER (WHERE similarity = 1) AS equal FROM pairs;
(SELECT a, b, similarity FROM pairs EXCEPT ALL SELECT * FROM expected) UNION ALL (SELECT * FROM expected EXCEPT ALL SELECT a, b, similarity FROM pairs);
