-- Row-level security: tenants see their own rows, by the index.

SET client_min_messages = warning;
CREATE ROLE regress_neardup_tenant;
CREATE TABLE filed (id int PRIMARY KEY, tenant int NOT NULL, sig minhash(64) NOT NULL, print simhash NOT NULL, hash bigint NOT NULL, bits bit(64) NOT NULL, rate float8 DEFAULT 0.5) WITH (autovacuum_enabled = off);
INSERT INTO filed SELECT i, i % 20, to_minhash(t, 64), to_simhash(t), to_simhash(t)::bigint, to_simhash(t)::bit(64)
FROM (SELECT i, string_agg(md5(CASE WHEN j < 64 THEN i / 40 ELSE i END || ' ' || j), ' ') AS t
	FROM generate_series(1, 8000) i, generate_series(1, 64) j GROUP BY i) s;
CREATE INDEX filed_sig ON filed USING neardup (sig);
CREATE INDEX filed_print ON filed USING neardup (print);
CREATE INDEX filed_hash ON filed USING neardup (hash);
CREATE INDEX filed_bits ON filed USING neardup (bits);
CREATE INDEX filed_equal ON filed (sig);
VACUUM ANALYZE filed;
GRANT SELECT ON filed TO regress_neardup_tenant;
ALTER TABLE filed ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON filed USING (tenant = current_setting('app.tenant')::int);
-- The copies of row 100 that a tenant has, without its rights.
CREATE TABLE expected AS SELECT b.id, b.tenant FROM filed a, filed b WHERE a.id = 100 AND is_similar(a.sig, b.sig, 0.9);
GRANT SELECT ON expected TO regress_neardup_tenant;
SELECT count(*) AS copies, count(*) FILTER (WHERE tenant = 0) AS own FROM expected;

-- Returns a plan without the names of subquery results, which differ between versions.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query
	LOOP
		RETURN NEXT regexp_replace(regexp_replace(line, '\$\d+|\(InitPlan \w+\)\.col\d+| \(returns [^)]*\)', ''), 'InitPlan \w+', 'InitPlan 1');
	END LOOP;
END $$;
SET enable_bitmapscan = off;

-- ---- A tenant's searches -----------------------------------------------------
SET ROLE regress_neardup_tenant;
SET app.tenant = 0;
PREPARE q_sig AS SELECT id FROM filed WHERE sig <@ (SELECT near(sig, 0.9) FROM filed WHERE id = 100);
SELECT plan($$EXECUTE q_sig$$);
PREPARE q_ball(minhash) AS SELECT id FROM filed WHERE sig <@ near($1, 0.9);
SET plan_cache_mode = force_generic_plan;
SELECT plan($$EXECUTE q_ball('1/word 3/64x1/62/b0e4a72b6639e7d8')$$);
RESET plan_cache_mode;
SELECT plan($$SELECT id FROM filed WHERE print <@ (SELECT near(print, 0.95) FROM filed WHERE id = 100)$$);
SELECT plan($$SELECT id FROM filed WHERE hash <@ hamming_ball(42::bigint, 3)$$);
SELECT plan($$SELECT id FROM filed WHERE bits <@ (SELECT hamming_ball(bits, 3) FROM filed WHERE id = 100)$$);
SELECT plan($$SELECT id FROM filed WHERE sig = (SELECT sig FROM filed WHERE id = 100)$$);
SET enable_bitmapscan = on;
SELECT plan($$SELECT id FROM filed WHERE sig <@ ANY (ARRAY(SELECT near(sig, 0.9) FROM filed WHERE id = 100))$$);
SET enable_bitmapscan = off;
SELECT plan($$SELECT id FROM filed ORDER BY sig <-> (SELECT sig FROM filed WHERE id = 100) LIMIT 3$$);
-- Many at once: the balls are made first.
SET enable_seqscan = off;
SELECT plan($$SELECT b.id, f.id FROM (SELECT id, near(sig, 0.9) AS ball FROM filed WHERE id <= 40 OFFSET 0) b JOIN filed f ON f.sig <@ b.ball$$);
RESET enable_seqscan;
SELECT (SELECT array_agg(id ORDER BY id) FROM filed WHERE sig <@ (SELECT near(sig, 0.9) FROM filed WHERE id = 100)) =
	(SELECT array_agg(id ORDER BY id) FROM expected WHERE tenant = 0) AS own_copies;
