-- neardup_pairs() and neardup_clusters(): queries that are not allowed, errors that are caught,
-- cursors, sources of unequal size.

CREATE SCHEMA batch_edges;
SET search_path = batch_edges, public;
CREATE TABLE docs AS
	SELECT i::bigint AS id, to_shingles(ARRAY(SELECT CASE WHEN j < 4 THEN i * 1000 + j ELSE i % 7 * 1000 + j END
		FROM generate_series(1, 30) j)::bigint[]) AS s FROM generate_series(1, 100) i;
ALTER TABLE docs ADD sig minhash;
UPDATE docs SET sig = to_minhash(s);
CREATE TABLE expected AS SELECT a.id AS a, b.id AS b, similarity(a.sig, b.sig)
	FROM docs a JOIN docs b ON is_similar(a.sig, b.sig, 0.5) AND a.id < b.id;

-- The query may only read.
SELECT neardup_pairs('WITH made AS (INSERT INTO docs SELECT 1000, s, sig FROM docs LIMIT 1 RETURNING id, sig) SELECT * FROM made', 0.5);
SELECT neardup_pairs('SELECT id, sig FROM docs FOR UPDATE', 0.5);
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.5, against => 'SELECT id, sig FROM docs FOR KEY SHARE');
SELECT neardup_pairs('SELECT id, sig INTO made FROM docs', 0.5);
SELECT neardup_pairs('SELECT $1, sig FROM docs', 0.5);
SELECT count(*) FROM docs;

-- Domains work like their types.
CREATE DOMAIN signature AS minhash;
CREATE DOMAIN number AS bigint;
CREATE DOMAIN small AS int;
CREATE DOMAIN parts AS shingles;
SELECT count(*) FROM neardup_pairs('SELECT id::number, sig::signature FROM docs ORDER BY id', 0.5) p JOIN expected e USING (a, b, similarity);
SELECT count(*) FROM neardup_pairs('SELECT id::small, s::parts FROM docs', 0.5);
SELECT count(*) FROM neardup_pairs('SELECT id, sig::signature, s::parts FROM docs', 0.5);

-- Functions in the query that fail and are caught, some of them within another call.
CREATE FUNCTION fails(id bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM * FROM neardup_pairs('SELECT 1 / 0::bigint, sig FROM docs', 0.5);
EXCEPTION WHEN division_by_zero THEN
	RETURN id;
END $$;
SELECT count(*) FROM neardup_pairs('SELECT fails(id), sig FROM docs ORDER BY id', 0.5) p JOIN expected e USING (a, b, similarity);
SELECT * FROM neardup_progress();
-- Errors after evidence was written to a file.
CREATE FUNCTION fails_late() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	caught int := 0;
BEGIN
	FOR i IN 1 .. 20 LOOP
		BEGIN
			PERFORM * FROM neardup_clusters('SELECT id / (id < 100)::int, sig, s FROM docs ORDER BY docs.id', 0.5);
		EXCEPTION WHEN division_by_zero THEN
			caught := caught + 1;
		END;
	END LOOP;
	RETURN caught;
END $$;
SELECT fails_late();
SELECT * FROM neardup_progress();
SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';

-- A read-only transaction, with a cursor that is closed early or read backwards.
BEGIN READ ONLY;
SELECT count(*) FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.5);
DECLARE early CURSOR FOR SELECT a, b FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id', 0.5) ORDER BY a, b;
FETCH 2 FROM early;
CLOSE early;
DECLARE backwards SCROLL CURSOR FOR SELECT count(*) OVER () > 2 AS more FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id', 0.5);
FETCH LAST FROM backwards;
FETCH PRIOR FROM backwards;
COMMIT;

-- The smallest thresholds: all rows that share anything.
SELECT count(*) = (SELECT count(*) FROM docs a JOIN docs b ON a.id < b.id AND similarity(a.s, b.s) > 0) AS all
FROM neardup_pairs('SELECT id, s FROM docs', 4.9e-324);
SELECT count(*) = (SELECT count(*) FROM docs a JOIN docs b ON a.id < b.id AND similarity(a.sig, b.sig) > 0) AS all
FROM neardup_pairs('SELECT id, sig FROM docs', 4.9e-324);

-- Few against many, and many against few.
CREATE TABLE many AS SELECT i AS id, to_minhash(ARRAY[i]::bigint[]::shingles) AS sig FROM generate_series(1, 12000) i;
SELECT count(*), count(*) FILTER (WHERE a <> b) AS wrong
FROM neardup_pairs('SELECT id, sig FROM many WHERE id % 100 = 0', 0.98, against => 'SELECT id, sig FROM many');
SELECT count(*), count(*) FILTER (WHERE a <> b) AS wrong
FROM neardup_pairs('SELECT id, sig FROM many', 0.98, against => 'SELECT id, sig FROM many WHERE id % 100 = 0');

-- Keepers from another source, compared with plain SQL.
CREATE TABLE ours AS SELECT * FROM docs WHERE id % 3 = 0;
CREATE TABLE theirs AS SELECT * FROM docs WHERE id % 3 > 0;
CREATE FUNCTION compare_keepers(t float8, by_sets boolean, nearest boolean, OUT members bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE joined AS SELECT DISTINCT ON (a.id) a.id, b.id AS keeper, pair.similarity
		FROM ours a, theirs b,
			LATERAL (SELECT CASE WHEN by_sets THEN similarity(a.s, b.s) ELSE similarity(a.sig, b.sig) END) pair (similarity)
		WHERE pair.similarity >= t
		ORDER BY a.id, CASE WHEN nearest THEN -pair.similarity END, b.id;
	CREATE TEMP TABLE wanted AS SELECT j.*, count(*) OVER (PARTITION BY keeper) + 1 AS size FROM joined j;
	INSERT INTO wanted SELECT DISTINCT keeper, keeper, 1, size FROM wanted;
	CREATE TEMP TABLE got AS SELECT * FROM neardup_clusters(
		format('SELECT id, sig %s FROM ours ORDER BY id DESC', CASE WHEN by_sets THEN ', s' END), t,
		against => format('SELECT id, sig %s FROM theirs ORDER BY id', CASE WHEN by_sets THEN ', s' END), nearest => nearest);
	SELECT count(*) INTO members FROM joined;
	SELECT count(*) INTO differ FROM ((TABLE wanted EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE wanted)) d;
	DROP TABLE joined, wanted, got;
END $$;
SELECT t, by_sets, nearest, c.* FROM unnest('{0.3,0.86}'::float8[]) t, unnest('{f,t}'::boolean[]) by_sets,
	unnest('{f,t}'::boolean[]) nearest, compare_keepers(t, by_sets, nearest) c ORDER BY 1, 2, 3;

SET client_min_messages = warning;
DROP SCHEMA batch_edges CASCADE;
