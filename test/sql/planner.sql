-- Conditions that the index can answer, and conditions that it cannot.

CREATE TABLE documents WITH (autovacuum_enabled = off) AS
SELECT id, body, to_minhash(body, 128)::minhash(128) AS sig, fingerprint, fingerprint::bit(64) AS bits, fingerprint::bit(64)::varbit AS varying,
	fingerprint::bit(64)::bigint AS hash, 0.6::float8 AS threshold
FROM (SELECT i AS id, 'text ' || i / 3 || ' ' || md5((i / 3)::text) || ' has words ' || i % 3 AS body
FROM generate_series(1, 600) i) t, to_simhash(body) fingerprint;
CREATE INDEX by_sig ON documents USING neardup (sig);
CREATE INDEX by_fingerprint ON documents USING neardup (fingerprint);
CREATE INDEX by_bits ON documents USING neardup (bits);
CREATE INDEX by_varying ON documents USING neardup (varying);
CREATE INDEX by_hash ON documents USING neardup (hash);
VACUUM ANALYZE documents;
SELECT sig AS q, fingerprint AS f, bits AS b, hash AS h FROM documents WHERE id = 301 \gset

-- Returns how many rows a query finds, and whether index, bitmap and sequential scans find the same.
CREATE FUNCTION found(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	found text[];
BEGIN
	EXECUTE 'SELECT array_agg(r::text ORDER BY r::text) FROM (' || query || ') r' INTO found;
	RETURN found;
END $$;
CREATE FUNCTION all_ways(query text, OUT rows int, OUT index_scan boolean, OUT bitmap_scan boolean) LANGUAGE plpgsql AS $$
DECLARE
	by_seqscan text[];
BEGIN
	PERFORM set_config('enable_' || scan, (scan = 'seqscan')::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) scan;
	by_seqscan = found(query);
	rows = cardinality(by_seqscan);
	PERFORM set_config('enable_' || scan, (scan = 'indexscan')::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) scan;
	index_scan = found(query) IS NOT DISTINCT FROM by_seqscan;
	PERFORM set_config('enable_' || scan, (scan = 'bitmapscan')::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) scan;
	bitmap_scan = found(query) IS NOT DISTINCT FROM by_seqscan;
END $$;
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

-- From PostgreSQL 18 on EXPLAIN shows disabled nodes, so sequential scans are made expensive instead.
SET cpu_operator_cost = 1;
SET enable_bitmapscan = off;
-- Functions and operators, the column on either side.
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, :'q', 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(:'q', sig, 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, :'q', threshold => 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE sig <@ near(:'q'::minhash, 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE sig <@ hamming_ball(:'q'::minhash, 25);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(sig, :'q', 25);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(:'q', sig, 25);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(fingerprint, :'f', 0.9);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(:'f', fingerprint, 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(bits, :'b', 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(:'b', bits, 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE bits <@ hamming_ball(:'b'::bit(64), 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(varying, :'b', 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, :h, 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(:h, hash, 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE hash <@ hamming_ball(:h, 6);
-- Bitmaps combine with each other.
SET enable_bitmapscan = on;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, :'q', 0.6) OR is_within(hash, :h, 6);
RESET enable_indexscan;
SET enable_bitmapscan = off;

-- Parameters, of a generic plan and of a subquery.
SET plan_cache_mode = force_generic_plan;
PREPARE alike(minhash, float8) AS SELECT id FROM documents WHERE is_similar(sig, $1, $2);
EXPLAIN (COSTS OFF) EXECUTE alike(:'q', 0.6);
EXECUTE alike(:'q', 0.6);
EXECUTE alike(NULL, 0.6);
EXECUTE alike(:'q', NULL);
EXECUTE alike(:'q', 1.5);
PREPARE within(bigint, int) AS SELECT id FROM documents WHERE is_within($1, hash, $2);
EXPLAIN (COSTS OFF) EXECUTE within(:h, 6);
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) EXECUTE alike(:'q', 0.6);
SELECT plan('SELECT id FROM documents WHERE is_similar(sig, (SELECT to_minhash(''a b '' || current_user, 128)), 0.6)');
-- Stable functions are constant for a scan.
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, date_part('epoch', now())::bigint, 6);

-- Joins by either side.
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, 0.6) WHERE a.id = 7;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM documents a JOIN documents b ON is_similar(b.sig, a.sig, a.threshold) WHERE a.id = 7;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM documents a LEFT JOIN documents b ON b.sig <@ near(a.sig, 0.6) AND b.id > a.id;
EXPLAIN (COSTS OFF) SELECT a.id FROM documents a WHERE a.id < 9 AND EXISTS (SELECT FROM documents b WHERE is_within(a.hash, b.hash, 6) AND a.id <> b.id);
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM documents a, LATERAL (SELECT id FROM documents b WHERE is_similar(b.sig, a.sig, 0.6) ORDER BY b.sig <-> a.sig LIMIT 2) b;

-- An index cannot serve a condition that changes from row to row.
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, sig, 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash(body, 128), 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c', 128), threshold);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, :h, id);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, (random() * 10)::bigint, 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, 5, (random() * 10)::int);
-- Nor a condition that is negated or tested with IS NOT TRUE.
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE NOT is_within(hash, 5, 6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_within(hash, 5, 6) IS NOT TRUE;

-- Indexes of expressions, partial indexes, and indexes of other access methods.
CREATE INDEX by_body ON documents USING neardup (to_minhash(body, 64));
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(to_minhash(body, 64), to_minhash('a b c', 64), 0.6);
CREATE INDEX by_cast ON documents USING neardup ((hash::simhash));
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(hash::simhash, 5::bigint::simhash, 0.9);
DROP INDEX by_sig;
CREATE INDEX by_order ON documents (sig);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c', 128), 0.6);
CREATE INDEX by_part ON documents USING neardup (sig) WHERE id > 300;
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c', 128), 0.6) AND id > 300;
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c', 128), 0.6) AND id > 200;
SELECT * FROM all_ways(format('SELECT id FROM documents WHERE is_similar(sig, %L, 0.6) AND id > 300', :'q'));
DROP INDEX by_order, by_part;
CREATE INDEX by_sig ON documents USING neardup (sig);

-- A domain over a signature.
CREATE DOMAIN signature AS minhash CHECK (cardinality(VALUE) > 0);
CREATE TABLE named (sig signature) WITH (autovacuum_enabled = off);
INSERT INTO named SELECT sig FROM documents;
CREATE INDEX ON named USING neardup (sig);
EXPLAIN (COSTS OFF) SELECT FROM named WHERE is_similar(sig, to_minhash('a b c', 128), 0.6);
SELECT * FROM all_ways(format('SELECT sig FROM named WHERE is_similar(sig, %L, 0.6)', :'q'));
DROP TABLE named;
DROP DOMAIN signature;
-- Partitions.
CREATE TABLE parted (id int, hash bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (300) WITH (autovacuum_enabled = off);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (300) TO (1000) WITH (autovacuum_enabled = off);
INSERT INTO parted SELECT id, hash FROM documents;
CREATE INDEX ON parted USING neardup (hash);
EXPLAIN (COSTS OFF) SELECT id FROM parted WHERE is_within(hash, 5, 6);
SELECT * FROM all_ways(format('SELECT * FROM parted WHERE is_within(hash, %s, 6)', :h));
DROP TABLE parted;

-- A partial index is never used to read a whole table, whatever is disabled.
BEGIN;
UPDATE documents SET hash = NULL WHERE id = 1;
CREATE INDEX by_part ON documents USING neardup (hash) WHERE id % 3 = 1;
SELECT * FROM all_ways('SELECT id FROM documents WHERE id % 3 = 1');
SELECT * FROM all_ways(format('SELECT id FROM documents WHERE id %% 3 = 1 AND is_within(hash, %s, 6)', :h));
SELECT * FROM all_ways('SELECT a.id, b.id FROM documents a, documents b WHERE is_within(a.hash, b.hash, 16) AND a.id % 3 = 1 AND b.id = 301');
ROLLBACK;

-- The same rows are found with and without the index.
SELECT all_ways.*, condition FROM unnest(ARRAY[
	'is_similar(sig, %1$L, 0.6)', 'is_similar(%1$L, sig, 0.6)', 'is_similar(sig, %1$L, 0.01)', 'is_similar(sig, %1$L, 1)',
	'sig <@ near(%1$L::minhash, 0.6)', 'sig <@ hamming_ball(%1$L::minhash, 25)',
	'is_within(sig, %1$L, 0)', 'is_within(%1$L, sig, 25)', 'is_within(%1$L, sig, 128)',
	'is_similar(fingerprint, %2$L, 0.9)', 'is_within(%2$L, fingerprint, 6)',
	'is_within(bits, %3$L, 6)', 'bits <@ hamming_ball(%3$L::bit(64), 6)', 'is_within(varying, %3$L, 6)',
	'is_within(hash, %4$s, 6)', 'hash <@ hamming_ball(%4$s, 6)', 'is_within(%4$s, hash, 40)',
	'is_similar(sig, %1$L, 0.6) OR is_within(hash, %4$s, 6)',
	'is_similar(sig, %1$L, 0.3) AND is_similar(sig, (SELECT sig FROM documents WHERE id = 300), 0.5)',
	'is_similar(sig, (SELECT sig FROM documents WHERE id = 17), 0.6)',
	'is_similar(to_minhash(body, 64), (SELECT to_minhash(body, 64) FROM documents WHERE id = 17), 0.6)']) condition,
	all_ways(format('SELECT id FROM documents WHERE ' || condition, :'q', :'f', :'b', :h));
SELECT * FROM all_ways('SELECT a.id, b.id FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, 0.6)');
SELECT * FROM all_ways('SELECT a.id, b.id FROM documents a JOIN documents b ON is_similar(a.sig, b.sig, a.threshold) AND a.id < b.id');
SELECT * FROM all_ways('SELECT a.id FROM documents a WHERE EXISTS (SELECT FROM documents b WHERE is_within(a.hash, b.hash, 6) AND a.id <> b.id)');
SELECT * FROM all_ways('SELECT a.id FROM documents a WHERE NOT EXISTS (SELECT FROM documents b WHERE is_within(a.hash, b.hash, 6) AND a.id <> b.id)');

-- A sequential scan seldom finds one of a family of near-duplicates soon, as these are often stored together.
CREATE TABLE families AS SELECT i AS id, to_minhash(i || (SELECT string_agg(md5(n || ' ' || i / 100), ' ') FROM generate_series(1, 10) n), 64) AS sig
FROM generate_series(1, 20000) i;
CREATE INDEX ON families USING neardup (sig);
ANALYZE families;
DO $$
DECLARE
	family record;
	plan text;
BEGIN
	FOR family IN SELECT sig FROM families WHERE id % 500 = 77 LOOP
		FOR plan IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT FROM families WHERE is_similar(sig, %L::minhash, 0.8) LIMIT 1', family.sig) LOOP
			IF plan ~ 'Seq Scan' THEN RAISE NOTICE '%', plan; END IF;
		END LOOP;
	END LOOP;
END $$;
DROP TABLE families;

-- search_path need not name the extension's schema.
BEGIN;
SET LOCAL search_path = pg_catalog;
EXPLAIN (COSTS OFF) SELECT id FROM public.documents WHERE public.is_similar(sig, :'q'::public.minhash, 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM public.documents WHERE public.is_within(hash, 5, 6);
ROLLBACK;
-- Functions of the same name in other schemas are not taken for the extension's.
CREATE SCHEMA misleading;
CREATE FUNCTION misleading.near(minhash, float8) RETURNS ball LANGUAGE sql IMMUTABLE AS 'SELECT NULL::public.ball';
SET search_path = misleading, public;
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE is_similar(sig, to_minhash('a b c', 128), 0.6);
RESET search_path;
-- The support function and the estimators attached to other functions and operators.
CREATE FUNCTION misleading.is_similar(minhash, minhash, float8) RETURNS boolean
	AS '$libdir/neardup', 'neardup_is_similar' LANGUAGE C IMMUTABLE STRICT SUPPORT neardup_support;
CREATE FUNCTION misleading.int_eq(int, int) RETURNS boolean
	LANGUAGE internal IMMUTABLE STRICT SUPPORT neardup_support AS 'int4eq';
CREATE FUNCTION misleading.text_eq(text, text) RETURNS boolean
	LANGUAGE internal IMMUTABLE STRICT AS 'texteq';
CREATE OPERATOR misleading.== (LEFTARG = int, RIGHTARG = int, FUNCTION = misleading.int_eq, RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel);
CREATE OPERATOR misleading.== (LEFTARG = text, RIGHTARG = text, FUNCTION = misleading.text_eq, RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE misleading.is_similar(sig, to_minhash('a b c', 128), 0.6);
EXPLAIN (COSTS OFF) SELECT id FROM documents WHERE misleading.int_eq(id, 5) AND id OPERATOR(misleading.==) 6 AND body OPERATOR(misleading.==) 'a';
EXPLAIN (COSTS OFF) SELECT a.id FROM documents a JOIN documents b ON a.id OPERATOR(misleading.==) b.id AND a.body OPERATOR(misleading.==) b.body;
DROP SCHEMA misleading CASCADE;

DROP FUNCTION all_ways, found, plan;
DROP TABLE documents;
