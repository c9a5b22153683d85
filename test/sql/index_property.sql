-- The index never changes the answer.  Random rows of many shapes are inserted, updated, vacuumed
-- and so on; after each step index, bitmap and sequential scans return the same rows.

CREATE SCHEMA property;
SET search_path = property, public;
SET neardup.background = off;
SET jit = off;
SET client_min_messages = warning;
SELECT setseed(0.25);

\set pass_horizon `cat "${PG_ABS_SRCDIR:-test}/tools/pass_horizon.sql"`

-- Elements of a document: some of its family's, others at random.
CREATE FUNCTION elements(family int, change float8) RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
	SELECT array_agg(CASE WHEN random() < change THEN (random() * 1e15)::bigint ELSE family * 1000 + j END)
	FROM generate_series(1, 40) j
$$;

CREATE TABLE shapes (name text, type text, make text, k int, alike boolean);
INSERT INTO shapes
	SELECT format('m_%s_%s', k, b), format('minhash(%s, %s)', k, b), format('to_minhash(to_shingles(e), %s, %s)', k, b), k, true
	FROM (VALUES (16, 1), (64, 1), (101, 1), (512, 1), (1001, 1), (100, 2), (77, 4), (64, 8), (500, 8), (33, 16), (40, 32)) s (k, b)
	UNION ALL
	SELECT 's_' || k, format('simhash(%s)', k), format('to_simhash(to_shingles(e), %s)', k), k, true
	FROM unnest('{64,128,256,512}'::int[]) k
	UNION ALL
	SELECT 'b_' || k, format('bit(%s)', k), format('to_minhash(to_shingles(e), %s)::bit(%1$s)', k), k, false FROM unnest('{65,257}'::int[]) k
	UNION ALL
	SELECT 'v_99', 'bit varying', 'to_minhash(to_shingles(e), 99)::bit(99)', 99, false
	UNION ALL
	SELECT 'h_64', 'bigint', 'to_simhash(to_shingles(e))::bigint', 64, false;

