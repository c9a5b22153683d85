-- Parallel joins return the same pairs in the same order as serial ones.

SET client_min_messages = warning;
CREATE SCHEMA batch_parallel;
SET search_path = batch_parallel, public;
SET maintenance_work_mem = '128MB';
-- The leader takes no group or part, so the workers take all.
SET parallel_leader_participation = off;
-- Rows are read in the order of the table, whatever plan statistics make the cheapest.
SET max_parallel_workers_per_gather = 0;
SET synchronize_seqscans = off;

-- Groups of 40 similar rows, and as many rows that are similar to none.
CREATE TABLE docs AS SELECT i AS id, to_minhash(CASE WHEN i % 2 = 0 THEN md5(i::text)
	ELSE (SELECT string_agg(md5((i % 601 + w * 601)::text), ' ') FROM generate_series(1, 30) w) || ' ' || i END) AS sig
FROM generate_series(1, 24000) i;

CREATE FUNCTION pairs(workers int, left_query text, right_query text, threshold float8 DEFAULT 0.7, OUT n bigint, OUT a bigint, OUT b bigint, OUT similarity float8)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('max_parallel_maintenance_workers', workers::text, true);
	RETURN QUERY SELECT row_number() OVER (), p.* FROM neardup_pairs(left_query, threshold, against => right_query) p;
END $$;

-- The debug lines say how many workers helped.
SET client_min_messages = debug1;
CREATE TABLE alone AS SELECT * FROM pairs(0, 'SELECT id, sig FROM docs', NULL);
CREATE TABLE shared AS SELECT * FROM pairs(2, 'SELECT id, sig FROM docs', NULL);
SET client_min_messages = warning;
SELECT count(*) > 100000 AS many, count(*) = (SELECT count(*) FROM alone) AS same_count, count(*) = (SELECT count(*) FROM alone NATURAL JOIN shared) AS same
FROM shared;

-- Two sources.
SET client_min_messages = debug1;
CREATE TABLE two AS SELECT w, p.* FROM unnest('{0,2}'::int[]) w,
	pairs(w, 'SELECT id, sig FROM docs WHERE id <= 12000', 'SELECT id, sig FROM docs WHERE id > 12000') p;
SET client_min_messages = warning;
SELECT count(*) > 100000 AS many, count(*) = 2 * (SELECT count(*) FROM two x JOIN two y USING (n, a, b, similarity) WHERE x.w = 0 AND y.w = 2) AS same FROM two;

