-- neardup_pairs() and neardup_clusters(): what they return, and what they refuse.

-- The context of an error is shown from PostgreSQL 14 on.
\set SHOW_CONTEXT never

CREATE SCHEMA batch;
SET search_path = batch, public;
\set VERBOSITY default

-- Lines 1, 2 and 3 are alike, 4 equals 2, 6 and 7 are equal; 8 is empty, 9 NULL.
CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash, key uuid) WITH (autovacuum_enabled = off);
INSERT INTO docs
SELECT id, body, to_minhash(body, 1024, 4), ('00000000-0000-0000-0000-00000000000' || 10 - id)::uuid FROM (VALUES
	(1, 'a fund committee reads every proposal twice before it decides and writes down why it did so in a few plain words'),
	(2, 'a fund committee reads every proposal twice before it decides and writes down why it did so in a few plain sentences'),
	(3, 'a fund committee reads each proposal twice before it decides and writes down why it did so in a few plain sentences'),
	(4, 'A fund committee reads every proposal twice before it decides, and writes down why it did so in a few plain sentences.'),
	(5, 'nothing like the others'),
	(6, 'two of a kind'), (7, 'two of a kind'), (8, ''), (9, NULL)) v (id, body);

-- Pairs: a copy is paired with the first of its equals only, unless equal => 'all'.
SELECT a, b, round(similarity::numeric, 3) AS similarity FROM neardup_pairs('SELECT id, sig FROM docs', 0.5) ORDER BY 1, 2;
SELECT a, b, round(similarity::numeric, 3) AS similarity FROM neardup_pairs('SELECT id, sig FROM docs', 0.5, equal => 'all') ORDER BY 1, 2;
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM docs', 0.5, equal => 'all') p
	JOIN docs x ON x.id = a JOIN docs y ON y.id = b WHERE p.similarity = similarity(x.sig, y.sig);
-- The earlier row of the query comes first.
SELECT a, b FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id DESC', 0.5) ORDER BY 1, 2;

-- Clusters: the keeper is the earliest in the query's order.
SELECT id, keeper, round(similarity::numeric, 3) AS similarity, size FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7);
SELECT id, keeper, round(similarity::numeric, 3) AS similarity, size FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id DESC', 0.7);
-- 1 and 3 are too far apart: stars do not chain, components do.
SELECT id, keeper, round(similarity::numeric, 3) AS similarity, size FROM neardup_clusters('SELECT id, sig FROM docs WHERE id < 5 ORDER BY id', 0.72);
SELECT id, keeper, round(similarity::numeric, 3) AS similarity, size FROM neardup_clusters('SELECT id, sig FROM docs WHERE id < 5 ORDER BY id', 0.72, method => 'components');
-- With both ends as keepers the middle joins the first of them, or the nearest.
SELECT id, keeper, size FROM neardup_clusters('SELECT id, sig FROM docs WHERE id < 5 ORDER BY id <> 3, id', 0.72);
SELECT id, keeper, size FROM neardup_clusters('SELECT id, sig FROM docs WHERE id < 5 ORDER BY id <> 3, id', 0.72, nearest => true);

-- With another source, only its rows are keepers.
SELECT a, b FROM neardup_pairs('SELECT id, sig FROM docs WHERE id IN (2, 4, 6)', 0.5, against => 'SELECT id, sig FROM docs WHERE id IN (1, 3, 7)') ORDER BY 1, 2;
SELECT id, keeper, round(similarity::numeric, 3) AS similarity, size
FROM neardup_clusters('SELECT id, sig FROM docs WHERE id IN (2, 4, 6)', 0.5, against => 'SELECT id, sig FROM docs WHERE id IN (1, 3, 5, 7) ORDER BY id');
SELECT id, keeper
FROM neardup_clusters('SELECT id, sig FROM docs WHERE id IN (2, 4, 6)', 0.5, against => 'SELECT id, sig FROM docs WHERE id IN (1, 3, 5, 7) ORDER BY id', nearest => true);
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM docs', 0.5, against => 'SELECT id, sig FROM docs WHERE false');
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM docs WHERE false', 0.5, against => 'SELECT id, sig FROM docs');

