-- Sets that outgrow maintenance_work_mem are joined by way of files: the same pairs in the same order.

SET client_min_messages = warning;
CREATE SCHEMA batch_sets;
SET search_path = batch_sets, public;

-- Sets of a group share elements; lengths and frequencies differ, and some sets are equal.
CREATE TABLE sets AS SELECT i AS id, i % 7 AS tenant, to_shingles(array_agg(i % 500 / 10 * 100 + (i % 500 * 41 + j)::bigint * (i % 500 * 41 + j) % 1000003 * 7919 % 1000003 % (20 + i % 500 % 7)
	+ CASE WHEN j < 3 AND i % 3 > 0 THEN i ELSE 0 END)) AS s
FROM generate_series(1, 2000) i, generate_series(1, 3 + i % 60) j GROUP BY i ORDER BY i;

CREATE FUNCTION found(memory text, threshold float8, measure text, multiset boolean, sides int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('maintenance_work_mem', memory, true);
	RETURN QUERY SELECT p::text FROM neardup_pairs('SELECT id, s FROM sets WHERE ' || CASE sides WHEN 1 THEN 'true' ELSE 'id % 3 = 0' END, threshold,
		against => CASE sides WHEN 2 THEN 'SELECT id, s FROM sets WHERE id % 3 > 0' END, measure => measure, multiset => multiset, equal => 'all') p;
END $$;
SELECT sides, threshold, measure, multiset, count(*) > 50 AS some, count(*) FILTER (WHERE x IS DISTINCT FROM y) AS differ
FROM generate_series(1, 2) sides, unnest('{0.1,0.3,0.6,0.9,1}'::float8[]) threshold, unnest('{resemblance,containment}'::text[]) measure, unnest('{f,t}'::boolean[]) multiset,
	LATERAL (SELECT f.x, m.y FROM found('1MB', threshold, measure, multiset, sides) WITH ORDINALITY f (x, n) FULL JOIN found('64MB', threshold, measure, multiset, sides) WITH ORDINALITY m (y, n) USING (n)) p
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

-- One group of similar sets has more pairs than fit at a time; without common elements there are none.
CREATE TABLE dense AS SELECT i AS id, to_shingles(ARRAY(SELECT CASE WHEN j < 9 THEN i * 100 + j ELSE j END FROM generate_series(1, 20 + i % 5) j)) AS s FROM generate_series(1, 1500) i;
CREATE TABLE alone AS SELECT i AS id, to_shingles(ARRAY(SELECT i * 100 + j FROM generate_series(1, 20) j)) AS s FROM generate_series(1, 1500) i;
CREATE FUNCTION digest(memory text, query text) RETURNS TABLE (n bigint, digest text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('maintenance_work_mem', memory, true);
	RETURN QUERY EXECUTE 'SELECT count(*), md5(string_agg(p::text, '';'')) FROM ' || query || ' p';
END $$;
SELECT q, s.n, s.digest IS NOT DISTINCT FROM m.digest AS equal FROM unnest(ARRAY[
	$$neardup_pairs('SELECT * FROM dense', 0.2)$$,
	$$neardup_pairs('SELECT * FROM alone', 0.2)$$,
	$$neardup_pairs('SELECT id, s, tenant FROM sets', 0.5, within => '{tenant}')$$,
	$$neardup_clusters('SELECT * FROM dense', 0.2)$$,
	$$neardup_clusters('SELECT id, s FROM sets', 0.6, method => 'components')$$,
	$$neardup_clusters('SELECT id, s FROM sets', 0.6, nearest => true)$$,
	$$neardup_clusters('SELECT id, s FROM sets', 0.6, measure => 'containment')$$,
	$$neardup_clusters('SELECT id, s FROM sets WHERE id % 2 = 0', 0.4, against => 'SELECT id, s FROM sets WHERE id % 2 = 1', nearest => true)$$,
	$$neardup_clusters('SELECT id, s FROM sets WHERE id % 2 = 0', 0.8, against => 'SELECT id, s FROM sets WHERE id % 2 = 1', multiset => true, measure => 'containment')$$,
	$$neardup_pairs('SELECT id, s FROM sets', 0.6, verdicts => 'SELECT i, i + 1, i % 2 = 0 FROM generate_series(1, 1999) i')$$,
	$$neardup_clusters('SELECT id, s FROM sets', 0.6, verdicts => 'SELECT i, i + 500, i % 2 = 0 FROM generate_series(1, 500) i')$$]) WITH ORDINALITY u (q, i),
	LATERAL digest('1MB', q) s, LATERAL digest('64MB', q) m ORDER BY i;

-- Texts with four fifths of one template say so if they take long, and sets that memory does not hold.
CREATE TABLE family AS SELECT i AS id, s, to_minhash(s) AS sig FROM generate_series(1, 6000) i,
	to_shingles(ARRAY(SELECT j FROM generate_series(1, 26) j WHERE hashint4(i * 100 + j) % 5 <> 0)) s;
SET client_min_messages = notice;
SET neardup.debug_limit = 2;
SELECT count(*) AS pairs FROM neardup_pairs('SELECT id, sig, s FROM family WHERE id % 2 = 0', 0.9);
SELECT count(*) AS pairs FROM neardup_pairs('SELECT id, s FROM family WHERE id % 2 = 0', 0.9);
SELECT count(*) AS pairs FROM neardup_pairs('SELECT id, sig FROM family WHERE id % 2 = 0', 0.9);
RESET neardup.debug_limit;
SET maintenance_work_mem = '1MB';
SELECT count(*) AS pairs FROM neardup_pairs('SELECT i, to_shingles(ARRAY(SELECT i / 2 * 1000 + j FROM generate_series(1, 30) j) || -i) FROM generate_series(1, 6000) i', 0.9);
SET client_min_messages = warning;
DROP SCHEMA batch_sets CASCADE;
