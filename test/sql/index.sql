-- Commands on an index, its plans, and the functions that describe it.  A vacuum changes what they say, so
-- autovacuum leaves these tables alone.

SET client_min_messages = warning;
SET neardup.background = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION text_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$SELECT string_agg(md5((i / 3)::text || j), ' ') || ' ' || i % 3 FROM generate_series(1, 30) j$$;

\set pass_horizon `cat "${PG_ABS_SRCDIR:-test}/tools/pass_horizon.sql"`

-- An empty index, then NULLs, then signatures of the length that NULLs are given room for and of another.
CREATE TABLE hashes (id int, h bigint) WITH (autovacuum_enabled = off);
CREATE INDEX hashes_h ON hashes USING neardup (h);
SELECT id FROM hashes WHERE is_within(h, 5::bigint, 1);
SELECT neardup_check('hashes_h');
INSERT INTO hashes VALUES (1, NULL), (2, NULL);
SELECT id FROM hashes WHERE is_within(h, 5::bigint, 1);
INSERT INTO hashes VALUES (3, 5), (4, 7), (5, NULL), (6, 0);
SELECT id FROM hashes WHERE is_within(h, 5::bigint, 1);
SELECT neardup_check('hashes_h');
CREATE TABLE documents (id int, body text, sig minhash) WITH (autovacuum_enabled = off);
CREATE INDEX documents_sig ON documents USING neardup (sig);
INSERT INTO documents VALUES (-1, NULL, NULL);
INSERT INTO documents SELECT i, text_of(i), to_minhash(text_of(i)) FROM generate_series(1, 600) i;
INSERT INTO documents VALUES (-2, NULL, NULL), (-3, '', to_minhash(''));
SELECT neardup_check('documents_sig');
SELECT segments, documents, dead, tail FROM neardup_index_status('documents_sig');
SELECT id FROM documents WHERE is_similar(sig, to_minhash(text_of(301)), 0.8);
-- NULL and the empty set are in the index and are never found.
SELECT id FROM documents WHERE is_similar(sig, to_minhash(''), 0.1);
SELECT id FROM documents WHERE is_similar(sig, NULL, 0.1);
SELECT id FROM documents WHERE is_within(sig, to_minhash(''), 512);
SELECT count(*) FROM documents WHERE is_within(sig, to_minhash(text_of(1)), 512);
REINDEX INDEX documents_sig;
SELECT neardup_check('documents_sig');
SELECT segments, documents, dead, tail FROM neardup_index_status('documents_sig');
SELECT id FROM documents WHERE is_similar(sig, to_minhash(text_of(301)), 0.8);
CREATE TABLE nulls WITH (autovacuum_enabled = off) AS SELECT i AS id, NULL::minhash AS sig FROM generate_series(1, 2000) i;
CREATE INDEX nulls_sig ON nulls USING neardup (sig);
SELECT id FROM nulls WHERE is_similar(sig, to_minhash('some text', 64), 0.1);
INSERT INTO nulls VALUES (0, to_minhash('some text', 4096));
SELECT id FROM nulls WHERE is_similar(sig, to_minhash('some text', 4096), 0.1);
SELECT neardup_check('nulls_sig');

-- A tail whose signatures are all dead is sealed.
CREATE TABLE gone (id int, h bigint) WITH (autovacuum_enabled = off);
CREATE INDEX gone_h ON gone USING neardup (h);
INSERT INTO gone SELECT i, i FROM generate_series(1, 1000) i;
DELETE FROM gone;
:pass_horizon
VACUUM gone;
INSERT INTO gone SELECT i, NULL FROM generate_series(1, 12000) i;
SELECT segments > 0 AS sealed FROM neardup_index_status('gone_h');
SELECT id FROM gone WHERE is_within(h, 5::bigint, 1);
SELECT neardup_check('gone_h');

-- Equal signatures, as many as make a mean that rounding would raise.
CREATE UNLOGGED TABLE equal WITH (autovacuum_enabled = off) AS SELECT to_minhash('some text') AS sig FROM generate_series(1, 33071) i;
CREATE INDEX equal_sig ON equal USING neardup (sig) WITH (groups = 509);
SELECT neardup_check('equal_sig');
DROP TABLE equal;

