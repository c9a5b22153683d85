-- Pairs and clusters compared with plain SQL, for random documents of many shapes, with families
-- of near and equal ones, in memory and in files.

CREATE SCHEMA batch_property;
SET search_path = batch_property, public;
SET jit = off;
SELECT setseed(0.5);

-- Elements of a document: some of its family's, others at random; some families have no random ones.
CREATE FUNCTION elements(family int, change float8) RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
	SELECT array_agg(CASE WHEN random() < change THEN (random() * 1e15)::bigint ELSE family * 1000 + j END)
	FROM generate_series(1, 40) j
$$;

CREATE TABLE sets AS
	SELECT i AS id, CASE WHEN i % 97 = 0 THEN NULL WHEN i % 101 = 0 THEN to_shingles('{}'::bigint[])
		ELSE to_shingles(elements(i % 50, CASE WHEN i % 3 = 0 THEN 0 ELSE random() * 0.3 END)) END AS s
	FROM generate_series(1, 400) i;

-- Compares what neardup_pairs() returns for docs with plain SQL: all pairs, and rows of one side only.
CREATE FUNCTION compare_pairs(t float8, OUT pairs bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE expected AS SELECT a.id::bigint AS a, b.id::bigint AS b, similarity(a.sig, b.sig)
		FROM docs a JOIN docs b ON is_similar(a.sig, b.sig, t) AND a.id < b.id;
	CREATE TEMP TABLE got AS SELECT * FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id', t, equal => 'all');
	SELECT count(*) INTO pairs FROM expected;
	SELECT count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	-- A copy is paired with the first of its equals only.
	DELETE FROM expected e USING docs x WHERE e.b = x.id AND EXISTS (SELECT FROM docs f WHERE f.sig = x.sig AND f.id < x.id)
		AND e.a <> (SELECT min(id) FROM docs f WHERE f.sig = x.sig);
	DELETE FROM expected e USING docs x WHERE e.a = x.id AND EXISTS (SELECT FROM docs f WHERE f.sig = x.sig AND f.id < x.id);
	TRUNCATE got;
	INSERT INTO got SELECT * FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id', t);
	SELECT differ + count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE expected, got;
END $$;

-- The same for two sources: a third of docs against the others.
CREATE FUNCTION compare_two(t float8, OUT pairs bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE expected AS SELECT a.id::bigint AS a, b.id::bigint AS b, similarity(a.sig, b.sig)
		FROM docs a JOIN docs b ON is_similar(a.sig, b.sig, t) AND a.id % 3 = 0 AND b.id % 3 > 0;
	CREATE TEMP TABLE got AS SELECT * FROM neardup_pairs('SELECT id, sig FROM docs WHERE id % 3 = 0 ORDER BY id', t,
		against => 'SELECT id, sig FROM docs WHERE id % 3 > 0 ORDER BY id', equal => 'all');
	SELECT count(*) INTO pairs FROM expected;
	SELECT count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DELETE FROM expected e USING docs x WHERE e.b = x.id AND EXISTS (SELECT FROM docs f WHERE f.sig = x.sig AND f.id < x.id AND f.id % 3 > 0);
	TRUNCATE got;
	INSERT INTO got SELECT * FROM neardup_pairs('SELECT id, sig FROM docs WHERE id % 3 = 0 ORDER BY id', t,
		against => 'SELECT id, sig FROM docs WHERE id % 3 > 0 ORDER BY id');
	SELECT differ + count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE expected, got;
END $$;

-- Stars by definition: rows in the order of id.
CREATE FUNCTION stars(t float8, nearest boolean) RETURNS TABLE (id bigint, keeper bigint, similarity float8, size bigint)
LANGUAGE plpgsql AS $$
DECLARE
	d record;
BEGIN
	CREATE TEMP TABLE joined (id bigint, keeper bigint, similarity float8, sig docs_sig) ON COMMIT DROP;
	FOR d IN SELECT * FROM docs x WHERE x.sig IS NOT NULL ORDER BY x.id LOOP
		INSERT INTO joined SELECT d.id, j.id, similarity(j.sig, d.sig) FROM joined j
			WHERE j.keeper = j.id AND is_similar(j.sig, d.sig, t)
			ORDER BY CASE WHEN nearest THEN -similarity(j.sig, d.sig) END, j.id LIMIT 1;
		IF NOT FOUND THEN
			INSERT INTO joined VALUES (d.id, d.id, 1, d.sig);
		END IF;
	END LOOP;
	RETURN QUERY SELECT * FROM (SELECT j.id, j.keeper, j.similarity, count(*) OVER (PARTITION BY j.keeper) AS n FROM joined j) c WHERE n > 1;
	DROP TABLE joined;
END $$;

CREATE FUNCTION compare_stars(t float8, nearest boolean, OUT clustered bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE expected AS SELECT * FROM stars(t, nearest);
	CREATE TEMP TABLE got AS SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', t, nearest => nearest);
	SELECT count(*) INTO clustered FROM expected;
	SELECT count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE expected, got;
END $$;

-- Connected components: propagate the least id until nothing changes.
CREATE FUNCTION compare_components(t float8, OUT clustered bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE pair AS SELECT a, b FROM neardup_pairs('SELECT id, sig FROM docs', t, equal => 'all');
	CREATE TEMP TABLE label AS SELECT d.id::bigint, d.id::bigint AS keeper FROM docs d WHERE d.sig IS NOT NULL;
	LOOP
		UPDATE label l SET keeper = m.keeper FROM (SELECT n.id, min(o.keeper) AS keeper
			FROM (SELECT a AS id, b AS other FROM pair UNION ALL SELECT b, a FROM pair) n JOIN label o ON o.id = n.other GROUP BY n.id) m
			WHERE m.id = l.id AND m.keeper < l.keeper;
		EXIT WHEN NOT FOUND;
	END LOOP;
	CREATE TEMP TABLE expected AS SELECT * FROM (SELECT l.id, l.keeper, CASE WHEN l.id = l.keeper THEN 1 ELSE similarity(k.sig, d.sig) END,
			count(*) OVER (PARTITION BY l.keeper) AS size
		FROM label l JOIN docs d ON d.id = l.id JOIN docs k ON k.id = l.keeper) c WHERE size > 1;
	CREATE TEMP TABLE got AS SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', t, method => 'components');
	SELECT count(*) INTO clustered FROM expected;
	SELECT count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE expected, got, pair, label;
END $$;

\echo In files, with copies in all pieces
SET maintenance_work_mem = '1MB';
TRUNCATE sets;
INSERT INTO sets SELECT i, to_shingles(elements(i % 701, CASE WHEN i % 3 = 0 THEN 0 ELSE random() * 0.3 END)) FROM generate_series(1, 2100) i;
CREATE TABLE docs AS SELECT id, to_minhash(s, 1000, 8) AS sig FROM sets;
CREATE DOMAIN docs_sig AS minhash;
SELECT count(*) > 100 AS some FROM neardup_pairs('SELECT id, sig FROM docs', 0.7);
SET maintenance_work_mem = '3MB';
SELECT count(*) > 100 AS some FROM neardup_pairs('SELECT id, sig FROM docs', 0.7);
SET maintenance_work_mem = '1MB';
SET client_min_messages = warning;
SELECT pairs > 100 AS some, differ FROM compare_pairs(0.7);
SELECT pairs > 100 AS some, differ FROM compare_two(0.7);
SELECT clustered > 1000 AS some, differ FROM compare_components(0.7);
-- By sets: some equal signatures have different ones.
CREATE TABLE coarse AS SELECT id, to_minhash(s, 128, 1) AS sig, s FROM sets;
CREATE TEMP TABLE expected AS SELECT a.id::bigint AS a, b.id::bigint AS b, similarity(a.s, b.s)
	FROM coarse a JOIN coarse b ON is_similar(a.s, b.s, 0.75) AND a.id < b.id;
CREATE TEMP TABLE got AS SELECT * FROM neardup_pairs('SELECT * FROM coarse ORDER BY id', 0.75, equal => 'all');
SELECT (SELECT count(*) FROM expected) > 100 AS some, count(*) AS differ
FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
DROP TABLE expected, got;
-- By the share of the later of two rows, between whose equals others lie that contain them.
DELETE FROM coarse WHERE id > 700;
INSERT INTO coarse SELECT id + n * 700, sig, CASE n WHEN 1 THEN s | to_shingles('{-1,-2,-3,-4}'::bigint[]) ELSE s END FROM coarse, generate_series(1, 2) n;
CREATE TEMP TABLE expected AS SELECT a.id::bigint AS a, b.id::bigint AS b, containment(b.s, a.s) AS similarity
	FROM coarse a JOIN coarse b ON is_contained(b.s, a.s, 0.95) AND a.id < b.id;
CREATE TEMP TABLE got AS SELECT * FROM neardup_pairs('SELECT * FROM coarse ORDER BY id', 0.5, equal => 'all', contained => 0.95);
SELECT (SELECT count(*) FROM expected) > 100 AS some, count(*) AS differ
FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
DROP TABLE expected, got;
CREATE TEMP TABLE pieces AS SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7);
CREATE TEMP TABLE nearest AS SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7, nearest => true);
SET maintenance_work_mem = '64MB';
SELECT count(*) FROM ((TABLE pieces EXCEPT ALL SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7))
	UNION ALL (TABLE nearest EXCEPT ALL SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.7, nearest => true))) d;