SELECT bool_and(tenant = 0) AS own_only, count(*) FROM (SELECT tenant FROM filed ORDER BY sig <-> (SELECT sig FROM filed WHERE id = 100) LIMIT 100) s;
SELECT count(*) AS equal FROM filed WHERE sig = (SELECT sig FROM filed WHERE id = 100);
SET app.tenant = 1;
EXECUTE q_sig;
SELECT (SELECT array_agg(id ORDER BY id) FROM filed WHERE sig <@ (SELECT near(sig, 0.9) FROM filed WHERE id = 81)) =
	(SELECT array_agg(id ORDER BY id) FROM expected WHERE tenant = 1) AS own_copies;
SET app.tenant = 0;
-- Functions that raise errors wait for the policy.
SELECT plan($$SELECT id FROM filed WHERE is_similar(sig, (SELECT sig FROM filed WHERE id = 100), 0.9)$$);
SELECT plan($$SELECT id FROM filed WHERE is_within(hash, 42, 3)$$);

-- ---- What a tenant cannot learn ----------------------------------------------
-- Neither an error nor a value tells of a hidden row.
CREATE FUNCTION pg_temp.tell(tenant int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	IF tenant <> 0 THEN
		RAISE WARNING 'sees a row of tenant %', tenant;
	END IF;
	RETURN true;
END $$;
SELECT count(*) FROM filed WHERE pg_temp.tell(tenant) AND sig <@ (SELECT near(sig, 0.9) FROM filed WHERE id = 100);
SELECT count(*) FROM filed WHERE pg_temp.tell(tenant) AND sig <@ (SELECT near(sig, 0.05) FROM filed WHERE id = 100);
SELECT id FROM filed WHERE pg_temp.tell(tenant) ORDER BY sig <-> (SELECT sig FROM filed WHERE id = 100), id LIMIT 3;
SELECT count(*) FROM filed WHERE sig <@ CASE WHEN tenant <> 0 THEN near(to_minhash('x', 128), 0.5) ELSE near(to_minhash('x', 64), 0.5) END;
SELECT count(*) FROM filed WHERE is_similar(CASE WHEN tenant <> 0 THEN to_minhash('x', 128) ELSE to_minhash('y', 64) END, to_minhash('x', 64), 0.5);
SELECT count(*) FROM filed WHERE sig <@ near(to_minhash('x', 64), CASE WHEN tenant <> 0 THEN 2 ELSE 1 END);
-- Estimates do not depend on the hidden rows that are near.
CREATE FUNCTION pg_temp.estimate(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	told json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || statement INTO told;
	RETURN told->0->'Plan'->>'Plan Rows';
END $$;
RESET ROLE;
UPDATE filed SET sig = to_minhash('a form', 64), rate = 4711 WHERE tenant = 7;
ANALYZE filed;
SELECT pg_temp.estimate(format('SELECT FROM filed WHERE sig <@ near(%L::minhash, 0.7)', to_minhash(t, 64))) AS rows FROM unnest('{a form,another}'::text[]) t;
SET ROLE regress_neardup_tenant;
SELECT pg_temp.estimate(format('SELECT FROM filed WHERE sig <@ near(%L::minhash, 0.7)', to_minhash(t, 64))) AS rows FROM unnest('{a form,another}'::text[]) t;
SELECT pg_temp.estimate(format('SELECT FROM filed WHERE is_similar(sig, %L::minhash, 0.7)', to_minhash(t, 64))) AS rows FROM unnest('{a form,another}'::text[]) t;
RESET ROLE;

-- ---- What an administrator can declare, and what it gives away ----------------
ALTER FUNCTION is_similar(minhash, minhash, float8) LEAKPROOF COST 0.1;
SET ROLE regress_neardup_tenant;
SELECT plan($$SELECT id FROM filed WHERE is_similar(sig, (SELECT sig FROM filed WHERE id = 100), 0.9)$$);
-- An error shows the value of a hidden row.
SELECT count(*) FROM filed WHERE is_similar(sig, sig, rate);
RESET ROLE;
ALTER FUNCTION is_similar(minhash, minhash, float8) NOT LEAKPROOF COST 1;
-- The other way round: the operators wait for the policy, too.
ALTER FUNCTION in_ball(minhash, ball) NOT LEAKPROOF;
SET ROLE regress_neardup_tenant;
SELECT plan($$EXECUTE q_sig$$);
RESET ROLE;
ALTER FUNCTION in_ball(minhash, ball) LEAKPROOF;

-- ---- The tenant as a key of the index -------------------------------------------
DROP INDEX filed_sig;
CREATE INDEX filed_tenant_sig ON filed USING neardup (tenant, sig);
VACUUM ANALYZE filed;
SET ROLE regress_neardup_tenant;
SELECT plan($$EXECUTE q_sig$$);
SELECT plan($$SELECT id FROM filed ORDER BY sig <-> (SELECT sig FROM filed WHERE id = 100) LIMIT 3$$);
-- The key is enough for what waits for the policy.
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM filed WHERE is_similar(sig, (SELECT sig FROM filed WHERE id = 100), 0.9)$$);
RESET enable_seqscan;
SELECT (SELECT array_agg(id ORDER BY id) FROM filed WHERE sig <@ (SELECT near(sig, 0.9) FROM filed WHERE id = 100)) =
	(SELECT array_agg(id ORDER BY id) FROM expected WHERE tenant = 0) AS own_copies;
SELECT bool_and(tenant = 0) AS own_only, count(*) FROM (SELECT tenant FROM filed ORDER BY sig <-> (SELECT sig FROM filed WHERE id = 100) LIMIT 100) s;
-- The index returns no rows of other tenants, so EXPLAIN counts none.
CREATE FUNCTION pg_temp.removed(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	told json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || statement INTO told;
	RETURN sum(n[1]::bigint) FROM regexp_matches(told::text, '"Rows Removed by [^"]*": (\d+)', 'g') n;
END $$;
SELECT coalesce(pg_temp.removed(format('SELECT FROM filed WHERE sig <@ near(%L::minhash, 0.9)', to_minhash('a form', 64))), 0) AS search,
	coalesce(pg_temp.removed(format('SELECT FROM filed ORDER BY sig <-> %L LIMIT 1', to_minhash('a form', 64))), 0) AS in_order;
RESET ROLE;
CREATE INDEX filed_sig ON filed USING neardup (sig);
DROP INDEX filed_tenant_sig;
SET ROLE regress_neardup_tenant;
SELECT pg_temp.removed(format('SELECT FROM filed WHERE sig <@ near(%L::minhash, 0.9)', to_minhash('a form', 64))) AS search,
	pg_temp.removed(format('SELECT FROM filed ORDER BY sig <-> %L LIMIT 1', to_minhash('a form', 64))) >= 400 AS in_order;
RESET ROLE;

-- ---- A view that is a security barrier -----------------------------------------
ALTER TABLE filed DISABLE ROW LEVEL SECURITY;
CREATE VIEW own_filed WITH (security_barrier) AS SELECT * FROM filed WHERE tenant = current_setting('app.tenant')::int;
SELECT plan($$SELECT id FROM own_filed WHERE sig <@ (SELECT near(sig, 0.9) FROM filed WHERE id = 100)$$);
SELECT plan($$SELECT id FROM own_filed ORDER BY sig <-> (SELECT sig FROM filed WHERE id = 100) LIMIT 3$$);

-- ---- Leakproof functions raise no error for any values -------------------------
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid WHERE extname LIKE 'neardup%' AND proleakproof ORDER BY p.oid::regprocedure::text COLLATE "C";
CREATE TABLE any_sig AS SELECT s::minhash FROM unnest(ARRAY['1/word 3/16x1/7/abcd', '1/word 3/16x1/0/', '1/word 2/16x1/7/abcd', '1/word 3/17x1/7/abcd80',
	'1/word 3/16x2/7/abcdabcd', '1/foreign/16x1/?/abcd', '2/word 3/16x1/7/abcd', '3/word 3/32x4/9/00112233445566778899aabbccddeeff']) s
UNION ALL SELECT to_minhash('x', k) FROM unnest('{64,512,16384}'::int[]) k;
CREATE TABLE any_print AS SELECT s::simhash FROM unnest(ARRAY['1/word 3/64/0123456789abcdef', '1/word 3/64/', '1/foreign/64/0123456789abcdef', '2/word 3/64/0123456789abcdef']) s
UNION ALL SELECT to_simhash('x', f) FROM unnest('{64,128,512}'::int[]) f;
CREATE TABLE any_bits AS SELECT repeat('1', n)::varbit AS b FROM unnest('{0,1,15,16,17,64,16384,16385,40000}'::int[]) n;
CREATE TABLE any_hash AS SELECT h FROM unnest('{0,-1,81985529216486895,9223372036854775807,-9223372036854775808}'::bigint[]) h;
CREATE TABLE any_ball AS SELECT near(s, t) AS ball FROM any_sig, unnest('{0.1,1}'::float8[]) t WHERE s::text LIKE '1/%' UNION ALL SELECT hamming_ball(b::bit(16), 0) FROM any_bits WHERE length(b) = 16;
CREATE TABLE any_print_ball AS SELECT near(s, t) AS ball FROM any_print, unnest('{0.1,1}'::float8[]) t WHERE s::text LIKE '1/%' UNION ALL SELECT hamming_ball(h, 64) FROM any_hash;
SELECT count(*), count(*) FILTER (WHERE s <@ ball) AS held,
	bool_and(is_comparable(s, split_part(ball::text, ' around minhash ', 2)::minhash)) FILTER (WHERE s <@ ball) AS comparable
FROM any_sig, any_ball;
SELECT count(*), count(*) FILTER (WHERE s <@ ball) AS held FROM any_print, any_print_ball;
SELECT count(*), count(*) FILTER (WHERE b <@ ball) AS held FROM any_bits, any_ball;
SELECT count(*), count(*) FILTER (WHERE h <@ ball) AS held FROM any_hash, any_print_ball;
SELECT count(*), count(*) FILTER (WHERE a.s = b.s) AS equal, count(*) FILTER (WHERE a.s < b.s) AS less, bool_and((a.s < b.s) = (b.s > a.s) AND (a.s <= b.s) = (b.s >= a.s) AND (a.s = b.s) <> (a.s <> b.s)) AS ordered
FROM any_sig a, any_sig b;
SELECT count(*), count(*) FILTER (WHERE a.s = b.s) AS equal, count(*) FILTER (WHERE a.s < b.s) AS less, bool_and((a.s < b.s) = (b.s > a.s) AND (a.s <= b.s) = (b.s >= a.s) AND (a.s = b.s) <> (a.s <> b.s)) AS ordered
FROM any_print a, any_print b;
-- An index knows the shape of all its rows.
SET enable_seqscan = off;
SELECT id FROM filed WHERE sig <@ near(to_minhash('x', 128), 0.7);

DROP FUNCTION pg_temp.tell(int), pg_temp.estimate(text), pg_temp.removed(text), plan(text);
DROP TABLE filed, expected, any_sig, any_print, any_bits, any_hash, any_ball, any_print_ball CASCADE;
DROP ROLE regress_neardup_tenant;
