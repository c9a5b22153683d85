-- Properties of all objects of the extension, and other extensions beside it.

-- Array types, and those of the rows of views, are members from PostgreSQL 17 on.
CREATE VIEW members AS
SELECT classid, objid FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid IN (SELECT oid FROM pg_extension WHERE extname LIKE 'neardup%')
	AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT typarray FROM pg_type UNION SELECT reltype FROM pg_class));

-- Every object has a comment.
SELECT pg_describe_object(classid, objid, 0) AS without_comment FROM members AS m
WHERE NOT EXISTS (SELECT FROM pg_description AS d
	WHERE d.classoid = m.classid AND d.objoid = m.objid AND d.objsubid = 0);

-- Functions of values alone are IMMUTABLE, STRICT and PARALLEL SAFE.
SELECT p.oid::regprocedure AS function, provolatile, proisstrict, proparallel
FROM members JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass
WHERE NOT (provolatile = 'i' AND proisstrict AND proparallel = 's')
	AND NOT proname LIKE 'neardup\_%'
ORDER BY 1;

-- Functions that read an index check the caller's rights themselves (rights.sql), and neardup_guard()
-- runs statements as its caller, so everybody may call them.
SELECT p.oid::regprocedure AS for_everyone
FROM members JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass
WHERE proname LIKE 'neardup\_%' AND proargtypes[0] = 'regclass'::regtype
	AND has_function_privilege('public', p.oid, 'EXECUTE');

-- Every operator has a type of the extension.
SELECT o.oid::regoperator AS not_ours
FROM members JOIN pg_operator AS o ON o.oid = objid AND classid = 'pg_operator'::regclass
WHERE NOT EXISTS (SELECT FROM members AS m
	WHERE m.classid = 'pg_type'::regclass AND m.objid IN (oprleft, oprright));

-- No operand is collatable.
SELECT t.oid::regtype AS collatable FROM members JOIN pg_type AS t ON t.oid = objid AND classid = 'pg_type'::regclass
WHERE typcollation <> 0 OR typstorage <> 'e' OR typreceive = 0 OR typsend = 0;

-- Installed in the schema of pg_trgm, which has functions of the same names.
DROP VIEW members;
DROP EXTENSION neardup_study;
SET client_min_messages = error;
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
		DROP EXTENSION neardup;
		CREATE EXTENSION pg_trgm;
		CREATE EXTENSION neardup;
		ASSERT similarity('near duplicate', 'near duplicates') < 1 AND 'a word' <-> 'a wood' > 0;
		ASSERT similarity(to_shingles('near duplicate'), to_shingles('near duplicate')) = 1;
		DROP EXTENSION pg_trgm;
	END IF;
END $$;
-- It is not dropped with a column that it generates; PostgreSQL 14 drops both.
DO $$
BEGIN
	CREATE TABLE generated (body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	DROP EXTENSION neardup;
	ASSERT current_setting('server_version_num')::int < 150000;
	CREATE EXTENSION neardup;
EXCEPTION WHEN dependent_objects_still_exist THEN
	ASSERT current_setting('server_version_num')::int >= 150000;
END $$;
DROP TABLE IF EXISTS generated;
CREATE EXTENSION neardup_study;
RESET client_min_messages;

-- Parallel plans return the same results.
CREATE TABLE documents WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 10 AS topic, to_minhash('text ' || i % 1000 || ' of topic ' || i % 10, 64, 32) AS sig
FROM generate_series(1, 20000) AS i;
CREATE TEMP TABLE serial AS
SELECT topic, minhash_union_agg(sig) AS sig, count(DISTINCT sig) AS different FROM documents GROUP BY topic;
ANALYZE documents;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION plan_has(statement text, what text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || statement LOOP
		IF line LIKE '%' || what || '%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;
SELECT plan_has('SELECT minhash_union_agg(sig) FROM documents', 'Partial Aggregate') AS partial,
	plan_has('SELECT count(*) FROM documents WHERE is_similar(sig, to_minhash(''x'', 64, 32), 0.5)', 'Parallel Seq Scan') AS scan,
	plan_has('SELECT to_minhash(id::text), to_simhash(id::text), to_shingles(id::text) FROM documents', 'Gather') AS made;
SELECT count(*), bool_and(p.sig = s.sig) AS same
FROM (SELECT topic, minhash_union_agg(sig) AS sig FROM documents GROUP BY topic) AS p JOIN serial AS s USING (topic);
SELECT count(*) AS groups, sum(n) FROM (SELECT sig, count(*) AS n FROM documents GROUP BY sig) AS g;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- Hashing, sorting and merging agree on equality.
SET enable_hashagg = off;
SELECT count(*) AS sorted FROM (SELECT DISTINCT sig FROM documents) AS d;
SET enable_sort = off;
SET enable_hashagg = on;
SELECT count(*) AS hashed FROM (SELECT DISTINCT sig FROM documents) AS d;
RESET enable_sort;
RESET enable_hashagg;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT count(*) AS merged FROM documents AS a JOIN documents AS b ON a.sig = b.sig WHERE a.id < 100;
RESET enable_hashjoin;
SET enable_mergejoin = off;
SELECT count(*) AS hashed FROM documents AS a JOIN documents AS b ON a.sig = b.sig WHERE a.id < 100;
RESET enable_mergejoin;
RESET enable_nestloop;

-- A generated column that is dumped as text and restored has the same bytes.
CREATE TABLE generated (id int PRIMARY KEY, body text NOT NULL,
	sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED,
	finger simhash(64) GENERATED ALWAYS AS (to_simhash(body)) STORED,
	bag shingles GENERATED ALWAYS AS (to_shingles(body)) STORED,
	ball ball GENERATED ALWAYS AS (near(to_minhash(body), 0.9)) STORED);
INSERT INTO generated(id, body) SELECT i, repeat('words of document ' || i || ' ', i % 5) FROM generate_series(1, 50) AS i;
SELECT count(*) AS unlike FROM generated
WHERE sig::text::minhash <> sig OR finger::text::simhash <> finger OR bag::text::shingles <> bag
	OR ball::text::ball::text <> ball::text;

DROP TABLE documents, serial, generated;
DROP FUNCTION plan_has;