-- Ids of any type, which the witness names.
SELECT a, b FROM neardup_pairs('SELECT key, sig FROM docs', 0.9, NULL::uuid) ORDER BY 1, 2;
SELECT id, keeper, size FROM neardup_clusters('SELECT ''document '' || id, sig FROM docs ORDER BY id', 0.9, NULL::text);
SELECT a, b FROM neardup_pairs('SELECT (''d'' || id)::varchar, sig FROM docs', 0.9, NULL::text) ORDER BY 1, 2;
SELECT a, b FROM neardup_pairs('SELECT id, sig FROM docs', 0.9, 0) ORDER BY 1, 2;
SELECT a, b FROM neardup_pairs('SELECT id + 0.5, sig FROM docs', 0.9, NULL::numeric) ORDER BY 1, 2;
SELECT a, b FROM neardup_pairs('SELECT ARRAY[id, id], sig FROM docs', 0.9, NULL::int[]) ORDER BY 1, 2;

-- The other types; sets are compared exactly, as sets or as multisets.
SELECT a, b, round(similarity::numeric, 3) AS similarity FROM neardup_pairs('SELECT id, to_simhash(body, 256) FROM docs', 0.9) ORDER BY 1, 2;
SELECT a, b, similarity = similarity(to_shingles(x.body), to_shingles(y.body)) AS exact
FROM neardup_pairs('SELECT id, to_shingles(body) FROM docs', 0.5) JOIN docs x ON x.id = a JOIN docs y ON y.id = b ORDER BY 1, 2;
SELECT m, a, b, similarity FROM unnest('{f,t}'::boolean[]) m,
	neardup_pairs('SELECT * FROM (VALUES (1, to_shingles(''{1,1,1,2}''::bigint[])), (2, to_shingles(''{1,2}''::bigint[])), (3, to_shingles(''{1,2,2}''::bigint[]))) v', 0.3, m) ORDER BY 1, 2, 3;
SELECT id, keeper, size FROM neardup_clusters('SELECT id, to_shingles(body) FROM docs ORDER BY id', 0.5);

-- Containment of the shorter in the longer: 1 and 5 are in 2; half of 3 is in 2, of which 4 is a copy; 6 is empty.
CREATE TABLE reports AS SELECT id, to_shingles(s::bigint[]) AS s FROM (VALUES (1, '{1,2,3,4,4,4}'), (2, '{1,2,3,4,5,6,7,8,9,10,11,12}'),
	(3, '{9,10,21,22}'), (4, '{12,11,10,9,8,7,6,5,4,3,2,1}'), (5, '{5}'), (6, '{}'), (7, NULL)) v (id, s);
SELECT * FROM neardup_pairs('SELECT id, s FROM reports', 0.5, measure => 'containment') ORDER BY 1, 2;
SELECT a, b FROM neardup_pairs('SELECT id, s FROM reports', 0.5, measure => 'resemblance') ORDER BY 1, 2;
SELECT a, b FROM neardup_pairs('SELECT id, s FROM reports', 0.6, equal => 'all', measure => 'containment') ORDER BY 1, 2;
SELECT * FROM neardup_pairs('SELECT id::text, s FROM reports WHERE id < 4', 0.5, NULL::text, multiset => true, measure => 'containment') ORDER BY 1, 2;
SET client_min_messages = debug1;
SELECT * FROM neardup_pairs('SELECT id, s FROM reports WHERE id IN (1, 2, 3)', 0.5, against => 'SELECT id, s FROM reports WHERE id IN (2, 4, 5)', measure => 'containment') ORDER BY 1, 2;
RESET client_min_messages;
-- A keeper contains its members; a longer row after it does not join it.
SELECT * FROM neardup_clusters('SELECT id, s FROM reports ORDER BY cardinality(s) DESC, id', 0.5, measure => 'containment');
SELECT * FROM neardup_clusters('SELECT id, s FROM reports ORDER BY id', 0.5, measure => 'containment');
SELECT * FROM neardup_clusters('SELECT id::text, s FROM reports ORDER BY id DESC', 0.5, NULL::text, nearest => true, measure => 'containment');
SELECT * FROM neardup_clusters('SELECT id, s FROM reports WHERE id IN (1, 2, 3)', 0.5, against => 'SELECT id, s FROM reports WHERE id IN (4, 5) ORDER BY id', measure => 'containment');
-- A row joins a keeper of "against" that it contains, too: 2 and 4 contain 5.
SELECT * FROM neardup_clusters('SELECT id, s FROM reports WHERE id < 5 ORDER BY id', 0.6, against => 'SELECT id, s FROM reports WHERE id = 5', measure => 'containment');
-- As sets the second is no longer than the first, as multisets it is.
SELECT m, c.* FROM unnest('{f,t}'::boolean[]) m,
	neardup_clusters('SELECT * FROM (VALUES (1, to_shingles(''{1,2,3}''::bigint[])), (2, to_shingles(''{1,1,1,1,2}''::bigint[]))) v', 0.4, m, measure => 'containment') c ORDER BY m, id;

