-- Row estimates of the planner.  ANALYZE and the planner's arithmetic differ between versions, so the output is
-- whether an estimate is within a factor of ten of the truth.

CREATE FUNCTION expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
CREATE FUNCTION close_to(expected bigint, found bigint) RETURNS boolean LANGUAGE sql AS
	'SELECT greatest(expected, 1) <= 10 * greatest(found, 1) AND greatest(found, 1) <= 10 * greatest(expected, 1)';
CREATE FUNCTION is_close(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') r' INTO found;
	RETURN close_to(expected(query), found);
END $$;
CREATE TABLE documents WITH (autovacuum_enabled = off) AS SELECT i AS id, to_minhash('document ' || i, 128)::minhash(128) AS sig, to_minhash('document ' || i, 32, 8) AS wide,
	hashint8extended(i, 0) AS hash, hashint8extended(i, 0)::bit(64) AS bits, hashint8extended(i, 0)::simhash AS fingerprint,
	CASE WHEN i % 4 = 0 THEN to_minhash('document ' || i, 128) END AS often_null
FROM generate_series(1, 2000) i;

-- Random signatures are seldom near; the estimate allows for a few copies.  Before and after ANALYZE.
SELECT t, is_close('SELECT FROM documents WHERE is_similar(sig, to_minhash(''x y z'', 128), ' || t || ')')
FROM unnest('{1, 0.8, 0.5, 0.2, 0.1, 0.05, 0.001}'::float8[]) t;
ANALYZE documents;
SELECT t, is_close('SELECT FROM documents WHERE is_similar(sig, to_minhash(''x y z'', 128), ' || t || ')')
FROM unnest('{1, 0.8, 0.5, 0.2, 0.1, 0.05, 0.001}'::float8[]) t;
SELECT d, is_close('SELECT FROM documents WHERE is_within(hash, 5, ' || d || ')') AS bigint,
	is_close('SELECT FROM documents WHERE is_within(bits, 5::bigint::bit(64), ' || d || ')') AS bit,
	is_close('SELECT FROM documents WHERE is_within(5::bigint::simhash, fingerprint, ' || d || ')') AS simhash
FROM unnest('{0, 3, 20, 28, 32, 36, 64}'::int[]) d;
SELECT is_close('SELECT FROM documents WHERE is_similar(wide, to_minhash(''x y z'', 32, 8), 0.01)') AS wide;
-- Operators as functions.
SELECT is_close('SELECT FROM documents WHERE sig <@ near(to_minhash(''x y z'', 128), 0.1)') AS within,
	is_close('SELECT FROM documents WHERE near(sig, 0.1) && near(to_minhash(''x y z'', 128), 0.05)') AS meet,
	is_close('SELECT FROM documents WHERE bits <@ hamming_ball(5::bigint::bit(64), 32)') AS bits,
	is_close('SELECT FROM documents WHERE hash <@ hamming_ball(5, 32)') AS hash;
-- Nulls are never similar.
SELECT expected('SELECT FROM documents WHERE is_similar(often_null, to_minhash(''x y z'', 128), 0.001)') BETWEEN 180 AND 300 AS often_null;
-- Unknown signatures, of a column's shape or of the usual one; unknown thresholds and distances are taken for usual ones.
SET plan_cache_mode = force_generic_plan;
PREPARE of_signature(minhash) AS SELECT FROM documents WHERE is_similar(sig, $1, 0.05);
PREPARE of_threshold(float8) AS SELECT FROM documents WHERE is_similar(sig, to_minhash('x y z', 128), $1);
PREPARE of_ball(ball) AS SELECT FROM documents WHERE sig <@ $1;
PREPARE of_distance(int) AS SELECT FROM documents WHERE hash <@ hamming_ball(5, $1);
SELECT close_to(expected('EXECUTE of_signature(NULL)'), 530) AS of_signature, close_to(expected('EXECUTE of_threshold(0.001)'), 1) AS of_threshold,
	close_to(expected('EXECUTE of_ball(NULL)'), 1) AS of_ball, close_to(expected('EXECUTE of_distance(64)'), 1) AS of_distance;
SET plan_cache_mode = force_custom_plan;
SELECT close_to(expected('EXECUTE of_signature(to_minhash(''x y z'', 128))'), 530) AS of_signature, close_to(expected('EXECUTE of_threshold(0.001)'), 930) AS of_threshold,
	close_to(expected('EXECUTE of_ball(near(to_minhash(''x y z'', 128), 0.001))'), 930) AS of_ball, close_to(expected('EXECUTE of_distance(64)'), 2000) AS of_distance;
RESET plan_cache_mode;
SELECT close_to(expected('SELECT FROM documents WHERE is_similar(sig, (SELECT sig FROM documents WHERE id = 3), 0.05)'), 530) AS subquery;
-- Joins: a few copies of each row, and rows near by chance.
SELECT close_to(expected('SELECT FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, 0.8)'), 2000) AS is_similar,
	close_to(expected('SELECT FROM documents a JOIN documents b ON a.sig <@ near(b.sig, 0.8)'), 2000) AS near,
	is_close('SELECT FROM documents a JOIN documents b ON a.sig <@ near(b.sig, 0.05)') AS far,
	close_to(expected('SELECT FROM documents a JOIN documents b ON near(a.sig, 0.8) && near(b.sig, 0.05)'), 2000) AS meet,
	is_close('SELECT FROM documents a JOIN documents b ON is_within(a.hash, b.hash, 30)') AS hash,
	expected('SELECT FROM documents a WHERE EXISTS (SELECT FROM documents b WHERE is_similar(a.sig, b.sig, 0.8) AND a.id <> b.id)') AS semi,
	expected('SELECT FROM documents a WHERE NOT EXISTS (SELECT FROM documents b WHERE is_similar(a.sig, b.sig, 0.8) AND a.id <> b.id)') AS anti;
-- Queries that will fail are planned too.
EXPLAIN (COSTS OFF) SELECT FROM documents WHERE is_similar(sig, to_minhash('x y z', 128), 'nan');
SELECT close_to(expected('SELECT FROM documents WHERE is_similar(sig, to_minhash(''x y z'', 64), 0.8)'), 1) AS other_shape,
	close_to(expected('SELECT FROM documents WHERE is_similar(sig, to_minhash(''x y z'', 128, 1, ''word 2''), 0.8)'), 1) AS other_scheme,
	close_to(expected('SELECT FROM documents a JOIN documents b ON is_similar(a.sig, b.wide, 0.8)'), 2000) AS shapes_join,
	close_to(expected('SELECT FROM documents WHERE is_within(hash, 5, -1)'), 1) AS too_near, close_to(expected('SELECT FROM documents WHERE is_within(hash, 5, 65)'), 2000) AS too_far,
	close_to(expected('SELECT FROM documents WHERE is_within(bits, ''101'', 1)'), 1) AS too_short, expected('SELECT FROM documents WHERE is_similar(sig, NULL, 0.8)') AS of_null;

-- Families of near-duplicates, as boilerplate makes them: of 1500 rows, of 200, and of 3; exact copies, nulls, and empty texts.
CREATE FUNCTION words(family int, member int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(CASE WHEN i % 29 = member % 29 THEN family || 'm' || member || 'x' || i ELSE family || 'w' || i END, ' ' ORDER BY i)
	FROM generate_series(1, 60) i
$$;
CREATE TABLE families WITH (autovacuum_enabled = off) AS
SELECT id, family, body, to_minhash(body, 256)::minhash(256) AS sig, to_simhash(body) AS fp, to_minhash(body, 16, 8)::minhash(16, 8) AS narrow
FROM (SELECT i AS id, f AS family, words(f, i) AS body
FROM (SELECT i, CASE WHEN i <= 1500 THEN 1 WHEN i <= 1700 THEN 2 ELSE 3 + i / 3 END AS f FROM generate_series(1, 5000) i) s
UNION ALL SELECT 5000 + i, 0, 'the very same text in every one of these rows' FROM generate_series(1, 500) i
UNION ALL SELECT 6000 + i, -1, NULL FROM generate_series(1, 2000) i
UNION ALL SELECT 8000 + i, -2, '' FROM generate_series(1, 1000) i) t;
CREATE INDEX by_sig ON families USING neardup (sig);
VACUUM ANALYZE families;
SELECT t, family, is_close(format('SELECT FROM families WHERE is_similar(sig, %L, %s)', to_minhash(words(family, -1), 256), t)) AS minhash,
	is_close(format('SELECT FROM families WHERE is_similar(fp, %L, %s)', to_simhash(words(family, -1)), t)) AS simhash,
	is_close(format('SELECT FROM families WHERE is_similar(narrow, %L, %s)', to_minhash(words(family, -1), 16, 8), t)) AS narrow
FROM unnest('{0.3, 0.6, 0.75, 0.9}'::float8[]) t, unnest('{1, 2, 1000, 9999}'::int[]) family ORDER BY t, family;
SELECT is_close('SELECT FROM families WHERE is_similar(sig, to_minhash(''the very same text in every one of these rows'', 256), 0.9)') AS copies,
	is_close('SELECT FROM families WHERE is_similar(sig, to_minhash('''', 256), 0.9)') AS empty,
	is_close('SELECT FROM families WHERE is_similar(sig, to_minhash(''a b c'', 256), 0.0001)') AS unlike;
SELECT t, is_close(format('SELECT FROM families a JOIN families b ON is_similar(a.sig, b.sig, %s)', t)) AS itself
FROM unnest('{0.5, 0.9}'::float8[]) t;
SELECT is_close('SELECT FROM families a JOIN families b ON is_similar(a.sig, b.sig, 0.5) AND a.id = 17') AS of_one;
CREATE TABLE others WITH (autovacuum_enabled = off) AS SELECT id, family, sig FROM families WHERE id % 4 = 1;
CREATE TABLE strangers WITH (autovacuum_enabled = off) AS SELECT i AS id, to_minhash(words(5000 + i, i), 256) AS sig FROM generate_series(1, 1000) i;
ANALYZE others;
ANALYZE strangers;
SELECT t, is_close(format('SELECT FROM families a JOIN others b ON is_similar(a.sig, b.sig, %s)', t)) AS others,
	close_to(expected(format('SELECT FROM families a JOIN strangers b ON is_similar(a.sig, b.sig, %s)', t)), 1000) AS strangers
FROM unnest('{0.5, 0.9}'::float8[]) t;
-- For an unknown query, what most rows find.
SET plan_cache_mode = force_generic_plan;
PREPARE of_family(minhash) AS SELECT FROM families WHERE is_similar(sig, $1, 0.5);
SELECT close_to(expected('EXECUTE of_family(NULL)'), (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY near)
		FROM (SELECT count(*) AS near FROM families a JOIN families b ON is_similar(a.sig, b.sig, 0.5) GROUP BY a.id) s)) AS of_family;
-- So a generic plan seems to cost no more than the plans of most queries, and PostgreSQL takes it after five executions.
RESET plan_cache_mode;
DEALLOCATE of_family;
CREATE FUNCTION plan_after(executions int, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR i IN 1 .. executions
	LOOP
		EXECUTE format(statement, to_minhash(words(1000 + i, -1), 256));
	END LOOP;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || format(statement, to_minhash(words(2000, -1), 256))
	LOOP
		IF line ~ 'Index Cond' THEN
			RETURN CASE WHEN line ~ '\$1' THEN 'generic' ELSE 'custom' END;
		END IF;
	END LOOP;
END $$;
PREPARE of_family(minhash) AS SELECT FROM families WHERE is_similar(sig, $1, 0.5);
PREPARE of_order(minhash) AS SELECT FROM families WHERE is_similar(sig, $1, 0.7) ORDER BY sig <-> $1 LIMIT 10;
PREPARE of_unknown(minhash, float8) AS SELECT FROM families WHERE is_similar(sig, $1, $2);
PREPARE of_hash(simhash, int) AS SELECT FROM families WHERE is_within(fp, $1, $2);
CREATE INDEX by_fp ON families USING neardup (fp);
SET enable_seqscan = off;
SELECT n, plan_after(n, 'EXECUTE of_family(%L)') AS of_family, plan_after(n, 'EXECUTE of_order(%L)') AS of_order,
	plan_after(n, 'EXECUTE of_unknown(%L, 0.8)') AS of_unknown, plan_after(n, replace('EXECUTE of_hash(''x'', 3)', 'x', to_simhash('x')::text)) AS of_hash
FROM unnest('{1, 5}'::int[]) n;
RESET enable_seqscan;
DROP INDEX by_fp;

-- Statistics of an index expression, a domain, a column without a shape, a column of nulls, and an empty table.
CREATE INDEX by_body ON families USING neardup (to_minhash(body, 64));
ANALYZE families;
SELECT is_close('SELECT FROM families WHERE is_similar(to_minhash(body, 64), to_minhash(words(1, -1), 64), 0.5)') AS expression;
CREATE DOMAIN signature AS minhash;
CREATE TABLE odd WITH (autovacuum_enabled = off) AS SELECT sig::signature AS named, CASE WHEN id % 2 = 0 THEN sig ELSE narrow END AS mixed, NULL::minhash AS nothing,
	(id % 100)::bit(12)::bit varying AS varying FROM families;
ANALYZE odd;
SELECT is_close(format('SELECT FROM odd WHERE is_similar(named, %L, 0.5)', to_minhash(words(1, -1), 256))) AS domain,
	close_to(expected(format('SELECT FROM odd WHERE is_similar(mixed, %L, 0.5)', to_minhash(words(1, -1), 256))), 800) AS mixed,
	close_to(expected(format('SELECT FROM odd WHERE is_similar(mixed, %L, 0.5)', to_minhash(words(1, -1), 16, 8))), 800) AS mixed,
	close_to(expected('SELECT FROM odd a JOIN odd b ON is_similar(a.mixed, b.mixed, 0.5)'), 800 * 800 * 2) AS mixed_join,
	is_close('SELECT FROM odd WHERE is_similar(nothing, to_minhash(''a''), 0.5)') AS nothing,
	expected('SELECT FROM odd WHERE is_within(varying, 100::bit(64), 5)') < 100 AS varying;
TRUNCATE odd;
ANALYZE odd;
SELECT expected('SELECT FROM odd WHERE is_similar(named, to_minhash(''a''), 0.5)') < 10 AS empty_table;
-- A column of common values only; a partitioned table and an inheritance parent; statistics of few values and of none.
CREATE TABLE few (id int, sig minhash(128)) PARTITION BY RANGE (id);
CREATE TABLE few_1 PARTITION OF few FOR VALUES FROM (0) TO (150) WITH (autovacuum_enabled = off);
CREATE TABLE few_2 PARTITION OF few FOR VALUES FROM (150) TO (1500) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT i, to_minhash(CASE WHEN i < 250 THEN 'one of three texts that many rows have, and this is number ' || i % 3 ELSE words(i, i) END, 128) FROM generate_series(0, 1499) i;
CREATE TABLE parent (id int, sig minhash) WITH (autovacuum_enabled = off);
CREATE TABLE child () INHERITS (parent) WITH (autovacuum_enabled = off);
INSERT INTO parent SELECT * FROM few WHERE id < 250;
INSERT INTO child SELECT * FROM few WHERE id >= 250;
ANALYZE few;
ANALYZE parent;
SELECT sig AS q FROM few WHERE id = 5 \gset
SELECT r, is_close(format('SELECT FROM %s WHERE is_similar(sig, %L, 0.5)', r, :'q')) AS search,
	is_close(format('SELECT FROM %s a JOIN %1$s b ON is_similar(a.sig, b.sig, 0.5)', r)) AS pairs
FROM unnest('{few,few_1,parent,only parent,child}'::text[]) r;
SET plan_cache_mode = force_generic_plan;
PREPARE of_common(minhash) AS SELECT FROM few_1 WHERE is_similar(sig, $1, 0.5);
SELECT close_to(expected('EXECUTE of_common(NULL)'), 50) AS of_common;
RESET plan_cache_mode;
ALTER TABLE child ALTER sig SET STATISTICS 1;
ANALYZE child;
SELECT is_close(format('SELECT FROM child WHERE is_similar(sig, %L, 0.5)', :'q')) AS target_1;
ALTER TABLE child ALTER sig SET STATISTICS 0;
DELETE FROM pg_statistic WHERE starelid = 'child'::regclass;
ANALYZE child;
SELECT is_close(format('SELECT FROM child WHERE is_similar(sig, %L, 0.5)', :'q')) AS target_0;
DROP TABLE few, parent, child;

-- Families of hashes in bigint columns: only PostgreSQL's own statistics are available.
CREATE TABLE hashes WITH (autovacuum_enabled = off) AS
SELECT i, hash, hash::bit(64) AS bits
FROM (SELECT i, CASE WHEN i <= 1000 THEN 1234567890123456789 # (1::bigint << (i % 64)) ELSE hashint8extended(i, 7) END AS hash FROM generate_series(1, 10000) i) h;
ANALYZE hashes;
SELECT d, is_close('SELECT FROM hashes WHERE is_within(hash, 1234567890123456789, ' || d || ')') AS bigint,
	is_close('SELECT FROM hashes WHERE is_within(bits, 1234567890123456789::bit(64), ' || d || ')') AS bit,
	is_close('SELECT FROM hashes WHERE is_within(hash, 5, ' || d || ')') AS lonely
FROM unnest('{0, 1, 5, 10, 20, 30}'::int[]) d;
CREATE TABLE eighth WITH (autovacuum_enabled = off) AS SELECT hash FROM hashes WHERE i % 8 = 0;
ANALYZE eighth;
SELECT d, is_close('SELECT FROM eighth a JOIN eighth b ON is_within(a.hash, b.hash, ' || d || ')') AS pairs FROM unnest('{0, 2, 20}'::int[]) d;
DROP TABLE hashes, eighth;

-- The statistics stored, and their size.
SELECT attname, kind = 23847 AS has_sample, n <= 400 AS few, bytes < 80000 AS small
FROM (SELECT a.attname, greatest(stakind1, stakind2, stakind3, stakind4, stakind5) AS kind, pg_column_size(s.*) AS bytes,
		cardinality((CASE WHEN stakind1 = 23847 THEN stavalues1 ELSE stavalues2 END)::text::text[]) AS n
	FROM pg_statistic s JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum
	WHERE s.starelid = 'families'::regclass AND a.attname IN ('sig', 'fp', 'narrow')) s ORDER BY attname;
CREATE TABLE large WITH (autovacuum_enabled = off) AS SELECT to_minhash(words(i, i), 2048, 32) AS sig FROM generate_series(1, 300) i;
ANALYZE large;
SELECT is_close(format('SELECT FROM large WHERE is_similar(sig, %L, 0.5)', to_minhash(words(7, 7), 2048, 32))) AS large,
	(SELECT pg_column_size(s.*) < 80000 FROM pg_statistic s WHERE starelid = 'large'::regclass) AS small;

-- Estimates reveal nothing to a role that may not read the rows.
CREATE ROLE regress_neardup_reader;
GRANT SELECT ON families TO regress_neardup_reader;
CREATE POLICY few ON families TO regress_neardup_reader USING (id > 1500);
ALTER TABLE families ENABLE ROW LEVEL SECURITY;
CREATE TEMP TABLE query AS SELECT format('SELECT FROM families WHERE is_similar(sig, %L, 0.5)', to_minhash(words(1, -1), 256)) AS q;
GRANT SELECT ON query TO regress_neardup_reader;
SET ROLE regress_neardup_reader;
SELECT expected(q) < 100 AS hidden FROM query;
RESET ROLE;
SELECT expected(q) > 100 AS shown FROM query;
DROP OWNED BY regress_neardup_reader;
DROP ROLE regress_neardup_reader;

-- With default settings the planner uses the index only if it is cheaper.
CREATE INDEX by_hash ON documents USING neardup (hash);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, 5, 64);
DROP FUNCTION expected, close_to, is_close;
DROP TABLE documents, families, others, strangers, odd, large, query;
DROP DOMAIN signature;
DROP FUNCTION words;