-- Another shape, scheme or length.
INSERT INTO documents VALUES (0, '', to_minhash('a b c', 256));
INSERT INTO documents VALUES (0, '', to_minhash('a b c', 512, 2));
SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c', 256), 0.8);
SELECT id FROM documents WHERE sig <@ near(to_minhash('a b c', 512, 4), 0.8);
SELECT id FROM documents WHERE is_similar(sig, repeat('01', 256)::bit(512)::minhash, 0.8);
SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c'), 0);
SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c'), 1.1);
SELECT id FROM documents WHERE is_within(sig, to_minhash('a b c'), -1);
CREATE TABLE long (sig minhash) WITH (autovacuum_enabled = off);
CREATE INDEX long_sig ON long USING neardup (sig);
INSERT INTO long VALUES (to_minhash('a b c', 8192, 8));
INSERT INTO long VALUES (NULL);
INSERT INTO long VALUES (to_minhash('a b c', 8192, 8));
INSERT INTO long VALUES (to_minhash('a b c', 8000, 8));
SELECT count(*) FROM long WHERE is_similar(sig, to_minhash('a b c', 8000, 8), 1);
SELECT neardup_check('long_sig');
TRUNCATE long;
INSERT INTO long VALUES (to_minhash('a b c', 8192, 8)), (to_minhash('a b c', 8192, 8));
DROP INDEX long_sig;
INSERT INTO long VALUES (to_minhash('a b c', 8192, 8));
CREATE INDEX ON long USING neardup (sig);

-- Properties that the access method does not have.
CREATE UNIQUE INDEX ON documents USING neardup (sig);
CREATE INDEX ON documents USING neardup (sig, sig);
CREATE INDEX ON documents USING neardup (sig) INCLUDE (id);
\set VERBOSITY sqlstate
CREATE INDEX ON documents USING neardup (sig DESC);
\set VERBOSITY default
CREATE INDEX ON documents USING neardup (sig) WITH (fillfactor = 90);
CREATE INDEX ON documents USING neardup (body);

-- There is an index condition and no filter; no row is fetched in vain.
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash(current_user, 128), 0.8);
CREATE FUNCTION second_scan(query text, OUT index text, OUT rows int, OUT rechecked int, OUT filtered int) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	plan := plan->0->'Plan'->'Plans'->1;
	index := plan->>'Index Name';
	rows := (plan->>'Actual Rows')::numeric;
	rechecked := plan->>'Rows Removed by Index Recheck';
	filtered := plan->>'Rows Removed by Filter';
END $$;
SELECT * FROM second_scan('SELECT d.id FROM documents q JOIN documents d ON is_similar(d.sig, q.sig, 0.8) WHERE q.id = 301');
DROP FUNCTION second_scan;
SELECT count(*) FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, 0.8) AND a.id < b.id;
SET enable_seqscan = on;
SET enable_indexscan = off;
SELECT count(*) FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, 0.8) AND a.id < b.id;
SET enable_seqscan = off;
SET enable_indexscan = on;

-- An index of an expression, and a partial index.
CREATE INDEX documents_body ON documents USING neardup (to_minhash(body, 128, 8)) WHERE id > 0;
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(to_minhash(body, 128, 8), to_minhash(current_user, 128, 8), 0.8) AND id > 0;
SELECT id FROM documents WHERE is_similar(to_minhash(body, 128, 8), to_minhash(text_of(301), 128, 8), 0.8) AND id > 0;
SELECT neardup_check('documents_body');
DROP INDEX documents_body;

-- CREATE INDEX CONCURRENTLY.
CREATE INDEX CONCURRENTLY documents_again ON documents USING neardup (sig);
SELECT neardup_check('documents_again');
REINDEX INDEX CONCURRENTLY documents_again;
SELECT neardup_check('documents_again');
DROP INDEX CONCURRENTLY documents_again;
INSERT INTO documents VALUES (0, '', to_minhash('a b c'));
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'documents_sig'::regclass;
SELECT neardup_check('documents_sig');
SELECT advice FROM neardup_indexes WHERE index_name = 'documents_sig'::regclass;
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'documents_sig'::regclass;

-- All indexes.  Maintenance is what writes segments: a build, or the insert that fills the tail.
CREATE TABLE fresh (h bigint) WITH (autovacuum_enabled = off);
BEGIN;
CREATE INDEX fresh_h ON fresh USING neardup (h);
CREATE TEMPORARY TABLE looked AS SELECT * FROM neardup_indexes;
COMMIT;
SELECT table_name, index_name, shape, bytes = pg_relation_size(index_name) AS its_size, segments, documents, dead, tail,
	last_maintenance < now() AS built, advice FROM looked ORDER BY index_name::text;