-- Sets beside the signatures decide.
SELECT a, b, similarity = similarity(to_shingles(x.body), to_shingles(y.body)) AS exact, similarity >= 0.7 AS enough
FROM neardup_pairs('SELECT id, to_minhash(body), to_shingles(body) FROM docs', 0.7) JOIN docs x ON x.id = a JOIN docs y ON y.id = b ORDER BY 1, 2;
SELECT id, keeper, size FROM neardup_clusters('SELECT id, to_minhash(body), to_shingles(body) FROM docs ORDER BY id', 0.7);
SELECT id, keeper, size FROM neardup_clusters('SELECT id, to_minhash(body), to_shingles(body) FROM docs WHERE id IN (2, 4)', 0.7, against => 'SELECT id, to_minhash(body), to_shingles(body) FROM docs WHERE id IN (1, 3)');
-- Equal signatures of different texts are not copies.
SELECT a, b, similarity FROM neardup_pairs('SELECT id, to_minhash(''one signature for all''), to_shingles(body) FROM docs', 0.01) WHERE similarity = 1 ORDER BY 1, 2;
CREATE TABLE contained AS SELECT id, to_minhash(s) AS sig, s FROM (VALUES (1, to_shingles('{1,2,3,4,5}'::bigint[])), (2, to_shingles('{1,2,3,4}'::bigint[])),
	(3, to_shingles('{1,2,3,4,5,6,7,8}'::bigint[])), (4, to_shingles('{1,2,3,9,10}'::bigint[]))) v (id, s);
-- A row goes by the share of it that the first, or either that another query, has.
SELECT c, p.* FROM unnest('{0.6,0.8}'::float8[]) c, neardup_pairs('SELECT * FROM contained', 0.5, contained => c) p ORDER BY 1, 2, 3;
SELECT c, p.* FROM unnest('{0.6,0.8}'::float8[]) c,
	neardup_pairs('SELECT * FROM contained WHERE id < 3', 0.5, contained => c, against => 'SELECT * FROM contained WHERE id > 2') p ORDER BY 1, 2, 3;
SELECT c, p.* FROM unnest('{0.6,0.8}'::float8[]) c, neardup_clusters('SELECT * FROM contained', 0.5, contained => c) p ORDER BY 1, 2;
SELECT * FROM neardup_clusters('SELECT * FROM contained ORDER BY id DESC', 0.5, contained => 0.7);
-- 5 and 6 are equal to 1 and 2: of each two rows, the later one counts, whichever document was first.
INSERT INTO contained SELECT id + 4, sig, s FROM contained WHERE id < 3;
SELECT i, p.* FROM unnest('{1,2}'::int[]) i, neardup_pairs(format('SELECT * FROM contained WHERE id IN (%s, 2, 5, 6) ORDER BY id', i), 0.5, equal => 'all', contained => 0.9) p ORDER BY 1, 2, 3;
-- 4 is equal to 2, which joins 1, and nearest to 3, which comes between.
SELECT * FROM neardup_clusters($$SELECT id, to_minhash(s), s, 1 AS k FROM (VALUES (1, to_shingles('{1,2,3,9}'::bigint[])), (2, to_shingles('{1,2,3,4}'::bigint[])),
	(3, to_shingles('{1,2,3,4,5,6,7,8}'::bigint[])), (4, to_shingles('{1,2,3,4}'::bigint[]))) v (id, s) ORDER BY id$$, 0.3, contained => 0.7, nearest => true, within => '{k}');

-- Queries without pairs.
SELECT * FROM neardup_pairs('SELECT id, sig FROM docs WHERE false', 0.5);
SELECT * FROM neardup_clusters('SELECT id, NULL::minhash FROM docs', 0.5);
SELECT * FROM neardup_clusters('SELECT id, to_minhash('''') FROM docs', 0.5);
SELECT * FROM neardup_pairs('SELECT id, to_shingles('''') FROM docs', 0.5);

