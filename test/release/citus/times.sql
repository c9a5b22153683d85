-- times.sql: what ways to all pairs take on a cluster of Citus, with 100,000 documents.
--
--   psql -X -q -d 'host=... dbname=...' -f test/release/citus/times.sql
--
-- Needs a database with Citus, its workers, and neardup.  Makes a schema, neardup_times, and drops it.
CREATE SCHEMA neardup_times;
SET search_path = neardup_times, public;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on

-- Every tenth document is a changed copy of the one before it.
CREATE TABLE here AS SELECT i AS id, to_minhash(to_shingles(array_agg(CASE
		WHEN i % 10 = 0 THEN hashint8extended((i - 1) * 100 + j, (j <= i / 10 % 15)::int)
		ELSE hashint8extended(i * 100 + j, 0) END)), 512, 1) AS sig
FROM generate_series(1, 100000::bigint) i, generate_series(1, 60) j GROUP BY i;
CREATE TABLE docs (id bigint PRIMARY KEY, sig minhash(512) NOT NULL);
SELECT create_distributed_table('docs', 'id', shard_count => 8) \g /dev/null
INSERT INTO docs SELECT * FROM here;
CREATE INDEX ON docs USING neardup (sig);
CREATE TABLE blocks (block int NOT NULL, id bigint NOT NULL, sig minhash(512) NOT NULL);
SELECT create_distributed_table('blocks', 'block', shard_count => 4) \g /dev/null
SELECT array_agg(i) AS numbers FROM (SELECT min(i) AS i FROM generate_series(0, 1000) i GROUP BY get_shard_id_for_distribution_column('blocks', i)) s \gset
CREATE TABLE pairs (block int, a bigint, b bigint, similarity float8);
SELECT create_distributed_table('pairs', 'block', colocate_with => 'blocks') \g /dev/null
CREATE TABLE guard (id bigint, sig minhash(512), CONSTRAINT guard_near EXCLUDE USING neardup (near(sig, 0.8) WITH &&));
SELECT create_reference_table('guard') \g /dev/null
ANALYZE docs;

\timing on
\echo neardup_pairs, of a table on one server:
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM here', 0.8);
\echo neardup_pairs, of the distributed table:
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM docs', 0.8);
\echo Join with a materialized CTE:
WITH a AS MATERIALIZED (SELECT id, sig FROM docs) SELECT count(*) FROM a JOIN docs b ON is_similar(a.sig, b.sig, 0.8) AND a.id < b.id;
\echo Blocks, filled:
INSERT INTO blocks SELECT (:'numbers'::int[])[1 + abs(worker_hash(sig)::bigint) % 4], id, sig FROM docs;
\echo Blocks, compared one after the other: pairs, and seconds of a processor:
SELECT nodeport, result FROM run_command_on_colocated_placements('blocks', 'pairs', replace($$
	WITH done AS (INSERT INTO %2$s SELECT x, least(a, b), greatest(a, b), similarity
		FROM (SELECT block AS x FROM %1$s LIMIT 1) mine, unnest(:numbers) y,
			neardup_pairs(CASE WHEN x = y THEN 'SELECT id, sig FROM %1$s ORDER BY id' ELSE 'SELECT min(id), sig FROM %1$s GROUP BY sig' END, 0.8,
				against => CASE WHEN x <> y THEN 'SELECT min(id), sig FROM neardup_times.blocks WHERE block = ' || y || ' GROUP BY sig' END)
		WHERE (x < y) = ((x + y) %% 2 = 1) RETURNING 1)
	SELECT (SELECT count(*) FROM done) || ' ' || round((stat[14]::int + stat[15]::int) / 100.0, 2)
	FROM string_to_array((SELECT pg_read_file('/proc/self/stat') WHERE (SELECT count(*) FROM done) >= 0), ' ') stat$$,
	':numbers', quote_literal(:'numbers') || '::int[]'), parallel => false);
\echo Guard, 10,000 rows in one statement:
INSERT INTO guard SELECT id, sig FROM docs WHERE id <= 10000 ON CONFLICT DO NOTHING;
\timing off
DROP SCHEMA neardup_times CASCADE;
