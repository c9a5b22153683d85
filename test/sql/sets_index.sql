-- An index of sets never changes the answer.  Random sets of many sizes are inserted, deleted,
-- vacuumed and so on; after each step index, bitmap and sequential scans return the same rows.

CREATE SCHEMA sets_index;
SET search_path = sets_index, public;
SET neardup.background = off;
SET jit = off;
SET client_min_messages = warning;
SELECT setseed(0.5);

\set pass_horizon `cat "${PG_ABS_SRCDIR:-test}/tools/pass_horizon.sql"`

-- The elements of a document: some of its family's, others at random.  A few families are large.
CREATE FUNCTION elements(family int, change float8) RETURNS shingles LANGUAGE sql VOLATILE AS $$
	SELECT to_shingles(array_agg(CASE WHEN random() < change THEN (random() * 1e3)::bigint ELSE family * 10000 + j END))
	FROM generate_series(1, CASE WHEN family % 97 = 3 THEN 1900 ELSE 1 + family % 59 END + (random() * 9)::int) j
$$;
CREATE TABLE sets (id int PRIMARY KEY, tenant int, s shingles) WITH (autovacuum_enabled = off);
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO sets SELECT i, i % 5, CASE WHEN i % 50 = 0 THEN NULL WHEN i % 70 = 1 THEN to_shingles('{}'::bigint[])
		ELSE elements(i / 8, random() * random()) END FROM generate_series(first, last) i
$$;