\echo In files by bucket, some of which memory does not hold
CREATE TABLE uneven AS SELECT i AS id, (hashint8extended(i, 1) & hashint8extended(i, 2) & hashint8extended(i, 3))::simhash AS sig FROM generate_series(1, 40000) i;
CREATE FUNCTION in_files(query text, threshold float8, against text DEFAULT NULL) RETURNS TABLE (found bigint, differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE little AS SELECT * FROM neardup_pairs(query, threshold, against => against);
	SET LOCAL maintenance_work_mem = '64MB';
	CREATE TEMP TABLE plenty AS SELECT * FROM neardup_pairs(query, threshold, against => against);
	RETURN QUERY SELECT (SELECT count(*) FROM plenty), count(*) FROM ((TABLE little EXCEPT ALL TABLE plenty) UNION ALL (TABLE plenty EXCEPT ALL TABLE little)) d;
	DROP TABLE little, plenty;
	SET LOCAL maintenance_work_mem = '1MB';
END $$;
SET maintenance_work_mem = '1MB';
SELECT threshold, found > 1000 AS some, differ FROM unnest('{0.98,0.95}'::float8[]) threshold, in_files('SELECT id, sig FROM uneven', threshold);
SELECT found > 1000 AS some, differ FROM in_files('SELECT id, sig FROM uneven WHERE id % 3 > 0', 0.96, 'SELECT id, sig FROM uneven WHERE id % 3 = 0');
CREATE TABLE long AS SELECT i AS id, to_minhash(to_shingles(elements(i % 701, random() * 0.3)), 1024, 1) AS sig FROM generate_series(1, 6000) i;
SELECT threshold, found > 1000 AS some, differ FROM unnest('{0.8,0.6}'::float8[]) threshold, in_files('SELECT id, sig FROM long', threshold);
SELECT found > 1000 AS some, differ FROM in_files('SELECT id, sig FROM long WHERE id % 3 > 0', 0.8, 'SELECT id, sig FROM long WHERE id % 3 = 0');
RESET client_min_messages;

\echo More pairs than are kept
SET maintenance_work_mem = '1MB';
TRUNCATE sets;
INSERT INTO sets SELECT i, to_shingles(elements(i % 2, random() * 0.2)) FROM generate_series(1, 500) i;
DROP TABLE docs;
CREATE TABLE docs AS SELECT id, to_minhash(s) AS sig FROM sets;
SELECT pairs > 32768 AS many FROM compare_pairs(0.7);
SELECT clustered > 100 AS some, differ FROM compare_stars(0.7, false);
SELECT clustered > 100 AS some, differ FROM compare_stars(0.7, true);

\echo In whatever order the rows lie
CREATE TABLE shuffled AS SELECT * FROM docs ORDER BY random();
SELECT count(*) FROM (SELECT * FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id DESC', 0.8)
	EXCEPT ALL SELECT * FROM neardup_clusters('SELECT id, sig FROM shuffled ORDER BY id DESC', 0.8)) d;
SELECT count(*) FROM (SELECT least(a, b), greatest(a, b), similarity FROM neardup_pairs('SELECT id, sig FROM docs', 0.8, equal => 'all')
	EXCEPT ALL SELECT least(a, b), greatest(a, b), similarity FROM neardup_pairs('SELECT id, sig FROM shuffled', 0.8, equal => 'all')) d;

\echo Recall
CREATE TEMP TABLE every AS SELECT * FROM neardup_pairs('SELECT id, sig FROM docs', 0.7);
SELECT r, count(*) FILTER (WHERE e.a IS NULL) AS wrong, count(*) >= r * (SELECT count(*) FROM every) AS kept
FROM unnest('{0.5,0.9,0.99}'::float8[]) r, neardup_pairs('SELECT id, sig FROM docs', 0.7, recall => r) p
	LEFT JOIN every e ON (e.a, e.b, e.similarity) = (p.a, p.b, p.similarity) GROUP BY r ORDER BY r;

SET client_min_messages = warning;
DROP SCHEMA batch_property CASCADE;