-- Some rows are NULL; some, where the type has it, empty.
CREATE FUNCTION fill(shape shapes, first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %I SELECT i, 0, CASE WHEN i %% 50 > 0 THEN %s END FROM (SELECT i,
		CASE WHEN %L AND i %% 70 = 1 THEN ''{}'' ELSE elements(i / 8, random() * random()) END AS e
		FROM generate_series(%s, %s) i OFFSET 0) d', shape.name, shape.make, shape.name LIKE 'm%', first, last);
END $$;

-- Runs a command for each table: %1$I is its name, %2$I its index, %3$s the column's type.
CREATE FUNCTION each(statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	s shapes;
BEGIN
	FOR s IN SELECT * FROM shapes LOOP
		EXECUTE format(statement, s.name, s.name || '_sig', s.type);
	END LOOP;
END $$;

CREATE FUNCTION found(name text, condition text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	ids int[];
BEGIN
	EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %I WHERE %s', name, condition) INTO ids;
	RETURN ids;
END $$;

CREATE FUNCTION scan_by(way text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_' || w, (w = way)::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) w
$$;

CREATE FUNCTION random_condition(shape shapes) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q text;
BEGIN
	EXECUTE format('SELECT quote_literal(sig) || ''::'' || %L FROM %I WHERE sig IS NOT NULL AND id >= random() * 1300 LIMIT 1',
				   shape.type, shape.name) INTO q;
	RETURN CASE WHEN shape.alike AND random() < 0.5 THEN format('is_similar(sig, %s, %s)', q, round((1 - random() * random() * 0.9)::numeric, 3))
		ELSE format('is_within(%s, sig, %s)', q, floor(shape.k * random() * random())) END;
END $$;

-- Returns the searches whose rows differ from those of a sequential scan.
CREATE FUNCTION differences(shape shapes, turn int, OUT matches int, OUT differ text[]) LANGUAGE plpgsql AS $$
DECLARE
	condition text = random_condition(shape);
	expected int[];
	method text;
	way text;
BEGIN
	PERFORM scan_by('seqscan');
	expected = found(shape.name, condition);
	matches = cardinality(expected);
	FOREACH method IN ARRAY '{auto,merge,probe,scan}'::text[] LOOP
		PERFORM set_config('neardup.search', method, true);
		PERFORM set_config('neardup.cache_size', CASE WHEN random() < 0.3 THEN '0' ELSE '64MB' END, true);
		way = CASE WHEN random() < 0.7 THEN 'indexscan' ELSE 'bitmapscan' END;
		PERFORM scan_by(way);
		IF found(shape.name, condition) IS DISTINCT FROM expected THEN
			differ = differ || format('%s by %s, %s', condition, method, way);
		END IF;
	END LOOP;
END $$;

-- Run after each step: searches of each shape, and a check of each index.
CREATE FUNCTION compare(OUT searches int, OUT some_found boolean, OUT differ text[], OUT checked int) LANGUAGE sql AS $$
	SELECT count(*), sum(matches) > count(*), array_agg(d.differ) FILTER (WHERE d.differ IS NOT NULL),
		(SELECT count(neardup_check(s.name || '_sig')) FROM shapes s)
	FROM shapes s, generate_series(1, 20) turn, differences(s, turn) d
$$;

SELECT each('CREATE TABLE %1$I (id int, note int, sig %3$s) WITH (autovacuum_enabled = off, fillfactor = 80)');
SELECT count(fill(s, 1, 1000)) FROM shapes s;
SELECT each('CREATE INDEX %2$I ON %1$I USING neardup (sig)');
SELECT each('CREATE INDEX ON %I (id)');
SELECT * FROM compare();

\echo Inserts
SELECT count(fill(s, 1001, 1300)) FROM shapes s;
SELECT * FROM compare();

\echo Updates, HOT and not, and deletes
SELECT each('UPDATE %I SET note = 1 WHERE id %% 7 = 0');
SELECT each('UPDATE %1$I t SET sig = u.sig FROM %1$I u WHERE u.id = t.id + 1 AND t.id %% 5 = 0');
SELECT each('DELETE FROM %I WHERE id %% 4 = 3');
SELECT * FROM compare();

\echo Vacuum
:pass_horizon
SELECT format('VACUUM %I', name) FROM shapes \gexec
SELECT * FROM compare();

\echo Row numbers used again
SELECT count(fill(s, 1301, 1600)) FROM shapes s;
SELECT * FROM compare();

\echo Rollback
BEGIN;
SELECT count(fill(s, 1601, 1700)) FROM shapes s;
SELECT each('UPDATE %I SET sig = NULL WHERE id %% 2 = 0');
SELECT * FROM compare();
ROLLBACK;
SELECT * FROM compare();

\echo Rollback to a savepoint
BEGIN;
SELECT count(fill(s, 1701, 1750)) FROM shapes s;
SAVEPOINT before;
SELECT count(fill(s, 1751, 1800)) FROM shapes s;
SELECT each('DELETE FROM %I WHERE id %% 3 = 0');
ROLLBACK TO before;
SELECT * FROM compare();
COMMIT;
SELECT * FROM compare();

\echo Most is dead: segments are written again
SELECT each('DELETE FROM %I WHERE id %% 5 > 0');
:pass_horizon
SELECT format('VACUUM %I', name) FROM shapes \gexec
SELECT sum(dead) AS dead FROM shapes, neardup_index_status((name || '_sig')::regclass);
SELECT * FROM compare();

\echo Seals and merges
CREATE TABLE hashes (id int, note int, sig bigint) WITH (autovacuum_enabled = off);
CREATE INDEX hashes_sig ON hashes USING neardup (sig);
CREATE TABLE marks (id int, note int, sig minhash(128)) WITH (autovacuum_enabled = off);
CREATE INDEX marks_sig ON marks USING neardup (sig);
DELETE FROM shapes;
INSERT INTO shapes VALUES ('hashes', 'bigint', NULL, 64, false), ('marks', 'minhash(128)', NULL, 128, true);
CREATE FUNCTION random_bits(n int) RETURNS bit varying LANGUAGE sql VOLATILE AS $$
	SELECT string_agg(((random() * 4294967295)::bigint)::bit(32)::text, '')::bit varying FROM generate_series(1, n / 32)
$$;
-- Rows near an earlier row, with a few bits set to zero.
CREATE FUNCTION fill_both(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO hashes SELECT i, 0, CASE WHEN i % 3 = 0 THEN c.sig & (random_bits(64) | random_bits(64) | random_bits(64))::bit(64)::bigint
		ELSE random_bits(64)::bit(64)::bigint END
		FROM generate_series(first, last) i LEFT JOIN hashes c ON c.id = i - 2000;
	INSERT INTO marks SELECT i, 0, CASE WHEN i % 3 = 0 THEN c.sig::bit(128) & (random_bits(128) | random_bits(128) | random_bits(128))::bit(128)
		ELSE random_bits(128)::bit(128) END::minhash
		FROM generate_series(first, last) i LEFT JOIN marks c ON c.id = i - 2000;
$$;
SELECT fill_both(1, 10000);
SELECT name, segments, tail FROM shapes, neardup_index_status((name || '_sig')::regclass);
SELECT * FROM compare();
DELETE FROM hashes WHERE id % 10 = 0;
DELETE FROM marks WHERE id % 10 = 0;
:pass_horizon
VACUUM hashes;
VACUUM marks;
SELECT fill_both(10001, 22000);
SELECT name, segments FROM shapes, neardup_index_status((name || '_sig')::regclass);
SELECT * FROM compare();
:pass_horizon
VACUUM hashes;
VACUUM marks;
SELECT * FROM compare();

\echo Built anew
REINDEX TABLE hashes;
REINDEX TABLE marks;
SELECT name, segments, dead, tail FROM shapes, neardup_index_status((name || '_sig')::regclass);
SELECT * FROM compare();
DROP SCHEMA property CASCADE;
