-- The ten nearest where a copy is near, where none is near, and far from all: of texts, by each peer that has them,
-- and of 1,024-bit fingerprints whose neighbours differ in 29 % of the bits, in :prints.
CREATE TABLE nearest_queries (data text, kind text, n int, id int, body text, sig minhash, PRIMARY KEY (data, kind, n));

-- Near is a resemblance of at least 0.8, and none is near if none is at least 0.4.
INSERT INTO nearest_queries
SELECT 'texts', CASE WHEN n IN (SELECT query FROM truth) THEN 'near' ELSE 'none near' END, n, id, body, to_minhash(body)
FROM queries WHERE n <= :nearest AND (n IN (SELECT query FROM truth) OR n NOT IN (SELECT query FROM nearest));
-- A text of words that no other text has.
INSERT INTO nearest_queries
SELECT 'texts', 'far', n, 0, body, to_minhash(body)
FROM (SELECT n, string_agg(md5(n || ' ' || i), ' ' ORDER BY i) AS body FROM generate_series(1, :nearest) n, generate_series(1, 60) i GROUP BY n) t;

-- One of each of the first families is a query and not stored.  Bits are a text here, as queries are.
CREATE TABLE loaded (id int PRIMARY KEY, sig bit(1024) NOT NULL);
\copy loaded FROM 'prints.rows' (FORMAT binary)
INSERT INTO nearest_queries
SELECT 'fingerprints', 'none near', id / 20 + 1, id, sig::text, sig::minhash FROM loaded WHERE id % 20 = 0 AND id / 20 < :nearest;
INSERT INTO nearest_queries
SELECT 'fingerprints', 'near', n, id, (sig # mask)::text, (sig # mask)::minhash
FROM (SELECT id / 20 + 1 AS n, id, sig FROM loaded WHERE id % 20 = 1 AND id / 20 < :nearest) l,
	LATERAL (SELECT string_agg((place <= 51)::int::text, '' ORDER BY bit)::bit(1024) AS mask
		FROM (SELECT bit, row_number() OVER (ORDER BY hashint4extended(bit, n)) AS place FROM generate_series(1, 1024) bit) b) m;
INSERT INTO nearest_queries
SELECT 'fingerprints', 'far', n, 0, body, body::bit(1024)::minhash
FROM (SELECT n, string_agg(hashint8extended(n, s)::bit(64)::text, '' ORDER BY s) AS body FROM generate_series(1, :nearest) n, generate_series(1, 16) s GROUP BY n) t;
DELETE FROM loaded WHERE id % 20 = 0 AND id / 20 < :nearest;

CREATE TABLE prints_neardup AS SELECT id, sig::minhash AS sig FROM loaded;
CREATE TABLE prints_scan AS TABLE prints_neardup;
CREATE INDEX ON prints_neardup USING neardup (sig);
SELECT make_function(peer, 'prints', 's minhash := q::bit(1024)::minhash;', format('SELECT id FROM prints_%s ORDER BY sig <~> s LIMIT 10', peer))
FROM (VALUES ('neardup'), ('scan')) v(peer);
SELECT EXISTS (SELECT FROM peers WHERE peer = 'hnsw' AND skipped IS NULL) AS vector \gset
\if :vector
	CREATE TABLE prints_hnsw AS TABLE loaded;
	CREATE TABLE prints_ivfflat AS TABLE loaded;
	CREATE INDEX ON prints_hnsw USING hnsw (sig bit_hamming_ops);
	SELECT greatest(1, count(*) / 1000) AS lists FROM loaded \gset
	CREATE INDEX ON prints_ivfflat USING ivfflat (sig bit_hamming_ops) WITH (lists = :lists);
	SELECT make_function(peer, 'prints', 's bit(1024) := q::bit(1024);', format('SELECT id FROM prints_%s ORDER BY sig <~> s LIMIT 10', peer))
	FROM (VALUES ('hnsw'), ('ivfflat')) v(peer);
\endif
VACUUM ANALYZE;

CREATE FUNCTION try_nearest(data text, kind text, function text, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	curve text := format('nearest/%s/%s', data, kind);
BEGIN
	CREATE TEMP TABLE few AS SELECT n, id, body FROM nearest_queries q WHERE q.data = $1 AND q.kind = $2;
	PERFORM try_search(curve, peer, '', function, seconds, 'few') FROM peers WHERE skipped IS NULL AND peer NOT IN (SELECT peer FROM vector_settings) ORDER BY place;
	PERFORM try_setting(curve, peer, name, value, function, seconds, 'few') FROM vector_settings;
	DROP TABLE few;
END $$;
SELECT try_nearest(data, kind, CASE data WHEN 'texts' THEN 'nearest' ELSE 'prints' END, :seconds)
FROM (SELECT DISTINCT data, kind FROM nearest_queries) q;

-- Of the ten nearest by the distance of signatures; peers with another distance have no recall.
SET enable_seqscan = on;
-- The planner expects one row of a kind, and would compare all rows with each answer.
SET enable_nestloop = off;
ANALYZE tried_timed;
ANALYZE tried_found;
CREATE TABLE nearest_curve AS
WITH tried AS (
	SELECT split_part(curve, '/', 2) AS data, split_part(curve, '/', 3) AS kind, peer, setting, query, id
	FROM tried_found WHERE curve ~ '^nearest' AND peer IN ('neardup', 'scan', 'hnsw', 'ivfflat')),
stored AS (SELECT 'texts' AS data, id, sig FROM scan_texts UNION ALL SELECT 'fingerprints', id, sig FROM prints_scan),
answers AS (
	SELECT data, kind, peer, setting, query, s.sig <~> q.sig AS distance
	FROM tried JOIN stored s USING (data, id) JOIN nearest_queries q USING (data, kind) WHERE q.n = query),
expected AS (SELECT data, kind, query, max(distance) AS tenth, count(*) AS number FROM answers WHERE peer = 'scan' GROUP BY data, kind, query),
hits AS (
	SELECT data, kind, peer, setting, query, count(*) AS number
	FROM answers JOIN expected USING (data, kind, query) WHERE distance <= tenth GROUP BY data, kind, peer, setting, query),
ran AS (
	SELECT split_part(curve, '/', 2) AS data, split_part(curve, '/', 3) AS kind, peer, setting, query, ms FROM tried_timed WHERE curve ~ '^nearest'),
times AS (SELECT data, kind, peer, setting, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM ran GROUP BY data, kind, peer, setting),
shares AS (
	SELECT data, kind, peer, setting, sum(coalesce(h.number, 0))::float8 / sum(e.number) AS recall
	FROM ran JOIN expected e USING (data, kind, query) LEFT JOIN hits h USING (data, kind, peer, setting, query)
	WHERE peer IN (SELECT peer FROM tried) GROUP BY data, kind, peer, setting)
SELECT data, kind, place, peer, title, nullif(setting, '') AS setting, round(ms::numeric, 4) AS ms, round(recall::numeric, 4) AS recall
FROM times LEFT JOIN shares USING (data, kind, peer, setting) JOIN peers USING (peer);