CREATE FUNCTION found(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ids text;
BEGIN
	EXECUTE format('SELECT string_agg(id::text, '' '' ORDER BY id) FROM sets WHERE %s', condition) INTO ids;
	RETURN ids;
END $$;

-- The distances of the nearest rows; which of several rows at one distance come is open.
CREATE FUNCTION nearest(query text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	distances text;
BEGIN
	EXECUTE format('SELECT string_agg(d::text, '' '') FROM (SELECT s <-> %1$s AS d FROM sets ORDER BY s <-> %1$s LIMIT %2$s) q', query, n)
		INTO distances;
	RETURN distances;
END $$;

CREATE FUNCTION scan_by(way text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_' || w, (w = way)::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) w
$$;

-- Returns the searches whose rows differ from those of a sequential scan, and how many rows were found.
CREATE FUNCTION differ(turns int, OUT matches bigint, OUT different text[]) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	t text;
	condition text;
	expected text;
	near text;
BEGIN
	matches = 0;
	FOR turn IN 1 .. turns LOOP
		SELECT quote_literal(CASE WHEN turn % 3 = 0 THEN shingles_mod(s, 2) ELSE s END) || '::shingles' INTO q
			FROM sets WHERE s IS NOT NULL AND id >= random() * 3000 ORDER BY id LIMIT 1;
		t = round((1 - random() * random() * 0.95)::numeric, 2);
		condition = CASE turn % 4 WHEN 0 THEN format('is_contained(%s, s, %s)', q, t) WHEN 1 THEN format('is_contained(s, %s, %s)', q, t)
			ELSE format('is_similar(s, %s, %s)', q, t) END || CASE WHEN turn % 5 = 0 THEN format(' AND tenant = %s', turn % 7) ELSE '' END;
		PERFORM scan_by('seqscan');
		expected = found(condition);
		near = nearest(q, CASE WHEN turn % 30 = 0 THEN 2000 ELSE turn % 40 END);
		PERFORM scan_by('indexscan'), set_config('neardup.search', (array['auto','merge','scan'])[1 + turn % 3], true);
		IF expected IS DISTINCT FROM found(condition) THEN different = different || ('index: ' || condition); END IF;
		IF turn % 10 = 0 AND near IS DISTINCT FROM nearest(q, CASE WHEN turn % 30 = 0 THEN 2000 ELSE turn % 40 END) THEN different = different || ('nearest: ' || q); END IF;
		PERFORM scan_by('bitmapscan');
		IF expected IS DISTINCT FROM found(condition) THEN different = different || ('bitmap: ' || condition); END IF;
		matches = matches + coalesce(array_length(string_to_array(expected, ' '), 1), 0);
	END LOOP;
END $$;
CREATE FUNCTION segments() RETURNS text LANGUAGE sql AS $$
	SELECT segments || ' segments, ' || CASE WHEN tail > 0 THEN 'a tail' ELSE 'no tail' END FROM neardup_indexes WHERE index_name::text LIKE 'by_%'
$$;

SELECT fill(1, 2400);
CREATE INDEX by_s ON sets USING neardup (s);
SELECT segments();
SELECT matches > 50, different FROM differ(150);

-- Inserts go to a tail.
SELECT fill(2401, 3600);
SELECT segments();
SELECT matches > 50, different FROM differ(100);

SELECT neardup_check('by_s') LIKE 'segments: 1, documents: 3600, dead: 0, %';

-- Deleted rows stay away; an insert takes their places.
DELETE FROM sets WHERE id % 7 = 2;
UPDATE sets SET s = elements(id / 8, 0.1) WHERE id % 11 = 3;
:pass_horizon
VACUUM sets;
SELECT segments();
SELECT fill(3601, 3700);
SELECT matches > 50, different FROM differ(100);

-- Tails that are sealed, and segments that are merged.
SELECT sum((SELECT count(*) FROM (SELECT fill(4000 + i * 1000, 4999 + i * 1000)) f)) FROM generate_series(0, 9) i;
SELECT matches > 50, different FROM differ(100);
DELETE FROM sets WHERE id % 3 = 1;
:pass_horizon
VACUUM sets;
SELECT segments();
SELECT matches > 50, different FROM differ(100);
REINDEX INDEX by_s;
SELECT matches > 50, different FROM differ(100);

SELECT neardup_check('by_s') LIKE 'segments: 1, %';

-- A key beside the set; an expression.
DROP INDEX by_s;
CREATE INDEX by_tenant ON sets USING neardup (tenant, s);
SELECT matches > 50, different FROM differ(100);
SELECT fill(20000, 20500);
SELECT matches > 50, different FROM differ(100);
SELECT neardup_check('by_tenant') LIKE 'segments: 1, %';

-- The first set of an index that has NULLs.
CREATE TABLE empty_sets (id int, body text) WITH (autovacuum_enabled = off);
CREATE INDEX ON empty_sets USING neardup (to_shingles(body));
INSERT INTO empty_sets SELECT i, NULL FROM generate_series(1, 100) i;
INSERT INTO empty_sets VALUES (101, 'the quick brown fox jumps over the lazy dog'), (102, '');
SET enable_seqscan = off;
SELECT id FROM empty_sets WHERE is_contained(to_shingles('quick brown fox jumps'), to_shingles(body), 1);
SELECT id FROM empty_sets ORDER BY to_shingles(body) <-> to_shingles('brown fox jumps'), id LIMIT 3;
SELECT id FROM empty_sets WHERE is_similar(to_shingles(body), to_shingles('a', 'char 3'), 0.5);
INSERT INTO empty_sets VALUES (103, 'x');
CREATE INDEX ON empty_sets USING neardup (near(to_shingles(body), 0.9));

-- Balls around sets as text, and what they hold.
SELECT near('1/hashes/{1,2}'::shingles, 0.9)::text::ball, '0.8 of shingles 1/hashes/{1,2}'::ball, '0.8 in shingles 1/hashes/{5}'::ball;
SELECT '0.8 of shingles 1/hashes/{1,2'::ball;
SELECT '3 symbols of shingles 1/hashes/{1,2}'::ball;
SELECT '1/hashes/{1,2,3}'::shingles <@ near('1/hashes/{1,2}'::shingles, 0.6) AS holds, near('1/hashes/{1,2}'::shingles, 0.6) && near('1/hashes/{1,2,3}'::shingles, 0.7) AS meet,
	to_minhash('x') <@ near('1/hashes/{1,2}'::shingles, 0.6) AS other, '1/hashes/{1,2,3}'::shingles <@ near(to_minhash('x'), 0.6) AS other;

-- Partitions, a domain, and rows that a tenant does not see.
CREATE DOMAIN passages AS shingles CHECK (cardinality(VALUE) < 1000);
CREATE TABLE parted (id int, tenant int, s passages) PARTITION BY LIST (tenant);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0) WITH (autovacuum_enabled = off);
CREATE TABLE parted_1 (s passages, tenant int, id int) WITH (autovacuum_enabled = off);
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE INDEX parted_s ON parted USING neardup (s);
INSERT INTO parted SELECT i, i % 2, to_shingles(ARRAY[i / 10, i / 10 + 1, i / 10 + 2, i % 7]) FROM generate_series(1, 2000) i;
ANALYZE parted;
ALTER TABLE parted ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON parted USING (tenant = current_setting('sets.tenant')::int);
CREATE ROLE regress_neardup_reader;
GRANT USAGE ON SCHEMA sets_index TO regress_neardup_reader;
GRANT SELECT ON parted TO regress_neardup_reader;
CREATE FUNCTION partition_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line; END LOOP;
	RETURN (regexp_match(plan, '(Index|Bitmap|Seq) Scan'))[1];
END $$;
SELECT partition_plan($$SELECT id FROM parted WHERE is_similar(s, to_shingles(ARRAY[7, 8, 9, 1]), 0.6)$$);
SELECT array_agg(id ORDER BY id) FROM parted WHERE is_similar(s, to_shingles(ARRAY[7, 8, 9, 1]), 0.6);
SET SESSION AUTHORIZATION regress_neardup_reader;
SET sets.tenant = 1;
-- What is not leakproof waits for the policy.
SELECT partition_plan($$SELECT id FROM parted WHERE is_similar(s, to_shingles(ARRAY[7, 8, 9, 1]), 0.6)$$);
SELECT array_agg(id ORDER BY id) FROM parted WHERE is_similar(s, to_shingles(ARRAY[7, 8, 9, 1]), 0.6);
SELECT array_agg(id ORDER BY id) FROM parted WHERE is_contained(to_shingles(ARRAY[7, 8, 9]), s, 1);
SELECT array_agg(id ORDER BY id) FROM (SELECT id FROM parted ORDER BY s <-> to_shingles(ARRAY[7, 8, 9]) LIMIT 5) q;
RESET SESSION AUTHORIZATION;
-- What the tenant reads is what a scan reads.
UPDATE parted SET tenant = 1 - tenant WHERE id % 5 = 0;
SELECT count(*) AS wrong FROM generate_series(1, 200) i, LATERAL (
	SELECT (SELECT array_agg(id ORDER BY id) FROM parted WHERE is_contained(s, to_shingles(ARRAY[i, i + 1, i + 2, 3]), 0.75)) AS found,
		   (SELECT array_agg(id ORDER BY id) FROM parted WHERE containment(s, to_shingles(ARRAY[i, i + 1, i + 2, 3])) >= 0.75) AS there) q
 WHERE found IS DISTINCT FROM there;

-- The price of comparing knows the sizes: large sets are found by lists, small ones by a scan unless their
-- bitmaps let all pass.
CREATE TABLE sized (s shingles) WITH (autovacuum_enabled = off);
CREATE INDEX sized_s ON sized USING neardup (s);
CREATE FUNCTION ways(elements int) RETURNS TABLE (size int, threshold float8, way text, looked_at int) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE sized;
	INSERT INTO sized SELECT to_shingles(ARRAY(SELECT i * 10000 + e FROM generate_series(1, elements) e)) FROM generate_series(1, 600) i;
	REINDEX INDEX sized_s;
	RETURN QUERY SELECT elements, t, e.method, e.candidates::int
		FROM unnest('{0.8,0.1}'::float8[]) t, neardup_explain('sized_s', near(to_shingles(ARRAY(SELECT 10000 + i FROM generate_series(1, elements) i)), t)) e
		WHERE e.segment IS NOT NULL;
END $$;
SELECT ways.* FROM unnest('{20,50,1000}'::int[]) n, ways(n);

DROP SCHEMA sets_index CASCADE;
DROP ROLE regress_neardup_reader;