-- Queries that return wrong columns.
SELECT neardup_pairs('SELECT id FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, sig, body FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, body FROM docs', 0.5);
SELECT neardup_pairs('SELECT key, sig FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, NULL::uuid);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, NULL::point);
SELECT neardup_pairs('SELECT NULL::int, sig FROM docs', 0.5);
SELECT neardup_pairs('SELECT id % 4, sig FROM docs', 0.5);
SELECT neardup_clusters('SELECT id, sig FROM docs', 0.5, against => 'SELECT 7, sig FROM docs');
SELECT neardup_pairs('SELECT id, to_minhash(body, 64 + id) FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, against => 'SELECT id, to_minhash(body) FROM docs');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, against => 'SELECT id, to_shingles(body) FROM docs');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, against => 'SELECT id, to_simhash(body) FROM docs');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, contained => 0.5);
SELECT neardup_pairs('SELECT id, sig, body FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, to_shingles(body), to_shingles(body) FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, to_simhash(body), to_shingles(body) FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, to_minhash(body, ''word 2''), to_shingles(body) FROM docs', 0.5);
SELECT neardup_pairs('SELECT id, sig, to_shingles(body) FROM docs', 0.5, against => 'SELECT id, sig FROM docs');
SELECT neardup_pairs('DELETE FROM docs', 0.5);
SELECT neardup_pairs('SELECT 1; SELECT 2', 0.5);
SELECT neardup_pairs('DELETE FROM docs RETURNING id, sig', 0.5);
SELECT neardup_pairs('SHOW ALL', 0.5);
SELECT neardup_pairs('docs', 0.5);
SELECT neardup_pairs('', 0.5);
SELECT neardup_pairs('SELECT id, sig FROM no_such_table', 0.5);

-- Arguments.
SELECT neardup_pairs(NULL, 0.5);
SELECT neardup_pairs('SELECT id, sig FROM docs', NULL);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0);
SELECT neardup_pairs('SELECT id, sig FROM docs', 'NaN');
SELECT neardup_pairs('SELECT id, sig FROM docs', 1.5);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, recall => 0);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, contained => 2);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, equal => 'some');
SELECT neardup_clusters('SELECT id, sig FROM docs', 0.5, method => 'chain');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, measure => 'cosine');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, measure => NULL);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, measure => 'containment');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, multiset => true);
SELECT neardup_clusters('SELECT id, to_simhash(body), to_shingles(body) FROM docs', 0.5, measure => 'containment');
SELECT neardup_clusters('SELECT id, to_minhash(body), to_shingles(body) FROM docs', 0.5, method => 'components', contained => 0.5);
SELECT neardup_clusters('SELECT id, s FROM reports', 0.5, method => 'components', measure => 'containment');
SELECT neardup_clusters('SELECT id, sig FROM docs', 0.5, method => 'components', nearest => true);
SELECT neardup_clusters('SELECT id, sig FROM docs', 0.5, method => 'components', against => 'SELECT id, sig FROM docs');

-- The query runs with the rights of the caller.
CREATE ROLE batch_reader;
GRANT USAGE ON SCHEMA batch TO batch_reader;
SET ROLE batch_reader;
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5);
SELECT * FROM neardup_pairs('SELECT 1, NULL::minhash', 0.5);
SELECT count(*) FROM neardup_progress();
RESET ROLE;
DROP OWNED BY batch_reader;
DROP ROLE batch_reader;

-- Calls inside one another, and many calls in a statement.
SELECT id, keeper, size FROM neardup_clusters('SELECT id, sig FROM docs WHERE id IN (SELECT b FROM neardup_pairs(''SELECT id, sig FROM docs'', 0.5)) ORDER BY id', 0.5);
SELECT t, count(*) FROM generate_series(0.5, 0.9, 0.2) t, neardup_pairs('SELECT id, sig FROM docs', t::float8) GROUP BY t ORDER BY t;

-- Ids in any order, all different.
SELECT count(*) FROM neardup_pairs('SELECT i * 7919 % 10007, to_minhash((i / 2)::text) FROM generate_series(1, 10006) i', 1);