-- These are parts of all pairs.  Groups are shared as well.
CREATE TABLE hashes AS SELECT i AS id, (hashint8extended(i / 2, 0) # (i % 2))::simhash AS sig FROM generate_series(1, 300000) i;
SET client_min_messages = debug1;
CREATE TABLE grouped AS SELECT w, p.* FROM unnest('{0,2}'::int[]) w, pairs(w, 'SELECT id, sig FROM hashes', NULL, 0.95) p;
SET client_min_messages = warning;
SELECT count(*) > 149000 AS many, count(*) = 2 * (SELECT count(*) FROM grouped x JOIN grouped y USING (n, a, b, similarity) WHERE x.w = 0 AND y.w = 2) AS same FROM grouped;

-- Signatures that memory does not hold: groups are shared by way of files.  Within a group the order may differ.
SET maintenance_work_mem = '64MB';
CREATE TABLE many AS SELECT i AS id, (hashint8extended(i - (i % 20 = 0)::int, 0) # (i % 20 = 0)::int)::simhash AS sig FROM generate_series(1, 1300000) i;
SET client_min_messages = debug1;
CREATE TABLE in_files AS SELECT w, p.* FROM unnest('{0,2}'::int[]) w, pairs(w, 'SELECT id, sig FROM many', NULL, 0.98) p;
CREATE TABLE two_in_files AS SELECT w, p.* FROM unnest('{0,2}'::int[]) w,
	pairs(w, 'SELECT id, sig FROM many WHERE id > 50000', 'SELECT id, sig FROM many WHERE id < 60000', 0.98) p;
SET client_min_messages = warning;
SELECT count(*) = 2 * 65000 AS right, count(*) = 2 * (SELECT count(*) FROM in_files x JOIN in_files y USING (a, b, similarity) WHERE x.w = 0 AND y.w = 2) AS same FROM in_files;
SELECT count(*) > 1000 AS some, count(*) = 2 * (SELECT count(*) FROM two_in_files x JOIN two_in_files y USING (a, b, similarity) WHERE x.w = 0 AND y.w = 2) AS same FROM two_in_files;
SET maintenance_work_mem = '128MB';

-- Stars and components, in a transaction that writes, with the leader's help.
RESET parallel_leader_participation;
BEGIN;
CREATE TEMP TABLE clusters (workers int, method text, id bigint, keeper bigint, similarity float8, size bigint);
SET LOCAL max_parallel_maintenance_workers = 0;
INSERT INTO clusters SELECT 0, m, c.* FROM unnest('{star,components}'::text[]) m, neardup_clusters('SELECT id, sig FROM docs', 0.7, method => m) c;
SAVEPOINT s;
SET LOCAL max_parallel_maintenance_workers = 2;
SET client_min_messages = debug1;
INSERT INTO clusters SELECT 2, m, c.* FROM unnest('{star,components}'::text[]) m, neardup_clusters('SELECT id, sig FROM docs', 0.7, method => m) c;
SET client_min_messages = warning;
RELEASE SAVEPOINT s;
SELECT method, count(*) > 10000 AS many, bool_and(n = 2) AS same
FROM (SELECT method, count(*) AS n FROM clusters GROUP BY method, id, keeper, similarity, size) c GROUP BY method ORDER BY method;
COMMIT;

-- More pairs than memory has room for: the leader joins the remaining groups.
SET maintenance_work_mem = '16MB';
CREATE TABLE dense AS SELECT i AS id, to_minhash((SELECT string_agg(md5((i % 101 + w * 101)::text), ' ') FROM generate_series(1, 30) w) || ' ' || i) AS sig
FROM generate_series(1, 20000) i;
SELECT sum(n::numeric * (a + 7 * b)) AS alone FROM pairs(0, 'SELECT id, sig FROM dense', NULL) \gset
SET client_min_messages = debug1;
SELECT count(*) > 16 * 1024 * 1024 / 12 AS too_many, sum(n::numeric * (a + 7 * b)) = :alone AS same FROM pairs(2, 'SELECT id, sig FROM dense', NULL);
SET client_min_messages = warning;

-- An error and a cancelled statement while workers run; the next call works.
SET maintenance_work_mem = '128MB';
SET parallel_leader_participation = off;
SET temp_file_limit = '1MB';
DO $$
BEGIN
	PERFORM pairs(2, 'SELECT id, sig FROM dense', NULL);
EXCEPTION WHEN configuration_limit_exceeded THEN
	-- PostgreSQL 18 quotes the setting's name.
	RAISE WARNING '%', replace(SQLERRM, '"', '');
END $$;
RESET temp_file_limit;
SELECT count(*) = (SELECT count(*) FROM alone) AS same FROM pairs(2, 'SELECT id, sig FROM docs', NULL);

-- Sets: parts of the documents.  Each has some 30 of the 61 elements of its group.
CREATE TABLE sets AS SELECT i AS id, to_shingles(array_agg(i / 2 % 60 * 100 + (i * 41 + j)::bigint * (i * 41 + j) % 1000003 * 7919 % 1000003 % 61)) AS sig
FROM generate_series(1, 20000) i, generate_series(1, 40 + i % 5) j GROUP BY i ORDER BY i;
SET client_min_messages = debug1;
CREATE TABLE sets_alone AS SELECT * FROM pairs(0, 'SELECT id, sig FROM sets', NULL, 0.4);
CREATE TABLE sets_shared AS SELECT * FROM pairs(2, 'SELECT id, sig FROM sets', NULL, 0.4);
CREATE TABLE sets_two AS SELECT w, p.* FROM unnest('{0,2}'::int[]) w,
	pairs(w, 'SELECT id, sig FROM sets WHERE id % 2 = 0', 'SELECT id, sig FROM sets WHERE id % 2 = 1', 0.4) p;
SET client_min_messages = warning;
SELECT count(*) > 9000 AS many, count(*) = (SELECT count(*) FROM sets_alone) AS same_count, count(*) = (SELECT count(*) FROM sets_alone NATURAL JOIN sets_shared) AS same
FROM sets_shared;
SELECT count(*) > 4000 AS many, count(*) = 2 * (SELECT count(*) FROM sets_two x JOIN sets_two y USING (n, a, b, similarity) WHERE x.w = 0 AND y.w = 2) AS same FROM sets_two;
SET temp_file_limit = '64kB';
DO $$
BEGIN
	PERFORM pairs(2, 'SELECT id, sig FROM sets', NULL, 0.2);
EXCEPTION WHEN configuration_limit_exceeded THEN
	RAISE WARNING '%', replace(SQLERRM, '"', '');
END $$;
RESET temp_file_limit;

DROP SCHEMA batch_parallel CASCADE;