INSERT INTO fresh SELECT i FROM generate_series(1, 1000) i;
SELECT shape, documents, tail, last_maintenance = (SELECT last_maintenance FROM looked WHERE index_name = 'fresh_h'::regclass) AS as_built
FROM neardup_indexes WHERE index_name = 'fresh_h'::regclass;
INSERT INTO fresh SELECT i FROM generate_series(1001, 59000) i;
SELECT documents > tail AS sealed, last_maintenance > (SELECT last_maintenance FROM looked WHERE index_name = 'fresh_h'::regclass) AS later
FROM neardup_indexes WHERE index_name = 'fresh_h'::regclass;
SET neardup.debug_segment_pages = 2;
REINDEX INDEX fresh_h;
RESET neardup.debug_segment_pages;
SELECT advice FROM neardup_indexes WHERE index_name = 'fresh_h'::regclass;
SELECT neardup_index_status('fresh'), 'a table';
SELECT neardup_index_status(0), 'nothing';
DROP TABLE fresh, looked;
-- The settings are known once the library is loaded.
\c -
SHOW neardup.search;
SET neardup.cache_size = '32MB';
SELECT minhash_error(512, 1, 0.8) > 0 AS loaded;
SHOW neardup.search;
SHOW neardup.cache_size;
RESET neardup.cache_size;
SET client_min_messages = warning;
SET neardup.background = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- A partitioned table.
CREATE TABLE parts (id int, h bigint) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000) WITH (autovacuum_enabled = off);
CREATE INDEX parts_h ON parts USING neardup (h);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (9999) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT i, i FROM generate_series(1, 1999) i;
EXPLAIN (COSTS OFF) SELECT id FROM parts WHERE is_within(h, 1024, 1);
SELECT id FROM parts WHERE is_within(h, 1024, 1);
SELECT neardup_check('parts_2_h_idx');
SELECT neardup_check('parts_h');
DROP TABLE parts;

-- Unlogged and temporary tables; TRUNCATE, also when the file is kept.
CREATE UNLOGGED TABLE passing (id int, h bigint) WITH (autovacuum_enabled = off);
CREATE INDEX passing_h ON passing USING neardup (h);
INSERT INTO passing SELECT i, i FROM generate_series(1, 19999) i;
SELECT id FROM passing WHERE is_within(h, 1024, 0);
SELECT neardup_check('passing_h');
ALTER TABLE passing SET LOGGED;
SELECT id FROM passing WHERE is_within(h, 1024, 0);
SELECT neardup_check('passing_h');
CREATE TEMPORARY TABLE own (id int, h bigint) ON COMMIT DELETE ROWS;
CREATE INDEX own_h ON own USING neardup (h);
BEGIN;
INSERT INTO own SELECT i, i FROM generate_series(1, 19999) i;
SELECT id FROM own WHERE is_within(h, 1024, 0);
COMMIT;
BEGIN;
INSERT INTO own SELECT i, i FROM generate_series(1, 500) i;
SELECT id FROM own WHERE is_within(h, 256, 0);
SELECT neardup_check('own_h');
COMMIT;
BEGIN;
CREATE TABLE fresh (id int, h bigint) WITH (autovacuum_enabled = off);
CREATE INDEX fresh_h ON fresh USING neardup (h);
INSERT INTO fresh SELECT i, i FROM generate_series(1, 19999) i;
SELECT id FROM fresh WHERE is_within(h, 1024, 0);
TRUNCATE fresh;
SELECT id FROM fresh WHERE is_within(h, 1024, 0);
INSERT INTO fresh SELECT i, i FROM generate_series(1, 19999) i;
SELECT id FROM fresh WHERE is_within(h, 1024, 0);
SELECT neardup_check('fresh_h');
COMMIT;

-- neardup_index_status() and neardup_explain().
SELECT segment IS NULL AS is_tail, documents, method, hits >= 1 AS hits, candidates >= matches AS candidates, matches
	FROM neardup_explain('fresh_h', hamming_ball(1024::bigint, 1)) ORDER BY segment;
SELECT documents, method, matches FROM neardup_explain('documents_sig', near(to_minhash(text_of(301)), 0.8)) ORDER BY segment;
SELECT documents, method, matches FROM neardup_explain('documents_sig', near(to_minhash(text_of(301)), 0.01)) ORDER BY segment;
SELECT sum(matches) FROM neardup_explain('documents_sig', near(to_minhash(''), 0.8));
SELECT documents, method FROM neardup_explain('documents_sig', near(to_minhash('a', 64), 0.5)) ORDER BY segment;
SELECT neardup_check('documents');
SELECT neardup_check('pg_class_oid_index');

-- Privileges.
CREATE ROLE neardup_nobody;
SET ROLE neardup_nobody;
SELECT neardup_check('documents_sig');
SELECT neardup_explain('documents_sig', near(to_minhash('a'), 0.8));
RESET ROLE;
DROP ROLE neardup_nobody;

-- Settings.
SHOW neardup.search;
SET neardup.search = 'guess';
\set VERBOSITY sqlstate
SET neardup.cache_size = -1;
\set VERBOSITY default
-- Unknown names with our prefix are refused from PostgreSQL 15 on.
DO $$
BEGIN
	SET neardup.nothing = 1;
	ASSERT current_setting('server_version_num')::int < 150000;
EXCEPTION WHEN invalid_name THEN NULL;
END $$;
SHOW neardup.cache_size;

DROP TABLE hashes, documents, nulls, long, passing, own, fresh;
DROP FUNCTION text_of;
