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
CREATE TABLE bands (key bigint NOT NULL, id bigint NOT NULL, sig minhash(512) NOT NULL);
SELECT create_distributed_table('bands', 'key', shard_count => 8) \g /dev/null
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
\echo Bands with signatures, filled:
INSERT INTO bands SELECT key, id, sig FROM docs, lsh_parameters(0.8, 512, 0.999, b => 1) p, unnest(minhash_bands(sig, p.rows)) key;
\echo Bands with signatures, joined:
SELECT count(*) FROM (
	SELECT DISTINCT a.id, b.id FROM bands a JOIN bands b ON a.key = b.key AND a.id < b.id WHERE is_similar(a.sig, b.sig, 0.8)) pairs;
\echo Bands without signatures, joined:
SET citus.enable_repartition_joins = on;
SELECT count(*) FROM (
	SELECT DISTINCT a.id, b.id FROM bands a JOIN bands b ON a.key = b.key AND a.id < b.id
	JOIN docs x ON x.id = a.id JOIN docs y ON y.id = b.id WHERE is_similar(x.sig, y.sig, 0.8)) pairs;
\echo Guard, 10,000 rows in one statement:
INSERT INTO guard SELECT id, sig FROM docs WHERE id <= 10000 ON CONFLICT DO NOTHING;
\timing off
DROP SCHEMA neardup_times CASCADE;