-- The progress of a call.
SELECT id, keeper FROM neardup_clusters($$SELECT i, to_minhash((SELECT phase FROM neardup_progress() WHERE pid = pg_backend_pid()))
	FROM generate_series(1, 2) i$$, 1);
SELECT count(*) FROM neardup_progress() WHERE pid = pg_backend_pid();

-- Counters: 6 equals 1, which is a candidate with 2; 5 is in a distant partition; 3 and 4
-- share only elements that are not listed.
SET client_min_messages = debug1;
SELECT count(*) AS found FROM neardup_pairs($$SELECT * FROM (VALUES (1, to_shingles('{1,2,3,4,5,6,7,8,9,10}'::bigint[])), (2, to_shingles('{1,2,3,4,5,6,7,8,9,11}'::bigint[])),
	(3, to_shingles('{101,102,103,104,105,106,107,108,109,110}'::bigint[])), (4, to_shingles('{101,102,103,104,105,116,117,118,119,120}'::bigint[])),
	(5, to_shingles('{1,2,3,4,5,6,7,8,9,10,201,202,203,204,205,206,207,208,209,210}'::bigint[])), (6, to_shingles('{1,2,3,4,5,6,7,8,9,10}'::bigint[]))) v$$, 0.8);
-- Candidates are ruled out or compared.
RESET client_min_messages;
CREATE TABLE sets AS SELECT i, to_shingles(array_agg((i * 7 + j * j * 3)::bigint % 61)) AS s
	FROM generate_series(1, 100) i, generate_series(1, 5 + i % 20) j GROUP BY i;
SET client_min_messages = debug1;
SELECT count(*) AS found FROM neardup_pairs('SELECT i, s FROM sets ORDER BY i', 0.5, equal => 'all');
SELECT count(*) AS found FROM sets x JOIN sets y ON x.i < y.i AND is_similar(x.s, y.s, 0.5);
-- Counters of signatures, of two sources, and of joins without groups: signatures equal in half of their bits, or few.
SELECT count(*) AS found FROM neardup_pairs('SELECT i, hashint8extended(i, 0)::simhash FROM generate_series(1, 20000) i', 0.95, against => 'SELECT i, (hashint8extended(i, 0) # 1)::simhash FROM generate_series(1, 5000) i');
SELECT count(*) AS found FROM neardup_pairs('SELECT i, (i * 1000003)::bigint::simhash FROM generate_series(1, 2000) i', 0.95, against => 'SELECT i, (i * 1000003 + 1)::bigint::simhash FROM generate_series(1, 500) i');
SELECT count(*) AS found FROM neardup_clusters('SELECT i, to_minhash((i / 2)::text) FROM generate_series(1, 300) i', 0.9);
-- A call that reads nothing.
SELECT count(*) AS found FROM neardup_pairs('SELECT 1, NULL::minhash', 0.9);
RESET client_min_messages;

-- A new batch against the table, by its index or by reading both once.
CREATE TABLE arrivals AS SELECT 100 + id AS id, sig FROM docs WHERE id IN (2, 5, 8);
CREATE INDEX ON docs USING neardup (sig);
SELECT n.id, o.id AS resembles FROM arrivals n CROSS JOIN LATERAL
	(SELECT id FROM docs o WHERE is_similar(o.sig, n.sig, 0.7) ORDER BY o.sig <-> n.sig, id LIMIT 1) o ORDER BY 1;
SELECT id, keeper FROM neardup_clusters('SELECT id, sig FROM arrivals', 0.7, against => 'SELECT id, sig FROM docs ORDER BY id', nearest => true) WHERE id <> keeper;

-- The plain join through the index.
SET cpu_operator_cost = 1;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM docs a JOIN docs b ON is_similar(a.sig, b.sig, 0.5) AND a.id < b.id;
SELECT a.id, b.id, similarity(a.sig, b.sig) FROM docs a JOIN docs b ON is_similar(a.sig, b.sig, 0.5) AND a.id < b.id
EXCEPT ALL SELECT * FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id', 0.5, equal => 'all');
RESET cpu_operator_cost;
RESET enable_bitmapscan;

-- A call can be cancelled, even within one huge bucket.
\set SHOW_CONTEXT never
BEGIN;
SET LOCAL statement_timeout = '100ms';
SELECT count(*) FROM neardup_pairs('SELECT i, (i::bigint << 20)::simhash FROM generate_series(1, 250000) i', 0.75);
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA batch CASCADE;
